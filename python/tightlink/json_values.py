"""Values as JSON can hold them, whatever found them."""

from __future__ import annotations

import dataclasses
import math
from decimal import Decimal
from typing import Any


def plain(thing: Any) -> Any:
    """What JSON can hold: fields of dataclasses, rows of frames and arrays, numbers, and null for one that is none.

    >>> plain({"share": Decimal("0.5"), "slope": math.nan, "rows": [(1, math.inf)]})
    {'share': 0.5, 'slope': None, 'rows': [[1, None]]}
    """
    if dataclasses.is_dataclass(thing):
        return {field.name: plain(getattr(thing, field.name)) for field in dataclasses.fields(thing)}
    if isinstance(thing, dict):
        return {key: plain(value) for key, value in thing.items()}
    if isinstance(thing, list | tuple):
        return [plain(value) for value in thing]
    if isinstance(thing, float | Decimal):
        return float(thing) if math.isfinite(thing) else None
    if hasattr(thing, "tolist"):
        return plain(thing.tolist())
    return plain(thing.to_dicts()) if hasattr(thing, "to_dicts") else thing
