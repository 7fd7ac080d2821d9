"""What is simulated: one link with bulk flows, as the document has them.

K. Mills, J. Filliben, D. Cho, E. Schwartz, D. Genin: Study of Proposed Internet Congestion Control Mechanisms, NIST
SP 500-282, 2010, as presented in Innovations in Measurement Science, 2011. Its first pages show the phases of a
flow, a path of 252 Mbit/s of which TCP uses 89 %, and one of 1 Gbit/s from Chicago to Dublin of which standard TCP
uses much less; they give neither round trips nor queues.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from tightlink import units
from tightlink.analysis.path import response_laws
from tightlink.analysis.path.response import C_DELAYED, mathis
from tightlink.analysis.path.response_laws import mean_window
from tightlink.analysis.path.sawtooth import epoch_s
from tightlink.experiment.execute import Task
from tightlink.scenario import Bulk, Cbr, Codel, Link, Observe, Pie, Reverse, Scenario, Tcp, Udp
from tightlink.studies.cases import Cases

SENDER: Final = "sender"
RECEIVER: Final = "receiver"
LINK: Final = "bottleneck"
FLOW: Final = "flow"
#: Of profile rfc.
PACKET_BYTES: Final = 1500
PAYLOAD_BYTES: Final = 1448
#: More than any window here.
OPEN: Final = "100000000 packets"


def scenario(  # noqa: PLR0913
    rate: str,
    rtt_ms: float,
    queue: str | Pie | Codel,
    duration_s: float,
    *,
    loss: float = 0,
    seed: int = 1,
    interval_s: float | None = None,
    flows: int | None = None,
    more: dict[str, Any] | None = None,
    profile: str = "rfc",
    **tcp: Any,
) -> Scenario:
    """Bulk flows over one link, a millisecond apart, with an ACK for every packet unless ``delayed_acks`` is set."""
    keys: dict[str, Any] = {"window": OPEN, "delayed_acks": False} | tcp
    own = Tcp(**keys)
    group: dict[str, Any] = {} if flows is None else {"flows": flows, "start": {"every": "1 ms"}}
    link = Link(
        ends=(SENDER, RECEIVER), rate=rate, delay=f"{rtt_ms / 2:g} ms", queue=queue, loss=loss,
        reverse=Reverse(loss=0, queue="unlimited"),
    )  # fmt: skip
    observe = None if interval_s is None else Observe(interval=f"{interval_s:g} s")
    return Scenario(
        profile=profile, duration=f"{duration_s:g} s", seed=seed, link={LINK: link}, observe=observe,
        traffic={FLOW: Bulk(from_=SENDER, to=RECEIVER, tcp=own, **group)} | (more or {}),
    )  # fmt: skip


# The phases of one flow: slow start to a threshold, a loss, and others that flood the path until its timer expires.

PHASES: Final = "phases"
RTT_S: Final = 0.1
#: When the run ends.
END_S: Final = 80
#: Where slow start ends.
THRESHOLD: Final = 150
#: When others flood the path for a second, so that no ACK comes back and the timer expires.
FLOOD_S: Final = 60


def phases() -> Scenario:
    """One flow, whose path is flooded for a second."""
    flood = Cbr(from_=SENDER, to=RECEIVER, rate="200 Mbit/s", start=f"{FLOOD_S} s", stop=f"{FLOOD_S + 1} s")
    return scenario(
        "50 Mbit/s", RTT_S * 1e3, "0.25 BDP", END_S, interval_s=RTT_S, more={"flood": flood},
        initial_ssthresh=f"{THRESHOLD} packets", initial_window="1 packets",
    )  # fmt: skip


# Controls that measure delay (FAST, Vegas) or the path's rate (BBR), and managed queues (CoDel, PIE).

POINTS_RTT_MS: Final = 40
#: Of the path of FAST and Vegas.
DELAY_RATE: Final = "100 Mbit/s"
DELAY_DURATION_S: Final = 40
ALPHAS: Final = (20, 50)
#: FAST and Vegas by the names that tasks have.
MEASURING_DELAY: Final[dict[str, Any]] = {
    **{f"fast-{alpha}": {"kind": "fast", "alpha": f"{alpha} packets"} for alpha in ALPHAS},
    "vegas": "vegas",
}
RATE: Final = "50 Mbit/s"
#: What is offered to CoDel over what its line carries.
OVERLOAD: Final = 1.2
CODEL: Final = "point/codel"
_DURATION_S: Final = 40
_OVERLOADED_S: Final = 5
_BDP_PACKETS: Final = units.rate(RATE) * POINTS_RTT_MS / 1e3 / (8 * PACKET_BYTES)


def _point(queue: str | Pie, **keys: Any) -> Scenario:
    return scenario(RATE, POINTS_RTT_MS, queue, _DURATION_S, interval_s=0.01, recovery="rack", **keys)


def _equilibrium(control: str, flows: int) -> Scenario:
    """Flows that start together, as a late one would take the others' queue for a part of the path."""
    own = MEASURING_DELAY[control]
    return scenario(
        DELAY_RATE, POINTS_RTT_MS, "unlimited", DELAY_DURATION_S, flows=flows, interval_s=0.1, congestion=own
    )


