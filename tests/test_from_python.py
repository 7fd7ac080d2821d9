"""What is typed first in Python works, or one sentence says what was meant."""

from __future__ import annotations

import ast
import atexit
import copy
import math
import pickle
import re
import sys
import tempfile
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import tightlink as tl
from tightlink import cli
from tightlink.calls import answered

if TYPE_CHECKING:
    from collections.abc import Callable

#: The package without its types, of which the tests are that values of other types are taken or refused in a sentence.
untyped: Any = tl


@pytest.fixture
def scenario(one_flow: str) -> tl.Scenario:
    return tl.loads(one_flow).set("duration", "1 s")


@pytest.mark.parametrize("count", [np.int64(2), np.uint8(2)])
def test_numbers_of_numpy_are_numbers(scenario: tl.Scenario, count: Any) -> None:
    link = untyped.Link(ends=np.array(["a", "b"]), rate="2 Mbit/s", loss=np.float32(0.5))
    assert repr(link) == "Link(ends=('a', 'b'), rate='2 Mbit/s', loss=0.5)"
    assert repr(tl.Bulk(from_="a", to="b", flows=count)) == "Bulk(from_='a', to='b', flows=2)"
    assert untyped.LossPattern(packets=np.arange(3, 5)).packets == [3, 4]
    assert tl.simulate(scenario, seed=count).manifest["seed"] == 2
    changed = scenario.set("traffic.ftp.flows", count)
    assert "flows = 2" in changed.to_toml()
    with pytest.raises(tl.ScenarioError, match='did you mean "2 packets"'):
        scenario.set("link.bottleneck.queue", count)


