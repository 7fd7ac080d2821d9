"""From Altair charts to specifications that are small: data in columns, each set once a report."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from tightlink.errors import TightlinkError
from tightlink.plots.paper import spec_of

#: More rows than anyone sees, and a file that nobody mails.
MOST_ROWS: Final = 20_000


@dataclass
class Data:
    """The data of all charts of a report, by a hash of them."""

    sets: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, rows: list[dict[str, Any]]) -> str:
        """Keep rows and return the name under which the charts find them."""
        columns = _columns(rows)
        text = json.dumps(columns, sort_keys=True, allow_nan=False)
        name = "d" + hashlib.sha256(text.encode()).hexdigest()[:12]
        self.sets[name] = columns
        return name


def figure(chart: Any, data: Data) -> tuple[dict[str, Any], str]:
    """Take a chart of Altair apart: its specification, with its data among those of all, and what its caption says."""
    spec = spec_of(chart)
    names: dict[str, str] = {}
    for old, rows in spec.pop("datasets", {}).items():
        if len(rows) > MOST_ROWS:
            raise TightlinkError(
                f"a chart of a report has {len(rows)} points, and {MOST_ROWS} are the most: "
                "thin them with tightlink.report.charts.thin, or aggregate them"
            )
        names[old] = data.add(rows)
    for part in _parts(spec):
        source = part.get("data")
        if isinstance(source, dict) and source.get("name") in names:
            source["name"] = names[source["name"]]
    del spec["$schema"]
    meta = spec.get("usermeta") or {}
    note = str(meta.pop("note", ""))
    # How wide it is where there is no page.
    meta.pop("paper", None)
    for panel in meta.get("panels", ()):
        panel["data"] = _data_of(panel["name"], spec)
    return spec, note


def script_json(value: Any) -> str:
    """JSON that may stand in a script element.

    >>> "</script>" in script_json({"a": "</script>"})
    False
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _parts(value: Any) -> Iterator[dict[str, Any]]:
    """All tables within a specification."""
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from _parts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _parts(item)


def _data_of(name: str, part: dict[str, Any], above: str = "") -> str:
    """The data of a part of a chart, which Altair moves up to what contains the part if all of that has the same."""
    data = part.get("data", {}).get("name", above)
    if part.get("name") == name:
        return str(data)
    return next((found for inner in part.get("vconcat", ()) if (found := _data_of(name, inner, data))), "")


def _columns(rows: list[dict[str, Any]]) -> dict[str, Any]:
    names = list(rows[0]) if rows else []
    return {name: _column([row.get(name) for row in rows]) for name in names}


def _column(values: list[Any]) -> Any:
    """A list of numbers; words that repeat are numbered."""
    if not any(isinstance(value, str) for value in values):
        return [_number(value) for value in values]
    words = list(dict.fromkeys(values))
    index = {word: place for place, word in enumerate(words)}
    return {"words": words, "at": [index[value] for value in values]}


def _number(value: Any) -> Any:
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        return None
    short = float(f"{value:.7g}")
    return int(short) if short.is_integer() and abs(short) < 2**53 else short
