"""Names that are typed in Python: what completes, and what was meant by one that there is not."""

from __future__ import annotations

import ast
import copy
import pickle
import re
from pathlib import Path
from typing import Any

import pytest

import tightlink as tl
from tightlink import cli

#: The package without its types, of which the tests are that values of other types are taken or refused in a sentence.
untyped: Any = tl


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


def test_methods_that_are_never_called_are_refused() -> None:
    with pytest.raises(TypeError, match=r"^Late\.on_reports is never called: .*; did you mean on_report\?$"):
        type("Late", (tl.CongestionControl,), {"on_reports": lambda _, __: None})


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
