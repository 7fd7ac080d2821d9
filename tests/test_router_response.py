"""The study of a router's response: what its costs give, a reduced run of it, and its report."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import tightlink as tl
from tightlink.analysis import measurements
from tightlink.analysis.limits import regimes
from tightlink.experiment.claims_file import load
from tightlink.report import charts
from tightlink.studies.router_response import STUDY
from tightlink.studies.router_response.observe.probes import measured
from tightlink.studies.router_response.setup import costs, document, laws, network, variants, video
from tightlink.studies.router_response.setup.network import DOCUMENTED
from tightlink.studies.running import study

#: Every claim of the study, by the first part of its id: these never change.
CLAIMS = {
    "onset.65.grid", "onset.130.grid", "onset.1500.grid", "onset.65", "onset.130", "onset.1500",
    "onset.65.bit-rate", "onset.130.bit-rate", "onset.1500.bit-rate", "onset.1500.bit-rate-46",
    "onset.65.just-over", "regions.lengths", "onset.smaller-earlier", "onset.order", "onset.conclusion",
    "cost.pools", "cost.pools.all", "cost.pools.needed", "onset.65.linear", "onset.130.linear", "onset.1500.linear",
    "onset.65.pools", "onset.130.pools", "onset.1500.pools",
    "load.level", "load.at-2-mbit", "load.flat", "load.falls", "load.no-reduction", "load.routing-slows",
    "load.rises", "load.routing-keeps",
    "b.end.65", "b.end.130", "b.load", "b.beyond", "b.portion", "b.portion.of-a", "b.less", "governs", "governs.by-length",
    "governs.onsets", "repeated", "repeated.reading", "probes.achieved", "loss.number",
    "loss.onset.65", "loss.onset.90", "loss.onset.130", "loss.onset.1200", "loss.onset.1500", "loss.small-more",
    "loss.interval-constant", "loss.output-queue", "best.1500", "cause.slots", "cause.interrupts", "governs.bytes",
    "variant.t1.onset", "variant.satellite.onset", "variant.t1.loss", "reading.mean", "reading.linear.at-2-mbit",
    "reading.linear.level", "reading.linear.onset", "video.short-lose", "video.clear", "video.slots",
}  # fmt: skip
#: The document's slips, the laws and the reading that do not fit, and what is fitted to another of its figures.
FAILING = {
    "onset.1500.bit-rate", "cost.pools.needed", "onset.65.linear", "onset.130.linear", "repeated.reading", "probes.achieved",
    "loss.onset.65", "loss.interval-constant", "reading.linear.level", "reading.linear.onset", "load.routing-keeps",
    "b.portion.of-a",
}  # fmt: skip
#: What lies between two probes of the document, and what no run decides.
OPEN = {
    "onset.65", "onset.130", "onset.1500", "onset.65.bit-rate", "onset.130.bit-rate", "onset.1500.bit-rate-46",
    "onset.order", "cause.slots", "b.beyond",
}  # fmt: skip


def probe(length: int, rate: float, setting: Any = DOCUMENTED) -> dict[str, float]:
    return measured(tl.simulate(setting.probe(length, network.interval(rate), network.SHORT_S)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study with fewer and shorter probes."""
    place = tmp_path_factory.mktemp("study") / "router-response"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(document, "INTERVALS_MS", (0.1, 0.2, 0.3, 0.4, 1.0, 4.0, 6.0, 7.0, 8.0, 10.0))
        patch.setattr(document, "DOCUMENT_DURATION_S", 72)
        patch.setattr(network, "SHORT_S", 71)
        patch.setattr(network, "EXTRA_ONSET_PER_S", (*range(3700, 4501, 100), 5400))
        patch.setattr(network, "EXTRA_FALL_PER_S", (5700, 6000))
        patch.setattr(network, "REPEATED_S", (2.5,))
        patch.setattr(network, "REPEATED_PER_S", (1000, 3700, 4000, 4100, 4200, 4500, 5000))
        patch.setattr(variants, "INTERVALS_MS", (0.2, 0.3, 1.0, 4.0, 6.0, 7.0, 8.0, 10.0))
        patch.setattr(variants, "RATES_PER_S", (4000, 4200))
        patch.setattr(laws, "RATES_PER_S", (1000, *range(3800, 4401, 100), 5000))
        patch.setattr(video, "PAYLOADS", (90, 1440))
        patch.setattr(video, "BACKGROUNDS_PER_S", (0, 4400))
        patch.setattr(video, "VIDEO_DURATION_S", 10)
        assert study(STUDY, place, jobs=2).exit_code == 3
    return place


def test_the_claims_are_these_and_say_why_they_fail(claims: dict[str, dict[str, Any]]) -> None:
    assert set(claims) == CLAIMS
    failed = {name for name, claim in claims.items() if claim["holds"] is False}
    assert failed == FAILING
    assert all(claims[name]["reason"] for name in failed)
    assert {name for name, claim in claims.items() if claim["holds"] is None} == OPEN
    assert claims["governs"]["observed"] == "packets_per_s"


