"""The transport protocols of traffic: TCP with its retransmission timer, and UDP.

Example:
    >>> Tcp(congestion="cubic", window="64KiB").window
    '64 KiB'
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import StrictBool

from tightlink.scenario.congestion import RECOVERIES, control_beside
from tightlink.scenario.table import Table
from tightlink.scenario.values import Congestion, Delay, Ecn, Period, ShortPeriod, Size, Threshold, Window, choice


class Rto(Table):
    """TCP's retransmission timer (RFC 6298); the profile gives what is not set."""

    initial: Period | None = None
    """Before the first sample of the round-trip time, at least ``min``."""
    min: Period | None = None
    """Lower bound."""
    max: Period | None = None
    """Upper bound."""
    granularity: Period | None = None
    """Tick of the clock."""


class Tcp(Table):
    """A TCP connection; the profile gives what is not set.

    Windows are packets of ``payload``; one in bytes is rounded down to packets, one in BDP is
    rounded up.

    Example:
        >>> tl.Tcp(congestion="bbr", window="64 KiB").window
        '64 KiB'
    """

    congestion: Congestion | None = None
    """Congestion control, by name (``tightlink list congestion``), or a table of its name as ``kind`` and options."""
    recovery: Annotated[str, choice(*RECOVERIES, meant=control_beside)] | None = None
    """Loss recovery: tahoe, reno, newreno, sack or rack."""
    payload: Size | None = None
    """Application bytes in a full segment; the profile adds its headers."""
    window: Window | None = None
    """Largest window that the receiver advertises."""
    initial_window: Window | None = None
    """Congestion window at the start."""
    loss_window: Window | None = None
    """Congestion window after a retransmission timeout, in packets or bytes (default "1 packet", RFC 5681)."""
    initial_ssthresh: Threshold | None = None
    """Slow-start threshold at the start, or "unlimited"."""
    slow_start: (
        Annotated[str, choice("standard", "byte-counting", "hystart", "hystart++", "search", "rapid", "limited")] | None
    ) = None
    """Slow start: standard (RFC 5681), byte-counting (Linux's), hystart (Linux's CUBIC's), hystart++ (RFC 9406), search
    (draft-chung-ccwg-search), rapid (draft-kazuho-ccwg-rapid-start; always paces) or limited (RFC 3742). Controls that
    begin in another way, as BBR does, have none but rapid."""
    max_ssthresh: Window | None = None
    """Window above which limited slow start is slower; needs ``slow_start`` = "limited"."""
    delayed_acks: StrictBool | None = None
    """Whether the receiver acknowledges every second packet only."""
    delayed_ack_timeout: ShortPeriod | None = None
    """How long the receiver may hold an ACK; needs ``delayed_acks``."""
    limited_transmit: StrictBool | None = None
    """Whether the first two duplicate ACKs release a new packet each (RFC 3042)."""
    pacing: StrictBool | None = None
    """Whether packets leave one by one, spread over the round trip; a congestion control that needs it always paces."""
    processing_delay: Delay | None = None
    """Longest time that the sending host takes before it sends what an ACK, a timer or the application lets it send;
    drawn uniformly, as by ns-2's ``overhead_``. Hosts that run Linux take up to "0.1 ms" (default "0 s")."""
    slow_start_after_idle: StrictBool | None = None
    """Whether profile linux gives up half of a congestion window for each retransmission timeout in which it was not
    used, as Linux does by default (net.ipv4.tcp_slow_start_after_idle; RFC 2861). BBR keeps its window anyway."""
    ecn: Ecn | None = None
    """Whether queues may mark packets instead of dropping them: true (RFC 3168) or "accecn", so that ACKs count marks
    (RFC 9768); a control that reads marks sets it."""
    receiver_ecn: Ecn | None = None
    """What of ecn the receiver agrees to at most: an older one has that of RFC 3168 (true) or none (false). The
    handshake finds the best that both have (RFC 9768 section 3.1); default: all that ecn asks for."""
    ecn_option: StrictBool | None = None
    """Whether ACKs also carry the option of RFC 9768, which counts bytes by ECN field, so that lost ACKs neither hide
    nor invent marks; needs "accecn" at both ends; default: they do not."""
    rto: Rto | None = None
    """Retransmission timer."""


class Udp(Table):
    """A UDP flow: either what the application sends at a time, or the whole IP datagram.

    Example:
        >>> tl.Udp(payload="1000 B").payload
        '1000 B'
    """

    payload: Size | None = None
    """Application bytes in a datagram; the profile adds its headers."""
    datagram: Size | None = None
    """The whole IP datagram, headers included."""
    ecn: Literal["ect0", "ect1"] | None = None
    """What packets say to queues that mark instead of dropping: ECT(0) (RFC 3168), or ECT(1), with which they join the
    queue of L4S (RFC 9331). Nobody answers the marks, which are counted. Default: nothing, so that none is marked."""

    def _check(self) -> None:
        self._only("payload", "datagram")
