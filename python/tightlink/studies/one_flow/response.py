"""TCP against the response functions of Mathis and of Padhye et al. (PFTK), at random and at forced loss."""

from __future__ import annotations

import math
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from tightlink.analysis.response import C_DELAYED, C_EVERY, fitted_c, mathis, pftk
from tightlink.experiment.claims import Claim, holds_if, within
from tightlink.experiment.execute import Task
from tightlink.reduce import largest
from tightlink.report import Chart, Format, Section, Table, Text, charts
from tightlink.scenario import Bulk, Link, Reverse, Scenario, Tcp
from tightlink.studies.one_flow.cases import DOCUMENT, RECEIVER, SENDER
from tightlink.studies.words import percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tightlink.run import Run

LOSSES: Final = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
QUEUES: Final = (3, 5, 8, 12, 20, 30, 50, 80)
PAYLOADS: Final = (250, 500, 1000, 2000)
DELAYS_MS: Final = (12.5, 25.0, 50.0, 100.0)
SEEDS: Final = (1, 2, 3, 4, 5)
FEW_SEEDS: Final = (1, 2, 3)
#: Loss at which packet size and round trip are varied.
_FIXED_LOSS: Final = 0.005
#: Up to here losses are few enough for Mathis' assumptions: no timeouts.
_FEW: Final = 0.002
#: From here on timeouts rule.
_MANY: Final = 0.02
_ACK_BITS: Final = 320
#: The retransmission timer's lower bound in ns-2, above two round trips of 0.1 s.
_RTO_S: Final = 0.2
VARIANTS: Final[dict[str, dict[str, Any]]] = {
    "Reno": {"recovery": "reno"},
    "Tahoe": {"recovery": "tahoe"},
    "Reno, delayed ACKs": {"recovery": "reno", "delayed_acks": True},
}
_PLACE: Final = f"{DOCUMENT}, response function"


def scenario(
    *, rate: str = "10 Mbit/s", delay_ms: float = 50, queue: int = 1000, loss: float = 0, payload: int = 1000,
    seed: int, **settings: Any,
) -> Scenario:  # fmt: skip
    """One bulk flow with an open window over a link that loses packets at random, or at its queue."""
    back = Reverse(queue="1000 packets", loss=0)
    own = Tcp(payload=f"{payload} B", window="1000 packets", initial_ssthresh="20 packets", **settings)
    link = Link(
        ends=(SENDER, RECEIVER), rate=rate, delay=f"{delay_ms} ms", queue=f"{queue} packets", loss=loss, reverse=back
    )
    ftp = Bulk(from_=SENDER, to=RECEIVER, start="0.1 s", tcp=own)
    return Scenario(profile="ns2", duration="200 s", seed=seed, link={"bottleneck": link}, traffic={"ftp": ftp})


def tasks() -> list[Task]:
    """Random loss and queue-forced loss, and packet size and round trip at one random loss."""
    listed = [
        Task(f"response/{name}/loss-{loss}/{seed}", scenario(loss=loss, seed=seed, **settings))
        for name, settings in VARIANTS.items()
        for loss in LOSSES
        for seed in SEEDS
    ]
    for name in ("Reno", "Tahoe"):
        listed += [
            Task(
                f"response/{name}/queue-{queue}/{seed}",
                scenario(rate="2 Mbit/s", queue=queue, seed=seed, **VARIANTS[name]),
            )
            for queue in QUEUES
            for seed in FEW_SEEDS
        ]
    for seed in FEW_SEEDS:
        listed += [
            Task(f"response/payload-{size}/{seed}", scenario(loss=_FIXED_LOSS, payload=size, seed=seed))
            for size in PAYLOADS
        ]
        listed += [
            Task(f"response/delay-{delay}/{seed}", scenario(loss=_FIXED_LOSS, delay_ms=delay, seed=seed))
            for delay in DELAYS_MS
        ]
    return listed


def points(runs: Mapping[str, Run]) -> pl.DataFrame:
    """A row for each run under random or forced loss: what was lost, and packets a round trip."""
    rows = []
    for task in tasks():
        _, variant, setting, *seeds = task.name.split("/")
        if not seeds:
            continue
        own = task.scenario.link["bottleneck"]
        flow = runs[task.name].flows.row(0, named=True)
        delay_s, rate = float((own.delay or "0").split()[0]) / 1e3, float(own.rate.split()[0]) * 1e6
        rtt_s = flow["one_way_delay_mean_s"] + delay_s + _ACK_BITS / rate
        loss = flow["packets_dropped"] / flow["packets_sent"]
        rows.append(
            {
                "variant": variant,
                "forced": "queue" if setting.startswith("queue") else "random",
                "setting": setting,
                "loss": loss,
                "packets_per_rtt": flow["goodput_bps"] * rtt_s / 8000,
                "mathis": mathis(loss, _constant(variant)),
                "pftk": pftk(loss, rtt_s=rtt_s, rto_s=_RTO_S, per_ack=2 if "delayed" in variant else 1),
                "timeouts": flow["timeouts"],
            }
        )
    return pl.DataFrame(rows)


