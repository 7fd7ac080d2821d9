"""Keys that do nothing in a scenario, though they may in others, or not what they say: what a run warns of.

Keys that nobody could mean where they do nothing are errors instead, where their tables are read.

Example:
    >>> import tightlink as tl
    >>> scenario = tl.loads('''
    ... duration = "1 s"
    ... link.wire = { ends = ["a", "b"], rate = "1 Mbit/s" }
    ... traffic.call = { kind = "cbr", from = "a", to = "b", interval = "20 ms", dscp = "EF" }
    ... ''')
    >>> idle(scenario.resolve())
    ['dscp of call does nothing, as no queue tells classes apart; those of kind strict, drr and cake do']
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final

from tightlink import units
from tightlink.scenario.networks import ready_network
from tightlink.scenario.values import LARGEST_WINDOW_BYTES

if TYPE_CHECKING:
    from tightlink.scenario.links import Duplex

#: Queues that mark unless they are told not to, so that who has one need not mean its marks.
_MARK_BY_DEFAULT: Final = frozenset({"fq-codel", "cake", "dualpi2"})
_MARK: Final = "queues of kind dualpi2 and threshold mark, strict and drr with a mark, and others with ecn = true"
_ASK: Final = "tcp.ecn and udp.ecn permit it"
#: A mean that is so many times what is written is worth a word.
_CUT: Final = 1.05
#: What CAKE adds to each packet where it is told nothing.
_NOTHING: Final = {"bytes": 0, "smallest_bytes": 0, "cells": "none"}


def idle(tables: Mapping[str, Any]) -> list[str]:
    """A sentence for each key of a resolved scenario that does nothing in it, or not what it says."""
    flows, links = tables["flows"], tables["links"]
    queues = [link["queue"] for link in links]
    return [
        *_dscp(flows, queues),
        *_one_class(flows, links),
        *_marked_datagrams(flows, queues),
        *([] if _asking(flows, tables["users"]) else _marking(links)),
        *_shapers(links),
        *_cut_means(links),
        *_windows(flows),
    ]


def idle_networks(links: Mapping[str, Duplex]) -> list[str]:
    """A sentence for each link whose keys take the place of all that its ready network says but the queue.

    >>> import tightlink as tl
    >>> air = {"ends": ["a", "b"], "network": "wifi", "rate": "80 Mbit/s", "delay": "2 ms"}
    >>> idle_networks(tl.Scenario.from_dict({"duration": "1 s", "link": {"air": air}}).link)
    ['network = "wifi" of air does nothing but for the queue, as rate and delay of the link take the place ...']
    """
    return list(_networks(links))


def _networks(links: Mapping[str, Duplex]) -> Iterator[str]:
    for name, link in links.items():
        if link.network is None:
            continue
        like, own = dict(ready_network(link.network).link), link.written()
        back = like.pop("reverse", {}).keys() - own.get("reverse", {}).keys() - {"queue"}
        keys = [key for key in like if key != "queue"]
        if not back and own.keys() >= set(keys):
            said = f"{', '.join(keys[:-1])} and {keys[-1]}"
            yield (
                f'network = "{link.network}" of {name} does nothing but for the queue, as {said} of the link take '
                "the place of what it says; leave them out"
            )


def _windows(flows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    tcps = ((each["group"], each["transport"].get("tcp")) for each in flows)
    named = _names(
        group for group, tcp in tcps
        if tcp is not None and tcp["window_packets"] * tcp["payload_bytes"] > LARGEST_WINDOW_BYTES
    )  # fmt: skip
    if named:
        largest = units.format_size(LARGEST_WINDOW_BYTES)
        yield f"the window of {named} is larger than any that TCP can advertise, {largest} (RFC 7323 §2.3)"


def _dscp(flows: Iterable[Mapping[str, Any]], queues: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    named = _names(each["group"] for each in flows if each.get("dscp"))
    if named and not any(map(_tells_classes, queues)):
        yield f"dscp of {named} does nothing, as no queue tells classes apart; those of kind strict, drr and cake do"


def _one_class(flows: Iterable[Mapping[str, Any]], links: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Of queues for classes alone, where all packets are of one: strict and DRR, which is of flows elsewhere."""
    named = _names(_whole(link) for link in links if link["queue"]["kind"] in {"strict", "drr"})
    if named and len({each.get("dscp") for each in flows}) <= 1:
        yield f"the queue of {named} has one class, as no traffic has another dscp; fq-codel tells flows apart"


