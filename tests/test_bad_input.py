"""Wrong input: one clear sentence that names file, key, value and what was expected."""

from __future__ import annotations

import functools
import gzip
import os
import sys
from pathlib import Path

import polars as pl
import pytest

import tightlink as tl
from tightlink import cli, files
from tightlink.analysis import measurements
from tightlink.analysis.path import pinger
from tightlink.scenario import course_files, synonyms

BASE = """\
duration = "10 s"
link.a = { ends = ["x", "y"], rate = "2 Mbit/s", delay = "10 ms" }
traffic.t = { kind = "bulk", from = "x", to = "y" }
traffic.u = { kind = "cbr", from = "x", to = "y", rate = "1 Mbit/s" }
topology.net = { kind = "dumbbell", pairs = 2, bottleneck.rate = "1 Mbit/s", access.rate = "1 Mbit/s" }
"""

#: (lines to add, or keys to change, sentence after "base.toml: ")
TEXTS = [
    ("duration = ", "not valid TOML at the end of the file: Invalid value"),
    ("duration = 1 s", "not valid TOML at line 1, column 14: "),
    ("a = 1\na = 2\n", "not valid TOML at line 2, column 6: Cannot overwrite a value"),
    ("duration = 10", 'duration = 10: expected a unit, too: a time such as "10 ms"; did you mean "10 s"?'),
    (
        'duration = "10 s"\nlink.w = { ends = ["a", "b"], rate = "1 Mbit/s", delay = 20 }',
        'link.w.delay = 20: expected a unit, too: a time such as "10 ms"; did you mean "20 ms"?',
    ),
    # A fraction may be one of seconds, as ns-2 has them, or of milliseconds.
    (
        'duration = "10 s"\nlink.w = { ends = ["a", "b"], rate = "1 Mbit/s", delay = 0.01 }',
        'link.w.delay = 0.01: expected a unit, too: a time such as "10 ms"; did you mean "0.01 s" or "0.01 ms"?',
    ),
    (
        'duration = "10 s"\nlink.w = { ends = ["a", "b"], rate = 10 }',
        'link.w.rate = 10: expected a unit, too: a rate such as "2 Mbit/s" or a packet rate such as "20 packets/ms"; '
        'did you mean "10 Mbit/s"?',
    ),
    (
        'duration = "10 s"\nlink.w = { ends = ["a", "b"], rate = "1 Mbit/s", queue = "codel" }',
        'link.w.queue = "codel": expected a limit such as "20 packets", or a table with the discipline as kind; '
        'did you mean { kind = "codel" }?',
    ),
    ("", 'duration: this key is needed, such as duration = "10 s"'),
    (
        "duraton = '1 s'",
        "duraton: unknown key; expected one of profile, duration, seed, topology, link, node, traffic, routing, "
        'observe; did you mean "duration"?',
    ),
    (
        "duration = '1 s'\n[flows.a]\nkind = 'bulk'",
        "flows: unknown key; expected one of profile, duration, seed, topology, link, node, traffic, routing, observe; "
        'did you mean "traffic"?',
    ),
    # What stands too deep, or not deep enough.
    (
        "[traffic.t]\nkind = 'bulk'\nfrom = 'x'\nto = 'y'\nduration = '1 s'",
        'duration: this key is needed, such as duration = "10 s"\nbase.toml: traffic.t.duration: unknown key; expected '
        "one of kind, from, to, flows, start, stop, path, reverse_path, dscp, tcp, udp, bytes; did you mean duration above the first [table], as it is of the whole scenario?",
    ),
    (
        "duration = '1 s'\n[link]\nends = ['x', 'y']\nrate = '1 Mbit/s'",
        'link = { ends = ["x", "y"], rate = "1 Mbit/s" }: expected a name for each, as in [link.NAME]',
    ),
    (
        "duration = '1 s'\ncongestion = 'bbr'",
        "congestion: unknown key; expected one of profile, duration, seed, topology, link, node, traffic, routing, "
        'observe; did you mean "traffic.NAME.tcp.congestion"?',
    ),
    (
        "duration = '1 s'\nrate = '1 Mbit/s'\nlink.w.ends = ['x', 'y']",
        "rate: unknown key; expected one of profile, duration, seed, topology, link, node, traffic, routing, observe; "
        'did you mean "link.w.rate"?',
    ),
    (
        "duration = '1 s'\nlink.w = { ends = ['a', 'b'] }",
        'link.w.rate: this key is needed, such as rate = "2 Mbit/s"',
    ),
    ("scenario = 'a.toml'\nvary = { seed = '1..3' }", "an experiment, not a scenario: tightlink sweep takes it"),
    ("duration = '1 s'", "traffic: expected at least one flow, such as traffic.ftp"),
    ("duration = '0 s'", 'duration = "0 s": expected a time above zero, such as "10 ms"'),
    ("duration = '1e-12 s'", 'duration = "1e-12 s": expected a time of at least "1 ns"'),
    ("duration = 2020-01-01", 'duration = 2020-01-01: expected a time such as "10 ms"'),
    (
        "duration = '1 s'\nlink.'a.b' = { ends = ['x', 'y'], rate = '1 Mbit/s' }",
        'link."a.b": expected a name of letters',
    ),
    ("duration = '1 s'\nlink = 3", "link = 3: expected a table"),
    (
        "duration = '1 s'\ntraffic.t = 3",
        "traffic.t = 3: expected a table with a kind (bulk, saturate, cbr, on-off, video, transfers, users, scatter)",
    ),
    (
        "duration = '1 s'\ntraffic.t.from = 'x'",
        "traffic.t.kind: expected a kind, one of bulk, saturate, cbr, on-off, video, transfers, users, scatter",
    ),
    (
        "duration = '1 s'\ntopology.t.kind = 'dumbell'",
        'topology.t.kind = "dumbell": expected one of dumbbell, chain, parking-lot, fat-tree, leaf-spine, graph, '
        'abilene-four-tier; did you mean "dumbbell"?',
    ),
    ("duration = '1 s'\nnode.r.processor.per_packet = '1 ms'", "node.r: expected the name of a node"),
    ("x = " + "[" * 3000, "not "),
]

