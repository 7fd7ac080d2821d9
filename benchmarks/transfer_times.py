"""How long transfers of five sizes take Linux, in real time, beside the simulation of the same scenarios.

    python benchmarks/transfer_times.py -o results/transfer-times

Three controls, two round trips and three queues of 20 Mbit/s: 18 cells of five transfers, one after the other, measured
twice each, in about 13 minutes on a machine that does nothing else. Simulated with starts within the first millisecond,
of which the median counts. Ends with how many of the 90 times are within 5 %. Continues where it was interrupted.
"""

from __future__ import annotations

import json
import statistics
from typing import Any

from changing_links import CONTROLS, STARTS_MS, command, quietest

import tightlink as tl

SIZES = ("15 kB", "50 kB", "150 kB", "500 kB", "1.5 MB")
ROUND_TRIPS_MS = (20, 100)
QUEUES: dict[str, Any] = {"0.25 BDP": "0.25 BDP", "1 BDP": "1 BDP", "fq-codel": {"kind": "fq-codel"}}
#: Each transfer has so long.
EACH_S = 4
TIMES = 2
#: Times that differ by less are counted.
NEAR = 0.05


def scenario(control: str, round_trip_ms: float, queue: str, start_ms: float = 0.0) -> tl.Scenario:
    """Transfers of all sizes over one link, one after the other."""
    wire = {"ends": ["a", "b"], "rate": "20 Mbit/s", "delay": f"{round_trip_ms / 2} ms", "queue": QUEUES[queue]}
    each = {"kind": "bulk", "from": "a", "to": "b", "tcp": {"congestion": control}}
    traffic = {
        f"transfer-{place}": each | {"bytes": size, "start": f"{1000 * EACH_S * place + start_ms} ms"}
        for place, size in enumerate(SIZES)
    }
    duration = f"{EACH_S * len(SIZES)} s"
    return tl.Scenario.from_dict({"profile": "linux", "duration": duration, "link": {"wire": wire}, "traffic": traffic})


def times(run: tl.Run) -> list[float]:
    """The completion times, the longest that there is where one was not complete."""
    return run.completions["completion_s"].fill_null(float(EACH_S)).to_list()  # type: ignore[no-any-return]  # numbers


def main() -> None:
    folder = command(__doc__).parse_args().output
    folder.mkdir(parents=True, exist_ok=True)
    near = 0
    for control in CONTROLS:
        for round_trip_ms in ROUND_TRIPS_MS:
            for queue in QUEUES:
                cell = (control, round_trip_ms, queue)
                file = folder / f"{control}-{round_trip_ms}-{queue.replace(' ', '-')}.json"
                measured = json.loads(file.read_text()) if file.exists() else []
                while len(measured) < TIMES:
                    measured.append(times(quietest(scenario(*cell))))
                    file.write_text(json.dumps(measured))
                there = [statistics.fmean(each) for each in zip(*measured, strict=True)]
                simulated = [times(tl.simulate(scenario(*cell, at))) for at in STARTS_MS]
                here = [statistics.median(each) for each in zip(*simulated, strict=True)]
                near += sum(abs(after / before - 1) <= NEAR for before, after in zip(there, here, strict=True))
                told = "  ".join(
                    f"{1e3 * before:.0f} {1e3 * after:.0f}" for before, after in zip(there, here, strict=True)
                )
                print(f"{control:5} {round_trip_ms:3} ms {queue:8}  {told}", flush=True)
    print(f"{near} of {len(CONTROLS) * len(ROUND_TRIPS_MS) * len(QUEUES) * len(SIZES)} within {NEAR:.0%}")


if __name__ == "__main__":
    main()
