"""Two settings of ns-2's TCP that the document does not give: each changed by itself, and both.

The initial threshold: ns-2 resets its agents as a run begins, and each takes its window as the threshold then
(``TcpAgent::reset``). An agent that gets its window later, by an event at time 0, keeps 20 packets, the default window.

ACKs: ``Agent/TCPSink`` acknowledges each packet, as ns-2 has it by default; ``Agent/TCPSink/DelAck`` every second, as
the hosts that were measured did.

Example:
    >>> [each.name for each in ALTERNATIVES], [each.changed for each in ALTERNATIVES]
    (['defaults', 'threshold-20', 'delayed-acks', 'threshold-20-delayed-acks'], [0, 1, 1, 2])
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Alternative:
    """A reading of what the document leaves to ns-2."""

    name: str
    title: str
    tcp: Mapping[str, object] = field(default_factory=dict)
    """Keys of the transport that differ from ns-2's defaults."""

    @property
    def changed(self) -> int:
        """How many settings differ from ns-2's defaults: what a criterion charges it for."""
        return len(self.tcp)

    def task(self, name: str) -> str:
        """Name of a task under it; that of the chosen one has no prefix."""
        return name if self is CHOSEN else f"{self.name}/{name}"


_THRESHOLD: Final[dict[str, object]] = {"initial_ssthresh": "20 packets"}
_DELAYED: Final[dict[str, object]] = {"delayed_acks": True}
DEFAULTS: Final = Alternative("defaults", "ns-2's defaults")
#: Of which the claims are judged: the document's figures choose it.
CHOSEN: Final = Alternative("threshold-20-delayed-acks", "initial threshold 20, delayed ACKs", _THRESHOLD | _DELAYED)
ALTERNATIVES: Final = (
    DEFAULTS,
    Alternative("threshold-20", "initial threshold 20", _THRESHOLD),
    Alternative("delayed-acks", "delayed ACKs", _DELAYED),
    CHOSEN,
)