def means(frame: pl.DataFrame) -> pl.DataFrame:
    """The mean over the seeds of each setting."""
    keys = ["forced", "variant", "setting"]
    numbers = ["loss", "packets_per_rtt", "mathis", "pftk", "timeouts"]
    return frame.group_by(keys, maintain_order=True).agg(pl.col(number).mean() for number in numbers)


def claims(runs: Mapping[str, Run]) -> Iterator[Claim]:
    """What the document says of the response function."""
    mean = means(points(runs))
    random = mean.filter(pl.col("forced") == "random")
    few = "Geometric mean of W·√p at random losses up to 0.2 %, five seeds each."
    names = (("Reno", "every", "√(3/2)", C_EVERY), ("Reno, delayed ACKs", "second", "√(3/4)", C_DELAYED))
    for variant, which, text, expected in names:
        words = "every packet is" if which == "every" else "every second packet is"
        yield within(
            f"response.c-{which}", f"C is {text} when {words} acknowledged", _PLACE, round(expected, 4),
            _fitted(random, variant), relative=0.05, reason=few,
        )  # fmt: skip
    reno = random.filter(pl.col("variant") == "Reno")
    above = largest(reno["packets_per_rtt"] / reno["mathis"])
    yield holds_if(
        "response.bound", "The function is an upper bound of TCP's throughput", _PLACE, above, above < 1.05,
        "Largest ratio of Reno's mean over seeds to C/√p; a bound on the average, single seeds exceed it.",
    )  # fmt: skip
    errors = {variant: _error(random, variant) for variant in ("Reno", "Tahoe")}
    yield holds_if(
        "response.tahoe", "It fits Reno better than Tahoe", _PLACE,
        f"off by {percent(errors['Reno'], 1)} and {percent(errors['Tahoe'], 1)}",
        errors["Tahoe"] > errors["Reno"],
        "Mean deviations of Reno and of Tahoe at random losses up to 1 %; beyond, timeouts rule both.",
    )  # fmt: skip
    payload = _slope([(size, f"payload-{size}") for size in PAYLOADS], runs)
    delay = _slope([(2 * delay + _own_ms(delay), f"delay-{delay}") for delay in DELAYS_MS], runs)
    loss = _slope_of_loss(reno)
    yield within(
        "response.mss", "The throughput is proportional to the packet size", _PLACE, 1, payload, tolerance=0.1,
        reason="Exponent, packets of 250 to 2000 B at 0.5 % loss.",
    )  # fmt: skip
    yield within(
        "response.rtt", "The throughput is inversely proportional to the round trip", _PLACE, -1, delay, tolerance=0.1,
        reason="Exponent, 25 to 200 ms at 0.5 % loss.",
    )  # fmt: skip
    yield within(
        "response.p", "The throughput is inversely proportional to p", _PLACE, -1, loss, tolerance=0.1,
        reason="A slip: its own formula says √p, exponent −0.5. Reno at losses up to 1 %.",
    )  # fmt: skip
    high = reno.filter(pl.col("loss") > _MANY)
    off = {name: fmean((high[name] / high["packets_per_rtt"]).to_list()) for name in ("mathis", "pftk")}
    yield holds_if(
        "response.pftk", "At losses above 2 % timeouts rule, which PFTK has and the document's function has not",
        "Padhye et al. 1998", f"{off['mathis']:.2f} and {off['pftk']:.2f}",
        abs(off["pftk"] - 1) < abs(off["mathis"] - 1), "What Mathis and PFTK predict, over what Reno reaches.",
    )  # fmt: skip


def curves() -> pl.DataFrame:
    """The two functions, and Mathis' for delayed ACKs."""
    losses = np.geomspace(1e-4, 0.2, 60)
    kinds: dict[str, Callable[[float], float]] = {
        "Mathis, C = √(3/2)": mathis,
        "Mathis, C = √(3/4)": lambda loss: mathis(loss, C_DELAYED),
        "PFTK": lambda loss: pftk(loss, rtt_s=0.1, rto_s=_RTO_S),
    }
    return pl.concat(
        pl.DataFrame(
            {"loss": losses, "packets_per_rtt": [curve(float(loss)) for loss in losses], "curve": [name] * len(losses)}
        )
        for name, curve in kinds.items()
    )


