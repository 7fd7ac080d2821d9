"""Linux over links that change, in real time, beside the simulation of the same scenarios.

    python benchmarks/changing_links.py -o results/changing-links

Ten links, three congestion controls, one flow and four: 60 cells, which take about 17 minutes on a machine that does
nothing else. Measured once, or again (twice at most) where the machine was so busy that a warning says so: the run
counts whose receivers were least late. Simulated with starts from 0 to 40 ms, of which the median counts: what so
little changes is not the model's. Ends with a table of the cells and, of goodput and of the 95th percentile of the
one-way delay, R² and how many cells are within 10 %. Continues where it was interrupted.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from pathlib import Path
from random import Random
from typing import Any

import tightlink as tl
from tightlink.measure.measuring import measure

DURATION = "12 s"
CONTROLS = ("reno", "cubic", "bbr")
FLOWS = (1, 4)
STARTS_MS = (0, 10, 20, 30, 40)
#: Cells whose values differ by less agree; set before any was measured.
NEAR = 0.1
#: How often a cell is measured where the machine is busy.
TRIES = 3


def trace(rates_mbps: list[float]) -> str:
    """Lines of a mahimahi trace of a rate that holds for 20 ms each."""
    instants, sent = [], 0.0
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
    random, level, rates = Random(7), 0.0, []
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


def scenario(link: dict[str, Any], control: str, flows: int, start_ms: int = 0) -> tl.Scenario:
    """A cell."""
    wire = {"ends": ["a", "b"], "rate": "12 Mbit/s", "delay": "20 ms", "queue": "100 packets"} | link
    wire["reverse"] = {"rate": "50 Mbit/s"}
    traffic = {"kind": "bulk", "from": "a", "to": "b", "flows": flows, "tcp": {"congestion": control}}
    if start_ms:
        traffic["start"] = f"{start_ms} ms"
    return tl.Scenario.from_dict(
        {"profile": "linux", "duration": DURATION, "link": {"wire": wire}, "traffic": {"t": traffic}}
    )


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
        runs.append(measure(cell))
        if not any("the machine was busy" in text for text in runs[-1].warnings):
            break
    return min(runs, key=lambda run: float(run.manifest["receivers"]["max_s"]))


def r_squared(measured: list[float], simulated: list[float]) -> float:
    """The share of the variance of what was measured that the simulation explains, as it is."""
    mean = statistics.fmean(measured)
    wrong = sum((one - other) ** 2 for one, other in zip(measured, simulated, strict=True))
    return 1 - wrong / sum((one - mean) ** 2 for one in measured)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, required=True)
    folder = parser.parse_args().output
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for name, link in links(folder).items():
        for control in CONTROLS:
            for flows in FLOWS:
                file = folder / f"{name}-{control}-{flows}.json"
                if not file.exists():
                    run = quietest(scenario(link, control, flows))
                    late_s = run.manifest["receivers"]["max_s"]
                    file.write_text(json.dumps(found(run) | {"receivers_late_s": late_s}))
                simulated = [found(tl.simulate(scenario(link, control, flows, at))) for at in STARTS_MS]
                here = {key: statistics.median(one[key] for one in simulated) for key in simulated[0]}
                rows.append((name, control, flows, json.loads(file.read_text()), here))
                told = "  ".join(f"{rows[-1][3][key]:.4g} {here[key]:.4g}" for key in here)
                late_ms = 1e3 * rows[-1][3]["receivers_late_s"]
                print(f"{name:9} {control:6} {flows}  {told}  late by {late_ms:.1f} ms", flush=True)
    for key in ("goodput_bps", "one_way_delay_p95_s"):
        measured, simulated = ([row[place][key] for row in rows] for place in (3, 4))
        near = sum(abs(two / one - 1) <= NEAR for one, two in zip(measured, simulated, strict=True))
        print(f"{key}: R² {r_squared(measured, simulated):.4f}, {near} of {len(rows)} within {NEAR:.0%}")


if __name__ == "__main__":
    main()
