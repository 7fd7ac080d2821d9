"""Means over replications: intervals, as many replications as a precision takes, what too few of them say."""

from __future__ import annotations

import math
import re
import statistics
from pathlib import Path

import polars as pl
import pytest

import tightlink as tl
from sweeps import QUEUE
from tightlink import cli
from tightlink.experiment.precision import Precision, half_width, median_half_width
from tightlink.experiment.summary import summary


def test_enough_replications(noisy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Cells get as many replications as they need; those that cannot are named."""
    command = [
        "sweep",
        str(noisy),
        "--vary",
        f"{QUEUE}=5 packets,20 packets",
        "--precision",
        "goodput_bps=2 %",
        "-j",
        "2",
    ]
    out = tmp_path / "out"
    assert cli.main([*command, "-o", str(out)]) == 0
    runs = pl.read_parquet(out / "runs.parquet")
    wanted = Precision.parse("goodput_bps=2 %")
    counts = []
    for _, rows in runs.group_by(QUEUE, maintain_order=True):
        values = rows["goodput_bps"].to_list()
        assert wanted.enough(values)
        assert rows["replication"].to_list() == list(range(rows.height))
        counts.append(rows.height)
    assert min(counts) >= 5
    assert max(counts) > 5
    capsys.readouterr()
    capped = [*command, "--max-replications", "5", "-o", str(out)]
    assert cli.main(capped) == 3
    missed = "1 of 2 combinations did not get to goodput_bps ± 2 % within 5 replications: "
    assert missed in capsys.readouterr().err
    varied: dict[str, object] = {QUEUE: ["5 packets", "20 packets"]}
    with pytest.warns(tl.TightlinkWarning, match=missed):
        found = tl.sweep(tl.load(noisy), varied, precision="goodput_bps=2 %", max_replications=5, output=out)
    assert found.warnings[0].startswith(missed)
    assert cli.main([*command[:-4], "--precision", "goodput=2 %", "-o", str(tmp_path / "other")]) == 2
    assert not (tmp_path / "other").exists()
    assert "did you mean goodput_bps" in capsys.readouterr().err


def test_intervals_cover_what_they_should() -> None:
    """Student's t: 95 % of intervals of normal samples hold the mean."""
    import numpy as np

    draws = np.random.default_rng(1).normal(size=(4000, 5))
    covered = [abs(float(np.mean(row))) <= half_width(list(row)) for row in draws]
    assert sum(covered) / len(covered) == pytest.approx(0.95, abs=0.012)


@pytest.mark.parametrize("values", [3, 4, 5, 7, 10])
def test_intervals_of_medians_hold_at_least_what_they_should(values: int) -> None:
    """At the few repeats that measurements have: of normal values, and of exponential ones, which are skewed."""
    import numpy as np

    random, times = np.random.default_rng(1), 600
    for draw, median in ((random.normal, 0.0), (random.exponential, math.log(2))):
        draws = draw(size=(times, values))
        covered = [abs(statistics.median(row) - median) <= median_half_width(row) for row in draws.tolist()]
        # Less by three standard errors at most.
        assert sum(covered) / times >= 0.95 - 3 * (0.95 * 0.05 / times) ** 0.5


def test_the_summary_of_cells(noisy: Path) -> None:
    found = tl.sweep(tl.load(noisy, set={"duration": "2 s"}), {QUEUE: ["5 packets", "20 packets"]}, replications=4)
    cells = summary(found.runs.collect(), [QUEUE])
    values = found.runs.filter(pl.col(QUEUE) == "20 packets").collect()["goodput_bps"].to_list()
    assert cells["runs"].to_list() == [4, 4]
    assert cells["goodput_bps"][1] == pytest.approx(sum(values) / 4)
    assert cells["goodput_half_width_bps"][1] == pytest.approx(half_width(values))


def test_intervals_that_leave_what_is_possible_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two replications say nothing of shares and rates that differ that far."""
    monkeypatch.chdir(tmp_path)
    Path("share.toml").write_text(
        """
duration = "3 s"
link.l = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "20 ms", queue = "0.5 BDP", loss = "0.3 %" }
traffic.f = { kind = "bulk", from = "a", to = "b", tcp.congestion = "cubic" }
traffic.g = { kind = "bulk", from = "a", to = "b", tcp.congestion = "reno" }
""",
        encoding="utf-8",
    )
    for name, loss in (("one", "0.003"), ("two", "0.01")):
        command = ["sweep", "share.toml", "--set", f"link.l.loss={loss}", "--vary", "link.l.queue=0.5 BDP,2 BDP"]
        assert cli.main([*command, "--replications", "2", "-o", name]) == 0
        swept = capsys.readouterr()
        assert "± ? Mbit/s" in swept.out
        assert "too few replications" in swept.err
    assert cli.main(["compare", "one", "two"]) == 0
    compared = capsys.readouterr().out
    assert "± ? %" in compared
    assert "± ? points" in compared
    assert "± ?: too few replications" in compared
    for said in (swept.out, compared):
        for mean, half in re.findall(r"(?<![+−\d.])([\d.]+) ± ([\d.]+) (?:%|Mbit/s|ms)", said):
            assert float(half) <= float(mean), (mean, half)
    report = Path("one/report.html").read_text(encoding="utf-8")
    assert "± ?<" in report


def test_unknown_intervals_are_explained_where_some_are(
    noisy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["sweep", str(noisy), "--replications", "2", "-o", str(tmp_path / "out")]
    explained = "too few replications for an interval"
    assert cli.main([*command, "--columns", "noise goodput"]) == 0
    printed = capsys.readouterr()
    assert "± ?" in printed.out
    assert explained in printed.err
    # That of a column that is not printed needs no explanation.
    assert cli.main([*command, "--columns", "loss"]) == 0
    printed = capsys.readouterr()
    assert "± ?" not in printed.out
    assert explained not in printed.err
