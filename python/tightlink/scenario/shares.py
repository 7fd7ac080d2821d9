"""Shares of a whole: of files, interfaces, congestion controls, packet sizes.

Example:
    >>> completed({"web": {"share": 0.75}, "movie": {"mean": "9 packets"}})["movie"]
    {'mean': '9 packets', 'share': 0.25}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tightlink import units
from tightlink.scenario.table import wrong

#: Three thirds do not add up to one in every notation.
_ROUNDING: Final = 1e-9


def check_shares(key: str, shares: Mapping[str, float | str | None], what: str) -> None:
    """An error unless there are some, they sum to 1, and at most one of them, which is the rest, is left out."""
    if not shares:
        raise wrong(f"at least one {what}", key=key)
    silent = [name for name, share in shares.items() if share is None]
    total = sum(units.exact(units.fraction(share)) for share in shares.values() if share is not None)
    if len(silent) > 1:
        raise wrong("a share: only one of them may be left out, and is the rest", key=f"{key}.{silent[1]}.share")
    if total > 1 + _ROUNDING or (not silent and total < 1 - _ROUNDING):
        raise wrong(f"shares that sum to 1, not {float(total):.10g}", key=key)


def completed(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Tables with a share each: one that has none gets the rest."""
    given = sum(units.exact(units.fraction(table["share"])) for table in tables.values() if "share" in table)
    return {name: {**table, "share": table.get("share", float(max(1 - given, 0)))} for name, table in tables.items()}
