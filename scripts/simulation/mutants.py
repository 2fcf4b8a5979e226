"""Plants faults into copies of the package, and simulates the fixed seeds with each of them.

A fault is caught when a judge objects, or when the run breaks. A run without a verdict in time is
not counted as caught: the machine may be busy. The list of faults is
`planted.py`, the seeds are those of the test command.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from scripts.simulation.planted import MUTANTS, Mutant

ROOT = Path(__file__).parents[2]
_CHILD = """
import json, logging, structlog
from scripts.simulation.seeds import SEEDS
from yoked_actor.simulation.run import simulate
structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
for wish in SEEDS:
    result = simulate(wish)
    if result.violations:
        first = result.violations[0]
        print(json.dumps([wish.seed, first.kind, first.text]))
        break
else:
    print(json.dumps(None))
"""


def main() -> int:
    """Try all faults, or those that are named; 1 if too many survive."""
    parser = argparse.ArgumentParser(prog="scripts/mutants", description=__doc__)
    parser.add_argument("names", nargs="*", help="which faults (default: all)")
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--minutes", type=float, default=6.0, help="the most for one fault")
    parser.add_argument("--most-survivors", type=int, default=3)
    options = parser.parse_args()
    chosen = [one for one in MUTANTS if not options.names or one.name in options.names]
    unknown = set(options.names) - {one.name for one in MUTANTS}
    if unknown:
        parser.error(f"no such fault: {', '.join(sorted(unknown))}")
    survivors = []
    with ThreadPoolExecutor(options.cores) as pool:
        runs = {pool.submit(_try, mutant, options.minutes * 60): mutant for mutant in chosen}
        for number, run in enumerate(as_completed(runs), start=1):
            mutant, (caught, text) = runs[run], run.result()
            if not caught:
                survivors.append(mutant)
            verdict = "caught" if caught else "SURVIVES"
            print(f"{number:>3}/{len(chosen)} {verdict:<9}{mutant.name:<24}{text}", flush=True)
    print(f"\n{len(chosen) - len(survivors)} of {len(chosen)} planted faults are caught")
    for mutant in survivors:
        print(f"  survives: {mutant.name}: {mutant.what}")
    return 1 if len(survivors) > options.most_survivors else 0


def _try(mutant: Mutant, timeout_s: float) -> tuple[bool, str]:
    """Whether a fault is caught, and by what."""
    began_s = time.monotonic()
    with tempfile.TemporaryDirectory(prefix=f"mutant-{mutant.name}-") as folder:
        copy = Path(folder)
        ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
        shutil.copytree(ROOT / "yoked_actor", copy / "yoked_actor", ignore=ignored)
        shutil.copytree(ROOT / "scripts" / "simulation", copy / "scripts/simulation")
        for file, old, new in mutant.edits:
            path = copy / "yoked_actor" / file
            text = path.read_text(encoding="utf-8")
            if old not in text:
                return False, f"{file} has changed: plant it anew"
            # The last place: an edit may have added another one before it.
            head, _, tail = text.rpartition(old)
            path.write_text(f"{head}{new}{tail}", encoding="utf-8")
        try:
            done = subprocess.run(
                [sys.executable, "-c", _CHILD],
                cwd=copy,
                env=os.environ | {"PYTHONPATH": str(copy), "PYTHONSAFEPATH": "1"},
                capture_output=True,
                text=True,
                timeout=timeout_s,
            )
        except subprocess.TimeoutExpired:
            return False, f"no verdict within {timeout_s:.0f} s"
    took_s = time.monotonic() - began_s
    try:
        found = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        last = done.stderr.strip().splitlines()[-1:] or [""]
        return True, f"the run breaks: {last[0][:120]}"
    if found is None:
        return False, f"after {took_s:.0f} s"
    seed, kind, text = found
    return True, f"seed {seed}, {kind}: {text[:110]}"


if __name__ == "__main__":
    sys.exit(main())
