"""For the streaming designer: a video through router A while other packets keep its CPU busy.

The other packets turn off behind router A into a fast link, so that they load its CPU and not the serial
link: what the video loses, it loses to packets per second, not to bits per second.

Example:
    >>> clear(4100, 3800).smallest, clear(4100, 4090).smallest
    (455, None)
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink.analysis.packetize import Bottleneck, Packetization, Stream, packetize
from tightlink.experiment.execute import Task
from tightlink.scenario import Udp, Video
from tightlink.studies.router_response.document import INPUT_RING, SERIAL_BPS, SHORTEST
from tightlink.studies.router_response.network import (
    DOCUMENTED,
    RECEIVER,
    ROUTER_A,
    SENDER,
    Setting,
    ethernet,
    stream,
)
from tightlink.studies.router_response.probes import interval
from tightlink.studies.router_response.variants import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.run import Run
    from tightlink.scenario import Scenario

STREAM: Final = "video"
_OTHERS: Final = "others"
_NEIGHBOUR: Final = "neighbour"
_IN_BYTES: Final = "video, rings in bytes"
BITRATE_BPS: Final = 1_000_000
FRAMES_PER_S: Final = 25
PAYLOADS: Final = (90, 180, 360, 720, 1440)
BACKGROUNDS_PER_S: Final = (0, 3000, 3500, 4000, 4400)
_DURATION_S: Final = 40
_HEADERS: Final = 28
_MTU: Final = 1500


def scenario(payload: int, others_per_s: int, *, spread: bool, setting: Setting = DOCUMENTED) -> Scenario:
    """A video in packets of one payload beside short packets at a constant rate.

    Args:
        payload: Of a packet of the video, in bytes.
        others_per_s: Packets/s of the document's shortest length.
        spread: Whether the packets of a frame are spread over its interval.
        setting: The routers.
    """
    film = Video(
        from_=SENDER, to=RECEIVER, rate=f"{BITRATE_BPS / 1e6:g} Mbit/s", frames_per_second=FRAMES_PER_S,
        spread=spread, udp=Udp(payload=f"{payload} B"),
    )  # fmt: skip
    traffic: dict[str, Any] = {STREAM: film}
    aside = {}
    if others_per_s:
        traffic[_OTHERS] = stream(SHORTEST, interval(others_per_s), end=_NEIGHBOUR)
        aside = {"lan_aside": ethernet(ROUTER_A, _NEIGHBOUR)}
    return setting.scenario(traffic, _DURATION_S, _DURATION_S, **aside)


def tasks() -> list[Task]:
    """Every payload with every background, frames sent at once and spread; and with rings that count bytes."""
    in_bytes = BY_NAME["A, rings in bytes"]
    listed = [Task(f"{_IN_BYTES}/{size}", scenario(size, 0, spread=False, setting=in_bytes)) for size in PAYLOADS]
    return listed + [
        Task(f"{_sent(spread)}/{payload}/{others}", scenario(payload, others, spread=spread))
        for spread in (False, True)
        for payload in PAYLOADS
        for others in BACKGROUNDS_PER_S
    ]


def table(runs: Mapping[str, Run], limit_per_s: float) -> pl.DataFrame:
    """What became of the video: a row for each payload, background and way of sending.

    Args:
        runs: With those of `tasks`.
        limit_per_s: Packet rate from which the router is unstable, for `clear`.
    """
    rows = []
    for spread in (False, True):
        for payload in PAYLOADS:
            for others in BACKGROUNDS_PER_S:
                flows = runs[f"{_sent(spread)}/{payload}/{others}"].flows
                flow = flows.filter(pl.col("label") == STREAM).row(0, named=True)
                rows.append(
                    {
                        "frames sent": "spread" if spread else "at once",
                        "payload_bytes": payload,
                        "background_per_s": others,
                        "video_per_s": flow["packets_sent"] / _DURATION_S,
                        "packets_per_s": others + flow["packets_sent"] / _DURATION_S,
                        "loss": flow["packets_dropped"] / flow["packets_sent"],
                        "loss_runs": flow["loss_runs"],
                        "loss_run_mean_packets": flow["loss_run_mean_packets"] or 0.0,
                        "loss_run_max_packets": flow["loss_run_max_packets"] or 0.0,
                        "frames_hit": 1 - flow["frames_complete"] / flow["frames_sent"],
                        "clear": not clear(limit_per_s, others).missed(payload),
                    }
                )
    return pl.DataFrame(rows)


def in_bytes(runs: Mapping[str, Run]) -> pl.DataFrame:
    """Loss of each payload without other traffic, frames sent at once, where rings count bytes."""
    flows = {payload: runs[f"{_IN_BYTES}/{payload}"].flows.row(0, named=True) for payload in PAYLOADS}
    losses = [flow["packets_dropped"] / flow["packets_sent"] for flow in flows.values()]
    return pl.DataFrame({"payload_bytes": list(flows), "loss": losses})


def clear(limit_per_s: float, others_per_s: int) -> Packetization:
    """What `packetize` says of the video at this router.

    Args:
        limit_per_s: Packet rate of the router's onset.
        others_per_s: Packets/s of all other traffic.
    """
    bottleneck = Bottleneck(
        limit_packets_per_s=Fraction(limit_per_s),
        background_packets_per_s=Fraction(others_per_s),
        link_bps=Fraction(SERIAL_BPS),
        ring_packets=INPUT_RING,
    )
    film = Stream(bitrate_bps=Fraction(BITRATE_BPS), headers_bytes=_HEADERS, frames_per_s=Fraction(FRAMES_PER_S))
    return packetize(film, bottleneck, mtu_bytes=_MTU)


def _sent(spread: bool) -> str:  # noqa: FBT001
    return "video spread" if spread else "video"
