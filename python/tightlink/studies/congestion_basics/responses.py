"""Response functions: the mean window at a given share of lost packets, beside formulas and laws."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink.analysis import response_laws
from tightlink.analysis.response import C_DELAYED, mathis
from tightlink.analysis.response_laws import mean_window
from tightlink.experiment.execute import Task
from tightlink.studies.congestion_basics.document import FLOW, LINK, PAYLOAD_BYTES, scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tightlink.run import Run
    from tightlink.scenario import Scenario

RTT_S: Final = 0.1
#: Shares of packets lost, with the seeds and the losses of a run: the rarer they are, the more packets they take.
LOSSES: Final[dict[float, tuple[int, int]]] = {
    1e-2: (3, 2000), 1e-3: (3, 2000), 1e-4: (3, 600), 1e-5: (3, 40), 1e-6: (3, 8),
}  # fmt: skip
#: Up to here a loss causes no timeout, and windows are above those at which all controls are Reno.
FEW: Final = 1e-3
#: Losses of a law from which its mean window is taken: as many as take no longer than the runs.
_LAW_LOSSES: Final[dict[float, int]] = {1e-2: 8000, 1e-3: 8000, 1e-4: 6000, 1e-5: 3000, 1e-6: 1000}
_SAMPLES: Final = 40
#: Samples that count: the beginning is where the window comes from.
_SETTLED: Final = 8


@dataclass(frozen=True)
class Curve:
    """A control, the formula of its source, and the law that it follows."""

    name: str
    congestion: Any
    formula: Callable[[float], float]
    """Packets per round trip at a loss."""
    source: str
    law: Callable[[], response_laws.Law]
    range: tuple[float, float] = (1e-6, FEW)
    """Losses at which the formula is meant to hold."""
    tcp: dict[str, Any] = field(default_factory=dict)
    profile: str = "rfc"
    reason: str = ""
    """Why its level is not the formula's, if that is not the losses at random."""

    @property
    def losses(self) -> list[float]:
        """Those that are simulated."""
        return [loss for loss in LOSSES if loss >= 0.99 * self.range[0]]


def _highspeed(loss: float) -> float:
    return float(0.12 / loss**0.835)


def _scalable(loss: float) -> float:
    """An epoch of 1 / p packets grows by a packet per hundred, to 8/7 of where it began: ln(8/7) / a round trips."""
    law = response_laws.Scalable()
    return law.a / (loss * math.log(1 / (1 - law.b)))


def _cubic(loss: float) -> float:
    law = response_laws.Cubic()
    constant = (law.c * (3 + law.beta) / (4 * (1 - law.beta))) ** 0.25
    return float(constant * (RTT_S / loss) ** 0.75)


def _periodic(law: Callable[[], response_laws.Law]) -> Callable[[float], float]:
    return cache(lambda loss: mean_window(law(), loss, rtt_s=RTT_S, losses=100))


CURVES: Final = (
    Curve("reno", "reno", mathis, "Mathis et al. 1997: √(3/2) / √p", response_laws.Reno),
    Curve(
        "reno-delayed-ns2", "reno", lambda loss: mathis(loss, C_DELAYED), "Mathis et al. 1997: √(3/4) / √p",
        lambda: response_laws.Reno(packets_per_ack=2), (1e-5, FEW), {"delayed_acks": True}, "ns2",
    ),
    Curve(
        "reno-delayed-rfc", "reno", lambda loss: mathis(loss, C_DELAYED), "Mathis et al. 1997: √(3/4) / √p",
        response_laws.Reno, (1e-5, FEW), {"delayed_acks": True},
        reason="Mathis' constant is for a window that grows with every ACK. Profile rfc grows it with what an ACK "
        "acknowledges (RFC 5681 §3.1, RFC 3465): delayed ACKs cost nothing, and √(3/2) / √p is the formula.",
    ),
    Curve("highspeed", "highspeed", _highspeed, "RFC 3649 §5: 0.12 / p^0.835", response_laws.HighSpeed,
          range=(1e-6, 1e-4)),
    Curve("scalable", "scalable", _scalable, "Kelly 2003: a / (p ln(1 / (1 − b))) = 0.0749 / p",
          response_laws.Scalable),
    Curve("htcp", {"kind": "htcp", "bandwidth_switch": False}, _periodic(response_laws.HTcp),
          "draft-leith-tcp-htcp-06: the rules, with losses at equal distances", response_laws.HTcp, range=(1e-6, 1e-4)),
    Curve("bic", "bic", _periodic(response_laws.Bic),
          "Xu, Harfoush, Rhee 2004: the rules, with losses at equal distances", response_laws.Bic, range=(1e-6, 1e-4)),
    Curve("cubic", "cubic", _cubic, "RFC 9438 §5.1: 1.054 C^¼ RTT^¾ / p^¾ at C = 1; here C = 0.4",
          response_laws.Cubic, range=(1e-6, 1e-4)),
)  # fmt: skip