def test_what_is_a_time_or_a_number_for_others_is_taken(scenario: tl.Scenario) -> None:
    class Timedelta(timedelta):
        """As pandas has it."""

        nanoseconds = 5

    times: list[Any] = [timedelta(milliseconds=20), np.timedelta64(20, "ms"), np.timedelta64(20_000_000, "ns")]
    for given in times:
        assert scenario.set("link.bottleneck.delay", given).link["bottleneck"].delay == "20 ms"
        assert tl.units.time(given) == 0.02
    assert untyped.Link(ends=("a", "b"), rate="1 Mbit/s", delay=Timedelta(microseconds=1)).delay == "1005 ns"
    assert scenario.set("duration", timedelta(days=1)).duration == "86400 s"
    found = tl.sweep(scenario, {"link.bottleneck.delay": np.array([1000, 1001], "timedelta64[us]")})
    assert found.runs.collect()["link.bottleneck.delay"].to_list() == ["1 ms", "1001 us"]
    for number in (Decimal("0.01"), Fraction(1, 100)):
        assert scenario.set("link.bottleneck.loss", number).link["bottleneck"].loss == 0.01
        assert tl.units.fraction(number) == 0.01
    assert scenario.set("seed", Decimal(7)).seed == 7
    with pytest.raises(tl.ScenarioError, match=r'delay = 0.01: expected a unit, too: .*; did you mean "0.01 '):
        scenario.set("link.bottleneck.delay", Decimal("0.01"))
    with pytest.raises(tl.ScenarioError, match=r"rate = \"20 ms\": expected a rate"):
        scenario.set("link.bottleneck.rate", timedelta(milliseconds=20))
    with pytest.raises(tl.ScenarioError, match=r"queue = Codel: .* not the class; did you mean Codel\(…\)\?$"):
        scenario.set("link.bottleneck.queue", tl.Codel)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda of: untyped.simulate(of, duration="5 s"),
            'tl.simulate: duration is a key of the scenario; write tl.simulate(scenario.set("duration", "5 s"))',
        ),
        (
            lambda of: untyped.simulate(of, queue=["5 packets", "9 packets"]),
            "tl.simulate: queue is a key of the scenario; write tl.sweep(scenario, "
            '{"link.bottleneck.queue": ["5 packets", "9 packets"]})',
        ),
        (
            lambda of: untyped.sweep(of, {"seed": [1]}, duration="3 s"),
            'tl.sweep: duration is a key of the scenario; write tl.sweep(scenario.set("duration", "3 s"), …)',
        ),
        (
            lambda _: untyped.load("a.toml", duration="5 s"),
            'tl.load: duration is a key of the scenario; write tl.load(…, set={"duration": "5 s"})',
        ),
        (
            lambda of: of.set(duration="5 s"),
            'Scenario.set: duration is a key of the scenario; write scenario.set("duration", "5 s")',
        ),
        (
            lambda of: of.set({"duration": "5 s", "seed": 2}),
            "Scenario.set: value is missing; expected Scenario.set(key, value); set_all takes several keys, such as "
            '{"duration": "5 s", "seed": 2}',
        ),
        (lambda of: untyped.sweep(of, reps=3), "tl.sweep: no argument is called reps; did you mean replications?"),
        (lambda of: untyped.sweep(of, n_jobs=3), "tl.sweep: no argument is called n_jobs; did you mean jobs?"),
        (lambda of: untyped.simulate(of, jobs=3), "tl.simulate: no argument is called jobs; did you mean threads?"),
        (lambda _: untyped.study("x", out="y"), "tl.study: no argument is called out; did you mean output?"),
        (lambda _: untyped.capture("a", filter="tcp"), "tl.capture: no argument is called filter; did you mean only?"),
        (
            lambda of: untyped.simulate(of).plot("cwnd", title="x"),
            "Run.plot: no argument is called title; expected one of metric, entity, ax",
        ),
        (
            lambda _: untyped.compare("a", "b", "flows"),
            "tl.compare: expected 2 arguments without a name at most; write the others as NAME=VALUE, of by, pairs",
        ),
        (
            lambda _: untyped.load("a.toml", {"duration": "5 s"}),
            "tl.load: expected 1 argument without a name at most; write set=…",
        ),
        (lambda _: untyped.simulate(), "tl.simulate: scenario is missing; expected tl.simulate(scenario)"),
        (lambda _: untyped.compare("a"), "tl.compare: second is missing; expected tl.compare(first, second)"),
    ],
)
def test_calls_that_python_refuses_say_what_to_write(
    call: Callable[[tl.Scenario], object], sentence: str, scenario: tl.Scenario
) -> None:
    with pytest.raises(tl.TightlinkError) as raised:
        call(scenario)
    assert str(raised.value) == sentence
    # What catches Python's own error catches it, too.
    assert isinstance(raised.value, TypeError)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda _: untyped.loads("", set=["seed=2"]),
            'set = ["seed=2"]: expected a table, such as {"duration": "10 s"}',
        ),
        (lambda _: untyped.loads("", set=5), 'set = 5: expected a table, such as {"duration": "10 s"}'),
        (
            lambda _: untyped.load("duration = '1 s'"),
            "expected the name of a file; tl.loads takes the text of a scenario",
        ),
        (lambda _: untyped.loads({"duration": "1 s"}), "tl.Scenario.from_dict takes a table"),
        (lambda of: untyped.simulate([of, of]), "[tl.simulate(each) for each in scenarios] runs several"),
        (lambda of: untyped.simulate(tl.simulate(of)), "not Run; run.scenario is that of a run"),
        (lambda of: untyped.sweep(of, len), 'vary: expected levels by key, such as {"traffic.bulk.flows": [1, 2, 4]}'),
        (
            lambda of: untyped.compare(tl.simulate(of), tl.simulate(of), by="flow"),
            "by = \"flow\": expected a list, such as ['flow']",
        ),
        (
            lambda _: untyped.study("one-flow", options="x"),
            'options = "x": expected a table, such as {"tests": "queues"}',
        ),
        (lambda _: untyped.lab("a.toml"), "tl.load('a.toml') reads one from its file"),
        (lambda of: untyped.lab(of, sliders="duration=1 s,2 s"), "expected a list, such as ['duration=1 s,2 s']"),
        (lambda of: untyped.lab(of, sliders=[5]), "sliders = 5: expected a key and its values, such as"),
    ],
)
def test_arguments_of_another_kind_say_what_to_write(
    call: Callable[[tl.Scenario], object], sentence: str, scenario: tl.Scenario
) -> None:
    with pytest.raises(tl.TightlinkError, match=re.escape(sentence)):
        call(scenario)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda run: tl.plots.overview(run.scenario), "expected a Run, not Scenario; tl.simulate(scenario) makes one"),
        (
            lambda run: tl.plots.series(run.scenario, "x"),
            "expected a Run, not Scenario; tl.simulate(scenario) makes one",
        ),
        (lambda _: untyped.plots.limited_by("out"), "expected a Run, not str; tl.open_run('out') opens one"),
        (lambda run: tl.report.totals(run.scenario), "expected a Run, not Scenario"),
        (lambda run: tl.analyze.oscillations(run.scenario), "expected a Run, not Scenario"),
        (lambda run: tl.analyze.oscillations(run, columns="x"), "columns = \"x\": expected a list, such as ['x']"),
        (untyped.report.run_report, "run.report(path) writes the report of one"),
        (lambda run: run.plot("cwnd_packets", 5), "entity = 5: expected a list"),
        (lambda run: run.plot("cwnd_packets", ax=5), "ax = 5: expected axes of matplotlib, such as those of fig, ax ="),
        (lambda run: run.report("x.html", sequence=5), "sequence = 5: expected the name of a flow"),
        (lambda run: run.table(5), 'name = 5: expected the name of a table, such as "flows"'),
        (lambda run: run["flows"], 'a run is not subscriptable; run.table("flows") is one of its tables'),
        (
            lambda run: tl.plots.write(run, "x.png"),
            "expected a figure, axes of it, or charts, not Run; its plot() draws one",
        ),
        (lambda run: tl.analyze.fairness(run.flows), "no column algorithm: expected one of flow, label"),
        (lambda _: untyped.analyze.read_runs(5), "path = 5: expected the name of a file or a folder"),
    ],
)
def test_what_is_no_run_or_no_figure_is_named(
    call: Callable[[Any], object], sentence: str, scenario: tl.Scenario
) -> None:
    with pytest.raises(tl.TightlinkError, match=re.escape(sentence)):
        call(tl.simulate(scenario))


