"""Metrics that runs may have, known before any is made: what is asked of a table of runs is compared with them.

Example:
    >>> import tightlink as tl
    >>> found = possible([tl.network("dsl")])
    >>> "goodput_bps" in found, "download.loss" in found, "upload.loss" in found
    (True, True, False)
"""

from __future__ import annotations

from collections.abc import Iterable

from tightlink.errors import TightlinkError
from tightlink.experiment.metrics import OVER_TIME, listed
from tightlink.scenario import Scenario
from tightlink.tables import counted, measured

_OF_GROUP, _OF_SIZES = "GROUP.", "SIZES."


def possible(scenarios: Iterable[Scenario]) -> list[str]:
    """Names of all metrics that runs of some scenarios may have, in the order of the table of runs.

    What a run has depends on its traffic: of users and scattered datagrams other numbers than of flows, of transfers
    those of each class of sizes. Here all that some traffic has is named, so that none is missing.
    """
    groups: dict[str, None] = {}
    classes: dict[str, None] = {}
    seen = set()
    for scenario in scenarios:
        groups |= dict.fromkeys(scenario.traffic)
        limits = repr([(name, getattr(each, "size_classes", None)) for name, each in scenario.traffic.items()])
        if limits not in seen:
            try:
                classes |= dict.fromkeys(_classes(scenario))
            except TightlinkError:
                # It has no run, and so no columns.
                continue
            seen.add(limits)
    found: dict[str, None] = {}
    for name, _ in listed():
        if name.startswith(_OF_GROUP):
            places = [f"{group}." for group in groups]
        elif name.startswith(_OF_SIZES):
            places = [f"{before}{each}." for before in ("", *(f"{group}." for group in groups)) for each in classes]
        else:
            places = ["", *(f"{group}." for group in groups)]
        metric = name.removeprefix(_OF_GROUP).removeprefix(_OF_SIZES)
        found |= dict.fromkeys(place + metric for place in places)
    for name in OVER_TIME:
        columns = (*counted(name), *measured(name), "loss")
        found |= dict.fromkeys(prefix + column for prefix in ("", f"{name}_") for column in columns)
    return list(found)


def _classes(scenario: Scenario) -> list[str]:
    """The classes of sizes of a scenario's transfers, as columns call them."""
    resolved = scenario.resolve() if any(each.kind == "transfers" for each in scenario.traffic.values()) else {}
    return [each["name"].replace(" ", "-") for group in resolved.get("transfers", ()) for each in group["size_classes"]]
