"""Why was this flow as fast as it was? One sentence each, in plain words, from the shares of its time.

Example:
    >>> row = {"label": "ftp", "transport": "tcp", "limited_by_receiver_window": 0.97, "packets_dropped": 0}
    >>> say(row, "20 packets")
    "was held back 97 % of the time by the receiver's window of 20 packets while the path had room: open the window"
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from tightlink.plots.labels import grouped

if TYPE_CHECKING:
    from collections.abc import Mapping

_PREFIX: Final = "limited_by_"
#: Below this share of the time, the second reason is named too.
_CLEAR: Final = 0.7
_WORTH_NAMING: Final = 0.1
_SECOND: Final = {
    "network": "the full path",
    "receiver_window": "the receiver's window",
    "congestion_window": "the congestion window",
    "sender_rate": "the sender's packet rate",
    "pacing": "pacing",
    "application": "the application",
    "handshake": "the handshake",
}


def main_limit(row: Mapping[str, Any]) -> str:
    """What limited a flow for most of its time, such as "receiver_window"; empty where nothing is known."""
    shares = _shares(row)
    return shares[0][0] if shares else ""


def say(row: Mapping[str, Any], window: str | None = None) -> str:
    """What held a flow back, and what would help, to follow its name.

    Args:
        row: The flow's row of the table ``flows``.
        window: Its receiver's window, as the scenario writes it.
    """
    shares = _shares(row)
    if not shares:
        return "has no account of its time"
    limit, share = shares[0]
    if row.get("transport") == "udp":
        return "sends what its application offers, unhindered" + _lost(row)
    sentence = _SENTENCES[limit](row, f"{percent(share)} of the time", window)
    if share < _CLEAR and len(shares) > 1 and shares[1][1] >= _WORTH_NAMING:
        other, more = shares[1]
        sentence += f" ({percent(more)} of the time: {_SECOND[other]})"
    return sentence


def of_many(said: str) -> str:
    """The sentence for several flows.

    >>> of_many("was held back 97 % of the time by its congestion window")
    'were held back 97 % of the time by their congestion window'
    """
    words = {"was": "were", "its": "their", "sends": "send", "has": "have"}
    return re.sub(r"\b(was|its|sends|has)\b", lambda found: words[found[0]], said)


def percent(share: float) -> str:
    """A share for people: never "100 %" for nearly all.

    >>> percent(0.974), percent(0.9996), percent(1.0), percent(0.001)
    ('97 %', 'over 99 %', '100 %', 'under 1 %')
    """
    if 0.995 <= share < 1.0 - 1e-9:  # noqa: PLR2004
        return "over 99 %"
    if 0 < share < 0.005:  # noqa: PLR2004
        return "under 1 %"
    return f"{share * 100:.0f} %"


def _shares(row: Mapping[str, Any]) -> list[tuple[str, float]]:
    """The limits that took time, the greatest first."""
    found = [(name.removeprefix(_PREFIX), row[name] or 0.0) for name in row if name.startswith(_PREFIX)]
    return sorted(((name, share) for name, share in found if share > 0), key=lambda item: -item[1])


def _lost(row: Mapping[str, Any]) -> str:
    lost, sent = row.get("packets_dropped") or 0, row.get("packets_sent") or 0
    return f"; {percent(lost / sent)} of its packets were lost" if lost and sent else ""


def _network(_: Mapping[str, Any], time: str, window: str | None) -> str:
    where = f"its window of {window}" if window else "its window"
    return (
        f"filled the path {time}: beyond {where} more would lengthen the queue, not raise the goodput; "
        "only a faster bottleneck would"
    )


def _receiver_window(_: Mapping[str, Any], time: str, window: str | None) -> str:
    of = f" of {window}" if window else ""
    return f"was held back {time} by the receiver's window{of} while the path had room: open the window"


def _congestion_window(row: Mapping[str, Any], time: str, _: str | None) -> str:
    lost = row.get("packets_dropped") or 0
    if not lost:
        return f"was held back {time} by its congestion window, which met no loss and still grew"
    timeouts = row.get("timeouts") or 0
    waits = f" and {_count(timeouts, 'timeout')}" if timeouts else ""
    of = f" of {grouped(row['packets_sent'])}" if row.get("packets_sent") else ""
    packets = f"{grouped(lost)}{of} packets lost"
    return f"was held back {time} by its congestion window, which losses kept small ({packets}{waits})"


def _sender_rate(_: Mapping[str, Any], time: str, __: str | None) -> str:
    return f"was held back {time} by the packets per second that its sender's interface takes"


def _pacing(_: Mapping[str, Any], time: str, __: str | None) -> str:
    return f"waited {time} for its pacing timer: its congestion control sets the rate"


def _application(_: Mapping[str, Any], time: str, __: str | None) -> str:
    return f"had nothing to send {time}: the application is its limit, not the network"


def _handshake(_: Mapping[str, Any], time: str, __: str | None) -> str:
    return f"was not connected {time}, waiting for the handshake"


_SENTENCES: Final = {
    "network": _network,
    "receiver_window": _receiver_window,
    "congestion_window": _congestion_window,
    "sender_rate": _sender_rate,
    "pacing": _pacing,
    "application": _application,
    "handshake": _handshake,
}


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
