"""What every command with --json and --csv prints, as other programs take it: strict JSON, plain CSV, the same values."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

import tightlink as tl
from programs import commands

if TYPE_CHECKING:
    from collections.abc import Callable

_EXAMPLES: Final = Path(tl.__file__).parent / "examples"
_COMPARED: Final = "{examples}/controls-compared.csv"
#: Calls of each command that has both.
CALLS: Final = {
    "run": ["run {short}", "run {calls}", "run {file}", "run {examples}/router-with-processor.toml --set 'duration=1 s'"],
    "sweep": ["sweep {short} --vary 'link.bottleneck.queue=5 packets,20 packets' -o {new}",
              "sweep {short} --vary 'link.bottleneck.queue=5 packets,20 packets' --dry-run"],
    "study": ["study one-flow --claims"],
    "compare": ["compare {run} {other}", "compare {swept} {swept}"],
    "capture": ["capture {examples}/slow-uploads.pcapng.gz"],
    "query": ["query {run} 'from flows'", "query {run} 'from links'", "query {run} 'from series'", "query {swept} 'from runs'"],
    "plot": ["plot {run}"],
    "list": ["list congestion", "list metrics"],
    "validate": ["validate {short} {file}"],
    "new examples": ["new examples"],
    "new lessons": ["new lessons"],
    "plan path": ["plan path --bandwidth '2 Mbit/s' --rtt '20 ms' --flows 1,2"],
    "plan maxflow": ["plan maxflow {examples}/slow-router.toml"],
    "plan packetize": ["plan packetize --bitrate '64 kbit/s' --limit-pps 4000"],
    "analyze saturation": ["analyze saturation {examples}/link-sweep.csv", "analyze saturation {links}"],
    "analyze regimes": ["analyze regimes {examples}/router-load.csv"],
    "analyze effects": [f"analyze effects {_COMPARED} --factors rate,delay,queue,flows --responses goodput_bps"],
    "analyze ten-steps": [f"analyze ten-steps {_COMPARED} --factors rate,delay,queue,flows --response goodput_bps"],
    "analyze correlation": [f"analyze correlation {_COMPARED}"],
    "analyze pca": [f"analyze pca {_COMPARED} --by congestion"],
    "analyze clusters": [f"analyze clusters {_COMPARED} --algorithm congestion"],
    "analyze outliers": [f"analyze outliers {_COMPARED} --algorithm congestion"],
    "analyze ranks": [f"analyze ranks {_COMPARED} --algorithm congestion --responses own_bps"],
    "analyze fairness": [f"analyze fairness {_COMPARED} --algorithm congestion --own own_bps --standard standard_bps --available rate"],
    "analyze traffic": ["analyze traffic {run} --column utilization"],
    "analyze arrivals": ["analyze arrivals {run}"],
    "analyze cross-correlation": ["analyze cross-correlation {run} 'bottleneck queue_packets' 'ftp cwnd_packets'"],
    "analyze oscillation": ["analyze oscillation {run}"],
}  # fmt: skip
#: Commands whose input takes long to make, or other hosts; what they print has tests beside theirs.
ELSEWHERE: Final = {
    "measure", "measure path", "measure tcp", "measure udp-sweep",
    "analyze sizes", "analyze markov", "analyze pinger", "analyze synchronization",
}  # fmt: skip
#: Of a command that says how long it took, or is about to take: what differs from call to call.
_TIMED: Final = re.compile(r"timing|expected_s")
#: What no cell of a program's table says of a number that does not exist, or of a truth.
_WORDS: Final = {"nan", "NaN", "inf", "-inf", "None", "null", "NULL", "NA", "–", "—", "True", "False"}
#: Units that no name has: times are in seconds, rates in bit/s, shares from 0 to 1.
_OTHER_UNITS: Final = re.compile(r"_([nmu]s|min|[kmg]bps|[kmg]bit(_per_s)?|[kmg]i?b|percent|pct)$")
_GROUPED: Final = re.compile(r"-?\d{1,3}(,\d{3})+(\.\d+)?")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory, one_flow: str) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("inputs")
    short = one_flow.replace('duration = "10 s"', 'duration = "4 s"')
    (folder / "short.toml").write_text(short, encoding="utf-8")
    (folder / "file.toml").write_text(
        short + 'traffic.file = { kind = "bulk", from = "sender", to = "receiver", bytes = "20 kB" }\n',
        encoding="utf-8",
    )
    (folder / "calls.toml").write_text(
        'duration = "0.2 s"\nobserve.interval = "0.1 s"\n'
        'link.wire = { ends = ["a", "b"], rate = "1 packet/ms", delay = "1 ms", queue = "unlimited" }\n'
        'traffic.calls = { kind = "scatter", at = ["a", "b"], rate = "400 packets/s", '
        'sizes = { full = { size = "1500 B" } } }\n',
        encoding="utf-8",
    )
    base = tl.load(folder / "short.toml")
    observed = base.set("observe", {"interval": "5 ms"})
    tl.simulate(observed, trace=True).save(folder / "run")
    tl.simulate(base.set("traffic.ftp.tcp.window", "10 packets")).save(folder / "other")
    tl.sweep(base, {"link.bottleneck.queue": ["5 packets", "20 packets"]}, output=folder / "swept")
    head, *rows = [line for line in (_EXAMPLES / "link-sweep.csv").read_text("utf-8").splitlines() if line[0] != "#"]
    both = [f"{name},{row}" for name in ("one", "other") for row in rows]
    (folder / "links.csv").write_text("\n".join([f"link,{head}", *both]) + "\n", encoding="utf-8")
    return {
        "short": folder / "short.toml", "file": folder / "file.toml", "calls": folder / "calls.toml",
        "run": folder / "run", "other": folder / "other", "swept": folder / "swept", "links": folder / "links.csv",
        "examples": _EXAMPLES,
    }  # fmt: skip


def test_every_command_that_prints_tables_is_here(said: Callable[..., tuple[int, str, str]]) -> None:
    both = [name for name in commands() if "--csv" in said(*name.split(), "--help")[1]]
    assert sorted([*CALLS, *ELSEWHERE]) == sorted(both)


@pytest.mark.parametrize("call", [call for calls in CALLS.values() for call in calls])
def test_other_programs_read_what_is_printed(
    call: str, inputs: dict[str, Path], said: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    words = [word.format(new=tmp_path / "new", **inputs) for word in shlex.split(call)]
    code, printed, _ = said(*words, "--json")
    assert code in {0, 3}
    found = json.loads(printed, parse_constant=_refused)
    # Keys come in the same order each time.
    again = said(*words, "--json")[1]
    assert _untimed(again) == _untimed(printed)
    code_of_csv, text, _ = said(*words, "--csv")
    assert code_of_csv == code
    assert not [name for name in _names(found) if _OTHER_UNITS.search(name)]
    values = set(map(_as_cell, _values(found)))
    for name, table in _tables(text).items():
        header, *rows = table
        assert len(set(header)) == len(header)
        assert all(header)
        for row in rows:
            assert len(row) == len(header)
            for column, cell in zip(header, row, strict=True):
                assert cell not in _WORDS, f"{name}.{column} = {cell}"
                assert not _GROUPED.fullmatch(cell), f"{name}.{column} = {cell}"
                # Every number has all digits of JSON, and nothing stands in CSV that is not there; names are keys.
                known = cell in values or cell == "" or cell[:1] in "[{" or cell in found
                assert known or _TIMED.search(column), f"{name}.{column} = {cell}"


def test_tables_of_csv_are_those_of_json_and_python(
    inputs: dict[str, Path], said: Callable[..., tuple[int, str, str]]
) -> None:
    run = tl.open_run(inputs["run"])
    found = json.loads(said("run", str(inputs["short"]), "--set", "observe.interval=5 ms", "--json")[1])
    tables = _tables(said("run", str(inputs["short"]), "--set", "observe.interval=5 ms", "--csv")[1])
    # What follows from other columns stands behind them (docs/reference/definitions.md).
    further = {"flows": ["delay_variation_p95_s", "delay_variation_p99_s"]}
    assert list(tables) == ["flows", "links", "nodes"]
    for name, (header, *rows) in tables.items():
        frame = run.table(name)
        assert header == [*frame.columns, *further.get(name, [])] == list(found[name][0])
        assert [[_as_cell(row[column]) for column in header] for row in found[name]] == rows
        assert [row[: frame.width] for row in rows] == [list(map(_as_cell, row)) for row in frame.rows()]
    for name in run.tables:
        header, *rows = _tables(said("query", str(inputs["run"]), f"from {name}", "--csv")[1])[""]
        assert header == run.table(name).columns
        assert rows == [list(map(_as_cell, row)) for row in run.table(name).rows()]


def test_means_of_a_sweep_are_those_of_python(
    inputs: dict[str, Path], said: Callable[..., tuple[int, str, str]]
) -> None:
    levels = "link.bottleneck.queue=5 packets,20 packets"
    command = ("sweep", str(inputs["short"]), "--vary", levels, "-o", str(inputs["swept"]))
    header, *rows = _tables(said(*command, "--csv")[1])[""]
    means = tl.experiment.open(inputs["swept"]).summary
    assert header == means.columns
    assert rows == [list(map(_as_cell, row)) for row in means.fill_nan(None).rows()]
    assert [list(row) for row in json.loads(said(*command, "--json")[1])["cells"]] == [header, header]


@pytest.mark.parametrize("command", ["sweep", "sweep --dry-run", "compare", "validate"])
def test_keys_of_json_are_those_that_the_guide_lists(
    command: str, inputs: dict[str, Path], said: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    guide = (Path(__file__).parent.parent / "docs" / "guides" / "pipelines.md").read_text(encoding="utf-8")
    (listed,) = re.findall(rf"^\| `{command}` \| (.*) \|$", guide, re.MULTILINE)
    name = command.partition(" ")[0]
    calls = [call for call in CALLS[name] if ("--dry-run" in call) == ("--dry-run" in command)]
    words = [word.format(new=tmp_path / "new", **inputs) for word in shlex.split(calls[0])]
    found = json.loads(said(*words, "--json")[1])
    keys = found if isinstance(found, dict) else {"valid", "errors", "warnings"} & set(found[0])
    assert {key for key in keys if f"`{key}`" not in listed} == set()


def test_an_error_leaves_standard_output_empty(said: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    for option in ("--json", "--csv"):
        code, out, err = said("run", str(tmp_path / "none.toml"), option)
        assert (code, out) == (2, "")
        assert err.startswith("tightlink: ")


def _refused(constant: str) -> float:
    raise ValueError(f"no number of JSON: {constant}")


def _untimed(printed: str) -> list[str]:
    """The lines without times of this machine."""
    text = re.sub(r'"timing": \{.*?\}', "", printed, flags=re.DOTALL)
    return [line for line in text.splitlines() if not _TIMED.search(line)]


def _values(found: Any) -> list[Any]:
    """All values within JSON that are no objects and no lists."""
    if isinstance(found, dict):
        return [value for part in found.values() for value in _values(part)]
    if isinstance(found, list):
        return [value for part in found for value in _values(part)]
    return [found]


def _names(found: Any) -> set[str]:
    """All keys within JSON."""
    if isinstance(found, dict):
        return set(found).union(*map(_names, found.values()))
    return set().union(*map(_names, found)) if isinstance(found, list) else set()


def _as_cell(value: Any) -> str:
    """A value of JSON as a cell of CSV has it."""
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def _tables(text: str) -> dict[str, list[list[str]]]:
    """The tables of CSV, by their names, as any reader of RFC 4180 takes each of them."""
    parts = re.split(r"\n(?=# \w+\n)", text) if text.startswith("# ") else [f"# \n{text}"]
    named = (part.removesuffix("\n").partition("\n") for part in parts)
    return {head.removeprefix("# "): list(csv.reader(io.StringIO(rows), strict=True)) for head, _, rows in named}
