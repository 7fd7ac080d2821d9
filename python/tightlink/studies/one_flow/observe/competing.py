"""What came out of flows that share the link: tables over the seeds."""

from collections.abc import Callable, Mapping
from statistics import fmean
from typing import Final

import numpy as np
import polars as pl

from tightlink import units
from tightlink.analysis.estimates import power_law
from tightlink.analysis.path.response import C_DELAYED, C_EVERY, fitted_c, mathis, pftk
from tightlink.analysis.traffic import trace
from tightlink.diagnosis.words import between
from tightlink.experiment.precision import half_width
from tightlink.reduce import jain, largest, mean_of, samples, smallest
from tightlink.run import Run
from tightlink.studies.cases import Cases
from tightlink.studies.one_flow import setup

KINDS: Final = {"alone": "two flows alone", "noise": "beside a little random traffic"}
#: The document's smoothing of company X's traffic.
_KEEP_X: Final = 0.95
#: What two TCP flows of the same kind may differ by and still be called equal.
_ABOVE: Final = 110
_BOTTLENECK: Final = "net.bottleneck"


def tables(runs: Mapping[str, Run]) -> dict[str, pl.DataFrame]:
    """Tables of the flows that share the link, means over seeds.

    What flows get: of ``many`` TCP flows, of TCP ``beside`` UDP, of several of ``udp``. The share of the small packets
    beside large ones (``sizes``), of the near flow beside a far one (``trips``), and of the second of two (``phase``).
    The throughput over time of the network with seldom and fast sources (``curve``).
    """
    trips = trace.journeys(runs[setup.COMPANY_X].packets, to="gateway")
    return {
        "many": setup.MANY.table(runs, _many, over="seed"),
        "beside": setup.BESIDE_UDP.table(runs, _beside, over="seed"),
        "udp": setup.UDP_ONLY.table(runs, _udp, over="seed"),
        "sizes": _pairs(runs, setup.SIZES, lambda small, _: small / (small + 1000)),
        "trips": _pairs(runs, setup.ROUND_TRIPS, _share_of_near),
        "curve": trace.throughput(trips, start_s=0, keep=_KEEP_X),
        "phase": setup.PHASE.table(runs, _second_share).select(
            kind=pl.col("kind").replace(KINDS), extra_ms=2 * pl.col("extra_us") / 1e3, share="share"
        ),
    }


def _shared(run: Run, flows: pl.DataFrame) -> dict[str, float]:
    """How flows use a link, and how evenly; its greatest utilization in 100 ms over the mean."""
    used = samples(run.series, "utilization", _BOTTLENECK)["value"].to_list()
    return {
        "utilization": run.links.row(by_predicate=pl.col("link") == _BOTTLENECK, named=True)["utilization"],
        "loss": int(flows["packets_dropped"].sum()) / int(flows["packets_sent"].sum()),
        "jain": jain(flows["goodput_bps"].to_list()),
        "link_peak_over_mean": max(used) / fmean(used),
    }


def _many(run: Run) -> dict[str, float]:
    goodput: list[float] = run.flows["goodput_bps"].to_list()
    return _shared(run, run.flows) | {
        "goodput_bps": float(run.flows["goodput_bps"].sum()),
        "least_share": min(goodput) / sum(goodput),
        "greatest_share": max(goodput) / sum(goodput),
        "peak_over_mean": _peak_over_mean(run),
    }


def _beside(run: Run) -> dict[str, float]:
    tcp, udp = run.flows["throughput_bps"][:2]
    return {"tcp_bps": tcp, "udp_bps": udp, "udp_loss": _losses(run.flows)[1]}


def _udp(run: Run) -> dict[str, float]:
    # Random traffic beside them is no part of it.
    own = run.flows.filter(pl.col("label") != "noise")
    losses = _losses(own)
    return _shared(run, own) | {"loss_least": min(losses), "loss_greatest": max(losses)}


def _second_share(run: Run) -> dict[str, float]:
    # Others beside the two are no part of it.
    first, second = run.flows["goodput_bps"][:2]
    return {"share": second / (first + second)}


def beside_long(beside: pl.DataFrame) -> pl.DataFrame:
    """TCP beside UDP in long form: ``offered_percent``, ``flow``, ``throughput_bps``."""
    wide = beside.rename({"tcp_bps": "TCP", "udp_bps": "UDP"})
    return wide.unpivot(["TCP", "UDP"], index="offered_percent", variable_name="flow", value_name="throughput_bps")


def _share_of_near(times: int, own: list[Run]) -> float:
    near, far = (
        fmean(run.flows["one_way_delay_mean_s"][flow] for run in own) + back
        for flow, back in ((0, setup.BACK_S), (1, setup.BACK_S + setup.extra_s(times)))
    )
    return far / (near + far)


