"""Congestion controls beside Linux's own code: the same scenarios with each control, and with Linux's module of its name.

    python benchmarks/linux_controls.py /usr/src/linux-source-6.12
    python benchmarks/linux_controls.py /usr/src/linux-source-6.12 cubic bbr

Takes a source tree of Linux (Debian: `apt install linux-source-6.12`, and unpack what that installs), of which
`--controls net/ipv4/tcp_*.c` takes a control. All else is the engine's profile `linux` on both sides. What is printed:
goodput, losses, mean one-way delay and mean congestion window here, over Linux's, and when the windows differ first.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, NamedTuple

from figures import table

import tightlink as tl
from tightlink import control

NAMES = ("cubic", "bbr", "dctcp", "bic", "highspeed", "htcp", "hybla", "illinois", "scalable", "vegas", "veno",
         "westwood", "yeah")  # fmt: skip
COLUMNS = ("control", "scenario", "windows differ from", "goodput", "retransmitted", "delay", "window")
BASE = """
profile = "linux"
duration = "30 s"
observe = { interval = "10 ms" }
link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "20 ms", queue = "50 packets", reverse.loss = 0 }
traffic.flow = { kind = "bulk", from = "a", to = "b" }
"""


class Case(NamedTuple):
    """What is different of the base."""

    title: str
    changes: dict[str, Any]


CASES = (
    Case("one flow, 1.4 BDP", {}),
    Case("one flow, long path", {"link.wire.rate": "50 Mbit/s", "link.wire.delay": "50 ms", "link.wire.queue": "1 BDP"}),
    Case("0.1 % lost", {"link.wire.loss": "0.1 %", "link.wire.queue": "200 packets"}),
    Case("four flows", {"traffic.flow.flows": 4, "link.wire.queue": "100 packets"}),
    Case("marks", {"link.wire.queue": {"kind": "codel"}, "traffic.flow.tcp.ecn": True}),
)


def run(name: str, case: Case) -> tl.Run:
    """A case with a control."""
    return tl.simulate(tl.loads(BASE).set_all({**case.changes, "traffic.flow.tcp.congestion": name}))


def row(name: str, case: Case) -> tuple[str, ...]:
    """How a control differs from Linux's."""
    ours, linux = run(name, case), run(f"linux-{name}", case)
    windows = [each.series.filter(metric="cwnd_packets")["value"] for each in (ours, linux)]
    times = ours.series.filter(metric="cwnd_packets")["time_s"]
    apart = (windows[0] - windows[1]).abs() >= 1.0
    first = f"{times.filter(apart)[0]:.2f} s" if apart.any() else "never"
    flows = ours.flows, linux.flows
    ratios = [
        flows[0]["goodput_bps"].sum() / flows[1]["goodput_bps"].sum(),
        flows[0]["packets_retransmitted"].sum() / max(flows[1]["packets_retransmitted"].sum(), 1),
        flows[0]["one_way_delay_mean_s"].mean() / flows[1]["one_way_delay_mean_s"].mean(),
        windows[0].mean() / windows[1].mean(),
    ]
    return (name, case.title, first, *(f"{ratio:.3f}" for ratio in ratios))


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path, help="source tree of Linux 6.10 or later")
    parser.add_argument("names", nargs="*", help=f"controls (all: {', '.join(NAMES)})")
    given = parser.parse_args()
    rows = []
    for name in given.names or NAMES:
        control.load(given.tree / "net" / "ipv4" / f"tcp_{name}.c")
        rows += [row(name, case) for case in CASES]
    print(table(COLUMNS, rows, markdown=True))
    return 0


if __name__ == "__main__":
    sys.exit(main())
