"""Tables of PingER. None is at hand: these are made here, as the pages of the project describe the format."""

from __future__ import annotations

import gzip
import json
import math
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from tightlink import cli, console
from tightlink.analysis.path import pinger
from tightlink.analysis.path.pinger import PingerError, filled, read, with_mathis

if TYPE_CHECKING:
    from pathlib import Path

A, B, C = "pinger.example.edu", "www.example.org", "ns.example.net"
_BEGAN_S = 1_410_307_200.0


def hourly(
    folder: Path, metric: str, rows: dict[tuple[str, str], list[str]], *, day: str = "2014-09-10", size: int = 100
) -> Path:
    """A file of the archive: blanks, hours, hosts again behind the values."""
    count = max(map(len, rows.values()))
    lines = [" ".join(map(str, range(count)))]
    lines += [f"{one} {other} {' '.join(values)} {one} {other}" for (one, other), values in rows.items()]
    file = folder / f"{metric}-{size}-by-node-{day}.txt.gz"
    file.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))
    return file


def test_hours_of_a_day(tmp_path: Path) -> None:
    rtt = hourly(tmp_path, "average_rtt", {(A, B): ["150.5", ".", "160"], (A, C): [".", ".", "20"]})
    loss = hourly(tmp_path, "packet_loss", {(A, B): ["0.000", ".", "10.000"], (A, C): [".", ".", "1"]})
    table = read([rtt, loss])
    assert table.columns == ["path", "source", "destination", "ping_bytes", "time", "time_s", "rtt_mean_s", "loss"]
    first = table.filter(destination=B)
    assert first["time_s"].to_list() == [_BEGAN_S, _BEGAN_S + 3600, _BEGAN_S + 7200]
    assert first["time"].to_list()[1] == "2014-09-10T01:00"
    assert first["rtt_mean_s"].to_list() == [pytest.approx(0.1505), None, pytest.approx(0.16)]
    assert first["loss"].to_list() == [0.0, None, pytest.approx(0.1)]
    assert table["ping_bytes"].unique().to_list() == [100]
    assert table["path"].unique(maintain_order=True).to_list() == [f"{A} to {B}", f"{A} to {C}"]


@pytest.mark.parametrize(
    ("name", "labels", "times"),
    [
        ("average_rtt-100-by-site-2014-09.tsv", ["1", "2", "10"], ["2014-09-01", "2014-09-02", "2014-09-10"]),
        ("average_rtt-100-by-site-2014.tsv", ["1", "12"], ["2014-01-01", "2014-12-01"]),
        ("average_rtt.tsv", ["Jan14", "Feb14"], ["2014-01-01", "2014-02-01"]),
        ("average_rtt.tsv", ["Dec 1999", "Jan 2000"], ["1999-12-01", "2000-01-01"]),
        ("average_rtt.tsv", ["22Feb04", "23Feb04"], ["2004-02-22", "2004-02-23"]),
        ("average_rtt.tsv", ["2004-02-22", "2004-02-29"], ["2004-02-22", "2004-02-29"]),
        ("average_rtt.tsv", ["1998", "1999"], ["1998-01-01", "1999-01-01"]),
        (
            "pingtable.pl?format=tsv&file=average_rtt&by=by-site&size=1000&tick=hourly&year=2004&month=02&day=22",
            ["0"],
            ["2004-02-22"],
        ),
    ],
)
def test_periods_of_all_kinds(tmp_path: Path, name: str, labels: list[str], times: list[str]) -> None:
    lines = ["\t".join(["Monitoring-Site", "Remote-Site", *labels, "Region"])]
    lines.append("\t".join(["EDU.EXAMPLE", "ORG.EXAMPLE", *(["5"] * len(labels)), "Europe"]))
    (tmp_path / name).write_text("\n".join(lines))
    table = read([tmp_path / name])
    assert [time.partition("T")[0] for time in table["time"]] == times
    assert table["rtt_mean_s"].to_list() == [0.005] * len(labels)
    assert table["ping_bytes"][0] == (1000 if "size=1000" in name else 100 if "-100-" in name else None)


def test_options_tell_what_names_do_not(tmp_path: Path) -> None:
    (tmp_path / "table.txt").write_text("0 1\na b 3 4\n")
    table = read([tmp_path / "table.txt"], metric="MOS", date="2014-09-10")
    assert table.select("time_s", "mos").rows() == [(_BEGAN_S, 3.0), (_BEGAN_S + 3600, 4.0)]
    (tmp_path / "table-1000-2014-09-10.txt").write_text("0 1\na b 3 4\n")
    assert read([tmp_path / "table-1000-2014-09-10.txt"], metric="MOS")["ping_bytes"].unique().to_list() == [1000]


def test_two_sizes_are_two_paths(tmp_path: Path) -> None:
    small = hourly(tmp_path, "ipdv", {(A, B): ["1", "2"]})
    large = hourly(tmp_path, "ipdv", {(A, B): ["3", "4"]}, size=1000)
    table = read([small, large])
    assert table.select("path", "ipdv_s").rows() == [
        (f"{A} to {B}, 100 B", 0.001), (f"{A} to {B}, 100 B", 0.002),
        (f"{A} to {B}, 1000 B", 0.003), (f"{A} to {B}, 1000 B", 0.004),
    ]  # fmt: skip