#: Single flows of BBR, in front of a buffer in bandwidth-delay products.
BBR: Final = Cases(
    "point/{control}/{buffer}",
    lambda control, buffer: _point(f"{math.ceil(buffer * _BDP_PACKETS)} packets", congestion=control),
    {"control": ("bbr", "bbr3"), "buffer": (1, 2, 8)},
)
#: Several flows through PIE.
PIE: Final = Cases(
    "point/pie/{flows}", lambda flows: _point(Pie(limit="2000 packets"), flows=flows), {"flows": (4, 10, 20)}
)
#: FAST and Vegas.
DELAY: Final = Cases(
    "equilibrium/{control}/{flows}", _equilibrium, {"control": tuple(MEASURING_DELAY), "flows": (1, 2, 4, 8)}
)


def _overload() -> Scenario:
    rate = units.rate(RATE) * OVERLOAD
    flow = Cbr(from_=SENDER, to=RECEIVER, rate=f"{rate / 1e6:g} Mbit/s", udp=Udp(datagram=f"{PACKET_BYTES} B"))
    base = scenario(RATE, POINTS_RTT_MS, Codel(limit="1000000 packets"), _OVERLOADED_S)
    return base.model_copy(update={"traffic": {FLOW: flow}})


# A path of 252 Mbit/s: round trips, queues and numbers of flows, none of which the document gives.

RATE_BPS: Final = 252e6
#: A path across North America.
CHOSEN_MS: Final = 70
#: Epochs of a single flow from its first loss on.
_EPOCHS: Final = 3.2
_SHORTEST_S: Final = 40


def _bdp(rtt_ms: float) -> float:
    return RATE_BPS * rtt_ms / 1e3 / (8 * PACKET_BYTES)


def _duration_s(rtt: float, queue: float, flows: int) -> float:
    """The way to the first loss, and some epochs; several flows have less to regain each."""
    climb = _bdp(rtt) * rtt / 1e3
    return max(_SHORTEST_S, (climb + _EPOCHS * epoch_s(queue, _bdp(rtt), rtt / 1e3)) / flows)


def _path(rtt_ms: float, queue_bdp: float, flows: int) -> Scenario:
    duration = _duration_s(rtt_ms, queue_bdp, flows)
    # So low that a burst of slow start fits into the queue: its overshoot would tell of something else.
    threshold = max(2, queue_bdp * _bdp(rtt_ms) / flows)
    return scenario(
        f"{RATE_BPS / 1e6:g} Mbit/s", rtt_ms, f"{max(2, round(queue_bdp * _bdp(rtt_ms)))} packets", duration,
        flows=flows, interval_s=duration / 400, initial_ssthresh=f"{round(threshold)} packets",
    )  # fmt: skip


#: The document gives no round trip; the last one is our choice, that of a path across North America.
PATHS: Final = Cases(
    "252/{rtt_ms:g}-ms/{queue_bdp:g}-bdp/{flows}",
    _path,
    {"rtt_ms": (10.0, 40.0, 70.0), "queue_bdp": (0.05, 0.1, 0.2, 0.3, 0.5), "flows": (1, 8)},
)

# A path of 1 Gbit/s from Chicago to Dublin: standard TCP at some losses, and the proposed replacements.

