"""Why do calls of a class wait? Who goes first, turns with weights, calls that are too many for their class."""

from __future__ import annotations

from typing import Any, Final

import pytest

import tightlink as tl
from media import BACKUP, CAMERA, diagnosed, row_with, simulated


def test_a_class_behind_those_that_go_first() -> None:
    """For a camera behind an upload; who goes first waits behind nobody, and who takes nearly all is not helped so."""
    strict = ("link.up.queue", {"kind": "strict", "limit": "256 packets", "order": ["EF"]})
    changes = (strict, ("traffic.call.dscp", "EF"), ("traffic.camera.rate", "2.5 Mbit/s"))
    camera, call = (diagnosed(BACKUP + CAMERA, flow, *changes) for flow in ("camera", "call"))
    assert "fills" not in call.sentence
    wanted = {"link.up.queue.order": ["EF", "AF41"], "traffic.camera.dscp": "AF41"}
    assert [each.changes for each in camera.suggestions] == [wanted]
    before, after = (row_with(BACKUP + CAMERA, "camera", dict(changes) | each) for each in ({}, wanted))
    assert after["packets_dropped"] == 0 < before["packets_dropped"]
    assert after["one_way_delay_p95_s"] < 0.5 * before["one_way_delay_p95_s"]
    assert diagnosed(BACKUP + CAMERA, "camera", *changes, ("traffic.camera.rate", "18 Mbit/s")).suggestions == ()


def test_classes_with_weights_are_to_send_what_they_have() -> None:
    """Of 10 Mbit/s in 1 : 2 : 4; who sends less than its part is left alone."""
    scenario = tl.loads("""
        duration = "5 s"
        link.w = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "5 ms", queue = { kind = "drr", limit = "300 packets", weights = { EF = 1, AF41 = 2, CS0 = 4 } } }
        traffic.x = { kind = "cbr", from = "a", to = "b", rate = "8 Mbit/s", udp.payload = "772 B", dscp = "EF" }
        traffic.y = { kind = "cbr", from = "a", to = "b", rate = "8 Mbit/s", udp.payload = "1472 B", dscp = "AF41" }
        traffic.z = { kind = "cbr", from = "a", to = "b", rate = "8 Mbit/s", udp.payload = "772 B" }
    """)
    asked = [f"traffic.{name}.rate" for name in "xyz"]
    (first,) = (each.changes for each in tl.simulate(scenario).why().suggestions if list(each.changes) == asked)
    assert [*first.values()] == ["1.2 Mbit/s", "2.4 Mbit/s", "4.8 Mbit/s"]
    after = tl.simulate(scenario.set_all(first)).flows
    assert after["packets_dropped"].sum() == 0
    part = scenario.set("traffic.y.rate", "2.3 Mbit/s")
    changes = next(each.changes for each in tl.simulate(part).why().suggestions if "traffic.x.rate" in each.changes)
    assert changes == {"traffic.x.rate": "1.2 Mbit/s", "traffic.z.rate": "4.9 Mbit/s"}


#: Calls of 89.6 kbit/s, framing included, over 2 Mbit/s, which 22 of them fill.
CALLS: Final = """
profile = "linux"
duration = "15 s"
link.wan = { ends = ["hub", "site"], rate = "2 Mbit/s", delay = "20 ms", framing = { overhead = "24 B" }, queue = "100 packets" }
traffic.voice = { kind = "cbr", flows = 24, from = "hub", to = "site", interval = "20 ms", random = true, udp.payload = "172 B", dscp = "EF" }
"""


def test_calls_that_overload_a_link_together() -> None:
    """Each is little, and loses less than a fifth: all that come are more than it carries."""
    (found,) = simulated(CALLS).why().diagnoses
    assert (found.causes[0].name, len(found.flows)) == ("saturated_link", 24)
    assert ", as 1.92 Mbit/s come where it carries 1.79 Mbit/s: " in found.sentence
    fewer, swept = found.suggestions
    assert (fewer.text, fewer.changes) == ("18 flows of voice in place of 24", {"traffic.voice.flows": 18})
    assert swept.vary == {"traffic.voice.flows": (9, 14, 18, 22, 27)}
    assert simulated(CALLS, *fewer.changes.items()).flows["packets_dropped"].sum() == 0
    assert diagnosed(CALLS, "voice", ("traffic.voice.flows", 22)).causes[0].name == "application"
    # In one row they are no other calls.
    (group,) = simulated(CALLS, ("observe.flows", "group")).why().diagnoses
    assert [each.changes for each in group.suggestions] == [fewer.changes, {}]
    assert ", as 1.92 Mbit/s come where it carries 1.79 Mbit/s: " in group.sentence


