"""What came out with company: tables over the seeds."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink.analysis import trace
from tightlink.reduce import jain, largest, mean_of, smallest
from tightlink.studies.one_flow.setup.company import (
    ALONE,
    AROUND,
    BACK_S,
    COMPANY_X,
    FLOWS,
    LINK_BPS,
    LONG,
    SEEDS,
    SMALL,
    UDP_FLOWS,
    UDP_KINDS,
    UDP_PERCENT,
    extra_s,
)
from tightlink.studies.one_flow.setup.phase import EXTRA_US, KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.run import Run

_PERCENT: Final = 100
#: The document's smoothing of company X's traffic.
_KEEP_X: Final = 0.95
#: What two TCP flows of the same kind may differ by and still be called equal.
_ABOVE: Final = 110


@dataclass(frozen=True)
class Company:
    """Tables of the flows with company."""

    many: pl.DataFrame
    beside: pl.DataFrame
    udp: pl.DataFrame
    sizes: pl.DataFrame
    trips: pl.DataFrame
    curve: pl.DataFrame
    phase: pl.DataFrame

    @classmethod
    def of(cls, runs: Mapping[str, Run]) -> Company:
        """All of them."""
        return cls(
            _many_table(runs), _beside_table(runs), _udp_table(runs), _sizes_table(runs), _trips_table(runs),
            _company_x_curve(runs), _shares(runs),
        )  # fmt: skip


def _many_table(runs: Mapping[str, Run]) -> pl.DataFrame:
    """N TCP flows: fairness, loss, and the mean rate of a flow against its peak in 100 ms."""
    rows = []
    for count in FLOWS:
        own = [runs[f"many/{count}/{seed}"] for seed in SEEDS]
        peaks = [_peak_over_mean(run) for run in own]
        rows.append(
            {
                "flows": count,
                "goodput_bps": fmean(run.flows["goodput_bps"].sum() for run in own),
                "utilization": fmean(_bottleneck(run)["utilization"] for run in own),
                "loss": fmean(_loss(run) for run in own),
                "jain": fmean(jain(run.flows["goodput_bps"].to_list()) for run in own),
                "least_share": fmean(_share(run, least=True) for run in own),
                "greatest_share": fmean(_share(run, least=False) for run in own),
                "peak_over_mean": fmean(peaks),
                "link_peak_over_mean": fmean(_link_peak_over_mean(run) for run in own),
            }
        )
    return pl.DataFrame(rows)


def _beside_table(runs: Mapping[str, Run]) -> pl.DataFrame:
    """TCP beside UDP: what each gets, by what UDP offers."""
    rows = []
    for part in UDP_PERCENT:
        own = [runs[f"beside-udp/{part}/{seed}"] for seed in SEEDS]
        tcp, udp = (fmean(run.flows["throughput_bps"][flow] for run in own) for flow in (0, 1))
        lost = fmean(run.flows["packets_dropped"][1] / run.flows["packets_sent"][1] for run in own)
        rows.append({"offered_percent": part, "tcp_bps": tcp, "udp_bps": udp, "udp_loss": lost})
    return pl.DataFrame(rows)


def beside_long(beside: pl.DataFrame) -> pl.DataFrame:
    """TCP beside UDP in long form: ``offered_percent``, ``flow``, ``throughput_bps``."""
    wide = beside.rename({"tcp_bps": "TCP", "udp_bps": "UDP"})
    return wide.unpivot(["TCP", "UDP"], index="offered_percent", variable_name="flow", value_name="throughput_bps")


def _udp_table(runs: Mapping[str, Run]) -> pl.DataFrame:
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
                    "loss": fmean(_loss(run) for run in own),
                    "loss_least": fmean(min(loss) for loss in losses),
                    "loss_greatest": fmean(max(loss) for loss in losses),
                    "jain": fmean(jain(run.flows["goodput_bps"].to_list()) for run in own),
                    "link_peak_over_mean": fmean(_link_peak_over_mean(run) for run in own),
                }
            )
    return pl.DataFrame(rows)


def _sizes_table(runs: Mapping[str, Run]) -> pl.DataFrame:
    """Small packets beside large: the share of the small, predicted in proportion to the packet's size."""
    return pl.DataFrame([_pair_row(runs, "sizes", small, small / (small + 1000)) for small in SMALL])


