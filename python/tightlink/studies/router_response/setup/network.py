"""The network of the document (sender, Linux router, router A, serial link, router B, receiver), and its probes.

Probes go one way, and so do the links. What a variant changes is in a `Setting`.

Example:
    >>> DOCUMENTED.probe(65, "0.2 ms", 120).link["serial"].rate
    '2 Mbit/s'
    >>> len(probes_tasks())
    326
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tightlink.experiment.execute import Task
from tightlink.scenario import Cbr, Framing, Link, Node, Observe, Processor, Scenario, Udp
from tightlink.studies.router_response.setup import costs, document
from tightlink.studies.words import US

SENDER: Final = "sender"
LINUX: Final = "linux_router"
ROUTER_A: Final = "router_a"
ROUTER_B: Final = "router_b"
RECEIVER: Final = "receiver"
PROBE: Final = "probe"
#: Ethernet's smallest frame, with preamble and gap.
_SMALLEST: Final = 84
_ETHERNET: Final = Framing(overhead=f"{document.ETHERNET_OVERHEAD} B", smallest=f"{_SMALLEST} B")


def ethernet(begin: str, end: str, **settings: Any) -> Link:
    """A cable of 100 Mbit/s."""
    return Link(ends=(begin, end), rate="100 Mbit/s", delay="5 us", framing=_ETHERNET, one_way=True, **settings)


def processor(own: costs.Router, **changes: Any) -> Processor:
    """One of the two routers: its costs, and what both have in common; a change to None removes a key."""
    keys = {
        "per_packet": f"{own.per_packet_us:g} us",
        "interrupt": f"{own.interrupt_us:g} us",
        "input_ring": f"{document.INPUT_RING} packets",
        "output_ring": f"{document.OUTPUT_RING} packets",
        **costs.low_priority(),
    }
    return Processor.model_validate({key: value for key, value in (keys | changes).items() if value is not None})


@dataclass(frozen=True)
class Setting:
    """The two routers and the link between them."""

    name: str
    """What the table of runs calls router A in it."""
    title: str
    """What is changed, for people."""
    router_a: Processor
    router_b: Processor
    serial_rate: str = "2 Mbit/s"
    serial_delay: str = "1 ms"
    read_s: int = costs.READ_S
    """When the meters are read, from the first packet on."""

    def links(self) -> dict[str, Link]:
        """The links, by name."""
        serial = Link(
            ends=(ROUTER_A, ROUTER_B), rate=self.serial_rate, delay=self.serial_delay, one_way=True,
            framing=Framing(overhead=f"{document.SERIAL_OVERHEAD} B"),
        )  # fmt: skip
        queue = f"{document.LINUX_QUEUE} packets"
        return {
            "lan_sender": ethernet(SENDER, LINUX, queue=queue),
            "lan_a": ethernet(LINUX, ROUTER_A, queue=queue),
            "serial": serial,
            "lan_b": ethernet(ROUTER_B, RECEIVER),
        }

    def nodes(self) -> dict[str, Node]:
        """The routers, by name."""
        return {ROUTER_A: Node(processor=self.router_a), ROUTER_B: Node(processor=self.router_b)}

    def scenario(self, traffic: Mapping[str, Any], duration_s: float, observe_s: float, **links: Link) -> Scenario:
        """This network with some traffic, and perhaps more links; rfc's headers."""
        return Scenario(
            profile="rfc", duration=f"{duration_s:g} s", link=self.links() | links, node=self.nodes(),
            traffic=dict(traffic), observe=Observe(interval=f"{observe_s:g} s"),
        )  # fmt: skip

    def probe(
        self, length: int, interval: str, duration_s: float, observe_s: float | None = None, start_s: float = 0.0
    ) -> Scenario:
        """A probe of packets of one length at one interval; the meters are read once, or every so often.

        It may begin later, for the meters' own clock does not know of it.
        """
        traffic = {PROBE: stream(length, interval, start_s=start_s)}
        return self.scenario(traffic, start_s + duration_s, observe_s or start_s + self.read_s)


def stream(length: int, interval: str, end: str = RECEIVER, start_s: float = 0.0) -> Cbr:
    """Packets of the document's length at a constant interval."""
    start = f"{start_s:g} s" if start_s else None
    return Cbr(
        from_=SENDER, to=end, interval=interval, start=start, udp=Udp(datagram=f"{document.datagram_bytes(length)} B")
    )


#: The network as the document has it, with the costs that follow from it.
DOCUMENTED: Final = Setting("A", "as documented", processor(costs.A), processor(costs.B))


# The probes of the document, and more of them where its grid is coarse.

#: The lengths whose onset the document prints.
REFINED: Final = tuple(document.ONSETS_PER_S)
#: Packet rates of the extra probes, about the onset and where the reading falls.
EXTRA_ONSET_PER_S: Final = range(3000, 5501, 100)
EXTRA_FALL_PER_S: Final = (*range(5600, 6000, 100), *range(6000, 10_001, 500))
#: Of probes that are not the document's: what is read is read by then.
SHORT_S: Final = 80
#: Packet rates whose meters are watched second by second: stable, unstable, highly unstable.
WATCHED_PER_S: Final = (2000, 5000, 8000)
#: Probes that are repeated begin at other phases of the meters' 5 s: what the document's probes could not know.
REPEATED_S: Final = (1.25, 2.5, 3.75)
REPEATED_PER_S: Final = (1000, 2000, 3000, 3500, *range(3900, 4401, 100), 5000)
#: The first part of the names of tasks: of the grid, of probes whose meters are watched, and of
#: probes that are repeated.
GRID: Final = "probe"
WATCH: Final = "meter"
REPEAT: Final = "repeat"


def interval(per_s: float) -> str:
    """The interval of a packet rate.

    >>> interval(4100)
    '243.902439 us'
    """
    return f"{1 / per_s / US:.9g} us"


def short_probes(
    name: str, rates: Iterable[int], lengths: Iterable[int] = REFINED, setting: Setting = DOCUMENTED, start_s: float = 0
) -> list[Task]:
    """Probes that are not the document's: of each length at each packet rate, named NAME/LENGTH/RATE."""
    return [
        Task(f"{name}/{length}/{rate}", setting.probe(length, interval(rate), SHORT_S, start_s=start_s))
        for length in lengths
        for rate in rates
    ]


def probes_tasks() -> list[Task]:
    """All probes of the document's network: its grid, of 2 minutes each, then those that we add."""
    whole_s, ends = document.DOCUMENT_DURATION_S, (document.SHORTEST, document.LENGTHS[-1])
    return [
        *(
            Task(f"{GRID}/{length}/{every:g}ms", DOCUMENTED.probe(length, f"{every:g} ms", whole_s))
            for length in document.LENGTHS
            for every in document.INTERVALS_MS
        ),
        *short_probes("onset", EXTRA_ONSET_PER_S),
        *short_probes("fall", EXTRA_FALL_PER_S),
        *(
            Task(f"{WATCH}/{rate}", DOCUMENTED.probe(document.SHORTEST, interval(rate), whole_s, observe_s=1))
            for rate in WATCHED_PER_S
        ),
        *(
            task
            for start in REPEATED_S
            for task in short_probes(f"{REPEAT} {start:g} s", REPEATED_PER_S, ends, start_s=start)
        ),
    ]