def test_calls_stay_where_a_video_can_be_slower() -> None:
    """0.8 Mbit/s of calls leave a rate to video."""
    video = ("traffic.video", {"kind": "video", "flows": 2, "from": "hub", "to": "site", "rate": "1 Mbit/s"})
    for queue in ("100 packets", {"kind": "fq-codel"}):
        changes = [("traffic.voice.flows", 10), ("link.wan.queue", queue), video]
        first = diagnosed(CALLS, "video", *changes).suggestions[0].changes
        assert [*first] == ["traffic.video.rate"], queue


def test_calls_of_a_class_that_goes_first_overload_a_link_whoever_comes_after() -> None:
    """What they leave is another's, and what he sends is not why they wait."""
    strict = ("link.wan.queue", {"kind": "strict", "limit": "100 packets", "order": ["EF"]})
    data = ("traffic.data", {"kind": "bulk", "from": "hub", "to": "site"})
    found = diagnosed(CALLS, "voice", strict, data)
    assert (found.causes[0].name, found.causes[0].where) == ("saturated_link", "wan")
    assert found.suggestions[0].changes == {"traffic.voice.flows": 18}
    # Beside TCP in one queue fewer calls leave it more, and wait as long.
    assert not any("flows" in each.text for each in diagnosed(CALLS, "voice", data).suggestions)


#: Phones that do not mark their packets, and a terminal session, where a queue tells classes apart.
UNMARKED: Final = """
profile = "linux"
duration = "15 s"
link.wan = { ends = ["hub", "site"], rate = "10 Mbit/s", delay = "20 ms", queue = { kind = "strict", limit = "150 packets", order = ["EF", "AF21"] } }
traffic.bulk = { kind = "bulk", flows = 2, from = "hub", to = "site" }
traffic.terminal = { kind = "cbr", from = "hub", to = "site", interval = "50 ms", tcp.payload = "400 B" }
traffic.voice = { kind = "cbr", flows = 5, from = "hub", to = "site", interval = "20 ms", random = true, udp.payload = "172 B" }
traffic.marked = { kind = "cbr", from = "hub", to = "site", interval = "20 ms", random = true, udp.payload = "172 B", dscp = "EF" }
traffic.erp = { kind = "bulk", from = "hub", to = "site", tcp.window = "10 packets", dscp = "AF21" }
"""
TURNS: Final = {"kind": "drr", "limit": "150 packets", "weights": {"EF": 4, "AF21": 3}}


@pytest.mark.parametrize("queue", [None, TURNS])
def test_calls_without_a_class_get_that_of_other_calls(queue: Any) -> None:
    changes = [("link.wan.queue", queue)] if queue else []
    voice, terminal = (diagnosed(UNMARKED, flow, *changes) for flow in ("voice", "terminal"))
    first = voice.suggestions[0]
    assert (first.text.partition(" (")[0], first.changes) == (
        "class EF for voice, as marked has",
        {"traffic.voice.dscp": "EF"},
    )
    waits = [simulated(UNMARKED, *changes, *more).why("voice").delay for more in ((), first.changes.items())]
    assert waits[0] is not None
    assert waits[1] is not None
    assert waits[1].mean_s < 0.05 * waits[0].mean_s
    # What TCP sends would make calls wait.
    own = terminal.suggestions[0]
    assert own.changes["traffic.terminal.dscp"] == "AF41"
    after = simulated(UNMARKED, *changes, *own.changes.items()).why("terminal").delay
    assert terminal.delay is not None
    assert after is not None
    assert after.mean_s < 0.5 * terminal.delay.mean_s


