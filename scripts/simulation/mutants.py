"""Plants faults into copies of the package, and simulates the fixed seeds with each of them.

A fault is caught when a judge objects, or when an error breaks the simulation. A run without a
verdict is not counted as caught, nor is a package that cannot be imported. The list of faults is
`planted`, the seeds are those of the test command.
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
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple

from scripts.simulation.planted import MUTANTS, Mutant

ROOT = Path(__file__).parents[2]
_CHILD = """
import json, logging, resource, sys
import structlog
from scripts.simulation.seeds import SEEDS
from yoked_actor.simulation.run import simulate
likely, limit_s = int(sys.argv[1]), int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_CPU, (limit_s, limit_s))
structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
for wish in sorted(SEEDS, key=lambda wish: wish.seed != likely):
    try:
        result = simulate(wish)
    except Exception as error:
        print(json.dumps([wish.seed, "the run breaks", repr(error)]))
        break
    if result.violations:
        first = result.violations[0]
        print(json.dumps([wish.seed, first.kind, first.text]))
        break
else:
    print(json.dumps(None))
"""
_SLOWEST = 10
"""How many times longer than its processor time a run may take on a busy machine."""


class Verdict(NamedTuple):
    """How it went with one fault."""

    mutant: Mutant
    caught: bool
    by: str
    """The seed and the kind of the violation; or why there is none."""
    text: str = ""

    def line(self) -> str:
        """A row of the table."""
        verdict = "caught" if self.caught else "SURVIVES"
        text = " ".join(f"{self.by:<31}{self.text[:100]}".splitlines())
        return f"{verdict:<10}{self.mutant.name:<22}{text}".rstrip()


def main() -> int:
    """Try all faults, or those that are named; 1 if too many survive."""
    parser = argparse.ArgumentParser(prog="scripts/mutants", description=__doc__)
    parser.add_argument("names", nargs="*", help="which faults (default: all)")
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1, help="default: all")
    parser.add_argument(
        "--minutes", type=float, default=4.0, help="the most processor time for one fault"
    )
    parser.add_argument("--most-survivors", type=int, default=3)
    options = parser.parse_args()
    chosen = [one for one in MUTANTS if not options.names or one.name in options.names]
    unknown = set(options.names) - {one.name for one in MUTANTS}
    if unknown:
        parser.error(f"no such fault: {', '.join(sorted(unknown))}")
    verdicts = _try_all(chosen, options.cores, options.minutes * 60)
    print("\n" + "\n".join(one.line() for one in sorted(verdicts, key=lambda one: one.caught)))
    survivors = [one for one in verdicts if not one.caught]
    print(f"\n{len(verdicts) - len(survivors)} of {len(verdicts)} planted faults are caught")
    for verdict in survivors:
        print(f"  survives: {verdict.mutant.name}: {verdict.mutant.what} ({verdict.by})")
    return 1 if len(survivors) > options.most_survivors else 0


def _try_all(chosen: Sequence[Mutant], cores: int, limit_s: float) -> list[Verdict]:
    verdicts: list[Verdict] = []
    began_s = time.monotonic()
    with ThreadPoolExecutor(cores) as pool:
        for run in as_completed([pool.submit(_try, mutant, limit_s) for mutant in chosen]):
            verdicts.append(run.result())
            took_s = time.monotonic() - began_s
            place = f"{len(verdicts):>3}/{len(chosen)} {took_s:>5.0f} s"
            print(f"{place}  {verdicts[-1].line()}", flush=True)
    return verdicts


def _try(mutant: Mutant, limit_s: float) -> Verdict:
    """Plant a fault, and simulate."""
    with tempfile.TemporaryDirectory(prefix=f"mutant-{mutant.name}-") as folder:
        copy = Path(folder)
        # With what Python has compiled: only the edited files are compiled again.
        shutil.copytree(ROOT / "yoked_actor", copy / "yoked_actor")
        shutil.copytree(ROOT / "scripts" / "simulation", copy / "scripts/simulation")
        for file, old, new in mutant.edits:
            path = copy / "yoked_actor" / file
            text = path.read_text(encoding="utf-8")
            if old not in text:
                return Verdict(mutant, False, f"{file} has changed: plant it anew")
            # The last place: an edit may have added another one before it.
            head, _, tail = text.rpartition(old)
            path.write_text(f"{head}{new}{tail}", encoding="utf-8")
        try:
            done = subprocess.run(
                [sys.executable, "-c", _CHILD, str(mutant.seed), str(round(limit_s))],
                cwd=copy,
                env=os.environ | {"PYTHONPATH": str(copy), "PYTHONSAFEPATH": "1"},
                capture_output=True,
                text=True,
                timeout=_SLOWEST * limit_s,
            )
        except subprocess.TimeoutExpired:
            return Verdict(mutant, False, f"no verdict within {_SLOWEST * limit_s:.0f} s")
    return _verdict(mutant, done, limit_s)


def _verdict(mutant: Mutant, done: subprocess.CompletedProcess[str], limit_s: float) -> Verdict:
    if done.returncode < 0:
        return Verdict(mutant, False, f"no verdict within {limit_s:.0f} s of processor time")
    try:
        found = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        last = done.stderr.strip().splitlines()[-1:] or [""]
        return Verdict(mutant, False, "it cannot be simulated", last[0])
    if found is None:
        return Verdict(mutant, False, "no judge objects")
    seed, kind, text = found
    return Verdict(mutant, True, f"seed {seed}, {kind}", text)


if __name__ == "__main__":
    sys.exit(main())
