"""Ready networks: links like those that people have, with a source for each number.

Example:
    >>> networks()["dsl"].link["reverse"]["rate"]
    '1 Mbit/s'
    >>> networks()["dsl"].source("reverse.queue")
    'A frequent size of upstream buffers (Kreibich et al. 2010, Netalyzr).'
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from tightlink.errors import ScenarioError, one_of, show


@dataclass(frozen=True)
class ReadyNetwork:
    """A network by its name: what its link is like, and where each number is from."""

    title: str
    about: str
    """What matters about it, in a few words."""
    ends: tuple[str, str]
    """What its two nodes may be called: the network's end, then the user's."""
    link: Mapping[str, Any]
    """Keys of a link as a scenario file has them: forward is down, reverse is up."""
    sources: Mapping[str, str]
    """Where numbers are from, by the dotted path of a key or of the table that it stands in."""

    def source(self, key: str) -> str:
        """Where the value of a key is from, by its path below the link, such as ``reverse.rate.mean``."""
        while key not in self.sources:
            key = key.rpartition(".")[0]
        return self.sources[key]

    def rows(self) -> Iterator[tuple[str, Any, str]]:
        """The keys that have a source, with their values and it; a table stands there without what has its own."""
        for key, source in self.sources.items():
            value: Any = self.link
            for part in key.split("."):
                value = value[part]
            if isinstance(value, dict):
                value = {name: each for name, each in value.items() if f"{key}.{name}" not in self.sources}
            yield key, value, source


@cache
def networks() -> dict[str, ReadyNetwork]:
    """The ready networks by their names."""
    text = (files("tightlink.scenario") / "networks.toml").read_text(encoding="utf-8")
    return {name: ReadyNetwork(**table) for name, table in tomllib.loads(text).items()}


def ready_network(name: object, error: Callable[..., Exception] = ScenarioError) -> ReadyNetwork:
    """A ready network by its name; for other names the error that is given."""
    known = networks()
    if not isinstance(name, str) or name not in known:
        from tightlink.scenario.synonyms import meant_network

        meant = meant_network(name, known)
        raise error(one_of(known), key="network", value=name, suggestion=show(meant) if meant else None)
    return known[name]
