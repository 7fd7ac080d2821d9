"""The backbones of four-tier networks, and where their access routers are (``backbones.toml``).

Example:
    >>> ABILENE.links[0], ABILENE.delay(0)
    (('New York', 'Chicago'), '5.729 ms')
    >>> [(len(net.cities), len(net.links), len(net.pops)) for net in (ABILENE, ISP)]
    [(11, 14, 22), (22, 33, 44)]
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

from tightlink.scenario.topologies.geography import Place, delay

_DATA: Final = tomllib.loads((files("tightlink.scenario.topologies") / "backbones.toml").read_text(encoding="utf-8"))

#: Latitude and longitude in degrees.
CITIES: Final[dict[str, Place]] = {city: (north, east) for city, (north, east) in _DATA["cities"].items()}

#: Fast and normal access routers of a point of presence.
_Access = tuple[int, int]


@dataclass(frozen=True)
class Backbone:
    """A backbone, and what is connected to it."""

    #: The cities of the backbone routers, in the order of their numbers; of the two points of presence in each, how
    #: many fast and how many normal access routers they have.
    presence: dict[str, tuple[_Access, _Access]]
    links: tuple[tuple[str, str], ...]
    #: Cities with an access router directly at their backbone router.
    direct: tuple[str, ...]
    #: Mean propagation round trip between two different access routers, in milliseconds, with the default delays.
    round_trip_ms: float

    @property
    def cities(self) -> tuple[str, ...]:
        """The cities of the backbone routers."""
        return tuple(self.presence)

    @property
    def pops(self) -> list[_Access]:
        """The points of presence: of city i numbers 2 i and 2 i + 1."""
        return [pop for both in self.presence.values() for pop in both]

    def delay(self, link: int) -> str:
        """The propagation delay of one of the links."""
        one, other = self.links[link]
        return delay(CITIES[one], CITIES[other])

    def router(self, city: str) -> int:
        """The number of the backbone router in a city."""
        return self.cities.index(city)

    def places(self, *, fast: bool) -> list[int]:
        """For each fast, or each normal, access router the point of presence that it is at."""
        counts = [of_fast if fast else of_normal for of_fast, of_normal in self.pops]
        return [pop for pop, count in enumerate(counts) for _ in range(count)]


def _backbone(presence: dict[str, Any], links: list[list[str]], round_trip_ms: float) -> Backbone:
    return Backbone(
        presence={city: ((one[0], one[1]), (other[0], other[1])) for city, (one, other) in presence.items()},
        links=tuple((one, other) for one, other in links),
        direct=tuple(_DATA["direct"]),
        round_trip_ms=round_trip_ms,
    )


#: By the name of the variant.
BACKBONES: Final = {name: _backbone(**table) for name, table in _DATA["backbones"].items()}
ABILENE: Final = BACKBONES["abilene"]
ISP: Final = BACKBONES["isp"]