def test_how_ranks_and_correlations_are_asked_for() -> None:
    runs = pl.DataFrame({"load": ["a", "a"], "tcp": ["x", "y"], "sent": [1.0, 2.0], "received": [2.0, 3.0]})
    with pytest.raises(tl.TightlinkError, match=r'^best = "biggest": expected "largest" or "smallest"$'):
        untyped.analyze.ranks(runs, condition="load", algorithm="tcp", best="biggest")
    with pytest.raises(
        tl.TightlinkError, match=r'^threshold = "x": expected a number from 0 to less than 1, or "gap"$'
    ):
        untyped.analyze.correlation(runs, ["sent", "received"], threshold="x")


def test_attributes_that_there_are_not_name_what_was_meant(scenario: tl.Scenario) -> None:
    meant = {
        "scenario.run": r"; did you mean tl\.simulate\(scenario\)\?$",
        "kind.load": r"^Scenario has no attribute 'load'; did you mean tl\.load\(path\)\?$",
        "kind.link_": r"^Scenario has no attribute 'link_'; did you mean \.link\?$",
        "scenario.links": r"^'Scenario' object has no attribute 'links'; did you mean \.link\?$",
        "scenario.traffic.ftp": r"^Scenario\.traffic has no attribute 'ftp'; did you mean Scenario\.traffic\[\"ftp\"\]\?$",
        "found.sql": r"^an experiment has no attribute 'sql'; did you mean \.connect\(\)\.sql\(\"from runs\"\)\?$",
        "found.flow": r"^an experiment has no attribute 'flow'; did you mean \.flows\?$",
    }
    names: dict[str, Any] = {"scenario": scenario, "kind": tl.Scenario, "found": tl.sweep(scenario, replications=2)}
    for text, sentence in meant.items():
        with pytest.raises(AttributeError, match=sentence):
            eval(text, names)
    with pytest.raises(
        tl.TightlinkError, match=r'^an experiment is not subscriptable; table\("flows"\) is one of its tab'
    ):
        names["found"]["flows"]
    with pytest.raises(tl.ScenarioError, match="CongestionControl: expected a control that is derived from"):
        untyped.evaluate([tl.CongestionControl])
    assert not hasattr(scenario, "links")
    assert pickle.loads(pickle.dumps(scenario)) == copy.deepcopy(scenario) == scenario


def test_an_error_within_a_function_is_not_one_of_its_call() -> None:
    @answered()
    def halve(number: Any) -> Any:
        return len(number) / 2

    with pytest.raises(TypeError, match=r"^object of type 'int' has no len\(\)$") as raised:
        halve(3)
    assert not isinstance(raised.value, tl.TightlinkError)


def test_warnings_are_of_the_line_that_calls(scenario: tl.Scenario) -> None:
    with pytest.warns(tl.TightlinkWarning) as warned:
        tl.sweep(scenario, {"traffic.ftp.start": ["0.1 s", "2 s"]})
    assert {warning.filename for warning in warned} == {__file__}
    assert len(warned) == 2


@pytest.mark.parametrize("value", [None, math.nan, math.inf])
def test_what_is_no_number_has_no_unit(value: Any) -> None:
    for name in ("rate", "packet_rate", "time", "size", "packets", "fraction"):
        with pytest.raises(tl.TightlinkError, match=r"^(none|nan|inf): expected a finite number$"):
            getattr(tl.units, f"format_{name}")(value)


def test_a_diagnosis_says_that_it_is_of_a_part(scenario: tl.Scenario) -> None:
    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    run = tl.simulate(scenario.set("duration", "10 h"), part=True, watch=interrupt)
    assert run.part is not None
    assert run.part.endswith(" s of 10 h")
    said = f"Of a part of the run only: it was interrupted after {run.part}."
    assert str(run.why()).splitlines()[-1] == said
    assert said in run.why("ftp")._repr_html_()
    assert run.why().to_dict()["part"] == run.part
    assert (tl.simulate(scenario).part, tl.simulate(scenario).why().part) == (None, None)


def test_messages_for_python_and_the_command_name_what_each_has() -> None:
    """An error below the commands names an argument and its option, or a whole command."""
    package = Path(tl.__file__).parent
    above = {"commands", "console.py", "cli.py", "entry.py"}
    option = re.compile("(?<![a-z-])--[a-z]")
    for file in package.rglob("*.py"):
        code = file.read_text("utf-8")
        if above.intersection(file.relative_to(package).parts) or not option.search(code):
            continue
        raised = (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Raise))
        texts = (each.value for node in raised for each in ast.walk(node) if isinstance(each, ast.Constant))
        for text in texts:
            if option.search(str(text)):
                assert re.search("or (add )?--|tightlink [a-z]", str(text)), (file, text)


class Halving(tl.CongestionControl):
    """A control that is a level."""

    def on_loss(self, loss: tl.Loss) -> float:
        return loss.in_use / 2


