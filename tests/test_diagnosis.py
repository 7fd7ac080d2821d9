"""Why is it slow? Scenarios whose cause is known by how they are built (`data/diagnoses.toml`), simulated, captured and
measured, and who is told of together."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import polars as pl
import pytest

import tightlink as tl
from diagnosis_cases import BLOAT, CASES, named, of_source
from in_real_time import SideBySide, measures_side_by_side
from tightlink import cli
from tightlink.diagnosis import CAUSES, Diagnosis, Why, why
from tightlink.diagnosis.answers import MOST_SAID
from tightlink.diagnosis.kernel import disagreement
from tightlink.run import Framed, Run


def _check(case: dict[str, Any], found: Why) -> None:
    """Whether a diagnosis is what is expected of a case."""
    (diagnosis,) = found.diagnoses
    first, sentence = diagnosis.causes[0], diagnosis.sentence
    assert first.name == case["cause"], sentence
    assert first.name in CAUSES
    for key in ("where", "certainty"):
        assert getattr(first, key) == case.get(key, getattr(first, key)), sentence
    for words in case.get("says", []):
        assert words in sentence
    for words in case.get("never", []):
        assert words not in sentence
    if "delay" in case:
        assert diagnosis.delay is not None
        assert diagnosis.delay.where == case["delay"], sentence
    if "tries" in case:
        assert list(diagnosis.suggestions[0].changes) == case["tries"], sentence
    assert all(len(line) <= 80 for line in str(found).split("\n") if not line.startswith("    --set")), str(found)


def test_there_are_enough_cases() -> None:
    assert (len(of_source("simulated")) >= 28, len(of_source("captured")) >= 8, len(of_source("measured")) >= 4) == (
        True,
    ) * 3
    assert len(CASES) >= 40
    assert {case["cause"] for case in CASES} <= set(CAUSES)


@pytest.mark.parametrize("case", of_source("simulated"))
def test_simulated(case: dict[str, Any]) -> None:
    _check(case, tl.simulate(tl.loads(case["scenario"], file="case.toml")).why(case["flow"]))


@pytest.mark.parametrize("case", of_source("captured"))
def test_captured(case: dict[str, Any], tmp_path: Path) -> None:
    tl.simulate(tl.loads(case["scenario"]), pcap=tmp_path / "out.pcapng", pcap_at=[case["at"]])
    run = tl.capture(tmp_path / "out.pcapng")
    largest = run.flows.sort("bytes_sent", descending=True)["label"][0]
    _check(case, run.why(largest))


@pytest.fixture(scope="module")
def real() -> SideBySide:
    """The measured cases, over a link each."""
    cases = [case for case in CASES if case["source"] == "measured"]
    return SideBySide({case["name"]: (tl.loads(case["scenario"], file="case.toml"), {}) for case in cases})


@measures_side_by_side
@pytest.mark.parametrize("case", of_source("measured"))
def test_measured(case: dict[str, Any], real: SideBySide) -> None:
    run = real.run(case["name"])
    _check(case, run.why(case["flow"]))
    (diagnosis,) = run.why(case["flow"]).diagnoses
    if run.flows["transport"][0] == "tcp":
        # The kernel's own account: shares of the same time.
        assert diagnosis.tcp_info is not None
        assert 0 <= diagnosis.tcp_info["receiver_limited"] <= diagnosis.tcp_info["busy"] <= 1
        assert diagnosis.delay is not None
        assert diagnosis.delay.base_s == pytest.approx(diagnosis.tcp_info["rtt_min_s"])


def test_flows_with_the_same_diagnosis_are_one_sentence() -> None:
    found = tl.simulate(tl.loads(BLOAT["scenario"], file="case.toml")).why()
    (diagnosis,) = found.diagnoses
    assert diagnosis.flows == tuple(f"upload[{number}]" for number in range(4))
    assert str(found).startswith("4 flows, upload[0..3]: link uplink is saturated")
    assert found.causes[0].share == pytest.approx(diagnosis.causes[0].share)
    assert found.delay == diagnosis.delay
    assert found.suggestions == diagnosis.suggestions
    # Two answers and a command: few lines.
    assert str(found).count("\n") <= 5
    assert why(tl.simulate(tl.loads(BLOAT["scenario"])), "upload").sentence.startswith("4 flows")


def test_every_source_prints_and_writes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "case.toml"
    file.write_text(BLOAT["scenario"].replace("6 s", "3 s"), encoding="utf-8")
    assert cli.main(["run", str(file), "--pcap", str(tmp_path / "out.pcapng")]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("4 flows, upload[0..3]: ")
    assert "link uplink is saturated" in printed
    assert cli.main(["run", str(file), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["why"]
    assert found["causes"][0]["name"] == "saturated_link"
    assert found["diagnoses"][0]["flows"][3] == "upload[3]"
    assert found["delay"]["where"] == "uplink"
    assert cli.main(["capture", str(tmp_path / "out.pcapng")]) == 0
    assert "likely a link of the path is saturated" in capsys.readouterr().out.replace("\n  ", " ")
    assert cli.main(["capture", str(tmp_path / "out.pcapng"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["why"]
    assert {diagnosis["causes"][0]["certainty"] for diagnosis in found["diagnoses"]} == {"likely"}


def test_there_must_be_such_a_flow() -> None:
    run = tl.simulate(tl.loads(BLOAT["scenario"]).set("duration", "0.1 s"))
    with pytest.raises(tl.TightlinkError, match=r'no flow is called "uplaod"; did you mean "upload"\?'):
        run.why("uplaod")


def test_a_measurement_that_nobody_accounted_for() -> None:
    """As iperf3's: totals of the link tell, and the certainty says so."""
    for text, cause in ((BLOAT["scenario"], "saturated_link"), (named("64 KiB over"), "receiver_window")):
        run = tl.simulate(tl.loads(text).set("duration", "5 s"))
        shares = [name for name in run.flows.columns if name.startswith("limited_by_")]
        flows = run.flows.with_columns(pl.lit(None, pl.Float64).alias(name) for name in shares)
        silent = Run(run.scenario, {"source": "measurement"}, Framed({"flows": flows, "links": run.links}))
        found = silent.why().causes[0]
        assert (found.name, found.certainty, found.share) == (cause, "likely", None)