CHANGES = [
    # A bare number is meant in the unit that the key had, or else in the usual one.
    ("link.a.delay", 20, 'expected a unit, too: a time such as "10 ms"; did you mean "20 ms"?'),
    ("duration", 20, 'expected a unit, too: a time such as "10 ms"; did you mean "20 s"?'),
    ("link.a.rate", 500, 'did you mean "500 Mbit/s"?'),
    ("traffic.u", {"kind": "video", "from": "x", "to": "y", "rate": "1 Mbit/s", "fps": 30}, '"frames_per_second"?'),
    ("link.a.framing", "ethernet", 'expected a table; did you mean { overhead = "38 B", smallest = "84 B" }?'),
    (
        "link.a.rate",
        "2 mbps",
        'expected a rate such as "2 Mbit/s" or a packet rate such as "20 packets/ms"; did you mean "2 Mbit/s"?',
    ),
    # A fraction in place of a delay may be one of seconds, whatever the unit was.
    ("link.a.delay", 0.02, 'did you mean "0.02 s" or "0.02 ms"?'),
    ("link.a.up", "1 Mbit/s", 'did you mean "reverse"?'),
    ("traffic.t.tcp.pacing", "yes", "expected true or false; did you mean true?"),
    ("traffic.t.path", "a", 'expected a list; did you mean ["a"]?'),
    ("traffic.t.tcp.sack", True, 'did you mean "recovery"?'),
    # So many packets are bytes, and what an AQM aims at is no second.
    ("traffic.t.tcp.window", 65535, 'did you mean "65535 B"?'),
    ("traffic.t.tcp.window", 64, 'did you mean "64 packets"?'),
    ("traffic.t.tcp.window", "64K", 'did you mean "64 KiB"?'),
    ("traffic.t.bytes", "10M", 'did you mean "10 MiB"?'),
    ("link.a.queue", {"kind": "codel", "target": 5}, 'did you mean "5 ms"?'),
    ("traffic.t.tcp.delayed_ack_timeout", 40, 'did you mean "40 ms"?'),
    # Without what a path begins with.
    ("congestion", "bbr", "congestion: unknown key; did you mean traffic.t.tcp.congestion?"),
    ("tcp.cc", "bbr", "tcp.cc: unknown key; did you mean traffic.t.tcp.congestion?"),
    ("bandwidth", "1 Mbit/s", "bandwidth: unknown key; did you mean link.a.rate?"),
    # How a quantity changes stands in its place, and a schedule in a table.
    ("link.a.schedule", [{"at": "5 s", "rate": "3 Mbit/s"}], 'did you mean "rate.schedule"?'),
    ("link.a.outages", [{"at": "5 s", "for": "3 s"}], 'did you mean { schedule = [{ at = "5 s", for = "3 s" }] }?'),
    ("time", "1 s", 'did you mean "duration"?'),
    ("flows", 2, "flows: unknown key; did you mean traffic.t.flows?"),
    ("interval", "1 s", 'did you mean "observe.interval"?'),
    # As ns-2 and others write them.
    ("link.a.rate", "1.5Mb", 'did you mean "1.5 Mbit/s"?'),
    ("link.a.rate", "2mb", 'did you mean "2 Mbit/s"?'),
    ("link.a.rate", "10M", 'did you mean "10 Mbit/s"?'),
    ("traffic.u.rate", "448Kb", 'did you mean "448 kbit/s"?'),
    ("link.a.delay", "50msec", 'did you mean "50 ms"?'),
    ("link.a.delay", "50 milliseconds", 'did you mean "50 ms"?'),
    ("link.a.queue", "50 pkts", 'did you mean "50 packets"?'),
    ("link.a.rate", "20 packets", 'expected a rate such as "2 Mbit/s" or a packet rate such as "20 packets/ms"'),
    ("link.a.rate", "20 packets/m", 'did you mean "20 packets/ms"?'),
    ("link.a.rate", "-20 packets/ms", 'expected a packet rate above zero, such as "20 packets/ms"'),
    ("link.a.rate", "0.5 packets/s", 'expected a packet rate of at least "1 packet/s"'),
    ("link.a.rate", "0.5 bit/s", 'expected a rate of at least "1 bit/s"'),
    ("link.a.rate", "0 Mbit/s", 'expected a rate above zero, such as "2 Mbit/s"'),
    ("link.a.rate", "-1 Mbit/s", "expected a rate above zero"),
    ("link.a.rate", 2_000_000, 'did you mean "2 Mbit/s"?'),
    ("link.a.rate", "10 ms", 'expected a rate such as "2 Mbit/s"'),
    ("traffic.u.rate", "20 packets/ms", 'expected a rate such as "2 Mbit/s"'),
    ("link.a.delay", "-1 ms", "expected a time that is not negative"),
    ("link.a.queue", "0 packets", "expected a number of packets above zero"),
    ("link.a.queue", 20, 'did you mean "20 packets"?'),
    ("link.a.queue", "unlimted", 'or "unlimited"; did you mean "unlimited"?'),
    ("link.a.queue", {"kind": "codl", "limit": "5 packets"}, 'did you mean "codel"?'),
    ("link.a.queue", {"limit": "5 packets"}, "expected a kind"),
    ("link.a.loss", 1.5, "expected a fraction from 0 to 1"),
    ("link.a.loss", "10 packets", "expected a fraction"),
    ("link.a.mtu", "20 B", 'expected a size of at least "68 B"'),
    ("link.a.ends", ["x"], "expected two nodes"),
    ("link.a.ends", ["x", "x"], "expected two different nodes"),
    ("link.a.ends", ["x", "net.rigt_router"], 'did you mean "net.right_router"?'),
    ("link.a.one_way", 1, "expected true or false"),
    # Words of other tools, which are no spelling mistakes.
    ("link.a.bandwidth", "1 Mbit/s", 'did you mean "rate"?'),
    ("link.a.from", "x", 'did you mean "ends"?'),
    ("link.a.latency", "1 ms", 'did you mean "delay"?'),
    ("link.a.limit", "5 packets", 'did you mean "queue"?'),
    ("traffic.t.congestion", "cubic", 'did you mean "tcp.congestion"?'),
    ("traffic.t.mss", "1460 B", 'did you mean "tcp.payload"?'),
    ("traffic.t.kind", "ftp", 'did you mean "bulk"?'),
    ("traffic.t.kind", "telnet", 'did you mean "cbr"?'),
    ("traffic.u.kind", "pareto", 'did you mean "on-off"?'),
    ("traffic.t.maxpkts", 100, 'did you mean "bytes"?'),
    # A payload is that of the transport that carries the traffic.
    ("traffic.u.payload", "500 B", 'did you mean "udp.payload"?'),
    ("traffic.u.packetSize_", 500, 'did you mean "udp.datagram"?'),
    (
        "traffic.u",
        {"kind": "cbr", "from": "x", "to": "y", "rate": "1 Mbit/s", "tcp": {}, "mss": "500 B"},
        'did you mean "tcp.payload"?',
    ),
    ("link.a.queue", {"kind": "sfq"}, 'did you mean "fq-codel"?'),
    ("link.a.queue", {"kind": "wfq"}, 'did you mean "drr"?'),
    ("link.a.queue", {"kind": "fifo", "limit": "5 packets"}, 'did you mean "drop-tail"?'),
    # As ns-3 writes them.
    ("link.a.queue", {"kind": "FqCoDelQueueDisc"}, 'did you mean "fq-codel"?'),
    ("link.a.DataRate", "5Mbps", 'did you mean "rate"?'),
    ("link.a.ErrorRate", 0.01, 'did you mean "loss"?'),
    ("traffic.t.tcp.SegmentSize", 1000, 'did you mean "payload"?'),
    ("traffic.t.SndBufSize", 131072, 'did you mean "tcp.window"?'),
    ("traffic.t.tcp.MinRto", "200 ms", 'did you mean "rto.min"?'),
    ("traffic.u.kind", "OnOffApplication", 'did you mean "on-off"?'),
    (
        "traffic.u",
        {"kind": "on-off", "from": "x", "to": "y", "rate": "1 Mbit/s", "off": "1 s", "on": "1 s", "OnTime": "1 s"},
        'did you mean "on"?',
    ),
    ("traffic.u.Remote", "y", 'did you mean "to"?'),
    ("link.a.MaxSize", "100p", 'did you mean "queue"?'),
    ("traffic.t.tcp.DelAckCount", 1, 'did you mean "delayed_acks"?'),
    ("RngRun", 2, 'did you mean "seed"?'),
    # A path without what it begins with.
    ("a.rate", "1 Mbit/s", "unknown key; did you mean link.a.rate?"),
    ("queue", "1 packets", "unknown key; did you mean link.a.queue?"),
    (
        "link.a.reverse.rat",
        "1 Mbit/s",
        "unknown key; expected one of rate, delay, queue, framing, jitter, reorder, duplicate, loss, arq, outages, shaper, "
        'ecn, … (14 in all); did you mean "rate"?',
    ),
    ("traffic.t.from", "z", "expected the name of a node"),
    ("traffic.t.from", "X", 'did you mean "x"?'),
    ("traffic.t.from", "net.left[2]", "expected net.left[0] to net.left[1]"),
    ("traffic.t.from", "net.left[*]", "expected a single node, or flows = a number of flows beside it"),
    ("traffic.t.from_", "x", "unknown key"),
    ("traffic.t.to", "x", 'expected another node than from, which is "x"'),
    ("traffic.t.start", "10 s", "expected starts before the duration, which is 10 s"),
    ("traffic.t.start", ["0 s", "1 s"], "expected a single time"),
    ("traffic.t.start", {"first": "1 s"}, 'expected every, such as "100 ms", for even spacing, or within, such as'),
    ("traffic.t.start", {"every": "1 s", "within": "2 s"}, "expected either every or within, not both"),
    ("traffic.t.start", {"first": "1 s", "within": "9 s"}, "which is 10 s; one may start as late as 10 s"),
    ("traffic.t.stop", "11 s", "expected a time not after the duration, which is 10 s"),
    ("traffic.t.flows", 0, "expected a whole number of flows from 1 to"),
    ("traffic.t.flows", True, "expected a whole number of flows from 1 to"),
    ("traffic.t.bytes", 1000, 'did you mean "1000 B"?'),
    ("traffic.t.udp.payload", "1000 B", "bulk traffic has no rate, which UDP needs; use cbr"),
    ("traffic.t.path", ["b"], "expected the name of a link"),
    ("traffic.t.path", ["a.reverse"], "expected links that follow each other: a.reverse does not begin at x"),
    ("traffic.t.path", [], "expected a list that is not empty"),
    ("traffic.u.reverse_path", ["a.reverse"], "expected nothing here"),
    ("traffic.t.tcp.congestion", "rno", 'did you mean "reno"?'),
    ("traffic.t.tcp.congestion", "tahoe", 'did you mean recovery = "tahoe" beside it?'),
    ("traffic.t.tcp.congestion", "NewReno", 'did you mean recovery = "newreno" beside it?'),
    ("traffic.t.tcp.congestion", "ns3::TcpNewReno", 'did you mean recovery = "newreno" beside it?'),
    ("traffic.t.tcp.congestion", "TcpBic", 'did you mean "bic"?'),
    ("traffic.t.tcp.congestion", "TcpLinuxReno", 'did you mean "reno"?'),
    ("traffic.t.tcp.congestion", "TcpWestwoodPlus", 'did you mean "westwood"?'),
    ("traffic.t.tcp.congestion", "bbr2", 'did you mean "bbr3"?'),
    ("traffic.t.dscp", 46, 'expected the name of a code point, not its number; did you mean "EF"?'),
    ("traffic.t.tcp.cong", "reno", 'did you mean "congestion"?'),
    ("traffic.t.tcp.congestion", {"kind": "fats"}, 'did you mean "fast"?'),
    ("traffic.t.tcp.congestion", {"alpha": 1}, "expected the name of a congestion control, or a table"),
    ("traffic.t.tcp.congestion", {"kind": "fast", "alhpa": "20 packets"}, 'did you mean "alpha"?'),
    ("traffic.t.tcp.congestion", {"kind": "fast", "alpha": 20}, 'expected a value from "0.1 packets"'),
    ("traffic.t.tcp.congestion", {"kind": "bbr3", "beta": 0.5}, "bbr3 has no options"),
    ("traffic.t.tcp.congestion", {"kind": "cubic", "fast_convergence": 1}, "expected true or false"),
    ("traffic.t.tcp.congestion", {"kind": "cubic", "beta": 2}, "expected a value from 0.1 to 0.99, such as 0.7"),
    ("traffic.t.tcp.recovery", "vegas", 'did you mean congestion = "vegas" beside it?'),
    ("traffic.t.tcp.recovery", "sak", 'expected one of tahoe, reno, newreno, sack, rack; did you mean "sack"?'),
    ("traffic.t.tcp.slow_start", "hystart+", 'did you mean "hystart++"?'),
    (
        "traffic.t.tcp",
        {"congestion": "bbr", "recovery": "sack", "slow_start": "hystart"},
        "expected nothing here, as bbr",
    ),
    ("traffic.t.tcp.rto.initial", "0.1 s", "expected at least rto.min, which is 1 s"),
    ("link.a.framing", {"overhead": "38 B", "smallest": "38 B"}, "expected more than overhead, which is 38 B"),
    ("traffic.t.tcp.max_ssthresh", "50 packets", 'expected nothing here, as slow_start is not "limited"'),
    ("traffic.t.tcp.loss_window", "1 BDP", "expected a number of packets or bytes"),
    ("traffic.t.tcp.loss_window", "0 packets", "above zero"),
    ("traffic.t.tcp", {"recovery": "rack", "loss_window": "4 packets"}, "expected nothing here: with recovery rack"),
    ("traffic.t.tcp.congestion", {"kind": "htcp", "low_speed_scaling": 1}, "expected true or false"),
    ("traffic.u.dscp", "VoIP", 'expected the name of a code point, such as "EF" or "AF41"; did you mean "EF"?'),
    ("traffic.t.tcp.ecn", "yes", 'expected true, false or "accecn"'),
    ("traffic.t.tcp.ecn", "acecn", 'expected true, false or "accecn"; did you mean "accecn"?'),
    ("traffic.t.tcp.ecn", 1, 'expected true, false or "accecn"'),
    ("traffic.t.tcp.receiver_ecn", True, "expected nothing here: ecn = false asks for none"),
    ("traffic.t.tcp", {"ecn": True, "ecn_option": True}, 'expected false, or ecn = "accecn" at both ends'),
    ("traffic.t.tcp", {"ecn": "accecn", "receiver_ecn": True, "ecn_option": True}, 'ecn = "accecn" at both ends'),
    ("traffic.t.tcp", {"ecn": True, "receiver_ecn": "acc"}, 'expected true, false or "accecn"'),
    ("traffic.t.tcp.window", "0 packets", "above zero"),
    ("traffic.t.tcp.window", "1 kB", "expected at least one packet of 1448 B"),
    ("traffic.t.tcp.payload", "1449 B", "expected at most 1448 B"),
    ("traffic.t.tcp.rto.min", "2 min", "expected at most rto.max, which is 60 s"),
    ("traffic.t.tcp.rto.tick", "1 ms", "unknown key"),
    ("traffic.u.interval", "1 ms", "expected either rate or interval, not both"),
    ("traffic.u.rate", "1000 Tbit/s", "expected a rate with at least 1 ns from packet to packet"),
    ("traffic.u.udp", {"payload": "1 B", "datagram": "29 B"}, "expected either payload or datagram, not both"),
    ("traffic.u.udp.ecn", "ect2", "expected one of ect0, ect1"),
    ("traffic.u.udp.datagram", "28 B", "expected more than the 28 B of its headers"),
    ("traffic.u.udp.datagram", "66 kB", "expected an IP packet of at most 65535 B"),
    ("traffic.u.tcp.payload", "1000 B", None),
    ("topology.net.pairs", 0, "expected a whole number of pairs"),
    ("topology.net.access.delay", ["1 ms"], "expected 2 values, one for each link, not 1"),
    ("topology.net.access.delay", ["1 ms", "2 sm"], "expected a time"),
    ("observe.interval", "1 ms", None),
    ("observe.flows", "eech", 'did you mean "each"?'),
    ("seed", -1, "expected a whole number from 0"),
    ("profile", "ns3", 'expected one of ns2, rfc, linux; did you mean "ns2"?'),
    ("link.b.rate", "1 Mbit/s", 'there is no link "b" in the scenario; there is a'),
    ("traffic.tt.start", "1 s", 'there is no traffic "tt" in the scenario; did you mean traffic.t?'),
    ("link.a.rate.x", 1, "rate is a single value here"),
    ("link.a.ends[2]", "z", "beyond the list"),
    ("link.a.rate[0]", "z", "needs a list"),
    ("observe[*].x", 1, "[*] needs a list there"),
    ("node[*].x", 1, "there is no node to change"),
    ("nodes.x", 1, "unknown key"),
    ("a b", 1, "expected a dotted key"),
]


