"""Simulates random seeds on all cores, with progress, and keeps the reports of those that fail."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from random import SystemRandom


def main() -> int:
    """Run until the time is over; 1 if a seed failed."""
    options = _options()
    ends_s = time.monotonic() + options.minutes * 60
    options.keep.mkdir(parents=True, exist_ok=True)
    seeds = SystemRandom()
    done, failed, simulated_s = 0, 0, 0.0
    began_s = time.monotonic()
    with ThreadPoolExecutor(options.cores) as pool:
        running: set[Future[dict[str, object]]] = set()
        while time.monotonic() < ends_s or running:
            while len(running) < options.cores and time.monotonic() < ends_s:
                running.add(pool.submit(_run, options, seeds.randrange(1, 10**6)))
            finished, running = wait(running, return_when=FIRST_COMPLETED)
            for one in finished:
                result = one.result()
                done += 1
                simulated_s += float(str(result.get("simulated_s", 0.0)))
                if result["violations"]:
                    failed += 1
                    _tell(result)
                left_s = max(0.0, ends_s - time.monotonic())
                rate = simulated_s / (time.monotonic() - began_s)
                print(
                    f"\r{done} seeds, {failed} failed, {simulated_s / 86_400:,.0f} days,"
                    f" {rate:,.0f} times real time, {left_s / 60:.1f} min left ",
                    end="",
                    file=sys.stderr,
                    flush=True,
                )
    print(file=sys.stderr)
    print(f"{done} seeds, {failed} failed; what failed is in {options.keep}")
    return 1 if failed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long (default 10)")
    parser.add_argument("--people", type=int, default=40)
    parser.add_argument("--days", type=int, default=4)
    parser.add_argument("--faults", default="all", help="as of `yoked-actor simulate`")
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1, help="default: all")
    parser.add_argument("--keep", type=Path, default=Path("soak"), help="folder for what failed")
    return parser.parse_args()


def _run(options: argparse.Namespace, seed: int) -> dict[str, object]:
    name = f"seed-{seed}"
    history = options.keep / f"{name}.history"
    wish = ["--people", str(options.people), "--days", str(options.days), "--seed", str(seed)]
    command = [sys.executable, "-m", "yoked_actor", "simulate", *wish, "--faults", options.faults]
    done = subprocess.run(
        [*command, "--history", str(history), "--json"], capture_output=True, text=True
    )
    try:
        result: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        lines = done.stderr.splitlines()[-40:]
        violation = {"kind": "crashed", "text": "the simulation itself ended", "last": lines}
        result = {"command": " ".join(command), "violations": [violation]}
    if result["violations"]:
        (options.keep / f"{name}.json").write_text(json.dumps(result, indent=1))
    else:
        history.unlink(missing_ok=True)
    return result


def _tell(result: dict[str, object]) -> None:
    violations = result["violations"]
    assert isinstance(violations, list)
    first = violations[0]
    print(f"\n{first['kind']}: {first['text'][:300]}\n    {result['command']}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
