"""Captures of random scenarios, read byte by byte: they say what the tables say."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tightlink as tl
from written_captures import SYN, Packet, captured


@st.composite
def scenarios(draw: st.DrawFn) -> str:
    """A path of some hops with some flows in both directions."""
    profile = draw(st.sampled_from(["ns2", "rfc", "linux"]))
    hops = draw(st.integers(1, 3))
    lines = [f'profile = "{profile}"', 'duration = "2 s"', f"seed = {draw(st.integers(0, 9))}"]
    for hop in range(hops):
        limit = f'"{draw(st.integers(2, 30))} packets"'
        queue = draw(
            st.sampled_from(
                [
                    limit,
                    f'{{ kind = "codel", ecn = true, limit = {limit} }}',
                    f'{{ kind = "fq-codel", ecn = true, limit = {limit} }}',
                ]
            )
        )
        rate, delay = draw(st.integers(1, 9)), draw(st.integers(0, 20))
        loss = draw(st.sampled_from([0, 0, 1, 5]))
        lines.append(
            f'link.hop{hop} = {{ ends = ["n{hop}", "n{hop + 1}"], rate = "{rate} Mbit/s", delay = "{delay} ms", queue = {queue}, loss = "{loss} %" }}'
        )
    for flow in range(draw(st.integers(1, 4))):
        ends = ["n0", f"n{hops}"][:: draw(st.sampled_from([1, -1]))]
        start = f'from = "{ends[0]}", to = "{ends[1]}", start = "{draw(st.integers(0, 500))} ms"'
        match draw(st.sampled_from(["bulk", "bytes", "pulses", "datagrams", "on-off"])):
            case "datagrams":
                size = draw(st.integers(30, 5000))
                lines.append(
                    f'traffic.t{flow} = {{ kind = "cbr", {start}, interval = "17 ms", udp.payload = "{size} B" }}'
                )
            case "on-off":
                lines.append(
                    f'traffic.t{flow} = {{ kind = "on-off", {start}, interval = "5 ms", on = "50 ms", off = "50 ms" }}'
                )
            case kind:
                recovery = draw(
                    st.sampled_from(["tahoe", "reno", "newreno", "sack", *(["rack"] if profile != "ns2" else [])])
                )
                window, payload = draw(st.integers(1, 200)), draw(st.integers(100, 1448))
                ecn = draw(st.sampled_from(["false", "true", *(['"accecn"'] if profile != "ns2" else [])]))
                delayed = draw(st.booleans())
                tcp = f'tcp = {{ recovery = "{recovery}", window = "{window} packets", payload = "{payload} B", ecn = {ecn}, delayed_acks = {str(delayed).lower()} }}'
                what = {
                    "bulk": 'kind = "bulk"',
                    "bytes": 'kind = "bulk", bytes = "50 kB"',
                    "pulses": 'kind = "cbr", interval = "9 ms"',
                }
                lines.append(f"traffic.t{flow} = {{ {what[kind]}, {start}, {tcp} }}")
    return "\n".join(lines)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(scenarios())
def test_captures_of_random_scenarios_say_what_the_tables_say(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    path = tmp_path_factory.mktemp("random") / "out.pcapng"
    nodes = [node["name"] for node in tl.loads(text).resolve()["nodes"]]
    run, packets = captured(text, path, pcap_at=nodes, trace=True)
    hops = len(nodes) - 1
    for packet in packets:
        # The nodes stand in a row.
        place = abs(nodes.index(packet.interface) - packet.source)
        assert packet.outbound == (place == 0)
        assert packet.ttl == 64 - max(0, place - 1)
        assert abs(packet.source - packet.destination) == hops
    trace = run.packets
    for name in nodes:
        here = [p for p in packets if p.interface == name]
        assert (
            sum(not p.outbound for p in here) == trace.filter((pl.col("event") == "r") & (pl.col("to") == name)).height
        )
        sent = run.flows.filter(pl.col("from") == name)
        data = [p for p in here if p.outbound and (not p.is_tcp or p.ports[0] >= 61000)]
        assert len(data) == sent["packets_sent"].sum()
        if "ns2" not in text:
            # A SYN has more options than the engine counts bytes for.
            syns = sum(len(p.above) - 32 for p in data if p.is_tcp and p.flags & SYN)
            assert sum(p.original for p in data) - syns == sent["bytes_sent"].sum()
        assert len({p.header[4:6] for p in here if p.outbound and not p.offset}) == sum(
            not p.offset for p in here if p.outbound
        )
    for row, flow in zip(run.flows.rows(named=True), tl.loads(text).resolve()["flows"], strict=True):
        if row["transport"] == "tcp":
            _check_connection(row, packets, nodes, 61000 + _place(run, row), flow)


def _place(run: tl.Run, row: dict[str, Any]) -> int:
    """The place of a flow among those that begin at its node."""
    return run.flows.filter((pl.col("from") == row["from"]) & (pl.col("flow") < row["flow"])).height


def _check_connection(
    row: dict[str, Any], packets: list[Packet], nodes: list[str], port: int, flow: dict[str, Any]
) -> None:
    host = nodes.index(row["from"])
    at_host = [p for p in packets if p.is_tcp and p.interface == row["from"]]
    sent = [p for p in at_host if p.outbound and (p.source, p.ports[0]) == (host, port)]
    acks = [p for p in at_host if not p.outbound and (p.destination, p.ports[1]) == (host, port)]
    if not sent:
        return
    assert sent[0].flags & SYN
    highest, again = 0, 0
    for packet in sent:
        end = packet.seq + packet.payload + bool(packet.flags & SYN)
        # The bare third step of a handshake takes no number.
        again += end <= highest and end > packet.seq
        highest = max(highest, end)
    assert again == row["packets_retransmitted"]
    assert [p.ack for p in acks] == sorted(p.ack for p in acks)
    for ack in acks:
        assert 1 <= ack.ack <= highest
        blocks = list(ack.blocks)
        if flow["transport"]["tcp"]["recovery"] == "rack" and blocks and blocks[0][1] <= ack.ack:
            # What came twice, first and below the ACK (RFC 2883 §4).
            left, right = blocks.pop(0)
            assert 1 <= left < right
        assert all(ack.ack < left < right <= highest for left, right in blocks)
    at_receiver = [p for p in packets if p.is_tcp and p.interface == row["to"]]
    answers = [p.ack for p in at_receiver if p.outbound and (p.destination, p.ports[1]) == (host, port)]
    payload = row["goodput_bps"] * (min(row["stop_s"], 2) - row["start_s"]) / 8 if row["goodput_bps"] else 0
    if not flow["transport"]["tcp"]["delayed_ack_s"] and answers:
        # ns-2's last packet is as large as the others; what the application did not offer is not counted.
        through = min(max(answers) - 1, flow["traffic"].get("bytes") or max(answers))
        assert through == pytest.approx(payload, abs=0.5)
