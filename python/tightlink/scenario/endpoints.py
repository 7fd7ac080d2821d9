"""Where traffic begins and ends: a node, all nodes of a group, or several of these; and the links that it takes."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import BeforeValidator, Field

from tightlink.scenario.forms import Forms
from tightlink.scenario.links import NODE
from tightlink.scenario.table import NAME, wrong

#: All nodes of a group, such as ``net.left[*]``.
GROUP: Final = re.compile(rf"{NAME.pattern}\.{NAME.pattern}\[\*\]", re.ASCII)
_LINK_NAME: Final = re.compile(rf"{NAME.pattern}(\.{NAME.pattern}(\[(\d+|\*)\])?)?(\.reverse)?", re.ASCII)


def _check_endpoint(name: object) -> str:
    if not isinstance(name, str) or not (NODE.fullmatch(name) or GROUP.fullmatch(name)):
        raise wrong('the name of a node or of a group, such as "sender" or "net.left[*]"', value=name)
    return name


Endpoint = Annotated[str, BeforeValidator(_check_endpoint)]


#: A node, a group, or a list of them.
Endpoints = Annotated[Endpoint | Annotated[list[Endpoint], Field(min_length=1)], Forms()]


def _check_link_name(name: object) -> str:
    if not isinstance(name, str) or _LINK_NAME.fullmatch(name) is None:
        raise wrong('the name of a link, such as "bottleneck" or "net.access_left[*]"', value=name)
    return name


#: The name of a link, or of the links of a group, such as ``net.access_left[*]``.
LinkName = Annotated[str, BeforeValidator(_check_link_name)]