@pytest.mark.parametrize("key", ["link", "traffic", "node", "topology"])
def test_arrays_of_tables_are_told_how_to_have_names(key: str) -> None:
    with pytest.raises(
        tl.ScenarioError,
        match=rf"^{key} = .*: expected a name for each, as in \[{key}.NAME\] instead of \[\[{key}\]\]$",
    ):
        tl.loads(f'duration = "1 s"\n[[{key}]]\nkind = "bulk"')


@pytest.mark.parametrize(("text", "sentence"), TEXTS)
def test_texts(text: str, sentence: str) -> None:
    with pytest.raises(tl.ScenarioError) as caught:
        tl.loads(text, file="base.toml").resolve()
    assert str(caught.value).startswith(f"base.toml: {sentence}")


@pytest.mark.parametrize(("key", "value"), [("link.a.queue", 0), ("link.a.rate", 0), ("traffic.t.start", -1)])
def test_what_would_be_refused_in_turn_is_not_proposed(key: str, value: int) -> None:
    with pytest.raises(tl.ScenarioError, match="expected a unit, too") as caught:
        tl.loads(BASE, set={key: value})
    assert "did you mean" not in str(caught.value)


@pytest.mark.parametrize(("key", "value", "sentence"), CHANGES)
def test_changes(key: str, value: object, sentence: str | None) -> None:
    if sentence is None:
        tl.loads(BASE, set={key: value}).resolve()
        return
    with pytest.raises(tl.ScenarioError) as caught:
        tl.loads(BASE, file="base.toml", set={key: value}).resolve()
    assert str(caught.value).startswith("set: ")
    # What is proposed is as the option has it; in Python it is as Python has it (`test_python_names`).
    message = str(caught.value.of_command())
    assert sentence in message
    assert message.startswith("--set: ")
    assert "\n" not in message


