"""Anyone's tables: units, third quantities, and one clear sentence for each thing that is wrong."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tightlink import cli
from tightlink.analysis import measurements
from tightlink.analysis.columns import SPELLINGS, misspelt
from tightlink.analysis.measurements import MeasurementError, checked, in_si, read, sizes_and_rates


def _read(folder: Path, text: str) -> pl.DataFrame:
    path = folder / "own.csv"
    path.write_text(text, encoding="utf-8")
    return read(path)


def test_units_are_converted(tmp_path: Path) -> None:
    table = _read(
        tmp_path, "# a comment\n\npacket_bytes,throughput_mbit_per_s,load_percent,host\n100,2.5,72,a\n200,3,,b\n"
    )
    assert table["throughput_bps"].to_list() == [2.5e6, 3e6]
    assert table["load"].to_list() == [pytest.approx(0.72), None]
    assert table["host"].to_list() == ["a", "b"]
    assert table[measurements.LINE].to_list() == [4, 5]


@given(
    size=st.floats(20, 65_000),
    # Below one packet a second, another unit is suspected: not so close that rounding decides.
    rate=st.floats(1.001, 1e7),
    spelt=st.sampled_from(["throughput_bps", "throughput_kbps", "throughput_Gbit_per_s"]),
)
def test_the_third_follows_from_two(size: float, rate: float, spelt: str) -> None:
    bps = size * 8 * rate
    of_rate = sizes_and_rates(pl.DataFrame({"packet_bytes": [size], "packets_per_s": [rate]}))
    assert of_rate["throughput_bps"][0] == pytest.approx(bps)
    of_bps = sizes_and_rates(pl.DataFrame({"packet_bytes": [size], spelt: [bps / SPELLINGS[spelt][1]]}))
    assert of_bps["packets_per_s"][0] == pytest.approx(rate)


def test_all_three_may_be_given() -> None:
    frame = pl.DataFrame(
        {"packet_bytes": [100, 200], "packets_per_s": [10.0, 20.0], "throughput_bps": [8010.0, 31_800.0]}
    )
    assert sizes_and_rates(frame)["throughput_bps"].to_list() == [8010.0, 31_800.0]


def test_parquet_and_folders(tmp_path: Path) -> None:
    frame = pl.DataFrame({"packet_bytes": [100], "packets_per_s": [10.0]})
    frame.write_parquet(tmp_path / "runs.parquet")
    assert read(tmp_path).equals(read(tmp_path / "runs.parquet"))
    assert read(tmp_path)["packets_per_s"].to_list() == [10.0]
    (tmp_path / "no.parquet").write_text("no")
    with pytest.raises(MeasurementError, match=r"no\.parquet: expected a Parquet file"):
        read(tmp_path / "no.parquet")
    with pytest.raises(MeasurementError, match=r"or a folder with runs\.parquet"):
        read(Path(__file__).parent)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a table, and the file is empty"),
        ("packet_bytes,packets_per_s\n", "expected measurements below the names of the columns"),
        ("packet_bytes;packets_per_s\n100;4\n", "by semicolons"),
        ("packet_bytes\tpackets_per_s\n100\t4\n", "by tabs"),
        ("packet_bytes,packet_bytes\n100,4\n", 'line 1: two columns are called "packet_bytes"'),
        ("packet_bytes,pps,packets_per_s\n100,4,4\n", "pps and packets_per_s hold the same"),
        ("packet_bytes,packets_per_s\n100,4\n\n200,fast\n", 'line 4: packets_per_s = "fast": expected a number'),
        ("packet_bytes,packets_per_s\n100,nan\n", 'line 2: packets_per_s = "nan": expected a number'),
        ("packet_bytes,packets_per_s\n100,inf\n", 'line 2: packets_per_s = "inf": expected a number'),
        ("packet_bytes,packets_per_s\n100,4,5\n", "line 2: 3 values: expected 2"),
        ('packet_bytes,packets_per_s\n"100,4\n', "line 2: not a line of CSV"),
    ],
)
def test_files_that_are_no_tables(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(MeasurementError) as caught:
        _read(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / 'own.csv'}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("packets_per_s\n4\n", "no column packet_bytes among packets_per_s"),
        ("packet_byte,packets_per_s\n100,4\n", "no column packet_bytes, but packet_byte; did you mean packet_bytes?"),
        ("packet_bytes,loss\n100,0\n", "no column throughput_bps or packets_per_s among packet_bytes, loss"),
        ("packet_bytes,throughput_mbps\n100,4\n", "throughput_mbps: unknown or ambiguous unit; did you mean throughput_mbit_per_s?"),
        ("packet_bytes,throughput_MBps\n100,4\n", "did you mean throughput_mbit_per_s, 8 times as large?"),
        ("packet_bytes,packets_per_s\n100,4\n200,\n", "line 3: packets_per_s is empty"),
        ("packet_bytes,packets_per_s\n100,-4\n", "line 2: packets_per_s = -4: expected a finite number that is not negative"),
        ("packet_bytes,packets_per_s\n0,4\n", "line 2: packet_bytes = 0: expected a packet size up to 65535 B"),
        ("packet_bytes,packets_per_s\n70000,4\n", "line 2: packet_bytes = 70000: expected a packet size"),
        ("packet_bytes,throughput_bps\n100,96\n1000,97\n", "throughput_bps: less than one packet/s in every row; did you mean throughput_mbit_per_s?"),
        ("packet_bytes,packets_per_s\n100,0.02\n", "did you mean kpackets_per_s?"),
        ("packet_bytes,packets_per_s,throughput_bps\n100,10,8\n200,10,16\n", "throughput_bps is a 1000th of packet size"),
        ("packet_bytes,packets_per_s,throughput_bps\n100,10,8e6\n200,10,16e6\n", "throughput_bps is 1000 times packet size"),
        ("packet_bytes,packets_per_s,throughput_bps\n100,10,1000\n200,10,2000\n", "throughput_bps is an eighth of packet size"),
        ("packet_bytes,packets_per_s,throughput_bps\n100,10,8000\n200,10,20000\n", "line 3: throughput_bps = 20000 is not packet size"),
    ],
)  # fmt: skip
def test_tables_that_cannot_be_analysed(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = _read(tmp_path, text)
    with pytest.raises(MeasurementError) as caught:
        sizes_and_rates(table)
    assert message in str(caught.value)
    assert cli.main(["analyze", "saturation", str(tmp_path / "own.csv")]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert "own.csv" in err


def test_shares_are_shares(tmp_path: Path) -> None:
    with pytest.raises(MeasurementError, match=r"line 2: load = 72: .*; did you mean load_percent\?"):
        checked(_read(tmp_path, "load\n72\n"), "load")
    with pytest.raises(MeasurementError, match=r"row 1: loss = -0\.1: expected a share from 0 to 1$"):
        checked(pl.DataFrame({"loss": [-0.1]}), "loss")
    with pytest.raises(MeasurementError, match=r"load_pct: unknown or ambiguous unit; did you mean load_percent\?"):
        checked(pl.DataFrame({"load_pct": [72]}), "load")
    with pytest.raises(MeasurementError, match="load: expected a column of numbers"):
        checked(pl.DataFrame({"load": ["high"]}), "load")


def test_other_encodings(tmp_path: Path) -> None:
    (tmp_path / "latin.csv").write_bytes("größe\n1\n".encode("latin-1"))
    with pytest.raises(MeasurementError, match="in UTF-8"):
        read(tmp_path / "latin.csv")
    (tmp_path / "bom.csv").write_bytes(b"\xef\xbb\xbfload\n0.5\n")
    assert read(tmp_path / "bom.csv")["load"].to_list() == [0.5]
    with pytest.raises(MeasurementError, match="cannot be read: no such file"):
        read(tmp_path / "missing.csv")


@pytest.mark.parametrize("name", sorted(SPELLINGS))
def test_every_spelling_is_read(name: str) -> None:
    canonical, factor = SPELLINGS[name]
    assert in_si(pl.DataFrame({name: [2.0]}))[canonical][0] == 2.0 * factor
    assert misspelt(name, (canonical,)) is None
    assert SPELLINGS[canonical] == (canonical, 1.0)
