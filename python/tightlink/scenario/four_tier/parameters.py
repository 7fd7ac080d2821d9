"""The twenty parameters of the four-tier network: names, two levels each, and where they come from.

The names are the document's (NIST SP 500-282). Its levels are not published in what could be read: unless
``origin`` says otherwise they are this project's choice, for the reason that stands beside them. All are those of
the network at its full size.

Example:
    >>> speed = PARAMETERS["network_speed"]
    >>> speed.id, speed.low, speed.high
    ('X1', '4000 packets/ms', '8000 packets/ms')
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

#: How many sources, or receivers, a router of each class has, relative to the others.
WEB_SOURCES: Final = {"direct": 3.0, "fast": 6.0, "normal": 1.0}
WEB_RECEIVERS: Final = {"direct": 1.0, "fast": 1.0, "normal": 3.0}
ALIKE: Final = {"direct": 1.0, "fast": 1.0, "normal": 1.0}
LARGER_FILES: Final = {
    "document": {"share": 0.002, "times": 10},
    "service-pack": {"share": 0.00002, "times": 1000},
    "movie": {"share": 0.000002, "times": 10000},
}


@dataclass(frozen=True)
class Parameter:
    """One of the twenty."""

    id: str
    #: As the document calls it.
    name: str
    #: What it is here.
    meaning: str
    low: Any
    high: Any
    #: What is known of the document's levels.
    origin: str
    #: Why these.
    reason: str


PARAMETERS: Final[dict[str, Parameter]] = {
    "network_speed": Parameter(
        "X1",
        "Network Speed",
        "base speed, of which those of all routers are multiples: backbone × 2, points of presence ÷ 4, normal access "
        "routers ÷ 40, fast ones ÷ 20, direct ones ÷ 4",
        "4000 packets/ms",
        "8000 packets/ms",
        "backbone of up to 192 Gbit/s in experiment 1a; the multiples are recollections",
        "the high level gives a backbone of 16,000 packets/ms, which is 192 Gbit/s with packets of 1500 B",
    ),
    "propagation_delay": Parameter(
        "X2",
        "Propagation Delay",
        "factor of the delays of all backbone links",
        1.0,
        2.0,
        "unknown",
        "Abilene's own delays, and twice as long",
    ),
    "buffers": Parameter(
        "X3",
        "Buffer Provisioning",
        "rule for the queue of each router: round-trip time × speed, or that ÷ √(number of flows)",
        "rtt*c/sqrt(n)",
        "rtt*c",
        "unknown; these are the two usual rules",
        "the smaller buffer is the low level",
    ),
    "topology": Parameter(
        "X4",
        "Topology",
        "structure of the backbone and its points of presence",
        "abilene",
        "isp",
        "one is based on Abilene; the other is unknown",
        "a second four-tier network with the same access routers",
    ),
    "object_size": Parameter(
        "X5",
        "Web Object Size for Browsing",
        "mean size of a Web object, of a Pareto distribution with shape 1.5",
        "50 packets",
        "100 packets",
        "mean 50 and shape 1.5 in the model that preceded it",
        "the same, and twice as large",
    ),
    "larger_files": Parameter(
        "X6",
        "Proportion & Size of Larger Files",
        "other files beside Web objects: share of the transfers, and how many times a Web object's size",
        {},
        LARGER_FILES,
        "downloads of software and movies exist; shares and sizes are unknown; no effect was significant",
        "documents, service packs and movies each add 2 % to the packets, so that other parameters decide the load",
    ),
    "think_time": Parameter(
        "X7",
        "Think Time",
        "mean time between two transfers of a source, exponentially distributed",
        "2 s",
        "5 s",
        "mean 5 s in the model that preceded it",
        "the order of time in which somebody reads a page",
    ),
    "patience": Parameter(
        "X8",
        "Patience",
        "how long a user waits: a time for any file, and a rate below which it is given up",
        None,
        {"least": "30 s", "rate": "10 packets/s"},
        "unknown; no effect was significant",
        "only transfers that hardly move are given up",
    ),
    "crowd": Parameter(
        "X9",
        "Selected Spatiotemporal Congestion",
        "very large files from the direct routers during the second period: their share of the transfers, and how many "
        "times a Web object's size",
        None,
        {"share": 0.1, "times": 2000},
        "acts in the second and the third period only; the mechanism is unknown",
        "within a minute nearly all sources at direct routers send one, at the full size as at 1/100, where transfers "
        "get a few hundred packets/s; what is left of them lasts into the third period",
    ),
    "long_lived_flows": Parameter(
        "X10",
        "Long-lived Flows",
        "whether three transfers without end run between the six direct routers",
        low=False,
        high=True,
        origin="three are measured; their ends are unknown",
        reason="each direct router is an end of one",
    ),
    "fast_interfaces": Parameter(
        "X11",
        "Source & Receiver Interface Speeds",
        "share of the hosts with an interface of 80 packets/ms (960 Mbit/s); the others have 8 (96 Mbit/s)",
        0.2,
        0.4,
        "fast ones reach 1 Gbit/s; shares are unknown; no effect was significant",
        "few, and twice as many",
    ),
    "sources": Parameter(
        "X12",
        "Number of Sources & Receivers",
        "mean number of sources behind an access router; there are four receivers for each",
        1000,
        2000,
        "up to 278,000 sources in experiment 1a",
        "2000 behind each of the 139 access routers are these 278,000",
    ),
    "source_distribution": Parameter(
        "X13",
        "Distribution of Sources",
        "how many sources a direct, a fast and a normal access router has, relative to each other",
        WEB_SOURCES,
        ALIKE,
        "3 : 6 : 1 reproduces the 26,085 sources of experiment 2a",
        "servers are at fast routers; or everywhere alike, as among peers",
    ),
    "receiver_distribution": Parameter(
        "X14",
        "Distribution of Receivers",
        "the same for receivers",
        WEB_RECEIVERS,
        ALIKE,
        "unknown",
        "readers are at normal routers; or everywhere alike",
    ),
    "congestion": Parameter(
        "X15",
        "Congestion Control Procedures",
        "congestion control of all sources, or several with their shares",
        "reno",
        "compound",
        "standard TCP and CTCP in the sensitivity analysis",
        "as there",
    ),
    "initial_window": Parameter(
        "X16",
        "Initial Congestion Window",
        "congestion window at the start of a transfer",
        "2 packets",
        "4 packets",
        "unknown",
        "RFC 2581, and RFC 3390 with small packets",
    ),
    "initial_ssthresh": Parameter(
        "X17",
        "Initial Slow Start Threshold",
        "slow-start threshold at the start of a transfer",
        "100 packets",
        "unlimited",
        "100 and more than 10⁹ segments in the experiments",
        "as there",
    ),
    "measurement_interval": Parameter(
        "X18",
        "Measurement Interval Size",
        "interval of the tables over time",
        "200 ms",
        "1 s",
        "unknown",
        "a few round trips, and many",
    ),
    "duration": Parameter(
        "X19",
        "Simulation Duration",
        "simulated time: two fifths to warm up, then three periods of a fifth each",
        "25 min",
        "50 min",
        "25 min with three periods of 5 min in experiment 1; no effect was significant",
        "as there, and twice as long",
    ),
    "start_up": Parameter(
        "X20",
        "Startup Pattern",
        "share of the sources that begin with a transfer, not with thinking",
        0.0,
        0.5,
        "unknown; no effect was significant",
        "all think, or half of them",
    ),
}