@pytest.mark.parametrize(("key", "value", "sentence"), CHANGES)
def test_python_objects_fail_alike(key: str, value: object, sentence: str | None) -> None:
    scenario = tl.loads(BASE)
    if sentence is not None:
        with pytest.raises(tl.ScenarioError):
            scenario.set(key, value).resolve()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('traffic.s = { kind = "bulk", from = "x", to = "y", start = "5 s", stop = "4 s" }', "traffic.s.stop"),
        (
            'traffic.s = { kind = "bulk", from = "x", to = "y", flows = 2, start = ["1 s"] }',
            "expected 2 times, one for each",
        ),
        (
            'traffic.s = { kind = "bulk", from = "x", to = "y", flows = 2, start = ["1 s", "10 s"] }',
            "flow 1 starts at 10 s",
        ),
        ('traffic.s = { kind = "cbr", from = "x", to = "y" }', "traffic.s.rate: expected a rate"),
        (
            'traffic.s = { kind = "cbr", from = "x", to = "y", rate = "1 Mbit/s", udp = {}, tcp = {} }',
            "either tcp or udp",
        ),
        (
            'traffic.s = { kind = "on-off", from = "x", to = "y", rate = "1 Mbit/s", on = "1 s", off = "1 s", shape = 1.5 }',
            "shape has an effect with",
        ),
        (
            'traffic.s = { kind = "on-off", from = "x", to = "y", rate = "1 Mbit/s", on = "1 s", off = "1 s", '
            'distribution = "pareto", shape = 1 }',
            "expected a number above 1",
        ),
        (
            'traffic.s = { kind = "bulk", from = "x", to = "y", tcp = { delayed_acks = false, delayed_ack_timeout = "1 s" } }',
            "expected nothing here, as delayed_acks is false",
        ),
        (
            'link.b = { ends = ["p", "q"], rate = "1 Mbit/s", queue = "1 BDP" }\n'
            'traffic.s = { kind = "bulk", from = "p", to = "q" }',
            "no flow through this link has any propagation delay",
        ),
        (
            'link.b = { ends = ["p", "q"], rate = "1 Mbit/s", one_way = true, reverse.rate = "1 Mbit/s" }',
            "has no reverse",
        ),
        (
            'link.b = { ends = ["p", "q"], rate = "1 Mbit/s" }\n'
            'traffic.s = { kind = "bulk", from = "x", to = "q", tcp.window = "1 BDP" }',
            'no path from "x" to "q"',
        ),
        ('topology.c = { kind = "chain", hops = 2, hop.delay = "1 ms" }', "topology.c.hop.rate: expected a rate"),
        ('topology.c = { kind = "chain", hops = 2, hop.rate = "1 Mbit/s", access.rate = "1 Mbit/s" }', "without pairs"),
        (
            'topology.d = { kind = "dumbbell", pairs = 2, bottleneck.rate = "1 Mbit/s", access_left.rate = "1 Mbit/s" }',
            "topology.d.access_right.rate: expected a rate",
        ),
        ('observe.interval = "1 ns"', "samples"),
        (
            'link.b = { ends = ["p", "q"], rate = "20 packets/ms", framing.overhead = "38 B" }',
            'link.b.framing = { overhead = "38 B", smallest = "0 B" }: expected nothing here: with a rate of '
            '"20 packets/ms" each packet takes as long',
        ),
        (
            'link.b = { ends = ["p", "q"], rate = "1 Mbit/s", framing.overhead = "38 B", reverse.rate = "2 packets/s" }',
            "link.b.reverse.framing = ",
        ),
    ],
)
def test_additions(text: str, sentence: str) -> None:
    with pytest.raises(tl.ScenarioError) as caught:
        tl.loads(BASE + text, file="base.toml").resolve()
    assert sentence in str(caught.value)
    assert str(caught.value).startswith("base.toml: ")
    assert "\n" not in str(caught.value)


