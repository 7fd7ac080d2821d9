"""The package as notebooks and editors see it: what completes, what help says, how things look, what other tools read."""

from __future__ import annotations

import ast
import inspect
import json
import pydoc
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import altair as alt
import numpy as np
import polars as pl
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import tightlink as tl
from tightlink import cli
from tightlink.experiment.designs import KINDS
from tightlink.run import Framed
from tightlink.scenario.described import tables_in
from tightlink.scenario.drawing import MOST_NODES, drawing
from tightlink.scenario.networks import networks
from tightlink.scenario.table import Table

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

TABLES = sorted(
    (thing for name in tl.__all__ if isinstance(thing := getattr(tl, name), type) and issubclass(thing, Table)),
    key=lambda table: table.__name__,
)


@pytest.fixture
def run(one_flow: str) -> tl.Run:
    return tl.simulate(tl.loads(one_flow).set_all({"observe.interval": "100 ms", "duration": "2 s"}))


def test_the_package_completes_what_there_is() -> None:
    names = dir(tl)
    assert {"plots", "report", "study", "sweep", "compare", "analyze", "simulate", "Run", "Link"} <= set(names)
    assert all(hasattr(tl, name) for name in names)
    # What the package imports for itself is nothing that a user looks for.
    assert not {"Any", "Final", "importlib", "sys", "TYPE_CHECKING", "annotations"} & set(names)


def test_what_the_package_offers_is_seen_without_running_it() -> None:
    """By type checkers, editors and the documentation site: what is looked up late is imported for them."""
    tree = ast.parse(inspect.getsource(tl))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    seen = {alias.asname or alias.name for node in imports for alias in node.names}
    assert "*" in seen
    assert set(tl.__all__) <= seen | set(tl.scenario.__all__)


def test_analyses_complete_and_are_those_of_their_modules() -> None:
    assert dir(tl.analyze) == sorted(tl.analyze.__all__)
    assert all(callable(getattr(tl.analyze, name)) for name in dir(tl.analyze))
    named = set(re.findall(r"`(\w+)`", str(tl.analyze.__doc__)))
    assert named == set(tl.analyze.__all__)
    with pytest.raises(AttributeError, match="no attribute 'pcb'; did you mean pca"):
        tl.analyze.pcb  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize(
    ("place", "name"),
    [
        (place, name)
        for place in (tl, tl.analyze, tl.plots)
        for name in place.__all__
        if inspect.isfunction(getattr(place, name))
    ],
)
def test_each_function_has_an_example_and_tells_its_arguments(place: ModuleType, name: str) -> None:
    function = getattr(place, name)
    told = inspect.getdoc(function) or ""
    assert ">>>" in told
    assert all(f"\n    {parameter}: " in told for parameter in inspect.signature(function).parameters)
    assert "Raises:" in told or "raise " not in inspect.getsource(function)


def test_importing_the_package_loads_none_of_it() -> None:
    said = subprocess.run(
        [sys.executable, "-c", "import sys, tightlink; dir(tightlink); print(*sys.modules)"],
        capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    assert not {"polars", "matplotlib", "pydantic", "scipy", "tightlink.analyze"} & set(said)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: str(table.__name__))
def test_help_has_each_key_with_its_meaning(table: type[Table]) -> None:
    text = re.sub(".\b", "", pydoc.render_doc(table))
    top = text[: text.index("Method resolution order")]
    assert "Validator" not in top
    assert "Annotated" not in top
    # What pydantic gives each model is nothing that a user looks for.
    assert not re.search(r"\b(__pydantic|model_)\w+", text)
    for name, field in table.model_fields.items():
        if name != "kind":
            said = re.search(rf"^ \|      {name} \(([^\n]+)\): (.+)$", top, re.MULTILINE)
            assert said, name
            assert len(said[2].split()) > 1, said[0]
            assert not field.is_required() or said[2].endswith("required."), said[0]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: str(table.__name__))
