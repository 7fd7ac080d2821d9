"""With company, as the document announces: TCP beside TCP, TCP beside UDP, UDP beside UDP, small beside large."""

from __future__ import annotations

import random
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink.analysis import trace
from tightlink.analysis.fairness import jain
from tightlink.experiment.claims import Claim, holds_if
from tightlink.experiment.execute import Task
from tightlink.scenario import Bulk, Cbr, Dumbbell, Link, Observe, OnOff, Scenario, Tcp, Udp
from tightlink.studies.one_flow.cases import DOCUMENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tightlink.run import Run

SEEDS: Final = (1, 2, 3, 4, 5)
FLOWS: Final = (1, 2, 5, 10, 20)
UDP_PERCENT: Final = tuple(range(10, 151, 10))
UDP_FLOWS: Final = (2, 5, 10)
UDP_KINDS: Final = ("constant", "on-off")
SMALL: Final = (100, 250, 500, 1000)
LONG: Final = (1, 2, 4, 8)
COMPANY_X: Final = "company-x"
_LINK_BPS: Final = 2e6
_PERCENT: Final = 100
#: The way of an ACK over the near path.
_BACK_S: Final = 0.012
#: The document's smoothing of company X's traffic.
_KEEP_X: Final = 0.95
#: What two TCP flows of the same kind may differ by and still be called equal.
_ABOVE: Final = 110


def _net(pairs: int, **left: Any) -> dict[str, Dumbbell]:
    """The document's link as the bottleneck of hosts with fast access."""
    bottleneck = {"rate": "2 Mbit/s", "delay": "10 ms", "queue": "20 packets", "reverse": {"queue": "1000 packets"}}
    access = {"rate": "100 Mbit/s", "delay": "1 ms", "queue": "1000 packets"}
    table: dict[str, Any] = {"pairs": pairs, "bottleneck": bottleneck, "access": access}
    return {"net": Dumbbell.model_validate(table | ({"access_left": left} if left else {}))}


def _scenario(pairs: int, traffic: Mapping[str, Any], seed: int, **left: Any) -> Scenario:
    return Scenario(
        profile="ns2",
        duration="60 s",
        seed=seed,
        topology=_net(pairs, **left),
        traffic=dict(traffic),
        observe=Observe(interval="100 ms"),
    )


def _starts(count: int, seed: int) -> list[str]:
    """Within the first second, at random: flows that start together stay together."""
    draw = random.Random(seed)  # noqa: S311
    return [f"{100 + draw.uniform(0, 1000):.3f} ms" for _ in range(count)]


def _pair(index: int) -> dict[str, str]:
    return {"from_": f"net.left[{index}]", "to": f"net.right[{index}]"}


def _noise() -> dict[str, OnOff]:
    """About 1 % of random traffic, without which drop-tail's phase effects would decide."""
    small = Udp(payload="100 B")
    return {"noise": OnOff(rate="200 kbit/s", on="10 ms", off="90 ms", udp=small, **_pair(2))}


def many(count: int, seed: int) -> Scenario:
    """TCP flows with the document's settings that share its link."""
    ends = {"from_": "net.left[*]", "to": "net.right[*]"}
    return _scenario(count, {"ftp": Bulk(flows=count, start=_starts(count, seed), **ends)}, seed)


def beside_udp(percent: int, seed: int) -> Scenario:
    """One TCP flow beside UDP at a constant rate, given in percent of the link's."""
    begin, later = _starts(2, seed)
    voice = Cbr(rate=f"{percent * _LINK_BPS / _PERCENT / 1e6:g} Mbit/s", start=later, **_pair(1))
    return _scenario(2, {"ftp": Bulk(start=begin, **_pair(0)), "cbr": voice}, seed)


