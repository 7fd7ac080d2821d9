"""A first window that takes longer on a slow line than the retransmission timer waits for its ACKs.

Example:
    >>> scenario = tl.loads('''
    ... duration = "60 s"
    ... link.line = { ends = ["plant", "centre"], rate = "16 kbit/s", delay = "10 ms", queue = "50 packets" }
    ... traffic.file = { kind = "bulk", from = "plant", to = "centre", bytes = "29 kB" }
    ... ''')
    >>> from tightlink.diagnosis.paths import Paths
    >>> run = tl.simulate(scenario)
    >>> longer_timeout(run.flows.row(0, named=True), Paths(run).of("file"))
    ('a least timeout of 8 s, as long as the first window takes', {'traffic.file.tcp.rto.min': '8 s'})
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tightlink import units
from tightlink.diagnosis.commands import Tried
from tightlink.diagnosis.path import Path


def longer_timeout(row: Mapping[str, Any], path: Path) -> Tried | None:
    """A least timeout as long as the first window takes, of a flow whose timers have expired though nothing was lost.

    It leaves at once, and the timer goes by the round trip of the handshake, whose packets are short (RFC 6298 §2.2).
    """
    again, timeouts = (row["packets_retransmitted"] or 0) - (row["packets_dropped"] or 0), row["timeouts"] or 0
    # Who undoes a timeout retransmits a packet for it, as Linux does: nothing to gain.
    if path.tcp is None or not timeouts or again <= timeouts:
        return None
    takes_s = path.base_rtt_s + (path.tcp["initial_window_packets"] - 1) * path.slowest.interval_s(path.packet_bytes)
    if takes_s <= path.tcp["rto"]["min_s"]:
        return None
    wanted = units.format_time(float(math.ceil(takes_s)))
    text = f"a least timeout of {wanted}, as long as the first window takes"
    return text, {f"traffic.{path.spec['group']}.tcp.rto.min": wanted}
