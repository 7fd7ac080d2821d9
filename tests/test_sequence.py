"""Sequence numbers over time: points of traces and captures, and what is said where there are none."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import tightlink as tl
from tightlink.cli import main
from tightlink.report import blocks, sequence

UPLOADS = Path(__file__).parent.parent / "examples" / "slow-uploads.pcapng.gz"


@pytest.fixture(scope="module")
def traced() -> tl.Run:
    scenario = tl.loads("""
        duration = "5 s"
        link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms", queue = "8 packets" }
        traffic.up = { kind = "bulk", flows = 2, from = "a", to = "b" }
    """)
    return tl.simulate(scenario, trace=True)


def _points(section: blocks.Section) -> pl.DataFrame:
    (block,) = section.blocks
    assert isinstance(block, blocks.Chart)
    spec = block.chart.to_dict()
    found = [pl.DataFrame(rows) for rows in spec["datasets"].values()]
    return pl.concat(found, how="diagonal").unique()


def test_every_packet_of_a_flow_is_a_point(traced: tl.Run) -> None:
    points = _points(sequence.section(traced, "up[1]"))
    row = traced.flows.filter(pl.col("label") == "up[1]").row(0, named=True)
    of = {kind: part for (kind,), part in points.group_by("kind")}
    data = (pl.col("flow") == row["flow"]) & (pl.col("size_bytes") == 1500)
    assert of["lost"].height == traced.packets.filter(data & (pl.col("event") == "d")).height > 0
    assert of["retransmitted"].height == row["packets_retransmitted"] > 0
    # A connection opens with two packets that have no number yet.
    assert of["sent"].height == row["packets_sent"] - row["packets_retransmitted"] - 2
    assert of["sent"]["sequence"].n_unique() == of["sent"].height
    acknowledged = of["acknowledged"].sort("time_s")["sequence"]
    assert acknowledged.is_sorted()
    assert acknowledged[-1] <= of["sent"]["sequence"].max()


def test_what_was_captured_has_its_bytes() -> None:
    run = tl.capture(UPLOADS, packets=True)
    flow = "10.0.0.1:61001-10.0.0.3:5201"
    points = _points(sequence.section(run, flow))
    of = {kind: part for (kind,), part in points.group_by("kind")}
    connection = run.table("connections").filter(pl.col("label") == flow).row(0, named=True)
    again = run.flows.filter(pl.col("label") == flow)["packets_retransmitted"].item()
    assert of["retransmitted"].height == again > 0
    assert of["sent"].height == connection["data_packets"] - again
    assert of["acknowledged"]["sequence"].max() == connection["delivered_bytes"]
    assert "lost" not in of


def test_a_run_without_packets_says_how_to_get_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario = 'duration = "1 s"\nlink.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms" }\n'
    run = tl.simulate(tl.loads(scenario + 'traffic.ftp = { kind = "bulk", from = "a", to = "b" }'))
    folder = run.save(tmp_path / "run")
    assert main(["report", str(folder), "--sequence", "ftp"]) == 2
    assert "this run has no table packets: simulate with trace=True, or --trace" in capsys.readouterr().err
    with pytest.raises(tl.TightlinkError, match=r'^sequence = "ftq": there is no such flow'):
        run.report(tmp_path / "of.html", sequence="ftq")
    assert main(["report", str(folder), "--sequence", "ftq"]) == 2
    assert "there is no such flow: expected ftp; did you mean ftp?" in capsys.readouterr().err
    assert not (folder / "report.html").exists()
    captured = tl.capture(UPLOADS).save(tmp_path / "capture")
    assert main(["report", str(captured), "--sequence", "10.0.0.1:61001-10.0.0.3:5201"]) == 2
    assert "of a capture, packets=True, or --packets" in capsys.readouterr().err


def test_of_a_part_every_packet_is_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario = tl.loads("""
        duration = "3 s"
        link.wire = { ends = ["a", "b"], rate = "40 Mbit/s", delay = "10 ms", queue = "100 packets" }
        traffic.ftp = { kind = "bulk", from = "a", to = "b" }
    """)
    run = tl.simulate(scenario, trace=True)
    folder = run.save(tmp_path / "run")
    command = ["report", str(folder), "--sequence", "ftp"]
    assert main(command) == 0
    said = 'tightlink report FOLDER --sequence ftp --from "3 s" --to "4 s"'
    assert said in (folder / "report.html").read_text().replace("&#34;", '"')
    assert main([*command, "--from", "1 s", "--to", "1.2 s"]) == 0
    assert "report FOLDER --sequence" not in (folder / "report.html").read_text()
    points = _points(sequence.section(run, "ftp", (1.0, 1.2))).filter(pl.col("kind") == "sent")
    sent = (pl.col("event") == "+") & (pl.col("from") == "a") & (pl.col("size_bytes") == 1500)
    assert points.height == run.packets.filter(sent & pl.col("time_s").is_between(1.0, 1.2)).height > 600
    capsys.readouterr()
    assert main([*command, "--from", "7 s"]) == 2
    assert "none of its packets is in the table packets between these times" in capsys.readouterr().err
    assert main(["report", str(folder), "--from", "1 s"]) == 2
    assert "--from and --to are times of the chart that --sequence FLOW draws" in capsys.readouterr().err
    assert main([*command, "--to", "3"]) == 2
    assert '--to = "3": expected a unit' in capsys.readouterr().err


def test_the_report_begins_with_it(traced: tl.Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = traced.save(tmp_path / "run")
    assert main(["report", str(folder), "--sequence", "up[0]"]) == 0
    capsys.readouterr()
    text = (folder / "report.html").read_text()
    assert 0 < text.index("Sequence numbers of up[0]</h2>") < text.index("Over time</h2>")
