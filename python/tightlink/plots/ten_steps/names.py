"""What factors and effects are called in the figures of the ten steps, and in which unit responses are.

Example:
    >>> term("net.queue × flows", {"net.queue": "A", "flows": "B"}), letters(["net.queue", "flows"])
    ('A×B', {'net.queue': 'A', 'flows': 'B'})
    >>> aliases("−a × b, c", {"a": "A", "b": "B", "c": "C"})
    '−A×B, C'
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Final

from tightlink.analysis.effects.ten_steps import Steps
from tightlink.plots import labels

_TIMES: Final = " × "
#: Of statistics, "I" is the identity.
_LETTERS: Final = ascii_uppercase.replace("I", "")
#: Names up to this length are short enough for products of them.
_SHORT: Final = 3


def chosen(found: Steps, names: Mapping[str, str] | None) -> Mapping[str, str]:
    """The names that were given, or the ends of the factors' names that tell them apart."""
    return names if names is not None else labels.shortest(found.design.factors)


def letters(factors: Sequence[str]) -> dict[str, str]:
    """A letter for each factor; its own name where all are as short, a number where there are too many."""
    own = labels.shortest(factors)
    if max(map(len, own.values())) <= _SHORT:
        return own
    if len(factors) > len(_LETTERS):
        return {factor: f"F{place}" for place, factor in enumerate(factors, 1)}
    return dict(zip(factors, _LETTERS, strict=False))


def largest(found: Steps, most: int) -> list[str]:
    """The factors with the largest effects of their own, in the order of all."""
    ranked = sorted(found.means.select("factor", "effect").rows(), key=lambda row: -abs(row[1]))
    kept = {factor for factor, _ in ranked[:most]}
    return [factor for factor in found.design.factors if factor in kept]


def left_out(shown: int, all_: int, what: str) -> str:
    """What an axis says of those that are not shown."""
    return f"; {shown} of {all_} {what}" if all_ > shown else ""


def term(name: str, names: Mapping[str, str]) -> str:
    """An effect by the names of its factors."""
    return "×".join(names[factor] for factor in name.split(_TIMES))


def aliases(text: str, names: Mapping[str, str]) -> str:
    """What an effect cannot be told apart from."""
    parts = [part for part in text.split(", ") if part]
    return ", ".join(("−" if part[0] == "−" else "") + term(part.removeprefix("−"), names) for part in parts)


def axis(found: Steps) -> labels.Axis:
    """Title and scale of the response."""
    return labels.axis(found.response, labels.largest(found.ordered, "value"))


def effect_axis(found: Steps) -> labels.Axis:
    """Title and scale of effects on the response."""
    up = labels.axis(found.response, labels.largest(found.effects, "effect"))
    return labels.Axis(f"effect on {up.title}", up.factor)
