"""What is said of captured flows without connections: datagrams, ICMP, and packets of tunnels that are not read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from tightlink.diagnosis.answers import Cause, Certainty, Diagnosis

#: Protocols that carry packets of others, and ports of UDP that do: VXLAN, Geneve, GTP, WireGuard, IPsec.
_TUNNELS: Final = frozenset({"ipip", "ipv6 in ip", "gre", "esp", "ah", "l2tp"})
_TUNNEL_PORTS: Final = frozenset({"4789", "6081", "2152", "51820", "4500"})
#: By kind of flow the cause, and what is said of it.
_SAID: Final[dict[str, tuple[str, str]]] = {
    "datagrams": (
        "application",
        (
            "the application sets the rate of its datagrams; whether it has a congestion control, and how many are "
            "lost behind the capture point, a capture does not tell"
        ),
    ),
    "tunnel": (
        "unknown",
        (
            "packets of a tunnel, into which is not looked, as they are encrypted, fragments, cut off or carry no IP: "
            "what bounds the rate of the flows within cannot be told"
        ),
    ),
    "quic": ("unknown", "datagrams, likely of QUIC, whose ACKs are encrypted: what bounds the rate cannot be told"),
    "icmp": (
        "application",
        "ICMP messages, such as pings or errors, sent as something asks for them; the tables do not have their types",
    ),
    "icmpv6": (
        "application",
        "ICMPv6 messages, such as neighbour discovery, which hosts send unasked; the tables do not have their types",
    ),
}


def of_messages(rows: Iterable[Mapping[str, Any]]) -> list[Diagnosis]:
    """A diagnosis for each kind of flows without connections."""
    kinds: dict[str, list[str]] = {}
    for row in rows:
        kinds.setdefault(_kind(row), []).append(row["label"])
    found = []
    for kind, labels in kinds.items():
        name, text = _SAID[kind]
        certainty: Certainty = "cannot be told" if name == "unknown" else "likely"
        found.append(Diagnosis(tuple(labels), (Cause(name, None, certainty, "", text),), None, (), f"{text}."))
    return found


def _kind(row: Mapping[str, Any]) -> str:
    transport = row["transport"]
    if transport in _SAID:
        return str(transport)
    if transport in _TUNNELS:
        return "tunnel"
    ends = row["label"].partition(" in ")[0]
    ports = {end.rpartition(":")[2] for end in ends.split("-")} if transport == "udp" else set()
    return "tunnel" if ports & _TUNNEL_PORTS else "quic" if "443" in ports else "datagrams"
