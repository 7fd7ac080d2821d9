"""What is simulated: Prague beside Classic flows over one link, with DualPI2 or with one queue that marks.

K. De Schepper, B. Briscoe, G. White: Dual-Queue Coupled AQMs for L4S, RFC 9332, January 2023; K. De Schepper,
B. Briscoe: The ECN Protocol for L4S, RFC 9331, January 2023; K. De Schepper, O. Tilmans, B. Briscoe, V. Goel: Prague
Congestion Control, draft-briscoe-iccrg-prague-congestion-control-04, July 2024.

Rates and round trips are the ends that RFC 9332 gives for its experiments (Appendix A.1), and three steps between them.
"""

from math import ceil
from typing import Any, Final, Literal

from tightlink.experiment.execute import Task
from tightlink.scenario import Bulk, Cbr, Codel, DualPi2, Link, Observe, Pie, Reverse, Scenario, Tcp, Udp
from tightlink.studies.cases import Cases

LINK: Final = "bottleneck"
RECEIVER: Final = "receiver"
#: Of profile linux, with headers.
PACKET_BYTES: Final = 1500
#: Defaults of DualPI2 (RFC 9332 Appendix A.1, figure 2).
TARGET_S: Final = 0.015
COUPLING: Final = 2.0
#: Round trip as of which Prague acts on shorter paths, and the round trips before it does (draft, §2.4.4).
REFERENCE_RTT_S: Final = 0.025
#: Constants of the rates of Reno and Prague, and sizes of Classic sawteeth (RFC 9332 Appendix C.2, equations 5, 6, 8).
RENO: Final = 1.22
PRAGUE: Final = 2.0
SAWTOOTH: Final = {"reno": 0.75, "cubic": 0.85}

#: When a run's beginning is over, and how long it is observed then: 500 round trips of 20 ms are 10 s.
SETTLED_S: Final = 40
OBSERVED_S: Final = 80
DURATION_S: Final = SETTLED_S + OBSERVED_S
#: Between samples.
INTERVAL_S: Final = 0.2
#: Means of so long tell how far the ratio of rates may be off.
BATCH_S: Final = 10
#: The link where rate and round trip are not varied.
RATE_MBIT: Final = 40
RTT_MS: Final = 20


def bulk(control: str, sender: str = "sender", *, ecn: bool | None = None, **keys: Any) -> Bulk:
    """Flows that always have data, which no window but their own limits."""
    tcp = Tcp(congestion=control, window="1000000 packets", ecn=ecn)
    return Bulk(from_=sender, to=RECEIVER, tcp=tcp, **keys)


def link(rate_mbit: float, rtt_ms: float, queue: Any = None, ends: tuple[str, str] = ("sender", RECEIVER)) -> Link:
    """A link that has its queue, without one DualPI2, towards the receiver only."""
    return Link(
        ends=ends, rate=f"{rate_mbit:g} Mbit/s", delay=f"{rtt_ms / 2:g} ms", queue=queue or DualPi2(),
        reverse=Reverse(queue="unlimited"),
    )  # fmt: skip


def scenario(
    links: dict[str, Link], traffic: dict[str, Any], settled_s: float = SETTLED_S, *, marks: bool = False
) -> Scenario:
    """Traffic over links, sampled five times a second, the share of marks, too; groups of flows have a row each."""
    observed = Observe(interval=f"{INTERVAL_S} s", flows="group", transport=marks)
    return Scenario(
        profile="linux", duration=f"{settled_s + OBSERVED_S} s", link=links, traffic=traffic, observe=observed
    )


# One Prague and one Classic flow, over rates and round trips.


def settled_s(rate_mbit: float, rtt_ms: float) -> int:
    """When the beginning of a pair is over: no earlier than one window can have grown to all that the path holds.

    Prague and Reno add a packet in a round trip, Prague on short paths in one of its reference.

    >>> settled_s(40, 20), settled_s(200, 100)
    (40, 170)
    """
    packets = rate_mbit * 1e6 * rtt_ms / 1e3 / (8 * PACKET_BYTES)
    grown_s = packets * max(rtt_ms / 1e3, REFERENCE_RTT_S)
    return max(SETTLED_S, BATCH_S * ceil(grown_s / BATCH_S))


def _pair(classic: str, rate_mbit: float, rtt_ms: float) -> Scenario:
    flows = {"prague": bulk("prague"), "classic": bulk(classic)}
    return scenario({LINK: link(rate_mbit, rtt_ms)}, flows, settled_s(rate_mbit, rtt_ms), marks=True)


def _single(queue: str, rate_mbit: float, rtt_ms: float) -> Scenario:
    """Both in one queue, which marks them alike."""
    flows = {"prague": bulk("prague"), "classic": bulk("cubic", ecn=True)}
    marking = _MARKING[queue](limit="10000 packets", ecn=True)
    return scenario({LINK: link(rate_mbit, rtt_ms, marking)}, flows, settled_s(rate_mbit, rtt_ms))


_MARKING: Final = {"codel": Codel, "pie": Pie}
_GRID: Final[dict[str, tuple[Any, ...]]] = {"rate_mbit": (4, 12, 40, 120, 200), "rtt_ms": (5, 10, 20, 50, 100)}
PAIRS: Final = Cases("pair/{classic}/{rate_mbit}-mbit/{rtt_ms}-ms", _pair, {"classic": tuple(SAWTOOTH)[::-1]} | _GRID)
SINGLE: Final = Cases("single/{queue}/{rate_mbit}-mbit/{rtt_ms}-ms", _single, {"queue": tuple(_MARKING)} | _GRID)

