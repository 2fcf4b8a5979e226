# Sourced after setup.sh: gets programs that some tests use from Debian's packages. With want_debian
# nothing is installed: the package is downloaded and the program unpacked below .cache/. This needs no root,
# starts no service, and does not change the system. install_package installs, if that needs no password.
# shellcheck shell=bash disable=SC2154

# want_debian COMMAND PACKAGE: puts COMMAND on the PATH, or reports that tests will be skipped.
want_debian() {
    local command=$1 package=$2
    local folder="$root/.cache/debian/$package"
    local failed="$folder.failed"
    # The PATH of a normal user does not include the folders of daemons.
    PATH="$PATH:/usr/sbin:/usr/local/sbin" command -v "$command" >/dev/null && return
    if [[ ! -x "$folder/bin/$command" && -z "$(find "$failed" -mtime -1 2>/dev/null)" ]]; then
        say "fetching $command from Debian's package $package (only once)"
        mkdir -p "$folder/bin"
        fetch_debian "$command" "$package" "$folder" >"$folder/log" 2>&1 || touch "$failed"
    fi
    export PATH="$PATH:$folder/bin"
    command -v "$command" >/dev/null || say "$command is missing: the tests that need it will be skipped"
}

# Joined by && because `set -e` is off in a function that is called before ||.
fetch_debian() (
    options=(-q -o Acquire::Retries=0 -o Acquire::http::Timeout=20 -o APT::Sandbox::User=root)
    download() { timeout 120 apt-get "${options[@]}" download "$1"; }
    # A new container has no package lists; only root may update them.
    refresh() { [[ $(id -u) == 0 ]] && timeout 120 apt-get "${options[@]}" update; }

    # The libraries that the package depends on are not downloaded: check that they are installed.
    runs_here() { ! ldd "$1" | grep "not found"; }

    command -v apt-get && command -v dpkg-deb && cd "$3" &&
        { download "$2" || { refresh && download "$2"; }; } &&
        dpkg-deb --fsys-tarfile ./*.deb | tar --extract --wildcards "./usr/*bin/$1" &&
        runs_here ./usr/*bin/"$1" &&
        mv ./usr/*bin/"$1" bin/ &&
        rm -rf ./usr ./*.deb
)

# install_package PACKAGE WHAT_FOR
install_package() {
    local as_root=()
    command -v apt-get >/dev/null || return 1
    if [[ "$(id -u)" != 0 ]]; then
        sudo --non-interactive true 2>/dev/null || return 1
        as_root=(sudo --non-interactive)
    fi
    say "installing $1 for $2 (only once)"
    local log="$venv/$1.log"
    {
        "${as_root[@]}" apt-get update -qq &&
            "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
                apt-get install -qq -y --no-install-recommends "$1"
    } >"$log" 2>&1 </dev/null || {
        tail -n 5 "$log" >&2
        return 1
    }
}
