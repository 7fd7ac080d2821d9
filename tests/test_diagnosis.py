"""Why is it slow? Scenarios whose cause is known by how they are built (`data/diagnoses.toml`), simulated, captured and
measured; that suggested commands can be typed, and do what is expected of them."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any, Final

import polars as pl
import pytest

import tightlink as tl
from in_real_time import measures
from tightlink import cli
from tightlink.diagnosis import CAUSES, Why, why
from tightlink.diagnosis.captured import of_captured
from tightlink.diagnosis.kernel import disagreement
from tightlink.measure.measuring import check, measure
from tightlink.measure.relay import InvalidMeasurementError
from tightlink.run import Framed, Run

CASES: Final = tomllib.loads((Path(__file__).parent / "data" / "diagnoses.toml").read_text(encoding="utf-8"))["case"]
#: What a flow loses of its rate, at most, where a suggestion is about delay; and what is left of the delay.
KEPT, LEFT = 0.85, 0.6
BLOAT: Final = next(case for case in CASES if case["name"].startswith("the issue's"))
UNKNOWN: Final = {
    "transport": "tcp", "state": "complete", "zero_windows": 0, "lost_segments": 0, "acked_unseen": 0,
    "spurious_retransmissions": 0, "packets_retransmitted": 0, "retransmissions": 0, "fast_retransmissions": 0,
    "data_packets": 1000, "payload_bytes": 1_448_000, "in_flight_max_bytes": 14_480, "window_full": 0, "acks": 500,
    "window_max_bytes": 65535, "rtt_min_s": 0.02, "rtt_median_s": 0.02, "rtt_mean_s": 0.02, "rtt_p95_s": 0.02,
    "initial_rtt_s": 0.02, "mss_bytes": 1448, "options": "sack", "goodput_bps": 1e6, "start_s": 0.0, "stop_s": 11.6,
    "label": "a-b", "rtt_samples": 500, "idle_s": 0.0, "idle_beyond_rtt_s": 0.0, "window_limited_s": 0.0,
    "duplicate_acks": 0, "delivered_bytes": 1_448_000,
}  # fmt: skip


#: Captured at the receiver after the handshake.
LATE: Final = {
    "initial_rtt_s": None, "state": "partial", "rtt_min_s": 4e-6, "rtt_median_s": 1.2e-5, "rtt_mean_s": 8e-5,
    "rtt_p95_s": 5e-5, "idle_s": 11.0, "idle_beyond_rtt_s": 11.0, "mss_bytes": None, "options": "",
}  # fmt: skip
REQUEST: Final = {"data_packets": 1, "payload_bytes": 18, "delivered_bytes": 18, "in_flight_max_bytes": 18}
LARGE: Final = {"goodput_bps": 26e6, "in_flight_max_bytes": 400_000, "window_max_bytes": 3_000_000}
#: Captured in the middle of a path of 40 ms.
BETWEEN: Final = {"initial_rtt_s": 0.04, "rtt_max_s": 0.09, "rtt_echoed_median_s": 0.02}


def _of(source: str) -> list[Any]:
    return [pytest.param(case, id=case["name"].replace(" ", "-")) for case in CASES if case["source"] == source]


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
    assert (len(_of("simulated")) >= 28, len(_of("captured")) >= 8, len(_of("measured")) >= 4) == (True,) * 3
    assert len(CASES) >= 40
    assert {case["cause"] for case in CASES} <= set(CAUSES)


@pytest.mark.parametrize("case", _of("simulated"))
def test_simulated(case: dict[str, Any]) -> None:
    _check(case, tl.simulate(tl.loads(case["scenario"], file="case.toml")).why(case["flow"]))


@pytest.mark.parametrize("case", _of("captured"))
def test_captured(case: dict[str, Any], tmp_path: Path) -> None:
    tl.simulate(tl.loads(case["scenario"]), pcap=tmp_path / "out.pcapng", pcap_at=[case["at"]])
    run = tl.capture(tmp_path / "out.pcapng")
    largest = run.flows.sort("bytes_sent", descending=True)["label"][0]
    _check(case, run.why(largest))


@measures
@pytest.mark.parametrize("case", _of("measured"))
def test_measured(case: dict[str, Any]) -> None:
    try:
        run = measure(tl.loads(case["scenario"], file="case.toml"), tries=3)
    except InvalidMeasurementError as error:
        pytest.skip(str(error))
    _check(case, run.why(case["flow"]))
    (diagnosis,) = run.why(case["flow"]).diagnoses
    if run.flows["transport"][0] == "tcp":
        # The kernel's own account: shares of the same time.
        assert diagnosis.tcp_info is not None
        assert 0 <= diagnosis.tcp_info["receiver_limited"] <= diagnosis.tcp_info["busy"] <= 1
        assert diagnosis.delay is not None
        assert diagnosis.delay.base_s == pytest.approx(diagnosis.tcp_info["rtt_min_s"])


@pytest.mark.parametrize("case", [case for case in _of("simulated") if "tries" in case.values[0]])
def test_suggested_commands_do_what_they_should(
    case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every command works as it is; the first one raises the rate, or lowers the delay and keeps the rate."""
    monkeypatch.chdir(tmp_path)
    Path("case.toml").write_text(case["scenario"], encoding="utf-8")
    run = tl.simulate(tl.load("case.toml"))
    (diagnosis,) = run.why(case["flow"]).diagnoses
    assert diagnosis.delay is not None
    flows = []
    for suggestion in diagnosis.suggestions:
        if suggestion.vary:
            assert suggestion is diagnosis.suggestions[-1]
            assert cli.main([*shlex.split(suggestion.command)[1:], "--dry-run"]) == 0
            continue
        assert cli.main([*shlex.split(suggestion.command)[1:], "--json"]) == 0
        found = {flow["label"]: flow for flow in json.loads(capsys.readouterr().out)["flows"]}
        flows.append(found[case["flow"]]["throughput_bps"])
        changed = tl.simulate(tl.load("case.toml", set=suggestion.changes)).why(case["flow"]).diagnoses[0]
        if suggestion is diagnosis.suggestions[0]:
            first = changed
    before = run.flows.filter(pl.col("label") == case["flow"])["throughput_bps"][0]
    assert first.delay is not None
    faster = flows[0] > before / KEPT
    assert faster or first.delay.mean_s < LEFT * diagnosis.delay.mean_s, (before, flows, first)
    assert flows[0] > KEPT * before


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


