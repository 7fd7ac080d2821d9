#!/usr/bin/env python3
"""What each congestion control costs over standard TCP: time per packet-hop on W2 with 100 flows.

    python benchmarks/controls.py                     # every control, and two written in Python
    python benchmarks/controls.py fast bbr --repeats 30
    python benchmarks/controls.py --markdown > table.md

All take turns in one process, round after round, and the fastest run of each is compared with the fastest of `reno`:
what else a machine does only ever makes a run slower. Recovery is NewReno's, or SACK's on both sides where a control
needs it. Controls differ in what they do to the network, too: packet-hops and events a hop say how much.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from figures import table
from workloads import HERE

import tightlink as tl
from tightlink import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

BASELINE = "reno"
COLUMNS = ("control", "recovery", "M packet-hops", "events/hop", "ns/hop", "of reno's")
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


def measure(controls: Sequence[str], repeats: int) -> list[tuple[str, ...]]:
    """The rows of the table."""
    chosen = {name: scenario(name) for name in controls}
    runs = {
        (name, recovery): run.set("traffic.bulk.tcp.congestion", name)
        for control, (run, recovery) in chosen.items()
        for name in (control, BASELINE)
    }
    fastest = dict.fromkeys(runs, float("inf"))
    manifests = {}
    for turn in range(repeats):
        for key, run in runs.items():
            manifests[key] = tl.simulate(run).manifest
            fastest[key] = min(fastest[key], per_hop(manifests[key]))
        print(f"  round {turn + 1} of {repeats}", file=sys.stderr, flush=True)
    rows = []
    for name, (_, recovery) in chosen.items():
        own, manifest = fastest[name, recovery], manifests[name, recovery]
        hops, events = manifest["packet_hops"], manifest["events"]
        ratio = own / fastest[BASELINE, recovery]
        rows.append((name, recovery, f"{hops / 1e6:.3f}", f"{events / hops:.2f}", f"{1e9 * own:.0f}", f"{ratio:.2f}"))
    return rows


def per_hop(manifest: dict[str, Any]) -> float:
    """Seconds of the run phase for each packet-hop."""
    return float(manifest["timing"]["wall_s"] / manifest["packet_hops"])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = [*dict(_core.congestion()), PerReport.name, PerAck.name]
    parser.add_argument("controls", nargs="*", metavar="CONTROL", help="default: all")
    parser.add_argument("--repeats", type=int, default=15, help="rounds (default 15)")
    parser.add_argument("--markdown", action="store_true", help="table for docs")
    options = parser.parse_args(arguments)
    for name in options.controls:
        if name not in known:
            parser.error(f"no control {name!r}; there are {', '.join(known)}")
    if options.repeats < 1:
        parser.error("--repeats is at least 1")
    print(table(COLUMNS, measure(options.controls or known, options.repeats), markdown=options.markdown))
    return 0


if __name__ == "__main__":
    sys.exit(main())
