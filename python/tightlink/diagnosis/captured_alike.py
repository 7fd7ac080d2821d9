"""Captured flows of which the same is said are told of together, as the thousands of short connections of a server."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from tightlink.diagnosis.answers import MOST_SAID, Diagnosis
from tightlink.diagnosis.words import between

#: A number with its unit, but not one within an address.
_FIGURE: Final = re.compile(
    r"(?<![\w.:])(?P<number>\d[\d,]*(?:\.\d+)?)(?: (?P<unit>%|m?s|[kMG]?bit/s|bytes))?(?![\w:]|\.\d)"
)
#: What units are of, and how large they are.
_UNITS: Final = {
    "ms": ("time", 1e-3), "s": ("time", 1.0), "bit/s": ("rate", 1.0), "kbit/s": ("rate", 1e3),
    "Mbit/s": ("rate", 1e6), "Gbit/s": ("rate", 1e9), "%": ("share", 1.0), "bytes": ("bytes", 1.0),
    None: ("count", 1.0),
}  # fmt: skip


def told_together(found: Sequence[Diagnosis]) -> list[Diagnosis]:
    """One diagnosis for all flows with the same answer, and for more than a few of which only the figures differ."""
    return _merged(_merged(found, lambda said: said.answer, 1), lambda said: _frame(said.answer), MOST_SAID)


def _merged(found: Iterable[Diagnosis], words: Callable[[Diagnosis], str], most: int) -> list[Diagnosis]:
    """Diagnoses in the order of the first with the same words, one where these are of more than ``most`` flows."""
    alike: dict[tuple[str, ...], list[Diagnosis]] = {}
    for diagnosis in found:
        alike.setdefault((words(diagnosis), *(cause.name for cause in diagnosis.causes)), []).append(diagnosis)
    flows = {key: sum(len(diagnosis.flows) for diagnosis in said) for key, said in alike.items()}
    return [one for key, said in alike.items() for one in ([_together(said)] if flows[key] > most else said)]


def _together(found: Sequence[Diagnosis]) -> Diagnosis:
    """One diagnosis of several whose words are the same: figures are from the least to the most."""
    causes = tuple(
        replace(each[0], text=_spanned([cause.text for cause in each]))
        for each in zip(*(diagnosis.causes for diagnosis in found), strict=True)
    )
    delays = [diagnosis.delay for diagnosis in found if diagnosis.delay is not None]
    longest = max(delays, key=lambda delay: delay.mean_s, default=None)
    return replace(
        found[0],
        flows=tuple(flow for diagnosis in found for flow in diagnosis.flows),
        causes=causes,
        delay=longest and replace(longest, text=_spanned([delay.text for delay in delays])),
        answer=_spanned([diagnosis.answer for diagnosis in found]),
    )


def _frame(text: str) -> str:
    """The words of a text without its figures."""
    return _FIGURE.sub(lambda figure: f"<{_UNITS[figure['unit']][0]}>", text)


def _spanned(texts: Sequence[str]) -> str:
    """Texts whose words are the same as one, with each figure from the least to the most.

    >>> _spanned(["after 2 round trips of 40 ms", "after 5 round trips of 1.2 s"])
    'after 2 to 5 round trips of 40 ms to 1.2 s'
    """
    columns = iter(list(zip(*(_FIGURE.finditer(text) for text in texts), strict=True)))

    def span(_: re.Match[str]) -> str:
        figures = sorted(next(columns), key=_size)
        return between(figures[0][0], figures[-1][0])

    return _FIGURE.sub(span, texts[0])


def _size(figure: re.Match[str]) -> float:
    return float(figure["number"].replace(",", "")) * _UNITS[figure["unit"]][1]
