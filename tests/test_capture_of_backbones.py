"""Captures as MAWI publishes them: compressed, cut to 96 bytes, without payload, many short flows in both directions.

None is at hand; these are made here with the same properties, and are small.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
import struct
import subprocess
import zlib
from typing import TYPE_CHECKING

import pytest

import tightlink as tl
from captures import (
    ACK,
    SYN,
    TCP,
    UDP,
    enhanced,
    ethernet,
    interface,
    ipv4,
    ipv6,
    noise,
    option,
    pcap,
    section,
    tcp,
    udp,
)
from programs import need
from tightlink import cli, console

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from captures import Timed

MS = 10**6
SNAP = 96
#: Timestamps, as most segments carry them: headers of IPv4 fit into 96 bytes with them, those of IPv6 do not.
OPTIONS = b"\1\1\10\12" + bytes(8)


def backbone(link: int, packets: int = 3000) -> list[Timed]:
    """Elephants, mice, scans and answers, of both directions and both versions of IP."""
    rng = random.Random(link)
    frames: list[Timed] = []
    sent = [0] * 4
    for number in range(packets):
        time = 10**18 + number * MS // 10
        draw = rng.random()
        if draw < 0.5:
            flow = rng.randrange(4)
            segment = tcp((4000 + flow, 443), 1 + sent[flow], 1, ACK, 500, 1400, OPTIONS)
            sent[flow] += 1400
            packet = ipv4("192.0.2.1", "198.51.100.7", TCP, segment)
        elif draw < 0.7:
            packet = ipv4(f"203.0.113.{number % 250}", "192.0.2.9", TCP, tcp((number, 23), number, 0, SYN, 1024))
        elif draw < 0.8:
            packet = ipv6("2001:db8::1", "2001:db8::2", TCP, tcp((80, 5000), 1 + number, 1, ACK, 500, 600, OPTIONS))
        else:
            packet = ipv4(f"198.51.100.{number % 200}", "192.0.2.53", UDP, udp((1024 + number % 9000, 53), 40))
        six = packet[0] >> 4 == 6
        frames.append((time, ethernet(packet, 0x86DD if six else 0x0800) if link == 1 else packet))
    return frames


@pytest.mark.parametrize("link", [1, 101])
def test_a_day_of_mawi(tmp_path: Path, link: int) -> None:
    frames = backbone(link)
    file = tmp_path / "202401011400.pcap.gz"
    file.write_bytes(gzip.compress(pcap(frames, link=link, snap=SNAP, nano=False)))
    run = tl.capture(file, rate="1 Gbit/s")
    above = 14 if link == 1 else 0
    size = sum(len(frame) for _, frame in frames)
    assert run.links.select("packets_out", "bytes_out").row(0) == (3000, size - above * 3000)
    assert run.table("interfaces")["packets_cut"][0] == sum(len(frame) > SNAP for _, frame in frames)
    # Bytes on the wire, link headers included, from the first packet to the last.
    assert run.links["utilization"][0] == pytest.approx(size * 8 / 1e9 / 0.2999)
    assert run.table("interfaces")["rate_bps"].to_list() == [1e9]
    assert run.warnings == []
    elephants = run.flows.filter(run.flows["bytes_sent"] > 100_000)
    assert set(elephants["from"]) == {"192.0.2.1", "2001:db8::1"}
    # Payload that was not captured counts, as headers say.
    assert all(row["bytes_sent"] > 600 * row["packets_sent"] for row in elephants.iter_rows(named=True))


PACKERS: dict[str, Callable[[bytes], bytes]] = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


def _zstd(content: bytes) -> bytes:
    need("zstd")
    return subprocess.run(["zstd", "-q", "-c"], input=content, capture_output=True, check=True, timeout=60).stdout


@pytest.mark.parametrize("name", [*PACKERS, "zst"])
def test_compressed_in_every_way(tmp_path: Path, name: str) -> None:
    pack = PACKERS.get(name, _zstd)
    content = pcap(noise(4))
    plain, packed, halves = (tmp_path / each for each in ("plain", "packed", "halves"))
    plain.write_bytes(content)
    packed.write_bytes(pack(content))
    expected = tl.capture(plain)
    run = tl.capture(packed)
    assert run.manifest["compressed"]
    assert run.flows.equals(expected.flows)
    # Two parts one behind the other, as parallel packers make them.
    halves.write_bytes(pack(content[:5000]) + pack(content[5000:]))
    assert tl.capture(halves).flows.equals(expected.flows)


@pytest.mark.parametrize("name", [*PACKERS, "zst"])
def test_a_download_that_broke_off(tmp_path: Path, name: str) -> None:
    """Everything up to the damage, and a warning with its place."""
    # Blocks of bzip2 have 900 kB: before the end of the first there is nothing.
    content = pcap(backbone(1, 30_000), snap=SNAP)
    packed = PACKERS.get(name, _zstd)(content)
    file = tmp_path / "broken"
    file.write_bytes(packed[: len(packed) * 3 // 4])
    run = tl.capture(file)
    assert "of what was unpacked: its compression is damaged: the file ends within it; " in run.warnings[0]
    assert "the tables hold the" in run.warnings[0]
    assert 0 < run.manifest["packets"] < 30_000


def test_nonsense_behind_the_magic(tmp_path: Path) -> None:
    for magic in (b"\x1f\x8b\x08\0", b"BZh9", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"):
        (tmp_path / "bad").write_bytes(magic + random.Random(1).randbytes(200))
        with pytest.raises(tl.TightlinkError, match="its compression is damaged"):
            tl.capture(tmp_path / "bad")


def test_a_dictionary_that_is_too_large(tmp_path: Path) -> None:
    """4 GiB for a dictionary: refused, not tried."""
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 20}]
    packed = bytearray(lzma.compress(pcap(noise(1, 1)), filters=filters))
    # Block header: size, flags, filter, length of its properties, the dictionary's size, padding, CRC.
    start, length = 12, (packed[12] + 1) * 4
    assert packed[start + 2 : start + 4] == b"\x21\x01"
    packed[start + 4] = 40
    packed[start + length - 4 : start + length] = struct.pack("<I", zlib.crc32(packed[start : start + length - 4]))
    (tmp_path / "huge.xz").write_bytes(packed)
    with pytest.raises(tl.TightlinkError, match="its compression is damaged"):
        tl.capture(tmp_path / "huge.xz")


def test_the_rate_that_the_file_says(tmp_path: Path) -> None:
    frame = ethernet(ipv4("10.0.0.1", "10.0.0.2", UDP, udp((2000, 53), 972)))
    speed = option(8, (10**7).to_bytes(8, "little"))
    content = section() + interface(speed, option(2, b"lan")) + interface(option(2, b"wan"))
    content += enhanced(0, 0, frame) + enhanced(1, 0, frame) + enhanced(0, 10**6, frame) + enhanced(1, 10**6, frame)
    (tmp_path / "two.pcapng").write_bytes(content)
    told = tl.capture(tmp_path / "two.pcapng")
    assert told.links["utilization"].to_list() == [pytest.approx(2 * 1014 * 8 / 1e7), None]
    given = tl.capture(tmp_path / "two.pcapng", rate="10 kbit/s")
    assert given.links["utilization"].to_list() == [pytest.approx(2 * 1014 * 8 / 1e4)] * 2
    assert given.warnings[0].startswith("lan carried 162.24 % of its rate: it was captured in both directions")
    assert given.manifest["identity"] != told.manifest["identity"]


def test_flows_that_are_not_listed_are_counted(tmp_path: Path) -> None:
    frames = [(n * MS, ethernet(ipv4("10.0.0.1", "10.0.0.2", UDP, udp((1000 + n, 53), 100 + n)))) for n in range(400)]
    (tmp_path / "many").write_bytes(pcap(frames))
    run = tl.capture(tmp_path / "many", connections=20)
    assert run.flows.height == 20
    assert run.flows["bytes_sent"].min() == 100 + 380 + 28
    assert run.table("protocols").select("protocol", "packets", "flows").rows() == [("udp", 400, 400)]
    assert "380 of 400 connections, the smallest, are not listed in flows; protocols counts them" in run.warnings


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--rate", "0 bit/s"], '--rate = "0 bit/s": expected a rate above zero with its unit, such as "1 Gbit/s"'),
        (["--rate", "1 gbps"], "--rate"),
        (["--connections", "1"], "--connections = 1: expected a whole number of at least 2"),
    ],
)
def test_wrong_options(tmp_path: Path, options: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a").write_bytes(pcap(noise(1, 1)))
    assert cli.main(["capture", str(tmp_path / "a"), *options]) == console.WRONG
    error = capsys.readouterr().err
    assert said in error
    assert len(error.splitlines()) == 1


def test_utilization_is_printed_where_it_is_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a").write_bytes(pcap(backbone(1, 100), snap=SNAP))
    assert cli.main(["capture", str(tmp_path / "a"), "--rate", "1 Gbit/s"]) == 0
    assert "utilization" in capsys.readouterr().out
    assert cli.main(["capture", str(tmp_path / "a")]) == 0
    assert "utilization" not in capsys.readouterr().out
