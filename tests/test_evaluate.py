"""The evaluation pack on small paths: what it finds, its verdicts, its folder and its report."""

from __future__ import annotations

import html
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import tightlink as tl
from evaluations import SEEDS, value
from tightlink import _core
from tightlink.analysis.path import sawtooth
from tightlink.experiment.store import Store
from tightlink.studies.evaluation.report import verdicts
from tightlink.studies.evaluation.report.words import titled, told
from tightlink.studies.evaluation.setup import changing, chosen, competing, trials
from tightlink.studies.evaluation.setup.pack import packs
from tightlink.studies.evaluation.setup.path import PACKET_BITS
from tightlink.studies.evaluation.setup.path import Path as Bottleneck
from tightlink.studies.evaluation.setup.subjects import subjects

if TYPE_CHECKING:
    from tightlink.studies.evaluation.observe import Evaluation

pytestmark = pytest.mark.usefixtures("small_pack")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    return tl.evaluate(
        ["reno", "cubic", {"kind": "vegas", "beta": "6 packets"}],
        output=tmp_path_factory.mktemp("pack") / "all",
        jobs=2,
    )


def test_one_flow_uses_what_the_theory_of_its_sawtooth_says(found: Evaluation) -> None:
    for rtt in (10, 50):
        path = Bottleneck(10, rtt, 0.2)
        used = value(found, "reno", "utilization", "utilization", path.label)
        assert used == pytest.approx(sawtooth.utilization(path.buffer_bdp), abs=0.04)
    assert value(found, "cubic", "utilization", "utilization", Bottleneck(10, 50, 0.2).label) > 0.93


def test_controls_differ_where_they_should(found: Evaluation) -> None:
    vegas = "vegas:beta=6 packets"
    assert value(found, "reno", "ramp-up", "ramp_up_s", "unlimited threshold") < 2
    assert value(found, vegas, "queues", "queueing_p95_s", "drop-tail") < 0.5 * value(
        found, "reno", "queues", "queueing_mean_s", "drop-tail"
    )
    assert value(found, vegas, "queues", "loss", "drop-tail") == 0
    label = competing.SLOW.label
    # Beside itself a control is fair, and Vegas gives way.
    assert value(found, "reno", "beside-reno", "standard_kept", label) == pytest.approx(1, abs=0.1)
    assert value(found, "cubic", "beside-cubic", "standard_kept", label) == pytest.approx(1, abs=0.1)
    assert value(found, vegas, "beside-reno", "standard_kept", label) > 1.4
    # The longer path gets less from Reno, and less from it than from CUBIC.
    reno, cubic = (value(found, name, "round-trips", "long_over_short") for name in ("reno", "cubic"))
    assert reno < cubic < 1
    assert value(found, vegas, "short-flows", "completion_p95_s") < value(
        found, "reno", "short-flows", "completion_p95_s"
    )


def test_a_flow_gives_up_half_of_the_link_and_takes_it_again(found: Evaluation) -> None:
    for name in ("reno", "cubic"):
        assert value(found, name, "changes", "kept_of_half") == pytest.approx(1, abs=0.03)
        assert 0 < value(found, name, "changes", "loss_at_first") < 0.2
        assert changing.TAKEN < 1 <= value(found, name, "changes", "refill_s") < changing.ENDS_S - changing.GOES_S


