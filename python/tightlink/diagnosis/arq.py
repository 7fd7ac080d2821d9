"""How often a link that retransmits what it loses transmits a packet, by what the scenario says of its losses.

Example:
    >>> wire = {"loss": 0.2, "arq": {"after_s": 0.008, "most": 7}}
    >>> round(transmissions(wire, 1500), 3), transmissions({"loss": 0.2}, 1500)
    (1.25, 1.0)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

_BITS: Final = 8


def transmissions(link: Mapping[str, Any], size: int) -> float:
    """Mean number of transmissions of a packet of so many bytes, each of which takes its time on the line."""
    if "arq" not in link:
        return 1.0
    lost = _lost(link["loss"], size)
    return math.fsum(lost**times for times in range(link["arq"]["most"] + 1))


def _lost(loss: Any, size: int) -> float:
    """The share of the transmissions that a wire loses, in the mean."""
    if not isinstance(loss, Mapping):
        return float(loss)
    if "loss" in loss:
        # As if each of a schedule's losses held for as long.
        return math.fsum(loss["loss"]) / len(loss["loss"])
    if loss["kind"] == "bit-errors":
        return float(1 - (1 - loss["rate"]) ** (_BITS * size))
    if loss["kind"] == "gilbert-elliott":
        bad = loss["to_bad"] / (loss["to_bad"] + loss["to_good"])
        return float(bad * loss["loss_bad"] + (1 - bad) * loss["loss_good"])
    return 0.0
