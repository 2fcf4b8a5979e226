# Sourced by scripts/test: makes sure that Chromium is installed for the browser tests, and a TURN server
# for the tests of relayed calls. A missing one is installed from Debian's package if that needs no
# password; otherwise its tests are skipped.
# shellcheck shell=bash disable=SC2154

find_chromium() { command -v chromium || command -v chromium-browser; }

find_chromium >/dev/null || install_package chromium "the browser tests" ||
    say "chromium is missing and cannot be installed: browser tests will be skipped"

# The headless shell is Chromium's engine without windows: with it the tests need half of the CPU. It shows no
# notifications, so some tests need Chromium itself. An installation that failed is not tried again for a day.
shell_failed="$root/.cache/debian/chromium-headless-shell.failed"
if ! command -v chromium-headless-shell >/dev/null &&
    [[ -z "$(find "$shell_failed" -mtime -1 2>/dev/null)" ]]; then
    install_package chromium-headless-shell "faster browser tests" || {
        mkdir -p "${shell_failed%/*}"
        touch "$shell_failed"
    }
fi

# Under systemd the package would start a service, so it is not installed there.
install_coturn() { [[ ! -d /run/systemd/system ]] && install_package coturn "the tests of relayed calls"; }

command -v turnserver >/dev/null || install_coturn ||
    say "turnserver is missing (Debian's coturn): the tests of relayed calls will be skipped"
