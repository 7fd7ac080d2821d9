"""What a scenario says of a link beyond its rate, its delay and the limit of its queue, for `BulkPath.line`.

Example:
    >>> scenario = tl.loads('''
    ... duration = "10 s"
    ... [link.dsl]
    ... ends = ["net", "home"]
    ... rate = "16 Mbit/s"
    ... queue = "50 packets"
    ... loss = "1 %"
    ... reverse = { rate = "1 Mbit/s", queue = "9 packets" }
    ... ''')
    >>> line = line_of(scenario.link["dsl"], scenario.explicit().link["dsl"], turned=False)
    >>> line["loss"], line["reverse"]
    (0.01, {'rate': '1 Mbit/s', 'queue': '9 packets'})
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tightlink import units
from tightlink.scenario.links import Duplex

#: What `BulkPath` has as numbers.
_NUMBERS: Final = {"rate", "delay", "queue"}
#: What the reverse direction has as numbers, and what acts together with processors alone.
_LEFT_OUT: Final = {"delay", "flow_control"}
#: How keys of one direction are taken away that the other one has not got.
_NOTHING: Final = {"ecn": "keep"}
_IDLE: Final = ("none", "keep", 0.0, {"overhead": "0 B", "smallest": "0 B"})


def line_of(link: Duplex, explicit: Duplex, *, turned: bool) -> dict[str, Any]:
    """The keys of a path's link that no number of `BulkPath` stands for; none of a plain link that is alike both ways.

    The link is given as it was written, and with the defaults of its profile; ``turned`` where data go from its second
    end to the first.
    """
    there, back = (wire.written() for wire in link.directions())
    if there.keys() <= _NUMBERS and there | {"delay": None} == back | {"delay": None}:
        return {}
    left_out = _LEFT_OUT | ({"mtu"} - there.keys() - back.keys())
    there, back = (wire.written() for wire in explicit.directions()[:: -1 if turned else 1])
    forward = {key: value for key, value in there.items() if key not in _NUMBERS | left_out}
    if slower_shaper(there) is not None:
        forward["rate"] = there["rate"]
    elif "shaper" in forward:
        del forward["shaper"]
    alike = forward | {"rate": there["rate"]}
    reverse = {key: value for key, value in back.items() if key not in left_out and value != alike.get(key)}
    return forward | {"reverse": {key: _NOTHING.get(key, "none") for key in forward.keys() - back.keys()} | reverse}


def slower_shaper(wire: Mapping[str, Any]) -> str | None:
    """The rate of a direction's token bucket, where it is below that of the line and so that of the bottleneck."""
    shaper, rate = wire.get("shaper"), wire["rate"]
    if not isinstance(shaper, dict) or not isinstance(rate, str) or not rate.endswith("bit/s"):
        return None
    return str(shaper["rate"]) if units.rate(shaper["rate"]) < units.rate(rate) else None


def named(line: Mapping[str, Any]) -> list[str]:
    """The keys of a line that do something, those of its reverse direction behind the others.

    >>> named({"loss": 0.0, "arq": {"after": "8 ms"}, "reverse": {"rate": "1 Mbit/s", "arq": "none"}})
    ['arq', 'reverse.rate', 'reverse.arq']
    """
    reverse = line.get("reverse", {})
    found = [key for key in line if key not in {"rate", "reverse"} and line[key] not in _IDLE]
    # What is taken away does something where the forward direction has it.
    return found + [f"reverse.{key}" for key in reverse if reverse[key] not in _IDLE or key in found]


def with_bandwidth(line: Mapping[str, Any], bandwidth: str) -> dict[str, Any]:
    """A line that carries the bandwidth: its token bucket where it has one, and otherwise its transmitter.

    >>> with_bandwidth({"rate": "1 Gbit/s", "shaper": {"rate": "9 Mbit/s", "burst": "9 kB"}}, "20 Mbit/s")
    {'rate': '1 Gbit/s', 'shaper': {'rate': '20 Mbit/s', 'burst': '9 kB'}}
    """
    if "shaper" not in line:
        return {**line, "rate": bandwidth}
    rate = max(line["rate"], bandwidth, key=units.rate)
    return {**line, "rate": rate, "shaper": line["shaper"] | {"rate": bandwidth}}
