"""Response functions: controls at given shares of lost packets, with their formulas and their rules as laws."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from tightlink.analysis import response_laws
from tightlink.analysis.response import C_DELAYED, mathis
from tightlink.analysis.response_laws import mean_window
from tightlink.experiment.execute import Task
from tightlink.studies.congestion_basics.setup.network import PAYLOAD_BYTES, scenario

if TYPE_CHECKING:
    from collections.abc import Callable

    from tightlink.scenario import Scenario

RTT_S: Final = 0.1
#: Shares of packets lost, with the seeds and the losses of a run: the rarer they are, the more packets they take.
LOSSES: Final[dict[float, tuple[int, int]]] = {
    1e-2: (3, 2000), 1e-3: (3, 2000), 1e-4: (3, 600), 1e-5: (3, 40), 1e-6: (3, 8),
}  # fmt: skip
#: Up to here a loss causes no timeout, and windows are above those at which all controls are Reno.
FEW: Final = 1e-3
#: Losses of a law from which its mean window is taken: as many as take no longer than the runs.
LAW_LOSSES: Final[dict[float, int]] = {1e-2: 8000, 1e-3: 8000, 1e-4: 6000, 1e-5: 3000, 1e-6: 1000}
_SAMPLES: Final = 40


@dataclass(frozen=True)
class Curve:
    """A control, the formula of its source, and the law that it follows."""

    name: str
    congestion: Any
    formula: Callable[[float], float]
    """Packets per round trip at a loss."""
    law: Callable[[], response_laws.Law]
    range: tuple[float, float] = (1e-6, FEW)
    """Losses at which the formula is meant to hold."""
    tcp: dict[str, Any] = field(default_factory=dict)
    profile: str = "rfc"

    @property
    def losses(self) -> list[float]:
        """Those that are simulated."""
        return [loss for loss in LOSSES if loss >= 0.99 * self.range[0]]

    @property
    def exponent(self) -> float:
        """Of the loss in the formula, over the range where it is no power of the loss itself."""
        low, high = self.range
        return round(math.log(self.formula(high) / self.formula(low)) / math.log(high / low), 4)


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
    Curve("reno", "reno", mathis, response_laws.Reno),
    Curve(
        "reno-delayed-ns2", "reno", lambda loss: mathis(loss, C_DELAYED),
        lambda: response_laws.Reno(packets_per_ack=2), (1e-5, FEW), {"delayed_acks": True}, "ns2",
    ),
    Curve(
        "reno-delayed-rfc", "reno", lambda loss: mathis(loss, C_DELAYED), response_laws.Reno, (1e-5, FEW),
        {"delayed_acks": True},
    ),
    Curve("highspeed", "highspeed", _highspeed, response_laws.HighSpeed, (1e-6, 1e-4)),
    Curve("scalable", "scalable", _scalable, response_laws.Scalable),
    Curve("htcp", {"kind": "htcp", "bandwidth_switch": False}, _periodic(response_laws.HTcp), response_laws.HTcp,
          (1e-6, 1e-4)),
    Curve("bic", "bic", _periodic(response_laws.Bic), response_laws.Bic, (1e-6, 1e-4)),
    Curve("cubic", "cubic", _cubic, response_laws.Cubic, (1e-6, 1e-4)),
)  # fmt: skip


@cache
def at_random(name: str, loss: float) -> float:
    """What a control's law gives where every packet is lost by itself."""
    return mean_window(next(curve for curve in CURVES if curve.name == name).law(), loss, rtt_s=RTT_S,
                       losses=LAW_LOSSES[loss], seed=1)  # fmt: skip


def tasks() -> list[Task]:
    """Every control at every loss."""
    return [
        Task(name(curve, loss, seed), _scenario(curve, loss, losses, seed))
        for curve in CURVES
        for loss in curve.losses
        for seed, losses in seeds(loss)
    ]


def seeds(loss: float) -> list[tuple[int, int]]:
    """Seeds, with the number of losses of each run."""
    count, losses = LOSSES[loss]
    return [(seed, losses) for seed in range(1, count + 1)]


def _scenario(curve: Curve, loss: float, losses: int, seed: int) -> Scenario:
    begin = at_random(curve.name, loss)
    duration = losses / loss * RTT_S / begin
    return scenario(
        "1 Tbit/s", RTT_S * 1e3, "unlimited", round(duration, 3), loss=loss, seed=seed,
        interval_s=round(duration / _SAMPLES, 6), congestion=curve.congestion,
        profile=curve.profile, initial_window=f"{max(2, round(begin))} packets", initial_ssthresh="2 packets",
        rto={"min": "200 ms"}, recovery="sack", payload=f"{PAYLOAD_BYTES} B", **curve.tcp,
    )  # fmt: skip


def name(curve: Curve, loss: float, seed: int) -> str:
    """Of the task of a run."""
    return f"response/{curve.name}/{loss:g}/{seed}"