def test_links_that_change_do_to_a_flow_what_their_numbers_say(found: Evaluation) -> None:
    for name in ("reno", "cubic", "vegas:beta=6 packets"):
        # No more than the mean of both rates, and nearly that: a window that fills the fast link fills the slow one.
        rates = [rate * 1e6 for _, rate in changing.STEPS]
        throughput = value(found, name, "rate-steps", "throughput_bps")
        assert 0.9 * sum(rates) / 2 < throughput <= sum(rates) / 2
        # Nothing leaves during the outage.
        whole = changing.PATH.rate_bps * (1 - (changing.OUTAGE_S[1] - changing.OUTAGE_S[0]) / changing.DURATION_S)
        assert 0.9 * whole < value(found, name, "outages", "throughput_bps") <= whole
        assert 1 <= value(found, name, "outages", "refill_s") < 10
        # The timer of RFC 6298 doubles from one second on; a probe may come before it.
        assert 3 <= value(found, name, "blackout", "sent_into_blackout") <= 6
    # Reno fills what there is: at a quarter of the rate its packets wait four times as long for a full queue.
    full_s = changing.PATH.rtt_ms / 1e3 * rates[0] / rates[1]
    assert 0.6 * full_s < value(found, "reno", "rate-steps", "queueing_p95_s") <= full_s + PACKET_BITS / rates[1]
    assert value(found, "vegas:beta=6 packets", "rate-steps", "queueing_p95_s") < 0.5 * full_s


def test_bursts_of_losses_lose_what_they_say(found: Evaluation) -> None:
    share = changing.TO_BAD / (changing.TO_BAD + changing.TO_GOOD)
    # Vegas loses nothing to the queue. Losses in bursts of length b vary by 2 b - 1 times as much as single ones.
    sent = value(found, "vegas:beta=6 packets", "loss-bursts", "throughput_bps") * changing.DURATION_S / PACKET_BITS
    deviation = (share * (2 / changing.TO_GOOD - 1) / (sent * len(SEEDS))) ** 0.5
    assert value(found, "vegas:beta=6 packets", "loss-bursts", "loss") == pytest.approx(share, abs=4 * deviation)
    assert value(found, "reno", "loss-bursts", "utilization") < value(found, "reno", "jitter", "utilization")


def test_a_call_waits_in_the_queue_that_a_flow_fills(found: Evaluation) -> None:
    path = competing.LONG_QUEUE
    alone_s = path.rtt_ms / 2e3
    full_s = alone_s + path.rtt_ms / 1e3 * path.buffer_bdp
    waits = {name: value(found, name, "call", "voice_delay_p95_s") for name in ("reno", "vegas:beta=6 packets")}
    assert alone_s < waits["vegas:beta=6 packets"] < 0.5 * waits["reno"]
    assert 0.8 * full_s < waits["reno"] <= full_s + path.packet_s
    assert value(found, "vegas:beta=6 packets", "call", "voice_loss") == 0


def test_a_pack_asks_for_what_its_tests_measure(found: Evaluation) -> None:
    known = {test.name: test for test in chosen("control")}
    measured = set(found.summary.select("test", "measure").unique().rows())
    # Paths as they are without the small pack of these tests.
    paths = {path.label for path in (competing.SLOW, competing.FAST, *(Bottleneck(r, 50, 0.2) for r in (10, 100)))}
    for name, asked in packs().items():
        assert {each.test for each in asked.requirements if each.test} <= set(known), name
        for each in asked.requirements:
            assert each.place, each
            if each.open:
                assert each.test == each.measure == each.origin == "", each
                continue
            assert (each.test, each.measure) in measured, each
            assert set(each.settings) <= set(known[each.test].made.settings()) | paths, each
            assert (each.at_least is None) != (each.at_most is None), each
            assert each.origin, each
            assert titled(each.measure)
        assert [test.name for test in chosen("control", pack=name)] == [
            test for test in known if test in set(asked.tests)
        ]


