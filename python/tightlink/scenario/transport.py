"""TCP and UDP as the engine reads them: sizes in bytes, windows in packets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from tightlink import units
from tightlink.errors import ScenarioError
from tightlink.scenario.congestion import congestion_spec
from tightlink.scenario.network import Network
from tightlink.scenario.profiles import Profile
from tightlink.scenario.protocols import Rto, Tcp, Udp
from tightlink.scenario.sizes import DatagramSize, check_packet, size_shares
from tightlink.scenario.table import given
from tightlink.scenario.values import ACCURATE_ECN, UNLIMITED, in_si

#: Windows, of which some may be in bandwidth-delay products.
_WINDOWS = ("window", "initial_window", "initial_ssthresh", "max_ssthresh")


def tcp_spec(key: str, tcp: Tcp, profile: Profile) -> dict[str, Any]:
    """A TCP connection; windows in BDP are left to the engine (`tightlink._core.fill`)."""
    payload = units.size(given(tcp.payload))
    header = profile.tcp.header_bytes
    # The checker joins the two forms to what they have in common.
    congestion = cast("str | dict[str, object]", given(tcp.congestion))
    check_packet(f"{key}.payload", given(tcp.payload), payload, header)
    return {
        "congestion": congestion_spec(f"{key}.congestion", congestion, profile.tcp.control_options),
        "recovery": given(tcp.recovery),
        "payload_bytes": payload,
        "header_bytes": header,
        "ack_bytes": profile.tcp.ack_bytes,
        **{f"{name}_packets": _window(f"{key}.{name}", getattr(tcp, name), payload) for name in _WINDOWS},
        **_loss_window(f"{key}.loss_window", tcp, payload),
        "slow_start": given(tcp.slow_start),
        "delayed_ack_s": units.time(given(tcp.delayed_ack_timeout)) if tcp.delayed_acks else None,
        "rto": _rto(f"{key}.rto", given(tcp.rto), profile),
        "limited_transmit": given(tcp.limited_transmit),
        "pacing": given(tcp.pacing),
        **_processing_delay(tcp),
        **_slow_start_after_idle(f"{key}.slow_start_after_idle", tcp, profile),
        "ecn": given(tcp.ecn),
        **_receiver_ecn(f"{key}.receiver_ecn", tcp, profile),
        **_ecn_option(f"{key}.ecn_option", tcp),
    }


def check_mtu(key: str, tcp: Tcp, spec: Mapping[str, Any], network: Network) -> None:
    """An error where the full segments of connections between any nodes do not fit into the smallest MTU of a link."""
    smallest = network.smallest_mtu
    if smallest is None or spec["payload_bytes"] + spec["header_bytes"] <= smallest:
        return
    first = next(hop.name for hop in network.hops if hop.mtu == smallest)
    raise ScenarioError(
        f"at most {smallest - spec['header_bytes']} B, as headers of {spec['header_bytes']} B come on top and link "
        f"{first} has an MTU of {smallest} B",
        key=f"{key}.payload",
        value=tcp.payload,
        suggestion=f'"{smallest - spec["header_bytes"]} B"',
    )


def udp_spec(key: str, udp: Udp, sizes: Mapping[str, DatagramSize] | None, profile: Profile) -> dict[str, Any]:
    """The engine's form of a UDP flow."""
    header = profile.udp.header_bytes
    if sizes is not None:
        payload = max(_payload(f"{key}.sizes.{name}.size", entry.size, profile) for name, entry in sizes.items())
    elif udp.datagram is not None:
        payload = _payload(f"{key}.udp.datagram", udp.datagram, profile)
    else:
        payload = units.size(given(udp.payload))
        check_packet(f"{key}.udp.payload", given(udp.payload), payload, header)
    return {
        "payload_bytes": payload,
        "header_bytes": header,
        "fragment_header_bytes": profile.udp.fragment_header_bytes,
        # Of one there is nothing to draw.
        "sizes": size_shares(sizes) if sizes is not None and len(sizes) > 1 else [],
        **({} if udp.ecn is None else {"ecn": udp.ecn}),
    }


def _payload(key: str, datagram: str, profile: Profile) -> int:
    """What an IP datagram carries beside its headers."""
    header = profile.udp.header_bytes
    payload = units.size(datagram) - header
    if payload < 1:
        raise ScenarioError(f"more than the {header} B of its headers", key=key, value=datagram)
    check_packet(key, datagram, payload, header)
    return payload


