# Sourced by scripts/test: makes sure that Chromium is installed for the browser tests, and a TURN server
# for the tests of relayed calls. A missing one is installed from Debian's package if that needs no
# password; otherwise its tests are skipped.
# shellcheck shell=bash disable=SC2154

# The headless shell is Chromium's engine without windows: the tests need half of the CPU with it.
find_browser() { command -v chromium-headless-shell || command -v chromium || command -v chromium-browser; }

find_browser >/dev/null || install_package chromium-headless-shell "the browser tests" ||
    install_package chromium "the browser tests" ||
    say "Chromium is missing and cannot be installed: the browser tests will be skipped"

# Under systemd the package would start a service, so it is not installed there.
install_coturn() { [[ ! -d /run/systemd/system ]] && install_package coturn "the tests of relayed calls"; }

command -v turnserver >/dev/null || install_coturn ||
    say "turnserver is missing (Debian's coturn): the tests of relayed calls will be skipped"