def _trips_table(runs: Mapping[str, Run]) -> pl.DataFrame:
    """A near flow beside a far one: the share of the near, predicted in inverse proportion to the round trips."""
    rows = []
    for times in LONG:
        near, far = (
            fmean(runs[f"round-trips/{times}/{seed}"].flows["one_way_delay_mean_s"][flow] for seed in SEEDS) + back
            for flow, back in ((0, BACK_S), (1, BACK_S + extra_s(times)))
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


def _company_x_curve(runs: Mapping[str, Run]) -> pl.DataFrame:
    """Smoothed instant and system throughput of the network with seldom and fast sources."""
    trips = trace.journeys(runs[COMPANY_X].packets, to="gateway")
    return trace.throughput(trips, start_s=0, keep=_KEEP_X)


def values(company: Company, runs: Mapping[str, Run]) -> dict[str, object]:
    """What claims compare, by name."""
    constant = company.udp.filter(pl.col("kind") == "constant")
    above = company.beside.filter(pl.col("offered_percent") > _ABOVE)
    alone, noise = spreads(company.phase)
    network = runs[COMPANY_X]
    return {
        "company.udp_utilization_least": smallest(constant["utilization"]),
        "company.udp_losses": _percents(constant["loss"]),
        "company.tcp_share_most": largest(above["tcp_bps"]) / LINK_BPS,
        **{f"around.{kind}_bps": fmean(_goodput(runs, f"around/{kind}/{seed}") for seed in SEEDS) for kind in AROUND},
        **{f"alone.{kind}_s": _whole_s(runs[f"alone/{kind}"]) for kind in ALONE},
        "company.loss_of_1": company.many["loss"][0],
        "company.loss_of_20": company.many["loss"][-1],
        "company.small_share": company.sizes["share"][0],
        "company.far_share": 1 - company.trips["share"][-1],
        "company-x.peak_bps": largest(company.curve["smoothed_bps"]),
        "company-x.system_bps": float(company.curve["system_bps"][-1]),
        "company-x.utilization": network.links["utilization"][0],
        "company-x.dropped": network.flows["packets_dropped"].sum(),
        "phase.alone_least": alone[0],
        "phase.alone_most": alone[1],
        "phase.noise_least": noise[0],
        "phase.noise_most": noise[1],
    }


def _shares(runs: Mapping[str, Run]) -> pl.DataFrame:
    """The second flow's share of what both got through."""
    rows = []
    for kind, words in KINDS.items():
        for extra in EXTRA_US:
            goodput = runs[f"phase/{kind}/{extra}"].flows["goodput_bps"]
            rows.append({"kind": words, "extra_ms": 2 * extra / 1e3, "share": goodput[1] / (goodput[0] + goodput[1])})
    return pl.DataFrame(rows)


def spreads(frame: pl.DataFrame) -> tuple[tuple[float, float], ...]:
    """Least and greatest share of the second flow, alone and beside random traffic."""
    spreads = []
    for words in KINDS.values():
        share = frame.filter(pl.col("kind") == words)["share"]
        spreads.append((smallest(share), largest(share)))
    return tuple(spreads)


def _percents(shares: pl.Series) -> str:
    least, *_, greatest = sorted(round(_PERCENT * share) for share in shares)
    return f"{least} %" if least == greatest else f"{least} to {greatest} %"


def _goodput(runs: Mapping[str, Run], name: str) -> float:
    return float(runs[name].flows["goodput_bps"].sum())


def _whole_s(run: Run) -> float:
    """When the hundredth packet of a file has come; the packet that opens a connection is none of it."""
    came = trace.journeys(run.packets, to="client").filter(pl.col("size_bytes") >= 1000)
    return float(came["arrived_s"][99])


def _bottleneck(run: Run) -> dict[str, Any]:
    return run.links.row(by_predicate=pl.col("link") == "net.bottleneck", named=True)


def _share(run: Run, *, least: bool) -> float:
    goodput: list[float] = run.flows["goodput_bps"].to_list()
    return (min(goodput) if least else max(goodput)) / sum(goodput)


def _loss(run: Run) -> float:
    dropped, sent = (int(run.flows[column].sum()) for column in ("packets_dropped", "packets_sent"))
    return dropped / sent


def _losses(run: Run) -> list[float]:
    return [float(value) for value in (run.flows["packets_dropped"] / run.flows["packets_sent"]).to_list()]


def _peak_over_mean(run: Run) -> float:
    """The mean over the flows of a flow's greatest throughput in 100 ms over its mean."""
    own = run.series.filter(pl.col("metric") == "throughput_bps").group_by("entity", maintain_order=True)
    peaks = own.agg(peak=pl.col("value").max(), mean=pl.col("value").mean())
    return mean_of(peaks["peak"] / peaks["mean"])


def _link_peak_over_mean(run: Run) -> float:
    own = run.series.filter((pl.col("metric") == "utilization") & (pl.col("entity") == "net.bottleneck"))["value"]
    values: list[float] = own.to_list()
    return max(values) / fmean(values)
