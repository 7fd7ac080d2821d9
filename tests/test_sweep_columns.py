"""Columns of a sweep's printed table: which there are, and how they are asked for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sweeps import QUEUE
from tightlink import cli
from tightlink.commands.sweep_columns import possible_headers
from tightlink.experiment.factors import Factor
from tightlink.experiment.plan import Plan


def test_delays_and_goodputs_of_groups_are_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "two.toml"
    call = 'traffic.call = { kind = "cbr", from = "a", to = "b", rate = "100 kbit/s" }\n'
    link = 'link.up = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms" }\n'
    file.write_text(f'duration = "1 s"\n{link}traffic.bulk = {{ kind = "bulk", from = "a", to = "b" }}\n{call}')
    sweep = ["sweep", str(file), "--vary", "link.up.queue=5 packets,50 packets", "-o", str(tmp_path / "sweep")]
    assert cli.main(sweep) == 0
    header = capsys.readouterr().out.splitlines()[0]
    assert "call p95 one-way delay" in header
    assert "flows' mean p95 one-way delay" not in header
    assert cli.main([*sweep, "--columns", "call loss,flows' mean p95 one-way delay"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert re.split(r"\s\s+", shown[0]) == ["run", "queue", "call loss", "flows' mean p95 one-way delay"]
    assert " %" in shown[1]
    # Of all flows and links, too, there is more than what is printed without; what is varied stands beside it.
    assert cli.main([*sweep, "--columns", "mean queueing delay,timeouts"]) == 0
    assert re.split(r"\s\s+", capsys.readouterr().out.splitlines()[0]) == [
        "run",
        "queue",
        "mean queueing delay",
        "timeouts",
    ]


def test_a_wrong_column_is_told_before_the_first_run(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["sweep", str(file), "--vary", f"{QUEUE}=5 packets,20 packets", "-o", str(tmp_path / "out")]
    for wrong, meant in (("goodptu", "goodput"), ("qeue", "queue"), ("ftp los", "ftp loss")):
        assert cli.main([*command, "--columns", wrong]) == 2
        said = capsys.readouterr()
        assert (said.out, f'--columns = "{wrong}": expected one of queue, ' in said.err) == ("", True)
        assert f"did you mean {meant}?" in said.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "traffic",
    [
        """
        call = { kind = "cbr", from = "a", to = "b", rate = "100 kbit/s" }
        ftp = { kind = "bulk", from = "a", to = "b", flows = 2 }
        """,
        """
        web = { kind = "transfers", from = "a", to = "b", size = "20 kB", arrivals = "9 transfers/s", size_classes = ["9 kB"] }
        ftp = { kind = "bulk", from = "a", to = "b", bytes = "100 kB" }
        """,
        'many = { kind = "scatter", at = ["a", "b"], rate = "100 packets/s" }',
        "",
    ],
)
def test_each_column_of_a_sweep_is_known_before(
    traffic: str, small_users: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    link = 'duration = "2 s"\nlink.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms" }\n'
    file = tmp_path / "base.toml"
    file.write_text(f"{link}[traffic]\n{traffic}" if traffic else small_users)
    vary = "seed=1,2"
    assert cli.main(["sweep", str(file), "--vary", vary, "-o", str(tmp_path / "out"), "--wide"]) in {0, 3}
    headers = re.split(r"\s\s+", capsys.readouterr().out.splitlines()[0])
    assert len(headers) > 9
    assert set(headers) <= set(possible_headers(Plan.load(file, [Factor.parse(vary)])))


def test_the_command_shows_what_there_is_of_users(
    small_users: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "users.toml"
    file.write_text(small_users)
    assert cli.main(["sweep", str(file), "--vary", "traffic.web.think=1 s", "-o", str(tmp_path / "out")]) == 0
    header = capsys.readouterr().out.splitlines()[0].split("  ")
    named = [name.strip() for name in header if name.strip()]
    assert named == [
        "run",
        "think",
        "sources transmitting",
        "transfers completed",
        "loss",
        "largest p95 queueing delay",
        "mean RTT",
        "utilization",
    ]
