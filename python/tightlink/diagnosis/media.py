"""What media need of a link, which no other queue makes up for: a rate at which they fit, and room for their frames.

Example:
    >>> scenario = tl.loads('''
    ... duration = "10 s"
    ... link.up = { ends = ["a", "b"], rate = "3 Mbit/s", delay = "10 ms", queue = "100 packets" }
    ... traffic.camera = { kind = "video", from = "a", to = "b", rate = "4 Mbit/s" }
    ... ''')
    >>> run = tl.simulate(scenario)
    >>> slower(run, "up", run.flows.row(0, named=True), Filling(run, Paths(run)))
    ('a rate of 2.5 Mbit/s for camera', {'traffic.camera.rate': '2.5 Mbit/s'})
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from tightlink import units
from tightlink.diagnosis.filling import Datagrams, Filling
from tightlink.diagnosis.kinds import STRICT
from tightlink.diagnosis.links import Link
from tightlink.diagnosis.paths import Paths
from tightlink.diagnosis.words import listed, named, two_digits
from tightlink.scenario.dscp import CODE_POINTS

if TYPE_CHECKING:
    from tightlink.run import Run

#: What datagrams may be of what a link carries, so that there is room for bursts such as frames.
_ROOM: Final = 0.85
#: The largest frames are so many standard deviations above the mean; bursts are suggested in steps of so many bytes.
_DEVIATIONS, _STEP = 3.0, 10_000
#: Classes for media that adapt less than TCP does (RFC 4594 §4.3 to §4.5).
_CLASSES: Final = ("AF41", "AF31")


def slower(run: Run, name: str, row: Mapping[str, Any], filling: Filling) -> tuple[str, dict[str, Any]] | None:
    """Rates for those that fill a link while the flow of a row lasts, in words and as values by keys of the scenario.

    Nothing where TCP fills it, or where the scenario does not give their rates.
    """
    sent = filling.datagrams(name, row)
    rates = {group: getattr(run.scenario.traffic[group], "rate", None) for group in sent.fill}
    if not rates or not all(rates.values()):
        return None
    parts = _parts(sent)
    wanted = {group: two_digits(parts[group] * units.rate(rate), math.floor)
              for group, rate in rates.items() if 0 < parts[group] < 1}  # fmt: skip
    if not wanted or min(parts.values()) <= 0:
        return None
    each = list(dict.fromkeys(wanted.values()))
    text = f"{'a rate' if len(wanted) == 1 else 'rates'} of {listed(each)} for {named(wanted)}"
    return text, {f"traffic.{group}.rate": rate for group, rate in wanted.items()}


def _parts(sent: Datagrams) -> dict[str, float]:
    """Which part of what it sends each group may: alike, or where classes take turns by their weights (max-min)."""
    weights, offered = dict(sent.classes.values()), dict.fromkeys(dict(sent.classes.values()), 0.0)
    for group, bps in sent.fill.items():
        offered[sent.classes[group][0]] += bps
    left_bps, left, parts = _ROOM * sent.carries_bps - sent.rest_bps, math.fsum(weights.values()), {}
    for each in sorted(offered, key=lambda each: offered[each] / weights[each]):
        given_bps = min(offered[each], left_bps * weights[each] / left)
        parts[each] = given_bps / offered[each]
        left_bps, left = left_bps - given_bps, left - weights[each]
    return {group: parts[of] for group, (of, _) in sent.classes.items()}


def larger_burst(paths: Paths, link: Link) -> tuple[str, dict[str, Any]] | None:
    """A policer's burst that takes the largest frames of its videos; nothing where something else comes, too."""
    traffic = [paths.of(label).spec["traffic"] for label in paths.users.get(link.name, ())] if paths.small else []
    if not traffic or any(each["kind"] != "video" or each["spread"] for each in traffic):
        return None
    wanted = math.ceil(math.fsum(map(_largest_frame, traffic)) / _STEP) * _STEP
    burst = units.format_size(wanted)
    return f"a burst of {burst} (the largest frames)", {f"{link.key}.queue.burst": burst}


def next_class(link: Link, classes: Mapping[str, int | None]) -> tuple[str, dict[str, Any]] | None:
    """A class behind those that a strict queue puts in an order, for traffic groups that wait behind all of them.

    Args:
        link: Where they wait.
        classes: Code points of the groups, nothing where they have none.
    """
    if link.discipline != STRICT or not set(classes.values()).isdisjoint(link.spec["queue"]["order"]):
        return None
    order = [name for number in link.spec["queue"]["order"] for name, each in CODE_POINTS.items() if each == number]
    wanted = next((name for name in _CLASSES if name not in order), None)
    if wanted is None:
        return None
    marked = {f"traffic.{group}.dscp": wanted for group in classes}
    return f"class {wanted} for {named(classes)}, behind {listed(order)}", {
        f"{link.key}.queue.order": [*order, wanted],
        **marked,
    }


def _largest_frame(video: Mapping[str, Any]) -> float:
    """Bytes of a key frame, which is so many times as large as the others of its group, with some deviations."""
    group, ratio = video["group_of_pictures"], video["key_frame_ratio"]
    key_bytes = video["frame_bytes"] * group * ratio / (ratio + group - 1)
    return float(key_bytes * (1 + _DEVIATIONS * video["variation"]))
