"""The study of one link: its model, its sweeps, its claims, its report, most runs as they are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tightlink as tl
from tightlink import report as reports
from tightlink.analysis.limits import bifurcation
from tightlink.analysis.limits.saturation import find
from tightlink.experiment.claims import Claim
from tightlink.experiment.results import results, write_results
from tightlink.studies.link_saturation import STUDY
from tightlink.studies.link_saturation.observe import saturation
from tightlink.studies.link_saturation.observe.bifurcation import correlation_steps, series
from tightlink.studies.link_saturation.observe.saturation import measure
from tightlink.studies.link_saturation.report import by_frames
from tightlink.studies.link_saturation.setup import interface, sweeps, variations
from tightlink.studies.study import Report

#: Ids never change: scripts rely on them.
IDS = {
    "plateau.frame", "plateau.erodes", "free-flow.flat-frame", "critical.payload-cost",
    "critical.document", "critical.rate", "critical.specific", "law.better",
    "slope.line", "rate.largest-packets", "rate.free-flow-end", "rate.smallest-packets", "rate.keeps-rising",
    "rate.small-rise", "share.payload", "throughput.falls", "throughput.over-rate", "throughput.breakdown", "cause",
    "law.document-frame", "loss", "fragments.limit", "fragments.second",
    "fragments.step", "jumbo.higher", "jumbo.cause", "jumbo.cause-gigabit", "bandwidth.any",
    "bifurcation.branches", "bifurcation.stable", "bifurcation.unstable", "bifurcation.normal-form",
    "bifurcation.no-phase-transition", "mixed.mean-size", "tcp.lower", "tcp.cause", "tcp.acks", "tcp.latency", "density.free-flow",
    "density.congested", "density.interrupted", "density.livelock", "maxflow.wrong", "flow-control.prevents", "flow-control.determines",
    "size-density.free-flow", "size-density.critical", "size-density.maximum",
    "size-density.congested", "size-density.throughput", "phases.prelude", "phases.synchronised",
}  # fmt: skip


@pytest.fixture(scope="module")
def runs() -> dict[str, tl.Run]:
    """Every run of the study, but for most numbers of connections."""
    with pytest.MonkeyPatch.context() as patch:
        _reduce(patch)
        return {task.name: tl.simulate(task.scenario) for task in STUDY.all_tasks()}


@pytest.fixture(scope="module")
def found(runs: dict[str, tl.Run]) -> tuple[list[Claim], Report]:
    """What the study makes of them, with few resamples."""
    with pytest.MonkeyPatch.context() as patch:
        _reduce(patch)
        patch.setattr(saturation, "find", lambda frame, **options: find(frame, **options | {"resamples": 19}))
        return STUDY.found(runs)[:2]


def _reduce(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(variations, "CONNECTED_S", 2.0)
    patch.setitem(variations.DENSITY.levels, "connections", (1, 2, 4, 8, 12, 16, 32, 64))


@pytest.fixture(scope="module")
def claims(found: tuple[list[Claim], Report]) -> dict[str, Claim]:
    return {claim.id: claim for claim in found[0]}


def test_every_claim_is_there_and_says_why_it_fails(claims: dict[str, Claim]) -> None:
    assert set(claims) == IDS
    assert all(claim.reason for claim in claims.values() if claim.holds is not True)
    opened = [name for name, claim in claims.items() if claim.holds is None]
    assert opened == [
        "law.document-frame", "bandwidth.any", "bifurcation.branches", "bifurcation.no-phase-transition",
        "density.congested",
    ]  # fmt: skip
    assert claims["bifurcation.branches"].reason.count("58 of 58 sizes") == 1


@pytest.mark.parametrize(
    "name",
    [
        "plateau.frame", "plateau.erodes", "critical.specific",
        "critical.payload-cost", "critical.document", "critical.rate",
        "rate.keeps-rising", "share.payload", "throughput.falls", "cause", "loss", "fragments.limit",
        "fragments.step", "jumbo.higher", "jumbo.cause-gigabit", "bifurcation.stable",
        "bifurcation.unstable", "mixed.mean-size", "tcp.lower", "tcp.acks", "tcp.latency", "maxflow.wrong",
        "flow-control.prevents", "size-density.free-flow", "size-density.throughput", "throughput.breakdown",
        "size-density.critical", "size-density.maximum", "phases.prelude", "density.livelock", "density.interrupted",
    ],
)  # fmt: skip
def test_what_holds(claims: dict[str, Claim], name: str) -> None:
    assert claims[name].holds is True


@pytest.mark.parametrize("name", ["rate.largest-packets", "fragments.second", "flow-control.determines"])
def test_what_the_document_has_wrong(claims: dict[str, Claim], name: str) -> None:
    assert (claims[name].holds, claims[name].origin) == (False, "document")


@pytest.mark.parametrize(
    "name",
    [
        "law.better", "bifurcation.normal-form", "jumbo.cause", "tcp.cause", "size-density.congested",
        "size-density.throughput", "slope.line", "loss", "cause", "critical.specific", "tcp.acks", "jumbo.cause-gigabit",
    ],
)  # fmt: skip
def test_what_the_document_does_not_say_is_no_contradiction_of_it(claims: dict[str, Claim], name: str) -> None:
    """What follows from the fitted costs or is built in, what it says of other networks or may be so, is this study's."""
    assert (claims[name].holds, claims[name].origin) == (True, "ours")