@cache
def at_random(name: str, loss: float) -> float:
    """What a control's law gives where every packet is lost by itself."""
    return mean_window(next(curve for curve in CURVES if curve.name == name).law(), loss, rtt_s=RTT_S,
                       losses=_LAW_LOSSES[loss], seed=1)  # fmt: skip


def tasks() -> list[Task]:
    """Every control at every loss."""
    return [
        Task(_name(curve, loss, seed), _scenario(curve, loss, losses, seed))
        for curve in CURVES
        for loss in curve.losses
        for seed, losses in _seeds(loss)
    ]


def _seeds(loss: float) -> list[tuple[int, int]]:
    """Seeds, with the number of losses of each run."""
    seeds, losses = LOSSES[loss]
    return [(seed, losses) for seed in range(1, seeds + 1)]


def _scenario(curve: Curve, loss: float, losses: int, seed: int) -> Scenario:
    begin = at_random(curve.name, loss)
    duration = losses / loss * RTT_S / begin
    return scenario(
        "1 Tbit/s", RTT_S * 1e3, "unlimited", round(duration, 3), loss=loss, seed=seed,
        interval_s=round(duration / _SAMPLES, 6), congestion=curve.congestion,
        profile=curve.profile, initial_window=f"{max(2, round(begin))} packets", initial_ssthresh="2 packets",
        rto={"min": "200 ms"}, recovery="sack", payload=f"{PAYLOAD_BYTES} B", **curve.tcp,
    )  # fmt: skip


def points(runs: Mapping[str, Run]) -> pl.DataFrame:
    """Packets per round trip of each run after its beginning, beside formula and law at the loss that it had.

    That differs from the loss of the link, ``set``, by chance, and the window with it.
    """
    rows = []
    for curve in CURVES:
        for loss in curve.losses:
            for seed, losses in _seeds(loss):
                had, window = _measured(runs[_name(curve, loss, seed)])
                formula = curve.formula(had)
                law = at_random(curve.name, loss) * formula / curve.formula(loss)
                rows.append((curve.name, loss, seed, had, window, formula, law, losses))
    names = ["control", "set", "seed", "loss", "packets_per_rtt", "formula", "law", "losses"]
    return pl.DataFrame(rows, schema=names, orient="row")


def _measured(run: Run) -> tuple[float, float]:
    """Share of packets lost and packets per round trip, after the beginning."""
    goodput = _samples(run, FLOW, "goodput_bps")
    step_s = float(run.series["time_s"].unique().sort().diff().drop_nulls()[0])
    arrived = sum(goodput) * step_s / (8 * PAYLOAD_BYTES)
    dropped = sum(_samples(run, LINK, "packets_dropped"))
    return dropped / (arrived + dropped), fmean(goodput) * RTT_S / (8 * PAYLOAD_BYTES)


def _samples(run: Run, entity: str, metric: str) -> list[float]:
    chosen = (pl.col("entity") == entity) & (pl.col("metric") == metric)
    return run.series.filter(chosen).sort("time_s")["value"].to_list()[_SETTLED:]


def _name(curve: Curve, loss: float, seed: int) -> str:
    return f"response/{curve.name}/{loss:g}/{seed}"
