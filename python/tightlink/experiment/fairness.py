"""How evenly the flows of a run share what they compete for.

Example:
    >>> import tightlink as tl
    >>> run = tl.simulate(tl.loads('''
    ... duration = "5 s"
    ... link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms", queue = "20 packets" }
    ... traffic.down = { kind = "bulk", from = "a", to = "b", flows = 2 }
    ... traffic.up = { kind = "bulk", from = "b", to = "a" }
    ... '''))
    >>> [flows["label"].to_list() for flows in sets_of_competitors(run.flows, run)]
    [['down[0]', 'down[1]']]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from tightlink.diagnosis.paths import Paths, paths_of
from tightlink.lazy import pl
from tightlink.reduce import jain
from tightlink.run import Run

_BY_APPLICATION: Final = "limited_by_application"
#: Share of its time from which on a flow is its application's.
_MOSTLY: Final = 0.5
#: A flow, and what it takes: at the places where it is limited it competes with others that take them.
_Places = dict[str, tuple[Sequence[str], Sequence[str]]]


def fairness(flows: pl.DataFrame, run: Run | None = None) -> float | None:
    """Jain's index of the goodputs of flows that compete; of several sets of them, the one that shares least evenly.

    Which flows compete tells their run, if its scenario is known, as that of a capture is not. Nothing where none do.
    """
    indices = [
        jain(goodputs)
        for each in sets_of_competitors(flows, run)
        if len(goodputs := each["goodput_bps"].drop_nulls().to_list()) > 1
    ]
    return min(indices, default=None)


def sets_of_competitors(flows: pl.DataFrame, run: Run | None = None) -> list[pl.DataFrame]:
    """The sets of flows that compete: at the same time, for a link that is the busiest one on the way of one of them.

    Flows that get what little their applications send compete for nothing: throughput is subject to demand (RFC 5166
    section 2.1.1). Two that never meet are in one set where both meet a third one.
    """
    wanting = _wanting(flows)
    if wanting.height < 2:  # noqa: PLR2004  # nobody competes alone
        return []
    places = _ends(wanting) if run is None else _links(paths_of(run))
    limiting = {place for narrow, _ in places.values() for place in narrow}
    there: dict[str, list[tuple[float, float, int]]] = {}
    for row, (label, start, stop) in enumerate(wanting.select("label", "start_s", "stop_s").iter_rows()):
        for place in limiting.intersection(places[label][1]):
            there.setdefault(place, []).append((start, stop, row))
    groups = _joined(wanting.height, (met for each in there.values() for met in _met(each)))
    return [wanting[rows] for rows in groups if len(rows) > 1]


def _wanting(flows: pl.DataFrame) -> pl.DataFrame:
    """The flows that do not get what little their applications send; where it is not known what limits one, it is."""
    if _BY_APPLICATION not in flows.columns:
        return flows
    wanting = [share is None or share <= _MOSTLY for share in flows[_BY_APPLICATION].to_list()]
    # Most often all of them, and to choose takes polars longer than to look.
    return flows if all(wanting) else flows.filter(wanting)


def _links(paths: Paths) -> _Places:
    """The busiest link of each flow, and all links that it takes with its data."""
    taken: dict[str, list[str]] = {}
    for link, labels in paths.users.items():
        for label in labels:
            taken.setdefault(label, []).append(link)
    return {label: ([paths.of(label).busiest.name], those) for label, those in taken.items()}


def _ends(flows: pl.DataFrame) -> _Places:
    """Where nobody knows the links: what leaves a host shares its uplink, and what arrives at it its downlink."""
    ends = {label: (f"from {first}", f"to {last}") for label, first, last in flows.select("label", "from", "to").rows()}
    return {label: (both, both) for label, both in ends.items()}


def _met(times: Iterable[tuple[float, float, int]]) -> Iterable[tuple[int, int]]:
    """Pairs of rows that are there at the same time: of those that began earlier the one that stays longest."""
    longest, holder = float("-inf"), -1
    for start, stop, row in sorted(times):
        if start < longest:
            yield holder, row
        if stop > longest:
            longest, holder = stop, row


def _joined(count: int, pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """The sets of rows that pairs join, directly or over others."""
    heads = list(range(count))

    def head(row: int) -> int:
        while heads[row] != row:
            heads[row] = heads[heads[row]]
            row = heads[row]
        return row

    for one, other in pairs:
        low, high = sorted((head(one), head(other)))
        heads[high] = low
    groups: dict[int, list[int]] = {}
    for row in range(count):
        groups.setdefault(head(row), []).append(row)
    return list(groups.values())