def _pairs(runs: Mapping[str, Run], cases: Cases, predicted: Callable[[int, list[Run]], float]) -> pl.DataFrame:
    """The first flow's share of what two get, for each setting, over seeds."""
    rows = []
    for setting in cases.levels["setting"]:
        own = cases.of(runs, setting=setting)
        shares = [first / (first + second) for first, second in (run.flows["goodput_bps"][:2] for run in own)]
        rows.append((setting, fmean(shares), min(shares), max(shares), predicted(setting, own)))
    names = ["setting", "share", "share_least", "share_greatest", "predicted"]
    return pl.DataFrame(rows, schema=names, orient="row")


def values(competing: Mapping[str, pl.DataFrame], runs: Mapping[str, Run]) -> dict[str, object]:
    """What claims compare, by name."""
    constant = competing["udp"].filter(pl.col("kind") == "constant")
    lost = (f"{round(100 * share(constant['loss']))} %" for share in (smallest, largest))
    above = competing["beside"].filter(pl.col("offered_percent") > _ABOVE)
    network = runs[setup.COMPANY_X]
    return {
        "competing.constant": constant,
        "competing.udp_losses": between(*lost),
        "competing.random": competing["udp"].filter(pl.col("kind") != "constant"),
        "competing.tcp_share_most": largest(above["tcp_bps"]) / setup.LINK_BPS,
        **{
            f"around.{kind}_bps": fmean(run.flows["goodput_bps"].sum() for run in setup.AROUND.of(runs, kind=kind))
            for kind in setup.AROUND.levels["kind"]
        },
        **{f"alone.{kind}_s": _whole_s(runs[f"alone/{kind}"]) for kind in setup.ALONE.levels["kind"]},
        "company-x.utilization": network.links["utilization"][0],
        "company-x.dropped": network.flows["packets_dropped"].sum(),
        **{f"phase.{kind}": competing["phase"].filter(pl.col("kind") == words) for kind, words in KINDS.items()},
    }


def _whole_s(run: Run) -> float:
    """When the hundredth packet of a file has come; the packet that opens a connection is none of it."""
    came = trace.journeys(run.packets, to="client").filter(pl.col("size_bytes") >= 1000)
    return float(came["arrived_s"][99])


def _losses(flows: pl.DataFrame) -> list[float]:
    return (flows["packets_dropped"] / flows["packets_sent"]).to_list()


def _peak_over_mean(run: Run) -> float:
    """The mean over the flows of a flow's greatest throughput in 100 ms over its mean."""
    own = run.series.filter(pl.col("metric") == "throughput_bps").group_by("entity", maintain_order=True)
    peaks = own.agg(peak=pl.col("value").max(), mean=pl.col("value").mean())
    return mean_of(peaks["peak"] / peaks["mean"])


# TCP against the response functions of Mathis and of Padhye et al. (PFTK), at random and at forced loss.

#: Up to here losses are few enough for Mathis' assumptions: no timeouts.
_FEW: Final = 0.002
#: Runs with a loss of 1 % lose a little more or less.
_ABOUT_ONE_PERCENT: Final = 0.012
#: From here on timeouts rule.
_MANY: Final = 0.02
_ACK_BITS: Final = 320
#: The retransmission timer's lower bound in ns-2, above two round trips of 0.1 s.
_RTO_S: Final = 0.2


def points(runs: Mapping[str, Run]) -> pl.DataFrame:
    """A row for each run under random or forced loss: what was lost, and packets a round trip."""
    return pl.concat(
        _points(cases, runs).with_columns(forced=pl.lit(forced))
        for forced, cases in (("random", setup.RANDOM), ("queue", setup.FORCED))
    )


def _points(cases: Cases, runs: Mapping[str, Run]) -> pl.DataFrame:
    rows = []
    for task, run in zip(cases.tasks(), cases.of(runs), strict=True):
        own = task.scenario.link["bottleneck"]
        _, variant, setting, _ = task.name.split("/")
        flow = run.flows.row(0, named=True)
        delay_s, rate = units.time(own.delay or "0 s"), units.rate(own.rate)
        rtt_s = flow["one_way_delay_mean_s"] + delay_s + _ACK_BITS / rate
        loss = flow["packets_dropped"] / flow["packets_sent"]
        c, per_ack = (C_DELAYED, 2) if "delayed" in variant else (C_EVERY, 1)
        laws = mathis(loss, c), pftk(loss, rtt_s=rtt_s, rto_s=_RTO_S, per_ack=per_ack)
        window = flow["goodput_bps"] * rtt_s / 8000
        rows.append((variant, setting, loss, window, *laws, flow["timeouts"]))
    names = ["variant", "setting", "loss", "packets_per_rtt", "mathis", "pftk", "timeouts"]
    return pl.DataFrame(rows, schema=names, orient="row")


