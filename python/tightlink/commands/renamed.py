"""Commands that had other names before, which are understood for one release more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tightlink.console import say

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Old names, and the words that stand for them now.
RENAMED: Final = {
    "predict": ("plan", "path"),
    "maxflow": ("plan", "maxflow"),
    "packetize": ("plan", "packetize"),
    "sql": ("query",),
    "pinger": ("analyze", "pinger"),
    "four-tier": ("new", "four-tier"),
    "examples": ("new", "examples"),
}


def as_now(arguments: Sequence[str]) -> list[str]:
    """A command line with today's name of its command; where that is another, a warning says so.

    >>> as_now(["run", "one-flow.toml"])
    ['run', 'one-flow.toml']
    """
    match list(arguments):
        case [old, *rest] if old in RENAMED:
            words = list(RENAMED[old])
        case ["study", *rest] if "--new" in rest:
            old, words = "study --new", ["new", "study"]
            rest.remove("--new")
        case same:
            return same
    say(f"warning: tightlink {old} is called tightlink {' '.join(words)} now; the next release has the new name alone")
    return [*words, *rest]
