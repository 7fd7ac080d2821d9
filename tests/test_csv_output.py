"""Tables as CSV: the numbers of JSON, in every command that has it."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from programs import commands
from tightlink.console import print_json
from tightlink.csv_text import as_csv

if TYPE_CHECKING:
    from collections.abc import Callable

    Said = Callable[..., tuple[int, str, str]]


def _tables(text: str) -> dict[str, list[dict[str, str]]]:
    parts = text.split("\n\n") if text.startswith("# ") else [f"# \n{text}"]
    named = [part.partition("\n") for part in parts]
    return {head.removeprefix("# "): list(csv.DictReader(io.StringIO(rows))) for head, _, rows in named}


@pytest.fixture
def short(tmp_path: Path, one_flow: str) -> str:
    (tmp_path / "short.toml").write_text(one_flow.replace('duration = "10 s"', 'duration = "1 s"'), encoding="utf-8")
    return str(tmp_path / "short.toml")


def test_csv_has_the_numbers_of_json(said: Said, short: str) -> None:
    found = json.loads(said("run", short, "--json")[1])
    code, out, _ = said("run", short, "--csv")
    assert code == 0
    tables = _tables(out)
    assert {"flows", "links"} <= set(tables)
    for name in ("flows", "links"):
        for row, expected in zip(tables[name], found[name], strict=True):
            assert row == {key: "" if value is None else str(value) for key, value in expected.items()}


_CALLS = """
duration = "0.2 s"
observe.interval = "0.1 s"
link.wire = { ends = ["a", "b"], rate = "1 packet/ms", delay = "1 ms", queue = "unlimited" }
traffic.calls = { kind = "scatter", at = ["a", "b"], rate = "400 packets/s", sizes = { full = { size = "1500 B" } } }
"""


def test_json_has_every_table_that_is_printed(said: Said, tmp_path: Path, small_users: str) -> None:
    (tmp_path / "users.toml").write_text(small_users, encoding="utf-8")
    (tmp_path / "calls.toml").write_text(_CALLS, encoding="utf-8")
    router = str(Path(__file__).parents[1] / "examples" / "router-with-processor.toml")
    for table, key, command in (
        ("users", "label", ("run", str(tmp_path / "users.toml"))),
        ("scatter", "label", ("run", str(tmp_path / "calls.toml"))),
        ("processor", "node", ("run", router, "--set", "duration=1 s")),
    ):
        printed = said(*command)[1]
        name = {"processor": "nodes"}.get(table, table)
        assert f"\n{table}  " in printed
        found = json.loads(said(*command, "--json")[1])
        rows = found[name]
        assert rows
        assert {row[key] for row in rows if f"\n{row[key]}  " in printed}
        assert [row[key] for row in _tables(said(*command, "--csv")[1])[name]] == [row[key] for row in rows]


def test_a_sweep_and_a_query(said: Said, short: str, tmp_path: Path) -> None:
    command = ("sweep", short, "--vary", "link.bottleneck.queue=5 packets,20 packets", "-o", str(tmp_path / "swept"))
    cells = json.loads(said(*command, "--json")[1])["cells"]
    assert [row["link.bottleneck.queue"] for row in cells] == ["5 packets", "20 packets"]
    rows = _tables(said(*command, "--csv")[1])[""]
    assert [float(row["goodput_bps"]) for row in rows] == [row["goodput_bps"] for row in cells]
    query = ("query", str(tmp_path / "swept"), "select run, seed from runs", "--csv")
    assert said(*query)[1] == "run,seed\n0/0,1\n1/0,1\n"


def test_a_sweep_that_is_not_made(said: Said, short: str) -> None:
    command = ("sweep", short, "--vary", "traffic.ftp.start=0.1 s,20 s", "--replications", "3", "--dry-run")
    code, out, err = said(*command, "--json")
    planned = json.loads(out)
    assert (code, planned["runs"]) == (2, 6)
    assert planned["expected_s"] > 0
    assert planned["cells"] == [
        {"cell": "0", "traffic.ftp.start": "0.1 s"},
        {"cell": "1", "traffic.ftp.start": "20 s"},
    ]
    (error,) = planned["invalid"]
    assert error["cell"] == "1"
    assert error["error"].startswith('--vary: traffic.ftp.start = "20 s": expected')
    assert f"cell 1: {error['error']}" in err
    tables = _tables(said(*command, "--csv")[1])
    assert tables == {"cells": planned["cells"], "invalid": planned["invalid"]}


def test_a_query_of_a_run(said: Said, short: str, tmp_path: Path) -> None:
    folder = str(tmp_path / "run")
    said("run", short, "-o", folder)
    goodput = json.loads(said("run", short, "--json")[1])["flows"][0]["goodput_bps"]
    asked = said("query", folder, "select label, goodput_bps from flows join links on true limit 1", "--json")
    assert json.loads(asked[1]) == [{"label": "ftp", "goodput_bps": goodput}]
    none = said("query", folder, "select 'nan'::double as a, [1, 'inf'::double] as b", "--json")[1]
    assert json.loads(none) == [{"a": None, "b": [1.0, None]}]
    assert said("query", folder, "select 1 as one", "--csv")[1] == "one\n1\n"
    numbers = said("query", folder, "select 1.5 as a, [0.25] as b, count(*) * 0.5 as c from flows", "--json")[1]
    assert json.loads(numbers) == [{"a": 1.5, "b": [0.25], "c": 0.5}]
    assert said("query", folder, "select label, flow from flows where false", "--csv")[1] == "label,flow\n"
    assert said("query", folder, "select label, flow from flows where false", "--json")[1] == "[]\n"
    struct = said("query", folder, "select 1 as a, {'low': 2, 'high': 3} as b, 4 as c", "--csv")[1]
    assert struct == "a,b.low,b.high,c\n1,2,3,4\n"
    # Columns of the same name, as of a join, are all there.
    joined = ("query", folder, "select label, 3 as packets_in, 7 as packets_in from flows")
    assert json.loads(said(*joined, "--json")[1]) == [{"label": "ftp", "packets_in": 3, "packets_in_1": 7}]
    assert said(*joined, "--csv")[1] == "label,packets_in,packets_in_1\nftp,3,7\n"
    # A table for people has all digits, too.
    table = said("query", folder, "select 1962351.4666666666::double as a, 48e6::double as b, 7 as c")[1]
    assert table.split()[3:] == ["1962351.4666666666", "48000000", "7"]
    for statement, expected in (
        ("select * from packets", "tightlink: this run has no table packets: simulate with trace=True, or --trace"),
        ("select * from flow", 'Table with name flow does not exist!\ntightlink: Did you mean "flows"?'),
        (
            "select * from sequences",
            "Table with name sequences does not exist! There are flows, links and nodes.\n",
        ),
        ("", 'run: "": expected a statement, such as "from flows"'),
        ("select packets from flows", 'Referenced column "packets" not found'),
        ("select label, from, to from flows", 'columns of these names stand in double quotes: "from"\n'),
        ("select label, to from flows", 'columns of these names stand in double quotes: "from"\n'),
        ("selct label from flows", 'syntax error at or near "selct"'),
    ):
        code, out, err = said("query", folder, statement)
        assert (code, out) == (2, "")
        assert expected in err
    code, _, err = said("query", str(tmp_path), "select 1")
    assert (code, err) == (
        2,
        f"tightlink: {tmp_path}: expected the folder of a run (it has manifest.json), or of a finished "
        "sweep or study (it has runs.parquet)\n",
    )
    (tmp_path / "run" / "flows.parquet").write_bytes(b"PAR1")
    assert "remove the folder" in said("query", folder, "select * from flows")[2]
    damaged = tmp_path / "run" / "flows.parquet"
    code, _, err = said("query", folder, "select * from links")
    assert (code, err) == (
        2,
        f"tightlink: {damaged}: damaged: it is no Parquet file that can be read; restore the file, or make it again by "
        "what wrote it\n",
    )


def test_what_there_is(said: Said, short: str, tmp_path: Path) -> None:
    said("run", short, "-o", str(tmp_path / "run"))
    for command, column in (
        (("list", "queues"), "name"),
        (("plot", str(tmp_path / "run")), "figure"),
        (("new", "examples"), "example"),
    ):
        printed = said(*command)[1]
        listed = json.loads(said(*command, "--json")[1])
        assert all(row[column] in printed for row in listed)
        assert _tables(said(*command, "--csv")[1])[""] == listed
    assert said("plot", str(tmp_path / "run"), "overview", "--json")[0] == 2
    assert said("new", "examples", str(tmp_path / "examples"), "--csv")[0] == 2


def test_claims(said: Said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said("new", "study", "mine")
    rows = _tables(said("study", "mine.py", "--csv")[1])[""]
    assert [row["holds"] for row in rows] == ["true"] * len(rows)
    assert rows[0]["id"] == json.loads(said("study", "mine.py", "--json")[1])["claims"][0]["id"]


@pytest.mark.parametrize(
    ("option", "beside"),
    [
        ("--json", "--csv"),
        ("--wide", "--csv"),
        ("--columns=goodput", "--csv"),
        ("--wide", "--json"),
        ("--columns=goodput", "--json"),
    ],
)
def test_what_has_no_effect_beside_another(option: str, beside: str, said: Said, short: str) -> None:
    assert said("run", short, beside, option)[0] == 2


def test_every_command_that_prints_json_prints_csv(said: Said) -> None:
    for command in commands():
        text = said(*command.split(), "--help")[1]
        assert ("--json" in text) == ("--csv" in text), command


def test_a_table_that_is_alone_has_its_name_where_there_may_be_others(said: Said, short: str, tmp_path: Path) -> None:
    for folder in ("first", "second"):
        said("sweep", short, "--vary", "link.bottleneck.queue=5 packets,20 packets", "-o", str(tmp_path / folder))
    compared = _tables(said("compare", str(tmp_path / "first"), str(tmp_path / "second"), "--csv")[1])
    assert list(compared) == ["values"]
    assert {row["change"] for row in compared["values"] if row["metric"] == "goodput_bps"} == {"0.0"}


def test_json_has_no_number_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"share": math.nan, "rows": [{"slope": -math.inf, "count": np.int64(3)}]})
    assert json.loads(capsys.readouterr().out) == {"share": None, "rows": [{"slope": None, "count": 3}]}


def test_what_is_in_cells() -> None:
    assert as_csv([{"a": [1, 2], "b": True, "c": 'x,"y"', "d": None}]) == 'a,b,c,d\n"[1, 2]",true,"x,""y""",\n'
    assert as_csv({"a": 1, "b": {"c": 2}}) == "a,b.c\n1,2\n"


