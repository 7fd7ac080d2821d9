"""What media need of a link, which no other queue makes up for: a rate at which they fit, and room for their frames.

Example:
    >>> scenario = tl.loads('''
    ... duration = "10 s"
    ... link.up = { ends = ["a", "b"], rate = "3 Mbit/s", delay = "10 ms", queue = "100 packets" }
    ... traffic.camera = { kind = "video", from = "a", to = "b", rate = "4 Mbit/s" }
    ... ''')
    >>> from tightlink.diagnosis.filling import Filling
    >>> run = tl.simulate(scenario)
    >>> fitting(run, Filling(run, Paths(run)).datagrams("up", run.flows.row(0, named=True)))
    ('a rate of 2.5 Mbit/s for camera', {'traffic.camera.rate': '2.5 Mbit/s'})
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tightlink import units
from tightlink.diagnosis import frames
from tightlink.diagnosis.commands import Tried
from tightlink.diagnosis.filling import Datagrams, offered_bps
from tightlink.diagnosis.links import Link
from tightlink.diagnosis.paths import Paths
from tightlink.diagnosis.words import listed, ms, named, two_digits

if TYPE_CHECKING:
    from tightlink.run import Run

#: What datagrams may be of what a link carries, so that there is room for bursts such as frames.
_ROOM: Final = 0.85
#: A rate that is to be at least this part of what it is fits: frames of random sizes come to as much more or less.
_FITS: Final = 0.95
#: Bursts are suggested in steps of so many bytes.
_STEP: Final = 10_000
#: Other datagrams that are no more of what comes to a policer leave room for frames in its bursts.
_BESIDE: Final = 0.2


def fitting(run: Run, sent: Datagrams) -> Tried | None:
    """A lower rate for each group of which the scenario gives one; where all have intervals, as calls, fewer flows.

    Nothing where there are no datagrams, or where the scenario gives neither rates nor several flows.
    """
    rates = {group: getattr(run.scenario.traffic[group], "rate", None) for group in sent.fill}
    rated = {group: bps for group, bps in sent.fill.items() if rates[group]}
    if rated:
        rest_bps = sent.rest_bps + math.fsum(bps for group, bps in sent.fill.items() if group not in rated)
        of_rated = {group: sent.classes[group] for group in rated}
        parts = _parts(replace(sent, fill=rated, rest_bps=rest_bps, classes=of_rated))
        lower = {group: two_digits(part * units.rate(rates[group]), math.floor)
                 for group, part in parts.items() if 0 < part < _FITS}  # fmt: skip
        if not lower or min(parts.values()) <= 0:
            return None
        each = list(dict.fromkeys(lower.values()))
        text = f"{'a rate' if len(lower) == 1 else 'rates'} of {listed(each)} for {named(lower)}"
        return text, {f"traffic.{group}.rate": rate for group, rate in lower.items()}
    flows = (
        {} if sent.of_one else {group: getattr(run.scenario.traffic[group], "flows", None) or 1 for group in sent.fill}
    )
    parts = _parts(sent) if flows else {}
    fewer = {group: math.floor(part * flows[group]) for group, part in parts.items() if part < 1}
    if min(fewer.values(), default=0) < 1:
        return None
    words = [
        f"{most} flow{'s' if most > 1 else ''} of {group} in place of {flows[group]}" for group, most in fewer.items()
    ]
    return listed(words), {f"traffic.{group}.flows": most for group, most in fewer.items()}


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


def larger_burst(run: Run, paths: Paths, link: Link) -> Tried | None:
    """A policer's burst that takes the largest frames of its videos; nothing where much else comes, or TCP."""
    users = paths.users.get(link.name, ()) if paths.small else ()
    videos = [label for label in users if frames.at_once(paths.of(label))]
    sent = {row["label"]: offered_bps(row) for row in run.flows.iter_rows(named=True) if row["label"] in users}
    beside = math.fsum(bps for label, bps in sent.items() if label not in videos)
    if not videos or any(map(paths.control, users)) or beside > _BESIDE * math.fsum(sent.values()):
        return None
    largest = math.fsum(frames.largest_bytes(paths.of(label).spec["traffic"]) for label in videos)
    wanted = math.ceil(largest / _STEP) * _STEP
    burst = units.format_size(wanted)
    return f"a burst of {burst} (the largest frames)", {f"{link.key}.queue.burst": burst}


def spread(paths: Paths, labels: Iterable[str]) -> Tried | None:
    """Frames that do not leave at once, of the videos among flows; nothing where one of these is a connection.

    What is lost of them, and what others wait for them, is less, though a frame is complete later.
    """
    labels = list(labels)
    groups = list(dict.fromkeys(paths.group(label) for label in labels if frames.at_once(paths.of(label))))
    if not groups or any(map(paths.control, labels)):
        return None
    later_s = max(paths.of(label).spec["traffic"]["interval_s"] for label in labels if paths.group(label) in groups)
    text = f"frames of {named(groups)} spread over their interval (complete up to {ms(later_s)} later)"
    return text, {f"traffic.{group}.spread": True for group in groups}