@pytest.mark.parametrize(
    ("key", "levels", "stored"),
    [
        ("traffic.ftp.flows", np.arange(1, 3), [1, 2]),
        ("traffic.ftp.flows", pl.Series([1, 2]), [1, 2]),
        ("traffic.ftp.tcp.congestion", [Halving, "cubic"], ["halving", "cubic"]),
        ("link.bottleneck.queue", [tl.DropTail(limit="9 packets")], ['{ kind = "drop-tail", limit = "9 packets" }']),
    ],
    ids=["numpy", "polars", "controls", "tables"],
)
def test_levels_are_stored_as_a_file_has_them(scenario: tl.Scenario, key: str, levels: Any, stored: list[Any]) -> None:
    found = untyped.sweep(scenario, {key: levels}, replications=np.int64(1))
    assert found.runs.collect()[key].to_list() == stored


def test_keys_are_given_by_name() -> None:
    with pytest.raises(TypeError, match=r"^Link takes its keys by name only, such as Link\(ends=…\)$"):
        untyped.Link("a", "b")
    with pytest.raises(TypeError, match=r"\(duration=…\); tl\.load\('a\.toml'\) reads one from its file$"):
        untyped.Scenario("a.toml")
    with pytest.raises(TypeError, match=r"\(ends=…\); Link\(\*\*table\) takes those of a table$"):
        untyped.Link({"ends": ("a", "b")})
    with pytest.raises(TypeError, match=r"^Red .* such as Red\(limit=…\)$"):
        untyped.Red("20 packets")


def test_a_scenario_is_not_changed_in_place(scenario: tl.Scenario) -> None:
    with pytest.raises(tl.TightlinkError, match=r"^Scenario.duration cannot be changed: scenario.set\(key, value\) "):
        scenario.duration = "2 s"  # type: ignore[misc]
    assert scenario.duration == "1 s"
    before = scenario.to_toml()
    changes: list[Callable[[], object]] = [
        lambda: scenario.traffic.update(scenario.traffic),
        lambda: scenario.link.pop("wire", None),
        lambda: scenario.link.__setitem__("x", untyped.Link(ends=("a", "b"), rate="1 Mbit/s")),
        scenario.traffic.clear,
    ]
    for change in changes:
        with pytest.raises(tl.TightlinkError, match=r"^Scenario\.(link|traffic) cannot be changed: scenario\.set"):
            change()
    assert scenario.to_toml() == before
    steps = [{"at": "0 s", "rate": "1 Mbit/s"}, {"at": "1 s", "rate": "2 Mbit/s"}]
    rate: Any = untyped.RateSchedule(schedule=steps)
    with pytest.raises(tl.TightlinkError, match=r"^RateSchedule.schedule cannot be changed"):
        rate.schedule.append(steps[0])


def test_copies_of_a_scenario_are_as_immutable(scenario: tl.Scenario) -> None:
    for copied in (pickle.loads(pickle.dumps(scenario)), copy.deepcopy(scenario)):  # of this test
        assert copied == scenario
        with pytest.raises(tl.TightlinkError, match="cannot be changed"):
            copied.traffic.clear()


def test_copies_of_a_scenario_keep_the_class_of_a_control(scenario: tl.Scenario) -> None:
    def given(share: float) -> tl.Scenario:
        class Keeping(tl.CongestionControl):
            def on_loss(self, loss: tl.Loss) -> float:
                return loss.in_use * share

        return scenario.set_all({"traffic.ftp.tcp.congestion": Keeping, "link.bottleneck.loss": 0.05})

    first, other = given(0.5), given(0.9)  # As a cell of a notebook does that is run again.
    meant = tl.simulate(first).manifest["digest"]
    assert tl.simulate(other).manifest["digest"] != meant
    for copied in (copy.copy(first), copy.deepcopy(first), pickle.loads(pickle.dumps(first))):  # of this test
        assert copied == first
        assert tl.simulate(copied).manifest["digest"] == meant


def test_a_class_of_a_control_is_its_name() -> None:
    assert tl.Tcp(congestion=Halving) == tl.Tcp(congestion="halving")


def test_levels_are_by_key(scenario: tl.Scenario) -> None:
    with pytest.raises(tl.TightlinkError, match="vary: expected levels by key"):
        untyped.sweep(scenario, [("traffic.ftp.flows", [1, 2])])


