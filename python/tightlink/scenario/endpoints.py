"""Where traffic begins and ends: a node, all nodes of a group, or several of these; and the links that it takes."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import BeforeValidator, Field

from tightlink.scenario.forms import Forms
from tightlink.scenario.links import NODE
from tightlink.scenario.table import NAME
from tightlink.scenario.values import matching

#: All nodes of a group, such as ``net.left[*]``.
GROUP: Final = re.compile(rf"{NAME.pattern}\.{NAME.pattern}\[\*\]", re.ASCII)
_LINK_NAME: Final = re.compile(rf"{NAME.pattern}(\.{NAME.pattern}(\[(\d+|\*)\])?)?(\.reverse)?", re.ASCII)


Endpoint = Annotated[
    str, BeforeValidator(matching('the name of a node or of a group, such as "sender" or "net.left[*]"', NODE, GROUP))
]
#: A node, a group, or a list of them.
Endpoints = Annotated[Endpoint | Annotated[list[Endpoint], Field(min_length=1)], Forms()]
#: The name of a link, or of the links of a group, such as ``net.access_left[*]``.
LinkName = Annotated[
    str, BeforeValidator(matching('the name of a link, such as "bottleneck" or "net.access_left[*]"', _LINK_NAME))
]