#: Our choice: 5,900 km of fibre there and back are 59 ms, and real routes take nearly twice that.
DUBLIN_RTT_MS: Final = 100
#: Our choice, too: a fifth of a bandwidth-delay product.
DUBLIN_QUEUE: Final = "0.2 BDP"
DURATION_S: Final = 300
COMPARED_S: Final = 100
COMPARED_LOSS: Final = 1e-6
#: NIST's low threshold, in packets, at which slow start ends.
_LOW: Final = "100"


def _dublin(duration_s: float, loss: float, threshold: str, **keys: Any) -> Scenario:
    return scenario(
        "1 Gbit/s", DUBLIN_RTT_MS, DUBLIN_QUEUE, duration_s, loss=loss, interval_s=1,
        initial_ssthresh=f"{threshold} packets" if threshold.isdecimal() else threshold, **keys,
    )  # fmt: skip


#: Standard TCP, at shares of packets that the path loses by itself.
STANDARD: Final = Cases(
    "chicago-dublin/{slow_start_to}/{loss:g}",
    lambda slow_start_to, loss: _dublin(DURATION_S, loss, slow_start_to),
    {"slow_start_to": ("unlimited", _LOW), "loss": (0.0, 1e-7, 1e-6, 1e-5)},
)
#: The eight of the document, and what came after.
REPLACEMENTS: Final = Cases(
    "replacements/{control}",
    lambda control: _dublin(COMPARED_S, COMPARED_LOSS, _LOW, congestion=control),
    {"control": ("reno", "bic", "compound", "fast", "fast-at", "highspeed", "htcp", "scalable", "cubic")},
)


# Response functions: controls at given shares of lost packets, with their formulas and their rules as laws.

#: Shares of packets lost, with the seeds and the losses of a run: the rarer they are, the more packets they take.
LOSSES: Final[dict[float, tuple[int, int]]] = {
    1e-2: (3, 2000), 1e-3: (3, 2000), 1e-4: (3, 600), 1e-5: (3, 40), 1e-6: (3, 8),
}  # fmt: skip
#: Up to here a loss causes no timeout, and windows are above those at which all controls are Reno.
FEW: Final = 1e-3
#: Losses of a law from which its mean window is taken: as many as take no longer than the runs.
LAW_LOSSES: Final[dict[float, int]] = {1e-2: 8000, 1e-3: 8000, 1e-4: 6000, 1e-5: 3000, 1e-6: 1000}


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
    Curve("highspeed", "highspeed", lambda loss: 0.12 / loss**0.835, response_laws.HighSpeed, (1e-6, 1e-4)),
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


def _responses() -> list[Task]:
    """Every control at every loss."""
    return [
        Task(response_name(curve, loss, seed), _response(curve, loss, losses, seed))
        for curve in CURVES
        for loss in curve.losses
        for seed, losses in seeds(loss)
    ]


def seeds(loss: float) -> list[tuple[int, int]]:
    """Seeds, with the number of losses of each run."""
    count, losses = LOSSES[loss]
    return [(seed, losses) for seed in range(1, count + 1)]


def _response(curve: Curve, loss: float, losses: int, seed: int) -> Scenario:
    begin = at_random(curve.name, loss)
    duration = losses / loss * RTT_S / begin
    return scenario(
        "1 Tbit/s", RTT_S * 1e3, "unlimited", round(duration, 3), loss=loss, seed=seed,
        interval_s=round(duration / 40, 6), congestion=curve.congestion,
        profile=curve.profile, initial_window=f"{max(2, round(begin))} packets", initial_ssthresh="2 packets",
        rto={"min": "200 ms"}, recovery="sack", payload=f"{PAYLOAD_BYTES} B", **curve.tcp,
    )  # fmt: skip


def response_name(curve: Curve, loss: float, seed: int) -> str:
    """Of the task of a run."""
    return f"response/{curve.name}/{loss:g}/{seed}"


def tasks() -> list[Task]:
    """Everything that is simulated, the longest first, so that none is left to the end alone."""
    points = [*BBR.tasks(), *PIE.tasks(), Task(CODEL, _overload(), trace=True), *DELAY.tasks()]
    paths = [*STANDARD.tasks(), *REPLACEMENTS.tasks(), *PATHS.tasks()]
    return [*_responses()[::-1], *paths, *points, Task(PHASES, phases())]
