"""What the document prints: its tables of effects and of influence.

K. Mills, J. Filliben, D. Cho, E. Schwartz, D. Genin: Study of Proposed Internet Congestion Control Mechanisms, NIST
Special Publication 500-282, 2010, in the slides of 30 June 2011.

Cells of the slide's table of effects have moved: with Y15's last mark under X14, and those of Y16 and Y17 on the right
each one column to the left, its rows add up to the printed influence of all twenty parameters. It calls its responses
Y1 to Y18 and names only their classes: what they are is read from the effects themselves (``observe/readings.py``).
"""

from __future__ import annotations

import re
from typing import Final

from tightlink.scenario import PARAMETERS

#: The effects of the second period: + or − for the level that raises the response, "o" where p is below 0.05 only.
_EFFECTS: Final = """
Y1 -X1 +X3 +X4o -X7 +X12 +X13 +X16
Y2 -X1 +X4 +X5 -X7 +X12 +X13
Y3 +X1 +X2 +X3 -X5 +X7 -X12 -X13 +X17
Y4 -X1 -X2 -X3 +X5 -X7 +X12 +X13 -X15o
Y5 +X1 +X3 +X7 -X12 -X13 +X15 +X16o -X17
Y6 -X1 -X2 -X3 +X5 -X7 +X12 +X13 +X16
Y7 +X1o
Y8 -X1 -X2 -X3 +X5 +X12 +X13 +X16
Y9 -X1 +X2 +X3 +X12o +X13o
Y10 -X1 +X2 +X3 -X7o +X12 +X13
Y11 +X1 -X2o +X4 -X5 -X7 +X12 +X13
Y12 +X1 +X3 +X4 +X5 -X7 -X9 +X12
Y13 +X1 +X3o +X4o +X9 -X10
Y14 +X1o +X4 +X9 -X10
Y15 +X1 +X9 -X10o -X14o
Y16 +X1 -X2 -X4 +X7o +X9 -X12 -X14o +X16 -X18o
Y17 +X1 -X2 +X4o +X7 +X9 -X12 +X13 -X14 +X16 -X18o
Y18 +X1 -X2 -X4 +X7 -X12 -X13 +X17
"""

#: The level of its marks of the first kind.
STRONG: Final = 0.01

#: The class of each response, which it does name.
CLASS_OF: Final = {
    **dict.fromkeys(("Y1", "Y2", "Y3", "Y4", "Y5"), "flows"),
    **dict.fromkeys(("Y6", "Y7", "Y8"), "congestion"),
    **dict.fromkeys(("Y9", "Y10"), "delay"),
    **dict.fromkeys(("Y11", "Y12"), "aggregate throughput"),
    **dict.fromkeys(("Y13", "Y14", "Y15"), "long-lived flows"),
    **dict.fromkeys(("Y16", "Y17", "Y18"), "other flows"),
}
#: What responses of a class can be: those of the slide on responses, and rates of these for each source.
CANDIDATES: Final = {
    "flows": (
        "sources_transmitting", "share_transmitting", "sources_connecting", "completion_rate", "connections_failed",
        "failure_rate", "cwnd_mean_packets", "window_increases", "increases_per_source",
    ),
    "congestion": (
        "loss", "retransmission_rate", "duplicate_acks", "timeouts", "connections_failed", "failure_rate",
    ),
    "delay": ("rtt_mean_s", "queueing_delay_mean_s"),
    "aggregate throughput": ("packets_entering", "packets_leaving", "transfers_completed"),
    "long-lived flows": ("first_pps", "second_pps", "third_pps"),
    "other flows": (
        "direct-direct_pps", "direct-fast_pps", "direct-normal_pps", "fast-fast_pps", "fast-normal_pps",
        "normal-normal_pps",
    ),
}  # fmt: skip

#: Which can be told without our effects: the slide on the number of sources transmitting names six parameters, and of
#: the rows of the summary that of Y2 alone has these six.
TOLD: Final = {"Y2": "sources_transmitting"}

#: Of which it is not known which level is which: of two topologies, of a crowd, and of long-lived flows.
UNKNOWN: Final = ("X4", "X9", "X10")

#: The index Ψ in percent, of X1 to X20.
_INFLUENCE: Final = {
    "before": "95 53 64 50 50 0 67 0 0 17 0 75 67 14 6 44 14 8 0 0",
    "congestion": "94 53 53 42 39 0 61 0 33 14 0 75 64 11 8 31 17 6 0 0",
    "after": "97 56 61 42 53 0 69 0 25 17 0 75 67 11 6 28 17 11 0 0",
    "reno": "79 71 56 40 56 0 50 0 4 0 0 21 67 0 0 33 67 4 0 0",
    "compound": "79 75 46 44 65 0 60 0 4 0 0 46 67 8 0 31 50 0 0 0",
    "weighted": "87 64 55 43 54 0 60 0 12 8 0 54 67 8 3 33 37 5 0 0",
}
#: In the order of their influence.
LEADING: Final = ("X1", "X13", "X2", "X7", "X3", "X5", "X12")
WITHOUT_EFFECT: Final = ("X6", "X8", "X11", "X19", "X20")
#: That move the number of sources transmitting.
SIX: Final = ("X1", "X4", "X5", "X7", "X12", "X13")
#: Above this |r| it keeps a pair of responses.
THRESHOLD: Final = 0.65

#: Names of our parameters by the document's.
NAME_OF: Final = {parameter.id: name for name, parameter in PARAMETERS.items()}


def effects() -> dict[str, dict[str, tuple[str, bool]]]:
    """By response and parameter: the sign, and whether p is below 0.01.

    >>> effects()["Y9"]["X1"], effects()["Y9"]["X12"]
    (('−', True), ('+', False))
    """
    found: dict[str, dict[str, tuple[str, bool]]] = {}
    for line in _EFFECTS.split("\n"):
        for sign, name, weak in re.findall(r"([-+])(X\d+)(o?)", line):
            found.setdefault(line.split()[0], {})[name] = (sign.replace("-", "−"), not weak)
    return found


def influence() -> dict[str, dict[str, float]]:
    """By period or control, and parameter: Ψ, from 0 to 1.

    >>> influence()["weighted"]["X1"]
    0.87
    """
    return {
        row: {f"X{number}": float(text) / 100 for number, text in enumerate(line.split(), start=1)}
        for row, line in _INFLUENCE.items()
    }
