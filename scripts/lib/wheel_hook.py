"""A hook of hatchling: a wheel carries the compiled modules, if the environment names them.

Without them the wheel is a pure one, for every platform.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledModules(BuildHookInterface):
    """Puts the folder YOKED_COMPILED_MODULES into the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        folder = os.environ.get("YOKED_COMPILED_MODULES")
        if folder and version != "editable":
            build_data["force_include"][folder] = f"yoked_actor/_compiled/{Path(folder).name}"
            build_data["pure_python"] = False
            build_data["infer_tag"] = True
