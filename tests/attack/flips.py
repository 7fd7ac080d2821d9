"""Damage to a stored file: an error with its name, or made again; never another number, never a traceback."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from attack import Violation, differing
from attack._stored import KINDS, Said, pristine, restore, say

if TYPE_CHECKING:
    from random import Random

_SHAPES = (
    b"[]",
    b"{}",
    b"3",
    b'"x"',
    b"null",
    b'{"format": 2}',
    b'[{"run": 1}]',
    b"{",
    b'{"identity": "x", "seed": 1}',
)
#: Damage, and how often it is tried.
_DAMAGE = {"flip": 12, "cut": 3, "empty": 1, "folder": 1, "shape": 3}


def attempt(chance: Random, place: Path) -> str:
    """Damage a file, and let a command read its folder."""
    _ = place
    name = chance.choice([*KINDS])
    kind = KINDS[name]
    folder = pristine(name, _workshop())
    files = [file for file in sorted(folder.rglob("*")) if file.is_file() and file.suffix not in {".html", ".svg"}]
    file = chance.choice(files)
    how = chance.choices([*_DAMAGE], [*_DAMAGE.values()])[0]
    commands = kind.commands + kind.mends * 3
    number = chance.randrange(len(commands))
    command = commands[number]
    mends = command in kind.mends
    before = _whole(name, number)
    what = f"{' '.join(command)} after {_damaged(chance, file, how)} in {name}/{file.relative_to(folder)}"
    try:
        found = say(command, folder)
        return f"{name} {_judged(found, before, file, what, mends=mends, ours=kind.ours)}"
    finally:
        restore(folder)


@cache
def _workshop() -> Path:
    return Path(tempfile.mkdtemp(prefix="attack-flips-"))


@cache
def _whole(name: str, number: int) -> Said:
    """What a command says of the undamaged folder."""
    folder = pristine(name, _workshop())
    kind = KINDS[name]
    said = say((kind.commands + kind.mends * 3)[number], folder)
    restore(folder)
    if said.code is None:
        raise Violation(f"{name}: traceback without any damage: {said.err}")
    return said


def _judged(found: Said, before: Said, file: Path, what: str, *, mends: bool, ours: bool) -> str:
    """The outcome in words."""
    if found.code is None:
        raise Violation(f"traceback of {what}: {found.err.strip().splitlines()[-1]}")
    if found.code == before.code and found.out == before.out:
        if not ours:
            return "unnoticed"
        # A damaged file that nobody read is still there; what was written must be as it should be.
        wrong = differing(found.left, before.left)
        if wrong not in ({""} if mends else {"", *_names(file)}):
            raise Violation(f"other files of {what}: {wrong}")
        return "mended" if "made again" in found.err else "harmless"
    said = found.err.splitlines()
    # A study says what it does before.
    if found.code in {1, 2} and (len(said) == 1 or mends):
        if file.name not in said[-1]:
            raise Violation(f"no file is named of {what}: {found.err}")
        return "refused"
    if not ours:
        return "other numbers"
    raise Violation(f"code {found.code} for {before.code} of {what}: {found.err or found.out}")


def _names(file: Path) -> set[str]:
    return {str(Path(*file.parts[-depth:])) for depth in (1, 2, 3)}


def _damaged(chance: Random, file: Path, how: str) -> str:
    content = bytearray(file.read_bytes())
    place = chance.randrange(len(content))
    match how:
        case "flip":
            content[place] ^= 1 << (bit := chance.randrange(8))
            file.write_bytes(content)
            return f"bit {bit} of byte {place} flipped"
        case "cut":
            file.write_bytes(content[:place])
            return f"cut after {place} bytes"
        case "empty":
            file.write_bytes(b"")
            return "emptied"
        case "folder":
            file.unlink()
            file.mkdir()
            return "replaced by a folder"
        case _:
            shape = chance.choice(_SHAPES)
            file.write_bytes(shape)
            return f"replaced by {shape.decode()}"
