# Sourced by scripts/test: makes sure that Chromium is installed for the browser tests, and a TURN server
# for the tests of relayed calls. A missing one is installed from Debian's package if that needs no
# password; otherwise its tests are skipped.
# shellcheck shell=bash disable=SC2154

find_chromium() { command -v chromium || command -v chromium-browser; }

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

find_chromium >/dev/null || install_package chromium "the browser tests" ||
    say "chromium is missing and cannot be installed: the browser tests will be skipped"

# Under systemd the package would start a service, so it is not installed there.
install_coturn() { [[ ! -d /run/systemd/system ]] && install_package coturn "the tests of relayed calls"; }

command -v turnserver >/dev/null || install_coturn ||
    say "turnserver is missing (Debian's coturn): the tests of relayed calls will be skipped"
