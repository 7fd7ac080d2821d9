"""Which packet length keeps a stream clear: by hand, against trying every length, and the command."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tightlink import cli
from tightlink.analysis.limits.packetize import Bottleneck, Packetization, Stream, packetize
from tightlink.analysis.limits.remedies import Remedy, remedies

VIDEO = Stream(bitrate_bps=Fraction(1_500_000), headers_bytes=28, frames_per_s=Fraction(25))
VOICE = Stream(bitrate_bps=Fraction(64_000), headers_bytes=40)
ROUTER = Bottleneck(limit_packets_per_s=Fraction(4000), background_packets_per_s=Fraction(1000))

_rates = st.integers(8, 20_000_000).map(Fraction)


@st.composite
def questions(draw: st.DrawFn) -> tuple[Stream, Bottleneck, int, Fraction | None]:
    limit = draw(st.integers(2, 10_000))
    frames = draw(st.none() | st.integers(1, 60).map(Fraction))
    stream = Stream(bitrate_bps=draw(_rates), headers_bytes=draw(st.integers(0, 60)), frames_per_s=frames)
    router = Bottleneck(
        limit_packets_per_s=Fraction(limit),
        background_packets_per_s=Fraction(draw(st.integers(0, limit - 1))),
        link_bps=draw(st.none() | _rates),
        ring_packets=draw(st.none() | st.integers(1, 100)) if frames else None,
    )
    return stream, router, draw(st.integers(68, 300)), draw(st.none() | st.fractions("1/1000", 1, max_denominator=1000))


def clear(stream: Stream, router: Bottleneck, payload: int, mtu: int, delay: Fraction | None) -> bool:
    """What the words say, at one length."""
    a_frame = None if stream.frames_per_s is None else stream.bitrate_bps / 8 / stream.frames_per_s
    packets = stream.bitrate_bps / 8 / payload
    fill = 1 / packets
    if a_frame is not None and stream.frames_per_s is not None:
        burst = -(-a_frame // payload)
        packets, fill = stream.frames_per_s * burst, min(fill, 1 / stream.frames_per_s)
        if router.ring_packets is not None and burst > router.ring_packets:
            return False
    return (
        payload + stream.headers_bytes <= mtu
        and packets + router.background_packets_per_s < router.limit_packets_per_s
        and (router.link_bps is None or stream.bitrate_bps + packets * stream.headers_bytes * 8 <= router.link_bps)
        and (delay is None or fill <= delay)
    )


@given(questions())
@settings(max_examples=200, deadline=None)
def test_the_clear_lengths_are_those_that_trying_all_finds(
    question: tuple[Stream, Bottleneck, int, Fraction | None],
) -> None:
    stream, router, mtu, delay = question
    found = packetize(stream, router, mtu_bytes=mtu, max_delay_s=delay)
    lengths = range(1, mtu - stream.headers_bytes + 1)
    wanted = [length for length in lengths if clear(stream, router, length, mtu, delay)]
    assert (found.smallest, found.recommended) == ((wanted[0], wanted[-1]) if wanted else (None, None))
    assert [length for length in lengths if not found.missed(length)] == wanted


@given(questions())
@settings(max_examples=200, deadline=None)
def test_remedies_help(question: tuple[Stream, Bottleneck, int, Fraction | None]) -> None:
    stream, router, mtu, delay = question
    found = packetize(stream, router, mtu_bytes=mtu, max_delay_s=delay)
    wanted = remedies(stream, router, found, mtu_bytes=mtu, max_delay_s=delay)
    if found.smallest is not None:
        assert wanted == []
    for remedy in wanted:
        again = changed(stream, router, mtu, delay, remedy)
        if remedy.against is None:
            assert again.smallest is not None
        else:
            assert remedy.against not in [bound.constraint for bound in again.unmet]


def changed(stream: Stream, router: Bottleneck, mtu: int, delay: Fraction | None, remedy: Remedy) -> Packetization:
    """The answer when a remedy is taken, a little more than it where it says more than."""
    little = Fraction(1, 10**6)
    for need, value in remedy.needs.items():
        match need:
            case "limit":
                router = replace(router, limit_packets_per_s=value + little)
            case "background":
                router = replace(router, background_packets_per_s=value - min(little, value))
            case "bitrate":
                slower = value if stream.frames_per_s else value * (1 - little)
                stream = replace(stream, bitrate_bps=slower)
            case "link":
                router = replace(router, link_bps=value)
            case "ring":
                router = replace(router, ring_packets=int(value))
            case "mtu":
                mtu = int(value)
            case "delay":
                delay = value
    return packetize(stream, router, mtu_bytes=mtu, max_delay_s=delay)


def test_video_by_hand() -> None:
    # A frame is 1.5 Mbit/s / 8 / 25 = 7500 B. Less than 3000 packets/s are 119 a frame: 7500 / 119 = 63.03.
    found = packetize(VIDEO, ROUTER, mtu_bytes=1500)
    assert (found.smallest, found.recommended) == (64, 1472)
    assert VIDEO.packets_per_s(64) == 25 * 118
    assert VIDEO.packets_per_frame(1472) == 6
    assert VIDEO.rate_on_link_bps(1472) == 1_500_000 + 150 * 28 * 8
    assert VIDEO.header_share(1472) == Fraction(33_600, 1_533_600)
    assert VIDEO.frame_hit(1472, 0.005) == pytest.approx(1 - 0.995**6)
    assert VIDEO.frame_hit(1472, 0) == 0
    assert VIDEO.frame_hit(1472, 1) == 1


def test_without_frames_by_hand() -> None:
    # 1.5 Mbit/s / 8 / 3000 packets/s = 62.5 B.
    found = packetize(replace(VIDEO, frames_per_s=None), ROUTER, mtu_bytes=1500)
    assert found.smallest == 63
    # At the limit itself the router is unstable: 187.5 kB/s are 3000 packets/s of 62.5 B, 2500 of 75 B.
    at_limit = replace(ROUTER, background_packets_per_s=Fraction(1500))
    assert packetize(replace(VIDEO, frames_per_s=None), at_limit, mtu_bytes=1500).smallest == 76


def test_voice_by_hand() -> None:
    # 30 ms of 64 kbit/s are 240 B; 50 packets/s more than 3950 are 160 B.
    router = replace(ROUTER, background_packets_per_s=Fraction(3950))
    found = packetize(VOICE, router, mtu_bytes=1500, max_delay_s=Fraction(30, 1000))
    assert (found.smallest, found.recommended) == (161, 240)
    assert [bound.constraint for bound in (*found.from_below, *found.from_above)] == ["limit", "delay", "mtu"]
    assert VOICE.fill_s(240) == Fraction(30, 1000)
    assert (found.missed(160), found.missed(161), found.missed(241)) == (("limit",), (), ("delay",))


def test_link_and_ring_by_hand() -> None:
    # 500 kbit/s for headers are 2232.1 packets/s of 28 B, 89 a frame: 84.3 B; 75 a frame: 100 B.
    router = replace(ROUTER, link_bps=Fraction(2_000_000), ring_packets=75)
    found = packetize(VIDEO, router, mtu_bytes=1500)
    assert [(bound.constraint, bound.payload) for bound in found.from_below] == [
        ("ring", 100),
        ("link", 85),
        ("limit", 64),
    ]


USUAL = {"--bitrate": "1.5 Mbit/s", "--limit-pps": "4000", "--background-pps": "1000"}


def arguments(**others: str) -> list[str]:
    """The usual options with others added or in their place."""
    options = USUAL | {"--" + name.replace("_", "-"): value for name, value in others.items()}
    return ["plan", "packetize", *(word for option in options.items() for word in option)]


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(arguments(frame_rate="25", loss="0.5 %", ring="75 packets", link="2 Mbit/s")) == 0
    out, err = capsys.readouterr()
    assert err == ""
    row = next(line for line in out.splitlines() if line.startswith("1472 B"))
    assert row.split() == ["1472", "B", "150", "1,150", "71.25", "%", "2.19", "%", "1.534", "Mbit/s", "6", "2.96", "%", "clear"]  # fmt: skip
    assert "clear from 100 B of payload; recommended 1472 B, packets of 1500 B: 1,150 packets/s" in out
    assert "below 100 B the largest frame is more than the ring's 75 packets" in out
    assert "supposes that packets are lost independently" in out


def test_no_length_is_an_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(arguments(bitrate="64 kbit/s", background_pps="3960", headers="40 B", max_delay="20 ms")) == 3
    out = capsys.readouterr().out
    assert "no length keeps clear:\nbelow 201 B the router sees 4,000 packets/s or more\n" in out
    assert "above 160 B a packet takes longer than 20 ms to fill" in out
    assert "would help against too many packets: less than 3,950 packets/s of others" in out
    assert "would help: 25.13 ms to fill a packet" in out
    assert "bit rate" not in out


def test_the_command_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*arguments(), "--json"]) == 0
    out = json.loads(capsys.readouterr().out)
    assert (out["clear"], out["smallest_payload_bytes"], out["recommended_payload_bytes"]) == (True, 63, 1472)
    assert out["bounds"] == {"from_below": {"limit": 63}, "from_above": {"mtu": 1472}}
    assert out["lengths"][-1]["payload_bytes"] == 1472
    assert out["lengths"][-1]["packets_per_frame"] is None
    assert out["remedies"] == []
    assert cli.main([*arguments(bitrate="60 Mbit/s"), "--json"]) == 3
    needs = [remedy["needs"] for remedy in json.loads(capsys.readouterr().out)["remedies"]]
    assert {"bitrate": 3000 * 8 * 1472} in needs
    assert {"mtu": 2500 + 1 + 28} in needs


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bitrate": "1.5 mbps"}, '"1.5 mbps": expected a rate such as "2 Mbit/s"; did you mean "1.5 Mbit/s"?'),
        ({"bitrate": "0 bit/s"}, '"0 bit/s": expected a rate above zero, such as "2 Mbit/s"'),
        ({"background_pps": "4000"}, "4000: expected less than --limit-pps, which is 4000"),
        ({"limit_pps": "nan"}, "nan: expected a number above zero"),
        ({"background_pps": "-0.5"}, "-0.5: expected a number that is not negative"),
        ({"mtu": "28 B"}, '"28 B": expected more than the 28 B of headers'),
        ({"mtu": "1500"}, '"1500": expected a unit, too: a size such as "1000 B"; did you mean "1500 B"?'),
        ({"loss": "1 %"}, '"1 %": expected --frame-rate beside it'),
        ({"loss": "2", "frame_rate": "25"}, '"2": expected a fraction from 0 to 1, or such as "1 %"'),
        ({"ring": "75 packets"}, '"75 packets": expected --frame-rate beside it'),
        ({"ring": "75 B", "frame_rate": "25"}, '"75 B": expected a number of packets such as "20 packets"'),
        ({"frame_rate": "0"}, "0: expected a number above zero"),
        ({"max_delay": "30"}, '"30": expected a unit, too: a time such as "10 ms"; did you mean "30 s"?'),
    ],
)
def test_wrong_usage(options: dict[str, str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(arguments(**options)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    name = "--" + next(iter(options)).replace("_", "-")
    assert err.startswith(f"tightlink: {name} = {message}")
    assert len(err.splitlines()) == 1


def test_options_that_are_needed_or_no_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["plan", "packetize", "--limit-pps", "4000"]) == 2
    assert "--bitrate" in capsys.readouterr().err
    assert cli.main(arguments(limit_pps="many")) == 2
    assert "--limit-pps" in capsys.readouterr().err


def test_the_ring_must_hold_a_key_frame(capsys: pytest.CaptureFixture[str]) -> None:
    # 1.5 Mbit/s at 25 frames/s: 7500 B a frame, 30,000 B a key frame of four times that, in 40 packets of 750 B.
    command = ["plan", "packetize", "--bitrate", "1.5 Mbit/s", "--limit-pps", "8000", "--frame-rate", "25"]
    assert cli.main([*command, "--ring", "40 packets", "--key-frame", "4"]) == 0
    assert "clear from 750 B" in capsys.readouterr().out
    assert cli.main([*command, "--key-frame", "4"]) == 2
    assert "--key-frame = 4: expected --ring" in capsys.readouterr().err
    assert cli.main([*command, "--ring", "40 packets", "--key-frame", "0.5"]) == 2
    assert "at least 1" in capsys.readouterr().err
