"""Open-loop transfers of a group: when some are under way, and what the links that they take carry meanwhile.

Tables have totals of the whole run. What of these falls into the time with transfers follows from when each flow sends,
and how much: each as if it sent evenly.

Example:
    >>> scenario = tl.loads('''
    ... duration = "1 s"
    ... link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "1 ms", queue = "100 packets" }
    ... traffic.web = { kind = "transfers", from = "a", to = "b", times = ["0 s", "0.5 s"], size = "100 kB" }
    ... ''')
    >>> run = tl.simulate(scenario)
    >>> group = Group(UnderWay(run, Paths(run)), run.flows.row(0, named=True))
    >>> round(group.active_s, 3), round(group.there[0].link.utilization, 2), run.links["utilization"][0] < 0.2
    (0.172, 0.96, True)
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from tightlink import units
from tightlink.diagnosis.completions import open_loop
from tightlink.diagnosis.links import Link
from tightlink.diagnosis.path import Path
from tightlink.diagnosis.paths import Paths
from tightlink.diagnosis.words import tier
from tightlink.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tightlink.run import Run

#: Fewer arrivals are no rate.
_FEWEST_ARRIVALS: Final = 10
#: Base round trips are asked of so many routes, those with most bytes.
_MOST_ROUTES: Final = 64
_SIDES: Final = ("path", "reverse_path")
_BITS: Final = 8


@dataclass(frozen=True)
class Used:
    """A link that transfers of a group take."""

    link: Link
    """Its totals are those of the time in which some of them are under way."""
    part: float
    """The share of the group's bytes that take it."""
    transfers: float
    """How many of the group's transfers do; of those that are sprayed, as many as take it all."""
    at_once: float
    """Flows that take it at a time with their data, on average of the time with transfers."""
    offered_bps: float
    """What arrives for it while transfers do, of these and of datagrams; nothing where arrivals are too few."""
    beside_bps: float
    """The mean of that over the links of its tier that a flow may take instead, it included."""