def test_results_are_found_wherever_python_works(
    scenario: tl.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    tl.simulate(scenario).save("run")
    run = tl.open_run("run")
    found = tl.sweep(scenario, {"traffic.ftp.flows": [1, 2]}, output="sweep")
    again = tl.experiment.open("sweep")
    monkeypatch.chdir("elsewhere")
    assert run.flows.height == 1
    for each in (found, again):
        assert each.run("1/0").flows.height == 2
        assert each.flows.collect().height == 3
        assert repr(each) == "<Experiment in sweep: 2 runs over traffic.ftp.flows>"


def test_a_sweep_has_means_with_intervals_and_writes_its_report(scenario: tl.Scenario, tmp_path: Path) -> None:
    noisy = scenario.set("link.bottleneck.loss", "1 %")
    found = tl.sweep(noisy, {"link.bottleneck.delay": ["10 ms", "20 ms"]}, replications=3)
    columns = ["cell", "link.bottleneck.delay", "runs", "goodput_bps"]
    assert found.summary.select("cell", *found.varied, "runs").rows() == [("0", "10 ms", 3), ("1", "20 ms", 3)]
    first = found.runs.collect().filter(pl.col("run").str.starts_with("0/"))["goodput_bps"]
    # Student's t of two degrees of freedom.
    half_width = 4.302653 * float(np.std(first.to_numpy(), ddof=1)) / 3**0.5
    row = found.summary.row(0, named=True)
    assert [row[name] for name in columns[2:]] == [3, pytest.approx(first.mean())]
    assert row["goodput_half_width_bps"] == pytest.approx(half_width)
    page = found.report(tmp_path / "delays.html").read_text(encoding="utf-8")
    assert "<title>Sweep delays" in page
    copies = tl.sweep(scenario, {"link.bottleneck.delay": ["10 ms"]}, replications=2).summary
    assert copies["goodput_half_width_bps"].to_list() == [None]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: untyped.Bulk(from_="a", to="b", tcp="bbr"), 'tcp = "bbr": expected a table; .*{"congestion": "bbr"}\\?'),
        (lambda: untyped.Bulk(src="a", to="b"), r"Bulk: src: .* one of kind, from_, to, .*; did you mean from_\?"),
        (lambda: untyped.Bulk(to="b"), "^Bulk: from_: this key is needed"),
        (lambda: untyped.Bulk(from_="a", to="b", congestion="bbr"), r'did you mean tcp={"congestion": …}\?'),
        (lambda: untyped.Bulk(from_="a", to="b", duration="1 s"), r"did you mean Scenario\(duration=…\)\?"),
        (lambda: untyped.Bulk(from_="a", to="b", path="w"), r'path = "w": expected a list; did you mean \["w"\]\?'),
        (lambda: untyped.Link(ends=("a", "b"), rate="1 Mbit/s", queue="codel"), r'did you mean {"kind": "codel"}\?'),
        (lambda: untyped.Tcp(pacing="yes"), r"did you mean True\?"),
        (lambda: untyped.Scenario(duration="1 s", link={"ends": ["a", "b"]}), 'for each, such as {"NAME": …}'),
        (lambda: untyped.Scenario(duration="1 s", observe="1 s"), 'observe = "1 s": .* mean {"interval": "1 s"}'),
        (lambda: untyped.Scenario(duration="1 s", link=[]), r"link = \[\]: expected a table of names, such as {\"a\": …}"),
        (lambda: untyped.simulate({"duration": "1 s"}), "not dict; tl.Scenario.from_dict makes one"),
        (lambda: untyped.simulate(tl.network("dsl"), threads="2"), 'threads = "2": expected a whole number'),
        (lambda: untyped.simulate(tl.network("dsl"), trace="x.tr"), 'trace = "x.tr": expected True or False; tr and pcap'),
        (lambda: tl.simulate(tl.network("dsl"), seed=-1), "^seed = -1: expected a whole number from 0"),
        (lambda: tl.network("dsl").set("x", 1), "^set: x: unknown key"),
        (lambda: tl.sweep(tl.network("dsl"), replications=1), "^vary: expected .*, or 2 replications at least$"),
        (lambda: tl.sweep(tl.network("dsl"), {"x": [1, 2]}), "^vary: x: unknown key"),
        (lambda: tl.sweep(tl.network("dsl"), {"seed": [1, 2]}, precision="x"), '^precision = "x": expected metric=SHARE'),
        (lambda: tl.sweep(tl.network("dsl"), {"seed": [1, 2]}, output=""), '^output = "": expected the name of a file'),
        (lambda: untyped.sweep(tl.network("dsl"), {"seed": [1, 2]}, jobs="2"), '^jobs = "2": expected a whole number'),
        (lambda: untyped.sweep(tl.network("dsl"), {"seed": [1, 2]}, jobs=1.5), "^jobs = 1.5: expected a whole number"),
        (lambda: untyped.sweep(tl.network("dsl"), {"seed": [1, 2]}, watch=5), "^watch = 5: expected a function"),
        (lambda: untyped.simulate(tl.network("dsl"), watch=5), "^watch = 5: expected a function"),
        (lambda: untyped.capture("x.pcap", watch=5), "^watch = 5: expected a function"),
        (lambda: tl.Tcp(congestion=tl.CongestionControl), "^Tcp: congestion = .*: expected the name of a congestion"),
        (lambda: untyped.simulate(tl.network("dsl"), watch=lambda: None), "^watch = .*: expected a function of one argument"),
        (lambda: untyped.simulate(tl.network("dsl"), part="x"), '^part = "x": expected True or False'),
        (lambda: untyped.simulate(tl.network("dsl"), pcap="x.pcap", pcap_at=[1]), "^pcap_at = 1: expected text"),
        (lambda: untyped.simulate(tl.network("dsl"), tr=5), "^tr = 5: expected the name of a file"),
        (lambda: untyped.network("dsl").set(5, 1), "^key = 5: expected a dotted key"),
        (lambda: untyped.network("dsl").set_all(["seed"]), r'^changes = \["seed"\]: expected a table'),
        (lambda: untyped.Scenario.from_dict(None), "^data = none: expected a table"),
        (lambda: untyped.load(None), "^path = none: expected the name of a file"),
        (lambda: untyped.open_run(3), "^folder = 3: expected the name of a file or a folder"),
        (lambda: untyped.study(5), "^study = 5: expected the name"),
        (lambda: untyped.sweep(tl.network("dsl"), {5: [1, 2]}), "^vary = 5: expected a list"),
        (lambda: untyped.sweep(tl.network("dsl"), {"link.access.queue": tl.Codel()}), "queue = .*: expected a list of levels"),
        (lambda: untyped.evaluate(None), "^those = none: expected a list"),
        (lambda: untyped.evaluate([5]), '^controls = 5: expected a name, such as "cubic"'),
        (lambda: untyped.capture("x.pcap", connections="5"), '^connections = "5": expected a whole number of at least 2'),
        (lambda: untyped.capture("x.pcap", only=443), "^only = 443: expected an address, a port"),
        (lambda: untyped.loads(b"seed = 1"), "^expected text, not bytes"),
        (lambda: tl.capture("no.pcap"), "^no.pcap: cannot be read: no such file or directory"),
        (lambda: tl.simulate(tl.network("dsl").set("duration", "0.1 s")).report("x.pdf"), "^x.pdf: .* ends in .html"),
        (lambda: untyped.compare(tl.loads('duration = "1 s"'), "a"), "expected a run, .* of one, not Scenario"),
        (lambda: untyped.evaluate("bbr"), r"expected a list, such as \['bbr'\]"),
        (lambda: untyped.evaluate(["bbr"], tests="ramp-up"), r"expected a list, such as \['ramp-up'\]"),
        (lambda: tl.plots.save(tl.plots.line(pl.DataFrame({"a": [1], "b": [1]}), "a", "b"), "x", "b.pdf"), "an ending"),
    ],
)  # fmt: skip
def test_what_was_meant_is_said(make: Callable[[], object], message: str) -> None:
    with pytest.raises(tl.TightlinkError, match=message):
        make()


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda run, _: run.why(3), "^flow = 3: expected the name of a flow"),
        (lambda run, _: run.plot(3), "^metric = 3: expected text"),
        (lambda run, _: run.save(None), "^folder = none: expected the name of a file or a folder"),
        (lambda run, _: untyped.plots.write(run.plot(), None), "^path = none: expected the name of a file"),
        (lambda run, _: untyped.compare(run, run, pairs=["ftp"]), r'^pairs = \["ftp"\]: expected a table'),
        (lambda run, _: tl.compare(run, run).of("flow", "goodput_bps"), "^the two have no table 'flow' .*; did you mean flows"),
        (lambda run, _: tl.compare(run, run).of("flows", "goodput"), "no metric 'goodput' .* did you mean goodput_bps"),
        (lambda _, found: found.run(0), '^run = 0: expected the name of a run, such as "0/0"'),
        (lambda _, found: found.connect("flows"), r"^tables = .*: expected a list, such as \['flows'\]"),
        (lambda _, found: found.series, "sweep: no run has a table series: set observe.interval, such as"),
        (lambda _, found: found.table("packets"), "no run has a table packets: simulate with trace=True, or --trace"),
        (lambda _, found: found.connect(["flow"]), '^no table is called "flow"; there are runs, flows'),
    ],
)  # fmt: skip
def test_questions_that_make_no_sense_are_told(
    ask: Callable[[Any, Any], object], message: str, scenario: tl.Scenario, tmp_path: Path
) -> None:
    run, found = tl.simulate(scenario), tl.sweep(scenario, {"seed": [1, 2]}, output=tmp_path / "sweep")
    with pytest.raises(tl.TightlinkError, match=message):
        ask(run, found)


