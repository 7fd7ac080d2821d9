"""Profiles: named sets of transport defaults, each with its source. The defaults stand nowhere else.

Example:
    >>> PROFILES["ns2"].tcp.window, PROFILES["rfc"].tcp.initial_window
    ('20 packets', '10 packets')
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, kw_only=True)
class RtoDefaults:
    """Defaults of the retransmission timer."""

    initial: str
    min: str
    max: str
    granularity: str


@dataclass(frozen=True, kw_only=True)
class TcpDefaults:
    """A TCP connection where its table is silent; headers are in bytes."""

    congestion: str
    recovery: str
    payload: str
    header_bytes: int
    ack_bytes: int
    window: str
    initial_window: str
    #: Nothing: the same as the window.
    initial_ssthresh: str | None
    slow_start: str
    #: With any other congestion control than the profile's.
    slow_start_of_others: str
    #: Options of congestion controls, by their names, where they differ from the controls' own defaults.
    control_options: Mapping[str, Mapping[str, float]]
    max_ssthresh: str
    delayed_acks: bool
    delayed_ack_timeout: str
    limited_transmit: bool
    pacing: bool
    ecn: bool
    rto: RtoDefaults


@dataclass(frozen=True, kw_only=True)
class UdpDefaults:
    """A UDP flow where its table is silent; headers are in bytes."""

    payload: str
    header_bytes: int
    #: What each further fragment of a datagram repeats.
    fragment_header_bytes: int


@dataclass(frozen=True, kw_only=True)
class Profile:
    """A named set of defaults."""

    name: str
    help: str
    queue: str
    #: Nothing: packets of any size fit.
    mtu: str | None
    tcp: TcpDefaults
    udp: UdpDefaults


NS2: Final = Profile(
    name="ns2",
    help="ns-2.35's one-way agents with the defaults of its tcl/lib/ns-default.tcl",
    queue="50 packets",  # Queue set limit_ 50
    mtu=None,  # ns-2 has no MTU and never fragments
    tcp=TcpDefaults(
        congestion="reno",
        recovery="reno",  # Agent/TCP/Reno
        payload="1000 B",  # Agent/TCP set packetSize_ 1000
        header_bytes=40,  # Agent/TCP set tcpip_base_hdr_size_ 40
        ack_bytes=40,  # Agent/TCPSink set packetSize_ 40
        window="20 packets",  # Agent/TCP set window_ 20
        initial_window="2 packets",  # Agent/TCP set windowInit_ 2
        initial_ssthresh=None,  # TcpAgent::reset_vars: ssthresh_ = int(wnd_)
        slow_start="standard",  # TcpAgent::opencwnd
        slow_start_of_others="standard",
        control_options={},
        max_ssthresh="100 packets",  # RFC 3742 §3; ns-2's max_ssthresh_ is off
        delayed_acks=False,  # Agent/TCPSink acknowledges each packet
        delayed_ack_timeout="100 ms",  # Agent/TCPSink/DelAck set interval_ 100ms
        limited_transmit=True,  # Agent/TCP set singledup_ 1
        pacing=False,  # the one-way agents send as soon as the window lets them
        ecn=False,  # Agent/TCP set ecn_ 0
        rto=RtoDefaults(
            initial="3 s",  # Agent/TCP set rtxcur_init_ 3.0
            min="0.2 s",  # Agent/TCP set minrto_ 0.2
            max="60 s",  # Agent/TCP set maxrto_ 60
            granularity="0.01 s",  # Agent/TCP set tcpTick_ 0.01
        ),
    ),
    udp=UdpDefaults(
        payload="1000 B",  # Agent/UDP set packetSize_ 1000: bytes on the wire
        header_bytes=0,
        fragment_header_bytes=0,
    ),
)

RFC: Final = Profile(
    name="rfc",
    help="TCP after RFC 5681, 6298, 6582, 6675 and 6928, with handshake, timestamps and delayed ACKs",
    queue="1000 packets",  # the usual transmit queue of a Linux interface
    mtu="1500 B",  # Ethernet, IEEE 802.3
    tcp=TcpDefaults(
        congestion="reno",  # RFC 5681
        recovery="sack",  # RFC 6675
        payload="1448 B",  # 1500 B less IP, TCP and timestamps
        header_bytes=52,  # IP 20 + TCP 20 + timestamps 12 (RFC 7323)
        ack_bytes=52,
        window="10000 packets",  # large enough not to limit what is not meant to be limited
        initial_window="10 packets",  # RFC 6928
        initial_ssthresh="unlimited",  # RFC 5681 §3.1: arbitrarily high
        slow_start="standard",  # RFC 5681 §3.1
        slow_start_of_others="standard",
        control_options={},
        max_ssthresh="100 packets",  # RFC 3742 §3
        delayed_acks=True,  # RFC 5681 §4.2
        delayed_ack_timeout="200 ms",  # RFC 1122 §4.2.3.2 allows up to 500 ms; 200 ms is customary
        limited_transmit=True,  # RFC 3042
        pacing=False,  # RFC 5681 knows of none
        ecn=False,  # RFC 3168 leaves it to the user
        rto=RtoDefaults(
            initial="1 s",  # RFC 6298 §2.1
            min="1 s",  # RFC 6298 §2.4
            max="60 s",  # RFC 6298 §2.5: at least 60 s
            granularity="1 ms",  # a timestamp clock of 1 ms (RFC 7323 §5.4)
        ),
    ),
    udp=UdpDefaults(
        payload="1472 B",  # fills a datagram of 1500 B
        header_bytes=28,  # IP 20 + UDP 8
        fragment_header_bytes=20,  # IP (RFC 791 §3.2)
    ),
)

LINUX: Final = Profile(
    name="linux",
    help="TCP as a current Linux sends it: CUBIC with HyStart, RACK-TLP, quick ACKs, a timeout of 200 ms and more",
    queue="1000 packets",  # txqueuelen of an Ethernet interface
    mtu="1500 B",  # Ethernet, IEEE 802.3
    tcp=TcpDefaults(
        congestion="cubic",  # net.ipv4.tcp_congestion_control
        recovery="rack",  # net.ipv4.tcp_recovery = 1, tcp_early_retrans = 3
        payload="1448 B",  # 1500 B less IP, TCP and timestamps
        header_bytes=52,  # IP 20 + TCP 20 + timestamps 12 (RFC 7323)
        ack_bytes=52,
        window="3 MiB",  # net.ipv4.tcp_rmem: at most 6 MiB, of which half is window
        initial_window="10 packets",  # TCP_INIT_CWND
        initial_ssthresh="unlimited",  # TCP_INFINITE_SSTHRESH
        slow_start="hystart",  # hystart of tcp_cubic
        slow_start_of_others="byte-counting",  # tcp_slow_start; HyStart is a part of CUBIC only
        # bictcp_update: 5 % per round trip while W_max is 0; delay_min ahead.
        control_options={
            "cubic": {"growth_before_loss": 0.05, "by_least_rtt": 1.0, "whole_packets": 1.0},
            "bbr": {"batches": 1.0, "policers": 1.0},
            "reno": {"whole_packets": 1.0},
        },
        max_ssthresh="100 packets",  # RFC 3742 §3; Linux has none
        delayed_acks=True,
        delayed_ack_timeout="200 ms",  # TCP_DELACK_MAX; it begins with 40 ms
        limited_transmit=True,
        pacing=False,  # only where a control asks for it, or the queue is fq
        ecn=False,  # net.ipv4.tcp_ecn = 2: only if the other end asks
        rto=RtoDefaults(
            initial="1 s",  # TCP_TIMEOUT_INIT
            min="200 ms",  # TCP_RTO_MIN: of the variance, too
            max="120 s",  # TCP_RTO_MAX
            granularity="1 ms",  # a timer tick at HZ = 1000
        ),
    ),
    udp=RFC.udp,
)

PROFILES: Final[dict[str, Profile]] = {profile.name: profile for profile in (NS2, RFC, LINUX)}
DEFAULT_PROFILE: Final = "rfc"
