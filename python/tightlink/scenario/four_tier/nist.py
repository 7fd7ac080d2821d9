"""How the congestion controls of NIST SP 500-282 differ from what ours are by default, as far as it is known.

- After a timeout the window is the initial one, not one packet, and the threshold no smaller (after the code of a third
  party that names the document's chapter 5; it is about Scalable TCP, and taken for all here).
- Slow start is the same for all controls: with a high threshold all reach the highest rate with the same quickness
  (slides of 30 June 2011, increase rate). Of ours FAST leaves it when delays grow.
- H-TCP is standard TCP for a second after each loss (the same, loss and recovery processing); ours, as Linux's, grows
  more slowly there where it gave up less than half. Whether the study scaled its growth by the round trip is not known:
  its authors describe that as an option.

Example:
    >>> control("htcp")
    {'kind': 'htcp', 'low_speed_scaling': False, 'rtt_scaling': False}
    >>> control("reno"), control({"kind": "fast", "alpha": "20 packets"})
    ('reno', {'kind': 'fast', 'mi_threshold': '1000 s', 'alpha': '20 packets'})
"""

from __future__ import annotations

from typing import Any, Final

#: No queueing delay is as long: the threshold, or a loss, ends slow start.
_ANY_DELAY: Final = {"mi_threshold": "1000 s"}
_OPTIONS: Final[dict[str, dict[str, Any]]] = {
    "fast": _ANY_DELAY,
    "fast-at": _ANY_DELAY,
    "htcp": {"low_speed_scaling": False, "rtt_scaling": False},
}


def control(chosen: str | dict[str, Any]) -> str | dict[str, Any]:
    """A congestion control as the study has it; options that are given stay as they are."""
    given = {"kind": chosen} if isinstance(chosen, str) else chosen
    options = _OPTIONS.get(given["kind"])
    return chosen if options is None else {"kind": given["kind"]} | options | given
