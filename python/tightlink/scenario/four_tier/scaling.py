"""What a scale does to the four-tier network: sources and speeds go down together, interfaces and files stay.

Of the whole network it keeps the load of a router, and nothing that depends on how many share it: so it is said what
became of that, and a scale that turns the levels of a parameter round is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from tightlink import units
from tightlink.scenario.four_tier.build import network, places, tables
from tightlink.scenario.four_tier.routers import kept
from tightlink.scenario.topologies.four_tier import AbileneFourTier
from tightlink.scenario.values import PACKET_BYTES, line_rate

if TYPE_CHECKING:
    from tightlink.scenario.four_tier.model import FourTier

_CLASSES: Final = ("direct", "fast", "normal")
#: Of which rounding to whole hosts and packets may turn the levels round.
_ROUNDED: Final = {
    "buffers": "packets in the queue of a {name} router",
    "sources": "sources",
    "source_distribution": "sources",
    "receiver_distribution": "receivers",
}
#: On what queues, sources and receivers depend.
_COUNTED: Final = (*_ROUNDED, "network_speed", "propagation_delay", "topology", "scale")


@dataclass(frozen=True)
class _Network:
    """A network as numbers."""

    sources: dict[str, int]
    """Behind a router of each class."""
    queues: dict[str, int]
    """Of the links of each class of access routers, in packets."""
    normal_pps: float
    """What a normal access router forwards."""
    interface_pps: float
    round_trip_s: float

    def figures(self) -> tuple[str, str, str, str]:
        """Sources behind routers, queue of a normal one, packets it forwards in a round trip, hosts' speed over its."""
        return (
            "/".join(str(self.sources[name]) for name in _CLASSES),
            str(self.queues["normal"]),
            f"{self.normal_pps * self.round_trip_s:.3g}",
            f"{self.interface_pps / self.normal_pps:.2g}",
        )


def _network(chosen: FourTier) -> _Network:
    net = AbileneFourTier.model_validate(network(chosen))
    users: dict[str, Any] = tables(chosen)["traffic"]["users"]
    return _Network(
        sources={name: users["places"][name]["sources"] for name in _CLASSES},
        queues=_queues(net),
        normal_pps=_packets_per_second(net.rate("normal")),
        interface_pps=_packets_per_second(users["interfaces"]["normal"]["rate"]),
        round_trip_s=units.time(net.round_trip),
    )


def _queues(net: AbileneFourTier) -> dict[str, int]:
    return {name: units.packets(net.queue(name)) for name in _CLASSES}


def _packets_per_second(rate: str) -> float:
    return line_rate(rate)[0] / (8 * PACKET_BYTES)


def distortion(chosen: FourTier, *, of: float) -> str | None:
    """What a scale distorts, as `FourTier.distortion` says."""
    if chosen.scale == of:
        return None
    own, whole = _network(chosen), _network(chosen.model_copy(update={"scale": of}))

    behind, queue, carried, faster = (
        one if one == other else f"{one} (at scale {of:g}: {other})"
        for one, other in zip(own.figures(), whole.figures(), strict=True)
    )
    return (
        f"scale {chosen.scale:g} makes another network: {behind} sources behind a direct/fast/normal router; of a "
        f"normal one the queue holds {queue} packets, a round trip carries {carried}, and a host's interface is "
        f"{faster} times as fast. Transfers that share a router with few others lose more and have smaller windows; a "
        "part of the routers, each as it is, keeps all this."
    )


def turned_levels(chosen: FourTier) -> str | None:
    """Parameters of which a scale turns the levels round, as `FourTier.turned_levels` says.

    Of parameters that are at one of their levels: others are not compared with the other level.
    """
    if chosen.scale == 1:
        return None
    return _turned_levels(chosen.model_construct(**{name: getattr(chosen, name) for name in _COUNTED}))


# The runs of a study differ in what is counted here only by its factors.
@lru_cache(maxsize=256)
def _turned_levels(chosen: FourTier) -> str | None:
    for name, what in _ROUNDED.items():
        if getattr(chosen, name) not in ("low", "high"):
            continue
        scaled, whole = (_at_levels(chosen.model_copy(update={"scale": scale}), name) for scale in (chosen.scale, 1.0))
        for group, (low, high) in scaled.items():
            wide_low, wide_high = whole[group]
            if _sign(high - low) != _sign(wide_high - wide_low):
                return (
                    f"a scale that keeps the order of the levels of {name}: low and high have {low} and {high} "
                    f"{what.format(name=group)}, in the whole network {wide_low} and {wide_high}"
                )
    return None


def _at_levels(chosen: FourTier, name: str) -> dict[str, tuple[int, int]]:
    """What a parameter moves, at its low and its high level."""
    low, high = (_rounded(chosen.model_copy(update={name: level}), name) for level in ("low", "high"))
    return {group: (low[group], high[group]) for group in low}


def _rounded(chosen: FourTier, name: str) -> dict[str, int]:
    """What a parameter moves and rounding changes: queues by class, or sources or receivers of the whole network."""
    if name == "buffers":
        return _queues(AbileneFourTier.model_validate(network(chosen)))
    kind = _ROUNDED[name]
    behind, routers = places(chosen), kept(chosen.value("topology"), units.exact(1))
    return {kind: sum(behind[group][kind] * len(routers[group]) for group in _CLASSES)}


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)