def test_arguments_may_be_numbers_of_numpy(scenario: tl.Scenario, tmp_path: Path) -> None:
    run = untyped.simulate(scenario, threads=np.int64(1), trace=np.True_, pcap=tmp_path / "run.pcap")
    assert "packets" in run.tables
    assert "packets" in untyped.capture(tmp_path / "run.pcap", connections=np.int64(5), packets=np.True_).tables
    found = untyped.sweep(scenario, {"traffic.ftp.flows": [1, 2]}, jobs=np.int64(2), replications=np.int64(1))
    assert found.runs.collect().height == 2


def test_flows_links_and_nodes_in_one_table_have_names_that_differ(scenario: tl.Scenario) -> None:
    data = scenario.written()
    twice = tl.Scenario.from_dict(data | {"traffic": {"bottleneck": data["traffic"]["ftp"]}})
    said = (
        r"traffic\.bottleneck: link\.bottleneck has the same name, by which the table delays tells them apart: name one"
    )
    with pytest.raises(tl.ScenarioError, match=said):
        twice.set("observe", {"delays": True})
    run = tl.simulate(twice)
    with pytest.raises(tl.TightlinkError, match="this run has no table delays"):
        tl.plots.delays(run)
    routed = tl.Scenario.from_dict(data | {"node": {"bottleneck": {"processor": {"per_packet": "1 us"}}}})
    with pytest.raises(tl.ScenarioError, match=r"node\.bottleneck: .* the table series tells them apart"):
        routed.set("observe.interval", "1 s")


