"""The network of a scenario as a picture: SVG text, for notebooks, without a library to draw it.

Nodes stand in columns by their distance from where traffic begins. Hosts of a group that are attached to the same
router, such as ``net.left[0]`` to ``net.left[99]``, are one node of the picture.

Example:
    >>> import tightlink as tl
    >>> scenario = tl.loads('''
    ... duration = "1 s"
    ... link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms" }
    ... traffic.ftp = { kind = "bulk", from = "a", to = "b" }
    ... ''')
    >>> drawing(scenario.resolve()).count("<circle")
    2
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tightlink import units
from tightlink.numbers import several
from tightlink.scenario.paths import distances

#: Networks with more nodes, after groups have become one each, are not drawn: nobody could tell them apart.
MOST_NODES: Final = 60
#: Up to so many lines have their rate and delay beside them.
_MOST_LABELS: Final = 8
_WIDTH: Final = 640
_MARGIN: Final = 70
_ROW: Final = 56
_TALLEST: Final = 420
_MEMBER: Final = re.compile(r"(?P<group>.*)\[\d+\]")


@dataclass(frozen=True)
class _Line:
    """A line of the picture: its two ends, the text beside it, and whether it narrows what flows."""

    ends: tuple[str, str]
    text: str
    rate_bps: float


def drawing(resolved: Mapping[str, Any]) -> str:
    """A resolved network as SVG, or its size in words where it has too many nodes to be told apart."""
    nodes = [str(node["name"]) for node in resolved["nodes"]]
    both = {(link["from"], link["to"]): link for link in resolved["links"]}
    lines = [link for (start, end), link in both.items() if start < end or (end, start) not in both]
    names = _merged(nodes, [(link["from"], link["to"]) for link in lines])
    drawn: dict[tuple[str, str], _Line] = {}
    for link in lines:
        ends = (names[link["from"]], names[link["to"]])
        drawn.setdefault(ends, _Line(ends, _told(link), link["rate_bps"]))
    order = list(dict.fromkeys(names))
    if not order or len(order) > MOST_NODES:
        return f"<p>A network of {several(len(nodes), 'node')} and {several(len(lines), 'link')}.</p>"
    flows = list(dict.fromkeys((names[flow["from"]], names[flow["to"]]) for flow in resolved["flows"]))
    return _svg(order, list(drawn.values()), flows)


def _merged(nodes: Sequence[str], lines: Iterable[tuple[int, int]]) -> list[str]:
    """What each node is called in the picture: members of a group with the same neighbours share a name."""
    neighbours: dict[int, set[int]] = {}
    for start, end in lines:
        neighbours.setdefault(start, set()).add(end)
        neighbours.setdefault(end, set()).add(start)
    alike: dict[tuple[str, frozenset[int]], list[int]] = {}
    for node, name in enumerate(nodes):
        member = _MEMBER.fullmatch(name)
        group = name if member is None else member["group"]
        alike.setdefault((group, frozenset(neighbours.get(node, ()))), []).append(node)
    names = list(nodes)
    for members in alike.values():
        if len(members) > 1:
            for node in members:
                names[node] = f"{nodes[members[0]]} … {nodes[members[-1]].rpartition('[')[2][:-1]}"
    return names


def _told(link: Mapping[str, Any]) -> str:
    pps = link["rate_pps"]
    rate = units.format_rate(link["rate_bps"]) if pps is None else f"{pps:g} packets/s"
    return f"{rate}, {units.format_time(link['delay_s'])}" if link["delay_s"] else rate


def _columns(order: Sequence[str], lines: Sequence[_Line], flows: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Nodes by their distance from the first sender, each beside its neighbours of the column before."""
    neighbours: dict[str, list[str]] = {name: [] for name in order}
    for line in lines:
        neighbours[line.ends[0]].append(line.ends[1])
        neighbours[line.ends[1]].append(line.ends[0])
    # From the sender of the longest path, so that this path goes from left to right.
    first = max(flows, key=lambda flow: distances(neighbours, flow[0]).get(flow[1], 0), default=(order[0], ""))[0]
    distance: dict[str, int] = {}
    for start in (first, *order):
        if start not in distance:
            distance |= {name: hops for name, hops in distances(neighbours, start).items() if name not in distance}
    columns: list[list[str]] = [[] for _ in range(max(distance.values(), default=0) + 1)]
    for name in order:
        columns[distance[name]].append(name)
    place = {name: at / len(columns[0]) for at, name in enumerate(columns[0])}
    for column in columns[1:]:
        means = {
            name: sum(known) / len(known) if known else 0.5
            for name in column
            for known in [[place[each] for each in neighbours[name] if each in place]]
        }
        column.sort(key=lambda name, means=means: means[name])  # type: ignore[misc]
        place |= {name: (at + 0.5) / len(column) for at, name in enumerate(column)}
    return columns


def _svg(order: Sequence[str], lines: Sequence[_Line], flows: Sequence[tuple[str, str]]) -> str:
    columns = _columns(order, lines, flows)
    height = min(_TALLEST, _ROW * max(map(len, columns)) + 30)
    step = (_WIDTH - 2 * _MARGIN) / max(len(columns) - 1, 1)
    at = {
        name: (_MARGIN + step * across, height * (down + 0.5) / len(column))
        for across, column in enumerate(columns)
        for down, name in enumerate(column)
    }
    slowest = min((line.rate_bps for line in lines), default=0.0)
    differ = any(line.rate_bps > slowest for line in lines)
    parts = []
    for line in lines:
        (left, top), (right, bottom) = at[line.ends[0]], at[line.ends[1]]
        narrow = differ and line.rate_bps == slowest
        stroke = "#d55e00" if narrow else "currentColor"
        parts.append(
            f'<line x1="{left:.0f}" y1="{top:.0f}" x2="{right:.0f}" y2="{bottom:.0f}" stroke="{stroke}" '
            f'stroke-width="{2.5 if narrow else 1.2}" stroke-opacity="{1 if narrow else 0.5}"/>'
        )
        if len(lines) <= _MOST_LABELS:
            parts.append(_text((left + right) / 2, (top + bottom) / 2 - 6, line.text))
    ends = {name for flow in flows for name in flow}
    short = {name: name.rpartition(".")[2] for name in order}
    if len(set(short.values())) < len(order):
        # Two topologies have nodes of one name.
        short = {name: name for name in order}
    crowded = max(map(len, columns)) * 22 > height
    for name, (across, down) in at.items():
        fill = "#0072b2" if name in ends else "#8a8f98"
        parts.append(
            f'<circle cx="{across:.0f}" cy="{down:.0f}" r="6" fill="{fill}"><title>{html.escape(name)}</title></circle>'
        )
        if not crowded:
            parts.append(_text(across, down + 20, short[name]))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:.0f}" role="img" '
        f'aria-label="network" style="max-width:{_WIDTH}px;width:100%;font:11px sans-serif">{"".join(parts)}</svg>'
    )


def _text(across: float, down: float, text: str) -> str:
    return f'<text x="{across:.0f}" y="{down:.0f}" text-anchor="middle" fill="currentColor">{html.escape(text)}</text>'