def test_what_the_costs_were_fitted_to_is_marked(claims: dict[str, dict[str, Any]]) -> None:
    for name in (
        "onset.65.grid", "onset.65.just-over", "onset.conclusion", "load.level", "load.at-2-mbit", "load.flat", "b.end.65",
        "b.load", "loss.onset.65", "reading.linear.at-2-mbit", "load.falls", "load.routing-keeps", "b.portion.of-a",
    ):  # fmt: skip
        assert "itted to" in claims[name]["reason"], name
        assert claims[name]["origin"] == "ours"


def test_a_figure_outside_of_what_probes_leave_open_is_contradicted() -> None:
    found = {"onset.1500.on_grid_low_per_s": 3333, "onset.1500.on_grid_high_per_s": 5000, "onset.1500.between": "here"}
    statements = {each.id: each for each in STUDY.table().statements}

    def holds(name: str, per_s: float) -> bool | None:
        return statements[name].judged(found | {"onset.1500.per_s": per_s}).holds

    # Between two probes of the document nothing is told, whether ours is near its figure or not.
    assert [holds("onset.1500", per_s) for per_s in (3925, 4050)] == [None, None]
    assert [holds("onset.1500.bit-rate-46", per_s) for per_s in (3833, 4900)] == [None, None]
    assert [holds("onset.1500.bit-rate", per_s) for per_s in (383, 4050)] == [True, False]
    found |= {"onset.1500.on_grid_low_per_s": 5000, "onset.1500.on_grid_high_per_s": 9999}
    assert [holds("onset.1500", per_s) for per_s in (3925, 4050)] == [True, False]


def test_what_one_cost_makes_so_is_no_statement_of_the_document(claims: dict[str, dict[str, Any]]) -> None:
    for name in (
        "regions.lengths", "onset.smaller-earlier", "b.portion", "governs", "governs.onsets", "best.1500", "repeated",
        "load.rises",
    ):  # fmt: skip
        assert claims[name]["origin"] == "ours", name


def test_validation_has_these_counts(folder: Path, counts_on_the_page: Callable[..., None]) -> None:
    counts_on_the_page("router-response", load(folder / "claims.json"))


def test_the_costs_were_derived_from_the_figures_of_the_claims() -> None:
    said = {each.id: each.expected for each in STUDY.table().statements}
    assert {length: said[f"onset.{length}"] for length in document.ONSETS_PER_S} == document.ONSETS_PER_S
    assert (said["load.level"], said["b.load"]) == (document.LEVEL, document.B_READING)
    assert (said["load.flat"], said["b.end.65"]) == (document.FALL_BPS / 1e6, document.B_END_BPS / 1e6)


def test_the_report_has_its_charts(folder: Path) -> None:
    page = (folder / "report.html").read_text(encoding="utf-8")
    for title in (
        "Router A: load over packet rate", "Router A: load over bit rate", "Router B: load over packet rate",
        "Router B: load over bit rate", "Loss over bit rate", "Loss over packet rate", "highly unstable",
        "65 B: reported load with another router", "Two readings of 72 %", "What the document gets wrong",
    ):  # fmt: skip
        assert title in page, title
    figures = {file.stem for file in (folder / "figures").iterdir()}
    assert {"load-over-packet-rate-a", "load-over-bit-rate-b", "loss-over-bit-rate"} <= figures


def test_analyze_takes_the_table_of_runs(folder: Path) -> None:
    frame = measurements.read(folder)
    named = {*variants.BY_NAME, *(f"A, {law.title}" for law in laws.SIMULATED)}
    assert set(frame["router"]) == {"", *named}
    found = regimes.each(frame)
    assert set(found) == named
    assert found["A"].governs == "packets_per_s"
    assert found["A, cost per byte"].governs == "throughput_bps"
    onset = found["A"].onset
    assert onset is not None
    assert onset.low is not None
    assert onset.high is not None
    assert onset.low <= 4200
    assert onset.high >= 4100


def test_the_costs_give_what_they_were_derived_from() -> None:
    assert costs.A.packet_s * costs.ONSET_PER_S + costs.LOW_LOAD == pytest.approx(1, abs=1e-3)
    # What the interrupts of 5000 packets/s leave forwards as many as the serial line carries of 59 B.
    left = (1 - 5000 * costs.A.interrupt_us * 1e-6) * (1 - costs.GUARANTEED)
    assert left / (costs.A.per_packet_us * 1e-6) == pytest.approx(document.SERIAL_BPS / 8 / 59, rel=2e-3)
    assert costs.reading(1.0) == pytest.approx(document.LEVEL, abs=0.005)
    at_end = costs.LOW_LOAD + costs.B.packet_s * document.B_END_PER_S
    assert costs.reading(at_end) == pytest.approx(document.B_READING, abs=1e-3)
    share = costs.GUARANTEED * (1 - costs.A.interrupt_us * 1e-6 * document.FALL_PER_S)
    assert (costs.BACKGROUND_MS + costs.METER_MS) / share == pytest.approx(1e3 * costs.METER_EVERY_S, rel=0.01)


