"""What the sweep through the machine's own kernel shows: claims, and a part of the report.

The tolerances are this study's, and were set before anything was measured.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink import units
from tightlink.analysis.measurements import MeasurementError
from tightlink.analysis.packet_cost import fit_line
from tightlink.analysis.saturation import find
from tightlink.experiment.claims import Claim, holds_if, untestable, within
from tightlink.measure.machine import missing
from tightlink.reduce import largest, smallest
from tightlink.report import Row, Section, Table, Text, charts
from tightlink.studies.link_saturation.document import DOCUMENT, LARGEST_RATE
from tightlink.studies.link_saturation.forwarded import LINE, OPEN, PAYLOADS, RATES, measured, of, table
from tightlink.studies.live import kernel
from tightlink.studies.words import percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tightlink.analysis.saturation import Saturation
    from tightlink.run import Run

_HERE: Final = "this study"
_RESULTS: Final = f"{DOCUMENT}, section 4"
_BITS: Final = 8
#: 58 times the bytes of payload cost at most so many times the time.
AT_MOST: Final = 2.0
CRITICAL_WITHIN: Final = 0.15
PLATEAU_WITHIN: Final = 0.01
LOSS_WITHIN: Final = 0.01
SLOPE_WITHIN: Final = 0.01
_RESAMPLES: Final = 199
_NOT_ENOUGH: Final = "The machine was too busy: not enough sizes were measured."
_LINE_BPS: Final = units.rate(RATES[LINE])


@dataclass(frozen=True)
class _Found:
    """The sweep, and what is found in it."""

    table: pl.DataFrame
    open: Saturation | None
    line: Saturation | None

    @property
    def complete(self) -> bool:
        """Whether all sizes were measured with both lines."""
        return self.table.height == len(RATES) * len(PAYLOADS)

    @property
    def why_not(self) -> str:
        """Why it is not complete."""
        return missing("forwarding") or _NOT_ENOUGH

    @property
    def slow_sender(self) -> str | None:
        """Where it was the sender that limited, in a sentence; nothing if it never was."""
        slow = self.table.filter(pl.col("limited_by") == "sender")
        if slow.is_empty():
            return None
        return (
            f"At {slow.height} of {self.table.height} points the sender was the slowest: the router was busy for "
            f"{percent(smallest(slow['load']))} of the time and more there, so what got through is not its capacity."
        )

    @property
    def costs(self) -> tuple[float, float]:
        """What a packet and each byte on the line cost the router, in seconds, with the open line."""
        import numpy as np

        own = of(self.table, OPEN)
        rates = np.log(own["packets_per_s"].to_numpy())
        per_packet, per_byte = fit_line(own["line_bytes"].to_numpy(), rates[None, :])
        return float(per_packet[0]), float(per_byte[0])

    @property
    def predicted_bytes(self) -> float:
        """The size at which the line takes as long as the router, by what packets and bytes cost it."""
        per_packet, per_byte = self.costs
        line = _BITS / _LINE_BPS
        return per_packet / (line - per_byte) if line > per_byte else math.inf


def findings(runs: Mapping[str, Run]) -> tuple[list[Claim], Section, pl.DataFrame]:
    """Claims, the part of the report, and the table of the sweep."""
    both = table(runs)
    found = _Found(both, _find(of(both, OPEN)), _find(of(both, LINE)))
    return list(_claims(found)), _section(runs, found), both


def _find(sweep: pl.DataFrame) -> Saturation | None:
    """Its regimes, in bytes as the line counts them, all of them; nothing where there are too few sizes."""
    if sweep.is_empty():
        return None
    counted = sweep.select("packets_per_s", packet_bytes="line_bytes")
    try:
        return find(counted, overhead_bytes=0.0, resamples=_RESAMPLES)
    except MeasurementError:
        return None


_STATEMENTS: Final = {
    "live.kernel.packets": ("Through the machine's kernel: packets limit at all sizes, bits at none", _RESULTS),
    "live.kernel.sizes": (
        f"Through the machine's kernel: packets of {PAYLOADS[-1]} B cost it at most twice the time of {PAYLOADS[0]} B",
        f"{DOCUMENT}, eq. 7",
    ),
    "live.kernel.loss": ("Through the machine's kernel: loss is much less than 1 % at all packet sizes", _RESULTS),
    "live.kernel.critical": (
        "Through the machine's kernel: saturation begins where the line takes as long as the costs without it say",
        _HERE,
    ),
    "live.kernel.plateau": ("Through the machine's kernel: above the critical size the line is full", _RESULTS),
    "live.kernel.slope": ("Through the machine's kernel: d ln f = −d ln p in free flow", f"{DOCUMENT}, eq. 5"),
}


def _claims(found: _Found) -> Iterator[Claim]:
    if not found.complete:
        yield from (untestable(name, *words, found.why_not) for name, words in _STATEMENTS.items())
    else:
        yield from _of_costs(found)
        yield from _of_line(found)
    yield untestable(
        "live.kernel.rate", "Through the machine's kernel: in saturation the packet rate rises to 30 thousand/s",
        _RESULTS,
        "A kernel of today costs a packet other times than an interface of 2009: what it costs is in the report.",
    )  # fmt: skip


def _of_costs(found: _Found) -> Iterator[Claim]:
    own = of(found.table, OPEN)
    names = ("live.kernel.packets", "live.kernel.sizes")
    worst = largest(own["loss"])
    yield holds_if(
        "live.kernel.loss", *_STATEMENTS["live.kernel.loss"], round(100 * worst, 3), worst < LOSS_WITHIN,
        f"Below {percent(LOSS_WITHIN)}, with the line that is never full: the sender's socket holds what waits for the "
        "router, and pushes the sender back as the document's interface does. Behind a line that is full packets are "
        "lost, for that pushes nobody back.", unit="%",
    )  # fmt: skip
    slow = own.filter(pl.col("limited_by") == "sender")
    if not slow.is_empty():
        yield from (untestable(name, *_STATEMENTS[name], found.slow_sender or "") for name in names)
        return
    router = own.filter(pl.col("limited_by") == "router").height
    regime = "too few sizes" if found.open is None else found.open.regime
    yield holds_if(
        names[0], *_STATEMENTS[names[0]], f"{router} of {own.height} sizes, {regime}",
        router == own.height and regime == "saturated",
        "Sizes at which the thread that forwards ran all the time, and what the curve of packet rates is. A forwarded "
        "packet is not copied, so its bytes cost next to nothing.",
    )  # fmt: skip
    times = 1 / own["packets_per_s"]
    ratio = largest(times) / smallest(times)
    per_packet, per_byte = found.costs
    yield holds_if(
        names[1], *_STATEMENTS[names[1]], round(ratio, 3), ratio <= AT_MOST,
        f"Longest time of a packet over the shortest, of all sizes. {per_packet * 1e9:.0f} ns for a packet and "
        f"{per_byte * 1e9:.3f} ns for each byte fit best; eq. 7 has no cost per byte.",
    )  # fmt: skip


def _of_line(found: _Found) -> Iterator[Claim]:
    names = ("live.kernel.critical", "live.kernel.plateau", "live.kernel.slope")
    line = found.line
    if line is None or not line.laws:
        why = found.why_not if line is None else f"{line.sentence()[0].upper()}{line.sentence()[1:]}."
        yield from (untestable(name, *_STATEMENTS[name], why) for name in names)
        return
    law = next(each for each in line.laws if each.name == "cost")
    slow = found.slow_sender
    if slow is None:
        yield within(
            names[0], *_STATEMENTS[names[0]], round(found.predicted_bytes, 1), round(law.critical_bytes.value, 1),
            relative=CRITICAL_WITHIN, unit="B",
            reason=f"Bytes on a line of {RATES[LINE]}, with Ethernet's header; "
            f"{law.critical_bytes.low:.0f} to {law.critical_bytes.high:.0f} B. Predicted from the sweep whose line is "
            "never full: the two have nothing but the router in common.",
        )  # fmt: skip
    else:
        yield untestable(names[0], *_STATEMENTS[names[0]], slow)
    free = line.points.filter(pl.col("regime") == "free flow")["throughput_bps"] / _LINE_BPS
    worst = max((value - 1 for value in free.to_list()), key=abs)
    yield holds_if(
        names[1], *_STATEMENTS[names[1]], round(100 * worst, 3), abs(worst) <= PLATEAU_WITHIN,
        f"Largest difference from {RATES[LINE]}, at {free.len()} sizes; within {percent(PLATEAU_WITHIN)}.", unit="%",
    )  # fmt: skip
    if line.free_flow is None:
        yield untestable(names[2], *_STATEMENTS[names[2]], "Fewer than three sizes are in free flow.")
        return
    slope = line.free_flow.slope
    yield holds_if(
        names[2], *_STATEMENTS[names[2]], round(slope.value, 4), abs(slope.value + 1) <= SLOPE_WITHIN,
        f"Within {SLOPE_WITHIN:g}; interval {slope.low:.4f} to {slope.high:.4f}.",
    )  # fmt: skip


def _section(runs: Mapping[str, Run], found: _Found) -> Section:
    title = "Through this machine's own kernel"
    if found.table.is_empty():
        return Section(title, found.why_not, [])
    text = (
        "Three hosts in a row, of which that in the middle is a router: the Linux kernel of this machine, whose "
        "forwarding is slowed down by nothing. What arrives waits in a ring of 256 packets for a thread of the kernel, "
        "which has a processor of its own; the sender has another and sends as fast as it can; the receiver counts. "
        f"Behind the router is the kernel's own token bucket, of {RATES[OPEN]}, which is never full, and of "
        f"{RATES[LINE]}. The thread's share of time, by the kernel's scheduler, says whether the router was what "
        f"limited. {kernel(measured(runs))}"
    )
    drawn = found.table.sort("line", "line_bytes").with_columns(pl.col("line").replace(RATES))
    over = [
        charts.line(drawn.select("line_bytes", column, "line"), "line_bytes", column, by="line", height=280,
                    x_title="packet with Ethernet's header (B)", title=name)
        for column, name in (("packets_per_s", "Packet rate"), ("line_bps", "Throughput"))
    ]  # fmt: skip
    shown = found.table.select(
        "line", "datagram_bytes", "times", "limited_by", "offered_packets_per_s", "packets_per_s", "goodput_bps",
        (pl.col("loss") * 100).alias("lost %"), (pl.col("load") * 100).alias("router busy %"),
        (pl.col("utilization") * 100).alias("line full %"),
    )  # fmt: skip
    formats = {
        "lost %": ".2f",
        "router busy %": ".1f",
        "line full %": ".1f",
        "packets_per_s": ",.0f",
        "offered_packets_per_s": ",.0f",
    }
    return Section(title, _finding(found), [Text(text), Row(over), Table(shown, "", formats)])


def _finding(found: _Found) -> str:
    if not found.complete:
        return found.why_not
    if (slow := found.slow_sender) is not None:
        return slow
    per_packet, per_byte = found.costs
    most = largest(of(found.table, OPEN)["packets_per_s"])
    line = "" if found.line is None else f" Behind it a line of {RATES[LINE]} is {found.line.sentence()}."
    return (
        f"The kernel forwards up to {most:,.0f} packets/s, {most / LARGEST_RATE:.0f} times the document's interface: "
        f"{per_packet * 1e9:.0f} ns for each packet and {per_byte * 1e9:.2f} ns for each byte.{line}"
    )