def unresponsive(count: int, kind: str, seed: int) -> Scenario:
    """UDP flows that offer 150 % of the link together, constant or half of the time twice as much."""
    rate = 1.5 * _LINK_BPS / count / 1e6
    ends = {"from_": "net.left[*]", "to": "net.right[*]", "flows": count, "start": _starts(count, seed)}
    flows = (
        Cbr(rate=f"{rate:g} Mbit/s", **ends)
        if kind == "constant"
        else OnOff(rate=f"{2 * rate:g} Mbit/s", on="0.5 s", off="0.5 s", **ends)
    )
    return _scenario(count, {"udp": flows}, seed)


def sizes(small: int, seed: int) -> Scenario:
    """A TCP flow of small packets beside one of 1000 B, with windows that limit neither."""
    begin, later = _starts(2, seed)
    flows: dict[str, Any] = {
        name: Bulk(start=start, tcp=Tcp(payload=f"{payload} B", window="1000 packets"), **_pair(index))
        for index, (name, payload, start) in enumerate((("small", small, begin), ("large", 1000, later)))
    }
    return _scenario(3, flows | _noise(), seed).set("duration", "200 s")


def round_trips(times: int, seed: int) -> Scenario:
    """Two TCP flows, of which one has a path so many times as long (24 ms and more)."""
    begin, later = _starts(2, seed)
    tcp = Tcp(window="1000 packets", initial_ssthresh="20 packets")
    flows: dict[str, Any] = {
        "near": Bulk(start=begin, tcp=tcp, **_pair(0)),
        "far": Bulk(start=later, tcp=tcp, **_pair(1)),
    }
    delay = ["1 ms", f"{1 + _extra_s(times) * 1e3:g} ms", "1 ms"]
    return _scenario(3, flows | _noise(), seed, delay=delay).set("duration", "200 s")


def _extra_s(times: int) -> float:
    """What makes a path of 12 ms one way so many times as long."""
    return _BACK_S * (times - 1)


def company_x() -> Scenario:
    """A 10 Mbit/s network with 20 sources that talk seldom and fast: 7 % of it on average."""
    source = OnOff(
        flows=20, from_="lan", to="gateway", rate="9 Mbit/s", on="20 ms", off="5.2 s", distribution="pareto",
        start=[f"{index} ms" for index in range(20)],
    )  # fmt: skip
    wire = Link(ends=("lan", "gateway"), rate="10 Mbit/s", delay="1 ms", queue="1000 packets")
    return Scenario(profile="ns2", duration="247 s", link={"lan": wire}, traffic={"host": source})


def tasks() -> list[Task]:
    """Every mix, with every seed."""
    listed = [Task(f"many/{count}/{seed}", many(count, seed)) for count in FLOWS for seed in SEEDS]
    listed += [Task(f"beside-udp/{part}/{seed}", beside_udp(part, seed)) for part in UDP_PERCENT for seed in SEEDS]
    listed += [
        Task(f"udp-only/{kind}-{count}/{seed}", unresponsive(count, kind, seed))
        for kind in UDP_KINDS
        for count in UDP_FLOWS
        for seed in SEEDS
    ]
    listed += [Task(f"sizes/{small}/{seed}", sizes(small, seed)) for small in SMALL for seed in SEEDS]
    listed += [Task(f"round-trips/{times}/{seed}", round_trips(times, seed)) for times in LONG for seed in SEEDS]
    return [*listed, Task(COMPANY_X, company_x(), trace=True)]


def many_table(runs: Mapping[str, Run]) -> pl.DataFrame:
    """n TCP flows: fairness, loss, and the mean rate of a flow against its peak in 100 ms."""
    rows = []
    for count in FLOWS:
        own = [runs[f"many/{count}/{seed}"] for seed in SEEDS]
        peaks = [_peak_over_mean(run) for run in own]
        rows.append(
            {
                "flows": count,
                "goodput_bps": fmean(run.flows["goodput_bps"].sum() for run in own),
                "utilization": fmean(_bottleneck(run)["utilization"] for run in own),
                "loss": fmean(run.flows["packets_dropped"].sum() / run.flows["packets_sent"].sum() for run in own),
                "jain": fmean(jain(run.flows["goodput_bps"].to_list()) for run in own),
                "least_share": fmean(_share(run, least=True) for run in own),
                "greatest_share": fmean(_share(run, least=False) for run in own),
                "peak_over_mean": fmean(peaks),
                "link_peak_over_mean": fmean(_link_peak_over_mean(run) for run in own),
            }
        )
    return pl.DataFrame(rows)