def test_several_problems_are_told_together() -> None:
    text = 'duration = 3\nlink.a = { ends = ["x", "y"], rate = "2 mbps" }'
    with pytest.raises(tl.ScenarioError) as caught:
        tl.loads(text, file="base.toml")
    lines = str(caught.value).splitlines()
    assert len(lines) == 2
    assert all(line.startswith("base.toml: ") for line in lines)


def test_an_unknown_key_hides_no_other_problem() -> None:
    text = (
        'duraton = "3 s"\nlink.a = { ends = ["x", "y"], rate = "1,5 mbps", dely = "1 ms" }\n[trafic.a]\nkind = "bulk"'
    )
    with pytest.raises(tl.ScenarioError) as caught:
        tl.loads(text, file="base.toml")
    lines = str(caught.value).splitlines()
    # What is misspelt is not missing, too.
    assert [line.split(":")[1].split(" = ")[0].strip() for line in lines] == [
        "duraton",
        "trafic",
        "link.a.dely",
        "link.a.rate",
    ]
    meant = [line.partition("did you mean ")[2] for line in lines]
    assert meant == ['"duration"?', '"traffic"?', '"delay"?', '"1.5 Mbit/s"?']


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("duration = 10 s", 'a quantity is text in quotes: "10 s"'),
        ("link.a = { rate = 10 Mbit/s, loss = 1% }", 'a quantity is text in quotes: "10 Mbit/s"'),
        ("loss = 1%", 'a quantity is text in quotes: "1%"'),
        ('duration: "1 s"', "a key is followed by =, not by :"),
        ("[link a]", "a table is called as in [link.NAME]"),
        ("duration = 10,5", 'a quantity is text with a point, as in "1.5 Mbit/s"'),
        ("duration = \u201c1 s\u201d", "text stands in straight quotes"),
        ("duration = 1\nduration = 2", "a key stands there twice"),
        ("[link.a]\n[link.a]", "the table link.a stands there twice"),
        ('link.w = { ends = ["a", "b"] }\nlink.w.reverse = { rate = "1 Mbit/s" }', "link.w stands in braces"),
        ('link.w = { ends = ["a", "b"],\nrate = "1 Mbit/s" }', "a table in braces ends in its line"),
    ],
)
def test_broken_toml_is_told_with_what_is_probably_meant(text: str, meant: str) -> None:
    with pytest.raises(tl.ScenarioError, match="not valid TOML") as caught:
        tl.loads(text)
    assert meant in str(caught.value)


