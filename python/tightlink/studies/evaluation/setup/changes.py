"""Sudden changes of the bandwidth that is left: traffic that does not answer takes half of the link, and goes."""

from __future__ import annotations

from typing import Any, Final

import polars as pl

from tightlink.run import Run
from tightlink.scenario import Cbr, Scenario, Udp
from tightlink.studies.evaluation.setup.pack import Headline, Test
from tightlink.studies.evaluation.setup.path import BOTTLENECK, PACKET_BITS, RECEIVER, SENDER, Path
from tightlink.studies.evaluation.setup.samples import each_second, first_above, mean_after, series, smoothed

PATH: Final = Path(rate_mbit=100, rtt_ms=50)
COMES_S: Final = 40
GOES_S: Final = 70
DURATION_S: Final = 110
#: Share of the link that is taken.
TAKEN: Final = 0.5
#: Link filled again: mean over a second.
_FULL: Final = 0.95
_OVER_S: Final = 1.0
#: While the flow makes room.
_AT_FIRST_S: Final = 2


def _halved(congestion: Any, path: Path, seed: int) -> list[Scenario]:
    taken = Cbr(
        from_=SENDER, to=RECEIVER, rate=f"{TAKEN * PATH.rate_mbit:g} Mbit/s", udp=Udp(datagram=f"{PACKET_BITS // 8} B"),
        start=f"{COMES_S} s", stop=f"{GOES_S} s",
    )  # fmt: skip
    return [path.scenario({"flow": path.bulk(congestion), "taken": taken}, duration_s=DURATION_S, seed=seed)]


def _measure(_: Path, run: Run) -> dict[str, float | None]:
    used = smoothed(series(run, "utilization", [BOTTLENECK]), "utilization", _OVER_S).select("time_s", "utilization")
    filled = first_above(used.filter(pl.col("time_s") >= GOES_S + _OVER_S).rows(), _FULL)
    dropped = series(run, "packets_dropped", [BOTTLENECK])
    at_first = dropped.filter(pl.col("time_s").is_between(COMES_S, COMES_S + _AT_FIRST_S))
    through = PATH.rate_bps / PACKET_BITS * _AT_FIRST_S
    lost = float(at_first["packets_dropped"].sum())
    left = mean_after(run, "throughput_bps", "flow", COMES_S + _AT_FIRST_S, GOES_S)
    return {
        "loss_at_first": lost / (through + lost),
        "kept_of_half": left / (PATH.rate_bps * (1 - TAKEN)),
        "refill_s": None if filled is None else filled - GOES_S,
    }


def _curve(_: Path, run: Run) -> pl.DataFrame:
    return each_second(series(run, "throughput_bps", ["flow"]), "throughput_bps").drop("entity")


TEST: Final = Test(
    "changes",
    "Sudden changes",
    f"One flow over {PATH.label}; from {COMES_S} to {GOES_S} s a constant stream takes half of the link: the loss of "
    f"all packets in the first {_AT_FIRST_S} s of it, the throughput of the flow over the half that is left (above "
    "100 % where the stream loses packets to it), and how long the link takes to be "
    f"{100 * _FULL:.0f} % full again, over a second, once the stream has gone (RFC 5166 §2.2).",
    lambda: {PATH.label: PATH},
    _halved,
    _measure,
    [
        Headline("loss as half of the link goes", "loss_at_first"),
        Headline("use of the half that the stream leaves", "kept_of_half"),
        Headline("time to fill the link again", "refill_s", never=f"> {DURATION_S - GOES_S} s"),
    ],
    _curve,
    random=False,
)
