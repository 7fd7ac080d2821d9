"""Nodes with a processor: what each packet costs a network interface or a router's CPU.

Example:
    >>> Processor(per_packet="187us", input_ring="75 packets").per_packet
    '187 us'
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import AfterValidator, StrictBool

from tightlink import units
from tightlink.errors import ScenarioError
from tightlink.scenario.endpoints import GROUP
from tightlink.scenario.links import NODE
from tightlink.scenario.table import Table
from tightlink.scenario.values import (
    LARGEST_PACKET,
    Delay,
    Fraction,
    Period,
    RingLimit,
    choice,
    ensured,
    in_si,
    matching,
    packets_or_bytes,
)

if TYPE_CHECKING:
    from tightlink.scenario.links import Span
    from tightlink.scenario.model import Scenario

_MOST_JOBS: Final = 10_000_000
_MOST_JOBS_BESIDE: Final = 10_000
_LEAVES_SOME: Final = AfterValidator(
    ensured(lambda share: share < 1, 'a fraction below 1, such as "5 %": packets need the rest')
)
#: A node or a group of nodes.
NodeNames = Annotated[
    str, AfterValidator(matching('the name of a node or of a group, such as "router" or "net.left[*]"', NODE, GROUP))
]


class Background(Table):
    """Low-priority work of a processor, such as routing updates: a job every so often."""

    cpu: Period
    """Processor time that each job needs."""
    every: Period
    """From the release of a job to the release of the next."""
    guaranteed: Annotated[Fraction, _LEAVES_SOME] | None = None
    """Share of the time left by interrupts that low-priority work gets while it has work (default 0)."""


class Meter(Table):
    """How a device reports its own load: a low-priority process takes samples, and averages."""

    window: Period | None = None
    """What is averaged over (default "60 s")."""
    cpu: Period | None = None
    """Processor time that each sample needs (default "1 ms")."""
    every: Period | None = None
    """From sample to sample (default "1 s")."""
    average: Annotated[str, choice("window", "exponential")] | None = None
    """Mean of the samples in the window, or decaying exponentially: window or exponential (default "window")."""


class Processor(Table):
    """What each packet costs a node that forwards or sends it.

    A router serves packets in order of arrival and drops what its rings do not hold; a host's
    interface pushes its sources back instead.

    Raises:
        ScenarioError: A value is out of its range or lacks its unit, or a key is unknown.

    Example:
        >>> tl.Processor(per_packet="187 us", input_ring="75 packets").per_packet
        '187 us'
    """

    per_packet: Delay
    """Work of each packet."""
    per_byte: Delay | None = None
    """Work of each byte of a packet (default "0 s")."""
    interrupt: Delay | None = None
    """What each arrival from a link costs at once, even if it is then dropped (default "0 s")."""
    input_ring: RingLimit | None = None
    """What each input ring takes, waiting and in service (default "256 packets")."""
    output_ring: RingLimit | None = None
    """Queue of every link that leaves the node, instead of the link's own (default: the link's)."""
    receive: StrictBool | None = None
    """Whether packets that end at the node pass its processor, too (default false)."""
    background: Background | None = None
    """Low-priority work."""
    meter: Meter | None = None
    """How the device reports its load."""


class Node(Table):
    """A host or a router that links or topologies have made."""

    processor: Processor | None = None
    """What each packet costs it."""


def processor_spec(key: str, processor: Processor, duration: float) -> dict[str, Any]:
    """A processor, with every default filled in, as the engine reads it; ``key`` is its table's path, for errors."""
    background, meter = processor.background, processor.meter
    for name, jobs in (("background", background), ("meter", meter)):
        if jobs is not None and duration / units.time(jobs.every) > _MOST_JOBS:
            raise ScenarioError(f"at most {_MOST_JOBS} jobs in a run", key=f"{key}.{name}.every", value=jobs.every)
    if background is not None and units.fraction(background.guaranteed) > 0 and units.time(processor.interrupt) > 0:
        # Each interrupt has the rest of the packet in service divided again among it and all jobs until its end.
        work = units.time(processor.per_packet) + LARGEST_PACKET * units.time(processor.per_byte)
        for name, jobs in (("background", background), ("meter", meter)):
            if jobs is not None and min(work, duration) / units.time(jobs.every) > _MOST_JOBS_BESIDE:
                expected = (
                    f"at most {_MOST_JOBS_BESIDE} jobs in the {units.format_time(work)} that a packet may take, where "
                    "interrupts delay it and background.guaranteed slows it down"
                )
                raise ScenarioError(expected, key=f"{key}.{name}.every", value=jobs.every)
    return {
        "per_packet_s": units.time(processor.per_packet),
        "per_byte_s": units.time(processor.per_byte),
        "interrupt_s": units.time(processor.interrupt),
        "input_ring": packets_or_bytes(processor.input_ring),
        "output_ring": processor.output_ring is not None,
        "receive": processor.receive,
        "background": background and in_si(background, "guaranteed"),
        "guaranteed": units.fraction(background.guaranteed) if background else 0.0,
        "meter": meter and in_si(meter),
    }


def check_output_rings(scenario: Scenario, default: str) -> None:
    """An error where a link has its own queue and its node an output ring.

    The profile's queue, ``default``, says nothing where it is written out.
    """
    rings = {
        name: node.processor.output_ring
        for name, node in scenario.node.items()
        if node.processor is not None and node.processor.output_ring is not None
    }
    if not rings:
        return
    groups = {
        node: alias.rpartition("[")[0]
        for topology in scenario.topology
        for alias, node in scenario.topology[topology].aliases(topology).items()
    }
    for span in _spans(scenario):
        reverse = None if span.reverse is None or span.reverse.queue == span.forward.queue else span.reverse
        for node, wire, key in ((0, span.forward, span.key), (1, reverse, f"{span.key}.reverse")):
            name = _named(span.ends[node], rings, groups)
            if name is not None and wire is not None and wire.queue not in (None, default):
                expected = f"no queue here: node.{name}.processor.output_ring = {rings[name]} is the queue of this link"
                raise ScenarioError(expected, key=f"{key}.queue", value=wire.written()["queue"])


def _spans(scenario: Scenario) -> Iterator[Span]:
    for name, topology in scenario.topology.items():
        yield from topology.spans(name)
    for name, link in scenario.link.items():
        yield link.span(name)


def _named(node: str, names: dict[str, str], groups: dict[str, str]) -> str | None:
    group = f"{groups[node]}[*]" if node in groups else re.sub(r"\[\d+\]$", "[*]", node)
    return next((name for name in (node, group) if name in names), None)
