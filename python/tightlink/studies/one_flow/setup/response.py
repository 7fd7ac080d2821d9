"""TCP with an open window over a link that loses packets at random, or at its queue."""

from __future__ import annotations

from typing import Any, Final

from tightlink.experiment.execute import Task
from tightlink.scenario import Bulk, Link, Reverse, Scenario, Tcp
from tightlink.studies.one_flow.setup.cases import RECEIVER, SENDER

LOSSES: Final = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
QUEUES: Final = (3, 5, 8, 12, 20, 30, 50, 80)
PAYLOADS: Final = (250, 500, 1000, 2000)
DELAYS_MS: Final = (12.5, 25.0, 50.0, 100.0)
SEEDS: Final = (1, 2, 3, 4, 5)
FEW_SEEDS: Final = (1, 2, 3)
#: Loss at which packet size and round trip are varied.
_FIXED_LOSS: Final = 0.005
VARIANTS: Final[dict[str, dict[str, Any]]] = {
    "Reno": {"recovery": "reno"},
    "Tahoe": {"recovery": "tahoe"},
    "Reno, delayed ACKs": {"recovery": "reno", "delayed_acks": True},
}


def scenario(
    *, rate: str = "10 Mbit/s", delay_ms: float = 50, queue: int = 1000, loss: float = 0, payload: int = 1000,
    seed: int, **settings: Any,
) -> Scenario:  # fmt: skip
    """One bulk flow with an open window over a link that loses packets at random, or at its queue."""
    back = Reverse(queue="1000 packets", loss=0)
    own = Tcp(payload=f"{payload} B", window="1000 packets", initial_ssthresh="20 packets", **settings)
    link = Link(
        ends=(SENDER, RECEIVER), rate=rate, delay=f"{delay_ms} ms", queue=f"{queue} packets", loss=loss, reverse=back
    )
    ftp = Bulk(from_=SENDER, to=RECEIVER, start="0.1 s", tcp=own)
    return Scenario(profile="ns2", duration="200 s", seed=seed, link={"bottleneck": link}, traffic={"ftp": ftp})


def tasks() -> list[Task]:
    """Random loss and queue-forced loss, and packet size and round trip at one random loss."""
    listed = [
        Task(f"response/{name}/loss-{loss}/{seed}", scenario(loss=loss, seed=seed, **settings))
        for name, settings in VARIANTS.items()
        for loss in LOSSES
        for seed in SEEDS
    ]
    for name in ("Reno", "Tahoe"):
        listed += [
            Task(
                f"response/{name}/queue-{queue}/{seed}",
                scenario(rate="2 Mbit/s", queue=queue, seed=seed, **VARIANTS[name]),
            )
            for queue in QUEUES
            for seed in FEW_SEEDS
        ]
    for seed in FEW_SEEDS:
        listed += [
            Task(f"response/payload-{size}/{seed}", scenario(loss=_FIXED_LOSS, payload=size, seed=seed))
            for size in PAYLOADS
        ]
        listed += [
            Task(f"response/delay-{delay}/{seed}", scenario(loss=_FIXED_LOSS, delay_ms=delay, seed=seed))
            for delay in DELAYS_MS
        ]
    return listed
