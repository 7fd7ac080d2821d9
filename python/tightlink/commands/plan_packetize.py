"""The command ``tightlink plan packetize``."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from tightlink import units
from tightlink.analysis.limits.packetize import Bottleneck, Bound, Constraint, Packetization, Stream
from tightlink.analysis.limits.packetize import packetize as lengths_of
from tightlink.analysis.limits.remedies import Need, Remedy, remedies
from tightlink.commands.options import Json, number, option, plain, share
from tightlink.commands.table_options import with_table_options
from tightlink.console import CAUTION, print_json, print_table, print_text, rounded
from tightlink.errors import ScenarioError
from tightlink.numbers import grouped

#: Lengths that are shown beside those that matter.
_USUAL: Final = (20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10240, 20480, 40960)
#: Significant digits of what would help.
_DIGITS: Final = 4
#: What a length fails on, in the table.
_MISSED: Final[dict[Constraint, str]] = {
    "limit": "too many packets",
    "link": "link too slow",
    "ring": "ring too small",
    "mtu": "above the MTU",
    "delay": "fills too slowly",
}


@with_table_options
def packetize(
    *,
    bitrate: str,
    limit_pps: float,
    background_pps: float = 0,
    headers: str = "28 B",
    mtu: str = "1500 B",
    link: str | None = None,
    max_delay: str | None = None,
    frame_rate: float | None = None,
    key_frame: float | None = None,
    ring: str | None = None,
    loss: str | None = None,
    json_: Json = False,
) -> int:
    """Say which packet length keeps a stream clear of a router's packet limit, and why.

    Args:
        bitrate: Bit rate of the stream without headers, such as "1.5 Mbit/s".
        limit_pps: Packets per second from which the router is unstable.
        background_pps: Packets per second of all other traffic through it.
        headers: Headers of each packet down to IP: 28 B for UDP, 40 B for RTP.
        mtu: Largest IP packet.
        link: Rate of the link that the stream must fit, such as "2 Mbit/s"; without it any rate fits.
        max_delay: Longest time to fill a packet, such as "30 ms"; without it any time will do.
        frame_rate: Frames per second, if it is video; packets do not hold parts of two frames.
        key_frame: Size of the largest frame over that of a mean one, such as 4, for --ring (default: 1).
        ring: What the ring holds where packets wait, such as "75 packets", for the burst of a frame.
        loss: Share of packets lost, such as "0.5 %", for the share of frames that it hits.
    """
    for name, value in (("--ring", ring), ("--loss", loss)):
        if value is not None and frame_rate is None:
            raise ScenarioError("--frame-rate beside it: it is frames that it is about", key=name, value=value)
    if key_frame is not None and ring is None:
        expected = "--ring beside it: it is what must hold such a frame"
        raise ScenarioError(expected, key="--key-frame", value=plain(key_frame))
    if key_frame is not None and key_frame < 1:
        raise ScenarioError("at least 1: no largest frame is below the mean", key="--key-frame", value=plain(key_frame))
    limit, background = number("--limit-pps", limit_pps), number("--background-pps", background_pps, zero=True)
    if background >= limit:
        expected = f"less than --limit-pps, which is {plain(limit_pps)}: the router is unstable without the stream"
        raise ScenarioError(expected, key="--background-pps", value=plain(background_pps))
    stream = Stream(
        bitrate_bps=option("--bitrate", bitrate, units.RATE),
        headers_bytes=int(option("--headers", headers, units.SIZE, zero=True)),
        frames_per_s=None if frame_rate is None else number("--frame-rate", frame_rate),
        largest_frame=number("--key-frame", 1 if key_frame is None else key_frame),
    )
    mtu_bytes = int(option("--mtu", mtu, units.SIZE))
    if mtu_bytes <= stream.headers_bytes:
        raise ScenarioError(f"more than the {stream.headers_bytes} B of headers", key="--mtu", value=mtu)
    bottleneck = Bottleneck(
        limit_packets_per_s=limit,
        background_packets_per_s=background,
        link_bps=None if link is None else option("--link", link, units.RATE),
        ring_packets=None if ring is None else int(option("--ring", ring, units.PACKETS)),
    )
    delay = None if max_delay is None else option("--max-delay", max_delay, units.TIME)
    found = lengths_of(stream, bottleneck, mtu_bytes=mtu_bytes, max_delay_s=delay)
    lost = None if loss is None else float(share("--loss", loss))
    answer = _Answer(stream, bottleneck, found, mtu_bytes, delay, lost)
    if json_:
        print_json(_as_json(answer))
    else:
        _show(answer)
    return 0 if found.smallest is not None else CAUTION


@dataclass(frozen=True)
class _Answer:
    """The question and what was found."""

    stream: Stream
    bottleneck: Bottleneck
    found: Packetization
    mtu_bytes: int
    max_delay_s: Fraction | None
    loss: float | None

    def remedies(self) -> list[Remedy]:
        """What would make room, where no length is clear."""
        return remedies(
            self.stream, self.bottleneck, self.found, mtu_bytes=self.mtu_bytes, max_delay_s=self.max_delay_s
        )

    def lengths(self) -> list[int]:
        """Payload lengths worth a row: usual ones and those at which something changes."""
        largest = self.mtu_bytes - self.stream.headers_bytes
        bounds = [bound.payload for bound in (*self.found.from_below, *self.found.from_above)]
        return sorted({length for length in (*_USUAL, *bounds) if length is not None and length <= largest})


def _as_json(answer: _Answer) -> dict[str, Any]:
    found = answer.found
    return {
        "clear": found.smallest is not None,
        "smallest_payload_bytes": found.smallest,
        "recommended_payload_bytes": found.recommended,
        "bounds": {
            "from_below": {bound.constraint: bound.payload for bound in found.from_below},
            "from_above": {bound.constraint: bound.payload for bound in found.from_above},
        },
        "lengths": [_row(answer, length) for length in answer.lengths()],
        "why": _why(answer),
        "remedies": [
            {"against": remedy.against, "needs": {need: float(value) for need, value in remedy.needs.items()}}
            for remedy in answer.remedies()
        ],
        "assumptions": _assumptions(answer),
    }


def _row(answer: _Answer, payload: int) -> dict[str, Any]:
    stream, bottleneck = answer.stream, answer.bottleneck
    own = stream.packets_per_s(payload)
    total = own + bottleneck.background_packets_per_s
    limit = bottleneck.limit_packets_per_s
    return {
        "payload_bytes": payload,
        "packets_per_s": float(own),
        "packets_per_s_with_background": float(total),
        "margin": float((limit - total) / limit),
        "header_share": float(stream.header_share(payload)),
        "rate_on_link_bps": float(stream.rate_on_link_bps(payload)),
        "fill_s": float(stream.fill_s(payload)),
        "packets_per_frame": stream.packets_per_frame(payload),
        "frame_hit": None if answer.loss is None else stream.frame_hit(payload, answer.loss),
        "missed": list(answer.found.missed(payload)),
    }


def _show(answer: _Answer) -> None:
    columns: dict[str, Callable[[dict[str, Any]], str]] = {
        "payload": lambda row: f"{row['payload_bytes']} B",
        "packets/s": lambda row: _count(row["packets_per_s"]),
        "with others": lambda row: _count(row["packets_per_s_with_background"]),
        "margin": lambda row: _percent(row["margin"]),
        "headers": lambda row: _percent(row["header_share"]),
        "on the link": lambda row: rounded(row["rate_on_link_bps"], units.format_rate),
    }
    if answer.max_delay_s is not None:
        columns["fills in"] = lambda row: rounded(row["fill_s"], units.format_time)
    if answer.stream.frames_per_s is not None:
        columns["packets/frame"] = lambda row: str(row["packets_per_frame"])
    if answer.loss is not None:
        columns["frame hit"] = lambda row: _percent(row["frame_hit"])
    columns["verdict"] = lambda row: ", ".join(_MISSED[missed] for missed in row["missed"]) or "clear"
    rows = [_row(answer, length) for length in answer.lengths()]
    cells = [[write(row) for write in columns.values()] for row in rows]
    print_table(list(columns), cells, words=[len(columns) - 1], drop=["packets/frame", "headers", "with others"])
    print_text()
    for line in [_verdict(answer), *_why(answer)]:
        print_text(line)
    for remedy in answer.remedies():
        print_text(_would_help(remedy))
    for line in _assumptions(answer):
        print_text(f"({line})")


def _verdict(answer: _Answer) -> str:
    found, stream = answer.found, answer.stream
    if found.smallest is None or found.recommended is None:
        return "no length keeps clear:"
    row = _row(answer, found.recommended)
    return (
        f"clear from {found.smallest} B of payload; recommended {found.recommended} B, packets of "
        f"{found.recommended + stream.headers_bytes} B: {_count(row['packets_per_s_with_background'])} packets/s with "
        f"all others, {_percent(row['margin'])} below the limit"
    )


def _why(answer: _Answer) -> list[str]:
    """What each constraint says, the strictest of a side first."""
    return [_reason(answer, bound) for bound in (*answer.found.from_below, *answer.found.from_above)]


def _reason(answer: _Answer, bound: Bound) -> str:
    bottleneck, payload = answer.bottleneck, bound.payload
    below = f"below {payload} B" if payload is not None else "at any length that the MTU takes"
    match bound.constraint:
        case "limit":
            return f"{below} the router sees {_count(bottleneck.limit_packets_per_s)} packets/s or more"
        case "link":
            rate = units.format_rate(float(bottleneck.link_bps or 0))
            return f"{below} headers make the stream more than the link's {rate}"
        case "ring":
            ring = units.format_packets(bottleneck.ring_packets or 0)
            return f"{below} the largest frame is more than the ring's {ring}"
        case "mtu":
            return f"above {payload} B the packet with its headers exceeds the MTU of {answer.mtu_bytes} B"
        case "delay":
            delay = units.format_time(float(answer.max_delay_s or 0))
            return f"above {payload or 0} B a packet takes longer than {delay} to fill"


def _would_help(remedy: Remedy) -> str:
    needs = " and ".join(_NEEDS[need](value) for need, value in remedy.needs.items())
    against = "" if remedy.against is None else f" against {_MISSED[remedy.against]}"
    return f"would help{against}: {needs}"


def _assumptions(answer: _Answer) -> list[str]:
    lines = []
    if answer.stream.frames_per_s is not None:
        lines.append(
            "all frames are taken as of the mean size; a key frame is several times that"
            if answer.stream.largest_frame == 1
            else f"frames are of the mean size but for key frames of {_count(answer.stream.largest_frame)} times that"
        )
    if answer.loss is not None:
        lines.append("frame hit supposes that packets are lost independently; losses in bursts hit fewer frames")
    if answer.bottleneck.ring_packets is not None:
        lines.append("the ring must hold the largest frame whole, as if it came at once")
    return lines


def _count(value: float | Fraction) -> str:
    return grouped(f"{float(value):.6g}")


def _percent(value: float) -> str:
    return rounded(round(value, 4), units.format_fraction)


def _bound(value: Fraction, *, up: bool) -> float:
    """A value with few digits that is on the safe side of it."""
    step = Fraction(10) ** (math.floor(math.log10(value)) - _DIGITS + 1)
    return float((math.ceil if up else math.floor)(value / step) * step)


#: How a remedy is put: with what is to be reached, or not to be exceeded.
_NEEDS: Final[dict[Need, Callable[[Fraction], str]]] = {
    "limit": lambda value: f"a router that bears more than {_count(_bound(value, up=True))} packets/s",
    "background": lambda value: f"less than {_count(_bound(value, up=False))} packets/s of others",
    "bitrate": lambda value: f"a bit rate below {units.format_rate(_bound(value, up=False))}",
    "link": lambda value: f"a link of {units.format_rate(_bound(value, up=True))}",
    "ring": lambda value: f"a ring of {units.format_packets(int(value))}",
    "mtu": lambda value: f"an MTU of {int(value)} B",
    "delay": lambda value: f"{units.format_time(_bound(value, up=True))} to fill a packet",
}
