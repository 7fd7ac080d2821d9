"""Calls and arguments that Python, or Tightlink, refuses: one sentence says what to write."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import tightlink as tl
from tightlink.calls import answered

if TYPE_CHECKING:
    from collections.abc import Callable


#: The package without its types, of which the tests are that values of other types are taken or refused in a sentence.
untyped: Any = tl


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


def test_an_error_within_a_function_is_not_one_of_its_call() -> None:
    @answered()
    def halve(number: Any) -> Any:
        return len(number) / 2

    with pytest.raises(TypeError, match=r"^object of type 'int' has no len\(\)$") as raised:
        halve(3)
    assert not isinstance(raised.value, tl.TightlinkError)


@pytest.mark.parametrize("value", [None, math.nan, math.inf])
def test_what_is_no_number_has_no_unit(value: Any) -> None:
    for name in ("rate", "packet_rate", "time", "size", "packets", "fraction"):
        with pytest.raises(tl.TightlinkError, match=r"^(none|nan|inf): expected a finite number$"):
            getattr(tl.units, f"format_{name}")(value)


def test_keys_are_given_by_name() -> None:
    with pytest.raises(TypeError, match=r"^Link takes its keys by name only, such as Link\(ends=…\)$"):
        untyped.Link("a", "b")
    with pytest.raises(TypeError, match=r"\(duration=…\); tl\.load\('a\.toml'\) reads one from its file$"):
        untyped.Scenario("a.toml")
    with pytest.raises(TypeError, match=r"\(ends=…\); Link\(\*\*table\) takes those of a table$"):
        untyped.Link({"ends": ("a", "b")})
    with pytest.raises(TypeError, match=r"^Red .* such as Red\(limit=…\)$"):
        untyped.Red("20 packets")


def test_levels_are_by_key(scenario: tl.Scenario) -> None:
    with pytest.raises(tl.TightlinkError, match="vary: expected levels by key"):
        untyped.sweep(scenario, [("traffic.ftp.flows", [1, 2])])


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
