"""Flows of two captures that are the same service: between the same addresses, with the same port of the server.

A client takes another port for each connection, so that captures before and after a change have no name in common.

Example:
    >>> sides = ({"a:5001-b:80": 0.1, "a:5002-b:80": 0.0}, {"a:6001-b:80": 0.0, "c:6002-b:80": 0.0})
    >>> same_service(*sides)
    ({'a:5002-b:80': 'a:*-b:80'}, {'a:6001-b:80': 'a:*-b:80'})
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Final

#: ADDRESS:PORT-ADDRESS:PORT, with what tells a second connection of the same from the first.
_LABEL: Final = re.compile(r"(.+):(\d+)-(.+):(\d+)(?: #\d+)?")


def same_service(first: Mapping[str, float], second: Mapping[str, float]) -> tuple[dict[str, str], dict[str, str]]:
    """Names for flows of each side, by when they began, that stand for one another; those with one name need none.

    The nth connection of a service on one side is that of the other one. ``#2`` and so on tell several.
    """
    alone = (
        {name: begin for name, begin in first.items() if name not in second},
        {name: begin for name, begin in second.items() if name not in first},
    )
    found = [_services(side) for side in alone]
    names: tuple[dict[str, str], dict[str, str]] = ({}, {})
    for service in found[0]:
        both = zip(found[0][service], found[1].get(service, []), strict=False)
        for place, pair in enumerate(both, start=1):
            name = service if place == 1 else f"{service} #{place}"
            for side, label in zip(names, pair, strict=True):
                side[label] = name
    return names


def _services(flows: Mapping[str, float]) -> dict[str, list[str]]:
    """Labels of the flows of each service, the first first."""
    found = defaultdict(list)
    for label in sorted(flows, key=lambda label: flows[label]):
        match = _LABEL.fullmatch(label)
        if match is not None:
            source, from_port, target, to_port = match.groups()
            # Ports of clients are the higher ones.
            if int(from_port) > int(to_port):
                from_port = "*"
            else:
                to_port = "*"
            found[f"{source}:{from_port}-{target}:{to_port}"].append(label)
    return found
