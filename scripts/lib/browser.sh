# Sourced by scripts/test: sees that there is a Chromium for the browser tests. Where there is none,
# Debian's package is installed if that can be done without asking; if not, those tests are skipped.
# shellcheck shell=bash disable=SC2154

find_chromium() { command -v chromium || command -v chromium-browser; }

install_chromium() {
    local as_root=()
    command -v apt-get >/dev/null || return 1
    if [[ "$(id -u)" != 0 ]]; then
        sudo --non-interactive true 2>/dev/null || return 1
        as_root=(sudo --non-interactive)
    fi
    say "installing chromium for the browser tests (once)"
    local log="$venv/chromium.log"
    {
        "${as_root[@]}" apt-get update -qq &&
            "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
                apt-get install -qq -y --no-install-recommends chromium
    } >"$log" 2>&1 </dev/null || {
        tail -n 5 "$log" >&2
        return 1
    }
}

find_chromium >/dev/null || install_chromium ||
    say "there is no chromium, and it cannot be installed here: the browser tests will be skipped"
