#!/usr/bin/env python3
"""How fast captures are read, here and by tshark: processor time of both over the same file.

    python benchmarks/captures.py [PACKETS]

The file holds 60 transfers at once, full-size segments and an ACK for every second one, of random bytes at ports that
tshark knows no protocol for.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

_FLOWS: Final = 60
_SEGMENT: Final = 1448
#: Two segments, and their ACK.
_TURN: Final = 3
_PACKETS: Final = 240_000
_MEGA: Final = 1e6


def main() -> None:
    """Make the file, read it with both, print a line for each."""
    packets = int(sys.argv[1]) if len(sys.argv) > 1 else _PACKETS
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "transfers.pcap"
        write(file, packets)
        size = file.stat().st_size
        print(f"{packets} packets, {size / _MEGA:.0f} MB")
        program = "import sys\nfrom tightlink import _core\n_core.capture(sys.argv[1], interval_ns=10**9)"
        start = used([sys.executable, "-c", "from tightlink import _core"])
        report("tightlink", used([sys.executable, "-c", program, str(file)]) - start, packets, size)
        if tshark := shutil.which("tshark"):
            report("tshark", used([tshark, "-n", "-q", "-z", "conv,tcp", "-r", str(file)]), packets, size)


def report(name: str, seconds: float, packets: int, size: int) -> None:
    """One line."""
    print(
        f"{name:9}  {seconds:6.2f} s  {packets / seconds / _MEGA:5.2f} M packets/s  {size / seconds / _MEGA:5.0f} MB/s"
    )


def used(command: list[str]) -> float:
    """Processor time of a command, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def write(file: Path, packets: int) -> None:
    """Write the capture."""
    rng = random.Random(1)
    payload = os.urandom(_SEGMENT)
    time, sent, flow = 10**18, [1] * _FLOWS, 0
    with file.open("wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1))
        for number in range(packets):
            time += rng.randrange(500, 3000)
            if number % _TURN == 0:
                flow = rng.randrange(_FLOWS)
            if number % _TURN == _TURN - 1:
                one = frame(flow, sent[flow], b"", back=True)
            else:
                one = frame(flow, sent[flow], payload, back=False)
                sent[flow] = (sent[flow] + _SEGMENT) % 2**32
            out.write(struct.pack("<IIII", time // 10**9, time % 10**9, len(one), len(one)) + one)


def frame(flow: int, seq: int, payload: bytes, *, back: bool) -> bytes:
    """A segment, or an ACK of all before ``seq``."""
    ends = ["10.0.0.1", f"10.0.1.{flow}"]
    ports = [35_000 + flow, 45_001]
    numbers = (1, seq) if back else (seq, 1)
    if back:
        ends.reverse()
        ports.reverse()
    tcp = struct.pack(">HHIIBBHHH", *ports, *numbers, 0x50, 0x10, 60_000, 0, 0) + payload
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0, 64, 6, 0) + b"".join(map(socket.inet_aton, ends))
    return bytes(12) + b"\x08\0" + ip + tcp


if __name__ == "__main__":
    main()
