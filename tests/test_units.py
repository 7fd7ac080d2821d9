"""Quantities: read as the nearest double, written so that they are read back the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tightlink import units
from tightlink.errors import ScenarioError


@pytest.mark.parametrize(
    ("text", "bps"),
    [
        ("2 Mbit/s", 2e6),
        ("2Mbps", 2e6),
        ("2 Mb/s", 2e6),
        ("2 Mbits/s", 2e6),
        ("1.544 Mbit/s", 1544000.0),
        ("9600 bit/s", 9600.0),
        ("64 kbit/s", 64e3),
        ("1e3 kbit/s", 1e6),
        ("10 Gbit/s", 1e10),
        ("  1 Tbit/s ", 1e12),
    ],
)
def test_rates(text: str, bps: float) -> None:
    assert units.rate(text) == bps


@pytest.mark.parametrize(
    ("text", "per_second", "written"),
    [
        ("25000 packets/s", 25e3, "25 packets/ms"),
        ("8000packets/ms", 8e6, "8000 packets/ms"),
        ("1 packets/ms", 1e3, "1 packet/ms"),
        ("451 pps", 451.0, "451 packets/s"),
        ("1 packet/s", 1.0, "1 packet/s"),
        ("0.25 packets/ms", 250.0, "250 packets/s"),
    ],
)
def test_packet_rates(text: str, per_second: float, written: str) -> None:
    assert units.packet_rate(text) == per_second
    assert units.format_packet_rate(per_second) == written
    assert units.packet_rate(written) == per_second


def test_one_packet_is_singular() -> None:
    assert str(units.parse("1 packets/ms", units.RATE, units.PACKET_RATE)[1]) == "1 packet/ms"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0.1 s", 0.1),
        ("10 ms", 0.01),
        ("187 us", 187e-6),
        ("5 µs", 5e-6),
        ("5 μs", 5e-6),
        ("1 ns", 1e-9),
        ("2 min", 120.0),
        ("1 h", 3600.0),
        ("3 seconds", 3.0),
        (".5 s", 0.5),
    ],
)
def test_times(text: str, seconds: float) -> None:
    assert units.time(text) == seconds


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("1000 B", 1000),
        ("64 KiB", 65536),
        ("1.5 kB", 1500),
        ("1 MB", 10**6),
        ("1 MiB", 2**20),
        ("2 GiB", 2**31),
        ("8 bit", 1),
        ("8 kbit", 1000),
        ("3 bytes", 3),
    ],
)
def test_sizes(text: str, count: int) -> None:
    assert units.size(text) == count


def test_packets_and_fractions() -> None:
    assert units.packets("20 packets") == 20
    assert units.packets("1 packet") == 1
    assert units.fraction("1 %") == 0.01
    assert units.fraction(0.25) == 0.25


@pytest.mark.parametrize(
    ("read", "text", "suggestion"),
    [
        (units.rate, "2 mbps", '"2 Mbit/s"'),
        (units.rate, "10 mbit", '"10 Mbit/s"'),
        (units.rate, "10 Mbit", '"10 Mbit/s"'),
        (units.rate, "10 Kbit/s", '"10 kbit/s"'),
        (units.rate, "1 MB/s", '"8 Mbit/s"'),
        (units.rate, 2_000_000, '"2 Mbit/s"'),
        (units.rate, "2000000", '"2 Mbit/s"'),
        (units.rate, "10 ms", None),
        (units.rate, "fast", None),
        (units.rate, "", None),
        (units.rate, None, None),
        (units.rate, True, None),
        (units.rate, "1e999999999 Mbit/s", None),
        (units.rate, "9" * 100 + " Mbit/s", None),
        (units.rate, float("nan"), None),
        (units.time, "10 MS", '"10 ms"'),
        (units.time, 10, '"10 s"'),
        (units.time, "10m", '"10 min"'),
        (units.time, "2 hrs", '"2 h"'),
        # As iperf3 has them.
        (units.size, "64K", '"64 KiB"'),
        (units.size, "10M", '"10 MiB"'),
        (units.size, "1g", '"1 GiB"'),
        (units.time, "1,5 s", '"1.5 s"'),
        (units.rate, "1,5 mbps", '"1.5 Mbit/s"'),
        (units.rate, "1,500 kbit/s", None),
        (units.size, "10,000 kB", None),
        (units.size, "10 KB", '"10 kB"'),
        (units.size, 1000, '"1000 B"'),
        (units.size, "1.5 B", None),
        (units.packets, 20, '"20 packets"'),
        (units.packets, "20 pakets", '"20 packets"'),
        (units.packets, "1.5 packets", None),
        (units.packets, "1.000 packets", None),
        (units.size, "1.500 B", None),
        (units.packets, "1.000,5 packets", None),
        (units.rate, "1.000.000 bit/s", None),
    ],
)
def test_what_is_no_quantity(read: object, text: object, suggestion: str | None) -> None:
    with pytest.raises(ScenarioError) as caught:
        read(text)  # type: ignore[operator]
    assert caught.value.suggestion == suggestion
    assert "\n" not in str(caught.value)


def test_canonical_spelling() -> None:
    spelled = [str(units.parse(text, units.RATE, units.TIME)[1]) for text in ("10Mbps", "0.10 seconds", "5μs")]
    assert spelled == ["10 Mbit/s", "0.10 s", "5 us"]


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (units.format_rate(2e6), "2 Mbit/s"),
        (units.format_rate(1544000.0), "1.544 Mbit/s"),
        (units.format_rate(0.5), "0.5 bit/s"),
        (units.format_time(0.0), "0 s"),
        (units.format_time(0.01), "10 ms"),
        (units.format_time(120), "120 s"),
        (units.format_time(1e-12), "0.001 ns"),
        (units.format_size(1500), "1500 B"),
        (units.format_size(65536), "64 KiB"),
        (units.format_size(10**9), "1 GB"),
        (units.format_size(1_000_000), "1 MB"),
        (units.format_size(128_000), "128 kB"),
        (units.format_size(1000), "1000 B"),
        (units.format_packets(1), "1 packet"),
        (units.format_packets(20), "20 packets"),
        (units.format_fraction(0.01), "1 %"),
        (units.format_fraction(0.0), "0 %"),
    ],
)
def test_formats(written: str, text: str) -> None:
    assert written == text


_positive = st.floats(min_value=1e-200, max_value=1e200)


@given(_positive)
def test_rates_are_read_back(bps: float) -> None:
    assert units.rate(units.format_rate(bps)) == bps


@given(st.one_of(_positive, st.just(0.0)))
def test_times_are_read_back(seconds: float) -> None:
    assert units.time(units.format_time(seconds)) == seconds


@given(st.integers(min_value=0, max_value=2**63))
def test_sizes_are_read_back(count: int) -> None:
    assert units.size(units.format_size(count)) == count


@given(st.floats(min_value=0, max_value=1))
def test_fractions_are_read_back(value: float) -> None:
    assert units.fraction(units.format_fraction(value)) == value


@given(st.decimals(min_value="1e-9", max_value=10**9, places=9), st.sampled_from(["ns", "us", "ms", "s"]))
def test_times_are_the_nearest_double(number: object, unit: str) -> None:
    exponent = {"ns": -9, "us": -6, "ms": -3, "s": 0}[unit]
    assert units.time(f"{number:f} {unit}") == float(f"{number:f}e{exponent}")


@given(st.one_of(st.text(), st.integers(), st.floats(), st.booleans(), st.none(), st.lists(st.text())))
def test_anything_else_is_a_scenario_error(value: object) -> None:
    for read in (units.rate, units.time, units.size, units.packets):
        try:
            read(value)
        except ScenarioError as error:
            assert "\n" not in str(error)


@given(st.integers(min_value=0, max_value=10**6), st.sampled_from([("ms", 1e-3), ("us", 1e-6)]))
def test_ns2_multiplies_times_by_doubles(number: int, unit: tuple[str, float]) -> None:
    name, factor = unit
    assert units.time_as_ns2(f"{number} {name}") == number * factor
    assert units.time_as_ns2(f"{number} s") == number
