"""How long transfers of five sizes take Linux, in real time, beside the simulation of the same scenarios.

    python benchmarks/transfer_times.py -o results/transfer-times

Three controls, two round trips and three queues of 20 Mbit/s: 18 cells of five transfers, one after the other, measured
twice each, in about 13 minutes on a machine that does nothing else. Simulated with sixteen seeds of the times that
hosts take, of which the median counts. Ends with how many of the 90 times are within 5 %. Continues where it was
interrupted.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

from changing_links import CONTROLS, Measured, command, quietest, with_hosts

import tightlink as tl

SIZES = ("15 kB", "50 kB", "150 kB", "500 kB", "1.5 MB")
ROUND_TRIPS_MS = (20, 100)
QUEUES: dict[str, Any] = {"0.25 BDP": "0.25 BDP", "1 BDP": "1 BDP", "fq-codel": {"kind": "fq-codel"}}
#: Each transfer has so long.
EACH_S = 4
TIMES = 2
SEEDS = range(1, 17)
#: Times that differ by less are counted.
NEAR = 0.05


def scenario(control: str, round_trip_ms: float, queue: str, seed: int = 0) -> tl.Scenario:
    """Transfers of all sizes over one link, one after the other; with a seed between hosts that take time."""
    wire = {"ends": ["a", "b"], "rate": "20 Mbit/s", "delay": f"{round_trip_ms / 2} ms", "queue": QUEUES[queue]}
    each = {"kind": "bulk", "from": "a", "to": "b", "tcp": {"congestion": control}}
    traffic = {
        f"transfer-{place}": each | {"bytes": size, "start": f"{EACH_S * place} s"} for place, size in enumerate(SIZES)
    }
    links = {"wire": wire}
    network = with_hosts(links, traffic) if seed else {"link": links, "traffic": traffic}
    duration = f"{EACH_S * len(SIZES)} s"
    return tl.Scenario.from_dict({"profile": "linux", "duration": duration, "seed": seed} | network)


def times(run: tl.Run) -> list[float]:
    """The completion times, the longest that there is where one was not complete."""
    return run.completions["completion_s"].fill_null(float(EACH_S)).to_list()  # type: ignore[no-any-return]  # numbers


def compared(stored: Measured) -> Iterator[tuple[str, list[float], list[float]]]:
    """The times of each cell, measured and simulated."""
    for cell in product(CONTROLS, ROUND_TRIPS_MS, QUEUES):
        name = "{}, {} ms, {}".format(*cell)
        measured = stored.of(name, TIMES, times, partial(quietest, scenario(*cell)))
        there = [statistics.fmean(each) for each in zip(*measured, strict=True)]
        simulated = [times(tl.simulate(scenario(*cell, seed))) for seed in SEEDS]
        yield name, there, [statistics.median(each) for each in zip(*simulated, strict=True)]


def near(there: list[float], here: list[float]) -> list[bool]:
    """Which times are near."""
    return [abs(after / before - 1) <= NEAR for before, after in zip(there, here, strict=True)]


def main() -> None:
    agree = []
    for name, there, here in compared(Measured(command(__doc__).parse_args().output)):
        agree += near(there, here)
        told = "  ".join(f"{1e3 * before:.0f} {1e3 * after:.0f}" for before, after in zip(there, here, strict=True))
        print(f"{name:23}  {told}", flush=True)
    print(f"{sum(agree)} of {len(agree)} within {NEAR:.0%}")


if __name__ == "__main__":
    main()
