"""What links could have sent whose rate changes, or that are down at times.

That depends on the scenario alone, and on its seed: the engine says it without any traffic.

Example:
    >>> import tightlink as tl
    >>> scenario = tl.loads('''
    ... duration = "4 s"
    ... link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "1 ms" }
    ... traffic.voice = { kind = "cbr", from = "a", to = "b", rate = "1 Mbit/s" }
    ... ''').set("link.wire.outages", {"schedule": [{"at": "1 s", "for": "1 s"}]})
    >>> capacities_bps(scenario.resolve(), interval_s=2.0, intervals=2)["wire"]
    [1000000.0, 2000000.0]
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tightlink.lazy import _core, pl
from tightlink.run.tables import framed


def capacities_bps(resolved: Mapping[str, Any], *, interval_s: float, intervals: int) -> dict[str, list[float]]:
    """By link what it could have sent in each of some intervals, in bit/s; without links whose rate never changes."""
    observed = {"interval_s": interval_s, "flows": "each", "periods": []}
    # The engine samples before the end only.
    idle = {**resolved, "flows": [], "observe": observed, "duration_s": (intervals + 0.5) * interval_s}
    series = framed("series", _core.simulate(json.dumps(idle)).table("series"))
    known = series.filter((pl.col("metric") == "capacity_bps") & pl.col("value").is_not_null())
    return {str(link): own["value"].to_list() for (link,), own in known.group_by("entity", maintain_order=True)}