class UnderWay:
    """The flows of a run over time."""

    def __init__(self, run: Run, paths: Paths) -> None:
        self.paths = paths
        self._run, self._duration_s = run, units.time(run.scenario.duration)
        flows = paths.flows
        self.groups = np.array([flow["group"] for flow in flows])
        spans = np.array([paths.lasted(flow["label"]) for flow in flows])
        self.starts_s, self.stops_s = spans[:, 0], spans[:, 1]
        self.bytes, self._acks = self._sizes(run)
        self._ideal_s = self._ideals(run)
        self._routes: list[tuple[Mapping[int, float], Mapping[int, float]]] = []
        places: dict[Any, int] = {}
        self._route = np.array([self._place(flow, places) for flow in flows])

    def _place(self, flow: Mapping[str, Any], places: dict[Any, int]) -> int:
        """The number of a flow's route: many take the same one."""
        ends = flow["from"], flow["to"]
        single = "spraying" not in flow and flow["path"] is not None and flow["reverse_path"] is not None
        key = (tuple(flow["path"]), tuple(flow["reverse_path"])) if single else ends
        if key not in places:
            places[key] = len(self._routes)
            there, back = (self.paths.shares(flow, side) for side in _SIDES)
            self._routes.append((there, back))
        return places[key]

    def _sizes(self, run: Run) -> tuple[NDArray[Any], NDArray[Any]]:
        """Bytes of each flow's packets, and of ACKs for each of these."""
        flows = self.paths.flows
        sent = dict(run.flows.select("label", "bytes_sent").iter_rows())
        members = dict(zip(*np.unique(self.groups, return_counts=True), strict=True))
        packets, acks = np.zeros(len(flows)), np.zeros(len(flows))
        for place, flow in enumerate(flows):
            tcp, size = flow["transport"].get("tcp"), flow["traffic"].get("bytes")
            full = tcp["payload_bytes"] + tcp["header_bytes"] if tcp else 0
            if tcp and size:
                packets[place] = size * full / tcp["payload_bytes"]
            elif flow["label"] in sent:
                packets[place] = sent[flow["label"]] or 0
            else:
                packets[place] = (sent.get(flow["group"]) or 0) / members[flow["group"]]
            # Every second packet is acknowledged, or each of few.
            acks[place] = tcp["ack_bytes"] / (2 * full) if tcp else 0.0
        return packets, acks

    def _ideals(self, run: Run) -> NDArray[Any]:
        """How long each open-loop transfer takes on an empty path; infinite of other flows."""
        found, rows = np.full(len(self.groups), np.inf), run.completions
        for group in open_loop(run):
            found[self.groups == group] = rows.filter(label=group).sort("transfer")["ideal_s"].to_numpy()
        return found

    def are_complete(self, group: str) -> bool:
        """Whether all transfers of a group were complete at the end."""
        return self._run.completions.filter(label=group)["completion_s"].null_count() == 0

    def retransmit(self, group: str) -> NDArray[Any]:
        """Which transfers of a group retransmitted packets."""
        found: NDArray[Any] = (
            self._run.completions.filter(label=group).sort("transfer")["packets_retransmitted"].to_numpy()
        )
        return found > 0

    def at(self, group: str) -> NDArray[Any]:
        """Which of the flows are a group's."""
        found: NDArray[Any] = self.groups == group
        return found

    def on_links(self, by_flow: NDArray[Any], acks: bool = False) -> dict[int, float]:  # noqa: FBT001, FBT002
        """Sums over the flows that take each link with their data, or of their ACKs, too."""
        found: dict[int, float] = {}
        sums = np.bincount(self._route, weights=by_flow, minlength=len(self._routes))
        back = np.bincount(self._route, weights=by_flow * self._acks, minlength=len(self._routes))
        for (there, returns), whole, ack in zip(self._routes, sums.tolist(), back.tolist(), strict=True):
            for link, share in there.items() if whole else ():
                found[link] = found.get(link, 0.0) + share * whole
            for link, share in returns.items() if acks and ack else ():
                found[link] = found.get(link, 0.0) + share * ack
        return found

    def takes(self, link: str, *, acks: bool = True) -> NDArray[Any]:
        """Which of the flows take a link, with their data or their ACKs."""
        routes = [any(self.paths.link_at(each).name == link for each in (*there, *(back if acks else ())))
                  for there, back in self._routes]  # fmt: skip
        found: NDArray[Any] = np.array(routes)[self._route]
        return found

    def ends(self, link: str, own: NDArray[Any]) -> bool:
        """Whether a link begins or ends where one of some flows does."""
        hosts = {flow[end] for flow in itertools.compress(self.paths.flows, own) for end in ("from", "to")}
        return not hosts.isdisjoint(self.paths.nodes(link))

    def tier(self, link: str, active_s: float, size: int) -> tuple[float, float]:
        """What a link of a link's tier and direction carries on average, and what the slowest could, in bit/s.

        In a time in which they carry all that they do.
        """
        scale = self._duration_s / active_s if active_s else 1.0
        busy = {name: min(1.0, (busy or 0.0) * scale)
                for name, busy in self._run.links.select("link", "utilization").iter_rows()
                if tier(name) == tier(link)}  # fmt: skip
        rates_bps = [self.paths.named(name).carries_bps(size) for name in busy]
        carried_bps = sum(map(operator.mul, busy.values(), rates_bps))
        return carried_bps / len(rates_bps), min(rates_bps)

    def typical(self, own: NDArray[Any]) -> Iterator[tuple[Mapping[str, Any], float, Mapping[int, float]]]:
        """Of each route of some flows one of these, with the bytes of all and its links; those with most first."""
        sums = np.bincount(self._route, weights=np.where(own, self.bytes, 0.0), minlength=len(self._routes))
        first = np.full(len(self._routes), -1)
        first[self._route[own][::-1]] = np.flatnonzero(own)[::-1]
        for route in np.argsort(-sums, kind="stable"):
            if first[route] >= 0:
                yield self.paths.flows[first[route]], float(sums[route]), self._routes[route][0]

    def offered(self, own: NDArray[Any]) -> tuple[NDArray[Any], float]:
        """Bytes of each flow that arrive while those of some transfers do, and how long that is; zero if these are few.

        What comes too late to be sent meanwhile, even over an empty path, does not count.
        """
        times = np.unique(self.starts_s[own])
        if len(times) < _FEWEST_ARRIVALS:
            return np.zeros(len(self.bytes)), 0.0
        first, lasts = times[0], (times[-1] - times[0]) * len(times) / (len(times) - 1)
        left = np.clip(first + lasts - self.starts_s, 0.0, None)
        comes = np.where(self.starts_s >= first, np.minimum(1.0, left / self._ideal_s), 0.0)
        # Datagrams come evenly; TCP without an end asks for what there is.
        datagrams = np.isinf(self._ideal_s) & (self._acks == 0)
        both = np.minimum(self.stops_s, first + lasts) - np.maximum(self.starts_s, first)
        evenly = np.clip(both / np.maximum(self.stops_s - self.starts_s, np.finfo(float).tiny), 0.0, 1.0)
        return self.bytes * np.where(datagrams, evenly, comes), float(lasts)


