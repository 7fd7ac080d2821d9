"""One link with bulk flows, as the document has them.

K. Mills, J. Filliben, D. Cho, E. Schwartz, D. Genin: Study of Proposed Internet Congestion Control Mechanisms, NIST
SP 500-282, 2010, as presented in Innovations in Measurement Science, 2011. Its first pages show the phases of a
flow, a path of 252 Mbit/s of which TCP uses 89 %, and one of 1 Gbit/s from Chicago to Dublin of which standard TCP
uses much less; they give neither round trips nor queues.
"""

from __future__ import annotations

from typing import Any, Final

from tightlink.scenario import Bulk, Codel, Link, Observe, Pie, Reverse, Scenario, Tcp

SENDER: Final = "sender"
RECEIVER: Final = "receiver"
LINK: Final = "bottleneck"
FLOW: Final = "flow"
#: Of profile rfc.
PACKET_BYTES: Final = 1500
PAYLOAD_BYTES: Final = 1448
#: More than any window here.
OPEN: Final = "100000000 packets"


def scenario(  # noqa: PLR0913
    rate: str,
    rtt_ms: float,
    queue: str | Pie | Codel,
    duration_s: float,
    *,
    loss: float = 0,
    seed: int = 1,
    interval_s: float | None = None,
    flows: int | None = None,
    more: dict[str, Any] | None = None,
    profile: str = "rfc",
    **tcp: Any,
) -> Scenario:
    """Bulk flows over one link, with an ACK for every packet unless ``delayed_acks`` says otherwise.

    Args:
        rate: Of the link.
        rtt_ms: Round trip of the empty path.
        queue: Its limit, or another discipline.
        duration_s: Simulated time.
        loss: Share of data packets lost on the wire.
        seed: Of the losses.
        interval_s: Of the samples.
        flows: How many; they start a millisecond apart.
        more: Further traffic.
        profile: Of the transport.
        tcp: Keys of TCP.
    """
    keys: dict[str, Any] = {"window": OPEN, "delayed_acks": False} | tcp
    own = Tcp(**keys)
    group: dict[str, Any] = {} if flows is None else {"flows": flows, "start": {"every": "1 ms"}}
    link = Link(
        ends=(SENDER, RECEIVER), rate=rate, delay=f"{rtt_ms / 2:g} ms", queue=queue, loss=loss,
        reverse=Reverse(loss=0, queue="unlimited"),
    )  # fmt: skip
    observe = None if interval_s is None else Observe(interval=f"{interval_s:g} s")
    return Scenario(
        profile=profile, duration=f"{duration_s:g} s", seed=seed, link={LINK: link}, observe=observe,
        traffic={FLOW: Bulk(from_=SENDER, to=RECEIVER, tcp=own, **group)} | (more or {}),
    )  # fmt: skip
