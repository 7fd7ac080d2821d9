"""Metrics of a run, as sweeps have them: of users, of marks, of media."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import tightlink as tl
from tightlink import experiment, report
from tightlink.experiment.metrics import metrics


def test_flows_of_one_group_are_not_grouped(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would take as long as all else that a sweep does with a small run."""
    run = tl.simulate(tl.load(file))
    monkeypatch.delattr(pl.DataFrame, "group_by")
    assert metrics(run)["goodput_bps"] == run.flows["goodput_bps"][0]


def test_users_are_swept_like_flows(small_users: str, tmp_path: Path) -> None:
    found = tl.sweep(tl.loads(small_users), {"traffic.web.think": ["100 ms", "1 s"]}, output=tmp_path / "users")
    rows = found.runs.collect()
    assert rows["status"].to_list() == ["done", "done"]
    for row in rows.iter_rows(named=True):
        users = found.run(row["run"]).users
        assert row["packets_sent"] == float(users["packets_sent"].sum())
        assert row["sources_transmitting"] == pytest.approx(users["sources_transmitting"].mean())
        assert row["loss"] == pytest.approx(1 - row["packets_delivered"] / row["packets_sent"])
        assert "goodput_bps" not in row
    fewer, more = sorted(rows["transfers_completed"])
    assert more > 1.5 * fewer
    assert found.table("transfers").collect()["run"].unique().sort().to_list() == rows["run"].to_list()
    assert metrics(found.run("0/0")) == {name: rows.row(0, named=True)[name] for name in metrics(found.run("0/0"))}
    text = report.run_report(tmp_path / "users").read_text()
    assert "sources transmitting</th>" in text
    assert "Effect of traffic.web.think" in text


def test_a_sweep_counts_marks() -> None:
    scenario = tl.loads("""
        duration = "5 s"
        link.w = { ends = ["s", "r"], rate = "20 Mbit/s", delay = "20 ms", queue = { kind = "codel", ecn = true } }
        traffic.f = { kind = "bulk", from = "s", to = "r", tcp = { congestion = "cubic", ecn = true } }
    """)
    table = tl.sweep(scenario, {"link.w.queue.ecn": [True, False]}).runs.collect()
    assert table["packets_marked"][0] > 0
    assert table["packets_marked"][1] == 0


def test_responses_of_media() -> None:
    """What a call and a video need: jitter and p99 of each group, and the share of the frames that are complete."""
    text = """
    duration = "3 s"
    link.up = { ends = ["a", "b"], rate = "3 Mbit/s", delay = "10 ms", queue = "100 packets" }
    traffic.call = { kind = "cbr", from = "a", to = "b", interval = "20 ms", udp.payload = "160 B" }
    traffic.camera = { kind = "video", from = "a", to = "b", rate = "4 Mbit/s" }
    """
    found = experiment.metrics.metrics(run := tl.simulate(tl.loads(text)))
    call, camera = run.flows.iter_rows(named=True)
    assert found["call.jitter_mean_s"] == call["jitter_mean_s"]
    assert found["call.one_way_delay_p99_s"] == call["one_way_delay_p99_s"]
    complete = camera["frames_complete"] / camera["frames_sent"]
    assert 0 < complete < 1
    assert found["share_of_frames_complete"] == found["camera.share_of_frames_complete"] == complete
    assert "call.share_of_frames_complete" not in found
    assert {"share_of_frames_complete", "GROUP.share_of_frames_complete", "GROUP.jitter_mean_s"} <= dict(
        experiment.metrics.listed()
    ).keys()