def test_validation_has_these_counts(claims: dict[str, Claim], counts_on_the_page: Callable[..., None]) -> None:
    counts_on_the_page("link-saturation", claims.values())


def test_what_was_fitted_says_so(claims: dict[str, Claim]) -> None:
    fitted = (
        "rate.smallest-packets", "rate.free-flow-end", "share.payload", "critical.rate", "critical.payload-cost",
        "rate.keeps-rising", "rate.small-rise", "throughput.over-rate", "critical.document", "throughput.breakdown",
        "size-density.maximum", "size-density.critical",
    )  # fmt: skip
    for name in fitted:
        assert claims[name].origin == "ours"
        assert "fitted" in claims[name].reason.lower()
        assert "confirms nothing" in claims[name].reason


def test_the_report_has_every_part(found: tuple[list[Claim], Report], tmp_path: Path) -> None:
    claims, report = found
    sections = {section.title: section for section in report.sections}
    assert list(sections) == [
        "Packets, not bits", "What the document gets wrong", "Where saturation begins", "A transcritical bifurcation",
        "Fragments and jumbo frames", "10 Mbit/s and 1 Gbit/s", "The smallest frame", "A slower receiver", "Mixed sizes",
        "TCP over the same sizes", "The fundamental diagram", "Packet size as density", "A third phase?",
        "Max-flow, min-cut",
    ]  # fmt: skip
    page = reports.write(
        tmp_path / "report.html", title=report.title, lead=report.lead, claims=claims, sections=report.sections
    ).read_text(encoding="utf-8")
    assert page.count('<div class="chart"') == 25
    drawn = {file.name for file in report.draw(tmp_path / "figures")}
    assert {"throughput-over-size-payload.svg", "bifurcation.png", "fundamental-diagrams.svg"} <= drawn


def test_the_table_of_runs_can_be_analysed(
    runs: dict[str, tl.Run], tmp_path: Path, said: Callable[..., tuple[int, str, str]]
) -> None:
    chosen = (sweeps.MAIN, sweeps.SLOW, sweeps.GIGABIT, sweeps.FRAGMENTS)
    own = {sweep.key(size): sweep.scenario(size) for sweep in chosen for size in sweep.payloads}
    write_results(tmp_path / "runs.parquet", results(own, runs, STUDY.measure))
    code, printed, _ = said("analyze", "saturation", str(tmp_path))
    assert code == 0
    links = dict(line.split(": ", 1) for line in printed.splitlines() if "bit/s: " in line)
    assert links == {
        "100 Mbit/s": "saturated below 469 B, from 24,654 packets/s and 92.5 Mbit/s on",
        "10 Mbit/s": "no saturation seen between 53 B and 1,478 B: throughput stays near its plateau",
        "1 Gbit/s": "saturated everywhere between 53 B and 1,478 B: no plateau of throughput seen",
    }
    table = pl.read_parquet(tmp_path / "runs.parquet").filter(pl.col("link") == "100 Mbit/s")
    assert table.height == 58
    for size, bits in (("payload_bytes", "goodput_bps"), ("frame_bytes", "frame_throughput_bps")):
        assert table[size].to_list() == pytest.approx((table[bits] / table["packets_per_s"] / 8).to_list())