def test_samples_are_taken_within_the_run() -> None:
    with pytest.raises(tl.ScenarioError, match=r'observe\.interval = "2 s": expected at most the duration, 1 s'):
        tl.network("dsl").set_all({"duration": "1 s", "observe.interval": "2 s"})
    series = tl.simulate(tl.network("dsl").set_all({"duration": "1 s", "observe.interval": "250 ms"})).series
    assert series["time_s"].unique().sort().to_list() == [0.25, 0.5, 0.75]


def test_python_objects_name_themselves() -> None:
    with pytest.raises(tl.ScenarioError, match=r'^Link: rate = "2 mbps": expected a rate'):
        tl.Link(ends=("x", "y"), rate="2 mbps")
    with pytest.raises(tl.ScenarioError, match=r"^Tcp: widow: unknown key"):
        tl.Tcp(widow="2 packets")  # type: ignore[call-arg]


def test_files(tmp_path: Path) -> None:
    with pytest.raises(tl.ScenarioError, match="cannot be read: no such file"):
        tl.load(tmp_path / "none.toml")
    with pytest.raises(tl.ScenarioError, match="cannot be read: is a directory"):
        tl.load(tmp_path)
    (tmp_path / "binary.toml").write_bytes(b"duration = '\xff'")
    with pytest.raises(tl.ScenarioError, match="not UTF-8 text"):
        tl.load(tmp_path / "binary.toml")
    with pytest.raises(tl.ScenarioError):
        tl.load("\0")
    for content, said in (
        ('duration = "1 s"'.encode("utf-16"), "text in UTF-16: save it as UTF-8"),
        (b"\x1f\x8b\x08\xff", "tightlink capture reads captures"),
        (b"\xd4\xc3\xb2\xa1\x02\xff", "tightlink capture reads captures"),
    ):
        (tmp_path / "other.toml").write_bytes(content)
        with pytest.raises(tl.ScenarioError, match=said):
            tl.load(tmp_path / "other.toml")
    # As editors for Windows write it.
    (tmp_path / "marked.toml").write_bytes('duration = "1 s"'.encode("utf-8-sig"))
    assert tl.load(tmp_path / "marked.toml").duration == "1 s"


