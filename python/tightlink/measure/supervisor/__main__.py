"""Begin the supervisor: usage __main__.py DESCRIPTOR.

Run by its path, it is a package by itself. As a part of Tightlink it would have to import Tightlink first, which takes
longer than all that a testbed needs.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path


def _begin(descriptor: int) -> int:
    found = importlib.util.spec_from_file_location("supervisor", Path(__file__).with_name("__init__.py"))
    if found is None or found.loader is None:
        raise AssertionError("a file of Python can be loaded")
    sys.modules["supervisor"] = package = importlib.util.module_from_spec(found)
    found.loader.exec_module(package)
    return int(importlib.import_module("supervisor.entering").main(descriptor))


if __name__ == "__main__":
    sys.exit(_begin(int(sys.argv[1])))