# Ten flows of each kind, of which the Classic ones keep their queue from running empty.

MANY_FLOWS: Final = 10
MANY_RATE_MBIT: Final = 120


def _many(classic: str, rtt_ms: float) -> Scenario:
    kinds = {"prague": "prague", "classic": classic}
    flows = {name: bulk(control, flows=MANY_FLOWS, start={"every": "100 ms"}) for name, control in kinds.items()}
    return scenario({LINK: link(MANY_RATE_MBIT, rtt_ms)}, flows, marks=True)


MANY: Final = Cases("many/{classic}/{rtt_ms}-ms", _many, {"classic": tuple(SAWTOOTH)[::-1], "rtt_ms": _GRID["rtt_ms"]})

# The controller of the Classic queue, with flows of CUBIC alone and beside one of Prague.


def _held(flows: int, prague: int) -> Scenario:
    group = {"classic": bulk("cubic", flows=flows, start={"every": "100 ms"})}
    return scenario({LINK: link(RATE_MBIT, RTT_MS)}, group | ({"prague": bulk("prague")} if prague else {}))


PI2: Final = Cases("pi2/{flows}/{prague}", _held, {"flows": (2, 10, 25), "prague": (0, 1)})

# Flows join and leave: four more of each kind that there is.

JOIN_S: Final = 40
LEAVE_S: Final = 80
JOINING: Final = 4


def _step(mix: str) -> Scenario:
    later: Any = {"flows": JOINING, "start": f"{JOIN_S} s", "stop": f"{LEAVE_S} s"}
    kinds = {"prague": "prague"} | ({"classic": "cubic"} if mix == "both" else {})
    flows = {name: bulk(control) for name, control in kinds.items()}
    joining = {f"{name}-joining": bulk(control, **later) for name, control in kinds.items()}
    return scenario({LINK: link(RATE_MBIT, RTT_MS)}, flows | joining)


STEP: Final = Cases("step/{mix}", _step, {"mix": ("l4s", "both")})

# Traffic that does not respond, in either queue, as a share of the link: beside one flow of Prague and one of CUBIC.


def _beside_datagrams(load: float, queue: DualPi2, udp: Udp, dscp: str | None = None) -> Scenario:
    source = Cbr(from_="sender", to=RECEIVER, rate=f"{load * RATE_MBIT:g} Mbit/s", udp=udp, dscp=dscp)
    flows = {"prague": bulk("prague"), "classic": bulk("cubic"), "unresponsive": source}
    return scenario({LINK: link(RATE_MBIT, RTT_MS, queue)}, flows)


def _overload(load: float, side: str) -> Scenario:
    classes = {"classic": [], "l4s": ["EF"]}[side]
    return _beside_datagrams(load, DualPi2(l4s=classes), Udp(datagram=_DATAGRAM), *classes)


def _capable(ecn: Literal["ect0", "ect1"]) -> Scenario:
    """More than the link carries of datagrams that say they respond to marks."""
    return _beside_datagrams(_TOO_MUCH, DualPi2(), Udp(datagram=_DATAGRAM, ecn=ecn))


_DATAGRAM: Final = f"{PACKET_BYTES} B"
_TOO_MUCH: Final = 1.5
OVERLOAD: Final = Cases(
    "unresponsive/{load:g}/{side}", _overload, {"load": (0.5, _TOO_MUCH), "side": ("classic", "l4s")}
)
CAPABLE: Final = Cases("unresponsive/{ecn}", _capable, {"ecn": ("ect0", "ect1")})

# Two round trips of Prague beside CUBIC; and more flows than windows of two packets fit into the path.

APART: Final = "round-trips"
NEAR_MS: Final = 5
FAR_MS: Final = 25
SMALL_RATE_MBIT: Final = 8
SMALL_RTT_MS: Final = 6


def _apart() -> Scenario:
    """Hosts at two distances behind one router."""
    shared_ms = 2.0
    distances = {"near": NEAR_MS, "far": FAR_MS}
    links = {
        f"access-{name}": link(1000, rtt_ms - shared_ms, "unlimited", (name, "router"))
        for name, rtt_ms in distances.items()
    } | {LINK: link(RATE_MBIT, shared_ms, ends=("router", RECEIVER))}
    flows = {name: bulk("prague", name) for name in distances} | {"classic": bulk("cubic", "far")}
    return scenario(links, flows)


def _small(flows: int) -> Scenario:
    """RFC 9331 Appendix A.1.7: more than two flows have no window of two packets."""
    group = {"prague": bulk("prague", flows=flows)}
    return scenario({LINK: link(SMALL_RATE_MBIT, SMALL_RTT_MS)}, group)


SMALL: Final = Cases("small-windows/{flows}", _small, {"flows": (4, 8, 16)})


def tasks() -> list[Task]:
    """Everything that is simulated."""
    groups = (PAIRS, SINGLE, MANY, PI2, STEP, OVERLOAD, CAPABLE, SMALL)
    return [task for cases in groups for task in cases.tasks()] + [Task(APART, _apart())]
