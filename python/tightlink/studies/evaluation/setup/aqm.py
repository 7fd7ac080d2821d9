"""The pack for queues: the tests of RFC 7928, each queue with its defaults over one bottleneck.

Sections are those of the RFC. What it leaves open is chosen here and said in each test: a bottleneck of 20 Mbit/s and
40 ms with a limit of two bandwidth-delay products; CUBIC where it wants a control like standard TCP's, BBR where it
wants an aggressive one, LEDBAT where it wants one that gives way. Its levels of congestion are numbers of flows here;
what drop-tail loses with each stands in the same table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

import polars as pl

from tightlink.reduce import jain, median_of
from tightlink.run import Run
from tightlink.scenario import Cbr, Link, Udp
from tightlink.studies.evaluation.setup.disciplines import Discipline
from tightlink.studies.evaluation.setup.pack import SEEDS, Case, Headline, Test
from tightlink.studies.evaluation.setup.path import BOTTLENECK, RECEIVER, SENDER, Path
from tightlink.studies.evaluation.setup.short_flows import times_s

PATH: Final = Path(rate_mbit=20, rtt_ms=40, buffer_bdp=2)
FLOWS: Final = 4
#: The control that most senders have (RFC 9438), one that takes what it can, and one that gives way (RFC 6817).
STANDARD: Final = "cubic"
AGGRESSIVE: Final = "bbr"
SCAVENGER: Final = "ledbat"
DURATION_S: Final = 60
#: Flows that load the link: mild, medium, heavy.
LEVELS: Final = (2, 16, 64)
#: What the stream that does not answer takes of the link.
STREAM: Final = 0.5
ROUND_TRIPS_MS: Final = (20, 100)
_SHARED_MS: Final = 10
SHORT_BYTES: Final = 100_000
_SHORT_FLOWS: Final = 40
_INTERVAL_MS: Final = 1000
#: A call: 50 packets a second of 160 bytes of speech with their headers.
_VOICE: Final = Cbr(from_=SENDER, to=RECEIVER, interval="20 ms", udp=Udp(payload="172 B"))


def _case(
    queue: Discipline, setting: str, traffic: Mapping[str, Any], measure: Any, *, seed: int, links: Any = None
) -> Case:
    path = PATH.beside(queue.value)
    scenario = path.scenario(
        {**traffic, **PATH.background()}, duration_s=DURATION_S, interval_ms=_INTERVAL_MS, seed=seed, links=links
    )
    return Case(setting, {"run": scenario}, measure, seed=seed)


def _shared(run: Run) -> dict[str, float | None]:
    """What every test says of the bottleneck."""
    link = run.links.row(by_predicate=pl.col("link") == BOTTLENECK, named=True)
    return {
        "queueing_mean_s": link["queueing_delay_mean_s"],
        "queueing_p95_s": link["queueing_delay_p95_s"],
        "queueing_p99_s": link["queueing_delay_p99_s"],
        "utilization": link["utilization"],
    }


def _goodputs(run: Run, group: str) -> list[float]:
    flows = run.flows.filter(run.flows["label"].str.replace(r"\[.*", "") == group)
    return [float(value) for value in flows["goodput_bps"]]


def _lost(run: Run, group: str) -> float:
    flows = run.flows.filter(run.flows["label"].str.replace(r"\[.*", "") == group)
    return float(flows["packets_dropped"].sum()) / float(flows["packets_sent"].sum())


def _several(flows: int, congestion: str = STANDARD) -> Any:
    return PATH.bulk(congestion, flows=flows, start={"every": "0.05 s"})


def _friendly(queue: Discipline) -> Iterator[Case]:
    for seed in SEEDS:
        yield _case(queue, PATH.label, {"flows": _several(FLOWS)}, _of_flows, seed=seed)


def _of_flows(runs: Mapping[str, Run]) -> dict[str, float | None]:
    run = runs["run"]
    flows = run.flows.filter(run.flows["label"].str.starts_with("flows["))
    return _shared(run) | {
        "throughput_bps": float(flows["throughput_bps"].sum()),
        "loss": _lost(run, "flows"),
        "jain": jain(_goodputs(run, "flows")),
    }


def _levels(queue: Discipline) -> Iterator[Case]:
    for flows in LEVELS:
        for seed in SEEDS:
            yield _case(queue, f"{flows} flows", {"flows": _several(flows)}, _of_flows, seed=seed)


def _aggressive(queue: Discipline) -> Iterator[Case]:
    traffic = {"standard": _several(FLOWS // 2), "own": _several(FLOWS // 2, AGGRESSIVE)}
    for seed in SEEDS:
        yield _case(queue, PATH.label, traffic, partial(_over, "aggressive_over_standard"), seed=seed)


def _over(measure: str, runs: Mapping[str, Run]) -> dict[str, float | None]:
    run = runs["run"]
    own, standard = (sum(_goodputs(run, group)) for group in ("own", "standard"))
    return _shared(run) | {measure: own / standard}


def _scavenger(queue: Discipline) -> Iterator[Case]:
    traffic = {"standard": _several(1), "own": _several(1, SCAVENGER)}
    for seed in SEEDS:
        yield _case(queue, PATH.label, traffic, _taken, seed=seed)


def _taken(runs: Mapping[str, Run]) -> dict[str, float | None]:
    run = runs["run"]
    own, standard = (sum(_goodputs(run, group)) for group in ("own", "standard"))
    return _shared(run) | {"scavenger_share": own / (own + standard)}


def _unresponsive(queue: Discipline) -> Iterator[Case]:
    stream = Cbr(from_=SENDER, to=RECEIVER, rate=f"{STREAM * PATH.rate_mbit:g} Mbit/s", udp=Udp(datagram="1500 B"))
    for seed in SEEDS:
        yield _case(queue, PATH.label, {"flows": _several(FLOWS), "stream": stream}, _beside_stream, seed=seed)


def _beside_stream(runs: Mapping[str, Run]) -> dict[str, float | None]:
    run = runs["run"]
    return _shared(run) | {"goodput_bps": sum(_goodputs(run, "flows")), "stream_loss": _lost(run, "stream")}


def _round_trips(queue: Discipline) -> Iterator[Case]:
    path = PATH.beside(queue.value)
    links: dict[str, Link] = {BOTTLENECK: path.link(delay=f"{_SHARED_MS / 2:g} ms")}
    for name, round_trip in zip(("own", "standard"), ROUND_TRIPS_MS, strict=True):
        delay = f"{(round_trip - _SHARED_MS) / 2:g} ms"
        links[f"to_{name}"] = Link(ends=(f"host_{name}", SENDER), rate="1 Gbit/s", delay=delay, queue="unlimited")
    traffic = {name: PATH.bulk(STANDARD, **{"from": f"host_{name}"}, flows=2) for name in ("own", "standard")}
    for seed in SEEDS:
        setting = " and ".join(f"{round_trip} ms" for round_trip in ROUND_TRIPS_MS)
        yield _case(queue, setting, traffic, partial(_over, "short_over_long_rtt"), seed=seed, links=links)


def _bursts(queue: Discipline) -> Iterator[Case]:
    short = PATH.bulk(STANDARD, flows=_SHORT_FLOWS, bytes=f"{SHORT_BYTES} B", start={"first": "10 s", "every": "1 s"})
    for seed in SEEDS:
        yield _case(queue, PATH.label, {"long": _several(1), "short": short, "voice": _VOICE}, _of_bursts, seed=seed)


def _of_bursts(runs: Mapping[str, Run]) -> dict[str, float | None]:
    run = runs["run"]
    times = times_s(run, SHORT_BYTES)
    voice = run.flows.row(by_predicate=pl.col("label") == "voice", named=True)
    return _shared(run) | {
        "completion_median_s": median_of(times) if times.len() else None,
        "completion_p95_s": times.quantile(0.95) if times.len() else None,
        "unfinished": float(_SHORT_FLOWS - times.len()),
        "voice_delay_p95_s": voice["one_way_delay_p95_s"],
        "voice_loss": voice["packets_dropped"] / voice["packets_sent"],
    }


FRIENDLY: Final = Test(
    "tcp-friendly",
    "Flows of standard TCP",
    f"{FLOWS} long flows of {STANDARD} for {DURATION_S} s (RFC 7928 §5.1): what a packet waits for, what is lost, what "
    "of the link is used, and Jain's index of their goodputs.",
    _friendly,
    [
        Headline("p95 queueing delay", "queueing_p95_s"),
        Headline("utilization", "utilization"),
        Headline("loss", "loss"),
        Headline("Jain's index", "jain"),
    ],
)
_LEVELS_TEST: Final = Test(
    "congestion-levels",
    "Mild, medium and heavy congestion",
    f"{', '.join(map(str, LEVELS))} long flows of {STANDARD} (RFC 7928 §8.2): whether the delay stays where it was as "
    "the load grows.",
    _levels,
    [
        Headline(f"p95 queueing delay, {LEVELS[0]} flows", "queueing_p95_s", f"{LEVELS[0]} flows"),
        Headline(f"the same, {LEVELS[-1]} flows", "queueing_p95_s", f"{LEVELS[-1]} flows"),
    ],
)
_AGGRESSIVE_TEST: Final = Test(
    "aggressive",
    "An aggressive control beside standard TCP",
    f"{FLOWS // 2} flows of {AGGRESSIVE} beside {FLOWS // 2} of {STANDARD} (RFC 7928 §5.2): what one gets over what "
    "the other gets, where 1 is fair.",
    _aggressive,
    [Headline(f"{AGGRESSIVE} over {STANDARD}", "aggressive_over_standard")],
)
_UNRESPONSIVE_TEST: Final = Test(
    "unresponsive",
    "A stream that does not answer",
    f"A stream of {100 * STREAM:.0f} % of the link, which does not answer to losses, beside {FLOWS} flows of "
    f"{STANDARD} (RFC 7928 §5.3): what the flows get, and what the stream loses.",
    _unresponsive,
    [
        Headline("goodput beside a stream", "goodput_bps"),
        Headline("loss of the stream", "stream_loss"),
    ],
)
_SCAVENGER_TEST: Final = Test(
    "less-than-best-effort",
    "A control that gives way",
    f"A flow of {SCAVENGER} beside one of {STANDARD} (RFC 7928 §5.4): the share that it takes. A short queue, and "
    "flows that take turns, leave it nothing to give way to.",
    _scavenger,
    [Headline(f"share of {SCAVENGER}", "scavenger_share")],
)
_ROUND_TRIPS_TEST: Final = Test(
    "rtt-fairness",
    "Round trips of two lengths",
    f"Two flows of {STANDARD} with round trips of {ROUND_TRIPS_MS[0]} ms beside two with {ROUND_TRIPS_MS[1]} ms "
    "(RFC 7928 §6): what the first get over what the others get, where 1 is fair.",
    _round_trips,
    [Headline("short over long round trips", "short_over_long_rtt")],
)
_BURSTS_TEST: Final = Test(
    "bursts",
    "Bursts, and a call, beside a long flow",
    f"{_SHORT_FLOWS} transfers of {SHORT_BYTES // 1000} kB with an initial window of 10 packets, and a call, beside "
    f"one long flow of {STANDARD} (RFC 7928 §7.2): how long the transfers take, and what the call's packets wait for "
    "and lose.",
    _bursts,
    [
        Headline("median time of short transfers", "completion_median_s"),
        Headline("p95 one-way delay of a call", "voice_delay_p95_s"),
        Headline("loss of the call", "voice_loss"),
    ],
)
TESTS: Final = (
    FRIENDLY,
    _LEVELS_TEST,
    _AGGRESSIVE_TEST,
    _SCAVENGER_TEST,
    _ROUND_TRIPS_TEST,
    _UNRESPONSIVE_TEST,
    _BURSTS_TEST,
)
#: Those in which all flows fill the queue.
FILLING: Final = tuple(test.name for test in TESTS[:5])
