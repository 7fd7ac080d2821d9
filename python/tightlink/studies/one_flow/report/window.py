"""What the document missed: ns-2's window of 20 packets, a default, rules six of its seven cases.

With W packets of S bytes on a link of rate R the round trip cannot be shorter than W·S/R, for the ACKs
return no faster than the link carries: RTT = max(W·S/R, the path's own). Queue, latency and goodput
follow, and no property of TCP's congestion control enters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink.report import Chart, Section, Table, Text, charts
from tightlink.studies.one_flow.setup.cases import CASES, WINDOW
from tightlink.studies.words import percent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.run import Run
    from tightlink.studies.one_flow.observe.cases import Measured
    from tightlink.studies.one_flow.setup.cases import Case

_MS: Final = 1e-3
_KBIT: Final = 1e3
#: The two lossless cases whose goodput the window sets.
_WINDOW_LIMITED: Final = ("packet-100", "delay-100ms")
#: The link is full: busy for this share of the time.
_FULL: Final = 0.99


def section(measured: Mapping[str, Measured], runs: Mapping[str, Run]) -> Section:
    """The part of the report."""
    two = [measured[name] for name in _WINDOW_LIMITED]
    finding = (
        f"ns-2's default window of {WINDOW} packets, which the document never mentions, sets queue and latency in "
        f"all six lossless cases, and the goodput in two: {two[0].case.title} "
        f"({percent(two[0].flow['limited_by_receiver_window'])} of its time) and {two[1].case.title} "
        f"({percent(two[1].flow['limited_by_receiver_window'])})."
    )
    bars = pl.DataFrame([_limits(case.title, measured[case.name].run) for case in CASES])
    return Section(
        "What the document missed: the window",
        finding,
        [
            Text(
                "Twenty packets are twenty packet times on the link: the round trip settles at max(W·S/R, path), and "
                "whatever exceeds the path waits in the queue. A longer queue cannot change that; smaller packets "
                "and longer links leave the window too small to fill the path. The accounting tells the two apart: "
                "time at the window during which the link was never idle is the **network's**, other time at the "
                "window is the **receiver's window's**. With the window opened, the congestion window holds all "
                "seven cases back nearly all of the time; whether that costs anything shows in how busy the link is."
            ),
            Chart(charts.bars_stacked(bars, "case", title="What limited each flow, with ns-2's window of 20 packets")),
            Table(
                _table(measured, runs),
                "Each case with ns-2's window W of 20 packets and with W opened to 1000; ssthresh begins at W.",
            ),
            Text("\n".join(f"- **{case.title}**: {_sentence(case, measured[case.name], runs)}" for case in CASES)),
        ],
    )


def _sentence(case: Case, own: Measured, runs: Mapping[str, Run]) -> str:
    """What really limits a case, from its run with the window opened."""
    long = runs[f"opened-100s/{case.name}"]
    flow, link = long.flows.row(0, named=True), long.links.row(0, named=True)
    rate, before = flow["goodput_bps"] / _KBIT, _goodput(runs[f"window-20-100s/{case.name}"]) / _KBIT
    lost = f"{flow['packets_dropped']} of {flow['packets_sent']} packets"
    if own.dropped:
        return (
            f"the queue. It overflows before the window reaches {WINDOW} packets, so opening the window changes "
            f"nothing; the link stands idle for {percent(1 - link['utilization'], 1)} of the time, after each halving."
        )
    if link["utilization"] > _FULL:
        return (
            f"the link, with either window. Opened, the flow keeps the link {percent(link['utilization'], 1)} busy, "
            f"carries {rate:.0f} kbit/s (before: {before:.0f}), and pays with {lost} lost at the queue, which holds "
            f"{link['queue_mean_packets']:.1f} packets on average instead of {own.queue_mean:.1f}."
        )
    brief = runs[f"opened/{case.name}"].flows.row(0, named=True)
    careful = runs[f"opened-ssthresh-20/{case.name}"].flows.row(0, named=True)
    text = (
        f"the window. Opened, it carries {rate:.0f} kbit/s instead of {before:.0f}; the headers leave "
        f"{case.payload_share * case.rate_bps / _KBIT:.0f}, and what now limits it is the congestion window, halved "
        f"at each of the losses ({lost}) because the queue of {case.queue_packets} packets is shorter than the path"
    )
    if brief["goodput_bps"] < own.flow["goodput_bps"]:
        text += (
            f". In the first 10 s alone it is worse off, {brief['goodput_bps'] / _KBIT:.0f} kbit/s: ns-2 opens the "
            f"slow-start threshold with the window, slow start overshoots, {brief['packets_dropped']} packets are "
            f"lost and {brief['timeouts']} timeouts follow; with the threshold left at {WINDOW} packets it is "
            f"{careful['goodput_bps'] / _KBIT:.0f} kbit/s"
        )
    return f"{text}."


def _table(measured: Mapping[str, Measured], runs: Mapping[str, Run]) -> pl.DataFrame:
    rows = []
    for case in CASES:
        row: dict[str, Any] = {"case": case.title}
        for words, run, full in (
            ("W = 20", measured[case.name].run, True),
            ("W = 1000", runs[f"opened/{case.name}"], False),
            ("W = 1000, ssthresh 20", runs[f"opened-ssthresh-20/{case.name}"], False),
            ("W = 1000, 100 s", runs[f"opened-100s/{case.name}"], True),
        ):
            row[f"{words}: kbit/s"] = round(_goodput(run) / _KBIT)
            if full:
                row[f"{words}: link busy %"] = round(100 * run.links["utilization"][0], 1)
                row[f"{words}: latency ms"] = round(run.flows["one_way_delay_mean_s"][0] / _MS, 1)
                row[f"{words}: lost"] = run.flows["packets_dropped"][0]
        rows.append(row)
    return pl.DataFrame(rows)


def _limits(title: str, run: Run) -> dict[str, Any]:
    flow = run.flows.row(0, named=True)
    return {"case": title} | {name: flow[name] for name in flow if name.startswith("limited_by_")}


def _goodput(run: Run) -> float:
    return float(run.flows["goodput_bps"][0])
