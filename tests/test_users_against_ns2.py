"""Users behind access routers against ns-2.35: what they transfer, and what their links lose.

Both draw random numbers of their own, so means over several seeds are compared (Welch's t-test). Profile `ns2` connects
as ns-2 does: a SYN, which a file counts as a packet there, and no third step. What ns-2 has not is a connection that
fails; here a source tries so often that none does. What ns-2 prints for each seed is stored, and one is run again.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from statistics import fmean, stdev
from typing import Final

import polars as pl

import tightlink as tl
from programs import need

DATA: Final = Path(__file__).parent / "data" / "users"
SECONDS: Final = 30
#: Behind each of the four access routers.
SOURCES: Final = 50
RECEIVERS: Final = 25
NS2_SEEDS: Final = range(1, 6)
SEEDS: Final = range(1, 21)
#: Two means are told apart with this probability though they are equal.
LEVEL: Final = 0.01

LINKS: Final = {
    "backbone": ("left", "right", "4 Mbit/s", "20 ms", 40),
    "fast0": ("a", "left", "8 Mbit/s", "5 ms", 40),
    "normal0": ("b", "left", "3 Mbit/s", "5 ms", 20),
    "fast1": ("c", "right", "8 Mbit/s", "5 ms", 40),
    "normal1": ("d", "right", "3 Mbit/s", "5 ms", 20),
}
PATHS: Final = ("fast-fast", "fast-normal", "normal-normal")
SCENARIO: Final = f"""\
profile = "ns2"
duration = "{SECONDS} s"
observe.interval = "1 s"
[traffic.web]
kind = "users"
think = "6 s"
places.fast = {{ at = ["a", "c"], sources = {SOURCES}, receivers = {RECEIVERS} }}
places.normal = {{ at = ["b", "d"], sources = {SOURCES}, receivers = {RECEIVERS} }}
interfaces.only = {{ rate = "10 Mbit/s", delay = "0.5 ms" }}
files.page = {{ mean = "30 packets", shape = 1.5 }}
connect_tries = 20
tcp = {{ recovery = "newreno", payload = "1460 B", window = "10000 packets" }}
"""


def network() -> str:
    return SCENARIO + "".join(
        f'[link.{name}]\nends = ["{one}", "{other}"]\nrate = "{rate}"\ndelay = "{delay}"\nqueue = "{limit} packets"\n'
        for name, (one, other, rate, delay, limit) in LINKS.items()
    )


def shares_lost(packets_in: dict[str, float], dropped: dict[str, float]) -> dict[str, float]:
    """The losses of the links that have any: the backbone's and those of the slow access routers."""
    groups = {"backbone": ("backbone", "backbone.reverse")}
    groups["normal, up"] = ("normal0", "normal1")
    groups["normal, down"] = ("normal0.reverse", "normal1.reverse")
    return {
        f"loss: {group}": sum(dropped[name] for name in names) / sum(packets_in[name] for name in names)
        for group, names in groups.items()
    }


def theirs(seed: int) -> dict[str, float]:
    """What ns-2 counts with a seed, in the words of `ours`."""
    return quantities_of(dict(pl.read_csv(DATA / "ns2_35.csv").select("quantity", str(seed)).iter_rows()))


def quantities_of(values: dict[str, float]) -> dict[str, float]:
    """What ns-2 printed, in the words of `ours`."""
    both = [f"{name}{end}" for name in LINKS for end in ("", ".reverse")]
    found = {f"transfers: {path}": values[f"completed:{path}"] for path in PATHS}
    found |= {f"packets: {path}": values[f"packets:{path}"] for path in PATHS}
    found |= shares_lost(
        {name: values[f"in:{name}"] for name in both}, {name: values[f"dropped:{name}"] for name in both}
    )
    return found | {"packets retransmitted": values["retransmitted"], "sources busy": values["busy"]}


def ours(scenario: tl.Scenario, seed: int) -> dict[str, float]:
    run = tl.simulate(scenario, seed=seed)
    transfers, links, users = run.table("transfers"), run.table("links"), run.table("users")
    of_path = {path: transfers.filter(pl.col("path") == path) for path in PATHS}
    found = {f"transfers: {path}": float(rows["completed"].sum()) for path, rows in of_path.items()}
    found |= {f"packets: {path}": float(rows["packets"].sum()) for path, rows in of_path.items()}
    counts = [
        dict(zip(links["link"], links[name].cast(float), strict=True)) for name in ("packets_in", "packets_dropped")
    ]
    found |= shares_lost(counts[0], counts[1])
    assert users["connections_failed"].sum() == 0
    busy = users.filter(pl.col("time_s") < SECONDS).select(
        pl.col("sources_transmitting") + pl.col("sources_connecting")
    )
    means = {"packets retransmitted": float(users["packets_retransmitted"].sum())}
    return found | means | {"sources busy": fmean(busy.to_series())}


def interval(values: list[float]) -> tuple[float, float]:
    """Mean and standard error."""
    return fmean(values), stdev(values) / len(values) ** 0.5


def test_users_fare_as_in_ns2() -> None:
    from scipy.stats import ttest_ind

    others = [theirs(seed) for seed in NS2_SEEDS]
    scenario = tl.loads(network())
    runs = [ours(scenario, seed) for seed in SEEDS]
    for name in runs[0]:
        mine, other = [run[name] for run in runs], [run[name] for run in others]
        same = ttest_ind(mine, other, equal_var=False).pvalue
        assert same > LEVEL, f"{name}: {interval(mine)} instead of {interval(other)}"
    # The comparison means something: there are losses, and many transfers.
    assert runs[0]["loss: normal, down"] > 0.01
    assert runs[0]["transfers: fast-normal"] > 200


def test_the_stored_quantities_are_those_of_ns2() -> None:
    need("ns")
    seed = NS2_SEEDS[0]
    command = ["ns", str(DATA / "network.tcl"), *map(str, (seed, SECONDS, SOURCES, RECEIVERS))]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    counted = [line.rsplit(" ", 1) for line in printed.splitlines()]
    stored = pl.read_csv(DATA / "ns2_35.csv").select("quantity", str(seed))
    assert {name: float(value) for name, value in counted} == dict(stored.iter_rows())
