# Sourced after setup.sh: programs that some tests use, taken from Debian's packages where there are
# such. Nothing is installed: a package is fetched and the one program unpacked below .cache/, so it
# needs no root, starts no service, and changes nothing on the machine.
# shellcheck shell=bash disable=SC2154

# want_debian COMMAND PACKAGE: sees that COMMAND is on the PATH, or says that tests will be skipped.
want_debian() {
    local command=$1 package=$2
    local folder="$root/.cache/debian/$package"
    local failed="$folder.failed"
    # An ordinary user's PATH leaves out the folder of daemons.
    PATH="$PATH:/usr/sbin:/usr/local/sbin" command -v "$command" >/dev/null && return
    if [[ ! -x "$folder/bin/$command" && -z "$(find "$failed" -mtime -1 2>/dev/null)" ]]; then
        say "fetching $command from Debian's package $package (once)"
        mkdir -p "$folder/bin"
        fetch_debian "$command" "$package" "$folder" >"$folder/log" 2>&1 || touch "$failed"
    fi
    export PATH="$PATH:$folder/bin"
    command -v "$command" >/dev/null || say "no $command here: the tests that need it are skipped"
}

# Joined by && because `set -e` is off in whatever stands before an ||.
fetch_debian() (
    options=(-q -o Acquire::Retries=0 -o Acquire::http::Timeout=20 -o APT::Sandbox::User=root)
    download() { timeout 120 apt-get "${options[@]}" download "$1"; }
    # Fresh containers know no packages yet; only root may tell them.
    refresh() { [[ $(id -u) == 0 ]] && timeout 120 apt-get "${options[@]}" update; }

    # The libraries that the package depends on are not fetched: without one, the program is no use.
    runs_here() { ! ldd "$1" | grep "not found"; }

    command -v apt-get && command -v dpkg-deb && cd "$3" &&
        { download "$2" || { refresh && download "$2"; }; } &&
        dpkg-deb --fsys-tarfile ./*.deb | tar --extract --wildcards "./usr/*bin/$1" &&
        runs_here ./usr/*bin/"$1" &&
        mv ./usr/*bin/"$1" bin/ &&
        rm -rf ./usr ./*.deb
)
