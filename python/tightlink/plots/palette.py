"""The colours of all figures, on paper and on screen: told apart by the colour-blind, and on dark ground.

The series' colours are those of Okabe and Ito without black and yellow, which vanish on a dark and on
a light ground.

Example:
    >>> SERIES[0], LIMITS["receiver_window"].name
    ('#0072b2', "receiver's window")
    >>> colors(["cubic", "bbr"])["cubic"] == colors(["reno", "cubic"])["cubic"]
    True
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from tightlink.lazy import pl
from tightlink.run import Run

#: Colours of series, in the order in which they are used.
SERIES: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c7a5b", "#8f8f8f")
#: Raw values behind a smoothed line of the first colour: half transparent, for light and dark grounds.
PALE: Final = f"{SERIES[0]}66"
#: Axes and grids that read on light and dark grounds.
NEUTRAL: Final = "#8a8f98"

#: The first and the last shade of ordered levels, which are no series: they read on light and dark grounds.
_SHADES: Final = ("#c9b0e8", "#7338b8")

#: Of effects by their mark: blue for p < 0.01 and orange for p < 0.05, as in NIST 2010.
SIGNIFICANT: Final[dict[str, str]] = {"**": SERIES[0], "*": SERIES[4]}


def _between(first: str, last: str, share: float) -> str:
    """The colour that has so much of the last one, and else of the first."""
    parts = ([int(color[place : place + 2], 16) for place in (1, 3, 5)] for color in (first, last))
    return "#" + "".join(f"{round(a + share * (b - a)):02x}" for a, b in zip(*parts, strict=True))


_DARKER: Final = tuple(_between(color, "#000000", 0.4) for color in SERIES)
_LIGHTER: Final = tuple(_between(color, "#ffffff", 0.4) for color in SERIES)
#: As many names as this have colours of their own in one figure.
NAMED: Final = (*SERIES, *_DARKER, *_LIGHTER)
#: Grey is what a name gets last.
_VIVID: Final = len(SERIES) - 1
#: Names that have a place of their own among `NAMED`: congestion controls, all apart, and protocols. Those that
#: are often compared, such as the eight of NIST 2010, are told apart by the colour-blind, too (`tests/test_colors.py`).
_PLACES: Final[dict[str, int]] = (
    {"cubic": 0, "bbr": 1, "reno": 2, "highspeed": 3, "compound": 4, "fast": 5, "vegas": 6, "prices": 7}
    | {"fast-at": 8, "htcp": 9, "westwood": 10, "prague": 11, "scalable": 12, "ledbat": 13, "bbr3": 14, "bic": 15}
    | {"dctcp": 16, "hybla": 17, "veno": 18, "illinois": 19}
    | {"copa": 20, "yeah": 21, "vivace": 22, "ledbat++": 23}
    | {"tcp": 0, "udp": 4, "icmp": 3}
)
#: A link is drawn that is at least so busy, of what the busiest is.
NEARLY: Final = 0.5
_MEMBER: Final = re.compile(r"(?P<group>.*)\[(?P<index>\d+)\]")


def colors(names: Iterable[str], among: Iterable[str] = ()) -> dict[str, str]:
    """A colour for each name: the same in every figure, unless another name of the figure has it already.

    A congestion control has its own colour, and so has the flow or the group of flows that is called like it; any other
    name gets one that depends on the name alone. Of two names that would get the same, the second gets the next that
    is free: give the names of all flows of a run, and every figure of the run agrees. Numbers have no colour of their
    own and get what is free, in their order.

    Args:
        names: What is drawn; beyond 24 of them colours repeat.
        among: Names that get their colours before, one after the other, such as `entities` of a run, drawn or not.

    >>> colors(["bbr[0]", "bbr[1]"])["bbr[0]"] == colors(["bbr"])["bbr"]
    True
    >>> len(set(colors(f"flow[{place}]" for place in range(24)).values()))
    24
    >>> among = [f"link[{place}]" for place in range(66)]
    >>> len(set(colors(among[::11], among).values()))
    6
    """
    listed = list(dict.fromkeys(map(str, names)))
    found: dict[str, str] = {}
    taken: set[int] = set()
    for name in dict.fromkeys([*map(str, among), *ranked(listed)]):
        place = next(place for place in _order(_wanted(name)) if place not in taken)
        found[name] = NAMED[place]
        taken = taken | {place} if len(taken) < len(NAMED) - 1 else set()
    drawn = {name: found[name] for name in listed}
    for place, name in enumerate(listed[: len(NAMED)]):
        # More names than colours come before them: of what is drawn none shares its colour for that.
        if drawn[name] in {drawn[other] for other in listed[:place]}:
            drawn[name] = next(NAMED[free] for free in _order(_wanted(name)) if NAMED[free] not in drawn.values())
    return drawn


def shades(levels: Sequence[str]) -> dict[str, str]:
    """Shades of one colour, that of no series, for levels from small to large: from light to dark.

    >>> shades(["1 BDP", "2 BDP", "4 BDP"])
    {'1 BDP': '#c9b0e8', '2 BDP': '#9e74d0', '4 BDP': '#7338b8'}
    """
    steps = max(1, len(levels) - 1)
    return {level: _between(*_SHADES, place / steps) for place, level in enumerate(levels)}


def ranked(names: Iterable[str]) -> list[str]:
    """Names in the order in which they get their colours: what is added later changes less.

    Those with places of their own come first, then first members of groups.
    """
    return sorted(dict.fromkeys(names), key=_rank)


def entities(run: Run) -> list[str]:
    """What a run draws by name, flows and links, which share their colours in all of its figures.

    Links that are not nearly as busy as the busiest come last: most are not drawn, and would take the colours that are
    told apart best.
    """
    named = [*run.flows["label"]] if "flows" in run.tables else []
    sampled = [*run.series["entity"].unique(maintain_order=True)] if "series" in run.tables else []
    busy = run.links.filter(pl.col("utilization") >= NEARLY * pl.col("utilization").max())["link"]
    idle = [name for name in run.links["link"] if name not in set(busy)]
    return [*ranked([*named, *busy]), *ranked(name for name in [*sampled, *idle] if name not in {*named, *busy})]


def _rank(name: str) -> tuple[int, int, str]:
    member = _MEMBER.fullmatch(name)
    if member is not None:
        return (1, int(member["index"]), name)
    if _wanted(name) is None:
        return (3, 0, "")
    # Others stay in their order: what is named first, such as flows before links, keeps the vivid colours.
    return (0, 0, name) if name.casefold() in _PLACES else (2, 0, "")


def _wanted(name: str) -> int | None:
    """The place of a name among the colours, if nothing else were drawn; none for a number."""
    member = _MEMBER.fullmatch(name)
    if member is not None:
        first = _wanted(member["group"]) or 0
        return first if member["index"] == "0" else (first + int(member["index"])) % _VIVID
    if name[:1].isdigit() or name[:1] in {"-", "+", "."}:
        return None
    return _PLACES.get(name.casefold(), zlib.crc32(name.encode()) % _VIVID)


def _order(wanted: int | None) -> list[int]:
    """All places, the wanted one first, then those of vivid colours, then grey, darker and lighter ones."""
    first = 0 if wanted is None else wanted
    vivid = [(first + step) % _VIVID for step in range(_VIVID)]
    return list(dict.fromkeys([first, *vivid, *range(len(NAMED))]))


@dataclass(frozen=True)
class Limit:
    """What can hold a flow back: its name for people, and its colour in every figure."""

    name: str
    color: str


#: By the end of the columns ``limited_by_*``, in the order in which bars stack them.
LIMITS: Final[dict[str, Limit]] = {
    "network": Limit("network (the path is full)", "#009e73"),
    "receiver_window": Limit("receiver's window", "#d55e00"),
    "congestion_window": Limit("congestion window", "#0072b2"),
    "sender_rate": Limit("sender's packet rate", "#cc79a7"),
    "pacing": Limit("pacing", "#56b4e9"),
    "application": Limit("application", "#b9bec6"),
    "handshake": Limit("handshake", "#8c7a5b"),
}


def for_page() -> dict[str, object]:
    """What `colors` and `LIMITS` are made of, for pages that draw what was not known when they were written."""
    limits = {f"limited_by_{key}": limit.color for key, limit in LIMITS.items()}
    return {"named": NAMED, "series": len(SERIES), "vivid": _VIVID, "places": _PLACES, "limits": limits}
