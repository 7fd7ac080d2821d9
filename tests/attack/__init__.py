"""Attacks: long random trials of what must never go wrong. `make attack` runs all, a test a few of each.

An attack is a module of this folder with a function ``attempt(chance, place)``: one trial, whose random choices are
those of ``chance``, in its own folder. It returns the outcome in a few words, to be counted, and raises
`Violation` where something went wrong.
"""

from __future__ import annotations

import importlib
import pkgutil
import tempfile
from collections import Counter
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Violation(Exception):  # noqa: N818  # it is no error of the program that raises it
    """What must not happen, happened."""


def names() -> list[str]:
    """The attacks that there are."""
    found = (module.name for module in pkgutil.iter_modules(__path__))
    return sorted(name for name in found if not name.startswith("_"))


def attack(name: str, *, seed: int, tries: int, first: int = 0) -> tuple[Counter[str], list[str]]:
    """Outcomes of an attack by how often they came, and its violations.

    Args:
        name: Of the attack.
        seed: Of all tries; each depends on its number, too, so that one can be repeated alone.
        tries: How many.
        first: Number of the first.
    """
    attempt: Callable[[Random, Path], str] = importlib.import_module(f"{__name__}.{name}").attempt
    outcomes: Counter[str] = Counter()
    violations = []
    for number in range(first, first + tries):
        with _folder() as place:
            try:
                outcomes[attempt(Random(f"{name}/{seed}/{number}"), place)] += 1
            except Violation as violation:
                outcomes["VIOLATION"] += 1
                violations.append(f"{name} --seed {seed} --first {number} --tries 1: {violation}")
    return outcomes, violations


class _folder:  # noqa: N801
    """A folder in memory, where there is one: what is attacked is not the disk's speed."""

    def __enter__(self) -> Path:
        memory = Path("/dev/shm")
        self._folder = tempfile.TemporaryDirectory(
            prefix="attack-", dir=memory if memory.is_dir() else None, ignore_cleanup_errors=True
        )
        return Path(self._folder.name)

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()


def files_in(folder: Path) -> Iterator[Path]:
    """All files in a folder, those with a dot included."""
    return (file for file in sorted(folder.rglob("*")) if file.is_file())


def contents(folder: Path) -> dict[str, bytes]:
    """What is in a folder, by relative names."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in files_in(folder)}


def differing(found: dict[str, bytes], expected: dict[str, bytes]) -> str:
    """The names of files that differ, or nothing."""
    return ", ".join(name for name in sorted({*found, *expected}) if found.get(name) != expected.get(name))