class Group:
    """The transfers of a group, by its row of the table ``flows``, while they are under way."""

    def __init__(self, every: UnderWay, row: Mapping[str, Any]) -> None:
        self._every, self.paths = every, every.paths
        self.row = row
        self._paths: dict[str, Path] = {}
        self.own = every.at(row["label"])
        self.starts_s, self.stops_s = every.starts_s[self.own], every.stops_s[self.own]
        self.bytes = every.bytes[self.own]
        self.total_s = float((self.stops_s - self.starts_s).sum())
        self.mean_s = self.total_s / len(self.starts_s)
        self.complete = every.are_complete(row["label"])
        order = np.argsort(self.starts_s, kind="stable")
        begins, ends = self.starts_s[order], np.maximum.accumulate(self.stops_s[order])
        apart = np.flatnonzero(begins[1:] > ends[:-1]) + 1
        begins, ends = begins[np.concatenate(([0], apart))], ends[np.concatenate((apart - 1, [len(ends) - 1]))]
        self._edges = np.column_stack((begins, ends)).ravel()
        lasts = np.cumsum(ends - begins)
        self._until = np.column_stack((lasts - (ends - begins), lasts)).ravel()
        self.active_s = float(lasts[-1])

    @cached_property
    def there(self) -> tuple[Used, ...]:
        """The links that its data take, the busiest first."""
        links = self._every.on_links(np.where(self.own, self._every.bytes, 0.0))
        return tuple(sorted((self._used[link] for link in links), key=lambda used: -used.link.utilization))

    @cached_property
    def without_loss(self) -> float:
        """The share of their time that is of transfers which retransmitted nothing."""
        times_s = self.stops_s - self.starts_s
        return float(times_s[~self._every.retransmit(self.row["label"])].sum() / self.total_s) if self.total_s else 0.0

    def used(self, link: str) -> Used | None:
        """The link of this name, if their data take it."""
        return next((each for each in self.there if each.link.name == link), None)

    @property
    def links(self) -> list[Link]:
        """The links that its data or ACKs take."""
        return [used.link for used in self._used.values()]

    def parts(self, link: str) -> dict[str, float]:
        """The share of each traffic group in what a link carries meanwhile."""
        sent = np.where(self._every.takes(link, acks=False), self._every.bytes * self._inside, 0.0)
        names, place = np.unique(self._every.groups, return_inverse=True)
        sums = np.bincount(place, weights=sent)
        return dict(zip(names.tolist(), (sums / (sums.sum() or 1.0)).tolist(), strict=True))

    def mean_bytes(self, name: str) -> float:
        """The mean of what flows of a group send in all, or of the group of a flow."""
        found = self._every.at(self.paths.group(name))
        return float(self._every.bytes[found].mean())

    def ends(self, used: Used) -> bool:
        """Whether a link begins or ends at a host of the group: no path leads around it."""
        return self._every.ends(used.link.name, self.own)

    def evenly(self, used: Used) -> float:
        """How busy the slowest link of a tier, in the direction of one of them, would be if all carried as much.

        More than all the time where what comes while transfers arrive is more than that link carries.
        """
        mean_bps, slowest_bps = self._every.tier(used.link.name, self.active_s, self.packet_bytes)
        comes = used.beside_bps / slowest_bps
        return max(mean_bps / slowest_bps, comes if comes > 1 else 0.0)

    @cached_property
    def packet_bytes(self) -> int:
        """Size of a full data packet."""
        return self.path().packet_bytes

    def path(self, link: str = "") -> Path:
        """The path of most of its bytes, of those that take a link; with what links carry meanwhile."""
        if link not in self._paths:
            self._paths[link] = self._path(link)
        return self._paths[link]

    def _path(self, link: str) -> Path:
        routes = [(flow, links) for flow, _, links in self._every.typical(self.own)]
        taking = (flow for flow, links in routes if any(self.paths.link_at(each).name == link for each in links))
        path = self.paths.of(next(taking, routes[0][0])["label"])
        meanwhile = {used.link.name: used.link for used in self._used.values()}
        forward, reverse = (tuple(meanwhile.get(link.name, link) for link in side)
                            for side in (path.forward, path.reverse))  # fmt: skip
        rtt_s, waits_s = self.row["rtt_mean_s"], self.row["queueing_delay_mean_s"]
        return replace(path, forward=forward, reverse=reverse, mean_rtt_s=rtt_s, waits_s=waits_s)

    def takes(self, link: str) -> NDArray[Any]:
        """Which of the transfers take a link, with their data or their ACKs."""
        found: NDArray[Any] = self._every.takes(link)[self.own]
        return found

    def at_once_packets(self, link: str, first: float) -> float:
        """The most packets that transfers bring to a link by initial windows of ``first`` within a base round trip."""
        taken = self._every.takes(link, acks=False)[self.own]
        starts_s = self.starts_s[taken]
        order = np.argsort(starts_s, kind="stable")
        starts_s = starts_s[order]
        until = np.cumsum(np.minimum(first, self.bytes[taken][order] / self.packet_bytes))
        last = np.searchsorted(starts_s, starts_s + self.base_rtt_s, side="right") - 1
        return float((until[last] - np.concatenate(([0.0], until[:-1]))).max())

    def fills_bps(self, used: Used) -> float:
        """What those that are under way at once send over a link: the mean of their rates times how many they are."""
        taken = self.takes(used.link.name)
        starts_s, stops_s = self.starts_s[taken], self.stops_s[taken]
        # For how long all of them together have been under way until each begins, and ends.
        edges = np.concatenate((starts_s, stops_s))
        order = np.argsort(edges, kind="stable")
        counts = np.cumsum(np.where(order < len(starts_s), 1, -1))
        until = np.concatenate(([0.0], np.cumsum(counts[:-1] * np.diff(edges[order]))))
        together_s = np.empty(len(edges))
        together_s[order] = until
        lasts_s = np.maximum(stops_s - starts_s, np.finfo(float).tiny)
        sent = self.bytes[taken]
        at_once = (together_s[len(starts_s) :] - together_s[: len(starts_s)]) / lasts_s
        return float(_BITS * (sent * at_once).sum() / lasts_s.sum())

    @cached_property
    def base_rtt_s(self) -> float:
        """The mean base round trip of its bytes."""
        routes = [each for each, _ in zip(self._every.typical(self.own), range(_MOST_ROUTES), strict=False)]
        bases = [self.paths.of(flow["label"]).base_rtt_s for flow, *_ in routes]
        return float(np.average(bases, weights=[size for _, size, _ in routes]))

    @cached_property
    def _inside(self) -> NDArray[Any]:
        """The share of each flow's time in which some transfer of the group is under way."""
        every = self._every
        until = [np.interp(times, self._edges, self._until) for times in (every.starts_s, every.stops_s)]
        lasts = np.maximum(every.stops_s - every.starts_s, np.finfo(float).tiny)
        return np.where(self.own, 1.0, (until[1] - until[0]) / lasts)

    @cached_property
    def _used(self) -> dict[int, Used]:
        every = self._every
        share = self._inside
        inside = share * (every.stops_s - every.starts_s)
        mine = np.where(self.own, every.bytes, 0.0)
        whole, meanwhile, own = (every.on_links(each, acks=True) for each in (every.bytes, every.bytes * share, mine))
        data, at_once = every.on_links(mine), every.on_links(inside)
        counts = every.on_links(np.where(self.own, 1.0, 0.0))
        arriving, arrive_s = every.offered(self.own)
        offered = {link: _BITS * size / arrive_s for link, size in every.on_links(arriving).items()} if arrive_s else {}
        beside = {link: self.paths.alike(link) for link in own}
        total = float(mine.sum()) or 1.0
        return {
            link: Used(
                _while(every.paths.link_at(link), self.active_s, meanwhile[link] / whole[link]),
                data.get(link, 0.0) / total,
                counts.get(link, 0.0),
                at_once.get(link, 0.0) / self.active_s if self.active_s else 0.0,
                offered.get(link, 0.0),
                sum(offered.get(each, 0.0) for each in beside[link]) / len(beside[link]),
            )
            for link in own
        }


def _while(link: Link, active_s: float, part: float) -> Link:
    """A link as it is for a time in which it carries a part of what it does in all: as if that were all of the run."""
    lasts_s = active_s / part if part else link.duration_s
    busy = (link.totals.get("utilization") or 0.0) * link.duration_s / lasts_s if lasts_s else 0.0
    return replace(link, duration_s=lasts_s, totals={**link.totals, "utilization": min(1.0, busy)})
