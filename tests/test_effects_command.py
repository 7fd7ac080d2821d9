"""``tightlink analyze effects`` and ``ten-steps``: what they print, their JSON, their figures, what they refuse."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Final

import polars as pl
import pytest

import tightlink as tl
from tightlink import cli, report

HANDBOOK: Final = Path(__file__).parent / "data" / "handbook"
EDDY, LIGHT = str(HANDBOOK / "eddy_current.csv"), str(HANDBOOK / "sonoluminescence.csv")


def _table(folder: Path, factors: int = 3) -> Path:
    """Two periods: in the second a factor more matters."""
    rows = []
    for period, run in itertools.product((1, 2), range(2**factors * 4)):
        levels = [f"{5 * 4 ** (run >> place & 1)} packets" for place in range(factors)]
        signs = [2 * (run >> place & 1) - 1 for place in range(factors)]
        wave = [0.1 * ((run * 7919 + salt) % 13 - 6) for salt in (1, 5)]
        rows.append([period, *levels, 1e6 * (9 + signs[0] + wave[0]), 5.0 + wave[1] - (period - 1) * signs[1], 3.0])
    names = ["period", *(f"net.f{place}.queue" for place in range(factors)), "goodput_bps", "rtt_s", "constant"]
    path = folder / "runs.csv"
    pl.DataFrame(rows, schema=names, orient="row").write_csv(path)
    return path


def test_effects_in_words(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert cli.main(["analyze", "effects", str(_table(tmp_path)), "--by", "period"]) == 0
    assert (
        capsys.readouterr().out
        == """\
64 runs of all 8 combinations: orthogonal
* p < 0.05, ** p < 0.01: Student's t against what replications differ by, 24 degrees of freedom

period 1
goodput_bps  +f0.queue** (+22.6 %)
rtt_s        nothing significant

period 2
goodput_bps  +f0.queue** (+22.6 %)
rtt_s        −f1.queue** (−38.5 %)

