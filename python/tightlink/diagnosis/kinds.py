"""Congestion controls and queues by what they do: which heed delay or losses, which give flows turns."""

from __future__ import annotations

from typing import Final

#: Controls that give way to any other flow, and are meant to.
YIELDING: Final = frozenset({"ledbat", "ledbat++"})
#: Controls that do not take each loss for congestion.
DEAF: Final = frozenset({"bbr", "bbr3"})
#: Controls that take delay for congestion.
BY_DELAY: Final = frozenset({"vegas", "fast", "fast-at", "ledbat", "ledbat++", "copa"})
#: Controls that send at a rate that they have measured.
BY_RATE: Final = frozenset({"bbr", "bbr3", "vivace"})
#: Controls that reduce by the share of marks.
SCALABLE: Final = frozenset({"dctcp", "prague"})
#: The queue whose classes have turns by their weights.
DRR: Final = "drr"
#: Queues that give flows turns.
FAIR: Final = (DRR, "fq-codel", "fq-pie", "fq-cobalt", "cake")
#: Queues that decide by themselves what they drop, or mark, of all that come.
OF_ALL: Final = ("codel", "pie", "red", "rem", "cobalt")
#: Queues that decide by themselves what they drop.
MANAGED: Final = (*FAIR[1:], *OF_ALL, "dualpi2")
#: Queues that mark packets of all controls alike, those with marks as an option if they have it.
MARKS_ALIKE: Final = ("threshold", *OF_ALL)
#: Queues that drop, or mark, what has waited for longer than a target for an interval, which is to be a round trip.
BY_INTERVAL: Final = ("codel", "cobalt", "fq-codel", "fq-cobalt", "cake")
#: The queue whose classes go one before the other.
STRICT: Final = "strict"
#: The queue that drops what exceeds a rate.
POLICER: Final = "policer"
#: Queues that tell flows or classes apart: waits and losses there may be those of others.
APART: Final = (*FAIR, STRICT, "dualpi2")
