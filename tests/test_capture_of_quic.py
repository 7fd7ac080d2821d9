"""QUIC in captures: how it is recognised, its handshake, round trips by the spin bit, what is said of it."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest

import tightlink as tl
from captures import pcap, pcapng
from quic_captures import (
    BEGAN,
    CLIENT,
    HANDSHAKE,
    INITIAL,
    MADE_UP,
    MS,
    OF_CLIENT,
    OF_RETRY,
    OF_SERVER,
    ONE,
    RETRY,
    SERVER,
    TWO,
    ZERO_RTT,
    Download,
    filled,
    frame,
    handshake,
    long,
    negotiation,
    reordered,
    short,
)
from tightlink import cli
from tightlink.diagnosis.captured_quic import of_quic
from tightlink.report import run_report

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from captures import Timed

#: A version that no server speaks (RFC 9000 §15).
GREASE = 0x1A2A3A4A


def read(tmp_path: Path, frames: list[Timed], **options: Any) -> tl.Run:
    file = tmp_path / "quic.pcap"
    file.write_bytes(pcap(frames, **({"snap": options.pop("snap")} if "snap" in options else {})))
    return tl.capture(file, **options)


def timed(*steps: tuple[float, str, bytes]) -> list[Timed]:
    return [(BEGAN + round(at * MS), frame(end, datagram)) for at, end, datagram in steps]


def connection(run: tl.Run) -> dict[str, dict[str, Any]]:
    """What is told of the only connection, by who sends."""
    rows = run.table("quic").to_dicts()
    assert len({row["connection"] for row in rows}) == 1
    return {row["sender"]: row for row in rows}


@pytest.mark.parametrize(("version", "name"), [(ONE, "v1"), (TWO, "v2"), (0xFF00001D, "draft-29")])
@pytest.mark.parametrize("snap", [262144, 96])
def test_a_handshake_is_recognised_and_its_round_trip_told(tmp_path: Path, version: int, name: str, snap: int) -> None:
    run = read(tmp_path, handshake(version=version), snap=snap)
    assert run.flows["transport"].to_list() == [f"quic {name}"] * 2
    both = connection(run)
    for row in both.values():
        assert (row["version"], row["state"], row["retries"], row["zero_rtt_packets"]) == (name, "open", 0, 0)
        assert row["initial_rtt_s"] == pytest.approx(0.021)
    assert both["client"]["handshake_behind_s"] == pytest.approx(0.016)
    assert both["server"]["handshake_behind_s"] == pytest.approx(0.005)


def test_what_the_client_sent_before_the_answer_reached_it_is_no_round_trip(tmp_path: Path) -> None:
    first = filled(long(INITIAL, MADE_UP, OF_CLIENT, payload=600), long(ZERO_RTT, MADE_UP, OF_CLIENT, payload=400))
    early = long(ZERO_RTT, MADE_UP, OF_CLIENT, payload=900)
    answer = long(INITIAL, OF_CLIENT, OF_SERVER) + long(HANDSHAKE, OF_CLIENT, OF_SERVER)
    frames = timed(
        # Early data may overtake the Initial.
        *((0, CLIENT, early), (1, CLIENT, first), (3, SERVER, answer), (4, CLIENT, early)),
        (13, CLIENT, filled(long(INITIAL, OF_SERVER, OF_CLIENT))),
    )
    both = connection(read(tmp_path, frames))
    assert (both["client"]["state"], both["client"]["zero_rtt_packets"]) == ("open", 3)
    assert both["client"]["initial_rtt_s"] == pytest.approx(0.012)
    assert both["server"]["handshake_behind_s"] == pytest.approx(0.010)


def test_retry(tmp_path: Path) -> None:
    again = filled(long(INITIAL, OF_RETRY, OF_CLIENT, payload=1100, token=b"token"))
    frames = timed(
        (0, CLIENT, filled(long(INITIAL, MADE_UP, OF_CLIENT, payload=1150))),
        (15, SERVER, long(RETRY, OF_CLIENT, OF_RETRY, token=b"token")),
        (20, CLIENT, again),
        (36, SERVER, long(INITIAL, OF_CLIENT, OF_SERVER) + long(HANDSHAKE, OF_CLIENT, OF_SERVER)),
        (41, CLIENT, filled(long(HANDSHAKE, OF_SERVER, OF_CLIENT))),
    )
    both = connection(read(tmp_path, frames))
    assert (both["client"]["state"], both["client"]["retries"]) == ("open", 1)
    # A Retry takes the server no time.
    assert both["client"]["initial_rtt_s"] == pytest.approx(0.020)
    assert "Retry" in read(tmp_path, frames).why().sentence


@pytest.mark.parametrize(
    ("tried", "said"),
    [
        (GREASE, "a version of QUIC that is reserved, and nothing followed"),
        (0x12345678, "does not speak QUIC version 0x12345678"),
        # A server may speak none of the versions that are known here.
        (TWO, "does not speak QUIC v2"),
    ],
)
def test_version_negotiation(tmp_path: Path, tried: int, said: str) -> None:
    first = filled(long(INITIAL, MADE_UP, OF_CLIENT, version=tried, payload=1150))
    answer = negotiation(OF_CLIENT, MADE_UP, (GREASE, ONE))
    run = read(tmp_path, timed((0, CLIENT, first), (15, SERVER, answer)))
    both = connection(run)
    assert (both["client"]["state"], both["client"]["version_negotiated"]) == ("refused", 1)
    assert both["client"]["handshake_behind_s"] == pytest.approx(0.015)
    assert run.why().causes[0].name == "not_connected"
    assert said in run.why().sentence
    later = [(time + 20 * MS, kept) for time, kept in handshake(version=ONE)]
    both = connection(read(tmp_path, [*timed((0, CLIENT, first), (15, SERVER, answer)), *later]))
    assert {(row["version"], row["state"], row["version_negotiated"]) for row in both.values()} == {("v1", "open", 1)}
    assert both["client"]["initial_rtt_s"] == pytest.approx(0.020)
    # An answer to something else is none.
    run = read(tmp_path, timed((0, CLIENT, first), (15, SERVER, negotiation(OF_CLIENT, b"other id", (ONE,)))))
    assert ("quic" in run.tables) == (tried == TWO)
    assert "does not speak" not in run.why().sentence


def test_a_server_may_choose_a_compatible_version(tmp_path: Path) -> None:
    """RFC 9368: a client offers version 1, the server answers with version 2."""
    frames = timed(
        (0, CLIENT, filled(long(INITIAL, MADE_UP, OF_CLIENT, payload=1150))),
        (15, SERVER, long(INITIAL, OF_CLIENT, OF_SERVER, version=TWO)),
        (20, CLIENT, filled(long(INITIAL, OF_SERVER, OF_CLIENT, version=TWO))),
    )
    assert {row["version"] for row in connection(read(tmp_path, frames)).values()} == {"v2"}


def test_the_fixed_bit_may_vary(tmp_path: Path) -> None:
    """RFC 9287: after the client's first packet either end may clear it."""
    frames = timed(
        (0, CLIENT, filled(long(INITIAL, MADE_UP, OF_CLIENT, payload=1150))),
        (15, SERVER, long(INITIAL, OF_CLIENT, OF_SERVER, fixed=False)),
        (20, CLIENT, filled(long(INITIAL, OF_SERVER, OF_CLIENT, fixed=False))),
    )
    assert connection(read(tmp_path, frames))["client"]["state"] == "open"


