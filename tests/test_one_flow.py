"""The study of one flow: exact where it must be, and its folder."""

from __future__ import annotations

import math
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import tightlink as tl
from programs import CHROMIUM, needs_browser
from stores import run_in
from tightlink.analysis.path import response as theory
from tightlink.experiment.claims_file import load
from tightlink.experiment.store import Store
from tightlink.reduce import largest, smallest
from tightlink.studies import study as machinery
from tightlink.studies.one_flow import setup
from tightlink.studies.one_flow.observe import cases
from tightlink.studies.one_flow.observe.cases import Quality


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole study, once."""
    place = tmp_path_factory.mktemp("study") / "one-flow"
    told: list[str] = []
    assert tl.study("one-flow", place, jobs=2, progress=told.append).exit_code == 3
    assert told[-1] == "drawing figures and report"
    return place


@pytest.mark.parametrize("case", [case.name for case in setup.CASES if case.name != "queue-5"])
def test_six_cases_are_exact(claims: dict[str, dict[str, Any]], case: str) -> None:
    for name in ("packets-sent", "packets-dropped", "kilobytes"):
        claim = claims[f"{case}.{name}"]
        assert claim["tolerance"] == 0
        assert claim["observed"] == claim["expected"]
        assert claim["holds"] is True


def test_the_seventh_is_that_of_ns2_35(claims: dict[str, dict[str, Any]]) -> None:
    """The document's own version of ns-2 cannot be had: its counts are shown, without a verdict."""
    counts = ("packets-sent", "packets-dropped")
    assert [claims[f"queue-5.{count}"]["observed"] for count in counts] == [2094, 42]
    assert [claims[f"queue-5.{count}"]["holds"] for count in counts] == [None, None]
    assert "with its own of 0.2 s they send 2286 and drop 46" in claims["queue-5.packets-sent"]["reason"]
    assert claims["ns2.queue-5-minrto-1s.packets-sent"]["observed"] == 2094
    assert claims["ns2.queue-5.packets-sent"]["observed"] == 2286
    assert all(claim["holds"] for name, claim in claims.items() if name.startswith("ns2."))


def test_what_does_not_hold_says_why(claims: dict[str, dict[str, Any]]) -> None:
    failed = {name for name, claim in claims.items() if claim["holds"] is False}
    assert failed == {
        "base.acks", "packet-100.oscillation-costs", "queue-50.never-filled", "calculated.difference", "queue-5.lost",
        "response.bound", "response.p", "company.aggressive",
    }  # fmt: skip
    assert {name for name, claim in claims.items() if claim["holds"] is None} == {
        "queue-5.packets-sent", "queue-5.packets-dropped", "queue-5.kilobytes", "queue-5.loss", "company-x",
        "company.tables", "company.media-raise-p", "company.traffic-raises-p", "response.routers", "base.time-to-fill",
    }  # fmt: skip
    assert all(claim["reason"] for claim in claims.values() if not claim["holds"])
    assert all(claim["source"] for claim in claims.values())


def test_throughputs_are_read_in_one_way(claims: dict[str, dict[str, Any]]) -> None:
    """Headers count, and a Kbit has 1024 bit: so all figures hold that are above payload or below what 1000 bit give."""
    for name in (
        "base.system-throughput", "base.hand-throughput", "bandwidth-1mbit.throughput", "queue-5.below-1700",
        "delay-100ms.below-750",
    ):  # fmt: skip
        assert (claims[name]["unit"], claims[name]["holds"]) == ("Kibit/s", True), name
    assert claims["base.hand-throughput"]["observed"] == pytest.approx(2421 * 8 / 9.9)
    assert "Kibit/s" in claims["packet-100.instant-throughput"]["observed"]


def test_verdicts_do_not_rest_on_phases(claims: dict[str, dict[str, Any]]) -> None:
    """Of constant flows alone some lose nothing; beside a little random traffic all of them lose."""
    assert "some lose 0\u00a0%" in claims["company.nobody-wins"]["reason"]
    assert claims["company.nobody-wins"]["observed"] > 0.05