def test_calls_that_are_too_much_for_a_class_do_not_join_it() -> None:
    """Half of a link goes first at most, or what turns give."""
    many = ("traffic.voice.flows", 70)
    joined = {"traffic.voice.dscp": "EF"}
    for changes in ([many], [many, ("link.wan.queue", {**TURNS, "weights": {"EF": 1, "AF21": 3}})]):
        assert all(each.changes != joined for each in diagnosed(UNMARKED, "voice", *changes).suggestions)


def test_what_waits_behind_higher_classes_for_longer_than_its_queue_lasts() -> None:
    """100 packets are 0.6 s at the rate of the line; and a short queue takes packets of one of many calls."""
    strict = {"kind": "strict", "limit": "100 packets", "order": ["EF"]}
    calls = {"flows": 20, "random": False, "start": {"within": "20 ms"}}
    changes = [
        ("link.wan.queue", strict),
        ("traffic.data", {"kind": "bulk", "from": "hub", "to": "site"}),
        *((f"traffic.voice.{key}", value) for key, value in calls.items()),
    ]
    data = diagnosed(CALLS, "data", *changes)
    assert data.delay is not None
    assert data.delay.mean_s > 100 * 1524 * 8 / 2e6
    assert "(100 packets, 15 BDP), where higher classes go first, adds " in data.delay.text
    assert "voice loses up to 4" in data.suggestions[0].text
    assert " of a flow in place of 0 %" in data.suggestions[0].text
    after = simulated(CALLS, *changes, *data.suggestions[0].changes.items()).flows.filter(transport="udp")
    lost = [row["packets_dropped"] / row["packets_sent"] for row in after.to_dicts()]
    assert sum(lost) < 0.01 * len(lost)
    assert max(lost) > 0.03


def test_calls_of_a_class_whose_turns_are_too_few() -> None:
    """1.28 Mbit/s of calls in half of a line of 2 Mbit/s."""
    queue = {"kind": "drr", "limit": "100 packets", "weights": {"EF": 1}}
    upload = {"kind": "bulk", "from": "hub", "to": "site"}
    changes = [("traffic.voice.flows", 16), ("link.wan.queue", queue), ("traffic.upload", upload)]
    found = diagnosed(CALLS, "voice", *changes)
    first = found.suggestions[0]
    assert first.text.startswith("a weight of 6 for EF, of which the turns are enough for voice")
    assert first.changes == {"link.wan.queue.weights.EF": 6}
    assert found.causes[0].name == "saturated_link"
    after = simulated(CALLS, *changes, *first.changes.items()).flows.filter(transport="udp")
    assert after["packets_dropped"].sum() == 0
    # What no weight is enough for has none, and neither has what has turns enough.
    for flows in (8, 19):
        others = diagnosed(CALLS, "voice", ("traffic.voice.flows", flows), *changes[1:]).suggestions
        assert not any("weight" in each.text for each in others), flows


def test_marked_calls_in_a_queue_that_tells_no_classes_apart() -> None:
    """What the dscp of their packets asks for, beside what needs none."""
    upload = ("traffic.upload", {"kind": "bulk", "flows": 2, "from": "hub", "to": "site"})
    few = ("traffic.voice.flows", 5)
    found = diagnosed(CALLS, "voice", few, upload)
    strict = next(
        each for each in found.suggestions if each.text.startswith("a strict queue, at which class EF goes first")
    )
    assert strict.changes == {"link.wan.queue": {"kind": "strict", "limit": "100 packets", "order": ["EF"]}}
    assert found.suggestions[0].changes == {"link.wan.queue": {"kind": "fq-codel"}}
    after = simulated(CALLS, few, upload, *strict.changes.items()).why("voice").delay
    assert after is not None
    assert found.delay is not None
    assert after.mean_s < 0.1 * found.delay.mean_s
    # Half of the link goes first at most; and a class that a connection has does not.
    for changes in ([("traffic.voice.flows", 16), upload], [few, upload, ("traffic.upload.dscp", "EF")]):
        assert not any("strict" in each.text for each in diagnosed(CALLS, "voice", *changes).suggestions)
