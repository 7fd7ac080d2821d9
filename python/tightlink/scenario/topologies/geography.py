"""Distances on the Earth, and how long light in a fibre takes for them.

Example:
    >>> round(kilometres((40.714, -74.006), (41.850, -87.650)))
    1146
    >>> delay((40.714, -74.006), (41.850, -87.650))
    '5.729 ms'
"""

from __future__ import annotations

import math
from typing import Final

from tightlink import units

#: Latitude and longitude in degrees, north and east.
Place = tuple[float, float]

_EARTH_RADIUS_KM: Final = 6371.0
#: Two thirds of the speed of light, as the refractive index of glass is near 1.5.
KM_PER_MS: Final = 200.0


_POLE: Final = 90
_ROUND: Final = 360


def is_on_earth(place: Place) -> bool:
    """Whether there is such a place: some count longitudes from 0 to 360.

    >>> is_on_earth((47.4, 8.5)), is_on_earth((91.0, 8.5)), is_on_earth((float("nan"), 0.0))
    (True, False, False)
    """
    north, east = place
    return -_POLE <= north <= _POLE and -_ROUND <= east <= _ROUND


def kilometres(one: Place, other: Place) -> float:
    """The length of the great circle between two places (haversine formula)."""
    (north, east), (other_north, other_east) = ([math.radians(angle) for angle in place] for place in (one, other))
    half_chord = (
        math.sin((north - other_north) / 2) ** 2
        + math.cos(north) * math.cos(other_north) * math.sin((east - other_east) / 2) ** 2
    )
    return 2 * _EARTH_RADIUS_KM * math.asin(math.sqrt(min(1.0, half_chord)))


def delay(one: Place, other: Place) -> str:
    """The propagation delay of a straight fibre between two places.

    To the microsecond, so that the last digit of a sine, which differs between machines, does not matter.
    """
    return units.format_time(round(kilometres(one, other) / KM_PER_MS * 1e-3, 6))