def test_what_the_kernel_counts_beside_us() -> None:
    row = {"limited_by_receiver_window": 0.1, "limited_by_network": 0.1}
    kernel = {"receiver_limited": 0.5, "busy": 1.0, "buffer_limited": 0.0}
    assert disagreement(row, kernel) == "Linux counts 50 % of the time at the receiver's window"
    assert disagreement(row, {**kernel, "receiver_limited": 0.3}) == ""
    assert disagreement(row, None) == ""


def test_a_send_buffer_that_is_full() -> None:
    run = tl.simulate(tl.loads(named("random loss on the wire")))
    lasted = run.flows["stop_s"][0]
    info = {"busy_s": lasted, "receiver_limited_s": 0.0, "buffer_limited_s": 0.6 * lasted, "rtt_min_s": 0.04}
    measured = Run(run.scenario, {"tcp_info": {"ftp": info}}, Framed({"flows": run.flows, "links": run.links}))
    first, second, *_ = measured.why("ftp").causes
    assert first.name == "send_buffer"
    assert first.share == pytest.approx(0.6)
    assert second.name == "random_loss"
    assert "0.04" not in measured.why("ftp").sentence
    assert "base RTT of 40 ms" in measured.why("ftp").sentence


def test_many_saturated_links_of_one_family_are_one_diagnosis() -> None:
    found = tl.simulate(tl.load(Path(__file__).parent.parent / "examples/four-tier.toml")).why()
    (diagnosis,) = found.diagnoses
    assert diagnosis.subject == "105 flows, files[0..104]"
    assert diagnosis.causes[0].where == "net.direct_link[0..5]"
    assert "6 links, net.direct_link[0..5], are saturated (98 % busy, shared by 17 to 18 flows each)" in found.sentence
    assert "most those of net.direct_link[0..5], add" in found.sentence


USERS: Final = """
duration = "20 s"
link.east = { ends = ["core", "library"], rate = "40 packets/ms", delay = "5 ms", queue = "200 packets" }
link.west = { ends = ["core", "dormitory"], rate = "8 packets/ms", delay = "5 ms", queue = "200 packets" }

[traffic.web]
kind = "users"
think = "2 s"
interfaces.normal = { rate = "8 packets/ms" }
files.page = { mean = "50 packets" }
places.servers = { at = "library", sources = 200, receivers = 50 }
places.rooms = { at = "dormitory", sources = 50, receivers = 800 }
"""


@pytest.mark.parametrize(
    ("rate", "cause", "where", "says"),
    [
        # 200 sources that think for 2 s offer 60 Mbit/s, and the other 50 offer 15 Mbit/s in return.
        ("24 Mbit/s", "saturated_link", "west", "link west is saturated ("),
        ("480 Mbit/s", "application", "", "no link is saturated: the busiest, "),
    ],
)
def test_users_are_told_of_by_links(rate: str, cause: str, where: str, says: str) -> None:
    found = tl.simulate(tl.loads(USERS).set("link.west.rate", rate)).why()
    assert (found.causes[0].name, found.causes[0].where) == (cause, where)
    assert found.sentence.startswith("web: " + says)
    assert ("most are dropped there" in found.sentence) == (cause == "saturated_link")
    assert found.to_dict()["diagnoses"][0]["flows"] == ["web"]


def test_a_flow_of_which_nothing_arrived_has_no_delay() -> None:
    late = """
    duration = "2 s"
    link.wire = { ends = ["a", "b"], rate = "5 Mbit/s", delay = "10 ms", queue = "20 packets" }
    traffic.early = { kind = "bulk", from = "a", to = "b" }
    traffic.late = { kind = "bulk", from = "a", to = "b", start = "1.9999 s" }
    """
    run = tl.simulate(tl.loads(late))
    assert run.flows["queueing_delay_mean_s"].is_null().to_list() == [False, True]
    (told,) = run.why("late").diagnoses
    assert (told.delay, told.suggestions) == (None, ())
    assert "queue" not in told.sentence
    assert run.why("early").delay is not None


@pytest.mark.parametrize(("flows", "said"), [(("a",), "1 more diagnosis of 1 flow ("), (("a", "b"), "of 2 flows (")])
def test_what_is_left_unsaid_is_counted(flows: tuple[str, ...], said: str) -> None:
    """Diagnoses beyond the first five are counted with their flows."""
    made = Diagnosis(("x",), (), None, (), "is slow.")
    assert said in str(Why((*[made] * MOST_SAID, replace(made, flows=flows))))