def beside_table(runs: Mapping[str, Run]) -> pl.DataFrame:
    """TCP beside UDP: what each gets, by what UDP offers."""
    rows = []
    for part in UDP_PERCENT:
        own = [runs[f"beside-udp/{part}/{seed}"] for seed in SEEDS]
        tcp, udp = (fmean(run.flows["throughput_bps"][flow] for run in own) for flow in (0, 1))
        lost = fmean(run.flows["packets_dropped"][1] / run.flows["packets_sent"][1] for run in own)
        rows.append({"offered_percent": part, "tcp_bps": tcp, "udp_bps": udp, "udp_loss": lost})
    return pl.DataFrame(rows)


def beside_long(runs: Mapping[str, Run]) -> pl.DataFrame:
    """TCP beside UDP in long form: ``offered_percent``, ``flow``, ``throughput_bps``."""
    wide = beside_table(runs).rename({"tcp_bps": "TCP", "udp_bps": "UDP"})
    return wide.unpivot(["TCP", "UDP"], index="offered_percent", variable_name="flow", value_name="throughput_bps")


def udp_table(runs: Mapping[str, Run]) -> pl.DataFrame:
    """Several UDP flows: fairness, loss, and whether the link was used."""
    rows = []
    for kind in UDP_KINDS:
        for count in UDP_FLOWS:
            own = [runs[f"udp-only/{kind}-{count}/{seed}"] for seed in SEEDS]
            losses = [_losses(run) for run in own]
            rows.append(
                {
                    "kind": kind,
                    "flows": count,
                    "utilization": fmean(_bottleneck(run)["utilization"] for run in own),
                    "loss": fmean(run.flows["packets_dropped"].sum() / run.flows["packets_sent"].sum() for run in own),
                    "loss_least": fmean(min(loss) for loss in losses),
                    "loss_greatest": fmean(max(loss) for loss in losses),
                    "jain": fmean(jain(run.flows["goodput_bps"].to_list()) for run in own),
                    "link_peak_over_mean": fmean(_link_peak_over_mean(run) for run in own),
                }
            )
    return pl.DataFrame(rows)


def sizes_table(runs: Mapping[str, Run]) -> pl.DataFrame:
    """Small packets beside large: the share of the small, predicted in proportion to the packet's size."""
    return pl.DataFrame([_pair_row(runs, "sizes", small, small / (small + 1000)) for small in SMALL])


def trips_table(runs: Mapping[str, Run]) -> pl.DataFrame:
    """A near flow beside a far one: the share of the near, predicted in inverse proportion to the round trips."""
    rows = []
    for times in LONG:
        near, far = (
            fmean(runs[f"round-trips/{times}/{seed}"].flows["latency_mean_s"][flow] for seed in SEEDS) + back
            for flow, back in ((0, _BACK_S), (1, _BACK_S + _extra_s(times)))
        )
        rows.append(_pair_row(runs, "round-trips", times, far / (near + far)))
    return pl.DataFrame(rows)


def _pair_row(runs: Mapping[str, Run], part: str, setting: int, predicted: float) -> dict[str, Any]:
    shares = []
    for seed in SEEDS:
        goodput = runs[f"{part}/{setting}/{seed}"].flows["goodput_bps"]
        shares.append(goodput[0] / (goodput[0] + goodput[1]))
    row = {"setting": setting, "share": fmean(shares), "share_least": min(shares), "share_greatest": max(shares)}
    return row | {"predicted": predicted}


def company_x_curve(runs: Mapping[str, Run]) -> pl.DataFrame:
    """Smoothed instant and system throughput of the network with seldom and fast sources."""
    trips = trace.journeys(runs[COMPANY_X].packets, to="gateway")
    return trace.throughput(trips, start_s=0, keep=_KEEP_X)


