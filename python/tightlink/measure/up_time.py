"""How long a link has been up, where its outages are written down, and what links that change could have sent.

Example:
    >>> link = {"outages": {"times": {"at_s": [1.0], "for_s": [0.5], "period_s": 2.0}}}
    >>> up = UpTime(link, 4.0)
    >>> up.until([1.0, 1.25, 2.0, 4.0]).tolist(), up.time([0.5, 1.25]).tolist()
    ([1.0, 1.0, 1.5, 3.0], [0.5, 1.75])
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from tightlink.lazy import Array, ArrayLike, _core, np, pl
from tightlink.run.tables import framed


class UpTime:
    """The time that a link is up, as a clock that stands still while it is down.

    A link, as the engine gets it, that never fails, or at times that nobody wrote down, counts as up.
    """

    def __init__(self, link: Mapping[str, Any], duration_s: float) -> None:
        times = link.get("outages", {}).get("times", {})
        at_s, for_s = np.array(times.get("at_s", [])), np.array(times.get("for_s", []))
        period_s = times.get("period_s") or math.inf
        rounds = np.arange(math.ceil(duration_s / period_s)) if period_s < math.inf else np.zeros(1)
        starts = (at_s + rounds[:, None] * (period_s if period_s < math.inf else 0.0)).ravel()
        ends = starts + np.tile(for_s, len(rounds))
        # Spans in which it is up: each begins at the end of an outage, the first one at the beginning.
        self._begin_s = np.concatenate([[0.0], ends])
        lasted_s = np.concatenate([starts, [math.inf]]) - self._begin_s
        self._before_s = np.concatenate([[0.0], np.cumsum(lasted_s[:-1])])
        self._lasted_s = lasted_s

    def until(self, time_s: ArrayLike) -> Array:
        """The time that it has been up until some times."""
        at = np.asarray(time_s, dtype=float)
        place = np.searchsorted(self._begin_s, at, side="right") - 1
        found: Array = self._before_s[place] + np.minimum(at - self._begin_s[place], self._lasted_s[place])
        return found

    def time(self, up_s: ArrayLike) -> Array:
        """When it has been up for so long."""
        up = np.asarray(up_s, dtype=float)
        place = np.maximum(np.searchsorted(self._before_s, up, side="left") - 1, 0)
        found: Array = self._begin_s[place] + up - self._before_s[place]
        return found


def capacities_bps(resolved: Mapping[str, Any], *, interval_s: float, intervals: int) -> dict[str, list[float]]:
    """By link what it could have sent in each of some intervals, in bit/s; without links whose rate never changes."""
    observed = {"interval_s": interval_s, "flows": "each", "periods": []}
    # The engine samples before the end only.
    idle = {**resolved, "flows": [], "observe": observed, "duration_s": (intervals + 0.5) * interval_s}
    series = framed("series", _core.simulate(json.dumps(idle)).table("series"))
    known = series.filter((pl.col("metric") == "capacity_bps") & pl.col("value").is_not_null())
    return {str(link): own["value"].to_list() for (link,), own in known.group_by("entity", maintain_order=True)}