def test_a_run_whose_folder_is_gone_says_so(scenario: tl.Scenario, tmp_path: Path) -> None:
    run = tl.open_run(tl.simulate(scenario).save(tmp_path / "run"))
    (tmp_path / "run").rename(tmp_path / "elsewhere")
    with pytest.raises(tl.TightlinkError, match=r"flows\.parquet: is not there any more"):
        _ = run.flows
    with pytest.raises(tl.TightlinkError, match=r"; it holds a run, which tl.open_run opens$"):
        tl.experiment.open(tmp_path / "elsewhere")


def test_copies_have_no_interval_in_comparisons(scenario: tl.Scenario) -> None:
    vary = {"link.bottleneck.delay": ["10 ms", "20 ms"]}
    copies = tl.sweep(scenario, vary, replications=2)
    noisy = tl.sweep(scenario.set("link.bottleneck.loss", "1 %"), vary, replications=2)
    widths = ["first_half_width", "second_half_width", "difference_half_width"]
    same = tl.compare(copies, copies)
    assert same.values.select(widths).null_count().row(0) == (same.values.height,) * 3
    assert same.notes[0].startswith("first: nothing random changes any combination: their replications are copies")
    found = tl.compare(copies, noisy).of("runs", "goodput_bps")
    beside = tl.compare(copies, noisy).values.filter(metric="goodput_bps")
    assert found.height == 2
    assert beside.select(widths).null_count().row(0) == (2, 0, 0)


def test_classes_are_written_as_tables_with_what_was_set(scenario: tl.Scenario) -> None:
    found = tl.sweep(scenario, {"link.bottleneck.queue": [tl.Codel(), tl.Codel(target="4 ms")]})
    levels = found.runs.collect()["link.bottleneck.queue"].to_list()
    assert levels == ['{ kind = "codel" }', '{ kind = "codel", target = "4 ms" }']
    with pytest.raises(tl.ScenarioError, match="expected levels that differ"):
        tl.sweep(scenario, {"link.bottleneck.queue": [tl.Codel(), {"kind": "codel"}]})
    queues = tl.studies.evaluation.setup.subjects.subjects([tl.Codel(target="4 ms")], "queue")
    assert [each.label for each in queues] == ["codel:target=4 ms"]


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda table: tl.plots.line(table, "goodput", "runs"), "no column goodput: .* did you mean goodput_bps"),
        (lambda table: tl.plots.line(table, "queue", "goodput_bps"), "^queue: expected a column of numbers$"),
        (lambda table: untyped.plots.cdf(table.lazy(), "queue"), r"of polars, .* table.collect\(\), .*, not polars.LazyFrame"),
        (lambda table: untyped.analyze.main_effects(dict(table), ["queue"], ["goodput_bps"]), "not builtins.dict"),
        (lambda table: untyped.analyze.pca(table.lazy(), ["queue"]), "not polars.LazyFrame"),
    ],
)  # fmt: skip
def test_tables_that_do_not_fit_are_told(draw: Callable[[pl.DataFrame], object], message: str) -> None:
    with pytest.raises(tl.TightlinkError, match=message):
        draw(pl.DataFrame({"queue": ["1 BDP", "2 BDP"], "goodput_bps": [1.0, 2.0], "runs": [1, 1]}))


def test_methods_that_are_never_called_are_refused() -> None:
    with pytest.raises(TypeError, match=r"^Late\.on_reports is never called: .*; did you mean on_report\?$"):
        type("Late", (tl.CongestionControl,), {"on_reports": lambda _, __: None})


def test_traffic_is_added_and_taken_away(scenario: tl.Scenario) -> None:
    more = scenario.set("traffic.call", tl.Cbr(from_="sender", to="receiver", rate="64 kbit/s"))
    assert [*more.traffic] == ["ftp", "call"]
    assert more.set("traffic.call", None) == scenario
    with pytest.raises(tl.ScenarioError, match='there is no traffic "fpt"'):
        scenario.set("traffic.fpt.flows", 2)


def test_runs_go_to_other_processes(scenario: tl.Scenario, tmp_path: Path) -> None:
    run = tl.simulate(scenario)
    saved = tl.open_run(run.save(tmp_path / "run"))
    for each in (run, saved):
        again = pickle.loads(pickle.dumps(each))
        assert again.flows.equals(run.flows)
        assert again.scenario == scenario
        assert again.manifest == each.manifest


@pytest.mark.skipif(sys.platform != "linux", reason="/proc can be written to elsewhere, or is not there")
def test_a_folder_that_cannot_be_written_is_named(scenario: tl.Scenario) -> None:
    with pytest.raises(OSError, match=r"'/proc/run'$"):
        tl.simulate(scenario).save("/proc/run")