def test_tables_of_tables_are_public(table: type[Table]) -> None:
    """Who checks types writes what a key takes as an object, not as a dictionary."""
    for field in table.model_fields.values():
        below = (getattr(each, "__origin__", each) for each in tables_in(field.annotation, named=True))
        assert set(below) <= set(TABLES)


def test_help_shows_units() -> None:
    tables = "RateSchedule | RateTrace | RateTable | AggregatingRate | RandomWalk | Markov | OrnsteinUhlenbeck"
    told = f'rate (str | {tables}, such as "2 Mbit/s" or "20 packets/ms"): Transmission rate'
    assert told in str(tl.Link.__doc__)
    assert list(inspect.signature(tl.Link).parameters)[:4] == ["ends", "network", "rate", "delay"]
    assert inspect.signature(tl.Bulk).parameters["from_"].annotation is str


def test_the_schema_describes_tables_without_repeating_their_keys() -> None:
    described = tl.Scenario.json_schema()["$defs"]["Framing"]["description"]
    assert described == "What the link layer adds to each packet: it costs time on the line, no byte total counts it."


def test_a_scenario_looks_as_it_is_written() -> None:
    link = tl.Link(ends=("a", "b"), rate="2Mbps", queue=tl.Codel(limit="20 packets"))
    assert repr(link) == "Link(ends=('a', 'b'), rate='2 Mbit/s', queue=Codel(limit='20 packets'))"
    scenario = tl.Scenario(duration="1 s", link={"wire": link}, traffic={"ftp": tl.Bulk(from_="a", to="b")})
    assert "None" not in repr(scenario)
    assert eval(repr(scenario), {name: getattr(tl, name) for name in tl.__all__}) == scenario


def _circles(text: str) -> list[str]:
    picture = ET.fromstring(text)
    space = "{http://www.w3.org/2000/svg}"
    return [str(circle.findtext(f"{space}title")) for circle in picture.iter(f"{space}circle")]


def test_the_network_is_drawn_with_its_groups_as_one() -> None:
    scenario = tl.loads("""
duration = "1 s"
traffic.ftp = { kind = "bulk", from = "net.left[*]", to = "net.right[*]", flows = 50 }
[topology.net]
kind = "dumbbell"
pairs = 50
bottleneck = { rate = "2 Mbit/s", delay = "10 ms" }
access = { rate = "9 Mbit/s", delay = "1 ms" }
""")
    text = drawing(scenario.resolve())
    assert sorted(_circles(text)) == [
        "net.left[0] … 49", "net.left_router", "net.right[0] … 49", "net.right_router"
    ]  # fmt: skip
    assert text.count("#d55e00") == 1, "the bottleneck, and no other line, is marked"
    assert "2 Mbit/s, 10 ms" in text
    assert text in scenario._repr_html_()


def test_a_large_network_is_counted_instead() -> None:
    links = {f"l{i}": tl.Link(ends=(f"n{i}", f"n{i + 1}"), rate="1 Mbit/s") for i in range(MOST_NODES)}
    scenario = tl.Scenario(duration="1 s", link=links, traffic={"ftp": tl.Bulk(from_="n0", to="n1")})
    assert drawing(scenario.resolve()) == f"<p>A network of {MOST_NODES + 1} nodes and {MOST_NODES} links.</p>"


def test_a_scenario_that_is_not_complete_says_so_in_a_notebook() -> None:
    assert "<b>Not complete:</b> traffic: expected" in tl.Scenario(duration="1 s")._repr_html_()


def test_a_run_is_drawn(run: tl.Run) -> None:
    figure = run.plot()
    assert isinstance(figure, Figure)
    titles = [ax.get_ylabel().replace("\n", " ") for ax in figure.axes]
    assert titles == ["throughput (Mbit/s)", "cong. window (packets)", "queue (packets)"]
    highest = max(np.asarray(line.get_ydata(), dtype=float).max() for line in figure.axes[2].lines)
    assert highest == run.series.filter(pl.col("metric") == "queue_packets")["value"].max()
    single = run.plot("queue_packets", "bottleneck")
    assert isinstance(single, Axes)
    with pytest.raises(tl.TightlinkError, match='no series of the metric "queue"'):
        run.plot("queue")
    with pytest.raises(tl.TightlinkError, match="expected its metric"):
        run.plot(entity="bottleneck")  # type: ignore[call-overload]


