"""Queueing delay and loss, under every queue discipline of the engine with its defaults."""

from __future__ import annotations

from typing import Any, Final

from tightlink.errors import ScenarioError
from tightlink.reduce import jain, mean_of
from tightlink.run import Run
from tightlink.scenario import Scenario
from tightlink.scenario.congestion import control_name, reads_marks
from tightlink.studies.evaluation.setup.pack import Headline, Test
from tightlink.studies.evaluation.setup.path import BOTTLENECK, Path
from tightlink.studies.evaluation.setup.samples import loss_of, mean_after, series

PATH: Final = Path(rate_mbit=20, rtt_ms=40, buffer_bdp=2)
FLOWS: Final = 4
DURATION_S: Final = 60
SETTLED_S: Final = 20
DROP_TAIL: Final = "drop-tail"
#: Long enough for a queue to change, so that its samples are the queue's distribution.
_INTERVAL_MS: Final = 20


def kinds() -> dict[str, str]:
    """The queue disciplines of the engine that are complete with a limit: those that need more have no defaults."""
    from tightlink import _core

    return {name: name for name, _ in _core.queues() if _complete(name)}


def _complete(kind: str) -> bool:
    try:
        PATH.beside(kind).link()
    except ScenarioError:
        return False
    return True


def _several(congestion: Any, kind: str, seed: int) -> list[Scenario]:
    reads = reads_marks(control_name(congestion))
    path = PATH.beside(kind, marks=reads and hasattr(PATH.beside(kind).link().queue, "ecn"))
    traffic = {"flows": path.bulk(congestion, flows=FLOWS, start={"every": "0.1 s"}), **path.background()}
    return [path.scenario(traffic, duration_s=DURATION_S, interval_ms=_INTERVAL_MS, seed=seed)]


def _measure(_: str, run: Run) -> dict[str, float | None]:
    queue = series(run, "queue_packets", [BOTTLENECK])
    waiting = queue.filter(queue["time_s"] > SETTLED_S)["queue_packets"] * PATH.packet_s
    of_flows = {
        metric: [mean_after(run, metric, f"flows[{place}]", SETTLED_S) for place in range(FLOWS)]
        for metric in ("throughput_bps", "goodput_bps")
    }
    return {
        "queueing_mean_s": mean_of(waiting) if waiting.len() else None,
        "queueing_p95_s": waiting.quantile(0.95),
        "throughput_bps": sum(of_flows["throughput_bps"]),
        "loss": loss_of(run, "flows"),
        "utilization": mean_after(run, "utilization", BOTTLENECK, SETTLED_S),
        "jain": jain(of_flows["goodput_bps"]),
    }


TEST: Final = Test(
    "queues",
    "Queueing delay and loss, under each queue",
    f"{FLOWS} flows of the control over {PATH.label}, {DURATION_S} s, through each queue of `tightlink list queues` "
    "that needs a limit only, and that marks packets if the control reads marks: what a packet waits for, mean and "
    "95th percentile (RFC 5166 §2.1), the flows' throughput and loss, what of the link is used, and Jain's index.",
    kinds,
    _several,
    _measure,
    [
        Headline("mean queueing delay", "queueing_mean_s", DROP_TAIL),
        Headline("p95 queueing delay", "queueing_p95_s", DROP_TAIL),
        Headline(f"loss of {FLOWS} flows", "loss", DROP_TAIL),
    ],
    plane=True,
)
