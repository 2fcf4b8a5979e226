"""Compiles the modules of `yoked_actor.compiled` with mypyc into .cache/compiled/DIGEST.

Does nothing if there is a build of the present sources. A second call at the same time waits for
the first one. Prints the folder.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]
KEPT = 3


def main() -> None:
    os.environ["YOKED_PURE_PYTHON"] = "1"
    sys.path.insert(0, str(ROOT))
    os.chdir(ROOT)
    from yoked_actor import compiled

    cache = compiled.cache()
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder = cache / compiled.digest()
        if not folder.is_dir():
            build(cache / "making", folder, compiled)
        os.utime(folder)
        builds = [path for path in cache.iterdir() if path.is_dir() and path.name != "making"]
        for old in sorted(builds, key=lambda path: path.stat().st_mtime)[:-KEPT]:
            shutil.rmtree(old)
    print(folder)


def build(making: Path, folder: Path, compiled: ModuleType) -> None:
    from mypyc.build import mypycify
    from setuptools import Distribution

    shutil.rmtree(making, ignore_errors=True)
    files = [f"{name.replace('.', '/')}.py" for name in compiled.MODULES]
    extensions = mypycify(
        ["--config-file=pyproject.toml", f"--cache-dir={making / 'mypy'}", *files],
        opt_level=compiled.level(),
        debug_level="1",
        group_name=compiled.GROUP,
        target_dir=str(making / "c"),
    )
    for extension in extensions:
        # Python's own flags have -Wall. In generated C it finds nothing for us, and GCC's check of
        # the indentation takes 45 s for one file of 27 MB.
        extension.extra_compile_args.append("-Wno-all")
        # Nobody replaces a function of the library: calls inside it are direct and can be inlined.
        extension.extra_compile_args.append("-fno-semantic-interposition")
    # Not `setup()`: it would read pyproject.toml, which is for another backend.
    parts = {"name": compiled.GROUP, "ext_modules": extensions}
    command = Distribution(parts).get_command_obj("build_ext")
    command.build_lib = str(making / "lib")
    command.build_temp = str(making / "objects")
    command.ensure_finalized()
    command.run()
    (making / "lib").rename(folder)
    shutil.rmtree(making)


if __name__ == "__main__":
    main()