def test_the_simulation_reads_what_the_formula_says() -> None:
    for rate in (1000, 3000):
        load = costs.LOW_LOAD + rate * costs.A.packet_s
        found = probe(130, rate)
        assert found["load"] == pytest.approx(costs.reading(load), abs=0.01)
        assert found["load_true"] == pytest.approx(load, abs=0.01)


def test_the_reading_falls_while_the_cpu_is_busy() -> None:
    level, fallen = probe(65, 5000), probe(65, 9000)
    assert level["load"] == pytest.approx(document.LEVEL, abs=0.01)
    assert fallen["load"] < 0.6 * level["load"]
    assert fallen["load_busy"] == pytest.approx(1, abs=1e-3)
    assert fallen["load_true"] > 2
    assert fallen["forwarded_packets_per_s"] < 0.5 * level["forwarded_packets_per_s"]


def test_router_b_sees_what_the_serial_link_lets_through() -> None:
    end = probe(65, 5000)
    assert end["b_packets_per_s"] == pytest.approx(document.B_END_PER_S, rel=0.005)
    assert end["b_load"] == pytest.approx(document.B_READING, abs=0.01)
    assert probe(130, 4000)["b_packets_per_s"] == pytest.approx(2000, abs=50)


def test_the_sender_cannot_send_all_of_it() -> None:
    fastest = probe(1500, 10_000)
    assert fastest["nominal_packets_per_s"] == pytest.approx(10_000)
    assert fastest["offered_packets_per_s"] == pytest.approx(1e8 / 8 / (1500 - 14 + 38), rel=1e-4)


def test_rings_that_count_bytes_leave_the_load_alone_and_save_bursts() -> None:
    in_bytes = variants.BY_NAME["A, rings in bytes"]
    for rate in (3900, 5000):
        assert probe(65, rate, in_bytes)["load"] == pytest.approx(probe(65, rate)["load"], abs=0.005)
    lost = [
        tl.simulate(video.scenario(180, 0, spread=False, setting=setting)).flows["packets_dropped"][0]
        for setting in (DOCUMENTED, in_bytes)
    ]
    assert lost[0] > 2 * lost[1]


def test_without_interrupts_nothing_falls() -> None:
    still = variants.BY_NAME["A, no interrupts"]
    found = probe(65, 9000, still)
    assert found["load"] == pytest.approx(document.LEVEL, abs=0.01)
    assert found["forwarded_packets_per_s"] > 4200


def test_the_study_names_its_probes() -> None:
    tasks = STUDY.all_tasks()
    assert len({task.name for task in tasks}) == len(tasks)
    assert sum(task.name.startswith("probe/") for task in tasks) == 5 * 28
    named = {task.name: variants.setting_of(task.scenario) for task in tasks}
    for name, setting in named.items():
        first = name.split("/")[0]
        if first.startswith("video"):
            assert setting is None
        else:
            assert setting is not None
            by_law = {law.name: f"A, {law.title}" for law in laws.SIMULATED}
            assert setting.name == (first if first in variants.BY_NAME else by_law.get(first, "A"))


def test_a_cost_by_pool_meets_three_onsets_and_a_cost_per_byte_does_not() -> None:
    """Two costs each: the third figure is what can fail, within the 50 packets/s that probes resolve."""
    off = {
        law: max(abs(law.onset_per_s(length) - rate) for length, rate in laws.IN_PACKETS)
        for law in (laws.LINEAR, laws.POOLS)
    }
    assert off[laws.POOLS] < 10
    assert off[laws.LINEAR] > 50
    assert laws.POOLS.fit(laws.IN_PACKETS).bic < laws.LINEAR.fit(laws.IN_PACKETS).bic


def test_a_router_of_a_law_is_full_at_its_onset() -> None:
    for law in laws.SIMULATED:
        for length in (65, 1500):
            onset = law.onset_per_s(length)
            loads = [
                probe(length, rate, laws.setting(law, length))["load_true"] for rate in (0.99 * onset, 1.01 * onset)
            ]
            assert loads[0] < 1 < loads[1]


def test_shaded_ground_has_its_names() -> None:
    frame = pl.DataFrame({"packets_per_s": [1000.0, 5000.0], "load": [0.2, 0.7]})
    marks = pl.DataFrame({"packets_per_s": [4000.0, 4500.0], "load": [None, 0.7], "document": ["onset", "level"]})
    shades = [charts.Shade("unstable", 4000, 4800), charts.Shade("out of sight", 6000, 7000)]
    spec = charts.shaded(frame, "packets_per_s", "load", shades=shades, marks=marks).to_dict()
    text = json.dumps(spec)
    assert "unstable" in text
    assert "out of sight" not in text
    assert [layer["mark"]["type"] for layer in spec["layer"]] == ["rect", "text", "line", "point", "point", "rule"]
