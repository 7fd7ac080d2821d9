"""How much memory a run will need: known before it starts, where there are users.

The constants are from measurements (`benchmarks/memory.py`, and what they gave in docs/benchmarks.md).

Example:
    >>> needed = Memory(sources=2**20, packets=0)
    >>> needed.bytes == PROGRAM_BYTES + 2**20 * SOURCE_BYTES
    True
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tightlink.errors import ScenarioError
from tightlink.scenario.offered import most_offered, packets_per_s

if TYPE_CHECKING:
    from collections.abc import Mapping

_MIB: Final = 2**20
_GIB: Final = 2**30

#: Python, the engine and the scenario, before there are any sources.
PROGRAM_BYTES: Final = 46 * _MIB
#: A source with its share of receivers, while it transmits.
SOURCE_BYTES: Final = 1400
#: A packet on its way: 32 B, and 24 B that its queue knows of it.
PACKET_BYTES: Final = 56

_LINE_PACKET_BYTES: Final = 1500
#: Where Linux says what the processes of a container may use.
_CONTAINER: Final = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


@dataclass(frozen=True)
class Memory:
    """What will need memory: at worst all sources transmit, and all queues are full that can be."""

    sources: int
    packets: int
    """The most that fit onto lines and into queues that can fill; those without a limit are not counted."""

    @property
    def bytes(self) -> int:
        """All of it."""
        return PROGRAM_BYTES + self.sources * SOURCE_BYTES + self.packets * PACKET_BYTES

    def __str__(self) -> str:
        return f"up to {_size(self.bytes)} of memory, for {self.sources} sources and {self.packets} packets under way"


def needed(resolved: Mapping[str, Any]) -> Memory | None:
    """What a run with users needs at worst, from its resolved scenario; nothing where there are none.

    Flows by themselves need little; scattered datagrams as much as pile up.
    """
    users = resolved["users"]
    if not users:
        return None
    sources = sum(site["sources"] for group in users for site in group["sites"])
    ends = {site["node"] for group in users for site in group["sites"]}
    ends |= {node for group in resolved["scatter"] for node in group["nodes"]}
    links = resolved["links"]
    offered = most_offered(len(resolved["nodes"]), links, ends)
    return Memory(sources + sum(len(group["long_lived"]) for group in users), sum(map(_packets, links, offered)))


def check_fits(wanted: Memory | None) -> None:
    """An error where a run will not fit into this machine.

    Raises:
        ScenarioError: With the estimate, and what there is.
    """
    there = available()
    if wanted is not None and there is not None and wanted.bytes > there:
        raise ScenarioError(
            f"this run needs {wanted}, and this machine has {_size(there)}: take fewer sources or smaller queues",
            key="traffic",
            statement=True,
        )


def available() -> int | None:
    """The memory of this machine, or of the container that this process is in; nothing where it is not known."""
    found = []
    if sys.platform != "win32":
        with suppress(OSError, ValueError):
            found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for file in _CONTAINER:
        with suppress(OSError, ValueError):
            found.append(int(Path(file).read_text(encoding="ascii")))
    return min(found, default=None)


def _packets(link: Mapping[str, Any], offered: float) -> int:
    """The most packets that are in the queue of a link, in service, and on its line."""
    carried = packets_per_s(link)
    limit = link["queue"]["limit"]
    waiting = 0
    if isinstance(limit, dict) and offered > carried:
        waiting = limit["packets"] if "packets" in limit else limit["bytes"] // _LINE_PACKET_BYTES
    return int(waiting + min(carried, offered) * link["delay_s"]) + 1


def _size(count: int) -> str:
    return f"{count / _GIB:.1f} GiB" if count >= _GIB else f"{max(1, round(count / _MIB))} MiB"
