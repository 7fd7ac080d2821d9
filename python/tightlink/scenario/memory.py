"""How much memory a run will need: known before it starts.

The constants are from measurements (`benchmarks/memory.py`, and what they gave in docs/benchmarks.md).

Example:
    >>> needed = Memory(sources=2**20, packets=0)
    >>> needed.bytes == PROGRAM_BYTES + 2**20 * SOURCE_BYTES
    True
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tightlink import units
from tightlink.errors import ScenarioError
from tightlink.numbers import grouped, several
from tightlink.scenario.beside_users import first_users
from tightlink.scenario.offered import most_offered, packets_per_s
from tightlink.scenario.traffic import Flow
from tightlink.scenario.users import Users

if TYPE_CHECKING:
    from tightlink.scenario.model import Scenario

_MIB: Final = 2**20
_GIB: Final = 2**30

#: Python, the engine and the scenario, before there are any sources.
PROGRAM_BYTES: Final = 46 * _MIB
#: A source with its share of receivers, while it transmits.
SOURCE_BYTES: Final = 1400
#: A packet on its way: 32 B, and 24 B that its queue knows of it.
PACKET_BYTES: Final = 56

#: A link or a node of a topology, from its description to its row in a table.
ELEMENT_BYTES: Final = 1900
#: A flow, likewise.
FLOW_BYTES: Final = 2400
#: A row of a table over time.
ROW_BYTES: Final = 66
#: The way from a node to a place where users or scattered datagrams arrive.
ROUTE_BYTES: Final = 14

#: Rows of each sample: of a link, of a flow, of a processor, and of a group of users without those of its paths.
_ROWS: Final = {"link": 3, "flow": 6, "processor": 4, "group": 10}
#: Nodes, links and flows that are built within minutes, and those that are built in a moment.
_MOST_BUILT: Final = 2_000_000
_FEW_BUILT: Final = 100_000
#: What one takes at most: with a wire of its own, or where one of several equal paths is to be chosen.
_BUILT_S: Final = 150e-6
#: Less is not worth a word where there are no users.
_LITTLE: Final = _GIB // 4
_LINE_PACKET_BYTES: Final = 1500
#: Where Linux says what the processes of a container may use.
_CONTAINER: Final = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


@dataclass(frozen=True)
class Memory:
    """What will need memory: at worst all sources transmit, and all queues are full that can be."""

    sources: int
    packets: int
    """The most that fit onto lines and into queues that can fill; those without a limit are not counted."""
    routes: int = 0
    """Ways from nodes to places where packets arrive."""

    @property
    def bytes(self) -> int:
        """The memory that the run needs, in bytes."""
        each = (self.sources * SOURCE_BYTES, self.packets * PACKET_BYTES, self.routes * ROUTE_BYTES)
        return PROGRAM_BYTES + sum(each)

    @property
    def remedy(self) -> str:
        """What to take less of."""
        return "fewer routers" if self.routes * ROUTE_BYTES > self.bytes / 2 else "fewer sources or smaller queues"

    def __str__(self) -> str:
        routes = f" and {self.routes} routes" if self.routes * ROUTE_BYTES > self.bytes / 10 else ""
        under_way = f"{self.sources} sources and {self.packets} packets under way"
        return f"up to {_size(self.bytes)} of memory, for {under_way}{routes}"


@dataclass(frozen=True)
class Outline:
    """What needs memory whatever packets do, before the scenario is expanded: its size, and tables over time."""

    elements: int
    """Nodes and links."""
    flows: int
    rows: int
    """Of the tables over time."""

    @property
    def bytes(self) -> int:
        """The memory that the run needs, in bytes."""
        return PROGRAM_BYTES + self.elements * ELEMENT_BYTES + self.flows * FLOW_BYTES + self.rows * ROW_BYTES

    @property
    def remedy(self) -> str:
        """What to take less of."""
        return (
            "a longer observe.interval"
            if self.rows * ROW_BYTES > self.bytes / 2
            else "fewer flows or a smaller network"
        )

    def __str__(self) -> str:
        rows = f" and {self.rows} samples" if self.rows else ""
        flows = f"{several(self.flows, 'flow')}, " if self.flows else ""
        return f"up to {_size(self.bytes)} of memory, for {flows}{grouped(self.elements)} nodes and links{rows}"


def outline(scenario: Scenario) -> Outline:
    """The size of a scenario, from its tables alone; every default is filled in."""
    topologies = (topology.groups(name) for name, topology in scenario.topology.items())
    elements = sum(sum(groups.values()) for groups in topologies) + 2 * len(scenario.link)
    flows = sum(traffic.flows or 1 for traffic in scenario.traffic.values() if isinstance(traffic, Flow))
    users = [traffic for traffic in scenario.traffic.values() if isinstance(traffic, Users)]
    interval = None if scenario.observe is None else scenario.observe.interval
    samples = 0 if interval is None else int(units.time(scenario.duration) / units.time(interval))
    if first_users(scenario) is None:
        each = elements * _ROWS["link"] + flows * _ROWS["flow"] + len(scenario.node) * _ROWS["processor"]
    else:
        each = sum(_ROWS["group"] + _paths(group) + len(group.long_lived or ()) for group in users) + 1
    return Outline(elements, flows, samples * each)


def check_patience(scenario: Scenario) -> None:
    """An error where a scenario takes minutes to be built, before anything of it is simulated."""
    size = outline(scenario.explicit())
    if size.elements + size.flows > _MOST_BUILT:
        raise ScenarioError(
            f"it needs {size}, which take minutes to be built before anything is simulated: take fewer, or add --yes",
            statement=True,
        )


def patience(scenario: Scenario) -> str | None:
    """How long it takes until a scenario is built, where that is not a moment: nothing is simulated before.

    >>> import tightlink as tl
    >>> tree = tl.FatTree(k=64, link={"rate": "10 Gbit/s"})
    >>> patience(tl.Scenario(duration="1 ms", topology={"net": tree}))
    'building 267,264 nodes, links and flows, which may take 40 s, before anything is simulated'
    """
    size = outline(scenario.explicit())
    count = size.elements + size.flows
    if count <= _FEW_BUILT:
        return None
    takes = units.format_time(float(f"{count * _BUILT_S:.1g}"))
    return f"building {grouped(count)} nodes, links and flows, which may take {takes}, before anything is simulated"


def _paths(users: Users) -> int:
    """Rows of the pairs of classes of routers."""
    return _ROWS["link"] * len(users.places) * (len(users.places) + 1) // 2


def needed(resolved: Mapping[str, Any]) -> Memory | None:
    """What packets and their senders need at worst, from a resolved scenario; nothing where there are no users.

    Flows by themselves need little; scattered datagrams as much as pile up, which is not known, and their routes.
    """
    users = resolved["users"]
    places = sum(len(group["sites"]) for group in users) + sum(len(group["nodes"]) for group in resolved["scatter"])
    routes = len(resolved["nodes"]) * places
    if not users:
        return Memory(0, 0, routes) if routes * ROUTE_BYTES > _LITTLE else None
    sources = sum(site["sources"] for group in users for site in group["sites"])
    ends = {site["node"] for group in users for site in group["sites"]}
    ends |= {node for group in resolved["scatter"] for node in group["nodes"]}
    links = resolved["links"]
    offered = most_offered(len(resolved["nodes"]), links, ends)
    long_lived = sum(len(group["long_lived"]) for group in users)
    return Memory(sources + long_lived, sum(map(_packets, links, offered)), routes)


def check_fits(wanted: Memory | Outline | None) -> None:
    """An error where a run will not fit into this machine."""
    there = available()
    if wanted is not None and there is not None and wanted.bytes > there:
        raise ScenarioError(
            f"this run needs {wanted}, and this machine has {_size(there)}: take {wanted.remedy}",
            key="traffic" if isinstance(wanted, Memory) else None,
            statement=True,
        )


@cache
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