def test_a_temporary_folder_goes_with_python_and_is_not_said_to_be_kept(
    scenario: tl.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    taken: list[Callable[[], object]] = []
    monkeypatch.setattr(atexit, "register", lambda *given, **named: taken.append(partial(*given, **named)))

    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    for output, said in ((None, ""), (tmp_path / "kept", "the same command, or call, continues")):
        with pytest.raises(KeyboardInterrupt) as caught:
            tl.sweep(scenario, {"traffic.ftp.flows": [1, 2]}, output=output, watch=interrupt)
        assert said in str(caught.value)
        assert bool(said) is bool(str(caught.value))
    for take in taken:
        take()
    assert [each.name for each in tmp_path.iterdir()] == ["kept"]


def test_what_completes_is_what_there_is_to_use(scenario: tl.Scenario) -> None:
    assert {"set", "to_toml", "link"} < set(dir(scenario))
    for name in (*dir(scenario), *dir(tl.Link)):
        assert not re.match("model_|__pydantic_", name)
        assert name not in {"copy", "json", "parse_obj"}
    assert dir(tl.plots) == sorted(tl.plots.__all__)
    assert dir(tl.experiment) == ["Experiment", "open", "sweep"]


def test_what_set_proposes_is_written_in_python(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    base = tl.network("dsl").set("duration", "1 s")
    with pytest.raises(tl.ScenarioError, match=r'; did you mean \{"kind": "codel"\}\?$'):
        base.set("link.access.queue", "codel")
    with pytest.raises(tl.ScenarioError, match=r'congestion = \{"beta": 0\.3, "on": True\}: expected the name'):
        base.set("traffic.download.tcp.congestion", {"beta": 0.3, "on": True})
    # The command, and a file, have TOML.
    file = tmp_path / "base.toml"
    file.write_text(base.to_toml(), encoding="utf-8")
    assert cli.main(["run", str(file), "--set", "link.access.queue=codel"]) == 2
    assert 'did you mean { kind = "codel" }?' in capsys.readouterr().err
    file.write_text(file.read_text(encoding="utf-8") + '[link.other]\nends = ["a", "b"]\nqueue = "codel"\n')
    with pytest.raises(
        tl.ScenarioError, match=r'^.*base.toml: link.other.queue .* did you mean \{ kind = "codel" \}\?$'
    ):
        tl.load(file)


def test_an_option_of_any_size_is_a_number() -> None:
    class Bounded(tl.CongestionControl):
        def __init__(self, share: float = 0.125) -> None:
            self.share = share

    base = tl.network("dsl").set("duration", "1 s")
    with pytest.raises(tl.ScenarioError, match=r"congestion\.share = True: expected a number, such as 0\.125$"):
        base.set("traffic.download.tcp.congestion", {"kind": "bounded", "share": True}).resolve()


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ('run.plot("x.png")', 'plot: "x.png" is no metric; tl.plots.write(run.plot(), "x.png") writes a picture'),
        ('run.plot(Path("x.jpg"))', 'plot: "x.jpg" is no metric; tl.plots.write(run.plot(), "x.png") writes a picture'),
        ("run.flow", "a run has no attribute 'flow'; did you mean run.flows?"),
        ("run.goodput", """a run has no attribute 'goodput'; did you mean run.flows["goodput_bps"]?"""),
        ("run.connection", """a run has no attribute 'connection'; did you mean run.table("connections")?"""),
        ('run.table("flow")', 'no table is called "flow"; there are flows, links, nodes; did you mean flows?'),
        ('tl.loads("one-flow.toml")', "text: expected the TOML text of a scenario; tl.load('one-flow.toml') reads"),
        ('tl.loads(Path("one-flow.toml"))', "text: expected the TOML text of a scenario; tl.load('one-flow.toml') rea"),
        ('tl.network("4G")', 'wifi, transatlantic, rack; did you mean "lte"?'),
        ('tl.network("starlink")', 'wifi, transatlantic, rack; did you mean "leo"?'),
        (
            'tl.analyze.correlation(run.flows, "goodput_bps")',
            'expected a list of columns, such as ["goodput_bps"], not',
        ),
    ],
)
def test_what_is_typed_wrongly_is_told_what_was_meant(scenario: tl.Scenario, typed: str, meant: str) -> None:
    with pytest.raises((tl.TightlinkError, AttributeError), match=re.escape(meant)):
        eval(typed, {"run": tl.simulate(scenario), "tl": tl, "Path": Path})


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("left[0]", "net.left[0]"), ("left1", "net.left[1]"), ("net.left.1", "net.left[1]"), ("Net.Left[1]", "net.left[1]"),
        ("left", "net.left[*]"), ("left[7]", "net.left[*]"), ("net.left[]", "net.left[*]"),
        ("left" + 5000 * "9", "net.left[*]"), ("gatway", "gateway"),
    ],
)  # fmt: skip
def test_a_node_that_is_none_is_told_which_was_meant(name: str, meant: str) -> None:
    text = f"""
    duration = "1 s"
    topology.net = {{ kind = "dumbbell", pairs = 2, bottleneck = {{ rate = "5 Mbit/s", delay = "1 ms" }}, access.rate = "9 Mbit/s" }}
    link.gate = {{ ends = ["gateway", "net.left_router"], rate = "2 Mbit/s" }}
    traffic.x = {{ kind = "bulk", from = "{name}", to = "net.right[1]" }}
    """
    with pytest.raises(tl.ScenarioError) as raised:
        tl.loads(text).resolve()
    assert raised.value.suggestion == f'"{meant}"'
