"""Open-loop transfers: they arrive whether or not earlier ones are done, as requests in a data centre do.

Example:
    >>> Transfers(from_="net.host[*]", to="net.host[*]", load=0.4, of="net.host_link[*]", size="100kB").size
    '100 kB'
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, Field, StrictBool

from tightlink import units
from tightlink.scenario.dscp import Dscp
from tightlink.scenario.endpoints import Endpoints, LinkName
from tightlink.scenario.forms import Forms
from tightlink.scenario.protocols import Tcp
from tightlink.scenario.size_distribution import SizeDistribution
from tightlink.scenario.table import Table, wrong
from tightlink.scenario.values import Amount, ArrivalRate, Delay, Load, Period, choice, whole

#: More are not drawn for one group.
MOST_TRANSFERS: Final = 200_000
#: What `pairs` may be, and which of them can be together.
PAIRS: Final = ("random", "permutation", "matched", "incast")
LASTING: Final = ("permutation", "matched")


def _check_rising(times: list[str], what: str = "times that do not fall") -> list[str]:
    for before, after in pairwise(times):
        if units.parse(before, units.TIME, units.SIZE)[1].exact > units.parse(after, units.TIME, units.SIZE)[1].exact:
            raise wrong(f"{what}: {after} comes after {before}", value=after)
    return times


def _check_classes(sizes: list[str]) -> list[str]:
    if len(set(map(units.size, sizes))) < len(sizes):
        raise wrong("sizes that differ", value=sizes)
    return _check_rising(sizes, "sizes that rise")


TransferSize = Annotated[Amount | SizeDistribution, Forms()]


class Transfers(Table):
    """Open-loop transfers: each starts whatever the others do, and is a TCP connection with a number of bytes.

    How long each takes, and how much longer than on an empty path, is in the tables ``completions`` and
    ``completion_times``; the table ``flows`` has one row for all of them.

    Raises:
        ScenarioError: A value is out of its range or lacks its unit, or a key is unknown or has no
            effect.

    Example:
        >>> tl.Transfers(from_="server", to="home", arrivals="10 transfers/s", size="100 kB").arrivals
        '10 transfers/s'
    """

    kind: Literal["transfers"] = "transfers"
    from_: Endpoints = Field(validation_alias="from", serialization_alias="from")
    """The nodes that send: a node, a group such as "net.host[*]", or a list of them."""
    to: Endpoints
    """The nodes that receive; a node never sends to itself."""
    pairs: Annotated[str, choice(*PAIRS)] | None = None
    """Who sends to whom: any sender to any receiver (random), each sender to its own receiver, by chance
    (permutation), sender i to receiver i (matched), or many senders to one receiver at once (incast)
    (default random)."""
    together: StrictBool | None = None
    """Whether at each arrival all pairs of a permutation, or all that are matched, start a transfer (default: one of
    them does, by chance)."""
    senders: Annotated[int, whole(1, MOST_TRANSFERS)] | None = None
    """Senders of an incast, drawn for each (default: all)."""
    load: Load | None = None
    """Application bytes that arrive, as a share of the rate of the links ``of``; above 2 it must be in per cent.
    Headers come on top."""
    of: LinkName | None = None
    """The link, or the links of a group such as "net.host_link[*]", by whose rate ``load`` is a share."""
    arrivals: ArrivalRate | None = None
    """Arrivals per second; instead of ``load``."""
    times: Annotated[list[Delay], Field(min_length=1), AfterValidator(_check_rising)] | None = None
    """When transfers arrive; instead of ``load`` and ``arrivals``."""
    spacing: Annotated[str, choice("poisson", "fixed")] | None = None
    """Arrivals at random (poisson), or evenly spaced (fixed) (default poisson)."""
    size: TransferSize
    """Application bytes of each transfer, or { distribution, mean }, or { file } of a CDF."""
    size_classes: Annotated[list[Amount], Field(min_length=1), AfterValidator(_check_classes)] | None = None
    """Sizes between which completion times are summed up (default: 10 kB, 100 kB, 1 MB, 10 MB)."""
    start: Delay | None = None
    """When arrivals begin (default "0 s")."""
    stop: Period | None = None
    """When arrivals end (default: the duration); transfers that have begun continue."""
    dscp: Dscp | None = None
    """Class of its packets, and of those that answer them, for queues that tell classes apart (default CS0)."""
    tcp: Tcp | None = None
    """What carries it."""

    def _check(self) -> None:
        if self._only("load", "arrivals", "times") is None:
            raise wrong('a load such as 0.5, arrivals such as "100 transfers/s", or times', key="load")
        if self.load is None:
            self._refuse("nothing here without load", "of")
        elif self.of is None:
            raise wrong('the link of whose rate load is a share, such as "net.host_link[*]"', key="of")
        if self.times is not None:
            self._refuse("nothing here, as times says when transfers start", "spacing", "start", "stop")
        pairs = self.pairs or PAIRS[0]
        if pairs not in LASTING:
            self._refuse(f'nothing here with pairs = "{pairs}"', "together")
        if pairs != "incast":
            self._refuse('nothing here without pairs = "incast"', "senders")

    def stands_in(self, folder: Path) -> None:
        """Says which folder the name of a file of sizes is relative to."""
        if isinstance(self.size, SizeDistribution):
            self.size.stands_in(folder)

    def written_out(self) -> Self:
        """The same with the points of a file of sizes written out."""
        if not isinstance(self.size, SizeDistribution) or self.size.file is None:
            return self
        return self.model_copy(update={"size": self.size.written_out()})
