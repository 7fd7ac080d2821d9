#!/usr/bin/env python3
"""What each congestion control costs over standard TCP: time per packet-hop on W2 with 100 flows.

    python benchmarks/controls.py                     # every control, those written in Python included
    python benchmarks/controls.py fast bbr --repeats 9
    python benchmarks/controls.py --markdown > table.md

Controls take turns with `reno`, in one process, so that both see the machine at the same speed; a ratio is the median
of the ratios within the rounds. Recovery is NewReno's, or SACK's on both sides where a control needs it. Controls
differ in what they do to the network, too: packet-hops and events a hop say how much.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from typing import TYPE_CHECKING, Any

from figures import table
from workloads import HERE

import tightlink as tl
from tightlink import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

BASELINE = "reno"
COLUMNS = ("control", "recovery", "M packet-hops", "events/hop", "ns/hop", "of reno's", "min-max", "rounds")
RECOVERIES = ("newreno", "sack")


class PerReport(tl.CongestionControl):
    """Standard TCP, a report a round trip."""

    name = "python-per-report"

    def on_report(self, report: tl.Report) -> None:
        if report.in_use and self.cwnd >= self.ssthresh:
            self.cwnd += 1


class PerAck(tl.CongestionControl):
    """Standard TCP, told of each ACK."""

    name = "python-per-ack"

    def on_ack(self, ack: tl.Ack) -> None:
        self.cwnd += min(ack.acked, 1) if self.cwnd < self.ssthresh else min(ack.acked / self.cwnd, 1)


def scenario(control: str) -> tuple[tl.Scenario, str]:
    """W2-100 under a control, and the recovery: the first that it works with."""
    base = tl.load(HERE / "w2-100.toml")
    for recovery in RECOVERIES:
        changed = base.set_all({"traffic.bulk.tcp.congestion": control, "traffic.bulk.tcp.recovery": recovery})
        try:
            tl.simulate(changed.set("duration", "1.1 s"))
        except tl.ScenarioError as error:
            refused = error
        else:
            return changed, recovery
    raise refused


def measure(control: str, repeats: int) -> tuple[Any, ...]:
    """A row of the table."""
    run, recovery = scenario(control)
    other = run.set("traffic.bulk.tcp.congestion", BASELINE)
    times, ratios, manifest = [], [], {}
    for _ in range(repeats):
        theirs = per_hop(tl.simulate(other).manifest)
        manifest = tl.simulate(run).manifest
        times.append(per_hop(manifest))
        ratios.append(times[-1] / theirs)
    hops = manifest["packet_hops"]
    return (
        control, recovery, f"{hops / 1e6:.3f}", f"{manifest['events'] / hops:.2f}",
        f"{1e9 * statistics.median(times):.0f}", f"{statistics.median(ratios):.2f}",
        f"{min(ratios):.2f}-{max(ratios):.2f}", str(repeats),
    )  # fmt: skip


def per_hop(manifest: dict[str, Any]) -> float:
    """Seconds of the run phase for each packet-hop."""
    return float(manifest["timing"]["wall_s"] / manifest["packet_hops"])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = [*dict(_core.congestion()), PerReport.name, PerAck.name]
    parser.add_argument("controls", nargs="*", metavar="CONTROL", help="default: all")
    parser.add_argument("--repeats", type=int, default=5, help="rounds (default 5)")
    parser.add_argument("--markdown", action="store_true", help="table for docs")
    options = parser.parse_args(arguments)
    for name in options.controls:
        if name not in known:
            parser.error(f"no control {name!r}; there are {', '.join(known)}")
    if options.repeats < 1:
        parser.error("--repeats is at least 1")
    rows = []
    for name in options.controls or known:
        rows.append(measure(name, options.repeats))
        print(f"  {name}: {rows[-1][5]} of {BASELINE}'s", file=sys.stderr, flush=True)
    print(table(COLUMNS, rows, markdown=options.markdown))
    return 0


if __name__ == "__main__":
    sys.exit(main())