def test_a_device_without_an_end_is_no_scenario() -> None:
    if not Path("/dev/zero").is_char_device():
        pytest.skip("there is no such device")
    with pytest.raises(tl.ScenarioError, match=r"^/dev/zero: cannot be read: more than 67,108,864 bytes$"):
        tl.load("/dev/zero")


def test_many_wrong_keys_take_no_longer_than_few(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(synonyms, "meant_key", lambda word, *_: asked.append(word))
    with pytest.raises(tl.ScenarioError) as raised:
        tl.loads("".join(f"k{place} = 1\n" for place in range(1000)) + BASE)
    assert len(str(raised.value).splitlines()) == len(asked) == 10


def test_a_number_of_many_digits() -> None:
    with pytest.raises(tl.ScenarioError, match=r"^not valid TOML: a number has too many digits$"):
        tl.loads(f"seed = {'9' * 10_000}\n")


def test_an_empty_key_is_named() -> None:
    with pytest.raises(tl.ScenarioError, match=r'^"": unknown key'):
        tl.loads(f'"" = 1\n{BASE}')


WIRE = 'link.wire = { ends = ["a", "b"], rate = "1 Mbit/s" }'


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes with a name on this system")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.trace", 'link.wire = { ends = ["a", "b"], rate = { trace = "x.trace" } }'),
        ("x.csv", 'link.wire = { ends = ["a", "b"], rate = { table = "x.csv" } }'),
        ("x.csv", 'link.wire = { ends = ["a", "b"], rate = "1 Mbit/s", delay = { table = "x.csv" } }'),
        ("x.gml", 'topology.net = { kind = "graph", file = "x.gml" }'),
        ("x.graphml", 'topology.net = { kind = "graph", file = "x.graphml" }'),
        (
            "x.csv",
            f"{WIRE}\ntraffic.web = {{ kind = 'transfers', from = 'a', to = 'b', load = 0.4, of = 'wire', "
            "size = { file = 'x.csv' } }",
        ),
    ],
)
def test_files_of_a_scenario_that_have_no_end(name: str, text: str, tmp_path: Path) -> None:
    """Whoever looks at a stranger's scenario neither waits for ever nor runs out of memory."""
    (tmp_path / "other.toml").write_text(f'duration = "1 s"\n{text}\n')
    os.mkfifo(tmp_path / name)
    for device in ("", "/dev/zero"):
        if device:
            (tmp_path / name).unlink()
            (tmp_path / name).symlink_to(device)
        with pytest.raises(tl.ScenarioError, match=r"read: a device or a pipe$"):
            tl.load(tmp_path / "other.toml").resolve()


