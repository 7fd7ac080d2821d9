"""The evaluation pack: what it finds on small paths, its command, its folder and its report."""

from __future__ import annotations

import html
import json
import re
import shlex
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import tightlink as tl
from tightlink import _core
from tightlink.analysis.path import sawtooth
from tightlink.cli import main
from tightlink.experiment.store import Store
from tightlink.studies.evaluation.observe import Mean
from tightlink.studies.evaluation.report import verdicts
from tightlink.studies.evaluation.report.words import titled, told, told_alike
from tightlink.studies.evaluation.setup import alone, aqm, changing, chosen, competing, pack, queued, samples, trials
from tightlink.studies.evaluation.setup.pack import Requirement, packs
from tightlink.studies.evaluation.setup.path import BACKGROUND, PACKET_BITS
from tightlink.studies.evaluation.setup.path import Path as Bottleneck
from tightlink.studies.evaluation.setup.subjects import subject, subjects

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tightlink.studies.evaluation.observe import Evaluation

SEEDS = (1, 2)


@pytest.fixture(scope="module", autouse=True)
def _small() -> Iterator[None]:
    """The pack on slower paths, with fewer seeds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alone, "RATES_MBIT", (10,))
        patch.setattr(alone, "RTTS_MS", (10, 50))
        patch.setattr(alone, "RAMP", Bottleneck(rate_mbit=20, rtt_ms=100))
        patch.setattr(competing, "PATHS", (competing.SLOW,))
        patch.setattr(pack, "SEEDS", SEEDS)
        yield


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    return tl.evaluate(
        ["reno", "cubic", {"kind": "vegas", "beta": "6 packets"}],
        output=tmp_path_factory.mktemp("pack") / "all",
        jobs=2,
    )


def value(found: Evaluation, control: str, test: str, measure: str, setting: str | None = None) -> float:
    rows = found.summary.filter(
        (pl.col("control") == control) & (pl.col("test") == test) & (pl.col("measure") == measure)
    )
    if setting is not None:
        rows = rows.filter(pl.col("setting") == setting)
    [one] = rows["value"].to_list()
    return float(one)


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


@pytest.mark.parametrize(
    ("found_value", "half_width", "verdict"),
    [(0.5, None, "met"), (0.499, None, "missed"), (0.6, 0.05, "met"), (0.52, 0.05, "open"), (0.48, 0.05, "open"),
     (0.4, 0.05, "missed"), (None, None, "missed")],
)  # fmt: skip
def test_a_verdict_is_open_where_the_interval_is_on_both_sides(
    found_value: float | None, half_width: float | None, verdict: str
) -> None:
    assert Requirement("half of it", "here", at_least=0.5).judged(found_value, half_width) == verdict
    mirrored = None if found_value is None else 1 - found_value
    assert Requirement("half of it", "here", at_most=0.5).judged(mirrored, half_width) == verdict


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


def test_the_command_prints_the_verdicts_of_a_pack(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        "study",
        "evaluation",
        "--congestion",
        "vegas",
        "--pack",
        "wireless",
        "-o",
        str(tmp_path / "out"),
        "-j",
        "2",
    ]
    assert main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["requirement", "place", "setting", "asked", "vegas"]
    titles = [each.title for each in packs()["wireless"].requirements]
    assert [line for line in lines if any(line.startswith(title) for title in titles)] == lines[1 : 1 + len(titles)]
    assert main([*arguments, "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [row["requirement"] for row in listed["verdicts"]] == titles
    assert {row["verdict"] for row in listed["verdicts"]} <= {"met", "missed", "open"}
    assert set(listed["tests"]) == set(packs()["wireless"].tests)


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
    from tightlink.studies.evaluation.report.words import told

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


def test_the_command_prints_controls_side_by_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    controls = "reno, fast:alpha=20 packets"
    arguments = ["study", "evaluation", "--congestion", controls, "--tests", "ramp-up", "-o", str(tmp_path / "out")]
    assert main(arguments) == 0
    printed = capsys.readouterr()
    assert printed.out.splitlines()[0].split() == ["measure", "reno", "fast:alpha=20", "packets"]
    assert "report:" in printed.out
    assert "4 runs, about" in printed.err
    assert main([*arguments, "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert set(listed) == {"report", "claims", "controls", "tests", "summary", "verdicts"}
    # Of no pack all tests were made.
    assert listed["verdicts"] == []
    # The table that is alone has its name, as beside that of verdicts.
    assert main([*arguments, "--csv"]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == ["# summary", ",".join(listed["summary"][0])]


def test_queues_are_set_side_by_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """RFC 7928: turns of flows keep a call from a long flow's queue, and a stream from others' shares."""
    out = tmp_path / "out"
    queues = ["--queues", "drop-tail, fq-codel:target=4 ms"]
    arguments = ["study", "evaluation", *queues, "--tests", "bursts", "-o", str(out), "-j", "2"]
    assert main(arguments) == 0
    assert capsys.readouterr().out.splitlines()[0].split() == ["measure", "drop-tail", "fq-codel:target=4", "ms"]
    assert main([*arguments, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["queues"]["fq-codel:target=4 ms"] == {"kind": "fq-codel", "target": "4 ms"}
    delays = {
        row["queue"]: row["value"] - queued.PATH.rtt_ms / 2e3
        for row in printed["summary"]
        if row["measure"] == "voice_delay_p95_s"
    }
    # A call waits for a packet in service, at most.
    assert delays["fq-codel:target=4 ms"] < 2 * queued.PATH.packet_s + 0.0005 < 0.02 < delays["drop-tail"]
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Queues, evaluated" in page
    found = tl.evaluate(["fq-codel", {"kind": "drop-tail"}], queues=True, tests=["unresponsive"], jobs=2)
    kept = {
        label: found.values[f"{label}.unresponsive.{queued.PATH.label}.goodput_bps"] or 0
        for label in ("fq-codel", "drop-tail")
    }
    # Four of five shares, less headers and random traffic; and what a stream of more than half of the link leaves.
    assert kept["fq-codel"] > 0.7 * queued.PATH.rate_bps > 0.5 * queued.PATH.rate_bps > kept["drop-tail"]


def test_a_queue_that_is_to_mark_has_senders_that_say_ect() -> None:
    """RFC 7928, 4.5: `ecn = true` of a queue had no effect, as no sender understood marks."""
    found = tl.evaluate(["pie", "pie:ecn=true"], queues=True, tests=["tcp-friendly"], jobs=2).values
    drops, marks = (found[f"{label}.tcp-friendly.{queued.PATH.label}.loss"] or 0 for label in ("pie", "pie:ecn=true"))
    assert marks < drops / 2


def test_every_test_of_queues_has_numbers_of_every_queue() -> None:
    kinds = competing.kinds()
    assert {"drop-tail", "cake", "dualpi2", "fq-pie", "cobalt"} <= set(kinds)
    planned = trials(subjects(["cake"], "queue"), chosen("queue"))
    assert {trial.test.name for trial in planned} == set(aqm.TESTS)
    for trial in planned[:: len(SEEDS)]:
        measured = trial.test.made.measure(trial.value, *(tl.simulate(task.scenario) for task in trial.tasks()))
        assert all(measured[headline.measure] is not None for headline in trial.test.headlines), trial.test.name


def test_queues_differ_where_the_load_does() -> None:
    """RFC 7928, 4.5, 5.3, 8.2.6, 9.2 and 10: what each section is about is what its test shows."""
    names = ["ecn", "overload", "varying-capacity", "two-way", "two-bottlenecks"]
    found = tl.evaluate(["drop-tail", "codel", "pie", "fq-codel"], queues=True, tests=names, jobs=2).values
    here = queued.PATH.label

    def of(queue: str, test: str, measure: str, setting: str = here) -> float:
        value = found[f"{queue}.{test}.{setting}.{measure}"]
        assert value is not None
        return value

    # Marks replace drops; a queue without them marks nothing.
    assert of("drop-tail", "ecn", "marked") == 0 < of("codel", "ecn", "marked")
    assert of("codel", "ecn", "loss") < of("drop-tail", "ecn", "loss")
    # What is too much is lost by all; CoDel is slow to find how much (RFC 8289 is for senders that answer), PIE is not.
    for queue in ("drop-tail", "codel", "pie"):
        lost = 1 - 1 / (aqm.FLOOD + BACKGROUND)
        assert of(queue, "overload", "stream_loss") == pytest.approx(lost, abs=0.02)
    assert of("pie", "overload", "queueing_p95_s") < 0.5 * of("codel", "overload", "queueing_p95_s")
    # As many packets are ten times as long in time where the rate is a tenth; what looks at time notices.
    stays, codel, pie = (
        of(name, "varying-capacity", "queueing_peak_s", "every 20 s") for name in ("drop-tail", "codel", "pie")
    )
    assert stays > 1.5 * max(codel, pie)
    # Flows over two bottlenecks have two queues and the losses of both, but where flows take turns.
    through = {name: of(name, "two-bottlenecks", "through_over_one") for name in ("drop-tail", "fq-codel")}
    assert through["drop-tail"] < 0.6 < through["fq-codel"]
    # Data and ACKs share a queue: without turns of flows that costs throughput.
    assert of("codel", "two-way", "utilization") < of("fq-codel", "two-way", "utilization")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--queues", ""], "at least one queue"),
        (["--queues", "codl"], 'did you mean "codel"?'),
        (["--queues", "codel,codel"], "each queue once"),
        (["--queues", "codel:targt=1 ms"], "targt"),
        (["--queues", "strict"], "order: this key is needed"),
        (["--queues", "codel", "--tests", "burst"], "did you mean bursts?"),
        (["--congestion", ""], "at least one congestion control"),
        (["--congestion", "renno"], 'did you mean "reno"?'),
        (["--congestion", "reno, reno"], "each congestion control once"),
        (
            ["--congestion", "fast:alfa=3"],
            '--congestion: fast:alfa: unknown key; expected one of alpha, gamma, mi_threshold; did you mean "alpha"?',
        ),
        (["--congestion", "fast:alpha"], "expected NAME or NAME:option=value"),
        (["--congestion", "fast:alpha=2 s"], '--congestion: fast:alpha = "2 s": expected'),
        (["--congestion", "reno", "--tests", "ramp"], "did you mean ramp-up?"),
        (["--congestion", "reno", "--pack", "wirless"], "did you mean wireless?"),
        (["--congestion", "reno", "--pack", "wireless", "--tests", "ramp-up"], "either a pack or tests, not both"),
        (["--queues", "codel", "--pack", "wireless"], "the tests of queues are one pack, that of RFC 7928"),
        (["--congestion", "reno", "-j", "0"], "--jobs = 0: expected a whole number of at least 1"),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["study", "evaluation", *arguments, "-o", str(tmp_path / "out")]) == 2
    printed = capsys.readouterr().err
    assert said in printed
    assert printed.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_another_folder_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    assert main(["study", "evaluation", "-o", str(tmp_path)]) == 2
    assert "holds no study" in capsys.readouterr().err


def test_evenness_is_jains_index_of_smoothed_goodput() -> None:
    scenario = competing.SLOW.scenario({"flows": competing.SLOW.bulk("reno", flows=2)}, duration_s=5)
    rows = samples.evenness(tl.simulate(scenario), ["flows[0]", "flows[1]"], 2, 1)
    assert [time for time, _ in rows] == pytest.approx([2 + place / 10 for place in range(1, 30)])
    assert all(0.5 <= index <= 1 for _, index in rows)


def test_options_in_a_name_are_those_of_a_table() -> None:
    assert subject("cubic:beta=0.8, fast_convergence=false").value == {
        "kind": "cubic", "beta": 0.8, "fast_convergence": False,
    }  # fmt: skip


class Fragile(tl.CongestionControl):
    """Does not stand one seed of two."""

    def __init__(self, *, never: bool = False) -> None:
        if never or self.seed == SEEDS[-1]:
            raise ValueError("no")

    def on_report(self, report: tl.Report) -> None:
        if report.in_use and self.cwnd >= self.ssthresh:
            self.cwnd += 1


class Counting(tl.CongestionControl):
    """DCTCP, of which all flows need marks."""

    def __init__(self) -> None:
        self.alpha = 1.0

    def on_report(self, report: tl.Report) -> None:
        self.alpha += (report.marked / max(report.delivered, 1) - self.alpha) / 16
        if report.in_use and self.cwnd >= self.ssthresh:
            self.cwnd += 1

    def on_mark(self, loss: tl.Loss) -> float:
        return loss.in_use * (1 - self.alpha / 2)


def test_a_control_of_ones_own_that_reads_marks_is_evaluated_as_dctcp_is() -> None:
    for own in (Counting, "dctcp"):
        for test, setting in ((competing.TESTS["queues"], "codel"), (alone.TESTS["ramp-up"], "unlimited threshold")):
            value = test.made.settings()[setting]
            for scenario in test.made.scenarios(subject(own).value, value, 1):
                run = tl.simulate(scenario.set("duration", "5 s"))
                marked = run.flows.filter(pl.col("transport") == "tcp")["packets_marked"].sum()
                assert (marked > 0) == (setting == "codel")


def test_runs_that_fail_leave_what_the_others_say(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tests = ["ramp-up", "call"]
    with pytest.warns(tl.TightlinkWarning, match=r"(?s)^\d+ of \d+ runs failed.*fragile/call/.*ValueError: no"):
        found = tl.evaluate([Fragile, "fragile:never=true", "reno"], tests=tests, output=tmp_path / "all")
    replications = found.summary.filter(pl.col("test") == "call").group_by("control").agg(pl.max("replications"))
    assert dict(replications.iter_rows()) == {"fragile": 1, "reno": len(SEEDS)}
    assert {label for label, *_ in found.failed} == {"fragile", "fragile:never=true"}
    assert value(found, "fragile", "ramp-up", "ramp_up_s", "unlimited threshold") > 0
    for _, headline, means in found.headlines():
        cells = {label: told(headline.measure, mean, headline.never) for label, mean in means.items()}
        assert (cells["fragile:never=true"], cells["reno"] == "failed") == ("failed", False)
    text = (tmp_path / "all" / "report.html").read_text()
    assert "runs failed." in text
    stored = tl.experiment.open(tmp_path / "all")
    assert all("ValueError: no" in entry["error"] for entry in stored.failures.values())
    assert stored.scenario(next(iter(stored.failures))).traffic
    assert stored.runs.filter(status="failed").collect().height == len(stored.failures)

    (tmp_path / "fragile.py").write_text(
        "import tightlink as tl\nclass Broken(tl.CongestionControl):\n    def on_report(self, report): self.nothing\n"
    )
    file, out = str(tmp_path / "fragile.py"), str(tmp_path / "out")
    asked = ["--controls", file, "--congestion", "broken,reno", "--tests", "call", "-o", out]
    capsys.readouterr()
    assert main(["study", "evaluation", *asked]) == 1
    said = capsys.readouterr()
    assert "failed" in said.out
    hint = re.search(r"to see one alone: tightlink (.*)", said.err)
    assert hint is not None
    assert main(shlex.split(hint[1])) == 2
    assert re.search(r"on_report of flow at .*AttributeError: .*fragile\.py, line 3", capsys.readouterr().err)
    # Without any run there is nothing to say.
    with pytest.raises(tl.TightlinkError, match="2 of 2 runs failed"):
        tl.evaluate(["broken"], tests=["call"], output=tmp_path / "none")


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


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("threshold", 'queues: threshold:mark: this key is needed, such as mark = "20 packets"'),
        ("codel:targt=2 ms", "queues: codel:targt: unknown key"),
        ("foo", 'queues = "foo": expected one of drop-tail'),
    ],
)
def test_wrong_options_of_queues_are_named_as_they_are_listed(given: str, said: str) -> None:
    with pytest.raises(tl.ScenarioError, match=f"^{re.escape(said)}"):
        subject(given, "queue")


def test_times_of_one_measure_have_one_unit() -> None:
    means = [Mean(1.3), Mean(0.9), Mean(None), Mean(0.43, 0.14), Mean(None, failed=True)]
    assert told_alike("ramp_up_s", means, "> 60 s") == ["1.3 s", "0.9 s", "> 60 s", "0.43 ± 0.14 s", "failed"]
    # Where one unit would have too many digits each has its own.
    assert told_alike("refill_s", [Mean(18.6), Mean(0.004)]) == ["18.6 s", "4 ms"]
    assert told_alike("refill_s", [Mean(0.0), Mean(0.004)]) == ["0 ms", "4 ms"]
    assert told_alike("utilization", [Mean(0.98), Mean(0.009)]) == ["98 %", "0.9 %"]
    assert told_alike("refill_s", [Mean(None)]) == ["never"]
