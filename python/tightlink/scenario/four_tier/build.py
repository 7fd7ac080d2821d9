"""From the twenty parameters to the tables of a scenario."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from tightlink import units
from tightlink.scenario.four_tier import nist
from tightlink.scenario.four_tier.routers import in_crowd, kept

if TYPE_CHECKING:
    from tightlink.scenario.four_tier.model import Distribution, FourTier

#: Receivers for each source.
_RECEIVERS: Final = 4
_SHAPE: Final = 1.5
#: A last mile of 100 km of fibre, or of a shorter one with its modems. It sets how much an epoch processes, too.
_INTERFACE: Final = {"delay": "0.5 ms"}
#: Never what limits a transfer.
_WINDOW: Final = "1073741824 packets"
_WARM_UP: Final = Fraction(2, 5)
_PERIODS: Final = ("before", "congestion", "after")
_PERIOD: Final = Fraction(1, 5)
#: Transfers without end, in all six direct routers: each of these is an end of one.
_LONG_LIVED: Final = ("first", "second", "third")


def tables(chosen: FourTier) -> dict[str, Any]:
    """The scenario as nested dictionaries, as TOML would give them."""
    periods = _periods(chosen.value("duration"))
    return {
        "profile": "rfc",
        "duration": chosen.value("duration"),
        "topology": {"net": network(chosen)},
        "traffic": {"users": _users(chosen, periods)},
        "observe": {"interval": chosen.value("measurement_interval"), "periods": periods},
    }


def network(chosen: FourTier) -> dict[str, Any]:
    """The table of the topology alone."""
    kind, speed = units.parse(chosen.value("network_speed"), units.RATE, units.PACKET_RATE)
    scaled = float(speed.exact * units.exact(chosen.scale))
    table = {
        "kind": "abilene-four-tier",
        "speed": units.format_rate(scaled) if kind is units.RATE else units.format_packet_rate(scaled),
        "variant": chosen.value("topology"),
        "delay_factor": chosen.value("propagation_delay"),
        "buffers": chosen.value("buffers"),
    }
    if table["buffers"] == "rtt*c/sqrt(n)":
        # About half of the sources behind a router transmit at a time, and as many others send to there.
        table["flows"] = _hosts(chosen, 1)
    return table


def _users(chosen: FourTier, periods: dict[str, list[str]]) -> dict[str, Any]:
    fast = chosen.value("fast_interfaces")
    users = {
        "kind": "users",
        "places": places(chosen),
        "interfaces": {
            "normal": {"rate": "8 packets/ms"} | _INTERFACE,
            "fast": {"rate": "80 packets/ms", "share": fast} | _INTERFACE,
        },
        "think": chosen.value("think_time"),
        "files": _files(chosen),
        "tcp": {
            "recovery": "newreno",
            "window": _WINDOW,
            "initial_window": chosen.value("initial_window"),
            "initial_ssthresh": chosen.value("initial_ssthresh"),
            "delayed_acks": False,
            "rto": {"initial": "3 s"},
        },
        "connect_tries": 3,
        "sending_at_start": chosen.value("start_up"),
    }
    if chosen.nist:
        users["tcp"]["loss_window"] = chosen.value("initial_window")
    as_chosen = nist.control if chosen.nist else lambda control: control
    control = chosen.value("congestion")
    if isinstance(control, dict) and "kind" not in control:
        users["controls"] = {name: {"congestion": as_chosen(name), "share": share} for name, share in control.items()}
    else:
        users["tcp"]["congestion"] = as_chosen(control)
    if (patience := chosen.value("patience")) is not None:
        users["patience"] = patience.written()
    if (crowd := chosen.value("crowd")) is not None:
        start, stop = periods[_PERIODS[1]]
        size = {"share": crowd.share, "mean": _times(chosen, crowd.times)}
        part, direct = units.exact(chosen.routers), _routers(chosen)["direct"]
        users["crowd"] = {"at": _at(chosen, "direct", in_crowd(part, direct)), "start": start, "stop": stop} | size
    if chosen.value("long_lived_flows"):
        users["long_lived"] = _long_lived(chosen)
    return users


def _long_lived(chosen: FourTier) -> dict[str, dict[str, str]]:
    """Transfers without end: one for each two of the direct routers that have users."""
    direct = _routers(chosen)["direct"]
    pairs = zip(direct, direct[len(direct) // 2 :], strict=False)
    return {
        name: {"from": f"net.direct[{one}]", "to": f"net.direct[{other}]", "interface": "fast"}
        for name, (one, other) in zip(_LONG_LIVED[: len(direct) // 2], pairs, strict=False)
    }


def _routers(chosen: FourTier) -> dict[str, tuple[int, ...]]:
    return kept(chosen.value("topology"), units.exact(chosen.routers))


def _at(chosen: FourTier, name: str, indices: Sequence[int]) -> str | list[str]:
    """Routers of a class."""
    return f"net.{name}[*]" if chosen.routers == 1 else [f"net.{name}[{index}]" for index in indices]


def places(chosen: FourTier) -> dict[str, dict[str, Any]]:
    """The users behind the access routers of each class: where, how many sources and receivers behind each."""
    sources, receivers = chosen.value("source_distribution"), chosen.value("receiver_distribution")
    return {
        name: {
            "at": _at(chosen, name, indices),
            "sources": _hosts(chosen, _relative(sources, name)),
            "receivers": _hosts(chosen, _RECEIVERS * _relative(receivers, name)),
        }
        for name, indices in _routers(chosen).items()
    }


def _relative(weights: Distribution, name: str) -> Fraction:
    """What a router of a class has, over the mean of the three classes."""
    exact = {key: units.exact(getattr(weights, key)) for key in type(weights).model_fields}
    total = sum(exact.values())
    return 3 * exact[name] / total if total else Fraction(0)


def _hosts(chosen: FourTier, times: Fraction | int) -> int:
    """So many times the mean number of sources at a router, at the chosen scale; one where there are any."""
    count = times * chosen.value("sources") * units.exact(chosen.scale)
    return max(1, round(count)) if count else 0


def _files(chosen: FourTier) -> dict[str, dict[str, Any]]:
    larger = {
        name: {"share": file.share, "mean": _times(chosen, file.times), "shape": _SHAPE}
        for name, file in chosen.value("larger_files").items()
    }
    return {"web-object": {"mean": chosen.value("object_size"), "shape": _SHAPE}} | larger


def _times(chosen: FourTier, times: float) -> str:
    """So many times the mean size of a Web object."""
    kind, size = units.parse(chosen.value("object_size"), units.PACKETS, units.SIZE)
    count = max(1, round(size.exact * units.exact(times)))
    return units.format_packets(count) if kind is units.PACKETS else units.format_size(count)


def _periods(duration: str) -> dict[str, list[str]]:
    """The warm-up is in no period."""
    whole = units.parse(duration, units.TIME)[1].exact
    ends = [units.format_time(float(whole * (_WARM_UP + index * _PERIOD))) for index in range(len(_PERIODS) + 1)]
    return {name: [ends[index], ends[index + 1]] for index, name in enumerate(_PERIODS)}
