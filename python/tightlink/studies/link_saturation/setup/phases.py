"""Random arrivals at one link, below what it carries: is there a phase between free flow and congestion?

In the three-phase model of vehicles (section 1, after Kerner and Rehborn 1997) speeds match and correlations lengthen
before traffic congests. A link that serves 1000 packets/s is asked for a growing share of that at the times of a
Poisson process, with a queue without limit: runs last as many correlation times at each load, sampled as finely.
A queue's slowest relaxation in heavy traffic is that of a Brownian motion with drift −(1 − ρ) C and variance C above a
wall (Kingman 1961; Harrison 1985, section 5): 2 / (C (1 − ρ)²).

Example:
    >>> round(relaxation_s(0.9), 3)
    0.2
"""

from __future__ import annotations

from typing import Final

from tightlink.experiment.execute import Task
from tightlink.scenario import Scenario
from tightlink.studies.link_saturation.setup.interface import RECEIVER, SENDER

CAPACITY_PER_S: Final = 1000
LOADS: Final = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95)
#: Of each load, with random numbers of their own, and so of each other load: one long queue would be seen in all.
SEEDS: Final = 4
#: Relaxation times that a run lasts, and samples in one of them.
RELAXATIONS: Final = 1000
SAMPLES: Final = 10


def relaxation_s(load: float) -> float:
    """The slowest relaxation of the queue in heavy traffic, in seconds."""
    return 2 / (CAPACITY_PER_S * (1 - load) ** 2)


def keys(load: float) -> list[str]:
    """The names of the runs of a load."""
    return [f"phases/{load:g}/{seed}" for seed in range(1, SEEDS + 1)]


def scenario(load: float, seed: int) -> Scenario:
    """Both hosts send at random times to each other, at a share of what either direction carries."""
    relaxation = relaxation_s(load)
    rate = f"{CAPACITY_PER_S} packets/s"
    return Scenario.from_dict(
        {
            "seed": seed,
            "duration": f"{RELAXATIONS * relaxation:g} s",
            "link": {"wire": {"ends": [SENDER, RECEIVER], "rate": rate, "delay": "1 us", "queue": "unlimited"}},
            "traffic": {
                "random": {"kind": "scatter", "at": [SENDER, RECEIVER], "rate": f"{load * CAPACITY_PER_S:g} packets/s"}
            },
            "observe": {"interval": f"{relaxation / SAMPLES:g} s", "flows": "none"},
        }
    )


def tasks() -> list[Task]:
    """Every load and seed."""
    return [
        Task(key, scenario(load, SEEDS * place + seed))
        for place, load in enumerate(LOADS)
        for seed, key in enumerate(keys(load), start=1)
    ]
