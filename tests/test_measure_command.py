"""The command that measures: what it writes, what it refuses, and what an interrupt or a kill leaves."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import tightlink as tl
from in_real_time import needs_links
from measured import FTP, VOICE
from processes import descendants, lives, tells_children
from programs import needs
from tightlink import cli
from tightlink.commands import emulate as emulate_command
from tightlink.commands import measure_file
from tightlink.measure import machine
from tightlink.measure.measuring import measure
from waiting import soon

if TYPE_CHECKING:
    from tightlink.run import Run


iperf3 = needs("iperf3")


@needs_links
def test_the_command_repeats_and_writes(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file, out = tmp_path / "voice.toml", tmp_path / "out"
    file.write_text(VOICE.replace("1 s", "0.3 s"))
    code = cli.main(["measure", str(file), "--repeat", "2", "--echo", "off", "-o", str(out)])
    printed = capfd.readouterr()
    if code == 1:
        pytest.skip(printed.err)
    assert code == 0, printed.err
    assert printed.out.splitlines()[0].split() == "flow median goodput least most median dropped".split()
    assert [tl.open_run(out / name).source for name in ("1", "2")] == ["measurement"] * 2
    assert cli.main(["measure", str(file), "-o", str(out / "1")]) == 2
    assert capfd.readouterr().err == f"tightlink: {out / '1'}: there is another measurement; choose another folder\n"


@needs_links
def test_echoes_leave_a_slow_link_to_what_is_measured(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """By default they take 1 % at most; how often they leave can be said."""
    file = tmp_path / "slow.toml"
    file.write_text(VOICE.replace("2 Mbit/s", "64 kbit/s").replace("3 Mbit/s", "8 kbit/s").replace('"1 s"', '"2.2 s"'))
    for number, (options, most) in enumerate((([], 3), (["--echo", "200 ms"], 13))):
        out = tmp_path / str(number)
        if cli.main(["measure", str(file), *options, "-o", str(out)]) == 1:
            pytest.skip(capfd.readouterr().err)
        echoes = tl.open_run(out).series.filter(entity="echo")
        assert most - 3 < echoes.height <= most


@needs_links
def test_ctrl_c_leaves_nothing(tmp_path: Path) -> None:
    file = tmp_path / "voice.toml"
    file.write_text(VOICE.replace('"1 s"', '"60 s"'))
    command = [sys.executable, "-m", "tightlink", "measure", str(file), "-o", str(tmp_path / "out")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        try:
            assert running.stderr is not None
            assert running.stderr.readline() == "tightlink: measuring in real time: 60 s\n"
            # The supervisor and its namespace's first process, the relay; then, the scenario begins.
            if tells_children():
                assert soon(lambda: len(descendants(running.pid)) >= 3)
            time.sleep(0.5)
            running.send_signal(signal.SIGINT)
            assert running.wait(20) == 130
            assert running.stderr.read() == "tightlink: interrupted; nothing was written\n"
        finally:
            running.kill()
    assert [path.name for path in tmp_path.iterdir()] == ["voice.toml"]


@needs_links
@pytest.mark.parametrize("sender", ["probe", pytest.param("iperf3", marks=iperf3)])
def test_a_kill_leaves_nothing(sender: str, tmp_path: Path) -> None:
    if not tells_children():
        pytest.skip("this kernel does not tell the children of a process")
    file = tmp_path / "voice.toml"
    file.write_text(VOICE.replace('"1 s"', '"60 s"'))
    argv = [sys.executable, "-m", "tightlink", "measure", str(file), "--sender", sender]
    with subprocess.Popen(argv, stderr=subprocess.DEVNULL) as running:
        try:
            # The supervisor and its namespace's first process, the relay; a server and a client.
            assert soon(lambda: len(descendants(running.pid)) >= (3 if sender == "probe" else 5))
            family = descendants(running.pid)
        finally:
            running.kill()
    # Long before they would end by themselves.
    assert soon(lambda: not any(map(lives, family)), within_s=20)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            'traffic.more = { kind = "saturate", from = "a", to = "b" }',
            'traffic.more.kind = "saturate": expected cbr: wire is the sender\'s own interface, which is emulated and cannot hold it back',
        ),
        (
            'traffic.more = { kind = "cbr", from = "a", to = "b", rate = "1 Mbit/s", udp.datagram = "2000 B" }',
            'traffic.more.udp = "2000 B": expected datagrams of at most 1500 B, the MTU of wire: fragments cannot be told apart',
        ),
    ],
    ids=["own interface", "fragments"],
)  # fmt: skip
def test_what_cannot_be_sent_is_refused(change: str, says: str) -> None:
    with pytest.raises(tl.ScenarioError) as error:
        measure(tl.loads(FTP + change + "\n", file="x.toml"))
    assert str(error.value) == f"x.toml: {says}"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--repeat", "0"], "--repeat = 0: expected a whole number of at least 1"),
        (["--echo", "0 s"], '--echo = "0 s": expected a time above zero, such as "10 ms"'),
        (["--link", "wires"], '--link = "wires": expected the name of a link; did you mean "wire"?'),
        (["--sender", "prob"], '--sender = "prob": expected one of probe, iperf3; did you mean "probe"?'),
        (["--repeat", "x"], '--repeat = "x": expected a whole number'),
        (["--late"], "--late: expected a value after it"),
        (["more.toml"], '"more.toml": one word too many; tightlink measure --help tells what is expected'),
        (
            ["--set", "traffic.ftp.from=c"],
            '--set: traffic.ftp.from = "c": expected the name of a node, one of a, b',
        ),
    ],
)
def test_wrong_options(options: list[str], says: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "ftp.toml"
    file.write_text(FTP)
    assert cli.main(["measure", str(file), *options]) == 2
    # Before it says that it measures.
    assert capfd.readouterr().err == f"tightlink: {says}\n"


def test_what_is_missing_is_said_before_it_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "ftp.toml"
    file.write_text(FTP)
    monkeypatch.setattr(machine, "missing", lambda _: "no network namespaces can be made here (why): be root")
    assert cli.main(["measure", str(file)]) == 2
    assert capfd.readouterr().err == (
        "tightlink: no network namespaces can be made here (why): be root; tightlink run simulates the scenario without "
        "it\n"
    )
    assert cli.main(["measure", str(file), "-o", str(file / "out")]) == 2
    assert capfd.readouterr().err == f"tightlink: {file / 'out'}: cannot be written to: {file} is a file\n"
    assert cli.main(["measure", str(file), "-o", "/proc/out"]) == 2
    # Permissions tell it to all but root.
    said = "/proc: takes no files (no such file or directory)"
    denied = "/proc/out: cannot be written to: permission for /proc is denied"
    assert capfd.readouterr().err == f"tightlink: {denied if os.geteuid() else said}\n"
    assert cli.main(["measure"]) == 2
    assert capfd.readouterr().err == "tightlink: FILE is missing; tightlink measure --help tells what is expected\n"


def test_a_measurement_that_cannot_be_written_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "voice.toml"
    file.write_text(VOICE)

    def full(_: Run, folder: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))

    monkeypatch.setattr(measure_file, "measure", lambda scenario, **_: tl.simulate(scenario))
    monkeypatch.setattr(machine, "missing", lambda _: None)
    monkeypatch.setattr(tl.Run, "save", full)
    typed = ["--set", "link.wire.reverse.queue={kind='cake'}"]
    assert cli.main(["measure", str(file), "-o", str(tmp_path / "out"), *typed]) == 1
    printed = capfd.readouterr()
    assert "no space left on device" in printed.err
    assert "voice" in printed.out
    # What was typed is in the suggested command as it was, without defaults.
    assert """--set link.wire.reverse.queue="{ kind = 'cake' }" """ in printed.out


def test_a_scenario_without_links_says_so(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "ftp.toml"
    file.write_text('duration = "1 s"\ntraffic.ftp = { kind = "bulk", from = "a", to = "b" }\n')
    assert cli.main(["measure", str(file)]) == 2
    assert capfd.readouterr().err == (
        f'tightlink: {file}: traffic.ftp.from = "a": expected the name of a node, and there is none without a link, '
        "such as link.wire\n"
    )


@pytest.mark.parametrize("command", ["measure", "emulate"])
def test_without_tun_devices_the_other_kind_is_named(
    command: str, said: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "ftp.toml"
    file.write_text(FTP)
    why = "/dev/net/tun cannot be opened (no such file or directory): load or allow TUN"

    def refuse(*_: object, **__: object) -> None:
        raise tl.TightlinkError(why)

    monkeypatch.setattr(machine, "missing", lambda need: why if need == "tun" else None)
    monkeypatch.setattr(emulate_command, "Emulation", refuse)
    code, out, err = said(command, str(file))
    assert (code, out) == (2, "")
    wanted = "--device packet needs none; tightlink run simulates the scenario without it"
    assert err == f"tightlink: {why}; {wanted}\n"
