"""Commands as they are typed: quotes, and lines that a shell takes as one, of Windows' shells, too.

Example:
    >>> quoted("my net.toml"), quoted("net.toml")
    ("'my net.toml'", 'net.toml')
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable
from typing import Final

#: Neither cmd nor PowerShell takes a backslash at the end of a line; and in cmd only double quotes are quotes.
WINDOWS: Final = os.name == "nt"
_PLAIN: Final = re.compile(r"[\w@%+=:,./\\-]+")


def quoted(word: str) -> str:
    """A word of a command as it is typed."""
    if not WINDOWS:
        return shlex.quote(word)
    return word if _PLAIN.fullmatch(word) else '"' + word.replace('"', r"\"") + '"'


def joined(words: Iterable[str]) -> str:
    """The words of a command as they are typed."""
    return " ".join(map(quoted, words))


def broken(parts: list[str], indent: str) -> list[str]:
    r"""A command in lines that a shell takes as one, those behind the first indented twice; one line where none does.

    >>> print(*broken(["tightlink run a.toml", "--seed 2"], "  "), sep="\n")
      tightlink run a.toml \
        --seed 2
    """
    if WINDOWS:
        return [indent + " ".join(parts)]
    first, *others = parts
    made = [indent + first, *(indent * 2 + other for other in others)]
    return [*(f"{line} \\" for line in made[:-1]), made[-1]]
