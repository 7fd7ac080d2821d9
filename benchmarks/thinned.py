#!/usr/bin/env python3
"""Whether a network of fewer access routers behaves as the whole one does, and one of slower routers does not.

    python benchmarks/thinned.py sizes       # conditions without a crowd, a minute: parts of the routers, scales
    python benchmarks/thinned.py anchors     # conditions of the experiment, five minutes; not made again if there
    python benchmarks/thinned.py ratios      # of the anchors: each part over the whole, response by response

The network is that of experiment 1b of NIST SP 500-282 at the document's size. `anchors` simulates some of its
conditions there and with parts of the access routers, five minutes each, and adds what it finds to a table of the
package; `ratios` compares.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

import polars as pl
from figures import table

import tightlink as tl
from tightlink import units
from tightlink.analysis.responses.nist import RESPONSES, by_period
from tightlink.scenario.four_tier import FourTier
from tightlink.scenario.four_tier.build import tables
from tightlink.studies.congestion_control.observe.anchors import (
    AGREES,
    DIFFERS,
    FILE,
    KEYS,
    NOTHING,
    UNDECIDED,
    compared,
    read,
)
from tightlink.studies.congestion_control.setup.experiment import experiment

if TYPE_CHECKING:
    from pathlib import Path

#: Of each period: short enough for an error, longer than most transfers and thoughts.
BATCHES = 5
#: Counts, which go with the number of sources.
COUNTS = (
    "sources_transmitting", "packets_entering", "packets_leaving", "transfers_completed", "connections_failed",
    "window_increases", "duplicate_acks", "timeouts",
)  # fmt: skip
FLOWS = ("first_pps", "second_pps", "third_pps")
#: Mean of the transfers without end, of which a part of the network has fewer.
LONG_LIVED = "long_lived_pps"
NAMES = tuple(each.name for each in RESPONSES)

#: By name: what is varied of experiment 1b, and the control.
CONDITIONS: dict[str, dict[str, Any]] = {
    "slow, loaded, small buffers": {"network_speed": "6000 packets/ms", "sources": "high", "congestion": "reno"},
    "slow, loaded, large buffers": {
        "network_speed": "6000 packets/ms", "sources": "high", "buffers": "high", "congestion": "reno",
    },
    "fast, light, FAST": {
        "network_speed": "12000 packets/ms", "source_distribution": "high", "think_time": "high", "congestion": "fast",
    },
}  # fmt: skip
#: Of the sources and speeds of the whole 278,000: experiment 1b.
SCALE = 0.1
PARTS = ("1", "1/3", "1/6")
SCALES = ("1/10", "1/100")
#: As the table has them: heading, response, factor.
SHOWN = (
    ("loss %", "loss", 100), ("retransmitted %", "retransmission_rate", 100), ("mean cwnd", "cwnd_mean_packets", 1),
    ("queueing delay ms", "queueing_delay_mean_s", 1000),
    ("completed per source and minute", "transfers_completed", 60), ("transmitting %", "share_transmitting", 100),
)  # fmt: skip
EXPERIMENT = "1b"
#: Of its 32 conditions those with the most and the least loss of standard TCP, and two between, in which packets are
#: few and the run is short; by runs of 40 s with a sixth of the routers.
ANCHORED = (25, 19, 3, 2)
CONTROLS = ("reno", "fast", "scalable", "compound")


@dataclass(frozen=True)
class Cell:
    """One simulated network: a condition of the experiment, a control, a part of the access routers."""

    condition: int
    congestion: str
    routers: Fraction
    duration: str

    @property
    def key(self) -> str:
        """As the first columns of the table have it."""
        return f"{self.condition},{self.congestion},{self.routers},{self.duration}"

    def scenario(self) -> tl.Scenario:
        """What is simulated, with the random numbers that the experiment has."""
        found = experiment(EXPERIMENT)
        row = found.conditions.row(self.condition, named=True)
        chosen = {name: pair[row[name] > 0] for name, pair in found.factors.items()}
        own = {"congestion": self.congestion, "duration": self.duration, "routers": float(self.routers)}
        network = FourTier.model_validate(found.base | chosen | own | {"scale": float(found.scale)})
        return network.scenario().set("seed", self.condition + 1)


def batches(run: tl.Run) -> pl.DataFrame:
    """The responses of each fifth of each period; counts for each source, and those of events for each second."""
    periods: dict[str, list[str]] = run.manifest["scenario"]["observe"]["periods"]
    windows = {}
    for name, ends in periods.items():
        start, stop = map(units.time, ends)
        length = (stop - start) / BATCHES
        windows |= {
            f"{name}.{place}": (start + place * length, start + (place + 1) * length) for place in range(BATCHES)
        }
    wide = by_period(run.users, run.user_paths, run.long_lived, windows).pivot(
        "response", index="period", values="value", maintain_order=True
    )
    states = [name for name in run.users.columns if name.startswith("sources_")]
    sources = run.users.select(pl.sum_horizontal(states)).to_series()[-1]
    per_second = 1 / units.time(run.manifest["scenario"]["observe"]["interval"])
    for name in COUNTS:
        factor = (1 if name in states else per_second) / sources
        wide = wide.with_columns(pl.col(name) * factor)
    flows = [name for name in FLOWS if name in wide.columns]
    return wide.with_columns((pl.mean_horizontal(flows) if flows else pl.lit(None)).alias(LONG_LIVED)).select(
        "period", *NAMES, LONG_LIVED
    )


def lines(cell: Cell, run: tl.Run) -> str:
    """The rows of a cell in the table of anchors."""
    text = ""
    for period, *values in batches(run).iter_rows():
        text += ",".join([cell.key, period, *("" if value is None else f"{value:.5g}" for value in values)]) + "\n"
    return text


def write(cell: Cell, file: Path, commit: str) -> None:
    """Simulate one cell and add its rows to the table: all at once, so that one that was interrupted leaves none."""
    begin = time.perf_counter()
    run = tl.simulate(cell.scenario(), threads=1)
    made = f"# commit {commit}, engine behaviour {run.manifest['engine_behaviour']}\n"
    start = "" if file.exists() else f"{','.join((*KEYS, 'period', *NAMES, LONG_LIVED))}\n"
    with file.open("a", encoding="utf-8") as out:
        out.write(start + made + lines(cell, run))
    print(f"  {cell.key}: {time.perf_counter() - begin:.0f} s", file=sys.stderr, flush=True)


def anchors(options: argparse.Namespace) -> None:
    """Simulate the cells that are not there."""
    # Of what is loaded now: the folder may change while it runs, and its table does.
    described = ["git", "describe", "--always", "--dirty"]
    commit = subprocess.run(described, check=True, capture_output=True, text=True).stdout.strip()
    there = set() if not FILE.exists() else set(read().select(pl.concat_str(KEYS, separator=",")).to_series())
    for control, condition, part in product(options.controls, options.conditions, options.routers):
        cell = Cell(condition, control, Fraction(part), options.duration)
        if cell.key not in there:
            write(cell, FILE, commit)


def sizes(options: argparse.Namespace) -> None:
    """Conditions at several sizes: what a part of the routers keeps, and a scale does not."""
    rows = []
    for name, chosen in CONDITIONS.items():
        networks = [(f"{part} of the routers", {"routers": float(Fraction(part))}) for part in options.routers]
        networks += [(f"scale {part}", {"scale": SCALE * float(Fraction(part))}) for part in options.scales]
        for size, own in networks:
            # Not `scenario`, which refuses scales that turn levels round: here they are to be seen.
            parameters = {"scale": SCALE, "duration": options.duration, "object_size": "high"} | chosen | own
            scenario = tl.Scenario.from_dict(tables(FourTier.model_validate(parameters)))
            run = tl.simulate(scenario, threads=1)
            found = batches(run).mean()
            sources = sum(site["sources"] for site in scenario.resolve()["users"][0]["sites"])
            row = [
                name,
                size,
                str(sources),
                *(f"{found[response].item() * factor:.3g}" for _, response, factor in SHOWN),
            ]
            print("  " + ", ".join(row), file=sys.stderr, flush=True)
            rows.append(row)
    print(table(("condition", "network", "sources", *(heading for heading, *_ in SHOWN)), rows, markdown=True))


def ratios(options: argparse.Namespace) -> None:
    """Verdicts of a period counted, then each response by condition and control: ratio for each part, and verdict."""
    cells: dict[tuple[str, str], dict[str, str]] = {}
    counts: dict[tuple[str, str], Counter[str]] = {}
    for label, found in compared(read()):
        if label["period"] == options.period:
            of = (f"{label['condition']}, {label['congestion']}", f"`{label['response']}`")
            cells.setdefault(of, {})[label["routers"]] = f"{found} {found.verdict}"
            counts.setdefault((of[0], label["routers"]), Counter())[found.verdict] += 1
    verdicts = (AGREES, UNDECIDED, DIFFERS, NOTHING)
    rows = [[*of, *(str(found[verdict]) for verdict in verdicts)] for of, found in counts.items()]
    print(table(("condition, control", "routers", *verdicts), rows, markdown=True), end="\n\n")
    parts = list(dict.fromkeys(part for each in cells.values() for part in each))
    rows = [
        [*of, *(each.get(part, "") for part in parts)]
        for of, each in cells.items()
        if not all(NOTHING in cell for cell in each.values())
    ]
    print(table(("condition, control", "response", *(f"{part} of the routers" for part in parts)), rows, markdown=True))


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    small = commands.add_parser("sizes")
    small.add_argument("--routers", nargs="+", default=PARTS)
    small.add_argument("--scales", nargs="+", default=SCALES)
    small.add_argument("--duration", default="60 s")
    small.set_defaults(act=sizes)
    shown = commands.add_parser("ratios")
    shown.add_argument("--period", choices=["before", "congestion", "after"], default="congestion")
    shown.set_defaults(act=ratios)
    simulated = commands.add_parser("anchors")
    simulated.add_argument("--conditions", type=int, nargs="+", default=ANCHORED)
    simulated.add_argument("--controls", nargs="+", default=CONTROLS)
    simulated.add_argument("--routers", nargs="+", default=["1/6", "1/3", "1"])
    simulated.add_argument("--duration", default="5 min")
    simulated.set_defaults(act=anchors)
    options = parser.parse_args()
    options.act(options)


if __name__ == "__main__":
    main()
