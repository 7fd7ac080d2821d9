"""``tightlink analyze saturation`` and ``regimes``: what limits a link or a router, from anyone's measurements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, TypeVar

from tightlink import plots
from tightlink.analysis import measurements
from tightlink.analysis.estimates import Bracket, Estimate
from tightlink.analysis.limits.regimes import Length, Regimes
from tightlink.analysis.limits.regimes import each as each_router
from tightlink.analysis.limits.saturation import Law, Saturation, Slope
from tightlink.analysis.limits.saturation import each as each_link
from tightlink.commands.analyze_output import Finding, Panel, Table, finds, panels
from tightlink.console import print_table, print_text
from tightlink.json_values import plain
from tightlink.numbers import NONE, grouped, percent

_DIGITS: Final = 4
#: From here on numbers have no digits behind the point.
_WHOLE: Final = 10 ** (_DIGITS - 1)
_LAWS: Final = {"ideal": "ideal law", "cost": "cost per packet and byte"}
_Found = TypeVar("_Found", Saturation, Regimes)
_METRICS: Final = {"packets_per_s": "packet rate", "throughput_bps": "bit rate", "packet_bytes": "packet length"}


@finds()
def saturation(
    table: Table,
    *,
    size: str = "packet_bytes",
    throughput: str = "throughput_bps",
    largest: float | None = None,
    overhead: float | None = None,
) -> Finding:
    """Find the packet size below which a link is limited by packets, and the packet rate there.

    Args:
        table: Measurements: packet_bytes, and packets_per_s or throughput_bps; a column "link" tells several links
            apart.
        size: Column of the packet size.
        throughput: Column of the bit rate that counts the same bytes.
        largest: Packet size in bytes above which rows are left out, as they are sent in fragments.
        overhead: Line time of a packet beyond its own bytes, in bytes, where it is known; otherwise it is fitted.
    """
    frame = measurements.read(table)
    with measurements.of_file(table):
        links = each_link(frame, size=size, throughput=throughput, largest_bytes=largest, overhead_bytes=overhead)
    answers = {name: {"finding": found.sentence()} | plain(found) for name, found in links.items()}
    drawn = (plots.throughput_over_size, plots.rate_over_size, plots.throughput_over_rate)
    return Finding(
        lambda: answers.get("", answers),
        lambda: _print_each(links, _print_saturation),
        lambda: panels({name: [partial(panel, found) for panel in drawn] for name, found in links.items()}),
        each="link",
        named=True,
    )


@finds()
def regimes(table: Table, *, load: str = "load") -> Finding:
    """Find where a router's load stops following traffic, and whether packets or bytes govern that.

    Args:
        table: Measurements: packet_bytes, packets_per_s or throughput_bps, load; if measured, loss; a column "router"
            tells several routers apart.
        load: Column of the load, such as load_reported.
    """
    frame = measurements.read(table)
    with measurements.of_file(table):
        routers = each_router(frame, load=load)
    return Finding(
        lambda: {name: {"finding": found.sentence(), "governs": found.governs} | _with_units(found)
                 for name, found in routers.items()},
        lambda: _print_each(routers, _print_regimes),
        lambda: panels({name: _panels(found) for name, found in routers.items()}),
        each="router",
    )  # fmt: skip


def _with_units(found: Regimes) -> dict[str, Any]:
    """What was found, as JSON has it: what is in packets per second under its old names, too, for one release."""
    told: dict[str, Any] = plain(found)
    for row, length in zip(told["lengths"], found.lengths, strict=True):
        row |= {f"{name}_packets_per_s": row[name] for name in ("onset", "decline", "loss_onset")}
        row |= {"onset_bps": plain(length.onset_bps), "loss_onset_bps": plain(length.loss_onset_bps)}
    return told


def _print_each(named: Mapping[str, _Found], details: Callable[[_Found], None]) -> None:
    """The sentence of each link or router behind its name, and then its details."""
    for place, (name, found) in enumerate(named.items()):
        print_text(("\n" if place else "") + (f"{name}: " if name else "") + found.sentence())
        details(found)


def _print_saturation(found: Saturation) -> None:
    if found.laws:
        print_text()
        header = ["law", "plateau (Mbit/s)", "critical size (B)", "packets/s there", "AICc", "weight"]
        print_table(header, [
            [_LAWS[law.name], _estimate(law.throughput_max_bps.times(1e-6)), _estimate(law.critical_bytes),
             _estimate(law.packets_per_s_max), f"{law.fit.aicc:.1f}", f"{weight:.2g}"]
            for law, weight in zip(found.laws, found.weights, strict=True)
        ], drop=["AICc", "packets/s there"])  # fmt: skip
        cost = next((law for law in found.laws if law.name == "cost"), None)
        if cost is not None:
            print_text(f"\n{_cost(cost)}")
        print_text(f"the critical size lies {found.critical_between_bytes} B as measured")
    for name, slope in (("free flow", found.free_flow), ("saturation", found.saturated)):
        if slope is not None:
            print_text(_slope(name, slope))


def _cost(law: Law) -> str:
    per_packet, per_byte = law.per_packet_s.times(1e6), law.per_byte_s.times(1e9)
    line, overhead = law.line_rate_bps.times(1e-6), law.overhead_bytes
    return (
        f"a packet costs {_estimate(per_packet)} µs and {_estimate(per_byte)} ns a byte;\n"
        f"the line has {_estimate(line)} Mbit/s and takes {_estimate(overhead)} B more for each packet"
    )


def _slope(name: str, slope: Slope) -> str:
    tested = f"p = {slope.p_value:.2g}" if slope.p_value >= 1e-3 else "p < 0.001"  # noqa: PLR2004
    return f"{name}: d ln f / d ln p = {_estimate(slope.slope)}, expected {grouped(f'{slope.expected:g}')} ({tested})"


def _print_regimes(found: Regimes) -> None:
    print_text()
    header = ["length", "unstable from (packets/s)", "in Mbit/s", "falls from (packets/s)", "load there", "agree"]
    lossy = any(length.loss_onset is not None for length in found.lengths)
    print_table([*header, *(["loss from (Mbit/s)"] if lossy else [])],
                [_length(length, lossy=lossy) for length in found.lengths],
                drop=["agree", "in Mbit/s", "loss from (Mbit/s)"])  # fmt: skip
    print_text()
    explained = found.explained
    apart = {metric: percent(spread.variation) for metric, spread in found.spreads.items()}
    rows = [
        [_METRICS[metric], f"{r2:.2f}", f"{explained.importance[metric]:.2f}", apart.get(metric, NONE)]
        for metric, r2 in explained.r2.items()
    ]
    print_table(["load explained by", "R² alone", "share of R²", "onsets vary by"], rows)
    per_packet, per_byte = explained.per_packet_s.times(1e6), explained.per_byte_s.times(1e9)
    print_text(f"\na packet adds {_estimate(per_packet)} µs of load and {_estimate(per_byte)} ns a byte")


def _length(length: Length, *, lossy: bool) -> list[str]:
    cells = [
        f"{length.packet_bytes:g} B",
        _bracket(length.onset),
        _bracket(length.onset_bps, 1e-6),
        _bracket(length.decline),
        NONE if length.level is None else percent(length.level.value),
        percent(length.sure),
    ]
    return [*cells, _bracket(length.loss_onset_bps, 1e-6)] if lossy else cells


def _panels(found: Regimes) -> list[Panel]:
    panels: list[Panel] = [
        partial(plots.load_over, found, "packets_per_s"),
        partial(plots.load_over, found, "throughput_bps", log=True),
    ]
    if "loss" in found.lengths[0].points.columns:
        panels.append(partial(plots.loss_over, found, "throughput_bps", log=True))
    return panels


def _estimate(estimate: Estimate) -> str:
    value, low, high = (_number(number) for number in (estimate.value, estimate.low, estimate.high))
    return value if low == high else f"{value} ({low} to {high})"


def _number(value: float) -> str:
    rounded = float(f"{value:.{_DIGITS}g}")
    return grouped(f"{rounded:.0f}" if abs(rounded) >= _WHOLE else f"{rounded:.{_DIGITS}g}")


def _bracket(bracket: Bracket | None, factor: float = 1.0) -> str:
    if bracket is None:
        return NONE
    low, high = (None if end is None else _number(end * factor) for end in (bracket.low, bracket.high))
    return f"below {high}" if low is None else f"above {low}" if high is None else f"{low} to {high}"