def test_nobody_answers(tmp_path: Path) -> None:
    first = filled(long(INITIAL, MADE_UP, OF_CLIENT, payload=1150))
    run = read(tmp_path, timed((0, CLIENT, first), (1000, CLIENT, first)))
    assert connection(run)["client"]["state"] == "unanswered"
    assert "unanswered" in run.why().sentence
    assert run.why().causes[0].name == "not_connected"


def test_a_handshake_of_which_the_beginning_is_missing(tmp_path: Path) -> None:
    both = connection(read(tmp_path, handshake()[2:]))
    assert {row["state"] for row in both.values()} == {"partial"}
    assert both[next(iter(both))]["initial_rtt_s"] is None


@pytest.mark.parametrize(
    "datagrams",
    [
        # Short headers alone; RTP; a version that nobody knows; an Initial that is too short, one that is not coherent.
        [(CLIENT, short(OF_SERVER, spin=True)), (SERVER, short(OF_CLIENT, spin=False))] * 10,
        [(CLIENT, b"\x80\x60" + bytes(200)), (SERVER, b"\x80\x60" + bytes(200))],
        [(CLIENT, filled(long(INITIAL, MADE_UP, OF_CLIENT, version=0x12345678)))],
        [(CLIENT, long(INITIAL, MADE_UP, OF_CLIENT))],
        [(CLIENT, filled(long(INITIAL, MADE_UP, OF_CLIENT, payload=1400))[:1300])],
        [(CLIENT, b"\xc3\0\0\0\1\xff" + bytes(1300))],
        [(CLIENT, b"\xc3\0\0\0\1\x15" + bytes(1300))],
    ],
)
def test_other_datagrams_are_not_taken_for_it(tmp_path: Path, datagrams: list[tuple[str, bytes]]) -> None:
    run = read(tmp_path, timed(*((number, *each) for number, each in enumerate(datagrams))))
    assert set(run.flows["transport"]) == {"udp"}
    assert "quic" not in run.tables


