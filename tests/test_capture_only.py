"""A part of a capture, by `only`: a flow, an address, a port."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import tightlink as tl
from programs import need

UPLOADS: Final = Path(__file__).parent.parent / "examples" / "slow-uploads.pcapng.gz"


@pytest.mark.parametrize("wanted", ["10.0.0.1:61001-10.0.0.3:5201", ":61001", "10.0.0.1:61001"])
def test_one_flow_of_a_capture_is_what_it_is_in_the_whole(wanted: str) -> None:
    """But for when it begins, which is when the first packet does that is read."""
    label = "10.0.0.1:61001-10.0.0.3:5201"
    whole, one = tl.capture(UPLOADS), tl.capture(UPLOADS, only=wanted)
    assert one.flows["label"].to_list() == [label]
    moved = ["flow", "start_s", "stop_s"]
    expected = whole.flows.filter(pl.col("label") == label).drop(moved)
    assert_frame_equal(one.flows.drop(moved), expected, check_exact=True)
    assert one.manifest["packets"] == one.table("protocols")["packets"].sum() < whole.manifest["packets"]
    assert one.manifest["identity"] != whole.manifest["identity"]


def test_of_an_address_and_as_tshark_counts() -> None:
    need("tshark")
    for wanted, display in (("10.0.0.3", "ip.addr == 10.0.0.3"), (":61000", "tcp.port == 61000 || udp.port == 61000")):
        command = ["tshark", "-r", str(UPLOADS), "-Y", display, "-T", "fields", "-e", "frame.number"]
        listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        assert tl.capture(UPLOADS, only=wanted).manifest["packets"] == len(listed)


def test_numbers_of_packets_are_those_in_the_file() -> None:
    found = tl.capture(UPLOADS, only=":61002", packets=True).packets["uid"]
    whole = tl.capture(UPLOADS, packets=True).packets.filter(pl.col("flow") == 1)["uid"]
    assert found.to_list() == whole.to_list()