factor        Ψ period 1  Ψ period 2
net.f0.queue        0.50        0.50
net.f1.queue        0.00        0.50
net.f2.queue        0.00        0.00
"""
    )


def test_interactions_beside_their_aliases(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    frame = pl.DataFrame(list(itertools.product((0, 1), repeat=3)) * 2, schema=list("abc"), orient="row")
    sign = [2 * pl.col(name) - 1 for name in "abc"]
    frame = frame.with_columns(d=(1 + sign[0] * sign[1] * sign[2]) // 2, place=pl.int_range(16))
    y = 10 + 2 * sign[0] * sign[1] + 0.1 * (pl.col("place") * 7 % 16)
    frame.with_columns(y=y).drop("place").write_csv(tmp_path / "half.csv")
    command = ["analyze", "effects", str(tmp_path / "half.csv"), "--interactions"]
    assert cli.main(command) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == [
        "16 runs of 8 of 16 combinations: resolution 4, orthogonal",
        "cannot be told apart: a × b = c × d",
        "cannot be told apart: a × c = b × d",
        "cannot be told apart: a × d = b × c",
    ]
    assert lines[4].endswith("what replications differ by, 8 degrees of freedom")
    assert lines[6].startswith("y  +a × b** (+3")
    assert lines[6].endswith("%) or c × d")
    assert cli.main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["aliases"][0] == ["a × b", "c × d"]
    assert len(found["interactions"]) == 6
    assert found["interactions"][0]["aliases"] == "c × d"


def test_many_tests_mark_some_by_chance(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    frame = pl.read_csv(_table(tmp_path)).with_columns(
        **{f"y{place}": pl.col("rtt_s") * (place + 1) for place in range(8)}
    )
    frame.write_csv(tmp_path / "wide.csv")
    assert cli.main(["analyze", "effects", str(tmp_path / "wide.csv"), "--by", "period"]) == 0
    assert "60 tests: were there no effect at all, about 3 of them would be marked" in capsys.readouterr().out


def test_effects_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["analyze", "effects", EDDY, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["design"], found["orthogonal"], found["aliases"]) == (
        "8 runs of all 8 combinations: orthogonal",
        True,
        [],
    )
    assert [row["effect"] for row in found["effects"]] == pytest.approx([3.1025, -0.8675, 0.2125])
    assert found["effects"][0]["low"] == "90"
    assert found["influence"][0] == {"factor": "turns", "psi": 1.0, "responses": 1}
    assert "interactions" not in found


def test_ten_steps_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["analyze", "ten-steps", LIGHT, "--response", "intensity"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "intensity: 16 runs of 16 of 128 combinations: resolution 4, orthogonal"
    assert lines[1] == "intensity: mean 110.6, residual standard deviation of the mean alone 94.91"
    assert lines[4].split() == ["X2", "−78.61", "yes", "88.8"]
    assert lines[6].split("  ")[0] == "X1 × X3"
    assert lines[6].endswith("X2 × X7, X4 × X6")
    assert lines[-3:] == [
        "stands out from noise: X2, X7, X1 × X3, X1, X3, X1 × X7, X1 × X2",
        "highest at X2 = -1, X7 = -1: 224",
        "lowest at X2 = 1, X7 = 1: 67.25",
    ]


def test_ten_steps_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["analyze", "ten-steps", EDDY, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["response"] == "impedance"
    assert found["standing_out"] == ["turns"]
    assert found["levels"]["distance"] == ["0.38", "1.14"]
    assert [row["residual_sd"] for row in found["residual_sd"]][:3] == pytest.approx(
        [1.74106, 0.57272, 0.30429], abs=5e-6
    )
    assert found["surface"]["across"] == "turns"
    assert len(found["ordered"]) == 8


def test_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = str(_table(tmp_path))
    assert cli.main(["analyze", "effects", table, "--by", "period", "-o", str(tmp_path / "map.png")]) == 0
    assert cli.main(["analyze", "effects", EDDY, "--draw", "impedance", "-o", str(tmp_path / "main.svg")]) == 0
    assert cli.main(["analyze", "ten-steps", EDDY, "-o", str(tmp_path / "page.pdf")]) == 0
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
    capsys.readouterr()
    assert cli.main(["analyze", "ten-steps", EDDY, "-o", str(tmp_path / "page.pdf")]) == 2
    assert "is there already" in capsys.readouterr().err


def test_a_sweep_s_folder(one_flow: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keys = {
        "link.bottleneck.rate": ["1 Mbit/s", "4 Mbit/s"],
        "link.bottleneck.queue & link.bottleneck.reverse.queue": [
            ("5 packets", "9 packets"),
            ("50 packets", "90 packets"),
        ],
        "traffic.ftp.start": ["0.1 s", "0.2 s"],
    }
    tl.sweep(tl.loads(one_flow).set("duration", "2 s"), keys, output=tmp_path / "sweep")
    assert cli.main(["analyze", "effects", str(tmp_path / "sweep")]) == 0
    out = capsys.readouterr().out
    assert out.startswith("8 runs of all 8 combinations: orthogonal\n")
    assert (
        "link.bottleneck.reverse.queue changes with link.bottleneck.queue: what is said of link.bottleneck.queue is of both"
        in out
    )
    assert "goodput_bps" in out
    assert "seed" not in out
    page = report.run_report(tmp_path / "sweep").read_text(encoding="utf-8")
    assert "What moves most responses: " in page
    assert "8 runs of all 8 combinations: orthogonal." in page


def test_metrics_of_a_traffic_group_are_responses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario = tl.loads("""
        duration = "2 s"
        link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms", queue = "10 packets" }
        traffic.upload = { kind = "bulk", from = "a", to = "b" }
        traffic.call = { kind = "cbr", from = "a", to = "b", rate = "500 kbit/s", udp.payload = "500 B" }
    """)
    keys = {"link.wire.rate": ["2 Mbit/s", "4 Mbit/s"], "link.wire.delay": ["10 ms", "20 ms"]}
    tl.sweep(scenario, keys, output=tmp_path / "sweep")
    named = ["upload.goodput_bps", "call.queueing_delay_p95_s"]
    command = ["analyze", "effects", str(tmp_path / "sweep")]
    assert cli.main([*command, "--responses", ",".join(named), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["effects"]
    assert {row["response"] for row in found} == set(named)
    (rate,) = (row for row in found if row["response"] == named[0] and row["factor"] == "link.wire.rate")
    assert rate["effect"] == pytest.approx(2e6, rel=0.2)
    assert cli.main([*command, "--responses", "upload.goodput"]) == 2
    assert "did you mean upload.goodput_bps?" in capsys.readouterr().err
    # What one of two groups gets the other does not: one response, and counted once.
    page = report.run_report(tmp_path / "sweep").read_text(encoding="utf-8")
    counted = page[page.index("Ψ: the share of ") :].partition("</")[0]
    assert "share of upload" in counted
    assert "share of call" not in counted


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ten-steps", LIGHT, "--response", "intensit"], "no column intensit: expected one of X1, X2"),
        (["ten-steps", "{table}"], "--response: expected one of goodput_bps, rtt_s"),
        (["effects", "{table}", "--responses", "period", "--by", "period"], "expected a response"),
        (["effects", "{table}", "--by", "perio"], "no column perio"),
        (["effects", "{table}", "--draw", "rtt"], '--draw = "rtt": expected one of'),
        (["effects", "{table}", "--factors", "goodput_bps"], "goodput_bps: expected two levels, and there are"),
        (["effects", "{words}"], "expected at least one factor"),
    ],
)
def test_refused(arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "words.csv").write_text("a,b\nx,1\ny,2\nz,3\n", encoding="utf-8")
    known = {"table": str(_table(tmp_path)), "words": str(tmp_path / "words.csv")}
    assert cli.main(["analyze", *(argument.format(**known) for argument in arguments)]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1


def test_a_response_that_one_level_lacks_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Jain's index of one flow there is none: that does not end the analysis of all others."""
    path = tmp_path / "runs.csv"
    cells = list(itertools.product((1, 4), ("5 packets", "50 packets"), (0, 1)))
    rows = [
        [flows, queue, 1.0 * flows + len(queue) + chance, None if flows == 1 else 0.9 - chance / 9]
        for flows, queue, chance in cells
    ]
    pl.DataFrame(rows, schema=["flows", "queue", "goodput_bps", "jain"], orient="row").write_csv(path)
    arguments = ["--factors", "flows,queue", "--responses", "goodput_bps,jain"]
    assert cli.main(["analyze", "effects", str(path), *arguments]) == 0
    out = capsys.readouterr().out
    assert "left out, as some runs have no value: jain" in out
    assert "goodput_bps  +flows" in out


def test_a_response_that_one_run_lacks_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "runs.csv"
    cells = list(itertools.product((1, 4), ("5 packets", "50 packets"), (0, 1)))
    rows = [[flows, queue, 1.0 * flows + chance / 9 if place else None] for place, (flows, queue, chance)
            in enumerate(cells)]  # fmt: skip
    pl.DataFrame(rows, schema=["flows", "queue", "loss"], orient="row").write_csv(path)
    assert cli.main(["analyze", "effects", str(path), "--factors", "flows,queue", "--responses", "loss"]) == 0
    out = capsys.readouterr().out
    assert "left out" not in out
    assert "loss  +flows** (+" in out


def test_effects_without_a_test_are_told_without_marks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("queue,loss\n5 packets,0.3\n50 packets,0.1\n")
    assert cli.main(["analyze", "effects", str(path), "--factors", "queue", "--responses", "loss"]) == 0
    out = capsys.readouterr().out
    assert "no test: there are no replications" in out
    assert "loss  −queue (−100 %)" in out
