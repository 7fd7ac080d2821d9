"""Captures that are none, or damaged, or cut: a sentence, or the tables of what comes before."""

from __future__ import annotations

import gzip
import lzma
import os
import random
from pathlib import Path

import pytest

import tightlink as tl
from captures import UDP, enhanced, ethernet, interface, ipv4, ipv6, noise, pcap, pcapng, section, udp
from conversations import MS, A, B, conversation, read
from tightlink import cli, console


def test_a_short_file_whose_compression_is_cut_is_read_up_to_there(tmp_path: Path) -> None:
    frames = [(n * MS, ethernet(ipv4(A, B, UDP, udp((2000, 53), 100 + n)))) for n in range(40)]
    run = read(tmp_path, gzip.compress(pcap(frames))[:-100])
    assert 0 < run.flows["packets_sent"].sum() < 40
    assert "its compression is damaged" in " ".join(run.warnings)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the file is empty; expected a capture (pcap or pcapng) or a trace of ns-2"),
        (
            b"#!/bin/sh\n",
            "expected a capture (pcap or pcapng) or a trace of ns-2, and its first bytes are those of none",
        ),
        (b"\x04\x22\x4d\x180000", "this is compressed with lz4: unpack it first"),
        (pcap([])[:20], "at byte 0: the file ends within its header of 24 bytes"),
        (pcap(conversation())[:50], "at byte 24: the file ends within a packet"),
        (section()[:8] + b"abcd" + section()[12:], "at byte 0: a section of which the byte order cannot be told"),
        (section() + enhanced(0, 1, b"x"), "at byte 28: a packet of an interface that is not there"),
        (section() + b"\6\0\0\0\xff\xff\xff\xff" + bytes(20), "at byte 28: a block of 4294967295 bytes"),
        *(
            (
                pcap(conversation(), order=order, version=version),
                f"at byte 4: version {version[0]}.{version[1]} of pcap,",
            )
            for order in "<>"
            for version in [(1, 4), (2, 5), (3, 0), (0, 0), (65535, 65535)]
        ),
        *(
            (
                section(order, version) + interface(order=order),
                f"at byte 12: version {version[0]}.{version[1]} of pcapng,",
            )
            for order in "<>"
            for version in [(0, 1), (1, 1), (1, 3), (2, 0)]
        ),
    ],
)
def test_what_is_no_capture(tmp_path: Path, content: bytes, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad").write_bytes(content)
    assert cli.main(["capture", str(tmp_path / "bad")]) == console.WRONG
    error = capsys.readouterr().err
    assert said in error
    assert len(error.splitlines()) == 1


def test_a_later_section_of_another_version_is_damage(tmp_path: Path) -> None:
    whole = section() + interface() + enhanced(0, 1, ethernet(b""))
    run = read(tmp_path, whole + section(version=(7, 0)))
    assert run.warnings[0].startswith(f"damaged at byte {len(whole) + 12}: version 7.0 of pcapng")


def test_everything_up_to_the_damage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = pcap(conversation())
    (tmp_path / "cut").write_bytes(content[:-10])
    assert cli.main(["capture", str(tmp_path / "cut")]) == 3
    said = f"damaged at byte {len(content) - 70}: the file ends within a packet; the tables hold the 10 packets before"
    assert said in capsys.readouterr().err
    packed = gzip.compress(pcap(noise(5)))
    run = read(tmp_path, packed[: len(packed) // 2])
    assert run.warnings[0].startswith("damaged at byte ")
    assert "of what was unpacked: its compression is damaged" in run.warnings[0]
    assert run.links["packets_out"][0] > 10


@pytest.mark.fuzz
def test_random_damage(tmp_path: Path) -> None:
    """Tables or a sentence, whatever the bytes are."""
    rounds = int(os.environ.get("TIGHTLINK_FUZZ", "2000")) // 4
    rng = random.Random(rounds)
    frames = conversation() + noise(6, 2, 10)
    fragments = [
        (n, ethernet(ipv4(A, B, UDP, bytes(64), number=n % 3, fragment=rng.randrange(1 << 14)))) for n in range(30)
    ]
    seeds = [
        pcap(frames),
        pcapng(frames),
        pcap(frames, order=">", nano=False),
        pcap(fragments),
        gzip.compress(pcap(frames)),
    ]
    seeds.append(
        section() + interface(link=276) + enhanced(0, 1, b"\x86\xdd" + bytes(18) + ipv6("::1", "::2", 6, b"x" * 40))
    )
    file = tmp_path / "fuzz"
    outcomes = {"run": 0, "error": 0}
    for _ in range(rounds):
        content = bytearray(rng.choice(seeds))
        for _ in range(rng.randint(1, 8)):
            at = rng.randrange(len(content))
            match rng.randrange(4):
                case 0:
                    content[at] = rng.randrange(256)
                case 1:
                    content[at : at + 4] = rng.choice(
                        [b"\0\0\0\0", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\0\0\1\0"]
                    )
                case 2:
                    del content[at : at + rng.randrange(40)]
                    content += b"\0"
                case _:
                    content[at:at] = content[: rng.randrange(80)]
        file.write_bytes(content)
        try:
            run = tl.capture(file, packets=True)
            outcomes["run"] += 1
            assert run.links["packets_out"].sum() == run.packets.height == run.manifest["packets"]
        except tl.TightlinkError as error:
            outcomes["error"] += 1
            assert str(error).startswith(f"{file}: ")
    assert min(outcomes.values()) > rounds // 100


def _zstd(content: bytes) -> bytes:
    """A frame of blocks that are not compressed, with a window of 2 MiB (RFC 8878 §3.1.1)."""
    size = 1 << 16
    parts = [content[at : at + size] for at in range(0, len(content), size)]
    heads = [(len(part) << 3 | (at == len(parts) - 1)).to_bytes(3, "little") for at, part in enumerate(parts)]
    return b"\x28\xb5\x2f\xfd\x00\x58" + b"".join(head + part for head, part in zip(heads, parts, strict=True))


@pytest.mark.parametrize("ending", ["xz", "zst"])
def test_other_compressions_that_are_cut_are_read_up_to_there(tmp_path: Path, ending: str) -> None:
    rng = random.Random(5)
    frames = [(n * MS, ethernet(ipv4(A, B, UDP, udp((2000, 53), 0)[:8] + rng.randbytes(1400)))) for n in range(400)]
    file = tmp_path / f"cut.{ending}"
    packed = lzma.compress(pcap(frames)) if ending == "xz" else _zstd(pcap(frames))
    file.write_bytes(packed[: len(packed) * 3 // 4])
    run = tl.capture(file)
    assert 200 <= run.flows["packets_sent"].sum() <= 300
    assert "its compression is damaged: the file ends within it" in " ".join(run.warnings)