@pytest.fixture(scope="module")
def download(tmp_path_factory: pytest.TempPathFactory) -> tl.Run:
    return read(tmp_path_factory.mktemp("quic"), Download().frames())


def test_the_spin_bit_tells_round_trips(download: tl.Run) -> None:
    both = connection(download)
    assert {row["spin_bit"] for row in both.values()} == {"spins"}
    for row in both.values():
        # The path and the time of a packet on the link; an ACK waits for a second packet at most.
        assert 0.0204 <= row["rtt_min_s"] <= row["rtt_median_s"] * 1.01 <= 0.0225, row
        assert row["rtt_samples"] > 40
        assert row["spin_edges_ignored"] == 0
        assert row["idle_s"] == 0
    # Behind the capture point, seen from either end.
    assert both["server"]["rtt_behind_median_s"] == pytest.approx(0.005, abs=0.0011)
    assert both["client"]["rtt_behind_median_s"] == pytest.approx(0.016, abs=0.0011)
    flows = {row["label"]: row for row in download.flows.to_dicts()}
    for row in both.values():
        assert flows[row["label"]]["rtt_p50_s"] == row["rtt_median_s"]
        over_time = download.series.filter(entity=row["label"], metric="rtt_s")["value"]
        assert over_time.len() > 10
        assert 0.0204 <= min(over_time) <= max(over_time) <= 0.0225
        assert download.series.filter(entity=row["label"], metric="throughput_bps").height > 10
    said = download.why().sentence
    assert "cannot be told: losses, ACKs and windows of QUIC are encrypted" in said
    assert "by the spin bit round trips are" in said


def test_packets_out_of_order_make_no_round_trips(tmp_path: Path) -> None:
    # Packets follow each other without a gap: many switches are out of order.
    frames = Download(window=60).frames()
    sound = connection(read(tmp_path, frames))
    for seed in range(3):
        both = connection(read(tmp_path, reordered(frames, seed)))
        for end, row in both.items():
            assert row["spin_bit"] == "spins"
            assert row["rtt_samples"] == pytest.approx(sound[end]["rtt_samples"], abs=2)
            assert row["rtt_min_s"] > sound[end]["rtt_min_s"] - 0.0035
            assert row["rtt_max_s"] < sound[end]["rtt_max_s"] + 0.0035
        assert sum(row["spin_edges_ignored"] for row in both.values()) > 0


def test_a_queue_shows_in_the_spin_bit(tmp_path: Path) -> None:
    row = connection(read(tmp_path, Download(window=100).frames()))["server"]
    assert row["rtt_median_s"] == pytest.approx(0.05, abs=0.002)


def test_growing_round_trips_are_a_queue(tmp_path: Path) -> None:
    first, then = (Download(window=window, packets=packets) for window, packets in ((30, 600), (120, 4000)))
    begin = first.frames()
    shift = begin[-1][0] - BEGAN
    # The connection continues with a larger window.
    frames = begin + [(time + shift, kept) for time, kept in then.frames()[4:]]
    why = read(tmp_path, frames).why()
    assert why.causes[0].name == "saturated_link"
    assert why.delay is not None
    assert why.delay.base_s == pytest.approx(0.0205, abs=0.001)
    assert why.delay.mean_s > 0.02
    assert "what is lost of them is not known" in why.sentence


def test_pauses_are_idle_time_and_no_round_trips(tmp_path: Path) -> None:
    run = read(tmp_path, Download(packets=800, pauses_ms=dict.fromkeys(range(100, 800, 100), 400)).frames())
    both = connection(run)
    for row in both.values():
        assert row["rtt_max_s"] < 0.05
        assert row["idle_s"] == pytest.approx(7 * (0.4 - 0.021), rel=0.1)
    assert run.why().causes[0].name == "application"