def test_a_part_of_a_run_without_series_shows_what_limited_it(one_flow: str) -> None:
    run = tl.simulate(tl.loads(one_flow))
    tables = Framed({name: run.table(name) for name in run.tables})
    (ax,) = tl.Run(run.scenario, {**run.manifest, "part_until_s": 5.0}, tables).plot().axes
    assert ax.get_xlabel() == "share of the time (%)"


def test_of_many_flows_some_are_drawn_from_the_slowest_to_the_fastest(dumbbell: str) -> None:
    run = tl.simulate(tl.loads(dumbbell).set_all({"observe.interval": "50 ms", "duration": "1.5 s"}))
    figure = run.plot()
    drawn = {str(line.get_label()) for line in figure.axes[0].lines}
    ranked = run.flows.sort("goodput_bps", maintain_order=True)["label"]
    assert figure.axes[0].get_title(loc="right") == f"{len(drawn)} of {run.flows.height} flows"
    assert {ranked[0], ranked[-1]} <= drawn


def test_a_run_writes_its_report(run: tl.Run, tmp_path: Path) -> None:
    file = run.report(tmp_path / "ftp.html")
    text = file.read_text(encoding="utf-8")
    assert "Run ftp" in text
    assert "Over time" in text
    # The same as the command makes of the folder.
    run.save(tmp_path / "ftp")
    assert "Over time" in tl.report.run_report(tmp_path / "ftp").read_text(encoding="utf-8")


def test_parameters_are_called_alike_in_plots_and_charts() -> None:
    from tightlink.report import charts

    def named(function: object) -> list[str]:
        return list(inspect.signature(function).parameters)  # type: ignore[arg-type]

    assert named(tl.plots.line)[:4] == named(charts.line)[:4] == ["frame", "x", "y", "by"]
    assert named(tl.plots.cdf)[:3] == named(charts.distribution)[:3] == ["frame", "x", "by"]
    assert named(tl.plots.scatter_with_curves)[:4] == named(charts.points)[:4]


def test_other_libraries_read_tables_through_arrow(run: tl.Run) -> None:
    class Stream:
        """All that Arrow's PyCapsule interface asks of a table."""

        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return run.flows.__arrow_c_stream__(requested_schema)

    assert pl.DataFrame(Stream()).equals(run.flows)
    chart = alt.Chart(run.flows).mark_bar().encode(x="goodput_bps:Q", y="label:N")
    ((row,),) = chart.to_dict()["datasets"].values()
    assert row["goodput_bps"] == run.flows["goodput_bps"][0]


def test_tables_become_frames_of_pandas_and_tables_of_arrow(run: tl.Run) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed (pip install pandas pyarrow)")
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed (pip install pandas pyarrow)")
    frame = run.flows.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["goodput_bps"].tolist() == run.flows["goodput_bps"].to_list()
    assert arrow.table(run.flows).num_rows == run.flows.height
    assert run.flows.to_arrow().column_names == run.flows.columns
    interchanged = pandas.api.interchange.from_dataframe(run.links)
    assert interchanged["link"].tolist() == run.links["link"].to_list()


