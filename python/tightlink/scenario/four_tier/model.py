"""The twenty parameters as one table, of which a scenario is made."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeVar

from pydantic import Discriminator, StrictBool, Tag

from tightlink.errors import ScenarioError, closest
from tightlink.scenario.four_tier.parameters import PARAMETERS
from tightlink.scenario.table import Table
from tightlink.scenario.users import Patience
from tightlink.scenario.values import (
    Congestion,
    FileSize,
    Fraction,
    LineRate,
    Name,
    Period,
    Threshold,
    Window,
    above,
    choice,
    number,
    whole,
)

if TYPE_CHECKING:
    from tightlink.scenario.model import Scenario

V = TypeVar("V")

_LEVELS: Final = ("low", "high")
_LARGEST: Final = 1e6


def _level_or_value(value: object) -> str:
    return "<level>" if isinstance(value, str) and closest(value, _LEVELS) else "<value>"


def _level_mix_or_value(value: object) -> str:
    if isinstance(value, dict):
        return "<value>" if "kind" in value else "<mix>"
    # The name of a control may be near that of a level: highspeed.
    return "<level>" if value in _LEVELS else "<value>"


Level = Annotated[Literal["low", "high"], Tag("<level>")]
Either = Annotated[Level | Annotated[V, Tag("<value>")], Discriminator(_level_or_value)]
Positive = Annotated[float, number(lambda value: 0 < value <= _LARGEST, "a number above 0, such as 2")]
Weight = Annotated[float, number(lambda value: 0 <= value <= _LARGEST, "a number of at least 0, such as 2")]
Sources = Annotated[int, whole(1, 1_000_000)]
Buffers = Annotated[Literal["rtt*c", "rtt*c/sqrt(n)"], choice("rtt*c", "rtt*c/sqrt(n)")]
Variant = Literal["abilene", "isp"]
Controls = Annotated[
    Level | Annotated[dict[Name, Fraction], Tag("<mix>")] | Annotated[Congestion, Tag("<value>")],
    Discriminator(_level_mix_or_value),
]


class LargerFile(Table):
    """A kind of file beside Web objects."""

    share: Fraction
    """Share of the transfers."""
    times: Positive
    """Mean size, in those of a Web object."""


class Distribution(Table):
    """How many sources, or receivers, a router of each class has, relative to the others."""

    direct: Weight
    """Each of the 6 directly connected routers."""
    fast: Weight
    """Each of the 28 fast ones."""
    normal: Weight
    """Each of the 105 normal ones."""


class FourTier(Table):
    """A four-tier network with users, by the twenty parameters of Mills et al. (NIST SP 500-282).

    Each is "low", "high" or another value, for the network at its full size. With ``routers`` below 1 fewer of the
    access routers have users, and each of them stays what it is. With a ``scale`` below 1 there are fewer sources and
    slower routers alike; buffers follow by their rule; interfaces, delays and files stay.

    Raises:
        ScenarioError: A value is no level and of another form, or a key is unknown.

    Example:
        >>> FourTier(network_speed="high", sources=1500, scale=0.01).value("network_speed")
        '8000 packets/ms'
    """

    network_speed: Either[LineRate] = "low"
    """X1: base speed, of which those of all routers are multiples."""
    propagation_delay: Either[Positive] = "low"
    """X2: factor of the backbone's delays."""
    buffers: Either[Buffers] = "low"
    """X3: rule for the queues of routers."""
    topology: Either[Variant] = "low"
    """X4: structure of the backbone."""
    object_size: Either[FileSize] = "low"
    """X5: mean size of a Web object."""
    larger_files: Either[dict[Name, LargerFile]] = "low"
    """X6: other files, by name."""
    think_time: Either[Period] = "low"
    """X7: mean time between two transfers of a source."""
    patience: Either[Patience | None] = "low"
    """X8: how long users wait for a transfer; None: without end."""
    crowd: Either[LargerFile | None] = "low"
    """X9: very large files from the direct routers in the second period; None: none."""
    long_lived_flows: Either[StrictBool] = "low"
    """X10: whether three transfers without end run."""
    fast_interfaces: Either[Fraction] = "low"
    """X11: share of the hosts with a fast interface."""
    sources: Either[Sources] = "low"
    """X12: mean number of sources behind an access router."""
    source_distribution: Either[Distribution] = "low"
    """X13: how sources are spread over the classes of access routers."""
    receiver_distribution: Either[Distribution] = "low"
    """X14: how receivers are."""
    congestion: Controls = "low"
    """X15: congestion control, or several by name with their shares."""
    initial_window: Either[Window] = "low"
    """X16: congestion window at the start of a transfer."""
    initial_ssthresh: Either[Threshold] = "low"
    """X17: slow-start threshold at the start of a transfer."""
    measurement_interval: Either[Period] = "low"
    """X18: interval of the tables over time."""
    duration: Either[Period] = "low"
    """X19: simulated time."""
    start_up: Either[Fraction] = "low"
    """X20: share of the sources that begin with a transfer."""
    scale: Annotated[float, above(0, 1, 0.1)] = 1.0
    """Sources and speeds, of those of the whole network: 1, or a part such as 0.1."""
    routers: Annotated[float, above(0, 1, 0.5)] = 1.0
    """Part of the access routers of each class that have users, each with its own speed, users and queue."""
    nist: StrictBool = False
    """Whether congestion controls and timeouts are as NIST has them, where that is known and differs from ours."""

    def value(self, name: str) -> Any:
        """What a parameter is: its level's value, or its own."""
        own = getattr(self, name)
        return own if own not in _LEVELS else self._level(name, own)

    @classmethod
    @cache
    def _level(cls, name: str, level: str) -> Any:
        """A level's value as the parameter's own type, which also proves the list of levels."""
        parameter = PARAMETERS[name]
        return getattr(cls.model_validate({name: parameter.low if level == "low" else parameter.high}), name)

    def scenario(self) -> Scenario:
        """The scenario: network ``net``, traffic ``users``, three periods.

        Raises:
            ScenarioError: Values do not go together, or the scale turns the levels of a parameter round.
        """
        from tightlink.scenario.four_tier.build import tables
        from tightlink.scenario.model import Scenario

        if (expected := self.turned_levels()) is not None:
            raise ScenarioError(expected, key="scale", value=self.scale)
        return Scenario.from_dict(tables(self))

    def distortion(self, *, of: float = 1.0) -> str | None:
        """What became of the network at its scale, in two sentences; nothing at the scale ``of`` that it stands for."""
        from tightlink.scenario.four_tier.scaling import distortion

        return distortion(self, of=of)

    def turned_levels(self) -> str | None:
        """What is expected of the scale where rounding makes the levels of a parameter equal, or turns them round."""
        from tightlink.scenario.four_tier.scaling import turned_levels

        return turned_levels(self)