def test_objects_in_rows_are_columns() -> None:
    laws = [{"law": "ideal", "fit": None}, {"law": "cost", "fit": {"r2": 0.5, "aicc": None}}]
    assert as_csv(laws) == "law,fit.r2,fit.aicc\nideal,,\ncost,0.5,\n"


def test_what_has_a_name_each_is_a_row_each(said: Said) -> None:
    load = str(Path(__file__).parents[1] / "examples" / "router-load.csv")
    found = json.loads(said("analyze", "regimes", load, "--json")[1])
    tables = _tables(said("analyze", "regimes", load, "--csv")[1])
    assert list(tables) == ["routers", "lengths"]
    assert [row["router"] for row in tables["routers"]] == list(found) == ["A", "B"]
    for row in tables["routers"]:
        assert (
            float(row["explained.r2.packets_per_s.value"])
            == (found[row["router"]]["explained"]["r2"]["packets_per_s"]["value"])
        )
    lengths = [(name, length["packet_bytes"]) for name, router in found.items() for length in router["lengths"]]
    assert [(row["router"], float(row["packet_bytes"])) for row in tables["lengths"]] == lengths


def test_a_table_of_an_analysis_has_its_name_whatever_else_is_found(said: Said, tmp_path: Path) -> None:
    sizes = [f"{size},{12_500_000 // size}" for size in range(700, 1600, 100)]
    (tmp_path / "flat.csv").write_text("\n".join(["packet_bytes,packets_per_s", *sizes]) + "\n", encoding="utf-8")
    found = json.loads(said("analyze", "saturation", str(tmp_path / "flat.csv"), "--json")[1])
    assert (found["laws"], len(found["points"])) == ([], len(sizes))
    assert list(_tables(said("analyze", "saturation", str(tmp_path / "flat.csv"), "--csv")[1])) == ["points"]


def test_measurements_that_are_repeated_are_numbered() -> None:
    run = {"manifest": {"seed": 1}, "flows": [{"label": "a", "loss": 0.5}], "links": [{"link": "wire"}]}
    tables = _tables(as_csv([run, run | {"flows": [{"label": "a", "loss": None}]}], each="measurement"))
    assert tables == {
        "flows": [{"measurement": "1", "label": "a", "loss": "0.5"}, {"measurement": "2", "label": "a", "loss": ""}],
        "links": [{"measurement": "1", "link": "wire"}, {"measurement": "2", "link": "wire"}],
    }
