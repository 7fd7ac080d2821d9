"""Runs tests with the lowest versions of all dependencies that ``pyproject.toml`` allows: ``make check-lowest``.

The first argument is a wheel; what follows goes to pytest, which runs all tests without it.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
_LOWEST: Final = re.compile(r"^(?P<name>[\w.-]+)>=(?P<version>[\w.]+)")
#: What tests take beside the package and Dask.
_TOOLS: Final = ("hypothesis", "pytest", "pytest-rerunfailures", "pytest-xdist")


def constraints() -> list[str]:
    """A line for each dependency: its lowest version, as pip's constraint files have it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = [*project["dependencies"], *project["optional-dependencies"]["cluster"]]
    found = [_LOWEST.match(line) for line in needed]
    assert all(found), f"without a lowest version: {needed}"
    return [f"{match['name']}=={match['version']}" for match in found if match]


def main() -> int:
    """Install the wheel with these constraints and return what pytest returns."""
    wheel, *words = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="tightlink-lowest-") as temporary:
        place = Path(temporary)
        (place / "constraints.txt").write_text("\n".join(constraints()), encoding="utf-8")
        print(*constraints(), sep="\n")
        venv.create(place / "env")
        python = place / "env" / "bin" / "python"
        # By the pip that is there, as to install another takes seconds. Python compiles what it imports; compiling all of
        # it takes as long as the installation.
        pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-compile"]
        pip += ["--constraint", str(place / "constraints.txt")]
        subprocess.run([*pip, f"{Path(wheel).resolve()}[cluster,notebook]", *_TOOLS], check=True)
        test = [
            str(python),
            "-m",
            "pytest",
            "--quiet",
            "--numprocesses=auto",
            "--dist=loadfile",
            "--no-loadscope-reorder",
            "--override-ini=filterwarnings=",
            *(words or ["tests"]),
        ]
        return subprocess.run(test, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
