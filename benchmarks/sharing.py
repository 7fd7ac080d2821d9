"""How two flows of Linux share a link, in real time, beside the simulation of the same scenarios.

    python benchmarks/sharing.py -o results/sharing

Two controls over six lengths of the queue, three pairs of them; and one control at two round trips, over three
lengths: 27 cells, measured twice each in about 40 minutes on a machine that does nothing else, and simulated with
sixteen seeds of the times that hosts take; the means count. Ends with R² of the second flow's share, and how many
cells are within 5 percentage points. Continues where it was interrupted.
"""

from __future__ import annotations

import csv
import statistics
from functools import partial

from changing_links import Measured, command, mean, quietest, r_squared, with_hosts

import tightlink as tl

DURATION = "40 s"
#: The first flow's control and delay in ms behind the link, those of the second, and queues in BDP of the longer path.
PAIRS = {
    "bbr beside cubic": (("cubic", 0), ("bbr", 0), (0.5, 1, 2, 4, 8, 16)),
    "bbr beside reno": (("reno", 0), ("bbr", 0), (0.5, 1, 2, 4, 8, 16)),
    "cubic beside reno": (("reno", 0), ("cubic", 0), (0.5, 1, 2, 4, 8, 16)),
    "reno, 120 ms beside 40": (("reno", 0), ("reno", 40), (1, 2, 4)),
    "cubic, 120 ms beside 40": (("cubic", 0), ("cubic", 40), (1, 2, 4)),
    "bbr, 120 ms beside 40": (("bbr", 0), ("bbr", 40), (1, 2, 4)),
}
TIMES = 2
SEEDS = range(1, 17)
#: Cells whose shares differ by less agree; set before any but those of BBR beside CUBIC was measured.
NEAR = 0.05


def scenario(flows: tuple[tuple[str, int], tuple[str, int]], queue: float, seed: int = 0) -> tl.Scenario:
    """Two flows over 20 Mbit/s and 40 ms, and what each has behind it; with a seed between hosts that take time."""
    links = {"wire": {"ends": ["r", "b"], "rate": "20 Mbit/s", "delay": "20 ms", "queue": f"{queue} BDP"}}
    traffic = {}
    for name, (control, delay_ms) in zip(("first", "second"), flows, strict=True):
        links[f"of_{name}"] = {"ends": [name, "r"], "rate": "1 Gbit/s", "delay": "0 ms"}
        if delay_ms:
            links["beyond"] = {"ends": ["b", "far"], "rate": "1 Gbit/s", "delay": f"{delay_ms} ms"}
        to = "far" if delay_ms else "b"
        traffic[name] = {"kind": "bulk", "from": name, "to": to, "tcp": {"congestion": control}}
    network = with_hosts(links, traffic) if seed else {"link": links, "traffic": traffic}
    return tl.Scenario.from_dict({"profile": "linux", "duration": DURATION, "seed": seed} | network)


def found(run: tl.Run) -> dict[str, float]:
    """The second flow's share of the goodput, and the mean wait in the queue."""
    goodput = run.flows["goodput_bps"].to_list()
    delay = float(run.links.filter(link="wire")["queueing_delay_mean_s"].item())
    return {"share": goodput[1] / sum(goodput), "queueing_delay_mean_s": delay}


def main() -> None:
    folder = command(__doc__).parse_args().output
    stored = Measured(folder)
    rows = []
    for name, (first, second, queues) in PAIRS.items():
        for queue in queues:
            run = partial(quietest, scenario((first, second), queue))
            measured = stored.of(f"{name}, {queue} BDP", TIMES, found, run)
            simulated = [found(tl.simulate(scenario((first, second), queue, seed))) for seed in SEEDS]
            there, here = mean(measured), mean(simulated)
            spread = statistics.stdev(each["share"] for each in simulated)
            shares = {"measured": there["share"], "simulated": here["share"], "deviation": spread}
            rows.append({"pair": name, "queue_bdp": queue} | shares)
            waits = " ".join(f"{1e3 * each['queueing_delay_mean_s']:.1f}" for each in (there, here))
            each = " ".join(f"{one['share']:.1%}" for one in measured)
            found_here = f"{there['share']:.1%} {here['share']:.1%} ± {spread:.1%}"
            print(f"{name:24} {queue:4} BDP  {found_here}  ({each})  {waits} ms", flush=True)
    with (folder / "sharing.csv").open("w", newline="") as text:
        table = csv.DictWriter(text, rows[0], lineterminator="\n")
        table.writeheader()
        table.writerows({key: f"{value:.4f}" if key in shares else value for key, value in row.items()} for row in rows)
    shares = [[float(row[key]) for row in rows] for key in ("measured", "simulated")]
    near = sum(abs(after - before) <= NEAR for before, after in zip(*shares, strict=True))
    print(f"share of the second flow: R² {r_squared(*shares):.4f}, {near} of {len(rows)} within {NEAR:.0%}")


if __name__ == "__main__":
    main()
