# Sourced by the programs in scripts/: changes to the repository's root, and installs the packages of
# pyproject.toml and constraints.txt into .venv. Needs the network only if something is missing.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
cd "$root"
venv="$root/.venv"
stamp="$venv/.installed"
chosen="$venv/.python"

say() { printf '\033[2m==>\033[0m %s\n' "$*" >&2; }
[[ -t 2 && -z "${NO_COLOR:-}" ]] || say() { printf '==> %s\n' "$*" >&2; }

die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

source "$root/scripts/lib/find_python.sh"

# A digest of what the installation depends on. Tool settings in pyproject.toml are left out: changing a
# lint rule does not install everything again. The path is included: a venv cannot be moved.
wanted_stamp() {
    "$1" - "$root" <<'PYTHON'
import hashlib, json, pathlib, sys, tomllib

root = pathlib.Path(sys.argv[1])
project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
parts = [
    str(root),
    sys.version,
    json.dumps([project["build-system"], project["project"]], sort_keys=True),
    (root / "constraints.txt").read_text("utf-8"),
]
print(hashlib.sha256("\0".join(parts).encode()).hexdigest())
PYTHON
}

is_installed() { [[ -x "$venv/bin/python" && "$(cat "$stamp" 2>/dev/null)" == "$1" ]]; }

pip_install() {
    local log="$venv/install.log"
    if ! "$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
        --constraint constraints.txt "$@" >"$log" 2>&1; then
        cat "$log" >&2
        die "could not install $*: see above (is the network available?)"
    fi
}

install() {
    say "installing into .venv with $1 (only once; takes a minute or two)"
    "$1" -m venv --clear "$venv" || die "could not create a virtual environment in $venv"
    # The build backend comes from constraints.txt too, hence no isolated build.
    pip_install hatchling editables
    pip_install --no-build-isolation --editable '.[dev]'
    printf '%s\n' "$1" >"$chosen"
    printf '%s\n' "$2" >"$stamp"
    say "installed"
}

setup() {
    local python wanted
    python=$(find_python "$chosen")
    wanted=$(wanted_stamp "$python")
    is_installed "$wanted" && return
    (
        # The lock belongs to the open file: it is held until this subshell exits. flock(1) does the
        # same, but is not available on every system.
        "$python" -c 'import fcntl; fcntl.flock(9, fcntl.LOCK_EX)'
        is_installed "$wanted" || install "$python" "$wanted"
    ) 9>"$root/.venv.lock"
}

setup
export PATH="$venv/bin:$PATH"
export VIRTUAL_ENV="$venv"

# why_not_compile: prints what mypyc lacks here, one line each; nothing when it can compile.
why_not_compile() {
    "$venv/bin/python" - <<'PYTHON'
import importlib.util, pathlib, shutil, sysconfig

for package in ("mypyc", "setuptools"):
    if importlib.util.find_spec(package) is None:
        print(f"the package {package} is not installed in .venv (it belongs to the extra 'dev')")
compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
if shutil.which(compiler) is None:
    print(f"there is no C compiler: {compiler} was not found (Debian: gcc)")
header = pathlib.Path(sysconfig.get_paths()["include"], "Python.h")
if not header.exists():
    print(f"the headers of Python are missing: {header} (Debian: python3-dev)")
PYTHON
}
