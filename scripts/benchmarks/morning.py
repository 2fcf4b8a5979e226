"""A zone's morning beside users who spin: its time, the spins' latency, CPU and memory.

`--worker off` makes the offers in the server's own process, for comparison.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from pathlib import Path

from scripts.benchmarks._morning import measure_morning


def main(people: int, worker: str, keep: bool) -> None:
    folder = Path(tempfile.mkdtemp(prefix=".bench-", dir="."))
    try:
        print(measure_morning(folder, people, worker=worker).text(), flush=True)
    finally:
        if keep:
            print(f"kept: {folder}")
        else:
            shutil.rmtree(folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=100_000)
    parser.add_argument("--worker", choices=("auto", "on", "off"), default="auto")
    parser.add_argument("--keep", action="store_true", help="keep the data and the log")
    given = parser.parse_args()
    print(f"load average {os.getloadavg()[0]:.1f}; figures of a busy machine mean little")
    main(given.people, given.worker, given.keep)