def test_a_small_table_of_many_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(course_files, "_MOST_ROWS", 1000)
    for rows, said in ((1000, "times that rise"), (1001, "a table of at most 1000 rows")):
        zeros = pl.zeros(rows, dtype=pl.Float64, eager=True)
        table = pl.DataFrame({"note": zeros, "rate_bps": zeros, "time_s": zeros})
        for name in ("rate.parquet", "rate.csv"):
            file = tmp_path / f"{rows}-{name}"
            table.write_csv(file) if name.endswith("csv") else table.write_parquet(file)
            with pytest.raises(tl.ScenarioError, match=said):
                course_files.read_course(str(file), "rate", {"rate_bps": 1.0})


def test_measurements_that_have_no_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measurements, "content", functools.partial(files.content, most=10))
    (tmp_path / "a.csv").write_text("x,y\n1,2\n3,4\n")
    with pytest.raises(tl.TightlinkError, match="more than 10 bytes"):
        measurements.read(tmp_path / "a.csv")
    monkeypatch.setattr(pinger, "read_bounded", functools.partial(files.read_bounded, most=2**20))
    table = tmp_path / "average_rtt-100-by-node-2014-09-10.txt.gz"
    table.write_bytes(gzip.compress(bytes(2**21)))
    with pytest.raises(OSError, match="more than 1,048,576 bytes"):
        pinger.read([table])
    table.write_bytes(gzip.compress(bytes(2**21))[:100] + b"no gzip")
    with pytest.raises(tl.TightlinkError, match="expected a table of PingER"):
        pinger.read([table])


def test_names_that_are_no_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Files may be called so, but for those that polars and DuckDB must open."""
    monkeypatch.chdir(tmp_path)
    name = os.fsdecode(b"n\xff")
    try:
        Path(f"{name}.toml").write_text(BASE, encoding="utf-8")
    except OSError:
        pytest.skip("file systems of this machine have names in Unicode only")
    for words in (
        ["run", f"{name}.toml", "--report", f"{name}.html", "--pcap", f"{name}.pcap"],
        ["sweep", f"{name}.toml", "--vary", "traffic.t.flows=1,2", "-o", "sweep"],
        ["sweep", f"{name}.toml", "--vary", "traffic.t.flows=1,2", "-o", "sweep"],
        ["capture", f"{name}.pcap", "-o", "capture", "--report", "capture.html"],
    ):
        assert cli.main(words) == 0, words
    assert "2 of 2 runs were there already" in capsys.readouterr().err
    assert r"n\udcff.toml" in Path(f"{name}.html").read_text("utf-8")
    assert tl.open_run("capture").manifest["file"].endswith(f"{name}.pcap")
    Path("capture").rename(name)
    for words in (
        ["run", f"{name}.toml", "-o", f"{name}/run"],
        ["sweep", f"{name}.toml", "--vary", "traffic.t.flows=1,2", "-o", f"{name}-sweep"],
        ["plot", name],
        ["query", name, "from flows"],
    ):
        assert cli.main(words) == 2, words
        assert "expected a path in UTF-8, as tables are read from no other" in capsys.readouterr().err


def test_names_that_are_too_long(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "s.toml").write_text(BASE, encoding="utf-8")
    for option in ("--output", "--report", "--pcap"):
        long = tmp_path / f"{'x' * 300}.{ {'--report': 'html', '--pcap': 'pcap'}.get(option, '') }"
        assert cli.main(["run", str(tmp_path / "s.toml"), option, str(long)]) == 2
        assert capsys.readouterr().err.rstrip().endswith("name too long")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--show-config", "-o", "out"], "--output: it has no effect beside --show-config, which simulates nothing"),
        (["--show-config", "--json"], "--json: it has no effect beside --show-config"),
        (["--trace"], "--trace: it has no effect without --output"),
    ],
)
def test_options_without_effect_are_told(
    options: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "s.toml").write_text(BASE, encoding="utf-8")
    assert cli.main(["run", str(tmp_path / "s.toml"), *options]) == 2
    assert said in capsys.readouterr().err


def test_unreachable_destinations_are_found_by_the_engine() -> None:
    text = (
        BASE + 'link.b = { ends = ["p", "q"], rate = "1 Mbit/s" }\ntraffic.s = { kind = "bulk", from = "x", to = "q" }'
    )
    with pytest.raises(tl.ScenarioError, match=r'^base\.toml: traffic\.s: no path from "x" to "q"'):
        tl.simulate(tl.loads(text, file="base.toml"))


def test_a_control_that_samples_deliveries_needs_to_hear_of_each() -> None:
    scenario = tl.loads(BASE, set={"traffic.t.tcp": {"congestion": "bbr", "recovery": "newreno"}})
    with pytest.raises(tl.ScenarioError, match=r'traffic\.t\.tcp\.recovery = "newreno": .*"sack" or "rack" with bbr'):
        tl.simulate(scenario)
