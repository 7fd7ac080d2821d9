"""What networks of tiers have in common: groups of switches and hosts, and of the links between two tiers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tightlink.scenario.links import Span
from tightlink.scenario.table import merged
from tightlink.scenario.topologies.base import GroupLink, Topology, check_lists, check_rate, group_spans, table_of


class Tiers(Topology):
    """A network whose links are given for all tiers by ``link``, and for each by a table of its name."""

    if TYPE_CHECKING:
        link: GroupLink | None

    def _counts(self) -> dict[str, int]:
        """How many links each tier has."""
        raise NotImplementedError

    def _ends(self) -> Mapping[str, Mapping[int, tuple[str, str]]]:
        """The two ends of each link by its number, for each tier; among equal paths the first links win."""
        raise NotImplementedError

    def _check(self) -> None:
        for tier, count in self._counts().items():
            key = "link" if getattr(self, tier) is None else tier
            check_rate(self._over("link", tier), key)
            check_lists(self._over("link", tier), count, key)

    def spans(self, name: str) -> Iterator[Span]:
        """The links of the hosts first, then those of the tiers above."""
        for tier, ends in self._ends().items():
            key = tier if getattr(self, tier) else "link"
            yield from group_spans(name, tier, key, self._over("link", tier), ends)

    def groups(self, name: str) -> dict[str, int]:
        """Switches, hosts and the links of all tiers."""
        return {f"{name}.{group}": size for group, size in (self._sizes() | self._counts()).items()}

    def filled(self, defaults: Mapping[str, Any]) -> dict[str, Any]:
        """The table with the defaults for links where it is silent."""
        return self.written() | {"link": merged(defaults, table_of(self.link))}
