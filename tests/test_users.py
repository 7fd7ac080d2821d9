"""Users and scattered datagrams: what the engine gets, the way back to TOML, and what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tightlink as tl
from tightlink.cli import main
from tightlink.report import runs
from tightlink.scenario import memory

NETWORK = """\
duration = "25 min"
link.east = { ends = ["core", "a"], rate = "1 Gbit/s", delay = "5 ms" }
link.west = { ends = ["core", "b"], rate = "1 Gbit/s", delay = "5 ms" }
link.south = { ends = ["core", "c"], rate = "100 Mbit/s", delay = "5 ms" }
"""
USERS = (
    NETWORK
    + """
[traffic.web]
kind = "users"
think = "5 s"
places.direct = { at = ["a", "b"], sources = 20, receivers = 40 }
places.normal = { at = "c", sources = 10, receivers = 20 }
interfaces.normal = { rate = "8 packets/ms", delay = "0.5 ms" }
interfaces.fast = { rate = "960 Mbit/s", share = "20 %" }
files.web-object = { mean = "50 packets", shape = 1.5, share = 0.98 }
files.movie = { mean = "1448 kB" }
"""
)
MORE = """
controls.old = { congestion = "reno" }
controls.new = { congestion = "compound", share = 0.25 }
patience = { least = "30 s", rate = "10 packets/s" }
crowd = { at = ["a", "c"], start = "15 min", stop = "20 min", share = 0.01, mean = "500000 packets" }
long_lived.far = { from = "a", to = "c", interface = "fast", start = "1 s" }
long_lived.near = { from = "a", to = "b" }
sending_at_start = 0.2
[observe]
interval = "200 ms"
periods = { crowd = ["15 min", "20 min"], calm = ["10 min", "15 min"] }
"""
SMALL = """\
duration = "2 s"
traffic.web.kind = "users"
traffic.web.think = "0.2 s"
traffic.web.interfaces.ethernet.rate = "1 Gbit/s"
traffic.web.files.page.mean = "20 packets"
"""
SCATTER = (
    NETWORK
    + """
