"""The command that compares, its report, and comparisons in notebooks."""

from __future__ import annotations

import itertools
import json
import re
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import tightlink as tl
from compared import BASE
from tightlink import cli
from tightlink.run import Run

if TYPE_CHECKING:
    from pathlib import Path


def test_of_many_links_those_that_changed_most_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hops = [f"r{place}" for place in range(13)]
    links = "".join(
        f'link.l{place} = {{ ends = ["{one}", "{other}"], rate = "{10 if place == 7 else 20} Mbit/s", delay = "1 ms" }}\n'
        for place, (one, other) in enumerate(itertools.pairwise(hops))
    )
    traffic = f'traffic.get = {{ kind = "bulk", from = "{hops[0]}", to = "{hops[-1]}" }}\n'
    base = tl.loads(f'duration = "1 s"\n{links}{traffic}')
    folders = [str(tmp_path / name) for name in ("first", "second", "third")]
    tl.simulate(base).save(folders[0])
    tl.simulate(base.set("link.l3.rate", "5 Mbit/s")).save(folders[1])
    tl.simulate(base).save(folders[2])
    assert cli.main(["compare", *folders[:2]]) == 0
    printed = capsys.readouterr().out
    rows = [line.split()[0] for line in printed.splitlines() if " utilization " in line]
    assert len(rows) == 10
    # The bottleneck that came, then the one that was.
    assert rows[:2] == ["l3", "l7"]
    assert "The 10 that changed most of 24 links (--wide shows all)." in printed
    assert cli.main(["compare", *folders[:2], "--wide"]) == 0
    printed = capsys.readouterr().out
    assert sum(" utilization " in line for line in printed.splitlines()) == 24
    assert "changed most" not in printed
    assert cli.main(["compare", folders[0], folders[2]]) == 0
    assert "None of 24 links changed (--wide shows all)." in capsys.readouterr().out


def test_a_report_draws_over_time_what_was_simulated_without(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = tl.loads(BASE.replace("observe.interval", "# "))
    folders = [
        str(tl.simulate(scenario.set("link.wire.queue", queue)).save(tmp_path / queue))
        for queue in ("10 packets", "20 packets")
    ]
    assert cli.main(["compare", *folders, "-o", str(tmp_path / "drawn")]) == 0
    assert "mean of series" not in capsys.readouterr().out
    assert ">Over time<" in (tmp_path / "drawn" / "report.html").read_text()
    assert (tmp_path / "drawn" / "figures" / "series.svg").exists()


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "base.toml"
    file.write_text(BASE)
    names = {"first": "10 packets", "second": "20 packets"}
    for name, queue in names.items():
        assert cli.main(["run", str(file), "--set", f'link.wire.queue="{queue}"', "-o", str(tmp_path / name)]) == 0
    capsys.readouterr()
    folders = [str(tmp_path / name) for name in names]
    assert cli.main(["compare", *folders, "-o", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    lines = [line.split() for line in printed.splitlines()]
    assert ["link.wire.queue", "10", "packets", "20", "packets"] in lines
    assert ["flow", "metric", "first", "second", "change"] in lines
    assert sum(line[:2] == ["ftp[0]", "goodput"] for line in lines) == 2  # the total, and the mean of its series
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "report.html",
        "comparison.parquet",
        "alone.parquet",
        "figures",
    }
    report = (tmp_path / "out" / "report.html").read_text()
    for title in ("Better and worse", "Where the scenarios differ", "Flows", "Links", "Over time"):
        assert f">{title}<" in report
    assert {path.name for path in (tmp_path / "out" / "figures").iterdir()} == {"series.svg"}
    assert cli.main(["compare", *folders, "-o", str(tmp_path / "out")]) == 2
    assert "is not empty" in capsys.readouterr().err
    assert cli.main(["compare", *folders, "--pair", "ftp[0]"]) == 2
    assert '--pair = "ftp[0]": expected FIRST=SECOND, two names' in capsys.readouterr().err
    assert cli.main(["compare", *folders, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["titles"] == ["first", "second"]
    assert found["agreements"] == {}
    assert {row["table"] for row in found["values"]} == {"flows", "links", "nodes", "series"}


def test_marks_are_compared_where_there_are_any(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With ECN a queue's signals are marks: "packets dropped" of 0 and 0 says nothing of them."""
    scenario = tl.loads("""
        duration = "5 s"
        link.w = { ends = ["s", "r"], rate = "20 Mbit/s", delay = "20 ms" }
        traffic.f = { kind = "bulk", from = "s", to = "r", tcp = { congestion = "cubic", ecn = true } }
    """)
    for kind in ("codel", "pie"):
        marking = scenario.set("link.w.queue", {"kind": kind, "ecn": True})
        tl.simulate(marking).save(tmp_path / kind)
        dropping = marking.set_all({"link.w.queue.ecn": False, "traffic.f.tcp.ecn": False})
        tl.simulate(dropping).save(tmp_path / f"{kind}-drops")
    assert cli.main(["compare", str(tmp_path / "codel"), str(tmp_path / "pie")]) == 0
    marked = [line.split() for line in capsys.readouterr().out.splitlines() if "packets marked" in line]
    assert [line[0] for line in marked] == ["f", "w"]
    assert all(int(line[3]) > 0 for line in marked)
    assert cli.main(["compare", str(tmp_path / "codel-drops"), str(tmp_path / "pie-drops")]) == 0
    assert "packets marked" not in capsys.readouterr().out


def test_the_report_is_there_when_nobody_reads_the_tables(
    four_flows: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with ``compare … -o DIR | head -1``."""
    folder = four_flows.save(tmp_path / "run")

    def closed(*_: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("tightlink.commands.compare._print", closed)
    monkeypatch.setattr("sys.stdout", sys.stdout)
    assert cli.main(["compare", str(folder), str(folder), "-o", str(tmp_path / "out")]) == 1
    assert (tmp_path / "out/report.html").is_file()


def test_a_comparison_in_a_notebook_is_tables(one_flow: str) -> None:
    base = tl.loads(one_flow).set("duration", "2 s")
    found = tl.compare(tl.simulate(base), tl.simulate(base.set("link.bottleneck.queue", "5 packets")))
    shown = found._repr_html_()
    assert shown.startswith("<p><b>Comparison</b>: second against first</p><table>")
    assert '<td style="text-align:left">link.bottleneck.queue</td><td style="text-align:left">20 packets</td>' in shown
    assert re.search(r'>goodput, all flows</td><td style="text-align:right">[0-9.]+ Mbit/s</td>', shown)
    assert shown.count("<table>") == shown.count("</table>") == 2
    # Names are of others.
    marked = replace(found, titles=("<b>", "a&b"), warnings=("<i>",), notes=("<u>",))._repr_html_()
    assert "a&amp;b against &lt;b&gt;" in marked
    assert "<p><b>Warning:</b> &lt;i&gt;</p>" in marked
    assert "<p>&lt;u&gt;</p>" in marked
    assert "<p>nothing in common</p>" in replace(found, values=found.values.clear(), summary=found.summary.clear(),
                                                differences=found.differences.clear())._repr_html_()  # fmt: skip
