"""From runs to ratios and tables."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from peers import Counted, Measurement, Peer, PeerError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workloads import Workload

GOODPUT_TOLERANCE = 0.02
WORDS = 2  # columns of a table that hold words; the others hold figures


@dataclass
class Series:
    """The runs of one peer on one workload."""

    peer: Peer
    counted: Counted | None = None
    runs: list[Measurement] = field(default_factory=list)
    failure: str | None = None

    def hops(self, run: Measurement) -> int:
        if run.crossings is not None:
            return run.crossings
        assert self.counted is not None
        return self.counted.crossings

    def add(self, run: Measurement) -> None:
        if self.counted is not None and run.packets != self.counted.packets:
            raise PeerError(f"delivered {run.packets} packets, but {self.counted.packets} in the counting run")
        self.runs.append(run)

    def rates(self) -> list[float]:
        return [self.hops(run) / run.run_wall_s for run in self.runs]


@dataclass(frozen=True)
class Ratio:
    workload: str
    ours: str
    theirs: str
    median: float
    low: float
    high: float
    rounds: int
    goodput_gap: float
    goal: float | None

    @property
    def meaningful(self) -> bool:
        return abs(self.goodput_gap) <= GOODPUT_TOLERANCE


#: How many times the packet-hops per second of which version of the peer Tightlink is to reach.
GOALS = {
    ("w2-100", "ns2", "ns-2.35"): 10.0,
    ("w2-1000", "ns2", "ns-2.35"): 8.0,
    ("w2-100", "ns3-nix", "ns-3.41"): 250.0,
    ("w2-100", "ns3-global", "ns-3.37"): 600.0,
}


def ratios(workload: str, all_series: Sequence[Series], versions: dict[str, str]) -> list[Ratio]:
    """Each peer against the first of the series, round by round."""
    if not all_series or not all_series[0].runs:
        return []
    ours = all_series[0]
    found = []
    for theirs in all_series[1:]:
        by_round = [a / b for a, b in zip(ours.rates(), theirs.rates(), strict=False)]
        if not by_round:
            continue
        gap = ours.runs[0].goodput_mbps / theirs.runs[0].goodput_mbps - 1
        key = theirs.peer.key
        goal = GOALS.get((workload, key, versions.get(key, ""))) if ours.peer.key == "tightlink" else None
        found.append(
            Ratio(
                workload, ours.peer.label, theirs.peer.label,
                statistics.median(by_round), min(by_round), max(by_round), len(by_round), gap, goal,
            )
        )  # fmt: skip
    return found


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, markdown: bool) -> str:
    """Words to the left, figures to the right."""
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]

    def line(row: Sequence[str]) -> str:
        cells = [
            cell.ljust(width) if i < WORDS else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        return f"| {' | '.join(cells)} |" if markdown else "  ".join(cells).rstrip()

    rule = ["-" * width if i < WORDS else "-" * (width - 1) + ":" for i, width in enumerate(widths)]
    if not markdown:
        rule = ["-" * width for width in widths]
    return "\n".join([line(header), line(rule), *(line(row) for row in rows)])


def figures_row(workload: Workload, series: Series) -> list[str]:
    rates, runs = series.rates(), series.runs
    rate, run = statistics.median(rates), runs[0]
    span = f"{min(rates) / 1e6:.2f}-{max(rates) / 1e6:.2f}" if len(rates) > 1 else ""
    events = f"{run.events / series.hops(run):.2f}" if run.events is not None else ""
    return [
        workload.name.upper(), series.peer.label, f"{series.hops(run) / 1e6:.3f}",
        f"{rate / 1e6:.3f}", span, f"{1e9 / rate:.0f}",
        f"{statistics.median(r.run_wall_s for r in runs):.3f}",
        f"{statistics.median(r.process_wall_s for r in runs):.2f}", events,
        f"{statistics.median(r.peak_rss_bytes for r in runs) / 2**20:.0f}",
        f"{run.goodput_mbps:.3f}", str(len(runs)),
    ]  # fmt: skip


FIGURES = (
    "workload", "peer", "M packet-hops", "M hops/s", "min-max", "ns/hop", "run s", "process s",
    "events/hop", "peak MiB", "goodput Mbit/s", "runs",
)  # fmt: skip


def ratio_row(ratio: Ratio) -> list[str]:
    number = f"{ratio.median:.3g}"
    verdict = ""
    if ratio.goal is not None:
        verdict = f"{ratio.goal:g} " + ("reached" if ratio.median >= ratio.goal else "missed")
    if not ratio.meaningful:
        number, verdict = f"({number})", "not the same work"
    span = f"{ratio.low:.3g}-{ratio.high:.3g}" if ratio.rounds > 1 else ""
    return [
        ratio.workload.upper(), f"{ratio.ours} / {ratio.theirs}", number, span,
        str(ratio.rounds), f"{100 * ratio.goodput_gap:+.2f} %", verdict,
    ]  # fmt: skip


RATIOS = ("workload", "packet-hops per second", "ratio", "min-max", "rounds", "goodput gap", "goal")
