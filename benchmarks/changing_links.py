"""Linux over links that change, or lose, in real time, beside the simulation of the same scenarios.

    python benchmarks/changing_links.py -o results/changing-links
    python benchmarks/changing_links.py -o results/links-that-lose --links lose

Ten links, three controls, one flow and four: 60 cells, each with three seeds, of which the mean counts. Takes
about 45 minutes. Of links that lose, by chance or by their queues, there are six, in half an hour.

A run is measured once, or again (twice at most) where the machine was so busy that a warning says so:
that counts whose receivers were least late. It is simulated with starts within the first millisecond, as nearly as the
start of the measured one is known, between hosts that take time; the median counts. Ends with a table of the cells and,
of goodput and of the 95th percentile of the one-way delay, R² and how many cells are within 10 %. Continues where it
was interrupted.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import tightlink as tl
from tightlink.measure.acknowledging import warnings
from tightlink.measure.measuring import measure

DURATION = "12 s"
CONTROLS = ("reno", "cubic", "bbr")
FLOWS = (1, 4)
SEEDS = (1, 2, 3)
STARTS_MS = (0, 0.25, 0.5, 0.75, 1)
#: By how much what hosts take to answer a packet differs, as measured. Without it flows that share a queue are in step,
#: and the last ACK of a handshake is in the queue with the first window.
HOSTS_TAKE = {"kind": "uniform", "most": "0.1 ms"}
#: Cells whose values differ by less agree; set before any was measured.
NEAR = 0.1
#: How often a cell is measured where the machine is busy.
TRIES = 3


def trace(rates_mbps: list[float]) -> str:
    """Lines of a mahimahi trace of a rate that holds for 20 ms each."""
    instants: list[int] = []
    sent = 0.0
    for step, rate in enumerate(rates_mbps):
        for ms in range(20 * step + 1, 20 * step + 21):
            sent += rate * 1000 / 8 / 1504
            while len(instants) + 1 <= sent:
                instants.append(ms)
    return "\n".join(map(str, instants))


def fading() -> str:
    """A rate that comes and goes by the second, such as of somebody who walks."""
    return trace([12 + 9 * math.sin(2 * math.pi * step / 150) for step in range(600)])


def cellular() -> str:
    """A rate as of a mobile network: its logarithm is noise with a memory of half a second."""
    random, level = Random(7), 0.0
    rates: list[float] = []
    for _ in range(600):
        level = 0.96 * level + random.gauss(0.0, 0.14)
        rates.append(min(40.0, 10 * math.exp(level)))
    return trace(rates)


def links(folder: Path) -> dict[str, dict[str, Any]]:
    """What of the link is not as of the others."""
    for name, text in (("fading", fading()), ("cellular", cellular())):
        (folder / f"{name}.trace").write_text(text)
    steps = [{"at": f"{at} s", "rate": f"{rate} Mbit/s"} for at, rate in ((0, 20), (4, 5), (8, 20))]
    walk = {"start": "12 Mbit/s", "least": "3 Mbit/s", "most": "40 Mbit/s", "every": "100 ms", "deviation": 0.15}
    return {
        "fading": {"rate": {"trace": str(folder / "fading.trace")}},
        "cellular": {"rate": {"trace": str(folder / "cellular.trace")}},
        "steps": {"rate": {"schedule": steps}},
        "walk": {"rate": {"kind": "random-walk"} | walk},
        "leo": {"delay": {"kind": "leo", "every": "4 s"}},
        "jitter": {"jitter": {"kind": "normal", "mean": "5 ms", "deviation": "2 ms", "correlation": "20 ms"}},
        "reordered": {"reorder": {"probability": "1 %", "delay": "5 ms"}},
        "overtaking": {"jitter": {"kind": "uniform", "most": "10 ms", "reorder": True}},
        "duplicated": {"duplicate": "1 %"},
        "bursts": {"loss": {"kind": "gilbert-elliott", "to_bad": 0.0005, "to_good": 0.3}},
    }


def lossy(_: Path) -> dict[str, dict[str, Any]]:
    """The same of links that lose: at random, or by their queues."""
    random = {f"{share} %": {"loss": f"{share} %", "queue": "1 BDP"} for share in (1, 5)}
    queues = ({"kind": kind, "limit": "1000 packets"} for kind in ("red", "pie", "codel", "fq-codel"))
    return random | {str(queue["kind"]): {"queue": queue} for queue in queues}


#: By what `--links` says.
LINKS = {"change": links, "lose": lossy}


def with_hosts(links: dict[str, Any], traffic: dict[str, Any]) -> dict[str, Any]:
    """Links and traffic in which hosts that send over TCP take time, as those of a measurement do."""
    links, traffic = dict(links), dict(traffic)
    for name, each in traffic.items():
        if each["kind"] == "bulk":
            host = f"host-of-{name}"
            links[host] = {"ends": [host, each["from"]], "rate": "1 Gbit/s", "delay": "0 ms", "jitter": HOSTS_TAKE}
            traffic[name] = each | {"from": host}
    return {"link": links, "traffic": traffic}


def scenario(link: dict[str, Any], control: str, flows: int, seed: int, start_ms: float | None = None) -> tl.Scenario:
    """A run of a cell; with a start to simulate, between hosts that take time."""
    wire = {"ends": ["a", "b"], "rate": "12 Mbit/s", "delay": "20 ms", "queue": "100 packets"} | link
    wire["reverse"] = {"rate": "50 Mbit/s"}
    bulk = {"kind": "bulk", "from": "a", "to": "b", "flows": flows, "tcp": {"congestion": control}}
    links, traffic = {"wire": wire}, {"t": bulk | ({"start": f"{start_ms} ms"} if start_ms else {})}
    network = {"link": links, "traffic": traffic} if start_ms is None else with_hosts(links, traffic)
    return tl.Scenario.from_dict({"profile": "linux", "duration": DURATION, "seed": seed} | network)


def found(run: tl.Run) -> dict[str, float]:
    """Goodput of all flows, and the 95th percentile of their one-way delays, the mean over flows."""
    flows = run.flows
    return {
        "goodput_bps": float(flows["goodput_bps"].sum()),
        "one_way_delay_p95_s": float(flows["one_way_delay_p95_s"].mean()),  # type: ignore[arg-type]  # a column of numbers
    }


def quietest(cell: tl.Scenario) -> tl.Run:
    """A measurement whose receivers were not late, or the one in which they were least."""
    runs = []
    for _ in range(TRIES):
        runs.append(measure(cell, tries=TRIES))
        manifest = runs[-1].manifest
        if not warnings(manifest["receivers"], manifest["relay"]["lateness"]["bound_s"]):
            break
    return min(runs, key=late_s)


def late_s(run: tl.Run) -> float:
    """How late the ACK of a receiver was at most."""
    return run.manifest["receivers"]["max_s"] or 0.0


def r_squared(measured: list[float], simulated: list[float]) -> float:
    """The share of the variance of what was measured that the simulation explains, as it is."""
    mean = statistics.fmean(measured)
    wrong = sum((one - other) ** 2 for one, other in zip(measured, simulated, strict=True))
    return 1 - wrong / sum((one - mean) ** 2 for one in measured)


def beside(there: dict[str, float], here: dict[str, float]) -> str:
    """What was measured, what was simulated, and by how much that is more."""
    return "  ".join(f"{there[key]:.4g} {here[key]:.4g} {here[key] / there[key] - 1:+6.1%}" for key in here)


def tell_agreement(cells: list[tuple[dict[str, float], dict[str, float]]]) -> None:
    """Print for both quantities R², and how many cells are near, measured and simulated."""
    for key in ("goodput_bps", "one_way_delay_p95_s"):
        there, here = ([cell[place][key] for cell in cells] for place in (0, 1))
        near = sum(abs(after / before - 1) <= NEAR for before, after in zip(there, here, strict=True))
        print(f"{key}: R² {r_squared(there, here):.4f}, {near} of {len(cells)} within {NEAR:.0%}")


class Measured:
    """What was measured, by cell: in one file of a folder, from which it continues."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._file = folder / "measured.json"
        self._cells: dict[str, list[Any]] = json.loads(self._file.read_text()) if self._file.exists() else {}

    def of(self, cell: str, times: int, found: Callable[[tl.Run], Any], run: Callable[[], tl.Run]) -> list[Any]:
        """What is found in so many runs of a cell, run now where they were not before."""
        runs = self._cells.setdefault(cell, [])
        while len(runs) < times:
            runs.append(found(run()))
            lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(each)}" for name, each in self._cells.items())
            self._file.write_text(f"{{\n{lines}\n}}\n")
        return runs


