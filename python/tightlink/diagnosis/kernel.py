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


def shares(run: Run, row: Mapping[str, Any]) -> dict[str, float] | None:
    """Shares of a flow's time: with data to send or outstanding, at the receiver's window, at the send buffer.

    With the shortest round trip that the kernel took; nothing where nobody asked it.
    """
    counted, lasted = run.manifest.get("tcp_info", {}).get(row["label"]), row["stop_s"] - row["start_s"]
    if counted is None or lasted <= 0:
        return None
    # It continues counting until the last ACK, after the flow's stop.
    found = {name: min(1.0, counted[f"{name}_s"] / lasted) for name in _COUNTED}
    return found | {"rtt_min_s": counted["rtt_min_s"]}


def shortest_s(run: Run, label: str) -> float | None:
    """The shortest round trip that the kernel took, in seconds."""
    return run.manifest.get("tcp_info", {}).get(label, {}).get("rtt_min_s") or None


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
