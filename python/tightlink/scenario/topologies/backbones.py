"""The backbones of four-tier networks, and where their access routers are: data, with where it comes from.

Example:
    >>> ABILENE.links[0], ABILENE.delay(0)
    (('New York', 'Chicago'), '5.729 ms')
    >>> [(len(net.cities), len(net.links), len(net.pops)) for net in (ABILENE, ISP)]
    [(11, 14, 22), (22, 33, 44)]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tightlink.scenario.topologies.geography import Place, delay

#: Latitude and longitude in degrees. Origin: GeoNames (geonames.org, CC BY 4.0), rounded to a thousandth of a
#: degree, 0.1 km. Kansas City is the one in Kansas, where Abilene's router stood.
CITIES: Final[dict[str, Place]] = {
    "New York": (40.714, -74.006),
    "Chicago": (41.850, -87.650),
    "Washington DC": (38.895, -77.036),
    "Seattle": (47.606, -122.332),
    "Sunnyvale": (37.369, -122.036),
    "Los Angeles": (34.052, -118.244),
    "Denver": (39.739, -104.985),
    "Kansas City": (39.114, -94.627),
    "Houston": (29.763, -95.363),
    "Atlanta": (33.749, -84.388),
    "Indianapolis": (39.768, -86.158),
    "Boston": (42.358, -71.060),
    "Philadelphia": (39.952, -75.164),
    "Miami": (25.774, -80.194),
    "Dallas": (32.783, -96.807),
    "Phoenix": (33.448, -112.074),
    "Minneapolis": (44.980, -93.264),
    "St. Louis": (38.627, -90.198),
    "Salt Lake City": (40.761, -111.891),
    "Detroit": (42.331, -83.046),
    "Charlotte": (35.227, -80.843),
    "Portland": (45.523, -122.676),
}


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


#: Where traffic was exchanged in the 1990s (New York, Chicago, Washington, San Francisco Bay), and the largest
#: metropolitan areas of the others.
_DIRECT: Final = ("New York", "Chicago", "Washington DC", "Sunnyvale", "Los Angeles", "Atlanta")

#: Abilene in 2005: 11 routers, 14 links (Internet Topology Zoo, after the network's own map).
ABILENE: Final = Backbone(
    # Six access routers at each point of presence, seven at the first. Each has a fast one; a second one has the
    # first in each city with a direct access router.
    presence={
        "New York": ((2, 5), (1, 5)),
        "Chicago": ((2, 4), (1, 5)),
        "Washington DC": ((2, 4), (1, 5)),
        "Seattle": ((1, 5), (1, 5)),
        "Sunnyvale": ((2, 4), (1, 5)),
        "Los Angeles": ((2, 4), (1, 5)),
        "Denver": ((1, 5), (1, 5)),
        "Kansas City": ((1, 5), (1, 5)),
        "Houston": ((1, 5), (1, 5)),
        "Atlanta": ((2, 4), (1, 5)),
        "Indianapolis": ((1, 5), (1, 5)),
    },
    links=(
        ("New York", "Chicago"),
        ("New York", "Washington DC"),
        ("Chicago", "Indianapolis"),
        ("Washington DC", "Atlanta"),
        ("Seattle", "Sunnyvale"),
        ("Seattle", "Denver"),
        ("Sunnyvale", "Los Angeles"),
        ("Sunnyvale", "Denver"),
        ("Los Angeles", "Houston"),
        ("Denver", "Kansas City"),
        ("Kansas City", "Houston"),
        ("Kansas City", "Indianapolis"),
        ("Houston", "Atlanta"),
        ("Atlanta", "Indianapolis"),
    ),
    direct=_DIRECT,
    round_trip_ms=23.1,
)

#: A larger network of our own: Abilene's cities and eleven more, joined where no third city lies in the circle
#: that has the two as a diameter (the Gabriel graph, to which fibre maps of providers are close).
ISP: Final = Backbone(
    # Three access routers at each point of presence, four at the first. A fast one at the first in each city, and
    # at the second in each city with a direct access router: 28.
    presence={
        "New York": ((1, 3), (1, 2)),
        "Chicago": ((1, 2), (1, 2)),
        "Washington DC": ((1, 2), (1, 2)),
        "Seattle": ((1, 2), (0, 3)),
        "Sunnyvale": ((1, 2), (1, 2)),
        "Los Angeles": ((1, 2), (1, 2)),
        "Denver": ((1, 2), (0, 3)),
        "Kansas City": ((1, 2), (0, 3)),
        "Houston": ((1, 2), (0, 3)),
        "Atlanta": ((1, 2), (1, 2)),
        "Indianapolis": ((1, 2), (0, 3)),
        "Boston": ((1, 2), (0, 3)),
        "Philadelphia": ((1, 2), (0, 3)),
        "Miami": ((1, 2), (0, 3)),
        "Dallas": ((1, 2), (0, 3)),
        "Phoenix": ((1, 2), (0, 3)),
        "Minneapolis": ((1, 2), (0, 3)),
        "St. Louis": ((1, 2), (0, 3)),
        "Salt Lake City": ((1, 2), (0, 3)),
        "Detroit": ((1, 2), (0, 3)),
        "Charlotte": ((1, 2), (0, 3)),
        "Portland": ((1, 2), (0, 3)),
    },
    links=(
        ("New York", "Boston"),
        ("New York", "Philadelphia"),
        ("Chicago", "Indianapolis"),
        ("Chicago", "Minneapolis"),
        ("Chicago", "St. Louis"),
        ("Chicago", "Detroit"),
        ("Washington DC", "Philadelphia"),
        ("Washington DC", "Detroit"),
        ("Washington DC", "Charlotte"),
        ("Seattle", "Portland"),
        ("Sunnyvale", "Los Angeles"),
        ("Sunnyvale", "Salt Lake City"),
        ("Sunnyvale", "Portland"),
        ("Los Angeles", "Phoenix"),
        ("Los Angeles", "Salt Lake City"),
        ("Denver", "Kansas City"),
        ("Denver", "Dallas"),
        ("Denver", "Phoenix"),
        ("Denver", "Salt Lake City"),
        ("Kansas City", "Dallas"),
        ("Kansas City", "Minneapolis"),
        ("Kansas City", "St. Louis"),
        ("Houston", "Atlanta"),
        ("Houston", "Dallas"),
        ("Atlanta", "Indianapolis"),
        ("Atlanta", "Miami"),
        ("Atlanta", "St. Louis"),
        ("Atlanta", "Charlotte"),
        ("Indianapolis", "St. Louis"),
        ("Indianapolis", "Detroit"),
        ("Indianapolis", "Charlotte"),
        ("Phoenix", "Salt Lake City"),
        ("Salt Lake City", "Portland"),
    ),
    direct=_DIRECT,
    round_trip_ms=23.1,
)

#: By the name of the variant.
BACKBONES: Final = {"abilene": ABILENE, "isp": ISP}
