"""Keys of open-loop transfers: sizes of a file, and mistakes in one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tightlink as tl
from tightlink.cli import main
from transfer_scenarios import ALONE, TREE, flows_of


def test_sizes_come_from_a_file_beside_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "sizes.csv").write_text("# measured\nbytes,cumulative_share\n1000,0.5\n\n9000,1\n", encoding="utf-8")
    file = tmp_path / "a.toml"
    file.write_text(TREE.replace('{ distribution = "pareto", mean = "200 kB" }', '{ file = "sizes.csv" }'))
    scenario = tl.load(file).set("traffic.web.load", 0.01)
    sizes = [flow["traffic"]["bytes"] for flow in flows_of(scenario)]
    assert min(sizes) == 1000
    assert max(sizes) <= 9000
    # What is stored needs no other file.
    again = tl.loads(scenario.to_toml())
    assert "sizes.csv" not in scenario.to_toml()
    assert tl.simulate(again).manifest["digest"] == tl.simulate(scenario).manifest["digest"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("1000,0.5\nx,1\n", "a whole number of bytes and a share from 0 to 1, not 'x,1' in line 2"),
        ("1000,0.5\n2000\n", "a whole number of bytes and a share from 0 to 1, not '2000' in line 2"),
        ("1000,0.5\n2000,1.5\n", "a whole number of bytes and a share from 0 to 1, not '2000,1.5' in line 2"),
        ("1e5000,1\n", "a whole number of bytes and a share from 0 to 1, not '1e5000,1' in line 1"),
        ("1000,1e-999999999\n", "a whole number of bytes and a share from 0 to 1, not '1000,1e-999999999' in line 1"),
        ("", "lines such as 1000,0.5 of bytes and cumulative share, of which there is none"),
        ("1000,0.5\n", "a last share of 1, not 0.5 in the file"),
        ("1000,0.5\n500,1\n", "sizes and shares that do not fall: 500 B and 1 come after a share of 0.5 in the file"),
    ],
)
def test_a_bad_file_of_sizes_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, said: str
) -> None:
    (tmp_path / "sizes.csv").write_text(content, encoding="utf-8")
    file = tmp_path / "a.toml"
    file.write_text(TREE.replace('{ distribution = "pareto", mean = "200 kB" }', '{ file = "sizes.csv" }'))
    assert main(["run", str(file)]) == 2
    assert capsys.readouterr().err == f'tightlink: {file}: traffic.web.size.file = "sizes.csv": expected {said}\n'


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("load", 0, 'a share above 0 and up to 2, or per cent up to "10000 %"'),
        ("load", 60, 'per cent up to "10000 %"; did you mean "60 %"?'),
        ("load", "60", 'did you mean "60 %"?'),
        ("load", "9000 %", "at most 200000 transfers, not about 180000"),
        ("of", "net.hostlink[*]", "the name of a link"),
        ("of", None, "the link of whose rate load is a share"),
        ("arrivals", "5 transfers/s", "either load or arrivals, not both"),
        ("times", ["1 ms"], "either load or times, not both"),
        ("pairs", "incst", "one of random, permutation, matched, incast"),
        ("pairs", "matched", "another node than net.host[0], which sends to its match"),
        ("together", True, 'nothing here with pairs = "random"'),
        ("senders", 4, 'nothing here without pairs = "incast"'),
        ("size", "0 B", "a size above zero"),
        ("size", {"mean": "1 kB"}, "a distribution with its mean, points, or a file"),
        ("size", {"distribution": "pareto"}, "a mean size"),
        ("size", {"distribution": "exponential", "mean": "1 kB", "shape": 2}, "nothing here: shape has an effect"),
        ("size", {"points": [["1 kB", 0.5]]}, "a last share of 1, not 0.5"),
        ("size", {"points": [["1 kB"]]}, "a size and the share of transfers up to it"),
        ("size", {"file": "none.csv"}, "a file that can be read: no such file or directory"),
        ("size_classes", ["1 MB", "1 kB"], "sizes that rise: 1 kB comes after 1 MB"),
        ("size_classes", ["1 MB", "1000 kB"], "sizes that differ"),
        ("start", "100 ms", "a time before the stop, which is 100 ms"),
        ("stop", "1 s", "a time not after the duration, which is 100 ms"),
        ("from", ["net.host[1]", "net.host[1]"], "nodes that stand once"),
        ("flows", 3, "unknown key"),
    ],
)
def test_bad_input_is_one_sentence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, key: str, value: Any, said: str
) -> None:
    if (key, value) == ("load", "9000 %"):
        said = "at most 200000 transfers, not about"
    file = tmp_path / "a.toml"
    base = tl.loads(TREE).written()
    web = base["traffic"]["web"] | {key: value}
    if value is None:
        del web[key]
    from tightlink.scenario import toml

    file.write_text(toml.dump(base | {"duration": "1 s" if key == "load" else "100 ms", "traffic": {"web": web}}))
    assert main(["run", str(file)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert said in printed.err
    assert len(printed.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"pairs": "incast", "senders": 16}, "at most 15, all that can send"),
        ({"pairs": "permutation", "to": ["net.host[1]", "net.host[2]"]}, "as many nodes as from, which are 16, not 2"),
        ({"from": "net.host[1]", "to": "net.host[1]"}, "another node than from, to which it sends"),
        ({"load": None, "of": None, "times": ["1 s"]}, "times before the duration, which is 100 ms"),
        ({"load": None, "of": None, "times": ["2 ms", "1 ms"]}, "times that do not fall: 1 ms comes after 2 ms"),
        ({"load": None, "of": None, "times": ["1 ms"], "spacing": "fixed"}, "nothing here, as times says"),
        ({"load": None, "of": None, "arrivals": "5 packets/s"}, 'a rate of arrivals such as "100 transfers/s"'),
        ({"load": 1e-9}, "no transfer starts before its stop"),
    ],
)
def test_what_does_not_fit_together_is_an_error(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(tl.ScenarioError, match=said):
        tl.loads(TREE).set_all({f"traffic.web.{key}": value for key, value in changes.items()}).resolve()


def test_a_load_of_several_times_the_rate_is_in_per_cent_and_stays_so() -> None:
    scenario = tl.loads(TREE).set("traffic.web.load", "300 %")
    assert scenario.traffic["web"].written()["load"] == "300 %"
    again = tl.loads(scenario.explicit().to_toml())
    assert again.resolve() == scenario.resolve()
    assert tl.loads(TREE).set("traffic.web.load", "90 %").traffic["web"].written()["load"] == pytest.approx(0.9)


def test_nodes_without_a_way_to_each_other_are_an_error() -> None:
    text = ALONE.replace('to = "b"', 'to = "c"') + '\n[link.apart]\nends = ["c", "d"]\nrate = "1 Mbit/s"\n'
    with pytest.raises(tl.ScenarioError, match='no path from "a" to "c"'):
        tl.simulate(tl.loads(text))