@pytest.mark.parametrize(
    ("bits", "verdict"),
    [
        ((None, lambda: True), "constant"),
        ((lambda: False, None), "constant"),
        ((lambda: False, lambda: True), "constant"),
        ((None, "random"), "random"),
        (("random", None), "random"),
        (("random", "random"), "random"),
        (("random", lambda: True), "random"),
    ],
)
def test_a_disabled_spin_bit(tmp_path: Path, bits: tuple[Any, Any], verdict: str) -> None:
    rng = random.Random(7)

    def chance() -> bool:
        return rng.random() < 0.5

    chosen: tuple[Callable[[], bool] | None, ...] = tuple(chance if bit == "random" else bit for bit in bits)
    run = read(tmp_path, Download(bits=(chosen[0], chosen[1]), packets=500).frames())
    for row in connection(run).values():
        assert row["spin_bit"] == verdict
        assert (row["rtt_samples"], row["rtt_median_s"], row["rtt_behind_median_s"]) == (0, None, None)
    assert run.flows["rtt_p50_s"].to_list() == [None, None]
    assert run.series.filter(metric="rtt_s").is_empty()
    assert "its spin bit is disabled" in run.why().sentence
    assert "the handshake took 21 ms" in run.why().sentence


@pytest.mark.parametrize("window", [2, 20])
@pytest.mark.parametrize("packets", [20, 50])
def test_few_random_bits_are_seldom_taken_for_ones_that_spin(tmp_path: Path, window: int, packets: int) -> None:
    found = []
    for seed in range(20):
        rng = random.Random(seed)

        def chance(rng: random.Random = rng) -> bool:
            return rng.random() < 0.5

        run = read(tmp_path, Download(window=window, packets=packets, bits=(chance, chance)).frames())
        found.append(run.table("quic")["spin_bit"][0])
    # Chance alone makes a third of such short ones switch about as often as a bit that spins.
    assert found.count("spins") <= 2


def test_what_is_printed_and_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, page = tmp_path / "quic.pcapng", tmp_path / "report.html"
    file.write_bytes(pcapng(Download(packets=300).frames()))
    assert cli.main(["capture", str(file), "--report", str(page)]) == 0
    out = capsys.readouterr().out
    assert out.count("quic v1") == 2
    assert "open" in out
    assert "The QUIC" not in out
    assert "losses, ACKs and windows" in " ".join(out.split())
    text = page.read_text(encoding="utf-8")
    assert "encrypted and not known" in text
    assert "quic v1" in text
    assert cli.main(["capture", str(file), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {row["version"] for row in told["quic"]} == {"v1"}
    assert told["connections"] == []


def test_a_stored_run_has_it(tmp_path: Path, download: tl.Run) -> None:
    folder = download.save(tmp_path / "stored")
    assert tl.open_run(folder).table("quic").equals(download.table("quic"))
    assert "encrypted and not known" in run_report(folder).read_text(encoding="utf-8")


def test_the_shortest_round_trip_is_that_of_either_direction() -> None:
    both = {
        "connection": 0, "state": "open", "version": "v1", "spin_bit": "spins", "retries": 0, "version_negotiated": 0,
        "start_s": 0.0, "stop_s": 5.0, "idle_s": 0.0, "initial_rtt_s": 0.06, "rtt_samples": 60, "rtt_mean_s": 0.085,
        "rtt_median_s": 0.08, "rtt_p95_s": 0.12, "throughput_bps": 5e6,
    }  # fmt: skip
    server = both | {"flow": 1, "label": "b-a", "bytes_sent": 3_000_000, "rtt_min_s": 0.056}
    client = both | {"flow": 0, "label": "a-b", "bytes_sent": 90_000, "rtt_min_s": 0.046}
    (found,) = of_quic([client, server])
    assert found.flows == ("b-a",)
    assert found.causes[0].name == "saturated_link"
    assert found.delay is not None
    assert found.delay.base_s == client["rtt_min_s"]
    # Alone it does not show that half of the round trips are longer, nor do few.
    assert of_quic([server])[0].causes[0].name == "unknown"
    few = [row | {"rtt_samples": 5} for row in (client, server)]
    assert of_quic(few)[0].causes[0].name == "unknown"


def test_each_flow_of_a_connection_may_be_asked_for(download: tl.Run) -> None:
    for label in download.flows["label"]:
        assert download.why(label).diagnoses[0].flows == (label,)