def test_validation_has_these_counts(folder: Path, counts_on_the_page: Callable[..., None]) -> None:
    counts_on_the_page("one-flow", load(folder / "claims.json"))


def test_the_folder_follows_the_contract(folder: Path, claims: dict[str, dict[str, Any]]) -> None:
    assert {file.name for file in folder.iterdir()} == {
        "claims.json",
        "figures",
        "report.html",
        "runs",
        "runs.parquet",
        "study.json",
    }
    keys = ["id", "statement", "source", "origin", "expected", "observed", "tolerance", "condition", "tolerance_from"]
    keys += ["unit", "holds", "reason"]
    assert all(list(claim) == keys for claim in claims.values())
    table = pl.read_parquet(folder / "runs.parquet")
    assert table.columns[:4] == ["run", "replication", "seed", "status"]
    assert {"link.bottleneck.queue", "traffic.ftp.tcp.window", "goodput_bps", "loss", "jain"} <= set(table.columns)
    assert table["run"].is_unique().all()
    figures = {file.name for file in (folder / "figures").iterdir()}
    assert {"cases-tcp.svg", "cases-tcp.png", "response-random.svg", "phase.png"} <= figures
    assert not [file for file in folder.rglob("*") if file.name.startswith(".")]


@needs_browser
def test_the_report_draws_in_a_browser(folder: Path, tmp_path: Path) -> None:
    command = [
        str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}", "--window-size=1400,1000",
        "--virtual-time-budget=60000", "--enable-logging=stderr", "--dump-dom", (folder / "report.html").as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    assert "CONSOLE" not in done.stderr
    assert 'data-charts="drawn"' in done.stdout
    charts = done.stdout.split('<div class="chart"')[1:]
    # Two rows of five for each of the seven cases, and those of the other sections.
    assert len(charts) > 70
    assert all('data-state="drawn"' in chart[:200] for chart in charts)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"study.json": '{"study": "router-response"}'}, "holds the study router-response"),
        ({"study.json": "[]"}, "study.json: damaged: it is not a JSON object"),
        ({"manifest.json": "{}"}, "is not empty and holds no study"),
    ],
)
def test_the_folder_of_something_else_is_refused(tmp_path: Path, content: dict[str, str], message: str) -> None:
    for name, text in content.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(tl.TightlinkError, match=message):
        tl.study("one-flow", tmp_path)
    assert {file.name for file in tmp_path.iterdir()} == set(content)


def test_a_file_in_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(tl.TightlinkError, match="expected a folder"):
        tl.study("one-flow", tmp_path / "file")


def test_an_unknown_study(tmp_path: Path) -> None:
    with pytest.raises(tl.ScenarioError, match="did you mean one-flow"):
        tl.study("one-flo", tmp_path)


def test_every_task_has_its_own_name() -> None:
    tasks = machinery_tasks()
    assert len({task.name for task in tasks}) == len(tasks)


def machinery_tasks() -> list[Any]:
    from tightlink.studies.one_flow import STUDY

    assert isinstance(STUDY, machinery.Study)
    return list(STUDY.tasks())


def test_measures_of_the_base_case() -> None:
    found = cases.measure(setup.BASE, tl.simulate(setup.tcp(setup.BASE), trace=True))
    # 20 packets of 1040 B at 2 Mbit/s are 83.2 ms; the ACK's way back takes 10.16 of them.
    assert found.latency_s == pytest.approx(0.0832 - 0.01016)
    names = found.names
    assert names["jitter_ms"] == 0
    assert (names["smoothed_low_kbit"], names["smoothed_high_kbit"]) == pytest.approx((2e3, 2e3))
    assert names["payload_rate_kbit"] == pytest.approx(2e3 * 1000 / 1040)
    # One packet is in service: the rest of the 83.2 ms less both ways' 20 ms is queue and ACK.
    assert found.queue_mean == pytest.approx((found.latency_s - 0.01) / 0.00416 - 1)
    assert sum(share for packets, share in found.held.rows() if packets in {14, 15}) == pytest.approx(1)
    assert (found.sent, found.dropped, found.printed_kilobytes) == (2385, 0, 2421.289062)