def test_the_interface_is_as_fast_as_the_line_where_the_document_allows_it() -> None:
    """25 thousand/s at 451 B is more than a line of 100 Mbit/s carries; at 441 B it is within the document's digits."""
    fast = interface.Wire("10 Gbit/s")
    for payload, rate in ((25, 30_000), (441, 1e8 / 8 / (441 + 66))):
        assert measure(tl.simulate(interface.udp(payload, wire=fast)))["packets_per_s"] == pytest.approx(rate, rel=1e-3)
    assert measure(tl.simulate(interface.udp(451)))["packets_per_s"] == pytest.approx(24_178, abs=2)
    assert abs(441 - 451) < 12.5
    assert abs(1e8 / 8 / (441 + 66) - 25_000) < 500


def test_without_a_cost_per_byte_the_rate_is_constant() -> None:
    rates = [measure(tl.simulate(sweeps.NO_BYTES.scenario(payload)))["packets_per_s"] for payload in (25, 200, 400)]
    assert max(rates) - min(rates) <= 1
    usual = [measure(tl.simulate(sweeps.MAIN.scenario(payload)))["packets_per_s"] for payload in (25, 400)]
    assert usual[0] > 1.15 * usual[1]


def test_a_slower_receiver_loses_what_it_cannot_take() -> None:
    slow = sweeps.SLOW_RECEIVERS[-1]
    assert measure(tl.simulate(slow.scenario(25)))["loss"] == pytest.approx(1 - 1 / 1.25, abs=0.005)
    assert measure(tl.simulate(slow.scenario(1425)))["loss"] == 0
    lost, paused = (measure(tl.simulate(sweep.scenario(25))) for sweep in (slow, sweeps.PAUSED))
    assert paused["loss"] == 0
    assert paused["packets_per_s"] == pytest.approx(lost["packets_per_s"], rel=0.005)


def test_a_full_queue_puts_small_packets_on_the_unstable_branch() -> None:
    """They fill the line until the queue is empty, which takes its length over the difference of two rates."""
    run = tl.simulate(variations.perturbed(variations.QUEUE, 200))
    found = bifurcation.returns_to_branch(series(run, variations.QUEUE, plateau=True), 44.3536e6)
    line, own = 100e6 / 8 / (200 + 66), 27_721
    assert found.returned
    assert found.start == pytest.approx(line / own - 1, rel=0.01)
    drained = variations.FILLED_S + variations.QUEUE_PACKETS / (line - own)
    assert found.settled_s == pytest.approx(drained, abs=0.015)


def test_names_are_unique_and_sweeps_are_known() -> None:
    tasks = STUDY.all_tasks()
    assert len({task.name for task in tasks}) == len(tasks)
    assert sweeps.link_of(sweeps.MAIN.scenario(25)) == "100 Mbit/s"
    assert sweeps.link_of(sweeps.FRAGMENTS.scenario(1475)) == ""
    assert sweeps.link_of(variations.perturbed(variations.SILENCE, 50)) == ""


def test_streams_stop_a_router_that_arrivals_interrupt_and_tcp_does_not() -> None:
    """A packet takes 200 µs of it, 100 of them on arrival: 20 streams of 250/s fill it, 40 leave it no time."""
    for streams, rate in ((10, 2500), (20, 5000), (30, 2500), (40, 0)):
        run = tl.simulate(variations.STREAMS.scenario(streams))
        assert int(run.flows["packets_delivered"].sum()) / variations.CONNECTED_S == pytest.approx(rate, abs=60)
    flows = tl.simulate(variations.LIVELOCK.scenario(40)).flows
    assert int(flows["packets_delivered"].sum()) / variations.CONNECTED_S > 2000


def test_the_correlation_time_of_a_series_is_known() -> None:
    """Of xₜ = a xₜ₋₁ + noise it is (1 + a) / (1 − a) / 2 steps."""
    draw = np.random.default_rng(7).normal(size=200_000)
    series = np.zeros_like(draw)
    for step in range(1, len(draw)):
        series[step] = 0.9 * series[step - 1] + draw[step]
    assert correlation_steps(series) == pytest.approx(9.5, rel=0.1)


def test_a_datagram_that_fits_is_no_fragment() -> None:
    """The sweep across the limit begins with the largest datagram of one frame."""
    sizes = {"main": (1425, 1450), "fragments": sweeps.FRAGMENTED, "jumbo": (1450, 2050)}
    observed = {
        name: pl.DataFrame({"datagram_bytes": list(each), "goodput_bps": [95e6] * len(each)})
        for name, each in sizes.items()
    }
    found = {words: table["datagram_bytes"].to_list() for words, table in by_frames(observed).items()}
    assert found["1500 B, whole"] == [1425, 1450, sweeps.WHOLE_BYTES]
    assert min(found["1500 B, in fragments"]) == sweeps.WHOLE_BYTES + 1
