"""Which of our responses the document's Y1 to Y18 are, and which level of three parameters is its high one.

The document names neither. Both are told by its effects, and so an effect must not be tested by a reading that it
helped to find: each is left out in turn, and the response, or the level, is read from the others.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Final

import polars as pl

from tightlink.studies.congestion_control.setup import document

_VALUE: Final = {"+": 1, "−": -1, "": 0}
_SIGN: Final = {1: "+", -1: "−", 0: ""}
#: Of marks: what stands out at p < 0.01 counts twice as much as at p < 0.05.
_WEIGHT: Final = {"**": 1.0, "*": 0.5, "": 0.0}


@dataclass(frozen=True, eq=False)
class Readings:
    """The document's effects of the second period beside ours."""

    second: pl.DataFrame
    """Ours, as `Sensitivity.effects` has them, of that period."""

    @cached_property
    def effects(self) -> Mapping[tuple[str, str], dict[str, Any]]:
        """Ours, by the document's name of the parameter and our name of the response."""
        names = {name: parameter for parameter, name in document.NAME_OF.items()}
        return {(names[row["factor"]], row["response"]): row for row in self.second.iter_rows(named=True)}

    def effect(self, parameter: str, response: str) -> dict[str, Any] | None:
        """Ours; nothing if the parameter was not varied, or the response is only there at one of its levels."""
        found = self.effects.get((parameter, response))
        return found if found is not None and found["sign"] else None

    @cache  # noqa: B019  # a study has one or two of these
    def response(self, number: str, without: str = "") -> tuple[str, float]:
        """What a response of the document is, by its effects without one parameter's, and how well these agree.

        The agreement is the cosine between the document's marks and ours, of parameters whose levels are known: 1 where
        they are the same, 0 where they have nothing in common. Responses of a class are different ones: of all ways to
        read them, it is that of the largest agreement in all.
        """
        from scipy.optimize import linear_sum_assignment

        told = document.TOLD
        if number in told:
            return told[number], 1.0
        own_class = document.CLASS_OF[number]
        of_class = [each for each, name in document.CLASS_OF.items() if name == own_class and each not in told]
        candidates = [name for name in document.CANDIDATES[own_class] if name not in told.values()]
        agreement = [
            [self._agreement(each, candidate, without if each == number else "") for candidate in candidates]
            for each in of_class
        ]
        own = of_class.index(number)
        chosen = int(linear_sum_assignment(agreement, maximize=True)[1][own])
        return candidates[chosen], agreement[own][chosen]

    def disputed(self, number: str, parameter: str) -> str:
        """Why an effect has no verdict although it has a sign: another reading of the response has another one.

        Other readings are those by which it is read where another of its effects is left out. Empty where all agree.
        """
        first = self.response(number, parameter)[0]
        for other in dict.fromkeys(self.response(number, each)[0] for each in document.effects()[number]):
            if self._seen(parameter, first) != self._seen(parameter, other):
                return (
                    f"Read as {first} it has another effect than as {other}, and its other effects do not tell which. "
                )
        return ""

    def _seen(self, parameter: str, response: str) -> int:
        """The sign of an effect that is there; 0 of one that is not."""
        own = self.effect(parameter, response)
        return 0 if own is None or own["p_joint"] >= document.STRONG else _VALUE[own["sign"]]

    @cache  # noqa: B019
    def _agreement(self, number: str, response: str, without: str) -> float:
        known = [name for name in document.NAME_OF if name not in {without, *document.UNKNOWN}]
        marks = [document.effects()[number].get(name, ("", False)) for name in known]
        effects = [self.effects.get((name, response)) for name in known]
        theirs = [_VALUE[sign] * (1.0 if strong else 0.5) for sign, strong in marks]
        ours = [_VALUE[own["sign"]] * _WEIGHT[own["mark"]] if own else 0.0 for own in effects]
        lengths = math.hypot(*theirs) * math.hypot(*ours)
        return sum(a * b for a, b in zip(theirs, ours, strict=True)) / lengths if lengths else 0.0

    def orientation(self, parameter: str, without: str) -> int:
        """1 if our high level is the document's, −1 if it is its low one, by all responses but one; 0 if none tells."""
        total = 0
        for number, marks in document.effects().items():
            if number == without or parameter not in marks:
                continue
            own = self.effect(parameter, self.response(number, parameter)[0])
            if own is not None and own["p_joint"] < document.STRONG:
                total += _VALUE[marks[parameter][0]] * _VALUE[own["sign"]]
        return (total > 0) - (total < 0)

    def sign(self, number: str, parameter: str) -> str:
        """The sign of our effect, in the document's orientation; "" where there is none, or that is not known."""
        own = self.effect(parameter, self.response(number, parameter)[0])
        if own is None:
            return ""
        turned = self.orientation(parameter, number) if parameter in document.UNKNOWN else 1
        return _SIGN[_VALUE[own["sign"]] * turned]
