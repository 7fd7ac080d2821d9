"""Anyone's tables: units, third quantities, and one clear sentence for each thing that is wrong."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tightlink as tl
from tightlink import cli
from tightlink.analysis import measurements
from tightlink.analysis.columns import SPELLINGS, misspelt
from tightlink.analysis.measurements import LINE, MeasurementError, checked, in_si, read, sizes_and_rates


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
        (
            "packet_bytes;packets_per_s,x\n100;4,5\n",
            "expected columns separated by commas, and they may be by commas and by semicolons",
        ),
        ("packet_bytes packets_per_s\n100 4\n", "expected columns separated by commas, and they are by spaces"),
        ("packet_bytes;packets_per_s\n100;4\n200;4;5\n", "line 3: 3 values: expected 2"),
        (
            'packet_bytes;pps\n100;"1,234"\n200;5,678\n',
            'line 2: pps = "1,234": a decimal comma or thousands; expected a table with',
        ),
        (
            "packet_bytes;pps\n100;1,5\n200;2.5\n",
            'line 2: pps = "1,5": expected a decimal point, as in other numbers of the column',
        ),
        (
            "packet_bytes;pps\n1.024;1,5\n",
            'line 2: packet_bytes = "1.024": a decimal point or thousands, where other columns',
        ),
        ("packet_bytes,,pps\n100,4,5\n", "line 1: column 2 has no name"),
        ("100,4.5\n200,4.7\n", "line 1: expected the names of the columns, and there are numbers"),
        ("packet_bytes,packets_per_s\n100,NA\n", '"NA": expected a number; where there is none, the cell is empty'),
        ("PK\x03\x04\x14", "may be a workbook of Excel, which saves a sheet as CSV UTF-8"),
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
    with pytest.warns(tl.TightlinkWarning, match=r"latin\.csv: read as Windows-1252, not UTF-8$"):
        assert read(tmp_path / "latin.csv")["größe"].to_list() == ["1"]
    for binary in (b"\x81 is none of Windows-1252's\n1\n", "größe\n\0\n".encode("latin-1"), b"\xff\xfeabc"):
        (tmp_path / "binary.csv").write_bytes(binary)
        with pytest.raises(MeasurementError, match="in UTF-8"):
            read(tmp_path / "binary.csv")
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


@pytest.mark.parametrize(
    ("text", "encoding", "said"),
    [
        ("packet_bytes;packets_per_s\r\n100;4\r\n200;2,5\r\n", "utf-8-sig", "with semicolons between columns, with decimal commas"),
        ("packet_bytes\tpackets_per_s\n100\t4\n200\t2.5\n", "utf-8", "with tabs between columns"),
        ("packet_bytes\tpackets_per_s\n100\t4\n200\t2,5\n", "utf-16", "as UTF-16, not UTF-8, with tabs between columns, with decimal commas"),
        ("sep=;\npacket_bytes;packets_per_s\n100;4\n200;2,5\n", "utf-8", "with semicolons between columns, with decimal commas"),
        ('packet_bytes,packets_per_s\n100,4\n200,"2,5"\n', "utf-8", "with decimal commas"),
        ("# größe\npacket_bytes;packets_per_s\n100;4\n200;2,5\n", "cp1252", "as Windows-1252, not UTF-8, with semicolons between"),
    ],
)  # fmt: skip
def test_files_of_other_programs(
    text: str, encoding: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "own.csv").write_bytes(text.encode(encoding))
    with pytest.warns(tl.TightlinkWarning, match=f"own.csv: read {said}"):
        found = read(tmp_path / "own.csv")
    assert found.columns == ["packet_bytes", "packets_per_s", LINE]
    assert found["packet_bytes"].to_list() == [100, 200]
    assert found["packets_per_s"].to_list() == [4, 2.5]
    cli.main(["analyze", "saturation", str(tmp_path / "own.csv")])
    assert f"tightlink: {tmp_path / 'own.csv'}: read {said}" in " ".join(capsys.readouterr().err.split())


def test_thousands_and_decimal_commas(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("a;b;c\n1.234,5;1\u202f234,50;12\n-0,5;,5;1,2e3\n", encoding="utf-8")
    with pytest.warns(tl.TightlinkWarning, match="with decimal commas"):
        runs = tl.analyze.read_runs(tmp_path / "own.csv", factors=[]).runs
    assert runs.to_dict(as_series=False) == {"a": [1234.5, -0.5], "b": [1234.5, 0.5], "c": [12.0, 1200.0]}


@pytest.mark.parametrize("start", [0, 1])
def test_numbers_of_rows_without_a_name_are_no_column(start: int, tmp_path: Path) -> None:
    """As pandas and R write them."""
    assert _read(tmp_path, f'"",x\n{start},5\n{start + 1},7\n')["x"].to_list() == ["5", "7"]
    assert _read(tmp_path, "x,y,\n1,2,\n").columns == ["x", "y", LINE]


def test_control_characters_reach_no_figure(tmp_path: Path) -> None:
    """SVG cannot have them, and who draws charts ends the process for them."""
    _read(tmp_path, "queue,\x1bx,y\n" + "".join(f"\x07{i % 2},{i * 7 % 5},{i * 3 % 7}\n" for i in range(8)))
    for command in (["pca", "--by", "queue"], ["correlation"], ["effects"]):
        output = tmp_path / f"{command[0]}.svg"
        words = ["analyze", command[0], str(tmp_path / "own.csv"), *command[1:], "-o", str(output)]
        assert cli.main(words) == 0
        text = output.read_text(encoding="utf-8")
        assert r"\x1bx" in text
        ET.fromstring(text)
