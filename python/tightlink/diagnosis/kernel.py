"""What the kernel of a measured flow's sender counted itself (``tcp_info``), beside our account of the flow's time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from tightlink.diagnosis.words import percent

if TYPE_CHECKING:
    from tightlink.run import Run

_COUNTED: Final = ("busy", "receiver_limited", "buffer_limited")
#: Shares of time that differ by more are said.
_DIFFERS: Final = 0.2


class Kernel:
    """What the senders' kernels counted in a run of any source; nothing where nobody asked them."""

    def __init__(self, run: Run) -> None:
        self._counted: Mapping[str, Mapping[str, float]] = run.manifest.get("tcp_info", {})

    def shares(self, row: Mapping[str, Any]) -> dict[str, float] | None:
        """Shares of a flow's time: with data to send or outstanding, at the receiver's window, at the send buffer."""
        counted, lasted = self._counted.get(row["label"]), row["stop_s"] - row["start_s"]
        if counted is None or lasted <= 0:
            return None
        # It continues counting until the last ACK, after the flow's stop.
        shares = {name: min(1.0, counted[f"{name}_s"] / lasted) for name in _COUNTED}
        return shares | {"rtt_min_s": counted["rtt_min_s"]}

    def shortest_s(self, label: str) -> float | None:
        """The shortest round trip that the kernel took, in seconds."""
        counted = self._counted.get(label)
        return None if counted is None or not counted["rtt_min_s"] else counted["rtt_min_s"]


def disagreement(row: Mapping[str, Any], kernel: Mapping[str, float] | None) -> str:
    """Where the kernel counts much more time at the receiver's window than we do, in words.

    Less is no contradiction: a window that the sender's application keeps is not known to the kernel.
    """
    if kernel is None:
        return ""
    # What we count as the network's may be time at the receiver's window, too.
    ours = sum(row[f"limited_by_{name}"] or 0.0 for name in ("receiver_window", "network"))
    theirs = kernel["receiver_limited"]
    return f"Linux counts {percent(theirs)} of the time at the receiver's window" if theirs > ours + _DIFFERS else ""
