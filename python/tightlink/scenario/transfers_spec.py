"""Open-loop transfers as the engine's resolver reads them, which draws them (`tightlink._core.fill`)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tightlink import units
from tightlink.errors import ABSENT, ScenarioError
from tightlink.scenario.dscp import CODE_POINTS
from tightlink.scenario.network import Network, span_s
from tightlink.scenario.profiles import Profile
from tightlink.scenario.size_distribution import SizeDistribution
from tightlink.scenario.table import given
from tightlink.scenario.transfers import LASTING, MOST_TRANSFERS, Transfers
from tightlink.scenario.transport import check_mtu, tcp_spec
from tightlink.scenario.users import law


def transfers_spec(
    name: str, transfers: Transfers, network: Network, profile: Profile, duration: float
) -> dict[str, Any]:
    """The transfers of one group of traffic, with every default filled in."""
    key = f"traffic.{name}"
    tcp = tcp_spec(f"{key}.tcp", given(transfers.tcp), profile)
    check_mtu(f"{key}.tcp", given(transfers.tcp), tcp, network)
    origins, targets = _nodes(key, transfers, network)
    start, stop = _times(key, transfers, duration)
    each = _at_an_arrival(transfers, origins, targets)
    arrivals = _arrivals(key, transfers, network, each)
    ((kind, value),) = arrivals.items()
    expected = each * (len(value) if isinstance(value, list) else value * (stop - start))
    if expected > MOST_TRANSFERS:
        rate = "load" if transfers.load is not None else "arrivals" if transfers.arrivals is not None else "times"
        message = f"at most {MOST_TRANSFERS} transfers, not about {float(expected):.0f}"
        raise ScenarioError(message, key=f"{key}.{rate}", value=ABSENT if rate == "times" else getattr(transfers, rate))
    dscp = CODE_POINTS[transfers.dscp or "CS0"]
    return {
        "label": name,
        "from": origins,
        "to": targets,
        "pairs": _pairs(transfers),
        "arrivals": {kind: value},
        "sizes": _sizes(transfers),
        "start_s": start,
        "stop_s": stop,
        "size_classes": _classes(given(transfers.size_classes)),
        "flow": {"stop_s": duration, **({"dscp": dscp} if dscp else {}), "transport": {"tcp": tcp}},
    }


def _nodes(key: str, transfers: Transfers, network: Network) -> tuple[list[int], list[int]]:
    ends = {}
    for side, written in (("from", transfers.from_), ("to", transfers.to)):
        ends[side] = network.members(f"{key}.{side}", written)
        if len(set(ends[side])) < len(ends[side]):
            raise ScenarioError("nodes that stand once", key=f"{key}.{side}", value=written)
    origins, targets = ends["from"], ends["to"]
    if set(origins) == set(targets) and len(origins) == 1:
        raise ScenarioError("another node than from, to which it sends", key=f"{key}.to", value=transfers.to)
    if transfers.pairs == "permutation" and len(origins) != len(targets):
        message = f"as many nodes as from, which are {len(origins)}, not {len(targets)}: each has its own receiver"
        raise ScenarioError(message, key=f"{key}.to", value=transfers.to)
    if transfers.pairs == "matched":
        for index in range(max(len(origins), len(targets))):
            if origins[index % len(origins)] == targets[index % len(targets)]:
                message = f"another node than {network.name(origins[index % len(origins)])}, which sends to its match"
                raise ScenarioError(message, key=f"{key}.to", value=transfers.to)
    most = len(origins) - (1 if set(targets) <= set(origins) else 0)
    if transfers.senders is not None and transfers.senders > most:
        raise ScenarioError(f"at most {most}, all that can send", key=f"{key}.senders", value=transfers.senders)
    return origins, targets


def _times(key: str, transfers: Transfers, duration: float) -> tuple[float, float]:
    if transfers.times is not None:
        if units.time(transfers.times[-1]) >= duration:
            message = f"times before the duration, which is {units.format_time(duration)}"
            raise ScenarioError(message, key=f"{key}.times", value=transfers.times[-1])
        return 0.0, duration
    return span_s(key, transfers.start, transfers.stop, duration)


def _at_an_arrival(transfers: Transfers, origins: list[int], targets: list[int]) -> Fraction:
    """Transfers that start at an arrival, in the mean."""
    if transfers.pairs in LASTING:
        return Fraction(max(len(origins), len(targets)) if transfers.together else 1)
    if transfers.pairs != "incast":
        return Fraction(1)
    senders = set(origins)
    many = [len(senders) - (target in senders) for target in targets]
    return Fraction(sum(min(transfers.senders or each, each) for each in many), len(targets))


def _arrivals(key: str, transfers: Transfers, network: Network, each: Fraction) -> dict[str, Any]:
    if transfers.times is not None:
        return {"times_s": [units.time(text) for text in transfers.times]}
    if transfers.arrivals is not None:
        per_s = units.arrival_rate(transfers.arrivals)
    else:
        links = network.links_of(f"{key}.of", given(transfers.of))
        rate = sum(units.exact(network.hops[link].rate) for link in links)
        share = units.exact(units.fraction(given(transfers.load)))
        per_s = float(share * rate / (8 * _mean_bytes(transfers) * each))
    return {f"{transfers.spacing}_per_s": per_s}


def _mean_bytes(transfers: Transfers) -> Fraction:
    if isinstance(transfers.size, SizeDistribution):
        return transfers.size.mean_bytes()
    return Fraction(units.size(transfers.size))


def _pairs(transfers: Transfers) -> dict[str, Any]:
    pairs = given(transfers.pairs)
    if pairs in LASTING:
        return {"kind": pairs, "together": given(transfers.together)}
    return {"kind": pairs, "senders": transfers.senders} if pairs == "incast" else {"kind": pairs}


def _sizes(transfers: Transfers) -> dict[str, Any]:
    size = transfers.size
    if not isinstance(size, SizeDistribution):
        return {"bytes": units.size(size)}
    if size.distribution is None:
        points = given(size.written_out().points)
        return {"points": [[float(units.size(text)), units.fraction(share)] for text, share in points]}
    return {"drawn": law(size.distribution, float(units.size(given(size.mean))), size.shape)}


def _classes(limits: list[str]) -> list[dict[str, Any]]:
    """The classes between the limits, and those below and above all of them."""
    below = [{"name": f"up to {text}", "up_to_bytes": units.size(text)} for text in limits]
    return [*below, {"name": f"over {limits[-1]}", "up_to_bytes": None}]