def measured(run: tl.Run) -> dict[str, float]:
    """The same of a measurement, and how late it was."""
    return found(run) | {"receivers_late_s": late_s(run)}


def simulated(link: dict[str, Any], control: str, flows: int, seed: int) -> dict[str, float]:
    """What a run has, the medians over starts."""
    return medians([found(tl.simulate(scenario(link, control, flows, seed, at))) for at in STARTS_MS])


def medians(runs: list[dict[str, float]]) -> dict[str, float]:
    """Over starts."""
    return {key: statistics.median(run[key] for run in runs) for key in runs[0]}


def mean(runs: list[dict[str, float]]) -> dict[str, float]:
    """Of each quantity."""
    return {key: statistics.fmean(run[key] for run in runs) for key in runs[0]}


def compared(
    stored: Measured, changed: dict[str, dict[str, Any]]
) -> Iterator[tuple[tuple[str, str, int], dict[str, float], dict[str, float]]]:
    """The means of each cell, measured and simulated."""
    for (name, link), control, flows in product(changed.items(), CONTROLS, FLOWS):
        runs = []
        for seed in SEEDS:
            run = partial(quietest, scenario(link, control, flows, seed))
            runs += stored.of(f"{name}, {control}, {flows}, {seed}", 1, measured, run)
        yield (name, control, flows), mean(runs), mean([simulated(link, control, flows, seed) for seed in SEEDS])


def command(text: str | None) -> argparse.ArgumentParser:
    """The options of a script of this kind, which its text describes."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, required=True)
    return parser


def main() -> None:
    parser = command(__doc__)
    parser.add_argument("--links", choices=LINKS, default="change")
    chosen = parser.parse_args()
    cells = []
    with tempfile.TemporaryDirectory() as traces:
        changed = LINKS[chosen.links](Path(traces))
        for (name, control, flows), there, here in compared(Measured(chosen.output), changed):
            cells.append((there, here))
            late_ms = 1e3 * there["receivers_late_s"]
            print(f"{name:10} {control:6} {flows}  {beside(there, here)}  late {late_ms:.1f} ms", flush=True)
    tell_agreement(cells)


if __name__ == "__main__":
    main()
