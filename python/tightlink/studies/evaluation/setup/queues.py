"""Queueing delay and loss, under every queue discipline of the engine with its defaults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final

from tightlink.errors import ScenarioError
from tightlink.reduce import jain
from tightlink.run import Run
from tightlink.scenario.congestion import control_name, reads_marks
from tightlink.studies.evaluation.setup.controls import Control
from tightlink.studies.evaluation.setup.pack import SEEDS, Case, Headline, Test
from tightlink.studies.evaluation.setup.path import BOTTLENECK, Path
from tightlink.studies.evaluation.setup.samples import mean_after, series

PATH: Final = Path(rate_mbit=20, rtt_ms=40, buffer_bdp=2)
FLOWS: Final = 4
DURATION_S: Final = 60
SETTLED_S: Final = 20
DROP_TAIL: Final = "drop-tail"
#: Long enough for a queue to change, so that its samples are the queue's distribution.
_INTERVAL_MS: Final = 20


def kinds() -> list[str]:
    """The queue disciplines of the engine that are complete with a limit: those that need more have no defaults."""
    from tightlink import _core

    return [name for name, _ in _core.queues() if _complete(name)]


def _complete(kind: str) -> bool:
    try:
        PATH.beside(kind).link()
    except ScenarioError:
        return False
    return True


def _cases(control: Control) -> Iterator[Case]:
    for kind in kinds():
        reads = reads_marks(control_name(control.value))
        path = PATH.beside(kind, marks=reads and hasattr(PATH.beside(kind).link().queue, "ecn"))
        traffic = {"flows": path.bulk(control.value, flows=FLOWS, start={"every": "0.1 s"}), **path.background()}
        for seed in SEEDS:
            scenario = path.scenario(traffic, duration_s=DURATION_S, interval_ms=_INTERVAL_MS, seed=seed)
            yield Case(kind, {"run": scenario}, partial(_measure, path), seed=seed)


def _measure(path: Path, runs: Mapping[str, Run]) -> dict[str, float | None]:
    run = runs["run"]
    queue = series(run, "queue_packets", [BOTTLENECK])
    waiting = queue.filter(queue["time_s"] > SETTLED_S)["queue_packets"] * path.packet_s
    flows = run.flows.filter(run.flows["label"].str.starts_with("flows["))
    mean, high = waiting.mean(), waiting.quantile(0.95)
    return {
        "queueing_mean_s": float(mean) if isinstance(mean, int | float) else None,
        "queueing_p95_s": high,
        "throughput_bps": sum(
            mean_after(run, "throughput_bps", f"flows[{place}]", SETTLED_S) for place in range(FLOWS)
        ),
        "loss": float(flows["packets_dropped"].sum()) / float(flows["packets_sent"].sum()),
        "utilization": mean_after(run, "utilization", BOTTLENECK, SETTLED_S),
        "jain": jain([mean_after(run, "goodput_bps", f"flows[{place}]", SETTLED_S) for place in range(FLOWS)]),
    }


TEST: Final = Test(
    "queues",
    "Queueing delay and loss, under each queue",
    f"{FLOWS} flows of the control over {PATH.label}, {DURATION_S} s, through each queue of `tightlink list queues` "
    "that needs a limit only, and that marks packets if the control reads marks: what a packet waits for, mean and "
    "95th percentile (RFC 5166 §2.1), the flows' throughput and loss, what of the link is used, and Jain's index.",
    _cases,
    [
        Headline("mean queueing delay", "queueing_mean_s", DROP_TAIL),
        Headline("p95 queueing delay", "queueing_p95_s", DROP_TAIL),
        Headline(f"loss of {FLOWS} flows", "loss", DROP_TAIL),
    ],
)
