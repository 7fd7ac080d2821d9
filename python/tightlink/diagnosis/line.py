"""What packets take of a link's line: bytes of their frames, and transmissions where the link retransmits (``arq``).

Example:
    >>> wire = {"loss": 0.2, "arq": {"after_s": 0.008, "most": 7}}
    >>> round(transmissions(wire, 1500, 10.0), 3), transmissions({"loss": 0.2}, 1500, 10.0)
    (1.25, 1.0)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from tightlink.diagnosis import changing_rate

_BITS: Final = 8


def frame_bytes(link: Mapping[str, Any], size: int) -> int:
    """Bytes on the line of a packet of so many bytes.

    >>> frame_bytes({"framing": {"overhead_bytes": 38, "smallest_bytes": 84}}, 40)
    84
    """
    framing = link["framing"]
    return int(max(size + framing["overhead_bytes"], framing["smallest_bytes"]))


def transmissions(link: Mapping[str, Any], size: int, duration_s: float) -> float:
    """Mean number of transmissions of a packet of so many bytes, each of which takes its time on the line."""
    if "arq" not in link:
        return 1.0
    lost = lost_share(link, size, duration_s)
    return math.fsum(lost**times for times in range(link["arq"]["most"] + 1))


def lost_share(link: Mapping[str, Any], size: int, duration_s: float) -> float:
    """The share of the transmissions that a wire loses: in the mean of a run where that changes, else in the long run.

    >>> rising = {"kind": "schedule", "at_s": [0.0, 6.0], "loss": [0.0, 0.5], "period_s": None}
    >>> lost_share({"loss": rising}, 1500, 10.0)
    0.2
    """
    loss = link["loss"]
    match loss:
        case {"loss": [*losses]}:
            return changing_rate.mean({**loss, "values": losses, "linear": False}, (0.0, duration_s))
        case {"kind": "gilbert-elliott"}:
            bad, good = loss["to_bad"] * loss["loss_bad"], loss["to_good"] * loss["loss_good"]
            return float((bad + good) / (loss["to_bad"] + loss["to_good"]))
        case {"kind": "bit-errors"}:
            return -math.expm1(_BITS * frame_bytes(link, size) * math.log1p(-loss["rate"]))
        case {"kind": "pattern"}:
            span_s = max(0.0, min(loss["until_s"] or duration_s, duration_s) - loss["from_s"])
            # Packets that are named one by one are few.
            return float(span_s / duration_s / (loss["every"] or 1)) if loss["every"] or not loss["packets"] else 0.0
        case _:
            return float(loss)