def test_measures_of_udp() -> None:
    found = cases.measure(setup.BASE, tl.simulate(setup.udp(setup.BASE), trace=True))
    assert (found.sent, found.dropped, found.header_bytes) == (3094, 600, 0)
    assert found.loss == 600 / 3094
    assert largest(found.latency) > smallest(found.latency)


def test_response_functions() -> None:
    assert theory.mathis(0.0001) == pytest.approx(122.474, abs=1e-3)
    assert theory.mathis(0.04, theory.C_DELAYED) == pytest.approx(4.330, abs=1e-3)
    # Padhye et al.: without timeouts it is Mathis', and the window bounds it.
    assert theory.pftk(0.001, rtt_s=0.1, rto_s=0) == pytest.approx(theory.mathis(0.001))
    assert theory.pftk(0.001, rtt_s=0.1, rto_s=0.2, window=20) == 20
    assert theory.pftk(0.1, rtt_s=0.1, rto_s=0.2) < theory.mathis(0.1) / 1.5
    assert theory.pftk(0.01, rtt_s=0.1, rto_s=0.2, per_ack=2) < theory.pftk(0.01, rtt_s=0.1, rto_s=0.2)
    losses: list[Any] = [0, -0.1, 1.1, math.nan, "1 %"]
    for loss in losses:
        with pytest.raises(tl.TightlinkError, match=r"loss = .*: expected a number above 0, up to 1"):
            theory.mathis(loss)
        with pytest.raises(tl.TightlinkError, match=r"loss = .*: expected a number above 0, up to 1"):
            theory.pftk(loss, rtt_s=0.1, rto_s=0.2)
    with pytest.raises(tl.TightlinkError, match="rtt_s = 0: expected a number above zero"):
        theory.pftk(0.1, rtt_s=0, rto_s=0.2)


def test_random_loss_is_near_theory(tmp_path: Path) -> None:
    run = run_in(Store(tmp_path), setup.response_scenario(loss=0.001, seed=1, recovery="reno"))
    flow = run.flows.row(0, named=True)
    packets = flow["goodput_bps"] * (flow["one_way_delay_mean_s"] + 0.05) / 8000
    assert packets == pytest.approx(theory.mathis(flow["packets_dropped"] / flow["packets_sent"]), rel=0.1)


def test_verdicts() -> None:
    good = Quality(0.05, 0.001, 0.0, 0.99)
    assert (good.real_time(), good.interactive(), good.bulk(repairs=False)) == ("good", "good", "good")
    slow = Quality(0.2, 0.001, 0.0, 0.85)
    assert (slow.real_time(), slow.interactive()) == ("fair: latency", "fair: latency")
    assert slow.bulk(repairs=True).startswith("fair")
    assert Quality(0.05, 0.06, 0.0, 1.0).real_time() == "bad: delay variation"
    assert Quality(0.45, 0.0, 0.0, 1.0).interactive() == "bad: latency"
    lossy = Quality(0.05, 0.001, 0.02, 0.99)
    assert (lossy.real_time(), lossy.bulk(repairs=True)) == ("bad: loss", "good")
    assert lossy.bulk(repairs=False).startswith("bad: loss")
    assert Quality(1.5, 0.0, 0.0, 1.0).bulk(repairs=True) == "bad: latency"


def test_phase_effects_need_that_nothing_is_random() -> None:
    """With a round trip that is longer by a packet time one flow starves; a little random traffic mends it."""
    shares = []
    for noise in (False, True):
        near, far, *_ = tl.simulate(setup.phase_scenario(5000, noise=noise)).flows["goodput_bps"].to_list()
        shares.append(far / (near + far))
    assert shares[0] > 0.8
    assert 0.35 < shares[1] < 0.65
