# Sourced by setup.sh. find_python prints the path of the Python that .venv is made with: $PYTHON if it is
# set, otherwise the fastest on PATH. Two builds of one minor version differ by a quarter or more: pyenv, for
# example, compiles without profile-guided optimisation unless it is told to.
# shellcheck shell=bash

# The names of a Python on PATH. The first that is suitable wins unless another is clearly faster.
python_names=(python3 python3.13 python3.12 python3.11)

# is_suitable PYTHON: is it new enough, and can it make a virtual environment? Debian has ensurepip in a
# package of its own.
is_suitable() {
    "$1" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' </dev/null 2>/dev/null
}

# base_executable PYTHON: not the Python of an active .venv, which could not recreate .venv.
base_executable() {
    "$1" -c 'import sys; print(getattr(sys, "_base_executable", sys.executable))' </dev/null
}

# suitable_pythons: the path of each suitable Python on PATH, one a line. Of the paths that lead to the
# same file, only the first is printed.
suitable_pythons() {
    local name candidate path earlier known=()
    for name in "${python_names[@]}"; do
        while read -r candidate; do
            is_suitable "$candidate" || continue
            path=$(base_executable "$candidate")
            for earlier in ${known[@]+"${known[@]}"}; do
                [[ "$path" -ef "$earlier" ]] && continue 2
            done
            known+=("$path")
            printf '%s\n' "$path"
        done < <(type -aP "$name")
    done
}

# python_cost PYTHON: the microseconds of CPU that it takes for a small piece of work, the best of many tries.
python_cost() {
    "$1" -I - <<'PYTHON'
import time


class Seat:
    __slots__ = ("number", "taken")

    def __init__(self, number):
        self.number = number
        self.taken = False

    def take(self):
        self.taken = True
        return self.number


def cost_of_a_try():
    start = time.process_time_ns()
    seats = {number: Seat(number) for number in range(3_000)}
    sum(seat.take() for seat in seats.values() if not seat.taken)
    return time.process_time_ns() - start


print(min(cost_of_a_try() for _ in range(60)) // 1_000)
PYTHON
}

# fastest_python: reads paths, one a line. Prints the first unless another needs less than four fifths of
# its time.
fastest_python() {
    local path cost chosen='' least=0
    while read -r path; do
        cost=$(python_cost "$path")
        if [[ -z "$chosen" ]]; then
            chosen=$path
            least=$((cost * 4 / 5))
        elif ((cost < least)); then
            chosen=$path
            least=$cost
        fi
    done
    printf '%s\n' "$chosen"
}

# find_python FILE: the choice is kept in FILE, so that a second measurement never installs everything
# again.
find_python() {
    local kept python
    if [[ -n "${PYTHON:-}" ]]; then
        is_suitable "$PYTHON" ||
            die "PYTHON=$PYTHON is not a Python 3.11 or newer with the modules venv and ensurepip"
        base_executable "$PYTHON"
        return
    fi
    if [[ -f "$1" ]] && read -r kept <"$1" && is_suitable "$kept"; then
        printf '%s\n' "$kept"
        return
    fi
    python=$(suitable_pythons | fastest_python)
    [[ -n "$python" ]] ||
        die "Python 3.11 or newer with the modules venv and ensurepip is required" \
            "(Debian: python3-venv); PYTHON can be set to its path"
    printf '%s\n' "$python"
}
