"""Congestion controls beside Linux's own code: the same scenarios with each, and with the module of its name.

    python benchmarks/linux_controls.py /usr/src/linux-source-6.12
    python benchmarks/linux_controls.py /usr/src/linux-source-6.12 cubic bbr --cases

Takes a source tree of Linux (Debian: `apt install linux-source-6.12`, and unpack what that installs), of which
`--controls net/ipv4/tcp_*.c` takes a control. All else is the engine's profile `linux` on both sides. What is printed:
in how many cases the windows never differ by a packet, and goodput, mean one-way delay and mean congestion window here
over those with Linux's module, the smallest and the largest of the cases; with --cases each of them.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, NamedTuple

from figures import table

import tightlink as tl
from tightlink import control

NAMES = ("cubic", "dctcp", "bbr", "bic", "highspeed", "htcp", "hybla", "illinois", "scalable", "vegas", "veno",
         "westwood", "yeah")  # fmt: skip
BASE = """
profile = "linux"
duration = "30 s"
observe = { interval = "10 ms" }
link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "20 ms", queue = "50 packets", reverse.loss = 0 }
traffic.flow = { kind = "bulk", from = "a", to = "b" }
"""
CASES: dict[str, dict[str, Any]] = {
    "one flow, 1.2 BDP of queue": {},
    "one flow over 100 ms": {"link.wire.rate": "50 Mbit/s", "link.wire.delay": "50 ms", "link.wire.queue": "1 BDP"},
    "0.1 % lost": {"link.wire.loss": "0.1 %", "link.wire.queue": "200 packets"},
    "four flows": {"traffic.flow.flows": 4, "link.wire.queue": "100 packets"},
    "marks": {"link.wire.queue": {"kind": "codel", "ecn": True}, "traffic.flow.tcp.ecn": True},
}


class Beside(NamedTuple):
    """Ours over Linux's."""

    case: str
    differ_at_s: float | None
    """When windows differ first by a packet, if they do."""
    goodput: float
    delay: float
    window: float


def run(name: str, case: str) -> tl.Run:
    """A case with a control."""
    return tl.simulate(tl.loads(BASE).set_all({**CASES[case], "traffic.flow.tcp.congestion": name}))


def beside(name: str, case: str) -> Beside:
    """A control beside Linux's."""
    ours, linux = run(name, case), run(f"linux-{name}", case)
    windows = [each.series.filter(metric="cwnd_packets") for each in (ours, linux)]
    apart = windows[0].filter((windows[0]["value"] - windows[1]["value"]).abs() >= 1.0)["time_s"]
    ratios = (ours.flows[key].sum() / linux.flows[key].sum() for key in ("goodput_bps", "one_way_delay_mean_s"))
    window = windows[0]["value"].mean() / windows[1]["value"].mean()
    return Beside(case, apart[0] if len(apart) else None, *ratios, window)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path, help="source tree of Linux 6.10 or later")
    parser.add_argument("names", nargs="*", help=f"controls (all: {', '.join(NAMES)})")
    parser.add_argument("--cases", action="store_true", help="each case instead of the smallest and the largest ratio")
    given = parser.parse_args()
    rows = []
    for name in given.names or NAMES:
        control.load(given.tree / "net" / "ipv4" / f"tcp_{name}.c")
        found = [beside(name, case) for case in CASES]
        if given.cases:
            rows += [(name, each.case, "never" if each.differ_at_s is None else f"{each.differ_at_s:.2f} s",
                      *(f"{ratio:.3f}" for ratio in each[2:])) for each in found]  # fmt: skip
            continue
        same = f"{sum(each.differ_at_s is None for each in found)} of {len(found)}"
        spans = zip(*(each[2:] for each in found), strict=True)
        rows.append((name, same, *(f"{min(span):.2f} to {max(span):.2f}" for span in spans)))
    columns = ("control", "case", "windows differ at") if given.cases else ("control", "windows equal in")
    print(table((*columns, "goodput", "delay", "window"), rows, markdown=True))
    return 0


if __name__ == "__main__":
    sys.exit(main())
