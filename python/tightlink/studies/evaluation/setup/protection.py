"""What a control does to a network that loses everything, and to a call that shares its queue."""

from __future__ import annotations

from typing import Any, Final

import polars as pl

from tightlink.run import Run
from tightlink.scenario import Scenario
from tightlink.studies.evaluation.setup.pack import Headline, Test
from tightlink.studies.evaluation.setup.path import BOTTLENECK, VOICE, Path
from tightlink.studies.evaluation.setup.samples import flows_of, loss_of, series

PATH: Final = Path(rate_mbit=20, rtt_ms=40)
#: All packets are lost from here to there.
BLACKOUT_S: Final = (20, 40)
#: By then all packets are gone that were under way, and the timer of RFC 6298 has expired.
_BEGINNING_S: Final = 1
_BLACKOUT_RUN_S: Final = 45
#: A long queue, as many homes have: 200 ms.
LONG_QUEUE: Final = Path(rate_mbit=20, rtt_ms=40, buffer_bdp=5)
_CALL_S: Final = 60


def _blackout(congestion: Any, path: Path, seed: int) -> list[Scenario]:
    begin, end = BLACKOUT_S
    link = path.link(loss={"from": f"{begin} s", "to": f"{end} s"}, reverse={"queue": "unlimited", "loss": 0.0})
    traffic = {"flow": path.bulk(congestion)}
    return [path.scenario(traffic, duration_s=_BLACKOUT_RUN_S, seed=seed, links={BOTTLENECK: link})]


def _sent(_: Path, run: Run) -> dict[str, float | None]:
    lost = series(run, "packets_dropped", [BOTTLENECK])
    during = lost.filter(pl.col("time_s").is_between(BLACKOUT_S[0] + _BEGINNING_S, BLACKOUT_S[1], closed="right"))
    return {"sent_into_blackout": float(during["packets_dropped"].sum())}


def _call(congestion: Any, path: Path, seed: int) -> list[Scenario]:
    traffic = {"flow": path.bulk(congestion), "call": VOICE, **path.background()}
    return [path.scenario(traffic, duration_s=_CALL_S, interval_ms=1000, seed=seed)]


def _heard(_: Path, run: Run) -> dict[str, float | None]:
    return {
        "voice_delay_p95_s": flows_of(run, "call")["one_way_delay_p95_s"][0],
        "voice_loss": loss_of(run, "call"),
    }


TESTS: Final = (
    Test(
        "blackout",
        "A path that loses everything",
        f"One flow over {PATH.label}, which loses every packet for {BLACKOUT_S[1] - BLACKOUT_S[0]} s: how many are "
        f"sent after the first second of it (RFC 9743 §5.1.1: at last a packet a round trip, and exponential backoff).",
        lambda: {PATH.label: PATH},
        _blackout,
        _sent,
        [Headline("packets sent into a path that loses all", "sent_into_blackout")],
        random=False,
    ),
    Test(
        "call",
        "A call beside it",
        f"A call, 50 packets a second that do not answer, beside one flow of the control over {LONG_QUEUE.label}, for "
        f"{_CALL_S} s: the one-way delay of the call, which is {LONG_QUEUE.rtt_ms / 2:g} ms alone, and its loss "
        "(RFC 9743 §5.2.2, of which no control for media is here).",
        lambda: {LONG_QUEUE.label: LONG_QUEUE},
        _call,
        _heard,
        [Headline("p95 one-way delay of a call beside it", "voice_delay_p95_s")],
    ),
)
