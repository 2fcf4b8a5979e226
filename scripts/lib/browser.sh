# Sourced by scripts/test: makes sure that Chromium is installed for the browser tests, and a TURN server
# for the tests of relayed calls. A missing one is installed from Debian's package if that needs no
# password; otherwise its tests are skipped.
# shellcheck shell=bash disable=SC2154

find_chromium() { command -v chromium || command -v chromium-browser; }

find_chromium >/dev/null || install_package chromium "the browser tests" ||
    say "chromium is missing and cannot be installed: the browser tests will be skipped"

# Under systemd the package would start a service, so it is not installed there.
install_coturn() { [[ ! -d /run/systemd/system ]] && install_package coturn "the tests of relayed calls"; }

command -v turnserver >/dev/null || install_coturn ||
    say "turnserver is missing (Debian's coturn): the tests of relayed calls will be skipped"
