"""The single link of ``newcomers`` and ``increase``: a sender's access, a bottleneck, and flows over both."""

from __future__ import annotations

from typing import Any, Final

from tightlink.scenario import Scenario
from tightlink.scenario.four_tier import nist

CONTROLS: Final = ("bic", "compound", "fast", "fast-at", "highspeed", "htcp", "scalable", "reno")
#: One way: half of a round trip.
DELAYS: Final = ("20 ms", "80 ms")
#: The document's low and high initial slow-start threshold.
THRESHOLDS: Final = ("100 packets", "unlimited")
_UNLIMITED: Final = THRESHOLDS[1]


def flow(control: str, threshold: str = _UNLIMITED) -> dict[str, Any]:
    """Flows without end of a control, which is as NIST has it, with an initial threshold."""
    transport: dict[str, Any] = {"congestion": nist.control(control), "window": "100000 packets"}
    if threshold != _UNLIMITED:
        transport["initial_ssthresh"] = threshold
    return {"kind": "bulk", "from": "sender", "to": "receiver", "tcp": transport}


def scenario(traffic: dict[str, Any], *, seconds: int, rate: str, delay: str, buffer: str, **tables: Any) -> Scenario:
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
