"""Notes on the text: the document's arithmetic on its own constants, which no run can contradict."""

from __future__ import annotations

from typing import Final

from tightlink.report import Section, Text
from tightlink.studies.one_flow.setup.cases import BASE, BY_NAME

#: The document's mean queue, in packets, and its Mbit.
_QUEUE: Final = 14.5
_MBIT: Final = 2**20


def section() -> Section:
    """The part of the report."""
    small = BY_NAME["packet-100"]
    left = small.payload_share * small.rate_bps / 1e3
    own_ms = 1e3 * 8 * BASE.payload_bytes / (BASE.rate_bps / 1e6 * _MBIT)
    waiting_ms = _QUEUE * own_ms
    total_ms = waiting_ms + own_ms + 1e3 * BASE.delay_s
    latency = (
        f"**The latency of the base case, calculated** (queue of 50 packets): {_QUEUE} packets that wait "
        f"{waiting_ms:.2f} ms (the document: 55.31), {own_ms:.2f} ms of the packet itself (3.81) and the delay are "
        f"{total_ms:.2f} ms (69.12). The sum is right; its Mbit is 2²⁰ bit and its packet {BASE.payload_bytes} B, but "
        f"simulators count 10⁶ bit and {BASE.packet_bytes} B."
    )
    headers = (
        f"**What headers leave of 2000 kbit/s with packets of 100 B**: {small.payload_bytes}/{small.packet_bytes}, "
        f"{left:.0f} kbit/s (the document: 1428, its decimals cut off). The number is right, the reason is not: the 40 "
        "bytes are each packet's own header; the ACKs that it blames take the other direction of the link."
    )
    finding = "Sums on the document's own constants are right; what they stand for is not always."
    return Section("Notes on the text", finding, [Text(latency), Text(headers)])
