"""A path of 252 Mbit/s: round trips, queues and numbers of flows, none of which the document gives."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final

from tightlink.analysis.sawtooth import epoch_s
from tightlink.experiment.execute import Task
from tightlink.studies.congestion_basics.setup.network import PACKET_BYTES, scenario

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tightlink.scenario import Scenario

RATE_BPS: Final = 252e6
#: The document gives no round trip; the last one is our choice, that of a path across North America.
RTTS_MS: Final = (10, 40, 70)
CHOSEN_MS: Final = 70
QUEUES_BDP: Final = (0.05, 0.1, 0.2, 0.3, 0.5)
FLOWS: Final = (1, 8)
#: Epochs of a single flow from its first loss on.
_EPOCHS: Final = 3.2
_SHORTEST_S: Final = 40
_SAMPLES: Final = 400


def cells() -> Iterator[tuple[int, float, int]]:
    """Round trip in ms, queue in bandwidth-delay products and number of flows of each run."""
    return itertools.product(RTTS_MS, QUEUES_BDP, FLOWS)


def tasks() -> list[Task]:
    """The grid, each run long enough for some losses of a single flow."""
    return [Task(name(*cell), _scenario(*cell)) for cell in cells()]


def name(rtt: float, queue: float, flows: int) -> str:
    """Of the task of a cell."""
    return f"252/{rtt:g}-ms/{queue:g}-bdp/{flows}"


def _bdp(rtt_ms: float) -> float:
    return RATE_BPS * rtt_ms / 1e3 / (8 * PACKET_BYTES)


def _duration_s(rtt: float, queue: float, flows: int) -> float:
    """The way to the first loss, and some epochs; several flows have less to regain each."""
    climb = _bdp(rtt) * rtt / 1e3
    return max(_SHORTEST_S, (climb + _EPOCHS * epoch_s(queue, _bdp(rtt), rtt / 1e3)) / flows)


def _scenario(rtt: float, queue: float, flows: int) -> Scenario:
    duration = _duration_s(rtt, queue, flows)
    # So low that a burst of slow start fits into the queue: its overshoot would tell of something else.
    threshold = max(2, queue * _bdp(rtt) / flows)
    return scenario(
        f"{RATE_BPS / 1e6:g} Mbit/s", rtt, f"{max(2, round(queue * _bdp(rtt)))} packets", duration, flows=flows,
        interval_s=duration / _SAMPLES, initial_ssthresh=f"{round(threshold)} packets",
    )  # fmt: skip
