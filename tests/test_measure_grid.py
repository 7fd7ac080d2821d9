"""``tightlink measure tcp`` and ``udp-sweep``: iperf3 on loopback where there is one, and what is asked for wrongly."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from ports import unused_port
from programs import need
from tightlink.analysis import measurements
from tightlink.commands import measure_grid
from tightlink.experiment import open as open_folder
from tightlink.measure.iperf3 import Datagrams, Iperf3Error
from waiting import soon

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Said = Callable[..., tuple[int, str, str]]

HERE = "127.0.0.1"


@contextmanager
def iperf3_server() -> Iterator[int]:
    need("iperf3")
    port = unused_port()
    with tempfile.NamedTemporaryFile() as said:
        server = subprocess.Popen(["iperf3", "-s", "-B", HERE, "-p", str(port), "--forceflush"], stdout=said)
        try:
            # Whoever tried to connect would be a client, and keep it busy.
            assert soon(lambda: b"listening" in Path(said.name).read_bytes())
            yield port
        finally:
            server.terminate()
            server.wait(10)


def test_a_grid_of_transfers_on_loopback(tmp_path: Path, said: Said) -> None:
    folder = tmp_path / "grid"
    with iperf3_server() as port:
        command = ["measure", "tcp", "--host", HERE, "--port", str(port), "--windows", "16K,64K", "--flows", "1,2",
                   "--time", "1 s", "--congestion", "reno", "--repeat", "1", "-o", str(folder)]  # fmt: skip
        code, out, err = said(*command)
    assert code == 0, err
    header = ["window_bytes", "flows", "times", "goodput", "±", "rtt", "±", "retransmitted", "±"]
    assert out.splitlines()[0].split() == header
    assert "tightlink: the sender's congestion control: reno" in err
    runs = open_folder(folder).runs.collect()
    assert runs.select("window_bytes", "flows").rows() == [(16384, 1), (16384, 2), (65536, 1), (65536, 2)]
    assert (runs["goodput_bps"] > 0).all()
    flows = open_folder(folder).flows.collect()
    assert (flows.height, flows["congestion"].unique().to_list()) == (6, ["reno"])
    # What reads a sweep reads this: the report, the effects, the points to predict beside.
    assert said("report", str(folder))[0] == 0
    code, out, _ = said("analyze", "effects", str(folder), "--json")
    assert code == 0
    assert {row["factor"] for row in json.loads(out)["effects"]} == {"window_bytes", "flows"}
    from tightlink.analysis.path.bulk_path import BulkPath
    from tightlink.analysis.path.observations import read

    assert read([folder], BulkPath(10e6, 0.02))["flows"].to_list() == [1, 2, 1, 2]


def test_the_server_sends_where_it_is_asked_to(tmp_path: Path, said: Said) -> None:
    with iperf3_server() as port:
        code, out, err = said("measure", "tcp", "--host", HERE, "-p", str(port), "-w", "64K", "-P", "2", "-t", "1 s", "-R",
                              "--repeat", "1", "-o", str(tmp_path / "grid"))  # fmt: skip
    assert code == 0, err
    assert out.splitlines()[0].split() == ["window_bytes", "flows", "times", "goodput", "±", "retransmitted", "±"]
    flows = open_folder(tmp_path / "grid").flows.collect()
    assert flows["from"].to_list() == [HERE, HERE]
    assert flows["to"].to_list() == ["here", "here"]
    assert (flows["goodput_bps"] > 0).all()
    assert flows["rtt_mean_s"].null_count() == flows.height


def test_a_sweep_of_datagrams_on_loopback(tmp_path: Path, said: Said) -> None:
    folder = tmp_path / "sweep"
    with iperf3_server() as port:
        command = ["measure", "udp-sweep", "--host", HERE, "--port", str(port), "--payloads", "100,1450", "--rates",
                   "1000 packets/s", "--time", "1 s", "--repeat", "1", "-o", str(folder)]  # fmt: skip
        code, _, err = said(*command)
    assert code == 0, err
    runs = open_folder(folder).runs.collect()
    assert runs["packet_bytes"].to_list() == [128, 1478]
    assert runs["offered_packets_per_s"].to_list() == pytest.approx([1000, 1000], rel=0.2)
    rates = runs["packets_per_s"] * runs["packet_bytes"] * 8
    assert runs["throughput_bps"].to_list() == pytest.approx(rates.to_list())
    # What finds saturation reads this: sizes, rates and throughput agree.
    assert measurements.sizes_and_rates(measurements.read(folder)).height == 2


def test_datagrams_in_fragments_are_told_and_failures_count_as_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    broken = set[int]()

    def sent(*_: object, payload_bytes: int, **__: object) -> Datagrams:
        if payload_bytes in broken:
            raise Iperf3Error("iperf3: the server is busy running a test")
        return Datagrams(100, 100, 1.0, 0.0, "iperf 3.12")

    monkeypatch.setattr(measure_grid, "datagrams", sent)
    monkeypatch.setattr(measure_grid, "program", lambda: None)
    monkeypatch.setattr(measure_grid, "known_mtu", lambda *_: 1500)
    command = ["measure", "udp-sweep", "--host", HERE, "--rates", "1 Mbit/s", "--time", "1 s", "-o", str(tmp_path)]
    code, _, err = said(*command, "--payloads", "1472,1473,3000", "--repeat", "1")
    assert code == 3
    warning = "--payloads: 1473, 3000: packets are datagrams here, in fragments of at most 1500 B"
    assert err.splitlines()[-1] == f"tightlink: warning: {warning}"
    broken.add(3000)
    code, _, err = said(*command, "--payloads", "1472,1473,3000", "--repeat", "2")
    assert code == 1
    assert "tightlink: 3 of 6 measurements were there already" in err.splitlines()


def test_a_server_that_is_not_there_and_a_control_that_is_not_there(tmp_path: Path, said: Said) -> None:
    need("iperf3")
    base = [
        "measure",
        "tcp",
        "--host",
        HERE,
        "--port",
        str(unused_port()),
        "--windows",
        "16K",
        "--flows",
        "1",
        "--time",
        "1 s",
    ]
    code, _, err = said(*base, "-o", str(tmp_path / "a"))
    assert code == 2
    assert "tightlink: iperf3: unable to connect to server: Connection refused" in err


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--windows", "8x", "--flows", "1"], '--windows = "8x": expected values from 1 to 1073741824'),
        (["--windows", "8K", "--flows", "0"], '--flows = "0": expected values from 1 to 128'),
        (["--windows", "8K", "--flows", "1", "--time", "0.5 s"], '--time = "0.5 s": expected whole seconds'),
        (
            ["--windows", "8K", "--flows", "1", "--max-repeats", "5"],
            "--max-repeats = 5: expected --precision beside it",
        ),
        (["--windows", "8K", "--flows", "1", "--precision", "x"], '--precision = "x": expected a fraction'),
        (["--windows", "8K", "--flows", "1", "--repeat", "0"], "--repeat = 0: expected a whole number"),
    ],
)
def test_a_grid_asked_for_wrongly_is_one_sentence(options: list[str], problem: str, tmp_path: Path, said: Said) -> None:
    code, _, err = said("measure", "tcp", "--host", HERE, *options, "-o", str(tmp_path / "x"))
    assert code == 2
    assert err.startswith(f"tightlink: {problem}")
    assert not (tmp_path / "x").exists()


def test_ctrl_c_ends_a_grid_and_its_iperf3(tmp_path: Path) -> None:
    with iperf3_server() as port:
        command = [sys.executable, "-m", "tightlink", "measure", "tcp", "--host", HERE, "--port", str(port), "--windows",
                   "16K", "--flows", "1", "--time", "1 s", "--repeat", "30", "-o", str(tmp_path / "x")]  # fmt: skip
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            assert soon(lambda: list(tmp_path.glob("x/measurements/*.json")))
            child.send_signal(signal.SIGINT)
            _, err = child.communicate(timeout=20)
        finally:
            child.kill()
    assert child.returncode == 130
    assert "interrupted; what is finished is kept" in err
    assert pl.read_parquet(tmp_path / "x" / "runs.parquet").height >= 1


def test_sizes_are_written_as_iperf3_or_as_scenarios_have_them() -> None:
    assert measure_grid._sizes("--windows", "8K, 64k,1 MiB,15 kB,100", (1, 2**30)) == [8192, 65536, 2**20, 15000, 100]
    assert measure_grid._sizes("--windows", "8K..64K:x2", (1, 2**30)) == [8192, 16384, 32768, 65536]
    assert measure_grid._sizes("--payloads", "50..150:50", (16, 2000)) == [50, 100, 150]


def test_without_iperf3_nothing_is_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: Said) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    folder = tmp_path / "out"
    code, _, err = said("measure", "tcp", "--host", HERE, "--windows", "8K", "--flows", "1", "-o", str(folder))
    assert code == 2
    assert err == (
        "tightlink: iperf3 is not installed here: install it (apt-get install iperf3); tightlink measure path needs none "
        "where tightlink measure serve runs\n"
    )
    assert not folder.exists()