def claims(runs: Mapping[str, Run]) -> Iterator[Claim]:
    """What the document says of flows that compete."""
    place = f"{DOCUMENT}, company X"
    udp = udp_table(runs)
    constant = udp.filter(pl.col("kind") == "constant")
    least = float(constant["utilization"].min())  # type: ignore[arg-type]
    yield holds_if(
        "company.aggressive", "Many aggressive flows make the system throughput much lower", place, least, least < 0.8,  # noqa: PLR2004
        "Least utilization of the link under constant UDP at 150 %: it is full. What suffers is the flows, which lose "
        f"{_percents(constant['loss'])} of their packets, and TCP beside them.",
    )  # fmt: skip
    beside = beside_table(runs)
    starved = float(beside.filter(pl.col("offered_percent") > _ABOVE)["tcp_bps"].max()) / _LINK_BPS  # type: ignore[arg-type]
    yield holds_if(
        "company.tcp-beside-udp", "Flows without congestion control leave TCP no chance", place, starved,
        starved < 0.05, "TCP's greatest share of the link beside UDP at 120 to 150 %.",  # noqa: PLR2004
    )  # fmt: skip
    place = f"{DOCUMENT}, response function"
    small, far = sizes_table(runs)["share"][0], 1 - trips_table(runs)["share"][-1]
    yield holds_if(
        "company.small-packets", "Small packets are at a disadvantage beside large ones", place, small, small < 0.25,  # noqa: PLR2004
        f"Share of the flow with packets of {SMALL[0]} B beside one with 1000 B.",
    )  # fmt: skip
    yield holds_if(
        "company.long-round-trips", "Connections with longer round trips are at a disadvantage", place, far, far < 0.4,  # noqa: PLR2004
        f"Share of the flow whose path is {LONG[-1]} times as long.",
    )  # fmt: skip
    curve, load = company_x_curve(runs), runs[COMPANY_X].links["utilization"][0]
    peak, mean = float(curve["smoothed_bps"].max()), float(curve["system_bps"][-1])  # type: ignore[arg-type]
    yield holds_if(
        "company.peaks", "Peaks near the link's rate beside a system throughput below a tenth of them mean congestion", place,
        f"peaks of {peak / 1e3:.0f} kbit/s, system throughput {mean / 1e3:.0f} kbit/s", load > 0.5,  # noqa: PLR2004
        f"Here 20 sources that talk seldom give the same picture on a link that is busy {load * 100:.1f} % of the time and "
        f"loses {runs[COMPANY_X].flows['packets_dropped'].sum()} packets: the ratio shows idle time.",
    )  # fmt: skip


def _percents(shares: pl.Series) -> str:
    values = sorted(shares.to_list())
    return f"{values[0] * _PERCENT:.0f} to {values[-1] * _PERCENT:.0f} %"


def _bottleneck(run: Run) -> dict[str, Any]:
    return run.links.row(by_predicate=pl.col("link") == "net.bottleneck", named=True)


def _share(run: Run, *, least: bool) -> float:
    goodput = run.flows["goodput_bps"]
    return float((goodput.min() if least else goodput.max()) / goodput.sum())  # type: ignore[operator]


def _losses(run: Run) -> list[float]:
    return [float(value) for value in (run.flows["packets_dropped"] / run.flows["packets_sent"]).to_list()]


def _peak_over_mean(run: Run) -> float:
    """The mean over the flows of a flow's greatest throughput in 100 ms over its mean."""
    own = run.series.filter(pl.col("metric") == "throughput_bps").group_by("entity", maintain_order=True)
    peaks = own.agg(peak=pl.col("value").max(), mean=pl.col("value").mean())
    return float((peaks["peak"] / peaks["mean"]).mean())  # type: ignore[arg-type]


def _link_peak_over_mean(run: Run) -> float:
    own = run.series.filter((pl.col("metric") == "utilization") & (pl.col("entity") == "net.bottleneck"))["value"]
    return float(own.max() / own.mean())  # type: ignore[operator]