def test_what_tcp_could_get(tmp_path: Path) -> None:
    """As PingER derives it: 1460 B · 8 / (0.1 s · √0.01) = 1.168 Mbit/s; without losses there is no bound."""
    rtt = hourly(tmp_path, "average_rtt", {(A, B): ["100", "100", "."]})
    loss = hourly(tmp_path, "packet_loss", {(A, B): ["1.000", "0.000", "1.000"]})
    table = with_mathis(read([rtt, loss]))
    assert table["mathis_bps"].to_list() == [pytest.approx(1.168e6), None, None]
    with pytest.raises(PingerError, match="no loss: expected a file of packet_loss beside the others"):
        with_mathis(read([rtt]))


def test_gaps(tmp_path: Path) -> None:
    table, count = filled(read([hourly(tmp_path, "average_rtt", {(A, B): [".", "10", ".", ".", "40", "."]})]))
    assert count == 2
    values = table["rtt_mean_s"].to_list()
    assert values[1:5] == pytest.approx([0.01, 0.02, 0.03, 0.04])
    assert (values[0], values[5]) == (None, None)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("average_rtt-2014-09-10.txt", "", "and the file is empty"),
        ("average_rtt-2014-09-10.txt", "a b c\n", "its first line has no periods"),
        ("average_rtt.txt", "0 1\na b 1 2\n", "its name, or date, or --date, must tell of which day"),
        ("average_rtt-2014-09-10.txt", "1 0\na b 1 2\n", "expected periods in the order of time"),
        ("average_rtt-2014-09-10.txt", "0 1\n\na b 1\n", "line 3: 3 columns: expected at least 4"),
        ("average_rtt-2014-09-10.txt", "0 1\na b 1 x\n", 'line 2: "x": expected a number, or . where nothing'),
        (
            "table-2014-09-10.txt",
            "0 1\na b 1 2\n",
            "its name tells no metric: expected metric, or --metric, with one of average_rtt",
        ),
        ("average_rtt-2014-09-10.txt.gz", "\x1f\x8b", "expected a table of PingER: text"),
    ],
)
def test_what_is_no_table(tmp_path: Path, name: str, text: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / name).write_bytes(text.encode("latin-1"))
    assert cli.main(["analyze", "pinger", str(tmp_path / name)]) == console.WRONG
    error = capsys.readouterr().err
    assert said in error
    assert len(error.splitlines()) == 1


def test_files_that_contradict_each_other(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    one = hourly(tmp_path, "average_rtt", {(A, B): ["1", "2"]})
    other = hourly(tmp_path / "x", "average_rtt", {(A, B): ["1", "3"]})
    assert read([one, one]).equals(read([one]))
    with pytest.raises(PingerError, match=r"at 2014-09-10T01:00: rtt_mean_s is 0.002 and 0.003 in files of one metric"):
        read([one, other])


def test_wrong_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(hourly(tmp_path, "average_rtt", {(A, B): ["1", "2"]}))
    for options, said in (
        (["--metric", "average_rt"], "no such metric: average_rt: expected one of"),
        (["--date", "10 September"], 'date "10 September": expected a year, a month or a day'),
        (["-o", "out.xlsx"], "out.xlsx: expected a name that ends in .csv or .parquet"),
    ):
        assert cli.main(["analyze", "pinger", file, *options]) == console.WRONG
        assert said in capsys.readouterr().err
    assert cli.main(["analyze", "pinger"]) == console.WRONG
    assert cli.main(["analyze", "pinger", str(tmp_path / "none"), "--metric", "MOS"]) == console.WRONG


def test_daily_lines_and_lags(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Four weeks of hours with a line of a day, through the table into the analyses of time series."""
    rng = np.random.default_rng(1)
    files = []
    for day in range(28):
        hours = 24 * day + np.arange(24)
        values = 100 + 20 * np.cos(2 * math.pi * (hours - 14) / 24) + rng.normal(size=24)
        texts = [f"{value:.3f}" for value in values]
        texts[day % 24] = "."
        files.append(str(hourly(tmp_path, "average_rtt", {(A, B): texts}, day=f"2014-09-{day + 1:02}")))
    out = str(tmp_path / "rtt.csv")
    assert cli.main(["analyze", "pinger", *files, "-o", out]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[1].split()[3:6] == ["644", "of", "672"]
    assert cli.main(["analyze", "traffic", out, "--column", "rtt_mean_s"]) == console.WRONG
    assert "expected a number at every time" in capsys.readouterr().err
    parquet = str(tmp_path / "rtt.parquet")
    assert cli.main(["analyze", "pinger", *files, "--fill", "-o", parquet]) == 0
    # The first hour of all is missing, and stays so.
    assert "27 missing values were filled" in capsys.readouterr().err
    begin = str(pl.read_parquet(parquet)["time_s"][1])
    assert cli.main(["analyze", "traffic", parquet, "--column", "rtt_mean_s", "--begin", f"{begin} s"]) == 0
    assert "day" in capsys.readouterr().out


def test_what_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [
        str(hourly(tmp_path, "average_rtt", {(A, B): ["100"] * 3})),
        str(hourly(tmp_path, "packet_loss", {(A, B): ["1.000"] * 3})),
        str(hourly(tmp_path, "throughput", {(A, B): ["584"] * 3})),
    ]
    assert cli.main(["analyze", "pinger", *files]) == 0
    row = capsys.readouterr().out.splitlines()[1]
    assert row.startswith(f"{A} to {B}")
    assert row.endswith("50 %")
    assert cli.main(["analyze", "pinger", *files, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows[0]["throughput_bps"] == 584e3
    assert rows[0]["mathis_bps"] == pytest.approx(1.168e6)


def test_every_metric_has_a_column_of_its_own() -> None:
    columns = [column for column, _ in pinger.METRICS.values()]
    assert len(set(columns)) == len(columns)
