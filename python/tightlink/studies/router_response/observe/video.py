"""What became of the videos: packets and frames that were lost, beside what `packetize` says of them.

Example:
    >>> clear(4100, 3800).smallest, clear(4100, 4090).smallest
    (455, None)
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.analysis.packetize import Bottleneck, Packetization, Stream, packetize
from tightlink.reduce import largest
from tightlink.studies.router_response.setup import video
from tightlink.studies.router_response.setup.document import INPUT_RING, SERIAL_BPS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.run import Run

_HEADERS: Final = 28
_MTU: Final = 1500
#: A payload whose key frames fit into the rings, and one whose key frames do not.
_LONG: Final = 720
_SHORT: Final = 90


@dataclass(frozen=True)
class Videos:
    """The tables of videos."""

    lost: pl.DataFrame
    """A row for each payload, background and way of sending."""
    in_bytes: pl.DataFrame
    """Loss of each payload without other traffic, frames sent at once, where rings count bytes."""
    limit_per_s: float
    """The packet rate from which the router is unstable."""

    @classmethod
    def of(cls, runs: Mapping[str, Run], limit_per_s: float) -> Videos:
        """Both tables from the runs."""
        return cls(_lost(runs, limit_per_s), _in_bytes(runs), limit_per_s)

    def values(self) -> dict[str, object]:
        """What claims compare, by name."""
        at_once = self.lost.filter(pl.col("frames sent") == "at once")
        most = at_once.filter(pl.col("background_per_s") == at_once["background_per_s"].max()).sort("payload_bytes")
        spread = pl.col("frames sent") == "spread"
        calm = self.lost.filter(spread & pl.col("clear") & (pl.col("payload_bytes") >= _LONG))
        alone = at_once.filter((pl.col("background_per_s") == 0) & (pl.col("payload_bytes") == _SHORT))
        return {
            "video.shortest_bytes": most["payload_bytes"][0],
            "video.longest_bytes": most["payload_bytes"][-1],
            "video.shortest_loss": float(most["loss"][0]),
            "video.longest_loss": float(most["loss"][-1]),
            "video.clear": calm.height,
            "video.clear_loss_most": largest(calm["loss"]),
            "video.alone_loss": alone["loss"][0],
            "video.alone_loss_in_bytes": self.in_bytes["loss"][0],
        }


def _lost(runs: Mapping[str, Run], limit_per_s: float) -> pl.DataFrame:
    rows = []
    for spread in (False, True):
        for payload in video.PAYLOADS:
            for others in video.BACKGROUNDS_PER_S:
                flows = runs[f"{video.sent(spread)}/{payload}/{others}"].flows
                flow = flows.filter(pl.col("label") == video.STREAM).row(0, named=True)
                rows.append(
                    {
                        "frames sent": "spread" if spread else "at once",
                        "payload_bytes": payload,
                        "background_per_s": others,
                        "video_per_s": flow["packets_sent"] / video.DURATION_S,
                        "packets_per_s": others + flow["packets_sent"] / video.DURATION_S,
                        "loss": flow["packets_dropped"] / flow["packets_sent"],
                        "loss_runs": flow["loss_runs"],
                        "loss_run_mean_packets": flow["loss_run_mean_packets"] or 0.0,
                        "loss_run_max_packets": flow["loss_run_max_packets"] or 0.0,
                        "frames_hit": 1 - flow["frames_complete"] / flow["frames_sent"],
                        "clear": not clear(limit_per_s, others).missed(payload),
                    }
                )
    return pl.DataFrame(rows)


def _in_bytes(runs: Mapping[str, Run]) -> pl.DataFrame:
    flows = {payload: runs[f"{video.IN_BYTES}/{payload}"].flows.row(0, named=True) for payload in video.PAYLOADS}
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
    film = Stream(
        bitrate_bps=Fraction(video.BITRATE_BPS), headers_bytes=_HEADERS, frames_per_s=Fraction(video.FRAMES_PER_S)
    )
    return packetize(film, bottleneck, mtu_bytes=_MTU)