def first_in_bdp(spec: dict[str, Any]) -> str | None:
    """The first window that is still to be computed from the path, if there is one."""
    return next((name for name in _WINDOWS if isinstance(spec[f"{name}_packets"], dict)), None)


def _window(key: str, text: str | None, payload: int) -> float | dict[str, str] | None:
    if text is None or text == UNLIMITED:
        return None
    kind, quantity = units.parse(text, units.PACKETS, units.SIZE, units.BDP)
    if kind is units.BDP:
        return {"bdp": str(quantity.exact)}
    if kind is units.PACKETS:
        return float(quantity.exact)
    count = quantity.exact // payload
    if count < 1:
        raise ScenarioError(f"at least one packet of {payload} B", key=key, value=text)
    return float(count)


def _loss_window(key: str, tcp: Tcp, payload: int) -> dict[str, float]:
    """The window after a timeout where it is not the one packet of RFC 5681 §3.1."""
    if tcp.loss_window is None:
        return {}
    if tcp.recovery == "rack":
        expected = "nothing here: with recovery rack a timeout lets one packet go beyond those still in flight"
        raise ScenarioError(expected, key=key, value=tcp.loss_window)
    packets = _window(key, tcp.loss_window, payload)
    if not isinstance(packets, float):
        raise ScenarioError("a number of packets or bytes", key=key, value=tcp.loss_window)
    # Two ways to write one scenario must not be two runs.
    return {} if packets == 1 else {"loss_window_packets": packets}


def _processing_delay(tcp: Tcp) -> dict[str, float]:
    """How long the sending host takes at most, where it takes time."""
    seconds = 0.0 if tcp.processing_delay is None else units.time(tcp.processing_delay)
    # Two ways to write one scenario must not be two runs.
    return {"processing_delay_s": seconds} if seconds else {}


def _slow_start_after_idle(key: str, tcp: Tcp, profile: Profile) -> dict[str, bool]:
    """Whether a window that is not used is given up, where that is otherwise than the profile has it."""
    if tcp.slow_start_after_idle and profile.name != "linux":
        raise ScenarioError(f"false: profile {profile.name} keeps such a window; linux does not", key=key, value=True)
    # Two ways to write one scenario must not be two runs.
    return {"slow_start_after_idle": False} if tcp.slow_start_after_idle is False and profile.name == "linux" else {}


def _receiver_ecn(key: str, tcp: Tcp, profile: Profile) -> dict[str, bool | str]:
    """What the receiver has of ECN where that is less than the sender asks for."""
    if tcp.receiver_ecn is None:
        return {}
    if not tcp.ecn or profile.name == "ns2":
        why = "ecn = false asks for none" if not tcp.ecn else "profile ns2 has no handshake"
        raise ScenarioError(f"nothing here: {why}", key=key, value=tcp.receiver_ecn)
    least_first = (False, True, ACCURATE_ECN)
    # Two ways to write one scenario must not be two runs.
    less = least_first.index(tcp.receiver_ecn) < least_first.index(given(tcp.ecn))
    return {"receiver_ecn": tcp.receiver_ecn} if less else {}


def _ecn_option(key: str, tcp: Tcp) -> dict[str, bool]:
    """Whether ACKs have the option of accurate ECN, where they do."""
    if not tcp.ecn_option:
        return {}
    if tcp.ecn != ACCURATE_ECN or tcp.receiver_ecn not in {None, ACCURATE_ECN}:
        raise ScenarioError(f'false, or ecn = "{ACCURATE_ECN}" at both ends', key=key, value=True)
    return {"ecn_option": True}


def _rto(key: str, rto: Rto, profile: Profile) -> dict[str, float]:
    found = in_si(rto)
    if found["min_s"] > found["max_s"]:
        raise ScenarioError(f"at most rto.max, which is {rto.max}", key=f"{key}.min", value=rto.min)
    if found["initial_s"] > found["max_s"]:
        raise ScenarioError(f"at most rto.max, which is {rto.max}", key=f"{key}.initial", value=rto.initial)
    # The profile's gives way to a min above it.
    if found["initial_s"] < found["min_s"] and found["initial_s"] != units.time(profile.tcp.rto.initial):
        raise ScenarioError(f"at least rto.min, which is {rto.min}", key=f"{key}.initial", value=rto.initial)
    return found
