"""What the sweep between two real hosts shows: claims, and a part of the report.

The tolerances that are not the document's are this study's, and were set before anything was measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.analysis.measurements import MeasurementError
from tightlink.analysis.saturation import find
from tightlink.experiment.claims import Claim, holds_if, untestable, within
from tightlink.report import Row, Section, Table, Text, charts
from tightlink.studies.link_saturation.document import (
    CRITICAL_RATE,
    DOCUMENT,
    LARGEST_RATE,
    PLATEAU_MBIT,
    SIZE_TOLERANCE,
    SMALLEST_BYTES,
    half_digit,
)
from tightlink.studies.link_saturation.interface import GAP_BYTES
from tightlink.studies.link_saturation.readings import FRAME
from tightlink.studies.link_saturation.relayed import POINTS, SIMULATED, of, table
from tightlink.studies.live import machine, repeats
from tightlink.studies.words import percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tightlink.analysis.saturation import Law, Saturation
    from tightlink.run import Run

_HERE: Final = "this study"
_RESULTS: Final = f"{DOCUMENT}, section 4"
_MBIT: Final = 1e6
_THOUSAND: Final = 1e3
#: How far packet rates may be from the simulation's, and the slope of free flow from −1.
RATES_WITHIN: Final = 0.01
SLOPE_WITHIN: Final = 0.01
_RESAMPLES: Final = 199
_NOT_ENOUGH: Final = "The machine was too busy: not enough sizes were measured."
_NO_CHANGE: Final = "No change from free flow to saturation was seen."
_MODEL: Final = "The interface and the line are the relay's; what is tested is it, the hosts, and the analysis."


@dataclass(frozen=True)
class _Found:
    """The sweep, measured and simulated, and what is found in both."""

    table: pl.DataFrame
    measured: Saturation | None
    simulated: Saturation | None
    line: Saturation | None
    """As measured, counted as the line does, with preamble and gap."""

    def law(self, name: str = "cost") -> Law | None:
        """A law as it was fitted to what was measured."""
        laws = () if self.measured is None else self.measured.laws
        return next((law for law in laws if law.name == name), None)

    @property
    def why_not(self) -> str:
        """Why there is no law."""
        return _NOT_ENOUGH if self.measured is None else f"{_NO_CHANGE} {self.measured.sentence()}"


def findings(runs: Mapping[str, Run]) -> tuple[list[Claim], Section, pl.DataFrame]:
    """Claims, the part of the report, and the table of the sweep."""
    both = table(runs)
    if both.is_empty():
        found = _Found(both, None, None, None)
    else:
        own = of(both)
        line = own.select(packet_bytes=pl.col("frame_bytes") + GAP_BYTES, packets_per_s="packets_per_s")
        found = _Found(both, _in_frames(own), _in_frames(of(both, SIMULATED)), _find(line))
    return list(_claims(found)), _section(runs, found), both


def _in_frames(sweep: pl.DataFrame) -> Saturation | None:
    return _find(sweep, size=FRAME.size, throughput=FRAME.throughput)


def _find(sweep: pl.DataFrame, **columns: str) -> Saturation | None:
    """Its regimes; nothing where there are too few sizes."""
    try:
        return find(sweep, resamples=_RESAMPLES, **columns)  # type: ignore[arg-type]  # names of columns
    except MeasurementError:
        return None


def _claims(found: _Found) -> Iterator[Claim]:
    yield from _of_law(found)
    yield _slope(found)
    yield from _of_rates(found)


def _of_law(found: _Found) -> Iterator[Claim]:
    law, ideal = found.law(), found.law("ideal")
    expected = None if found.simulated is None else next(each for each in found.simulated.laws if each.name == "cost")
    statements = {
        "live.critical.frame": ("Between real hosts: saturation begins at the simulation's frame", _HERE),
        "live.critical.rate": ("Between real hosts: at the critical size about 25 thousand packets/s pass", _RESULTS),
        "live.plateau.frame": ("Between real hosts: where saturation begins, T_max is about 96 Mbit/s", _RESULTS),
        "live.law.better": ("Between real hosts: a cost per packet and byte fits better than eq. 7", _HERE),
    }
    if law is None or ideal is None or expected is None:
        for name, (statement, source) in statements.items():
            yield untestable(name, statement, source, found.why_not)
        return
    name = "live.critical.frame"
    yield within(
        name, *statements[name], round(expected.critical_bytes.value, 1), round(law.critical_bytes.value, 1),
        tolerance=SIZE_TOLERANCE, unit="B",
        reason=f"By the cost law; {law.critical_bytes.low:.0f} to {law.critical_bytes.high:.0f} B. Half of the "
        f"document's 25 B between sizes. {_MODEL}",
    )  # fmt: skip
    name = "live.critical.rate"
    yield within(
        name, *statements[name], CRITICAL_RATE / _THOUSAND, law.packets_per_s_max.value / _THOUSAND,
        tolerance=half_digit(CRITICAL_RATE, 2) / _THOUSAND, unit="thousand/s",
        reason="The interface's cost is fitted to it; that packets really pass so fast is not.",
    )  # fmt: skip
    name = "live.plateau.frame"
    yield within(
        name, *statements[name], PLATEAU_MBIT, law.throughput_max_bps.value / _MBIT,
        tolerance=half_digit(PLATEAU_MBIT), unit="Mbit/s", reason="Nothing is fitted to it.",
    )  # fmt: skip
    name = "live.law.better"
    yield holds_if(
        name, *statements[name], f"{law.fit.aicc:.0f} against {ideal.fit.aicc:.0f}", law.fit.aicc < ideal.fit.aicc,
        "AICc of the two laws, less is better.",
    )  # fmt: skip


def _slope(found: _Found) -> Claim:
    statement = "Between real hosts: d ln f = −d ln p in free flow, counted as line time"
    slope = None if found.line is None else found.line.free_flow
    if slope is None:
        return untestable("live.slope.line", statement, f"{DOCUMENT}, eq. 5", found.why_not)
    return holds_if(
        "live.slope.line", statement, f"{DOCUMENT}, eq. 5", round(slope.slope.value, 4),
        abs(slope.slope.value + 1) <= SLOPE_WITHIN,
        f"Within {SLOPE_WITHIN:g}; interval {slope.slope.low:.4f} to {slope.slope.high:.4f}.",
    )  # fmt: skip


def _of_rates(found: _Found) -> Iterator[Claim]:
    statement = "Between real hosts: in saturation the packet rate rises to 30 thousand/s"
    name = "live.rate.smallest-packets"
    both = found.table
    smallest = [] if both.is_empty() else of(both).filter(pl.col("datagram_bytes") == SMALLEST_BYTES).to_dicts()
    if smallest:
        yield within(
            name, statement, _RESULTS, LARGEST_RATE / _THOUSAND, smallest[0]["packets_per_s"] / _THOUSAND,
            tolerance=half_digit(LARGEST_RATE, 2) / _THOUSAND, unit="thousand/s",
            reason=f"At {SMALLEST_BYTES} B of payload. {_MODEL}",
        )  # fmt: skip
    else:
        yield untestable(name, statement, _RESULTS, f"Datagrams of {SMALLEST_BYTES} B were not measured.")
    statement = f"Between real hosts: packet rates are the simulation's, within ± {percent(RATES_WITHIN)}"
    # A row for each size measured, and one for its simulation.
    if both.height < len(POINTS):
        yield untestable("live.rates", statement, _HERE, _NOT_ENOUGH)
        return
    apart = of(both)["packets_per_s"] / of(both, SIMULATED)["packets_per_s"] - 1
    worst = max(apart.to_list(), key=abs)
    yield holds_if(
        "live.rates", statement, _HERE, round(100 * worst, 3), abs(worst) <= RATES_WITHIN,
        f"Largest difference of {apart.len()} of {len(POINTS)} sizes.", unit="%",
    )  # fmt: skip


def _section(runs: Mapping[str, Run], found: _Found) -> Section:
    title = "Between two real hosts"
    if found.table.is_empty():
        return Section(title, _NOT_ENOUGH, [])
    finding = _NOT_ENOUGH if found.measured is None else f"{found.measured.sentence()}."
    measured = [run for point in POINTS for run in repeats(runs, f"live/{point.name}")]
    text = (
        "Linux sends datagrams to Linux over a link in real time, which is the document's line, behind an interface "
        "with the document's costs per packet and byte: a host's own interface cannot be slowed down, so it stands "
        "behind the host as a router. A tenth more is offered than passes, and each size is sent for a second. "
        f"{machine(measured)}"
    )
    drawn = found.table.sort("source", "frame_bytes")
    over = [
        charts.line(drawn.select("frame_bytes", column, "source"), "frame_bytes", column, by="source", height=280,
                    x_title="frame (B)", title=name)
        for column, name in (("packets_per_s", "Packet rate"), ("frame_throughput_bps", "Throughput"))
    ]  # fmt: skip
    shown = found.table.select(
        "datagram_bytes", "source", "times", "packets_per_s", "goodput_bps", "frame_throughput_bps",
        (pl.col("loss") * 100).alias("lost %"),
    )  # fmt: skip
    formats = {"lost %": ".1f", "packets_per_s": ",.0f"}
    return Section(title, finding[0].upper() + finding[1:], [Text(text), Row(over), Table(shown, "", formats)])
