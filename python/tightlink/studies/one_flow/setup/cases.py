"""The seven cases of the document: one flow over one link, of which one property changes at a time.

Example:
    >>> tcp(CASES[1]).traffic["ftp"].tcp.payload
    '100 B'
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from tightlink.experiment.execute import Task
from tightlink.scenario import Bulk, Cbr, Link, Reverse, Scenario, Tcp, Udp

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The document, as claims cite it.
DOCUMENT: Final = "Balliache 2003, One TCP flow"
#: Offered in the link's queue: 40 bytes of IP and TCP header, none of UDP (ns-2 counts them as payload).
TCP_HEADER_BYTES: Final = 40
START_S: Final = 0.1
STOP_S: Final = 10.0
#: Packets of ns-2's default window, which the document does not mention, and of one that limits nothing.
WINDOW: Final = 20
OPEN: Final = "1000 packets"
SENDER: Final = "sender"
RECEIVER: Final = "receiver"


@dataclass(frozen=True)
class Case:
    """A case: the base case with one property changed."""

    name: str
    title: str
    """What is changed, for people."""
    link: Mapping[str, str] = field(default_factory=dict)
    """Keys of the link that differ from the base case."""
    payload_bytes: int = 1000
    rate_bps: float = 2e6
    delay_s: float = 0.010
    queue_packets: int = 20
    udp_rate: str = "2.5 Mbit/s"
    tcp: Mapping[str, Any] = field(default_factory=dict)
    """Of the transport, where that is not ns-2.35's."""

    @property
    def packet_bytes(self) -> int:
        """A full TCP packet with its header."""
        return self.payload_bytes + TCP_HEADER_BYTES

    @property
    def payload_share(self) -> float:
        """The part of a TCP packet that the application sent."""
        return self.payload_bytes / self.packet_bytes


BASE: Final = Case("base", "base case")
CASES: Final = (
    BASE,
    Case("packet-100", "packets of 100 B", payload_bytes=100),
    Case("packet-4000", "packets of 4000 B", payload_bytes=4000),
    Case("bandwidth-1mbit", "link of 1 Mbit/s", {"rate": "1 Mbit/s"}, rate_bps=1e6, udp_rate="2 Mbit/s"),
    Case("queue-50", "queue of 50 packets", {"queue": "50 packets"}, queue_packets=50),
    # The only case with losses, and so with a timer: its lower bound was 1 s in the ns-2 of the document's day.
    Case("queue-5", "queue of 5 packets", {"queue": "5 packets"}, queue_packets=5, tcp={"rto": {"min": "1 s"}}),
    Case("delay-100ms", "delay of 100 ms", {"delay": "100 ms"}, delay_s=0.100),
)
BY_NAME: Final = {case.name: case for case in CASES}


def link(case: Case) -> Link:
    """The link of a case; the ACKs' queue is ns-2's default."""
    keys: dict[str, Any] = {"rate": "2 Mbit/s", "delay": "10 ms", "queue": "20 packets", **case.link}
    return Link(ends=(SENDER, RECEIVER), reverse=Reverse(queue="50 packets"), **keys)


def tcp(case: Case, **settings: Any) -> Scenario:
    """A case with TCP Reno and ns-2's window of 20 packets.

    Args:
        case: Which.
        settings: Of the transport, beyond or instead of the document's.
    """
    own: dict[str, Any] = {
        "congestion": "reno",
        "recovery": "reno",
        "payload": f"{case.payload_bytes} B",
        "window": "20 packets",
    }
    ftp = Bulk(from_=SENDER, to=RECEIVER, start=f"{START_S} s", tcp=Tcp(**own | dict(case.tcp) | settings))
    return Scenario(profile="ns2", duration=f"{STOP_S} s", link={"bottleneck": link(case)}, traffic={"ftp": ftp})


def udp(case: Case) -> Scenario:
    """A case with UDP at a constant rate above the link's, the document's announced next step."""
    voice = Cbr(
        from_=SENDER,
        to=RECEIVER,
        start=f"{START_S} s",
        rate=case.udp_rate,
        udp=Udp(payload=f"{case.payload_bytes} B"),
    )
    return Scenario(profile="ns2", duration=f"{STOP_S} s", link={"bottleneck": link(case)}, traffic={"cbr": voice})


#: The case with the short queue under the retransmission timer's lower bound of ns-2.35.
NEW_TIMER: Final = "tcp/queue-5/minrto-200ms"


def tasks() -> list[Task]:
    """The seven cases under TCP and under UDP, and the short queue with the newer timer."""
    return [
        *(Task(f"tcp/{case.name}", tcp(case), trace=True) for case in CASES),
        *(Task(f"udp/{case.name}", udp(case), trace=True) for case in CASES),
        Task(NEW_TIMER, tcp(BY_NAME["queue-5"], rto={"min": "0.2 s"}), trace=True),
    ]


def opened() -> list[Task]:
    """Each case for 100 s; with the window opened, for 10 s and for 100 s; and with the old slow-start threshold."""
    listed = []
    for case in CASES:
        opened = tcp(case, window=OPEN)
        careful = tcp(case, window=OPEN, initial_ssthresh=f"{WINDOW} packets")
        listed += [
            Task(f"window-20-100s/{case.name}", tcp(case).set("duration", "100 s")),
            Task(f"opened/{case.name}", opened),
            Task(f"opened-100s/{case.name}", opened.set("duration", "100 s")),
            Task(f"opened-ssthresh-20/{case.name}", careful),
        ]
    return listed
