"""Experiments on a single link: where FAST oscillates, what newcomers get, how soon a flow has all of a link."""

from itertools import product
from typing import Any, Final

from tightlink.scenario import Scenario
from tightlink.scenario.four_tier import nist
from tightlink.studies.cases import Cases

CONTROLS: Final = ("bic", "compound", "fast", "fast-at", "highspeed", "htcp", "scalable", "reno")
#: One way: half of a round trip.
DELAYS: Final = ("20 ms", "80 ms")
#: The document's low and high initial slow-start threshold.
THRESHOLDS: Final = ("100 packets", "unlimited")
INTERVAL_S: Final = 0.02
#: Of FAST's oscillation.
ROUND_TRIP_S: Final = 0.0404
#: When a newcomer arrives, and how long it is watched.
ARRIVES_S: Final = 60
NEWCOMER_S: Final = 60
NEWCOMER: Final = "newcomer"
FLOW: Final = "flow"
RATE: Final = "100 Mbit/s"
#: An empty path of 160 ms holds 1333 packets, which standard TCP reaches from 100 in 200 s.
WATCHED_S: Final = {"alone": 240, "congested": 60, "extreme": 60}
#: Of which windows are looked at: series of hundreds of flows fill the memory.
WINDOWS: Final = ("alone", "congested")
_ARRIVALS_S: Final = (20, 23, 26, 29, 32, 35)
#: Flows of standard TCP beside a flow, by delay.
SETTLED: Final = {
    "alone": dict.fromkeys(DELAYS, 0),
    "congested": dict.fromkeys(DELAYS, 20),
    "extreme": dict(zip(DELAYS, (120, 480), strict=True)),
}
_BUFFERS: Final = {"alone": "1 BDP", "congested": "0.1 BDP", "extreme": "0.1 BDP"}


def _flow(control: str, threshold: str = "unlimited") -> dict[str, Any]:
    """Flows without end of a control, which is as NIST has it, with an initial threshold."""
    transport: dict[str, Any] = {"congestion": nist.control(control), "window": "100000 packets"}
    if threshold != "unlimited":
        transport["initial_ssthresh"] = threshold
    return {"kind": "bulk", "from": "sender", "to": "receiver", "tcp": transport}


def _scenario(traffic: dict[str, Any], *, seconds: int, rate: str, delay: str, buffer: str, **tables: Any) -> Scenario:
    """Flows over the link for some time; the access is never what limits them."""
    return Scenario.from_dict({
        "profile": "rfc",
        "duration": f"{seconds} s",
        "link": {
            "access": {"ends": ["sender", "router"], "rate": "1 Gbit/s", "delay": "0.1 ms", "queue": "100000 packets"},
            "bottleneck": {"ends": ["router", "receiver"], "rate": rate, "delay": delay, "queue": buffer},
        },
        "traffic": traffic,
        **tables,
    })  # fmt: skip


def _oscillation(control: tuple[str, int | None], flows: int, buffer_packets: int) -> Scenario:
    """Flows without end over 100 Mbit/s and 40 ms, which hold 333 packets.

    Each FAST flow keeps alpha packets in the queue. Where the queue has no room for those of all flows, none of them
    can come to rest: windows grow until packets are lost, are halved, and grow again.
    """
    kind, alpha = control
    congestion = nist.control({"kind": kind} | ({} if alpha is None else {"alpha": f"{alpha} packets"}))
    return Scenario.from_dict({
        "profile": "rfc",
        "duration": "30 s",
        "topology": {"net": {
            "kind": "dumbbell",
            "pairs": flows,
            "bottleneck": {"rate": RATE, "delay": "20 ms", "queue": f"{buffer_packets} packets"},
            "access": {"rate": "1 Gbit/s", "delay": "0.1 ms", "queue": "10000 packets"},
        }},
        "traffic": {"bulk": {
            "kind": "bulk",
            "flows": flows,
            "from": "net.left[*]",
            "to": "net.right[*]",
            "tcp": {"congestion": congestion, "window": "100000 packets"},
        }},
        "observe": {"interval": f"{INTERVAL_S * 1e3:g} ms"},
    })  # fmt: skip


def _newcomer(rate: str, delay: str, buffer: str, initial_ssthresh: str, settled: int, control: str) -> Scenario:  # noqa: PLR0917
    """One flow arrives on a link that others of its control have settled on; nothing else differs between them.

    A control that gives up little after a loss leaves little to those who come later, of its own kind too. Users'
    transfers are too short to tell.
    """
    flow = _flow(control, initial_ssthresh)
    first = {**flow, "flows": settled, "start": {"first": "0 s", "every": "0.1 s"}}
    traffic = {"settled": first, NEWCOMER: {**flow, "start": f"{ARRIVES_S} s"}}
    return _scenario(traffic, seconds=ARRIVES_S + NEWCOMER_S, rate=rate, delay=delay, buffer=buffer)


def _increase(load: tuple[str, int, str], delay: str, control: str) -> Scenario:
    """One flow on an empty link, or on one that flows of standard TCP hold already.

    In its short queue packets are lost all the time: the heavy congestion of the document, with 17 and 70 packets of
    path and queue for each flow. Under extreme congestion there are 3, so that the window of standard TCP stays below
    any control's low-window threshold (BIC has the smallest, 14) for 99.8 % of the time, at 20 ms; with 6 it does for
    93 %, and BIC, which then has its own rules, is above it for half of the time.
    """
    kind, arrives_s, initial_ssthresh = load
    traffic = {FLOW: {**_flow(control, initial_ssthresh), "start": f"{arrives_s} s"}}
    if settled := SETTLED[kind][delay]:
        start = {"first": "0 s", "every": f"{2000 // settled} ms"}
        traffic["settled"] = {**_flow("reno"), "flows": settled, "start": start}
    return _scenario(
        traffic,
        seconds=arrives_s + WATCHED_S[kind],
        rate=RATE,
        delay=delay,
        buffer=_BUFFERS[kind],
        **({"observe": {"interval": f"{INTERVAL_S * 1e3:g} ms"}} if kind in WINDOWS else {}),
    )


#: The settings of each experiment, by its name.
CASES: Final = {
    "oscillation": Cases(
        "oscillation/{control[0]} {control[1]}/{flows}/{buffer_packets}",
        _oscillation,
        {
            "control": (*product(["fast"], (8, 20, 50, 100, 200)), ("fast-at", None)),
            "flows": (1, 2, 4, 8, 16),
            "buffer_packets": (50, 100, 200, 400, 800),
        },
    ),
    "newcomers": Cases(
        "newcomers/{rate}, {delay}, {buffer}, {initial_ssthresh}, {settled}/{control}",
        _newcomer,
        {
            "rate": ("20 Mbit/s", "100 Mbit/s"),
            "delay": DELAYS,
            "buffer": ("0.25 BDP", "1 BDP"),
            "initial_ssthresh": THRESHOLDS,
            "settled": (1, 4),
            "control": CONTROLS,
        },
    ),
    "increase": Cases(
        "increase/{load[0]} {load[1]}, {delay}, {load[2]}/{control}",
        _increase,
        {
            # Which packets are lost under congestion is chance, so a flow arrives several times. Where congestion is
            # extreme, slow start ends below either threshold.
            "load": (
                *product(["alone"], [0], THRESHOLDS),
                *product(["congested"], _ARRIVALS_S, THRESHOLDS),
                *product(["extreme"], _ARRIVALS_S, THRESHOLDS[-1:]),
            ),
            "delay": DELAYS,
            "control": CONTROLS,
        },
    ),
}
