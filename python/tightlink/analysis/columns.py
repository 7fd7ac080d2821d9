"""How columns of measurements may be spelt, and what each spelling is in SI.

Example:
    >>> SPELLINGS["throughput_kbit_per_s"], SPELLINGS["load_percent"]
    (('throughput_bps', 1000.0), ('load', 0.01))
    >>> misspelt("throughput_mbps", ("throughput_bps",))
    'throughput_mbit_per_s'
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from tightlink.errors import closest

_BIT_RATES: Final = ("throughput", "goodput", "frame_throughput", "offered")
_SHARES: Final = ("load", "load_true", "load_reported", "loss")
_SIZES: Final = ("packet_bytes", "payload_bytes", "frame_bytes", "window_bytes")
_COUNTS: Final = ("window_packets", "flows")
#: "mbps" could be milli, and "MBps" bytes: neither is here.
_BIT_UNITS: Final = {
    "bps": 1.0,
    "bit_per_s": 1.0,
    "kbps": 1e3,
    "kbit_per_s": 1e3,
    "Mbps": 1e6,
    "mbit_per_s": 1e6,
    "Mbit_per_s": 1e6,
    "Gbps": 1e9,
    "gbit_per_s": 1e9,
    "Gbit_per_s": 1e9,
}
_PACKET_UNITS: Final = {"packets_per_s": 1.0, "pps": 1.0, "kpackets_per_s": 1e3, "kpps": 1e3}
#: Endings that look like a unit.
_UNIT: Final = re.compile(r"_(\w*bp?s|\w*bits?|\w*bytes|\w*(bits?|b|packets?)_?(per|p)_?s\w*|pct|perc)", re.IGNORECASE)
_PREFIX: Final = re.compile(r"_?([kmg]?)", re.IGNORECASE)


def _spellings() -> dict[str, tuple[str, float]]:
    table = {name: (name, 1.0) for name in (*_SIZES, *_COUNTS)} | {
        "time_s": ("time_s", 1.0),
        "time_ms": ("time_s", 1e-3),
    }
    for stem in _BIT_RATES:
        table |= {f"{stem}_{unit}": (f"{stem}_bps", factor) for unit, factor in _BIT_UNITS.items()}
    for stem in ("", "offered_"):
        table |= {f"{stem}{unit}": (f"{stem}packets_per_s", factor) for unit, factor in _PACKET_UNITS.items()}
    for share in _SHARES:
        table |= {share: (share, 1.0), f"{share}_percent": (share, 0.01)}
    return table


#: By the name of a column: what Tightlink calls it, and the factor to its unit.
SPELLINGS: Final = _spellings()


def misspelt(column: str, wanted: Iterable[str]) -> str | None:
    """What a column that cannot be understood probably should be called, if it is one of those wanted."""
    if column in SPELLINGS:
        return None
    for name in wanted:
        stem = name.removesuffix("_bps").removesuffix("_bytes")
        if not column.casefold().startswith(stem.casefold()) or not _UNIT.fullmatch(column[len(stem) :]):
            continue
        if name.endswith("_bps"):
            ending = column[len(stem) :]
            prefix = _PREFIX.match(ending)
            bytes_ = "B" in ending or "byte" in ending.casefold()
            return f"{stem}_{prefix[1].lower() if prefix else ''}bit_per_s{', 8 times as large' if bytes_ else ''}"
        options = [spelling for spelling, (canonical, _) in SPELLINGS.items() if canonical == name]
        return closest(column, options) or options[-1]
    return None