def _tells_classes(queue: Mapping[str, Any]) -> bool:
    kind = queue["kind"]
    return kind in {"strict", "drr"} or bool(queue.get("l4s")) or queue.get("tins", "besteffort") != "besteffort"


def _marked_datagrams(flows: Iterable[Mapping[str, Any]], queues: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    named = _names(each["group"] for each in flows if each["transport"].get("udp", {}).get("ecn"))
    if named and not any(queue["kind"] == "dualpi2" or "mark" in queue or queue.get("ecn") for queue in queues):
        yield f"udp.ecn of {named} does nothing, as no queue makes congestion marks; {_MARK}"


def _asking(flows: Iterable[Mapping[str, Any]], users: Iterable[Mapping[str, Any]]) -> bool:
    """Whether any packets may be marked."""
    transports = [transport for each in flows for transport in each["transport"].values()]
    return any(each.get("ecn") for each in (*transports, *(each["tcp"] for each in users)))


def _marking(links: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Of links over which no packets go that may be marked."""
    bleaching = _names(_whole(link) for link in links if link.get("bleaches_ecn"))
    if bleaching:
        yield f'ecn = "bleach" of {bleaching} does nothing, as no traffic can be marked; {_ASK}'
    marking = _names(
        _whole(link) for link in links
        if "mark" in link["queue"] or (link["queue"].get("ecn") and link["queue"]["kind"] not in _MARK_BY_DEFAULT)
    )  # fmt: skip
    if marking:
        yield f"queues of {marking} make congestion marks, and no traffic can be marked; {_ASK}"


def _shapers(links: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Token buckets and CAKE's, of links whose rate is known and does not change."""
    for link in links:
        queue, line_bps, name = link["queue"], link["rate_bps"], link["name"]
        if "rate" in link or not line_bps:
            continue
        # The way back has the same token bucket unless it is given another.
        bucket_bps = 0.0 if name != _whole(link) else link.get("shaper", {}).get("rate_bps", 0.0)
        # With what it adds to each packet CAKE may be slower than the line all the same.
        cake_bps = queue["rate_bps"] if queue["kind"] == "cake" and queue["overhead"] == _NOTHING else None
        for whose, rate_bps in ((name, bucket_bps), (f"CAKE at {name}", cake_bps or 0.0)):
            if rate_bps >= line_bps:
                yield f"the shaper of {whose} shapes nothing, as its rate is not below that of the link"


def _cut_means(links: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Of rates of which the smallest cuts off much of the noise around the mean."""
    for link in links:
        rate = link.get("rate", {})
        if rate.get("kind") != "ornstein-uhlenbeck" or not rate["deviation"]:
            continue
        mean, deviation, least = rate["mean"], rate["deviation"], rate["least"]
        above, noise = (mean - least) / deviation, NormalDist()
        really = least + (mean - least) * noise.cdf(above) + deviation * noise.pdf(above)
        if really > _CUT * mean:
            said, found = (units.format_rate(float(f"{each:.3g}")) for each in (mean, really))
            yield (
                f"the rate of {link['name']} is {found} in the mean, not {said}, as rate.least cuts what would be "
                "below it; bandwidth-delay products and slowdowns are of rate.mean. A smaller rate.deviation cuts less"
            )


def _whole(link: Mapping[str, Any]) -> str:
    """The name of a link, whichever of its directions it is."""
    return str(link["name"]).removesuffix(".reverse")


def _names(found: Iterable[str]) -> str:
    """Names of what there is, the first of many."""
    names = list(dict.fromkeys(found))
    return names[0] + (f" and {len(names) - 1} more" if len(names) > 1 else "") if names else ""
