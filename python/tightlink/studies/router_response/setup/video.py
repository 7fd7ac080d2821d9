"""For the streaming designer: a video through router A while other packets keep its CPU busy.

The other packets turn off behind router A into a fast link, so that they load its CPU and not the serial link: what the
video loses, it loses to packets per second, not to bits per second.

Example:
    >>> scenario(720, 3000, spread=True).traffic["others"].interval
    '333.333333 us'
"""

from typing import Any, Final

from tightlink.experiment.execute import Task
from tightlink.scenario import Scenario, Udp, Video
from tightlink.studies.router_response.setup import network
from tightlink.studies.router_response.setup.document import SHORTEST
from tightlink.studies.router_response.setup.variants import BY_NAME

STREAM: Final = "video"
_NEIGHBOUR: Final = "neighbour"
IN_BYTES: Final = "video, rings in bytes"
BITRATE_BPS: Final = 1_000_000
FRAMES_PER_S: Final = 25
PAYLOADS: Final = (90, 180, 360, 720, 1440)
BACKGROUNDS_PER_S: Final = (0, 3000, 3500, 4000, 4400)
VIDEO_DURATION_S: Final = 40


def scenario(
    payload: int, others_per_s: int, *, spread: bool, setting: network.Setting = network.DOCUMENTED
) -> Scenario:
    """A video in packets of one payload, those of a frame at once or spread over its interval, beside short packets."""
    film = Video(
        from_=network.SENDER, to=network.RECEIVER, rate=f"{BITRATE_BPS / 1e6:g} Mbit/s", frames_per_second=FRAMES_PER_S,
        spread=spread, udp=Udp(payload=f"{payload} B"),
    )  # fmt: skip
    traffic: dict[str, Any] = {STREAM: film}
    aside = {}
    if others_per_s:
        traffic["others"] = network.stream(SHORTEST, network.interval(others_per_s), end=_NEIGHBOUR)
        aside = {"lan_aside": network.ethernet(network.ROUTER_A, _NEIGHBOUR)}
    return setting.scenario(traffic, VIDEO_DURATION_S, VIDEO_DURATION_S, **aside)


def video_tasks() -> list[Task]:
    """Every payload with every background, frames sent at once and spread; and with rings that count bytes."""
    in_bytes = BY_NAME["A, rings in bytes"]
    listed = [Task(f"{IN_BYTES}/{size}", scenario(size, 0, spread=False, setting=in_bytes)) for size in PAYLOADS]
    return listed + [
        Task(f"{sent(spread)}/{payload}/{others}", scenario(payload, others, spread=spread))
        for spread in (False, True)
        for payload in PAYLOADS
        for others in BACKGROUNDS_PER_S
    ]


def sent(spread: bool) -> str:  # noqa: FBT001
    """The first part of the names of tasks, by how frames are sent."""
    return "video spread" if spread else "video"