def means(frame: pl.DataFrame) -> pl.DataFrame:
    """The mean over the seeds of each setting."""
    keys = ["forced", "variant", "setting"]
    numbers = ["loss", "packets_per_rtt", "mathis", "pftk", "timeouts"]
    return frame.group_by(keys, maintain_order=True).agg(pl.col(number).mean() for number in numbers)


def response_values(found: pl.DataFrame, runs: Mapping[str, Run]) -> dict[str, object]:
    """What claims compare, by name, of `points`."""
    mean = means(found)
    random = mean.filter(pl.col("forced") == "random")
    reno = random.filter(pl.col("variant") == "Reno")
    few, high = reno.filter(pl.col("loss") < _ABOUT_ONE_PERCENT), reno.filter(pl.col("loss") > _MANY)
    sizes = {size: setup.PAYLOADS.of(runs, payload=size) for size in setup.PAYLOADS.levels["payload"]}
    # Packet and ACK take their time on the 10 Mbit/s link themselves, too.
    own_ms = (1040 * 8 + _ACK_BITS) / 1e4
    trips = {2 * delay + own_ms: setup.DELAYS.of(runs, delay=delay) for delay in setup.DELAYS.levels["delay"]}
    return {
        "response.c_every": fitted(random, "Reno"),
        "response.c_second": fitted(random, "Reno, delayed ACKs"),
        **_bound(_points(setup.FEWEST, runs)),
        "response.off_reno": _error(random, "Reno"),
        "response.off_tahoe": _error(random, "Tahoe"),
        "response.exponent_of_size": _exponent(sizes),
        "response.exponent_of_rtt": _exponent(trips),
        "response.exponent_of_loss": power_law(few["loss"].to_numpy(), few["packets_per_rtt"].to_numpy())[0],
        "response.mathis_over_reno": fmean((high["mathis"] / high["packets_per_rtt"]).to_list()),
        "response.pftk_over_reno": fmean((high["pftk"] / high["packets_per_rtt"]).to_list()),
    }


def _bound(found: pl.DataFrame) -> dict[str, object]:
    """The mean of Reno over Mathis' function at one loss, with its interval of 95 %."""
    ratio = found["packets_per_rtt"] / found["mathis"]
    mean, reach = mean_of(ratio), half_width(ratio.to_list())
    return {
        "response.bound_seeds": ratio.len(),
        "response.over_mathis": mean,
        "response.over_mathis_low": mean - reach,
        "response.over_mathis_high": mean + reach,
    }


def curves() -> pl.DataFrame:
    """The two functions, and Mathis' for delayed ACKs."""
    losses = np.geomspace(1e-4, 0.2, 60)
    kinds: dict[str, Callable[[float], float]] = {
        "Mathis, C = √(3/2)": mathis,
        "Mathis, C = √(3/4)": lambda loss: mathis(loss, C_DELAYED),
        "PFTK": lambda loss: pftk(loss, rtt_s=0.1, rto_s=_RTO_S),
    }
    return pl.concat(
        pl.DataFrame({"loss": losses, "packets_per_rtt": [*map(curve, losses.tolist())], "curve": name})
        for name, curve in kinds.items()
    )


def fitted(random: pl.DataFrame, variant: str) -> float:
    """C of a variant, at few losses."""
    own = _up_to(random, variant, _FEW)
    return fitted_c(own["loss"].to_list(), own["packets_per_rtt"].to_list())


def _error(random: pl.DataFrame, variant: str) -> float:
    """Mean of |W / Mathis − 1| at losses up to 1 %."""
    own = _up_to(random, variant, 0.01)
    return fmean(abs(ratio - 1) for ratio in (own["packets_per_rtt"] / own["mathis"]).to_list())


def _up_to(random: pl.DataFrame, variant: str, most: float) -> pl.DataFrame:
    """The rows of a variant whose losses are few."""
    chosen = [f"loss-{loss}" for loss in setup.RANDOM.levels["loss"] if loss <= most]
    return random.filter((pl.col("variant") == variant) & pl.col("setting").is_in(chosen))


def _exponent(runs: Mapping[float, list[Run]]) -> float:
    """With which the goodput follows a setting."""
    rates = [fmean(run.flows["goodput_bps"][0] for run in own) for own in runs.values()]
    return power_law(list(runs), rates)[0]
