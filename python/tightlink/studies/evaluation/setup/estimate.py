"""How long an evaluation will take: packets that its bottlenecks can carry, at the speed of a short trial.

Example:
    >>> from tightlink.studies.evaluation.setup.controls import control
    >>> from tightlink.studies.evaluation.setup.pack import chosen
    >>> from tightlink.studies.evaluation.setup.trials import trials
    >>> 0 < seconds(trials([control("reno")], chosen(["ramp-up"])), places=2) < 60
    True
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from tightlink import units
from tightlink.experiment.estimate import of_run
from tightlink.scenario import Scenario
from tightlink.studies.evaluation.setup.path import BOTTLENECK, PACKET_BITS
from tightlink.studies.evaluation.setup.trials import Trial

#: What reading a run's tables takes beside simulating it.
_BESIDE_S = 0.02


def seconds(planned: Sequence[Trial], places: int) -> float:
    """The time that trials will take.

    Args:
        planned: What will be run; equal runs are made once.
        places: Runs at a time.
    """
    scenarios = {json.dumps(s.written(), sort_keys=True): s for trial in planned for s in trial.case.scenarios.values()}
    each = sorted(scenarios.values(), key=_packets)
    # Of middling size, so that neither what a run costs at least nor the memory of a large one decides.
    probe = each[len(each) // 2]
    speed = of_run(probe) / _packets(probe)
    return speed * sum(map(_packets, each)) / places + _BESIDE_S * len(each)


def _packets(scenario: Scenario) -> float:
    rate = units.rate(scenario.link[BOTTLENECK].rate)
    return rate * units.time(scenario.duration) / PACKET_BITS