def test_run_draws_and_reports(one_flow: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.toml").write_text(one_flow, encoding="utf-8")
    words = ["run", str(tmp_path / "a.toml"), "--set", "duration=2 s"]
    assert cli.main([*words, "--report", str(tmp_path / "r.html"), "--plot", str(tmp_path / "f.svg")]) == 0
    assert (tmp_path / "f.svg").read_text(encoding="utf-8").startswith("<?xml")
    assert "Why is it slow?" in (tmp_path / "r.html").read_text(encoding="utf-8")
    capsys.readouterr()
    assert cli.main([*words, "--plot", str(tmp_path / "f.gif")]) == 2
    assert "expected a file that ends in .svg, .png, .pdf" in capsys.readouterr().err


def test_validate_names_every_wrong_file(one_flow: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad, worse = (tmp_path / name for name in ("good.toml", "bad.toml", "worse.toml"))
    good.write_text(one_flow, encoding="utf-8")
    bad.write_text(one_flow.replace("2 Mbit/s", "2 mbps"), encoding="utf-8")
    worse.write_text(one_flow.replace('to = "receiver"', 'to = "reciever"'), encoding="utf-8")
    assert cli.main(["validate", str(good)]) == 0
    assert capsys.readouterr().out == f"{good}: valid: 2 nodes, 2 links, 1 flow, 10 s\n"
    assert cli.main(["validate", str(bad), str(good), str(worse)]) == 2
    said = capsys.readouterr()
    assert f"{good}: valid" in said.out
    assert 'did you mean "2 Mbit/s"?' in said.err
    assert 'did you mean "receiver"?' in said.err
    assert cli.main(["validate", str(bad), str(good), "--json"]) == 2
    wrong, right = json.loads(capsys.readouterr().out)
    assert (wrong["file"], wrong["valid"], wrong["errors"][0]["key"]) == (str(bad), False, "link.bottleneck.rate")
    assert right == {
        "file": str(good), "valid": True, "errors": [], "warnings": [], "nodes": 2, "links": 2, "flows": 1,
        "duration_s": 10.0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            "traffic.ftp.tcp.congestion=bbr",
            'recovery = "reno": expected "sack" or "rack" with bbr, which samples the rate',
        ),
        ("traffic.ftp.tcp.recovery=rack", 'recovery = "rack": profile ns2 has no such recovery'),
    ],
)
def test_validate_refuses_what_run_refuses(
    change: str, said: str, one_flow: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What only the engine sees, too."""
    file = tmp_path / "a.toml"
    file.write_text(one_flow, encoding="utf-8")
    for command in ("run", "validate"):
        assert cli.main([command, str(file), "--set", change]) == 2
        assert said in capsys.readouterr().err


def test_what_a_profile_has_is_told_to_be_its() -> None:
    dsl = tl.network("dsl").set_all({"profile": "ns2", "traffic.download.tcp.congestion": "bbr"})
    with pytest.raises(tl.ScenarioError, match=r'recovery = "reno": .*; this is what profile ns2 has$'):
        tl.simulate(dsl)
    with pytest.raises(tl.ScenarioError, match=r"deliveries$"):
        tl.simulate(dsl.set("traffic.download.tcp.recovery", "reno"))


def test_the_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == tl.Scenario.json_schema()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands_and_options(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(word in script for word in ("validate", "sweep", "show-config", "saturation"))
    assert all(name in script for name in (*KINDS, *networks(), "link-saturation"))
    if shell == "bash":
        subprocess.run(["bash", "-n"], input=script, text=True, check=True)


def test_a_scenario_is_no_file() -> None:
    """Who gives the name of a file is told how it is read."""
    for call in (tl.simulate, tl.sweep):
        with pytest.raises(tl.TightlinkError, match=r"not str; tl\.load\('my\.toml'\) reads one"):
            call("my.toml")  # type: ignore[arg-type]


def test_a_prompt_shows_what_is_said(one_flow: str) -> None:
    """What one types at Python's prompt prints sentences and tables, not the fields that they are made of."""
    base = tl.loads(one_flow).set("duration", "1 s")
    runs = tl.simulate(base), tl.simulate(base.set("link.bottleneck.queue", "5 packets"))
    why = runs[0].why()
    assert repr(why) == str(why)
    assert str(base).startswith("Scenario(")
    shown = repr(tl.compare(*runs)).splitlines()
    assert shown[0].split() == ["scenario", "first", "second"]
    assert any(line.startswith("goodput, all flows") for line in shown)


def test_a_misspelled_name_is_told() -> None:
    with pytest.raises(AttributeError, match=r"did you mean tl\.simulate"):
        tl.simulat  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(AttributeError, match=r"'run'; did you mean tl\.simulate"):
        tl.run  # noqa: B018
