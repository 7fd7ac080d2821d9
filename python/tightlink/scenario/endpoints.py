"""Where traffic begins and ends: a node, all nodes of a group, or several of these; and the links that it takes."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Annotated, Final

from pydantic import BeforeValidator, Field

from tightlink.errors import closest
from tightlink.scenario.forms import Forms
from tightlink.scenario.links import NODE
from tightlink.scenario.table import NAME
from tightlink.scenario.values import matching

#: How errors begin that expect a node.
A_NODE: Final = "the name of a node"
#: Names that are compared with an unknown one, at most.
_MOST: Final = 1000
#: All nodes of a group, such as ``net.left[*]``.
GROUP: Final = re.compile(rf"{NAME.pattern}\.{NAME.pattern}\[\*\]", re.ASCII)
_LINK_NAME: Final = re.compile(rf"{NAME.pattern}(\.{NAME.pattern}(\[(\d+|\*)\])?)?(\.reverse)?", re.ASCII)


def meant_node(word: str, nodes: Collection[str], groups: Collection[str]) -> str | None:
    """The node, or the group of nodes, that somebody has in mind who writes another name.

    >>> nodes = ["net.left_router", "net.left[0]", "net.left[1]", "net.right[0]"]
    >>> [meant_node(word, nodes, ["net.left"]) for word in ("left[0]", "net.left.1", "Left", "net.left[9]", "z")]
    ['net.left[0]', 'net.left[1]', 'net.left[*]', 'net.left[*]', None]
    """
    plain = re.sub(r"[^\w.\[]", "", word).casefold()
    stem = plain.partition("[")[0]
    # left1, net.left_1, net.left.1
    stems = (stem, re.sub(r"[._]?[0-9]+$", "", stem))
    there = set(nodes)
    held = {name: group for group in groups if f"{group}[0]" in there
            for name in (group.casefold(), group.rpartition(".")[2].casefold())}  # fmt: skip
    group = next((held[each] for each in stems if each in held), None)
    if group is not None:
        index = re.search(r"[0-9]+$", plain)
        element = f"{group}[{index[0].lstrip('0') or '0'}]" if index else ""
        return element if element in there else f"{group}[*]"
    short = {name.rpartition(".")[2]: name for name in reversed(list(nodes))}
    near = closest(word, list(nodes)[:_MOST])
    beside = closest(plain, list(short)[:_MOST])
    return near or (short[beside] if beside else None)


Endpoint = Annotated[
    str, BeforeValidator(matching(f'{A_NODE} or of a group, such as "sender" or "net.left[*]"', NODE, GROUP))
]
#: A node, a group, or a list of them.
Endpoints = Annotated[Endpoint | Annotated[list[Endpoint], Field(min_length=1)], Forms()]
#: The name of a link, or of the links of a group, such as ``net.access_left[*]``.
LinkName = Annotated[
    str, BeforeValidator(matching('the name of a link, such as "bottleneck" or "net.access_left[*]"', _LINK_NAME))
]