def test_verdicts_are_of_the_setting_that_is_furthest_off(found: Evaluation) -> None:
    rows = {(row["pack"], row["requirement"], row["control"]): row for row in found.verdicts.iter_rows(named=True)}
    assert len(rows) == found.verdicts.height == 3 * sum(len(asked.requirements) for asked in packs().values())
    managed = found.summary.filter(
        (pl.col("control") == "cubic") & (pl.col("test") == "queues") & (pl.col("measure") == "utilization")
        & pl.col("setting").is_in(["codel", "fq-codel", "pie", "dualpi2"])
    )  # fmt: skip
    assert managed.height == 4
    row = rows["rfc9743", "Uses a path with active queue management", "cubic"]
    assert (row["value"], row["verdict"]) == (managed["value"].min(), "met")
    assert managed.filter(setting=row["setting"])["value"].to_list() == [row["value"]]
    assert rows["rfc9743", "Keeps queues short", "reno"]["verdict"] == "missed"
    assert rows["rfc9743", "Keeps queues short", "vegas:beta=6 packets"]["verdict"] == "met"
    assert rows["rfc9743", "Stands extreme reordering", "reno"] | {"requirement": ""} == {
        "pack": "rfc9743", "requirement": "", "place": "§7.7", "control": "reno", "setting": None, "value": None,
        "half_width": None, "at_least": None, "at_most": None, "measured": False, "verdict": "open",
    }  # fmt: skip
    assert pl.read_parquet(found.folder / "verdicts.parquet").equals(found.verdicts)
    page = html.unescape((found.folder / "report.html").read_text(encoding="utf-8"))
    for asked in packs().values():
        assert asked.title in page
        assert all(each.title in page for each in asked.requirements if not each.open)
        assert all(each.open in page for each in asked.requirements if each.open)


def test_what_was_found_is_said_of_each_setting_by_its_name(found: Evaluation) -> None:
    told = verdicts.of_pack(found, "rfc9743")
    managed = told.filter(requirement="Uses a path with active queue management")
    assert sorted(managed["setting"]) == ["codel", "dualpi2", "fq-codel", "pie"]
    assert told.filter(requirement="Shares with Reno")["setting"].to_list() == [competing.SLOW.label]


def test_what_is_asked_and_found_has_one_unit_along_a_row(found: Evaluation) -> None:
    longer = pl.col("control").eq("cubic") & pl.col("measure").eq("queueing_mean_s")
    measures = found.measures.with_columns(value=pl.when(longer).then(100 * pl.col("value")).otherwise("value"))
    told = verdicts.of_pack(replace(found, measures=measures), "rfc9743")
    [row] = told.filter(requirement="Keeps queues short").drop("requirement", "place", "setting").rows()
    assert row[0] == "at most 40 ms"
    assert [re.sub(r".* ", "", text) for text in row] == ["ms"] * len(row)
    assert any("," in text for text in row)


def test_varying_delay_is_asked_about_without_losses(found: Evaluation) -> None:
    """RFC 9743 §7.3 is about a minimum delay that changes; what the wire loses is asked about at §6.4."""
    rows = {(row["requirement"], row["control"]): row for row in found.verdicts.iter_rows(named=True)}
    for name in ("reno", "cubic"):
        assert rows["Uses a path of varying delay", name]["verdict"] == "met"
        assert value(found, name, "satellites", "utilization", "leo") < 0.5


def test_no_flow_is_starved_where_the_one_with_least_is_not(found: Evaluation) -> None:
    label = competing.SLOW.label
    for name in ("reno", "vegas:beta=6 packets"):
        means = (
            value(found, name, "beside-reno", measure, label) for measure in ("standard_least_kept", "standard_kept")
        )
        least, mean = means
        assert 0 < least < mean
    [row] = found.verdicts.filter(pack="rfc9743", requirement="Starves no flow of Reno", control="reno").to_dicts()
    assert row["value"] == value(found, "reno", "beside-reno", "standard_least_kept", label)


def test_every_queue_and_every_control_of_the_engine_is_evaluated(found: Evaluation) -> None:
    settings = found.summary.filter(pl.col("test") == "queues")["setting"].unique().to_list()
    assert sorted(settings) == sorted(competing.kinds())
    assert set(settings) <= {name for name, _ in _core.queues()}
    assert "drop-tail" in settings
    planned = trials(subjects([name for name, _ in _core.congestion()]), chosen("control"))
    assert {trial.subject.label for trial in planned} == {name for name, _ in _core.congestion()}


def test_what_never_happens_is_missing_and_counted(found: Evaluation) -> None:
    row = found.summary.filter(
        (pl.col("control") == "reno") & (pl.col("measure") == "convergence_s") & (pl.col("setting") == "2 flows")
    ).row(0, named=True)
    missing = found.measures.filter(
        (pl.col("control") == "reno") & (pl.col("measure") == "convergence_s") & (pl.col("setting") == "2 flows")
    )["value"].null_count()
    assert row["never"] == missing
    assert row["replications"] == len(SEEDS)