def test_a_scenario_of_python_gets_python() -> None:
    run = tl.simulate(tl.loads(BLOAT["scenario"]).set("duration", "3 s"))
    command = run.why().suggestions[0].command
    better = eval(command, {"tl": tl, "run": run})  # what is suggested
    assert better.delay.mean_s < LEFT * run.why().delay.mean_s  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("one Reno flow that overfills", "link.wire.queue"),
        ("a game behind an upload", "link.uplink.queue.kind"),
        ("random loss on the wire", "traffic.ftp.tcp.congestion"),
    ],
)
def test_what_is_a_choice_is_swept(
    name: str, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("case.toml").write_text(_named(name), encoding="utf-8")
    suggestion = tl.simulate(tl.load("case.toml")).why().suggestions[-1]
    ((varied, levels),) = suggestion.vary.items()
    assert (varied, suggestion.changes) == (key, {})
    assert cli.main(shlex.split(suggestion.command)[1:]) == 0
    assert levels[0] in capsys.readouterr().out
    assert (tmp_path / "results" / "case-sweep" / "report.html").exists()
    # What only Python has, Python sweeps.
    run = tl.simulate(tl.loads(_named(name)))
    found = eval(run.why().suggestions[-1].command, {"tl": tl, "run": run})  # what is suggested
    assert found.runs.collect().height == len(levels)


@pytest.mark.parametrize("case", [case for case in _of("measured") if "tries" in case.values[0]])
def test_what_was_measured_is_measured_again(case: dict[str, Any]) -> None:
    """As it was; sweeps are simulated, and say so."""
    run = tl.simulate(tl.loads(case["scenario"], file="a case.toml").set("duration", "5 s"))
    manifest = {"source": "measurement", "sender": {"name": "iperf3"}, "link": {"names": ["wire"], "device": "packet"}}
    measured = Run(run.scenario, manifest, Framed({"flows": run.flows, "links": run.links}))
    commands = {each.text: each for each in measured.why().suggestions}
    again = [each for each in commands.values() if each.command.startswith("tightlink measure ")]
    assert list(again[0].changes) == case["tries"]
    assert again == [each for each in commands.values() if each.changes]
    for each in again:
        assert " --sender iperf3 --device packet --set " in each.command
        check(run.scenario.set_all(each.changes))
    for text, each in commands.items():
        assert (each in again) == (not text.endswith(" in a simulation"))
        words = shlex.split(each.command)
        assert words[2] == "a case.toml"
        cli.app.parse_args(words[1:], exit_on_error=False)
    # Of several links, that which was emulated; without a file, in Python.
    several = 'link.other = { ends = ["b", "c"], rate = "1 Gbit/s" }'
    for text, file, begin in (
        (case["scenario"] + several, "it.toml", "tightlink measure it.toml --sender iperf3 --device packet --link wire "),
        (case["scenario"], None, "measure(run.scenario.set_all({'link.wire.queue'"),
    ):  # fmt: skip
        measured = Run(tl.loads(text, file=file), manifest, Framed({"flows": run.flows, "links": run.links}))
        assert measured.why().suggestions[0].command.startswith(begin)


def test_what_was_changed_already_is_in_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a case.toml"
    file.write_text(BLOAT["scenario"], encoding="utf-8")
    changes = {"duration": "2 s", "traffic.upload.tcp.window": "5000 packets", "link[*].loss": 0.0}
    run = tl.simulate(tl.load(file, set=changes))
    command = run.why().suggestions[0].command
    assert '--set duration="2 s" --set traffic.upload.tcp.window="5000 packets" --set "link[*].loss=0.0"' in command
    assert cli.main([*shlex.split(command)[1:], "--show-config"]) == 0
    assert "5000 packets" in capsys.readouterr().out


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


def test_names_of_others_are_no_markup() -> None:
    row = {**UNKNOWN, "label": "<b>"}
    assert "&lt;b&gt;" in Why(tuple(of_captured([row])))._repr_html_()


def test_there_must_be_such_a_flow() -> None:
    run = tl.simulate(tl.loads(BLOAT["scenario"]).set("duration", "0.1 s"))
    with pytest.raises(tl.TightlinkError, match=r'no flow is called "uplaod"; did you mean "upload"\?'):
        run.why("uplaod")


@pytest.mark.parametrize(
    ("changed", "cause", "said"),
    [
        ({"state": "refused", "rtt_min_s": None}, "not_connected", "was refused"),
        ({"zero_windows": 3, "window_limited_s": 4.0}, "slow_receiver", "closed its window 3 times"),
        (
            {"data_packets": 0, "payload_bytes": 0, "acks": 0, "rtt_samples": 0},
            "unknown",
            "no data of it were captured",
        ),
        ({"acks": 0, "rtt_samples": 0, "in_flight_max_bytes": 0}, "unknown", "no ACKs of it were captured"),
        ({"rtt_samples": 0, "in_flight_max_bytes": 0}, "unknown", "too little was kept of its packets"),
        # A window of which the scale was not captured is larger than what is in flight.
        (
            {"window_max_bytes": 1610, "in_flight_max_bytes": 80_000, "state": "partial", "rtt_median_s": 0.08},
            "saturated_link",
            "packets wait in a queue",
        ),
        # Or it is full: times 1024 it is what is in flight; of another size, no power of two makes it that.
        (
            {"window_max_bytes": 13, "in_flight_max_bytes": 13_312, "state": "partial", "options": ""},
            "unknown",
            "the application, the receiver's window, whose scale was not captured, or a congestion control",
        ),
        (
            {"window_max_bytes": 10, "in_flight_max_bytes": 13_312, "state": "partial", "options": ""},
            "application",
            "offers no more: at most 13312 bytes are in flight",
        ),
        # Once in a long transfer is not what bounds it.
        (
            {"zero_windows": 1, "window_limited_s": 0.5, "rtt_median_s": 0.08, "in_flight_max_bytes": 60_000},
            "saturated_link",
            "its receiver closed its window once, 4 % of the time",
        ),
        ({"idle_s": 9.0}, "application", "nothing is in flight 78 % of the time"),
        (
            {"idle_s": 9.0, "rtt_median_s": 0.08, "in_flight_max_bytes": 60_000},
            "application",
            "of the time; a link of the path is saturated",
        ),
        (
            {"idle_s": 2.0, "rtt_median_s": 0.08, "in_flight_max_bytes": 60_000},
            "saturated_link",
            "nothing is in flight 17 % of the time",
        ),
        # Two bytes in an hour are no slow start.
        ({"idle_s": 11.5, "payload_bytes": 2, "in_flight_max_bytes": 2}, "application", "has nothing to send"),
        (
            {"window_limited_s": 9.0, "window_max_bytes": 600_000, "in_flight_max_bytes": 300_000},
            "receiver_window",
            "has no room 78 % of the time",
        ),
        # At the receiver a pause is a round trip longer.
        ({"rtt_min_s": 1e-5, "idle_s": 11.0, "idle_beyond_rtt_s": 6.0}, "application", "in flight 52 % of the time"),
        ({"rtt_min_s": 1e-5, "idle_s": 6.0, "idle_beyond_rtt_s": 0.1}, "unknown", "at the receiver cannot tell"),
        # Its timestamps come back with the data: a queue stands, or what is lost is what so few segments in flight allow.
        (
            {"rtt_min_s": 1e-5, "rtt_echoed_median_s": 0.05, "rtt_echoed_p95_s": 0.07},
            "saturated_link",
            "queues on the path add 30 ms (median; 50 ms at p95) to the handshake's RTT of 20 ms",
        ),
        # Or some wait, and too many are lost for the window: the queue overflows.
        (
            {
                "rtt_min_s": 1e-5,
                "rtt_echoed_median_s": 0.022,
                "rtt_echoed_p95_s": 0.05,
                "packets_retransmitted": 25,
                "lost_segments": 25,
                "goodput_bps": 40e6,
                "window_max_bytes": 500_000,
            },
            "saturated_link",
            "queues on the path add 2 ms (median; 30 ms at p95) to the handshake's RTT of 20 ms",
        ),
        (
            {
                "rtt_min_s": 1e-5,
                "rtt_echoed_median_s": 0.021,
                "packets_retransmitted": 4,
                "lost_segments": 4,
                "goodput_bps": 12e6,
            },
            "losses",
            "0.4 % of the segments",
        ),
        # Segments that others overtook are no losses, whatever tshark calls what fills their gaps.
        (
            {"rtt_min_s": 1e-5, "lost_segments": 90, "fast_retransmissions": 90},
            "unknown",
            "90 gaps in what was captured, most of packets that others overtook",
        ),
        # What had arrived already was retransmitted in vain, or is a copy that the path made.
        (
            {"rtt_min_s": 1e-5, "packets_retransmitted": 40, "retransmissions": 40},
            "unknown",
            "40 segments retransmitted in vain, or duplicated by the path",
        ),
        # Of packets of many segments, as hosts capture that leave segmentation to their interface, few segments are lost.
        (
            {"payload_bytes": 40_000_000, "delivered_bytes": 40_000_000, "packets_retransmitted": 20},
            "application",
            "offers no more",
        ),
        # Many losses are many at either end.
        ({"rtt_min_s": 1e-5, "packets_retransmitted": 70, "lost_segments": 50}, "losses", "7 % of the segments"),
        # The largest window may be that of the SYN.
        ({"rtt_min_s": 1e-5}, "unknown", "whether later windows were smaller is not in the tables"),
        # A SYN that was answered late: round trips of data are much shorter, and one is as long as the handshake.
        (
            {"initial_rtt_s": 0.22, "rtt_max_s": 0.22, "rtt_min_s": 0.04, "rtt_mean_s": 0.0405, "rtt_p95_s": 0.04},
            "application",
            "add nothing to 95 % of the round trips, of which the shortest is 40 ms",
        ),
        # Timestamps that come back at once say so, too.
        ({"initial_rtt_s": 0.22, "rtt_echoed_median_s": 9e-5}, "application", "a shortest RTT of 20 ms"),
        # More in flight than its window is impossible: the handshake is no round trip of the path.
        (
            {"initial_rtt_s": 0.22, "rtt_max_s": 0.5, "goodput_bps": 3.8e6, "window_max_bytes": 60_000},
            "application",
            "a shortest RTT of 20 ms",
        ),
        # In the middle of the path: of its 50 ms, all round trips lack 30.
        (
            {
                "initial_rtt_s": 0.05,
                "rtt_max_s": 0.02,
                "idle_s": 6.0,
                "goodput_bps": 9.2e6,
                "in_flight_max_bytes": 64_000,
            },
            "receiver_window",
            "captured between both ends: of the path's shortest RTT of 50 ms, 30 ms are on the sender's side",
        ),
        # With queues: one behind the capture point, which no receiver has; and one before it, which timestamps tell.
        (
            {
                "initial_rtt_s": 0.05,
                "rtt_max_s": 0.4,
                "rtt_min_s": 0.004,
                "rtt_median_s": 0.18,
                "rtt_prompt_p95_s": 0.2,
                "in_flight_max_bytes": 60_000,
            },
            "saturated_link",
            "46 ms are on the sender's side",
        ),
        (
            {"initial_rtt_s": 0.05, "rtt_max_s": 0.4, "rtt_echoed_median_s": 0.19, "goodput_bps": 2e6},
            "saturated_link",
            "30 ms are on the sender's side",
        ),
        # At the receiver segments behind a gap are acknowledged late, and most of the others at once.
        (
            {"rtt_min_s": 1e-5, "rtt_median_s": 2e-5, "rtt_max_s": 0.4, "rtt_prompt_p95_s": 0.03},
            "unknown",
            "captured at the receiver",
        ),
        # Three duplicate ACKs ask for each of what was lost behind the capture point.
        (
            {"rtt_min_s": 1e-5, "packets_retransmitted": 40, "retransmissions": 40, "duplicate_acks": 300},
            "losses",
            "4 % of the segments",
        ),
        # Nothing in flight for 9 s after its last segment, until the other end resets.
        (
            {"state": "reset", "idle_s": 9.0, "after_s": 9.0, "packets_sent": 1001, "to": "10.0.0.2"},
            "application",
            "add 0 ms to a shortest RTT of 20 ms; the connection was reset by 10.0.0.2",
        ),
        (
            {"stalled_s": 5.8, "longest_stall_s": 4.0, "idle_s": 0.0},
            "outage",
            "nothing gets through 50 % of the time, 4 s at a stretch",
        ),
        # A receiver sees the same stall as a pause.
        (
            {"rtt_min_s": 1e-5, "stalled_s": 5.8, "longest_stall_s": 0.4, "idle_s": 6.0, "idle_beyond_rtt_s": 5.9},
            "timeouts",
            "until something is retransmitted after a timeout",
        ),
        (
            {"stalled_s": 1.5, "longest_stall_s": 0.4},
            "application",
            "nothing gets through 13 % of the time",
        ),
        # SYNs that were lost are no losses of data.
        (
            {"syns_retransmitted": 2, "handshake_s": 3.0, "packets_retransmitted": 2, "data_packets": 100},
            "application",
            "the handshake took about 3 s, 26 % of the time, for 2 SYNs were retransmitted",
        ),
        (
            {"syns_retransmitted": 1, "handshake_s": 9.0, "packets_retransmitted": 1, "data_packets": 100},
            "handshake",
            "for a SYN was retransmitted",
        ),
        # A mirror port: each packet twice.
        (
            {
                "packets_sent": 1004,
                "packets_retransmitted": 502,
                "duplicate_acks": 250,
                "delivered_bytes": 724_000,
            },
            "application",
            "each packet was captured twice",
        ),
        # No segment of full size is acknowledged.
        (
            {
                "packets_retransmitted": 5,
                "delivered_bytes": 37,
                "in_flight_max_bytes": 1448,
                "from": "10.0.0.1",
            },
            "path_mtu",
            "the path's MTU is smaller",
        ),
        (
            {"rtt_min_s": 1e-5, "data_packets": 1, "payload_bytes": 37, "lost_segments": 1, "goodput_bps": 1e3},
            "unknown",
            "segments that it sent before its end never came",
        ),
        # Of a window of which the scale is not known nothing is excluded, or said to be unscaled.
        (
            {"mss_bytes": None, "options": "", "window_full": 9, "in_flight_max_bytes": 65_000, "goodput_bps": 26e6},
            "receiver_window",
            "options of the SYN were not captured, and the window may be a multiple of that",
        ),
        (
            {"state": "partial", "window_max_bytes": 468, "in_flight_max_bytes": 350_000},
            "unknown",
            "the receiver's window, whose scale was not captured",
        ),
        # A few long round trips lift the mean, and nothing else.
        ({"rtt_mean_s": 0.0203, "rtt_p95_s": 0.0202}, "application", "add under 0.2 ms to 95 % of the round trips"),
        # Four of 1000 allow 19 segments in flight, and no more of an application's few.
        (
            {"packets_retransmitted": 4, "goodput_bps": 12e6, "in_flight_max_bytes": 90_000},
            "losses",
            "0.4 % of the segments",
        ),
        ({"packets_retransmitted": 4, "goodput_bps": 1e6}, "application", "offers no more"),
        # The median is short, and one round trip in twenty says that a queue stands now and then.
        (
            {"rtt_p95_s": 0.09, "rtt_prompt_p95_s": 0.09, "rtt_mean_s": 0.025, "in_flight_max_bytes": 150_000},
            "saturated_link",
            "70 ms at p95",
        ),
        # Round trips of single segments are long, and those of several are not.
        ({"rtt_p95_s": 0.062, "rtt_prompt_p95_s": 0.021}, "application", "and the receiver delays some ACKs"),
        (
            {"rtt_p95_s": 0.062, "in_flight_max_bytes": 400},
            "application",
            "less than a segment, and wait for delayed ACKs, as small writes do (Nagle)",
        ),
        (
            {"spurious_retransmissions": 1, "in_flight_max_bytes": 5000},
            "application",
            "1 segment retransmitted in vain",
        ),
        ({"lost_segments": 2, "in_flight_max_bytes": 5000}, "application", "2 gaps in what was captured"),
        (
            {"window_full": 200, "window_max_bytes": 3000, "in_flight_max_bytes": 3000, "state": "partial"},
            "receiver_window",
            "the window may be a multiple of that",
        ),
        ({"in_flight_max_bytes": 350_000}, "unknown", "a congestion control that holds back"),
        # A connection of which the beginning was not captured: RTTs of microseconds are a receiver's, or a short path's.
        (LATE, "unknown", "RTTs of 0.012 ms may be the receiver's own delay as well as a path's"),
        (
            {**LATE, "lost_segments": 16, "fast_retransmissions": 10, "retransmissions": 4, "packets_retransmitted": 1},
            "unknown",
            "16 gaps in what was captured, of packets that were lost before it or that others overtook",
        ),
        ({**LATE, "silent_s": 8.0}, "application", "nothing is in flight 69 % of the time"),
        ({**LATE, "idle_s": 0.1, "in_flight_max_bytes": 20_000}, "application", "a shortest RTT of 0.004 ms"),
        (
            {"initial_rtt_s": None, "state": "partial", "idle_s": 9.0},
            "unknown",
            "or where the capture was not taken at the sender: the handshake, which would tell, was not captured",
        ),
        ({"initial_rtt_s": None, "state": "partial", "idle_s": 9.0, "silent_s": 8.0}, "application", "nothing to send"),
        # Its window is full over half of the round trip, if this was captured between both ends.
        (
            {"initial_rtt_s": None, "state": "partial", "window_max_bytes": 15_000, "options": ""},
            "unknown",
            "the application, the receiver's window, whose scale was not captured, or",
        ),
        # At the receiver a window without its scale is no bound of what exceeds it.
        (
            {"rtt_min_s": 1e-5, "mss_bytes": None, "options": "", "goodput_bps": 36e6},
            "unknown",
            "the receiver's window is not known, as options of the SYN were not captured",
        ),
        (
            {"rtt_min_s": 1e-5, "mss_bytes": None, "options": "", "goodput_bps": 26e6},
            "receiver_window",
            "options of the SYN were not captured, and the window may be a multiple of that",
        ),
        # A mirror port beside losses, and of a flow whose ACKs carry data: samples tell.
        (
            {
                "packets_sent": 2004,
                "data_packets": 2000,
                "packets_retransmitted": 1026,
                "duplicate_acks": 320,
                "delivered_bytes": 715_000,
                "doubled": True,
                "goodput_bps": 8e6,
            },
            "losses",
            "losses keep the window small (2.4 % of the segments are retransmitted)",
        ),
        # What waits before a capture at the sender is not seen.
        ({"idle_s": 9.0, "steady": True}, "unknown", "or the sender's own link carries no more"),
        ({"idle_s": 9.0, "steady": True, "payload_bytes": 700_000}, "application", "has nothing to send"),
        (
            {"in_flight_max_bytes": 350_000, "steady": True},
            "unknown",
            "the application, the sender's own link, of which",
        ),
        # Only its FIN was retransmitted, and one segment of few is no share.
        ({**REQUEST, "packets_sent": 5, "packets_retransmitted": 2}, "application", "at most 18 bytes are in flight"),
        ({**REQUEST, "data_packets": 2, "packets_retransmitted": 1}, "application", "at most 18 bytes are in flight"),
        # Slow start holds nothing back that is less than the first window.
        ({"payload_bytes": 7500, "in_flight_max_bytes": 3048}, "application", "at most 3048 bytes are in flight"),
        ({"payload_bytes": 20_000, "in_flight_max_bytes": 20_000}, "application", "at most 20000 bytes"),
        (
            {"payload_bytes": 31_000, "in_flight_max_bytes": 20_000, "data_end_s": 0.08},
            "slow_start",
            "the transfer ends after 4 round trips",
        ),
        # Losses that allow a fifth of what is in flight do not hold it back.
        (
            {**LARGE, "packets_retransmitted": 22},
            "unknown",
            "the 45 segments in flight on average are 5.4 times what Reno or CUBIC keep where so many are lost one by one",
        ),
        (
            {**LARGE, "packets_retransmitted": 22, "rtt_mean_s": 0.028},
            "saturated_link",
            "packets wait in a queue, which overflows: 2.2 % of the segments",
        ),
        # The ACK of a spurious retransmission is no round trip of the path, as handshake and timestamps say.
        (
            {**BETWEEN, "rtt_min_s": 1.5e-5, "spurious_retransmissions": 178},
            "application",
            "of the path's shortest RTT of 40 ms, 20 ms are on the sender's side",
        ),
        # What is before the capture point and what is behind it are the handshake's, however much is behind.
        (
            {**BETWEEN, "initial_rtt_s": 0.0312, "rtt_echoed_median_s": 0.0103},
            "application",
            "of the path's shortest RTT of 31.2 ms, 11.2 ms are on the sender's side",
        ),
        # Without timestamps a queue hides whether the handshake was slow.
        (
            {"initial_rtt_s": 0.041, "rtt_max_s": 0.1},
            "application",
            "the handshake took 41 ms: either it was slow, or part of the path lies before the capture point",
        ),
        (
            {"lost_segments": 90, "out_of_order": 90, "times_backwards": 300},
            "application",
            "300 packets of the file are not in the order of time",
        ),
        (
            {"lost_segments": 90, "out_of_order": 90},
            "application",
            "the sender's host reorders packets, or the capture",
        ),
        # A window without room is what bounds a flow, though ACKs that wait for the application look like a queue.
        (
            {"window_limited_s": 11.0, "window_max_bytes": 80_000, "rtt_median_s": 0.04, "in_flight_max_bytes": 50_000},
            "receiver_window",
            "has no room 95 % of the time",
        ),
        (
            {
                "rtt_min_s": 3e-6,
                "rtt_median_s": 0.019,
                "rtt_prompt_p95_s": 0.019,
                "rtt_max_s": 0.044,
                "rtt_echoed_median_s": 0.02,
            },
            "unknown",
            "ACKs come 19 ms after their data, as where the application there reads slowly; captured at the receiver",
        ),
        # A receiver that reads no more: behind the last data only probes of its window pass.
        (
            {"zero_windows": 6, "keep_alives": 5, "after_s": 100.0, "window_limited_s": 100.0},
            "slow_receiver",
            "closed its window, and the last 100 s passed without data",
        ),
        # Where most gaps are of what was overtaken, what comes late may be, too.
        (
            {
                "rtt_min_s": 1e-5,
                "lost_segments": 1202,
                "out_of_order": 4884,
                "fast_retransmissions": 812,
                "packets_retransmitted": 127,
            },
            "unknown",
            "what was lost is not told apart from what others overtook",
        ),
    ],
)
def test_what_a_capture_tells(changed: dict[str, Any], cause: str, said: str) -> None:
    ((diagnosis),) = of_captured([{**UNKNOWN, **changed}])
    assert diagnosis.causes[0].name == cause, diagnosis.sentence
    assert said in diagnosis.sentence


def test_a_hosts_own_delay_is_no_slow_application() -> None:
    """On a path of 50 us, ACKs that come 34 us after their data were held back by nobody."""
    fast = {"initial_rtt_s": 49e-6, "rtt_min_s": 1e-5, "rtt_median_s": 34e-6, "rtt_prompt_p95_s": 35e-6}
    echoed = {"rtt_echoed_min_s": 45e-6, "rtt_echoed_median_s": 48e-6, "rtt_echoed_p95_s": 49e-6}
    (found,) = of_captured([{**UNKNOWN, **fast, **echoed, "rtt_mean_s": 34e-6, "rtt_p95_s": 36e-6}])
    assert "captured at the receiver" in found.sentence
    assert "reads slowly" not in found.sentence


def test_what_losses_allow_is_compared_with_the_time_in_which_a_flow_sends() -> None:
    changed = {**LARGE, "goodput_bps": 10e6, "packets_retransmitted": 22}
    (always,), (seldom,) = (of_captured([{**UNKNOWN, **changed, "idle_s": idle_s}]) for idle_s in (0.0, 8.7))
    assert [cause.name for cause in always.causes] == ["losses"]
    assert [cause.name for cause in seldom.causes] == ["application"]


@pytest.mark.parametrize(
    ("label", "transport", "said"),
    [
        ("a:5000-b:53", "udp", "the application sets the rate of datagrams"),
        ("a:50000-b:443", "udp", "datagrams, likely of QUIC"),
        ("a:5555-b:4789", "udp", "packets of a tunnel, into which is not looked"),
        ("a-b", "gre", "packets of a tunnel"),
        ("a-b", "icmp", "ICMP messages, such as pings or errors"),
        ("fe80::1-ff02::16", "icmpv6", "ICMPv6 messages, such as neighbour discovery"),
    ],
)
def test_what_flows_without_connections_carry(label: str, transport: str, said: str) -> None:
    (diagnosis,) = of_captured([{"label": label, "transport": transport, "from": "a", "to": "b"}])
    assert said in diagnosis.sentence
    assert all(cause.name in CAUSES for cause in diagnosis.causes)


def test_errors_that_reached_the_sender_are_told() -> None:
    hole = {"packets_retransmitted": 5, "delivered_bytes": 0, "in_flight_max_bytes": 1448, "from": "a", "to": "b"}
    error = {"label": "r-a", "transport": "icmp", "from": "r", "to": "a"}
    first, _ = of_captured([{**UNKNOWN, **hole}, error])
    assert "r sent the sender ICMP messages, which may say so (fragmentation needed)" in first.sentence


def test_a_measurement_that_nobody_accounted_for() -> None:
    """As iperf3's: totals of the link tell, and the certainty says so."""
    for text, cause in ((BLOAT["scenario"], "saturated_link"), (_named("64 KiB over"), "receiver_window")):
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
    run = tl.simulate(tl.loads(_named("random loss on the wire")))
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


def _named(name: str) -> str:
    return str(next(case["scenario"] for case in CASES if case["name"].startswith(name)))


def test_a_suggestion_replaces_what_was_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is changed again is named once, whole; other changes stay."""
    monkeypatch.chdir(tmp_path)
    Path("case.toml").write_text(BLOAT["scenario"], encoding="utf-8")
    typed = ["run", "case.toml", "--set", "duration=3 s", "--set", "link.uplink.queue.limit=900 packets", "--seed", "7"]
    assert cli.main([*typed, "--json"]) == 0
    first = json.loads(capsys.readouterr().out)["why"]["diagnoses"][0]["suggestions"][0]
    assert first["changes"].keys() == {"link.uplink.queue"}
    kept = 'tightlink run case.toml --set duration="3 s" --set seed=7 --set link.uplink.queue='
    assert first["command"].startswith(kept)


def test_a_run_that_is_there_already_is_told_of_as_at_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("case.toml").write_text(BLOAT["scenario"], encoding="utf-8")
    said = []
    for _ in range(2):
        assert cli.main(["run", "case.toml", "--set", "duration=3 s", "-o", "out"]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    assert "a sweep" in said[0].replace("\n ", "")


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


def test_it_is_said_whose_bdp_it_is() -> None:
    """Where round trips differ, that of the longest path is what a queue of "1 BDP" has."""
    unlike = """
    duration = "3 s"
    link.wire = { ends = ["l", "r"], rate = "10 Mbit/s", delay = "5 ms", queue = "1 BDP" }
    link.near = { ends = ["a", "l"], rate = "1 Gbit/s", delay = "1 ms" }
    link.far = { ends = ["b", "l"], rate = "1 Gbit/s", delay = "50 ms" }
    traffic.short = { kind = "bulk", from = "a", to = "r" }
    traffic.long = { kind = "bulk", from = "b", to = "r" }
    """
    run = tl.simulate(tl.loads(unlike))
    assert "packets, 1 BDP of long)" in run.why("long").sentence
    short = run.why("short")
    # One queue has one BDP for all of its flows.
    assert "packets, 1 BDP of long)" in short.sentence
    # Its one BDP would starve the other one.
    assert not any("path holds" in each.text for each in short.suggestions)
    deep = tl.simulate(tl.loads(unlike.replace("1 BDP", "500 packets"))).why("short")
    assert any(each.text.startswith("a queue of what the longest path holds (") for each in deep.suggestions)
    alone = tl.simulate(tl.loads(unlike.replace("50 ms", "1 ms")))
    assert "BDP of" not in str(alone.why())


def test_a_limit_in_time_is_the_same_queue_for_all() -> None:
    """Bytes are so many packets of one size, and other ones of another."""
    run = tl.simulate(tl.loads(_named("a game behind an upload")).set("link.uplink.queue", "50 kB"))
    said = [diagnosis.delay.text for diagnosis in run.why().diagnoses if diagnosis.delay is not None]
    assert len(said) > 1
    assert all("the queue of uplink (50 kB" in text for text in said), said


def test_a_timeout_that_has_not_expired_at_the_end_is_one() -> None:
    """Bulk flows that lose all that they have sent wait for a second, and the run ends before that."""
    scenario = tl.loads("""
profile = "rfc"
duration = "100 ms"
[topology.net]
kind = "dumbbell"
pairs = 200
access = { rate = "40 Gbit/s", delay = "10 us", queue = "unlimited" }
bottleneck = { rate = "10 Gbit/s", delay = "20 us", queue = { kind = "threshold", limit = "1000 packets", mark = "20 packets" } }
[traffic.ftp]
kind = "bulk"
from = "net.left[*]"
to = "net.right[*]"
flows = 200
tcp = { congestion = "dctcp", window = "1000 packets" }
""")
    run = tl.simulate(scenario)
    stuck = next(each for each in run.why().diagnoses if "ftp[78]" in each.flows)
    assert run.flows.filter(label="ftp[78]")["timeouts"][0] == 0
    assert stuck.causes[0].name == "timeouts"
    assert "a retransmission timeout of 1 s or more is awaited at the end" in stuck.answer


def _one(queue: str, control: str, profile: str = "rfc", **tcp: Any) -> tl.Run:
    scenario = tl.loads(f"""
        profile = "{profile}"
        duration = "6 s"
        link.w = {{ ends = ["a", "b"], rate = "10 Mbit/s", delay = "20 ms", queue = "{queue}" }}
        traffic.f = {{ kind = "bulk", from = "a", to = "b" }}
    """)
    return tl.simulate(scenario.set("traffic.f.tcp", {"congestion": control, **tcp}))


def test_a_pacing_rate_of_a_control_in_python_is_no_small_window() -> None:
    class Slowly(tl.CongestionControl):
        def on_sample(self, _: tl.RateSample) -> None:
            self.cwnd, self.pacing_rate = 1000, 200

    found = _one("20 packets", Slowly.name).why()
    assert found.causes[0].name == "pacing"
    assert "window" not in found.sentence
    assert not found.suggestions


def test_many_losses_at_a_saturated_link_are_said() -> None:
    class Unheeding(tl.CongestionControl):
        def on_report(self, _: tl.Report) -> None:
            self.cwnd = min(self.cwnd + 20, 5000)

        def on_loss(self, loss: tl.Loss) -> float:
            return loss.in_use

    run = _one("1 BDP", Unheeding.name, "linux")
    first = run.why().causes[0]
    assert first.name == "saturated_link"
    lost = run.flows["packets_dropped"][0] / run.flows["packets_sent"][0]
    assert lost > 0.2
    assert f"{lost * 100:.2g} % of the packets are lost" in first.text


@pytest.mark.parametrize("queue", ["418 packets", "2 BDP", "4 BDP"])
def test_suggestions_against_timeouts_help_and_lead_in_no_circle(queue: str) -> None:
    scenario = tl.loads(f"""
        duration = "6 s"
        link.w = {{ ends = ["a", "b"], rate = "100 Mbit/s", delay = "25 ms", queue = "{queue}" }}
        traffic.f = {{ kind = "bulk", from = "a", to = "b", tcp = {{ congestion = "cubic", window = "100000 packets", slow_start = "byte-counting" }} }}
    """)
    run = tl.simulate(scenario)
    found = run.why()
    assert found.causes[0].name == "timeouts"
    assert not any("longer" in each.text for each in found.suggestions)
    after = tl.simulate(scenario.set_all(found.suggestions[0].changes))
    assert after.flows["goodput_bps"][0] > 1.5 * run.flows["goodput_bps"][0]


@pytest.mark.parametrize(("profile", "flush"), [("linux", True), ("rfc", True), ("linux", False)])
def test_the_timer_behind_an_outage_is_part_of_it(profile: str, flush: bool) -> None:  # noqa: FBT001
    """Unless packets wait for the end of the outage: then their ACKs follow at once."""
    scenario = tl.loads(f"""
        profile = "{profile}"
        duration = "25 s"
        observe.interval = "100 ms"
        link.w = {{ ends = ["a", "b"], rate = "10 Mbit/s", delay = "20 ms", queue = "60 packets" }}
        traffic.f = {{ kind = "bulk", from = "a", to = "b" }}
    """).set("link.w.outages", {"flush": flush, "schedule": [{"at": "5 s", "for": "12 s"}]})
    run = tl.simulate(scenario)
    goodput = run.series.filter(pl.col("metric") == "goodput_bps", pl.col("time_s") > 17, pl.col("value") > 0)
    (down,) = (cause for cause in run.why().causes if cause.name == "outage")
    assert 25 * (down.share or 0) == pytest.approx(goodput["time_s"].sort()[0] - 5, rel=0.1)
    assert ("timer is awaited" in down.text) is flush


def test_a_steady_source_whose_bytes_all_arrive_needs_no_other_control() -> None:
    scenario = tl.loads("""
        profile = "linux"
        duration = "10 s"
        link.w = { ends = ["a", "b"], rate = "50 Mbit/s", delay = "25 ms", queue = "1 BDP" }
        traffic.f = { kind = "cbr", from = "a", to = "b", rate = "5 Mbit/s", tcp.congestion = "ledbat" }
    """)
    found = tl.simulate(scenario).why()
    assert [each.name for each in found.causes] == ["application", "control"]
    assert not found.suggestions


def test_marks_are_no_losses_where_they_are_more() -> None:
    """Slow start overshoots what RED marks, and loses some packets; what cuts the window later are its marks."""
    scenario = tl.loads("""
profile = "ns2"
duration = "10 s"
[topology.net]
kind = "dumbbell"
pairs = 4
access = { rate = "100 Mbit/s", queue = "1000 packets", delay = "1 ms" }
access_left = { delay = { first = "1 ms", every = "3 ms" } }
bottleneck = { rate = "10 Mbit/s", delay = "20 ms", queue = { kind = "red", limit = "40 packets", min = "5 packets", max = "15 packets", weight = 0.002, ecn = true } }
[traffic.ftp]
kind = "bulk"
from = "net.left[*]"
to = "net.right[*]"
flows = 4
start = { first = "0.1 s", every = "130 ms" }
tcp = { recovery = "newreno", window = "60 packets", ecn = true }
""")
    run = tl.simulate(scenario)
    dropped, marked = run.flows.filter(label="ftp[3]").select("packets_dropped", "packets_marked").row(0)
    assert 0 < dropped < marked / 5
    said = run.why("ftp[3]")
    assert [cause.name for cause in said.causes] == ["saturated_link", "congestion_marks"]
    assert "marks keep the window small" in said.sentence


def test_a_queue_that_takes_no_burst_is_to_be_longer() -> None:
    """Also where a bandwidth-delay product is a packet."""
    scenario = tl.loads("""
duration = "20 s"
link.w = { ends = ["a", "b"], rate = "1 Mbit/s", delay = "1 ms", queue = "1 packet" }
traffic.t = { kind = "bulk", from = "a", to = "b" }
""")
    run = tl.simulate(scenario)
    (diagnosis,) = run.why().diagnoses
    assert diagnosis.causes[0].name == "recovery"
    assert diagnosis.suggestions[0].text == "a queue of 10 packets"
    after = tl.simulate(scenario.set_all(diagnosis.suggestions[0].changes))
    assert after.flows["goodput_bps"][0] > 1.5 * run.flows["goodput_bps"][0]


@pytest.mark.parametrize(("window", "back", "said"), [
    # As long as the path of which the unit speaks, and shorter than the one that packets take.
    ("1 BDP", False, "the path holds 6 packets (2 Mbit/s × 24.3 ms, transmission included, which 1 BDP leaves out)."),
    # No shorter than the path: what holds the rate is the queue in which ACKs wait, behind data that come the other way.
    ("8 packets", True, "and round trips take 37.1 ms with the queues."),
])  # fmt: skip
def test_a_window_that_should_fill_the_path_is_told_why_it_does_not(window: str, back: bool, said: str) -> None:  # noqa: FBT001
    scenario = tl.load("examples/one-flow.toml", set={"traffic.ftp.tcp.window": window})
    if back:
        other = {"kind": "bulk", "from": "receiver", "to": "sender", "tcp": {"window": "5 packets"}}
        scenario = scenario.set("traffic.other", other)
    diagnosis = tl.simulate(scenario).why("ftp").diagnoses[0]
    assert diagnosis.causes[0].name == "receiver_window", diagnosis.sentence
    assert said in diagnosis.sentence


NEAR_HOSTS: Final = """
profile = "linux"
duration = "10 ms"
topology.net = { kind = "leaf-spine", leaves = 2, spines = 1, hosts = 4, link = { rate = "100 Gbit/s", delay = "1 us", queue = "1 MB" } }
"""


def test_delays_between_near_hosts_keep_their_digits() -> None:
    """Base round trips of 4 and 9 us are no "0 ms", nor is 0.01 ms of queue "under 0.1 ms" beside them."""
    run = tl.simulate(
        tl.loads(f'{NEAR_HOSTS}traffic.q = {{ kind = "bulk", flows = 7, from = "net.host[*]", to = "net.host[7]" }}')
    )
    assert re.search(r"add [\d.]+ (to [\d.]+ )?ms to base RTTs of 0\.004\d* to 0\.008\d* ms", run.why().sentence)
    alone = tl.simulate(
        tl.loads(
            f'{NEAR_HOSTS}traffic.q = {{ kind = "cbr", rate = "1 Gbit/s", from = "net.host[0]", to = "net.host[7]" }}'
        )
    )
    assert "under" not in alone.why().sentence


def test_a_receivers_window_that_still_opens() -> None:
    """What holds is not the largest window, of many BDP, but what Linux has opened of it; a smaller one is open at once."""
    scenario = tl.loads(
        f'{NEAR_HOSTS}traffic.b = {{ kind = "bulk", from = "net.host[0]", to = "net.host[7]", bytes = "1 MB" }}'
    ).set_all({"topology.net.link.mtu": "9000 B", "traffic.b.tcp.payload": "8948 B"})
    run = tl.simulate(scenario)
    (found,) = run.why().diagnoses
    assert found.causes[0].name == "receiver_window"
    assert "window, which opens up to 3 MiB (351 packets) as it is used, still holds the rate" in found.sentence
    (suggestion,) = found.suggestions
    helped = tl.simulate(scenario.set_all(suggestion.changes))
    assert helped.flows["stop_s"][0] < 0.75 * run.flows["stop_s"][0]
    assert helped.why().diagnoses[0].causes[0].name == "saturated_link"


MARKED: Final = """
profile = "linux"
duration = "200 ms"
[topology.net]
kind = "dumbbell"
pairs = 4
access = { rate = "10 Gbit/s", delay = "5 us", queue = "unlimited" }
bottleneck = { rate = "10 Gbit/s", delay = "40 us", queue = { kind = "threshold", limit = "500 packets", mark = "65 packets" } }
[traffic.a]
kind = "bulk"
flows = 2
from = "net.left[*]"
to = "net.right[*]"
tcp = { congestion = "dctcp" }
[traffic.b]
kind = "bulk"
flows = 2
from = "net.left[*]"
to = "net.right[*]"
"""


@pytest.mark.parametrize(
    ("control", "key", "least"), [("dctcp", "traffic.b.tcp.congestion", 0.9), ("cubic", "traffic.b.tcp.ecn", 0.5)]
)
def test_who_does_not_answer_marks_leaves_nothing_to_others(control: str, key: str, least: float) -> None:
    """Between near hosts FQ-CoDel would add delay: with the same control, or ECN, the queue is short and shared."""
    scenario = tl.loads(MARKED).set_all({"traffic.a.tcp.congestion": control, "traffic.a.tcp.ecn": True})
    run = tl.simulate(scenario)
    assert "b gets 9" in run.why().sentence.replace("\n", " ")
    (found,) = run.why("a[0]").diagnoses
    assert "as b does not answer the marks that others do" in found.answer
    (suggestion,) = found.suggestions
    assert suggestion.changes.keys() == {key}
    helped = tl.simulate(scenario.set_all(suggestion.changes))
    rates = helped.flows["goodput_bps"].to_list()
    assert sum(rates) ** 2 / (4 * sum(rate**2 for rate in rates)) > least
    waits_s, before_s = (max(each.flows["queueing_delay_mean_s"].to_list()) for each in (helped, run))
    assert waits_s < 0.3 * before_s
    assert "does not answer" not in helped.why().sentence