[traffic.calls]
kind = "scatter"
at = ["a", "b", "c"]
rate = "100 packets/s"
"""
)
MODES = """
sizes = { ack = { size = "40 B", share = 0.5 }, small = { size = "576 B", share = 0.25 }, full = { size = "1500 B" } }
start = "1 s"
stop = "9 s"
"""


def users_of(text: str) -> dict[str, Any]:
    (users,) = tl.loads(text).resolve()["users"]
    found: dict[str, Any] = users
    return found


def test_users_resolve_to_what_the_engine_reads() -> None:
    resolved = tl.loads(USERS).resolve()
    (users,) = resolved["users"]
    tcp = users.pop("tcp")
    assert (tcp["congestion"], tcp["payload_bytes"], tcp["rto"]["initial_s"]) == ("reno", 1448, 1.0)
    assert users == {
        "label": "web",
        "controls": [{"share": 1.0, "congestion": "reno"}],
        "classes": ["direct", "normal"],
        "sites": [
            {"node": 1, "class": 0, "sources": 20, "receivers": 40},
            {"node": 2, "class": 0, "sources": 20, "receivers": 40},
            {"node": 3, "class": 1, "sources": 10, "receivers": 20},
        ],
        "interfaces": [
            {"name": "normal", "rate_bps": 96e6, "rate_pps": 8000.0, "delay_s": 0.0005, "share": 0.8},
            {"name": "fast", "rate_bps": 960e6, "rate_pps": None, "delay_s": 0.0, "share": 0.2},
        ],
        "think": {"distribution": "exponential", "mean_s": 5.0},
        "files": [
            {"name": "web-object", "share": 0.98, "mean_packets": 50.0, "shape": 1.5},
            {"name": "movie", "share": 0.02, "mean_packets": 1000.0, "shape": None},
        ],
        "connect_tries": 3,
        "patience": None,
        "crowd": None,
        "long_lived": [],
        "sending_at_start": 0.0,
    }
    assert (resolved["flows"], resolved["scatter"]) == ([], [])
    whole = {"name": "whole", "start_s": 0.0, "stop_s": 1500.0}
    assert resolved["observe"] == {"interval_s": 1.0, "flows": "none", "periods": [whole]}


def test_what_users_may_have_besides() -> None:
    resolved = tl.loads(USERS + MORE).resolve()
    (users,) = resolved["users"]
    assert users["tcp"]["congestion"] == "reno"
    assert users["controls"] == [{"share": 0.75, "congestion": "reno"}, {"share": 0.25, "congestion": "compound"}]
    assert users["patience"] == {"least_s": 30.0, "packets_per_s": 10.0}
    crowd = {"start_s": 900.0, "stop_s": 1200.0, "sites": [0, 2], "share": 0.01, "mean_packets": 500000.0}
    assert users["crowd"] == crowd
    assert users["long_lived"] == [
        {"name": "far", "from": 0, "to": 2, "interface": 1, "start_s": 1.0},
        {"name": "near", "from": 0, "to": 1, "interface": 0, "start_s": 0.0},
    ]
    assert [period["name"] for period in resolved["observe"]["periods"]] == ["calm", "crowd"]


def test_groups_of_routers_are_sites_of_one_class() -> None:
    text = """\
    duration = "1 s"
    topology.net = { kind = "dumbbell", pairs = 3, bottleneck.rate = "1 Gbit/s", access.rate = "1 Gbit/s" }
    [traffic.web]
    kind = "users"
    think = "1 s"
    places.left = { at = "net.left[*]", sources = 2 }
    places.right = { at = ["net.right[2]", "net.right[0]"], receivers = 1 }
    interfaces.only.rate = "10 Mbit/s"
    files.page.mean = "9 packets"
    """
    assert users_of(text)["sites"] == [
        {"node": 2, "class": 0, "sources": 2, "receivers": 0},
        {"node": 4, "class": 0, "sources": 2, "receivers": 0},
        {"node": 6, "class": 0, "sources": 2, "receivers": 0},
        {"node": 7, "class": 1, "sources": 0, "receivers": 1},
        {"node": 3, "class": 1, "sources": 0, "receivers": 1},
    ]


def test_think_times_may_have_a_long_tail() -> None:
    pareto = tl.loads(USERS).set("traffic.web.think", {"mean": "5 s", "distribution": "pareto"})
    assert pareto.resolve()["users"][0]["think"] == {"distribution": "pareto", "mean_s": 5.0, "shape": 1.5}
    named = tl.loads(USERS).set("traffic.web.think", {"mean": "5 s"})
    assert named.resolve() == tl.loads(USERS).resolve()


def test_what_one_control_of_a_mix_needs_all_have() -> None:
    mix = {"a": {"congestion": "cubic", "share": 0.5}, "b": {"congestion": "dctcp"}}
    tcp = tl.loads(USERS).set_all({"profile": "linux", "traffic.web.controls": mix}).resolve()["users"][0]["tcp"]
    # HyStart belongs to Linux's CUBIC alone, marks to DCTCP.
    assert (tcp["congestion"]["kind"], tcp["slow_start"], tcp["ecn"]) == ("cubic", "byte-counting", True)


def test_scatter_resolves_to_what_the_engine_reads() -> None:
    resolved = tl.loads(SCATTER + MODES).resolve()
    assert resolved["scatter"] == [
        {
            "label": "calls",
            "nodes": [1, 2, 3],
            "packets_per_s": 100.0,
            "sizes": [
                {"bytes": 40, "share": 0.5},
                {"bytes": 576, "share": 0.25},
                {"bytes": 1500, "share": 0.25},
            ],
            "start_s": 1.0,
            "stop_s": 9.0,
        }
    ]
    assert resolved["observe"] == {"interval_s": 1.0, "flows": "none", "periods": []}
    (plain,) = tl.loads(SCATTER).resolve()["scatter"]
    assert (plain["sizes"], plain["stop_s"]) == ([{"bytes": 1500, "share": 1.0}], 1500.0)


@pytest.mark.parametrize("text", [USERS, USERS + MORE, SCATTER, SCATTER + MODES])
def test_there_and_back_to_toml(text: str) -> None:
    scenario = tl.loads(text)
    assert tl.loads(scenario.to_toml()) == scenario
    explicit = tl.loads(scenario.explicit().to_toml())
    assert explicit == scenario.explicit()
    assert explicit.explicit() == explicit
    assert explicit.resolve() == scenario.resolve()


def test_python_objects_are_the_same_model() -> None:
    web = tl.Users(
        places={
            "direct": tl.Place(at=["a", "b"], sources=20, receivers=40),
            "normal": tl.Place(at="c", sources=10, receivers=20),
        },
        interfaces={
            "normal": tl.Interface(rate="8 packets/ms", delay="0.5 ms"),
            "fast": tl.Interface(rate="960 Mbit/s", share="20 %"),
        },
        think="5 s",
        files={"web-object": tl.File(mean="50 packets", shape=1.5, share=0.98), "movie": tl.File(mean="1448 kB")},
    )
    links = tl.loads(NETWORK + 'traffic.x = { kind = "bulk", from = "a", to = "b" }').link
    assert tl.Scenario(duration="25 min", link=links, traffic={"web": web}) == tl.loads(USERS)


WEB = "traffic.web."
#: (key, value, sentence) of changes to USERS + MORE.
WRONG = [
    ("places", {}, "traffic.web.places: expected at least one class of routers"),
    ("places", {"one": {"at": "a", "sources": 1, "receivers": 1}}, "places: expected at least two routers"),
    ("places.direct.at", [], "expected a list that is not empty"),
    ("places.direct.at", "aa", 'expected the name of a node; did you mean "a"?'),
    ("places.direct.at", "net.fast[*]", "expected the name of a node"),
    ("places.direct.at", "a[*]", "expected the name of a node"),
    ("places.normal.at", "a", "expected routers that stand once: a is one of direct already"),
    ("places.normal", {"at": "c"}, "places.normal.sources = 0: expected sources or receivers: nobody lives there"),
    ("places.direct.sources", -1, "expected a whole number from 0 to 10000000"),
    ("places.direct.source", 1, 'unknown key; expected one of at, sources, receivers; did you mean "sources"?'),
    ("interfaces", {}, "interfaces: expected at least one interface"),
    ("interfaces.normal.share", 0.9, "traffic.web.interfaces: expected shares that sum to 1, not 1.1"),
    ("interfaces.fast.share", None, "interfaces.fast.share: expected a share: only one of them may be left out"),
    (
        "interfaces.fast.rate",
        8,
        'expected a unit, too: a rate such as "2 Mbit/s" or a packet rate such as "20 packets/ms"',
    ),
    ("interfaces.fast.rate", "0 packets/s", "above zero"),
    ("files.movie.share", 0.5, "traffic.web.files: expected shares that sum to 1, not 1.48"),
    ("files.movie.share", 0.01, "traffic.web.files: expected shares that sum to 1, not 0.99"),
    ("files.movie.shape", 1, "expected a number above 1"),
    ("files.crowd", {"mean": "9 packets", "share": 0.0}, "files.crowd: expected another name: crowd is what files"),
    # In the unit that the key had.
    ("files.movie.mean", 100, 'did you mean "100 kB"?'),
    ("think", "0 s", "expected a time above zero"),
    ("think", {"mean": "5 s", "shape": 1.5}, "think.shape = 1.5: expected nothing here"),
    ("patience.rate", "1 Mbit/s", 'expected a packet rate such as "20 packets/ms"'),
    ("crowd.stop", "30 min", "expected a time not after the duration, which is 1500 s"),
    ("crowd.start", "20 min", "expected a time before the stop, which is 20 min"),
    ("crowd.at", "core", "expected routers with sources: core has none"),
    ("crowd.at", "x", "expected the name of a node"),
    ("long_lived.far.interface", "fas", 'expected one of normal, fast; did you mean "fast"?'),
    ("long_lived.far.to", "a", "expected another router than from, which is a"),
    ("long_lived.far.to", "core", "expected a router at which users live"),
    ("long_lived.far.start", "25 min", "expected a time before the duration"),
    ("sending_at_start", 2, "expected a fraction from 0 to 1"),
    ("connect_tries", 0, "expected a whole number of SYNs from 1 to 20"),
    ("tcp.window", "1 BDP", "expected a number of packets or bytes: users have paths of many"),
    ("tcp.congestion", "reno", "expected either tcp.congestion or controls, not both"),
    ("tcp.payload", "2000 B", "expected at most 1448 B"),
    ("tcp.recovery", "newreno", None),
    ("controls.new.congestion", "bbrr", 'did you mean "bbr"?'),
    ("sites", 3, "unknown key"),
    ("places", {f"p{i}": {"at": "a", "sources": 1} for i in range(23)}, "places: expected at most 22 places"),
    ("files", {f"f{i}": {"mean": "1 packet", "share": 0.0} for i in range(251)}, "files: expected at most 250 files"),
]


@pytest.mark.parametrize(("key", "value", "sentence"), WRONG)
def test_what_is_wrong_with_users(key: str, value: object, sentence: str | None) -> None:
    scenario = tl.loads(USERS + MORE, file="web.toml")
    if sentence is None:
        scenario.set(WEB + key, value).resolve()
        return
    with pytest.raises(tl.ScenarioError) as caught:
        scenario.set(WEB + key, value).resolve()
    message = str(caught.value)
    assert message.startswith(f"set: {WEB}{key.partition('.')[0]}") or "unknown key" in message
    assert sentence in message
    assert "\n" not in message


#: Changes elsewhere.
AROUND = [
    ("link.east.one_way", True, 'traffic.web.places: no path from "a" to "b": connect them by links'),
    ("link.east.queue", "1 BDP", "beside traffic.web, of kind users, which has no one round trip"),
    (
        "link.east.queue",
        {"kind": "threshold", "limit": "99 packets", "mark": "1 BDP"},
        'link.east.queue.mark = "1 BDP": expected a number of packets or bytes beside traffic.web',
    ),
    ("node.a.processor.per_packet", "1 us", "node.a.processor: expected no processor beside traffic.web"),
    ("observe.flows", "each", "expected nothing here: traffic.web has no flows"),
    ("observe.periods.calm", ["10 min", "16 min"], "does not overlap calm, which lasts until 16 min"),
    ("observe.periods.calm", ["10 min"], "expected two times"),
    ("observe.periods.calm", ["15 min", "10 min"], "expected two times of which the second is later"),
    ("observe.periods.crowd", ["24 min", "26 min"], "expected a period within the duration, which is 1500 s"),
    ("observe.periods", {f"p{i}": [f"{i} s", f"{i + 1} s"] for i in range(251)}, "expected at most 250 periods"),
    ("observe.interval", "10 min", "expected a period of at least observe.interval, which is 600 s"),
]


@pytest.mark.parametrize(("key", "value", "sentence"), AROUND)
def test_what_does_not_go_with_users(key: str, value: object, sentence: str) -> None:
    with pytest.raises(tl.ScenarioError) as caught:
        tl.loads(USERS + MORE).set(key, value).resolve()
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            USERS.replace("receivers = 40", "receivers = 0").replace("sources = 20", "sources = 0"),
            "places.direct.sources = 0: expected sources or receivers",
        ),
        (
            USERS.replace("receivers = 40", "receivers = 0"),
            "traffic.web.places.normal: sources behind c need receivers behind another router",
        ),
        (
            USERS.replace("sources = 20,", "").replace("sources = 10,", ""),
            "traffic.web.places: expected at least one source somewhere",
        ),
        (
            USERS + '[traffic.cbr]\nkind = "saturate"\nfrom = "a"\nto = "b"',
            'traffic.cbr.kind = "saturate": expected no source that waits for its interface beside traffic.web',
        ),
        (
            SMALL
            + 'topology.net = { kind = "dumbbell", pairs = 60, bottleneck.rate = "1 Gbit/s", access.rate = "1 Gbit/s" }\n'
            'traffic.web.places.all = { at = "net.left[*]", sources = 1, receivers = 10_000_000 }',
            "traffic.web.places: expected at most 500000000 hosts in all, not 600000060",
        ),
        (SCATTER.replace('["a", "b", "c"]', '["a"]'), "expected at least two nodes"),
        (SCATTER.replace('["a", "b", "c"]', '["a", "a"]'), "expected nodes that stand once"),
        (SCATTER + 'stop = "26 min"', "expected a time not after the duration"),
        (SCATTER + 'start = "25 min"', "expected a time before the stop"),
        (SCATTER + 'sizes.large.size = "9 kB"', "expected at most 1500 B, the smallest MTU of a link"),
        (SCATTER + "sizes = {}", "expected at least one size"),
        (SCATTER + '[observe.periods]\ncalm = ["0 s", "1 s"]', "only the transfers of users are counted by periods"),
    ],
)
def test_further_errors(text: str, sentence: str) -> None:
    with pytest.raises(tl.ScenarioError) as caught:
        tl.loads(text).resolve()
    assert sentence in str(caught.value)


#: On the links of the users.
FLOWS = """
[traffic.backup]
kind = "bulk"
from = "a"
to = "b"
flows = 2
tcp.ecn = true
[traffic.call]
kind = "cbr"
from = "b"
to = "c"
rate = "64 kbit/s"
dscp = "EF"
"""


@pytest.mark.parametrize("queue", ["drop-tail", "fq-codel", "cake", "dualpi2"])
def test_flows_beside_users(queue: str) -> None:
    scenario = tl.loads(USERS + FLOWS).set("duration", "20 s")
    scenario = scenario.set("link.east.queue", {"kind": queue, "limit": "50 packets"})
    simulated = [tl.simulate(scenario, threads=threads) for threads in (1, 2)]
    assert simulated[0].manifest["digest"] == simulated[1].manifest["digest"]
    assert simulated[0].flows["label"].to_list() == ["backup[0]", "backup[1]", "call"]
    assert (simulated[0].flows["packets_delivered"] > 100).all()
    assert simulated[0].users["transfers_completed"].sum() > 0
    said = simulated[0].why().sentence
    assert all(label in said for label in ("2 flows, backup[0..1]: ", "call: ", "web: "))
    titles = [section.title for section in runs.sections(simulated[0])]
    assert {"Over time", "Delay", "Flows", "Users over time", "Transfers"} <= set(titles)
    lead = runs.lead(simulated[0])
    assert lead.startswith("3 flows, 20 s simulated with seed 1.")
    assert "50 sources completed" in lead


def test_controls_written_in_python_are_refused() -> None:
    class Mine(tl.CongestionControl):
        name = "mine-for-users"

    with pytest.raises(tl.ScenarioError, match="expected a control that is built in"):
        tl.loads(USERS).set("traffic.web.tcp.congestion", Mine).resolve()


def test_packets_of_users_are_not_recorded(tmp_path: Path) -> None:
    file = tmp_path / "calls.toml"
    file.write_text(SCATTER)
    for options in ({"trace": True}, {"tr": tmp_path / "out.tr"}):
        with pytest.raises(tl.ScenarioError) as caught:
            tl.simulate(tl.load(file), **options)
        assert str(caught.value) == (
            f"{file}: traffic.calls: the packets of scatter are not recorded one by one: run without a trace"
        )


def test_memory_is_the_program_sources_and_queues_that_can_fill() -> None:
    needed = memory.needed(tl.loads(USERS + MORE).resolve())
    # Three duplex links with queues of 1000 packets and 5 ms: 416 and 41 packets of 1500 B on the line.
    # Hosts fill those from their routers, and the packets of two others meet before each.
    assert needed == memory.Memory(sources=52, packets=2 * (2 * (1000 + 416 + 1) + 1000 + 41 + 1), routes=4 * 3)
    assert needed.bytes == 46 * 2**20 + 52 * 1400 + needed.packets * 56 + 4 * 3 * 14
    in_packets = tl.loads(USERS).set("link[*].rate", "8 packets/ms").set("link[*].queue", "150 kB")
    found = memory.needed(in_packets.resolve())
    assert found is not None
    assert found.packets == 6 * (100 + 40 + 1)
    assert memory.needed(tl.loads(SCATTER).resolve()) is None


def test_queues_between_routers_fill_where_more_comes_than_leaves() -> None:
    chain = """
    duration = "10 s"
    link.left = { ends = ["a", "x"], rate = "1 packet/ms", delay = "10 ms", queue = "50 packets" }
    link.core = { ends = ["x", "y"], rate = "4 packets/ms", delay = "10 ms", queue = "300 packets" }
    link.right = { ends = ["y", "b"], rate = "2 packets/ms", delay = "10 ms", queue = "70 packets" }
    traffic.web = { kind = "users", think = "1 s", interfaces.only.rate = "8 packets/ms", files.web.mean = "9 packets", places.all = { at = ["a", "b"], sources = 5, receivers = 5 } }
    """
    # Hosts fill the queues at their routers, and the wider of the two ends offers more than the other takes.
    ends = (50 + 10 + 1) + (70 + 20 + 1) + (50 + 10 + 1)
    # One packet per millisecond is what the narrower end sends and takes: 10 on each other line.
    found = memory.needed(tl.loads(chain).resolve())
    assert found == memory.Memory(sources=10, packets=ends + 3 * (10 + 1), routes=4 * 2)
    narrow = memory.needed(tl.loads(chain).set("link.core.rate", "0.5 packets/ms").resolve())
    assert narrow is not None
    assert narrow.packets == ends + (10 + 1) + 2 * (300 + 5 + 1)


def test_what_does_not_fit_is_refused_with_the_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    large = tl.loads(USERS).set("traffic.web.places.direct.sources", 5_000_000)
    monkeypatch.setattr(memory, "available", lambda: 8 * 2**30)
    with pytest.raises(tl.ScenarioError) as caught:
        tl.simulate(large)
    assert str(caught.value) == (
        "traffic: this run needs up to 13.1 GiB of memory, for 10000010 sources and 7752 packets under way, "
        "and this machine has 8.0 GiB: take fewer sources or smaller queues"
    )


def test_the_memory_of_this_machine_is_known() -> None:
    there = memory.available()
    assert there is not None
    assert 2**26 < there < 2**50


def test_the_configuration_comes_with_the_estimate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "web.toml"
    file.write_text(USERS)
    assert main(["run", str(file), "--show-config"]) == 0
    printed = capsys.readouterr()
    assert tl.loads(printed.out) == tl.load(file).explicit()
    assert printed.err == (
        "tightlink: a run needs up to 46 MiB of memory, for 50 sources and 7752 packets under way\n"
        "tightlink: a run uses 1 thread: more would not be faster here\n"
    )