def test_the_folder_has_tables_and_an_evaluation_goes_on_in_it(found: Evaluation, tmp_path: Path) -> None:
    assert found.described()["controls"]["vegas:beta=6 packets"] == {"kind": "vegas", "beta": "6 packets"}
    assert pl.read_parquet(found.folder / "summary.parquet").equals(found.summary)
    table = pl.read_parquet(found.folder / "measures.parquet")
    assert table.height == found.measures.height
    runs = pl.read_parquet(found.folder / "runs.parquet")
    assert runs["status"].unique().to_list() == ["done"]
    folder = Path(shutil.copytree(found.folder, tmp_path / "again"))
    before = {file.name: file.stat().st_mtime_ns for file in Store(folder / "runs").files()}
    again = tl.evaluate(["reno", "cubic"], tests=["ramp-up", "changes"], output=folder)
    assert {file.name: file.stat().st_mtime_ns for file in Store(folder / "runs").files()} == before
    assert [test.name for test in again.tests] == ["ramp-up", "changes"]


def test_the_report_has_a_row_of_charts_for_each_control(found: Evaluation) -> None:
    page = (found.folder / "report.html").read_text(encoding="utf-8")
    for text in (
        "vegas:beta=6 packets",
        "standard TCP keeps",
        "Side by side",
        "Unequal round trips",
        "half goes",
        "From the left",
    ):
        assert text in page
    assert page.count('"utilization (%)"') >= 3


def test_intervals_stand_wherever_there_are_seeds(found: Evaluation) -> None:

    rows = {(row["test"], row["setting"], row["measure"], row["control"]): row for row in found.summary.to_dicts()}
    seen = 0
    for test, headline, means in found.headlines():
        for label, mean in means.items():
            # One is over all settings, and another over a path that this small pack lacks.
            if (test.name, headline.setting, headline.measure, label) not in rows:
                continue
            row = rows[test.name, headline.setting, headline.measure, label]
            assert (mean.value, mean.half_width, mean.never) == (row["value"], row["half_width"], row["never"])
            if row["half_width"]:
                seen += 1
                said = told(headline.measure, mean)
                assert "±" in said or " to " in said or row["half_width"] < 1e-3 * row["value"]
    assert seen > 20
    [delay] = [means for _, headline, means in found.headlines() if headline.title == "p95 queueing delay"]
    low, high = (told("queueing_p95_s", delay[label]) for label in ("vegas:beta=6 packets", "reno"))
    page = (found.folder / "report.html").read_text(encoding="utf-8")
    for text in (low, high):
        assert f"<td>{text}</td>" in page
    # The plane of delay and throughput is the first picture, and the first sentence is about it.
    assert f"goes from {low} with vegas:beta=6 packets to " in page
    [first, *_] = re.findall(r'<script type="application/json">(.*?)</script>', page)
    layer = json.loads(first)["layer"][0]["encoding"]
    assert [layer[axis]["title"] for axis in ("x", "y")] == ["p95 queueing delay (ms)", "throughput (Mbit/s)"]


def test_who_failed_meets_nothing(found: Evaluation) -> None:
    asked = next(each for each in packs()["rfc9743"].requirements if each.test == "own-kind")
    [before] = found.judged_in(asked, "reno")
    assert before.verdict == "met"
    broken = replace(found, failed={("reno", asked.test, str(before.setting))})
    assert [each.verdict for each in broken.judged_in(asked, "reno")] == ["open"]
    assert broken.judged_in(asked, "cubic") == found.judged_in(asked, "cubic")
    gone = replace(
        broken, measures=found.measures.filter(~((pl.col("control") == "reno") & (pl.col("test") == asked.test)))
    )
    assert [(each.value, each.verdict) for each in gone.judged_in(asked, "reno")] == [(None, "open")]
