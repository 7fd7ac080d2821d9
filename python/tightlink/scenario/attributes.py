"""Attributes that tables of a scenario do not have, and what was probably meant.

Example:
    >>> str(MissingAttributeError("Scenario has no attribute 'links'", lambda: ".link"))
    "Scenario has no attribute 'links'; did you mean .link?"
"""

from __future__ import annotations

from collections.abc import Callable


class MissingAttributeError(AttributeError):
    """An attribute that there is not; what was meant is looked for when the error is shown, which most are not."""

    def __init__(self, said: str, meant: Callable[[], str | None]) -> None:
        super().__init__(said)
        self._meant = meant

    def __str__(self) -> str:
        meant = self._meant()
        return f"{self.args[0]}; did you mean {meant}?" if meant else str(self.args[0])
