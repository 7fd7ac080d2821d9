"""Where traffic begins and ends: a node, or all nodes of a group."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import BeforeValidator

from tightlink.scenario.links import NODE
from tightlink.scenario.table import NAME, wrong

#: All nodes of a group, such as ``net.left[*]``.
GROUP: Final = re.compile(rf"{NAME.pattern}\.{NAME.pattern}\[\*\]", re.ASCII)


def _check_endpoint(name: object) -> str:
    if not isinstance(name, str) or not (NODE.fullmatch(name) or GROUP.fullmatch(name)):
        raise wrong('the name of a node or of a group, such as "sender" or "net.left[*]"', value=name)
    return name


Endpoint = Annotated[str, BeforeValidator(_check_endpoint)]
