"""What the tests of queues share: the bottleneck, flows of standard TCP, and how a test is made.

Sections are those of RFC 7928. What it leaves open is chosen here and said in each test: a bottleneck of 20 Mbit/s and
40 ms with a limit of two bandwidth-delay products. Standard TCP is CUBIC, as it is on most hosts, where the RFC (§3.3)
has NewReno with SACK, and CUBIC for what is aggressive.

Example:
    >>> several(4).flows, PATH.label
    (4, '20 Mbit/s, 40 ms, 2 BDP')
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import polars as pl

from tightlink.reduce import jain
from tightlink.run import Run
from tightlink.scenario import Bulk, Link, Scenario
from tightlink.studies.evaluation.setup.pack import Made
from tightlink.studies.evaluation.setup.path import BOTTLENECK, Path
from tightlink.studies.evaluation.setup.samples import completions, flows_of, loss_of

PATH: Final = Path(rate_mbit=20, rtt_ms=40, buffer_bdp=2)
FLOWS: Final = 4
#: The control that most senders have (RFC 9438).
STANDARD: Final = "cubic"
DURATION_S: Final = 60
SHORT_BYTES: Final = 100_000
SHORT_FLOWS: Final = 40


def several(flows: int = FLOWS, congestion: str = STANDARD, **settings: Any) -> Bulk:
    """Long flows that start soon after each other."""
    return PATH.bulk(congestion, **({"flows": flows, "start": {"every": "0.05 s"}} | settings))


def short(**settings: Any) -> Bulk:
    """Transfers of standard TCP, one a second."""
    start = {"first": "10 s", "every": "1 s"}
    return PATH.bulk(STANDARD, flows=SHORT_FLOWS, bytes=f"{SHORT_BYTES} B", start=start, **settings)


def completed(run: Run) -> dict[str, float | None]:
    """How long these transfers took."""
    return completions(run, SHORT_FLOWS, SHORT_BYTES)


def goodput(run: Run, group: str) -> float:
    """The goodput of a group of flows, in bit/s."""
    return math.fsum(flows_of(run, group)["goodput_bps"])


def of_flows(run: Run) -> dict[str, float | None]:
    """What the group ``flows`` carries, loses, and how evenly it shares the link."""
    flows = flows_of(run, "flows")
    throughput, shares = float(flows["throughput_bps"].sum()), flows["goodput_bps"].to_list()
    return {"throughput_bps": throughput, "loss": loss_of(run, "flows"), "jain": jain(shares)}


def bottleneck(run: Run) -> dict[str, Any]:
    """The totals of the bottleneck."""
    return run.links.row(by_predicate=pl.col("link") == BOTTLENECK, named=True)


def marks(queue: Mapping[str, Any]) -> bool:
    """Whether a queue was asked to mark packets, which needs senders that say ECT; by default it has none."""
    return queue.get("ecn") is True or "mark" in queue


def made(
    traffic: Callable[[Any], Mapping[str, Any]],
    measure: Callable[[Run], dict[str, float | None]],
    settings: Mapping[str, Any] | None = None,
    *,
    links: Callable[[Path, Any], Mapping[str, Link]] | None = None,
    interval_ms: float = 1000,
    ecn: bool = False,
) -> Made:
    """A test with the background traffic that all have; what the bottleneck says comes first.

    Args:
        traffic: From a setting to the traffic.
        measure: What else is read from a run.
        settings: By what tables call them (default: the path alone).
        links: From the path with the queue and a setting to all links (default: the bottleneck alone).
        interval_ms: Of the samples over time.
        ecn: Whether queues that can mark do so, for senders that all say ECT.
    """

    def scenarios(queue: Any, setting: Any, seed: int) -> list[Scenario]:
        able = ecn and hasattr(PATH.beside(queue).link().queue, "ecn")
        path, flows = PATH.beside(queue, marks=able), {**traffic(setting), **PATH.background()}
        every = None if links is None else links(path, setting)
        scenario = path.scenario(flows, duration_s=DURATION_S, interval_ms=interval_ms, seed=seed, links=every)
        senders = [name for name, each in flows.items() if isinstance(each, Bulk)]
        asked = ecn or marks(queue)
        return [scenario.set_all({f"traffic.{name}.tcp.ecn": True for name in senders}) if asked else scenario]

    def measured(_: Any, run: Run) -> dict[str, float | None]:
        link = bottleneck(run)
        delays = {f"queueing_{name}_s": link[f"queueing_delay_{name}_s"] for name in ("mean", "p95", "p99")}
        return delays | {"utilization": link["utilization"]} | measure(run)

    return Made(lambda: settings or {PATH.label: None}, scenarios, measured)