def section(runs: Mapping[str, Run]) -> Section:
    """The part of the report."""
    mean = means(points(runs))
    random = mean.filter(pl.col("forced") == "random")
    finding = (
        f"At random losses up to 0.2 % Reno has C = {_fitted(random, 'Reno'):.3f} (theory {C_EVERY:.3f}), with "
        f"delayed ACKs {_fitted(random, 'Reno, delayed ACKs'):.3f} ({C_DELAYED:.3f}), and Tahoe "
        f"{_fitted(random, 'Tahoe'):.3f}: less, as the document says, for each loss sends it back to slow start."
    )
    text = (
        "Points are means over seeds: five for random loss on the link (10 Mbit/s, 50 ms, no queue to speak of), "
        "three for loss at queues of 3 to 80 packets (2 Mbit/s, 50 ms). W is goodput × round trip / packet. Above 2 "
        "% the timeouts, which Mathis leaves out and PFTK counts, take over."
    )
    drawn = curves().with_columns(pl.col("loss") * 100)
    shown = mean.with_columns(pl.col("loss") * 100)
    both = [
        charts.points(
            shown.filter(pl.col("forced") == forced).drop("forced"), "loss", "packets_per_rtt", by="variant",
            curves=drawn, curve="curve", x_scale="log", y_scale="log", x_domain=(0.01, 20), y_domain=(0.8, 150),
            x_title="loss (%)",
            y_title="packets per round trip", title=title, height=380,
        )
        for forced, title in (("random", "Loss at random on the link"), ("queue", "Loss forced by the queue's length"))
    ]  # fmt: skip
    table = mean.select(
        pl.col("variant").alias("TCP"),
        pl.struct("forced", "setting").map_elements(_words, return_dtype=pl.String).alias("lost"),
        (pl.col("loss") * 100).alias("lost %"),
        pl.col("packets_per_rtt").alias("W"),
        pl.col("mathis").alias("Mathis"),
        pl.col("pftk").alias("PFTK"),
        "timeouts",
    )
    formats: dict[str, Format] = {"lost %": ".3f", "W": ".2f", "Mathis": ".2f", "PFTK": ".2f", "timeouts": ".1f"}
    charted = [Chart(chart) for chart in both]
    return Section(
        "The response function",
        finding,
        [Text(text), *charted, Table(table, "Means over seeds", formats)],
    )


def _words(setting: dict[str, str]) -> str:
    """Where packets are lost: "0.5 % on the link", "queue of 3 packets"."""
    value = setting["setting"].partition("-")[2]
    return f"queue of {value} packets" if setting["forced"] == "queue" else f"{float(value) * 100:g} % on the link"


def _constant(variant: str) -> float:
    return C_DELAYED if "delayed" in variant else C_EVERY


def _fitted(random: pl.DataFrame, variant: str) -> float:
    chosen = [f"loss-{loss}" for loss in LOSSES if loss <= _FEW]
    own = random.filter((pl.col("variant") == variant) & pl.col("setting").is_in(chosen))
    return fitted_c(own["loss"].to_list(), own["packets_per_rtt"].to_list())


def _error(random: pl.DataFrame, variant: str) -> float:
    """Mean of |W / Mathis − 1| at losses up to 1 %."""
    chosen = [f"loss-{loss}" for loss in LOSSES if loss <= 0.01]
    own = random.filter((pl.col("variant") == variant) & pl.col("setting").is_in(chosen))
    return fmean(abs(ratio - 1) for ratio in (own["packets_per_rtt"] / own["mathis"]).to_list())


def _slope(settings: list[tuple[float, str]], runs: Mapping[str, Run]) -> float:
    """The exponent with which the goodput follows a setting."""
    rates = [
        fmean(runs[f"response/{name}/{seed}"].flows["goodput_bps"][0] for seed in FEW_SEEDS) for _, name in settings
    ]
    return float(np.polyfit([math.log(value) for value, _ in settings], np.log(rates), 1)[0])


def _slope_of_loss(reno: pl.DataFrame) -> float:
    own = reno.filter(pl.col("loss") < 0.012)
    return float(np.polyfit(np.log(own["loss"].to_numpy()), np.log(own["packets_per_rtt"].to_numpy()), 1)[0])


def _own_ms(_delay: float) -> float:
    """What packet and ACK take on the 10 Mbit/s link themselves."""
    return (1040 * 8 + _ACK_BITS) / 1e4
