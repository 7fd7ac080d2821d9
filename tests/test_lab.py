"""Laboratories without a browser: sliders, what they change, texts, and what is refused."""

from __future__ import annotations

import itertools
import json
import shlex
from typing import TYPE_CHECKING, Any

import networkx as nx
import pytest

import tightlink as tl
from tightlink import console
from tightlink.experiment.factors import value_at
from tightlink.laboratory import page
from tightlink.laboratory.changes import Document, changed
from tightlink.laboratory.chosen import bottleneck, chosen, prepared
from tightlink.laboratory.resolved import Resolved, grouped
from tightlink.laboratory.sliders import Slider
from tightlink.scenario.network import Network
from tightlink.scenario.resolve import filled, relative

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CHAIN = """
profile = "rfc"
duration = "2 s"
topology.net = { kind = "chain", hops = 2, pairs = 4, hop = { rate = "10 Mbit/s", delay = "5 ms", queue = "1 BDP" }, access = { rate = "1 Gbit/s", delay = "1 ms" } }
traffic.file = { kind = "bulk", flows = 2, from = "net.left[*]", to = "net.right[*]", start = { every = "10 ms" }, tcp.window = "2 BDP" }
traffic.voice = { kind = "cbr", from = "net.left[3]", to = "net.right[3]", interval = "20 ms", udp.payload = "160 B" }
"""


def sets(scenario: tl.Scenario, *texts: str) -> list[Slider]:
    return [Slider.parse(text, scenario) for text in texts]


def made(document: dict[str, Any], positions: tuple[int, ...]) -> dict[str, Any]:
    """What the engine makes of a document: changes, then flows from groups, then what depends on others."""
    tables: Any = document["scenario"]
    for patch in document["patches"]:
        choice = patch["at"][",".join(str(positions[index]) for index in patch["of"])]
        tables = changed(tables, choice["changes"])
    flows = [
        flow | {key: group[key] for key in ("traffic", "transport")}
        for group in tables["groups"]
        for flow in group["flows"]
    ]
    return filled({key: value for key, value in tables.items() if key != "groups"} | {"flows": flows})


def test_every_combination_of_sliders_is_what_python_resolves() -> None:
    scenario = tl.loads(CHAIN)
    sliders = sets(
        scenario, "topology.net.hop.rate=2 Mbit/s,40 Mbit/s", "topology.net.hop.queue=0.5 BDP,30 packets", "traffic.file.flows=1,7",
        "traffic.file.tcp.congestion=cubic,bbr", "traffic.file.tcp.window=1 BDP,64 KiB",
    )  # fmt: skip
    document = json.loads(json.dumps(Document(scenario, sliders).to_dict()))
    for positions in itertools.product(*(range(len(slider.values)) for slider in sliders)):
        changes = {slider.key: slider.values[place] for slider, place in zip(sliders, positions, strict=True)}
        wanted = json.loads(json.dumps(scenario.set_all(changes).resolve()))
        assert made(document, positions) == wanted, changes


def test_sliders_over_open_loop_transfers_draw_what_python_draws() -> None:
    scenario = tl.loads("""
    duration = "1 s"
    topology.net = { kind = "dumbbell", pairs = 4, bottleneck = { rate = "10 Mbit/s", delay = "5 ms" }, access = { rate = "1 Gbit/s", delay = "1 ms" } }
    traffic.web = { kind = "transfers", from = "net.left[*]", to = "net.right[*]", load = 0.5, of = "net.bottleneck", size = { distribution = "pareto", mean = "20 kB" } }
    """)
    sliders = sets(
        scenario,
        "traffic.web.load=0.2,0.8",
        "topology.net.bottleneck.rate=5 Mbit/s,20 Mbit/s",
        "traffic.web.size.shape=1.2,2",
    )
    document = json.loads(json.dumps(Document(scenario, sliders).to_dict()))
    for positions in itertools.product(*(range(len(slider.values)) for slider in sliders)):
        changes = {slider.key: slider.values[place] for slider, place in zip(sliders, positions, strict=True)}
        wanted = json.loads(json.dumps(scenario.set_all(changes).resolve()))
        assert wanted["flows"]
        assert made(document, positions) == wanted


@pytest.mark.parametrize("change", ["topology.net.k=2,6", "topology.net.link.queue=10 packets,40 ms"])
def test_sliders_over_groups_of_links_are_what_python_resolves(change: str) -> None:
    scenario = tl.loads("""
    duration = "1 s"
    topology.net = { kind = "fat-tree", k = 4, link = { rate = "10 Mbit/s", delay = "5 ms", queue = "20 packets" } }
    traffic.shuffle = { kind = "transfers", from = "net.host[*]", to = "net.host[*]", pairs = "permutation", times = ["0 s"], size = "20 kB" }
    """)
    # Other links, or the same ones with other wires, of which some have a key more.
    more = ("topology.net.link.rate=5 Mbit/s", "topology.net.link.duplicate=0,0.1", "traffic.shuffle.size=9 kB")
    sliders = sets(scenario, change, *more)
    document = json.loads(json.dumps(Document(scenario, sliders).to_dict()))
    for positions in itertools.product(*(range(len(slider.values)) for slider in sliders)):
        changes = {slider.key: slider.values[place] for slider, place in zip(sliders, positions, strict=True)}
        assert made(document, positions) == json.loads(json.dumps(scenario.set_all(changes).resolve())), changes


def test_sliders_that_depend_on_each_other_are_told_together() -> None:
    scenario = tl.loads(CHAIN)
    sliders = sets(scenario, "traffic.file.tcp.window=64 KiB,128 KiB", "traffic.file.tcp.payload=500 B,1000 B")
    document = Document(scenario, sliders)
    assert document.together == [(0, 1)]
    given = json.loads(json.dumps(document.to_dict()))
    for positions in itertools.product(range(3), range(3)):
        changes = {slider.key: slider.values[place] for slider, place in zip(sliders, positions, strict=True)}
        assert made(given, positions) == json.loads(json.dumps(scenario.set_all(changes).resolve()))


def test_a_position_that_is_an_error_says_what_the_command_says() -> None:
    scenario = tl.loads(CHAIN)
    (slider,) = sets(scenario, "traffic.file.tcp.payload=1000 B,9000 B")
    with pytest.raises(tl.ScenarioError) as caught:
        scenario.set("traffic.file.tcp.payload", "9000 B").resolve()
    caught.value.file = None
    document = Document(scenario, [slider])
    assert document.error(0, slider.values.index("9000 B")) == caught.value.sentence()
    assert {"error": caught.value.sentence()} in document.to_dict()["patches"][0]["at"].values()


@pytest.mark.parametrize("name", ["one-flow", "chain", "udp-beside-tcp", "router-with-processor"])
def test_chosen_sliders_have_only_right_values(name: str) -> None:
    scenario = tl.load(f"examples/{name}.toml")
    scenario = prepared(scenario, [str(bottleneck(scenario))])
    sliders = chosen(Resolved(scenario))
    assert len(sliders) >= 3
    for slider in sliders:
        assert len(slider.values) > 1
        for place in (0, -1):
            scenario.set(slider.key, slider.values[place]).resolve()
    # The first positions are the scenario itself.
    explicit = scenario.explicit()
    assert Document(scenario, sliders[:1]).to_dict()["scenario"] == grouped(relative(explicit, Network(explicit)))


def test_the_slider_of_losses_is_of_the_link_that_loses_packets() -> None:
    """Behind a bottleneck without losses a wireless hop had none."""
    home = """
    duration = "2 s"
    link.line = { ends = ["net", "router"], rate = "10 Mbit/s", delay = "15 ms" }
    link.air = { ends = ["router", "laptop"], rate = "80 Mbit/s", delay = "2 ms", loss = "0.5 %" }
    traffic.down = { kind = "bulk", from = "net", to = "laptop" }
    """
    for scenario, link in ((tl.loads(home), "air"), (tl.loads(home).set("link.air.loss", 0), "line")):
        (slider,) = [slider for slider in chosen(Resolved(scenario)) if slider.key.endswith(".loss")]
        assert slider.key == f"link.{link}.loss"
        assert slider.values[slider.start] == value_at(scenario, slider.key)


def test_prepared_scenarios_are_the_same_run(one_flow: str) -> None:
    scenario = tl.loads(one_flow)
    found = prepared(scenario, ["link.bottleneck"])
    assert value_at(found, "link.bottleneck.queue.kind") == "drop-tail"
    assert found.resolve() == scenario.resolve()


def test_what_is_relative_is_left_to_the_engine() -> None:
    explicit = tl.loads(CHAIN).explicit()
    tables = relative(explicit, Network(explicit))
    limits = [link["queue"]["limit"] for link in tables["links"]]
    assert {"bdp": "1", "key": "topology.net.hop.queue", "written": "1 BDP"} in limits
    assert tables["flows"][0]["transport"]["tcp"]["window_packets"] == {"bdp": "2"}


LESSON = """# A *lesson*

Now {set: link.bottleneck.queue=200 packets} and {set: traffic.ftp.tcp.window=64 packets & link.bottleneck.rate=7 Mbit/s}.
<script>alert(1)</script>
"""


def test_buttons_of_a_text_move_sliders(one_flow: str) -> None:
    given = page.data(tl.loads(one_flow), text=LESSON)
    keys = [slider["key"] for slider in given["sliders"]]
    buffer, rate = keys.index("link.bottleneck.queue.limit"), keys.index("link.bottleneck.rate")
    place = given["sliders"][buffer]["texts"].index("200 packets")
    assert f"[[{buffer}, {place}]]" in given["text"]
    # A value that the slider did not have is one of its values now, in order.
    assert f"[{rate}, {given['sliders'][rate]['texts'].index('7 Mbit/s')}]" in given["text"]
    assert "<em>lesson</em>" in given["text"]
    assert "<script>" not in given["text"]


def test_a_button_with_the_kind_of_a_queue_moves_the_slider_of_queues(one_flow: str) -> None:
    without = page.data(tl.loads(one_flow))["sliders"]
    given = page.data(
        tl.loads(one_flow), text="{set: link.bottleneck.queue.kind=codel} {set: link.bottleneck.queue.kind=sfq}"
    )
    # No second choice beside the one over queues, which has the kind that it lacked.
    assert [slider["key"] for slider in given["sliders"]] == [slider["key"] for slider in without]
    number = next(n for n, slider in enumerate(without) if slider["key"] == "link.bottleneck.queue")
    texts = given["sliders"][number]["texts"]
    assert texts == [*without[number]["texts"], "sfq"]
    assert f"[[{number}, {texts.index('codel')}]]" in given["text"]
    assert f"[[{number}, {texts.index('sfq')}]]" in given["text"]


@pytest.mark.parametrize(
    ("button", "sentence"),
    [
        ("{set:}", 'text: "": expected key=value'),
        ("{set link.bottleneck.rate=1Mbps}", 'text: "{set link.bottleneck.rate=1Mbps}": expected a button as {set: '),
        ("{ Set: link.bottleneck.rate=1Mbps}", 'text: "{ Set: link.bottleneck.rate=1Mbps}": expected a button'),
        ("{set: link.botleneck.rate=1Mbps}", 'text: link.botleneck.rate: there is no link "botleneck"'),
    ],
)
def test_a_button_that_sets_nothing_is_one_sentence(button: str, sentence: str, one_flow: str) -> None:
    with pytest.raises(tl.ScenarioError) as caught:
        page.data(tl.loads(one_flow), text=button)
    assert caught.value.sentence().startswith(sentence)


def test_losses_may_be_percentages_and_what_is_none_says_so(one_flow: str) -> None:
    (given,) = page.data(tl.loads(one_flow), sliders=["link.bottleneck.loss=0 %,1 %,0.001,much"])["sliders"]
    assert (given["texts"], given["start"]) == (["0 %", "1 %", "0.1 %", "much"], 0)
    assert list(given["errors"]) == [3]


def test_what_a_page_has_by_itself_can_be_asked_for(one_flow: str) -> None:
    scenario = tl.loads(one_flow)
    for slider in page.data(scenario)["sliders"]:
        # As a whole it has no text.
        key = f"{slider['key']}.kind" if slider["key"].endswith(".queue") else slider["key"]
        (given,) = page.data(scenario, sliders=[f"{key}={','.join(slider['texts'])}"])["sliders"]
        assert (given["key"], given["start"], given["errors"]) == (key, slider["start"], {})


def test_templates_of_toml_are_the_scenario(one_flow: str) -> None:
    scenario = tl.loads(one_flow)
    given = page.data(scenario)
    text = given["template"]
    for number, slider in enumerate(given["sliders"]):
        literal = slider["literals"][slider["start"]]
        token = f'"@slider{number}@"'
        if literal is None:
            text = "\n".join(line for line in text.split("\n") if not line.endswith(f"= {token}"))
        else:
            text = text.replace(token, literal)
    assert tl.loads(text).resolve() == scenario.resolve()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--slider link.bottleneck.rate", "--slider: "),
        ("--slider link.botleneck.rate=1Mbps,2Mbps", '--slider: link.botleneck.rate: there is no link "botleneck"'),
        (
            "--slider 'observe.interval=1 s,2 s'",
            "expected a key that has one value in the scenario, as set gives it",
        ),
        ("--slider traffic.fttp.flows=1..4", '--slider: traffic.fttp.flows: there is no traffic "fttp"'),
        (
            "--slider 'link.bottleneck.rate & link.bottleneck.delay = 1Mbps & 1ms, 2Mbps & 2ms'",
            "one key and its values",
        ),
        ("--slider link.bottleneck.rate=1kbps..900kbps:1kbps", "at most 200 values"),
        ("--text lesson.md", "lesson.md"),
    ],
)
def test_wrong_options_are_one_sentence(
    options: str, sentence: str, one_flow: str, said: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    (tmp_path / "one.toml").write_text(one_flow)
    code, _, error = said("lab", str(tmp_path / "one.toml"), "-o", str(tmp_path / "one.html"), *shlex.split(options))
    assert code == 2
    assert sentence in error
    assert len(error.strip().split("\n")) == 1
    assert not (tmp_path / "one.html").exists()


def test_positions_that_are_errors_are_told_when_the_page_is_written(
    one_flow: str, said: Callable[..., tuple[int, str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "engine", lambda: b"")
    (tmp_path / "one.toml").write_text(one_flow)
    words = ["lab", str(tmp_path / "one.toml"), "-o", str(tmp_path / "one.html")]
    code, out, error = said(
        *words, "--slider", "link.bottleneck.rate=1..5", "--slider", "traffic.ftp.tcp.congestion=reno,cubic,bbr4"
    )
    assert code == console.CAUTION
    assert out == f"{tmp_path / 'one.html'}\n"
    rate, control = (" ".join(line.split()) for line in error.split("tightlink: warning: ")[1:])
    assert rate.startswith("5 of 6 positions of link.bottleneck.rate are errors, the first: link.bottleneck.rate = 1: ")
    assert rate.endswith('did you mean "1 Mbit/s"?')
    assert control.startswith(
        '1 of 3 positions of traffic.ftp.tcp.congestion are errors: traffic.ftp.tcp.congestion = "bbr4"'
    )
    assert said(*words, "--slider", "link.bottleneck.rate=1 Mbit/s..5 Mbit/s")[0] == 0


def test_the_part_of_a_range_that_is_right_is_told(
    one_flow: str, said: Callable[..., tuple[int, str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "engine", lambda: b"")
    (tmp_path / "one.toml").write_text(one_flow)
    words = ["lab", str(tmp_path / "one.toml"), "-o", str(tmp_path / "one.html"), "--set", "duration=10 s"]
    code, _, error = said(*words, "--slider", "traffic.ftp.start=0 s..40 s")
    assert code == console.CAUTION
    told = "31 of 42 positions of traffic.ftp.start are errors, all but 0 s to 9 s, the first: traffic.ftp.start"
    assert told in error


def test_images_of_a_text_are_part_of_the_page(
    one_flow: str, said: Callable[..., tuple[int, str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "engine", lambda: b"")
    (tmp_path / "one.toml").write_text(one_flow)
    (tmp_path / "the net.svg").write_bytes(b"<svg/>")
    lesson = tmp_path / "lesson.md"
    words = [
        "lab",
        str(tmp_path / "one.toml"),
        "-o",
        str(tmp_path / "one.html"),
        "--slider",
        "seed=1,2",
        "--text",
        str(lesson),
    ]
    lesson.write_text("![two hosts](the%20net.svg) and ![a dot](data:image/gif;base64,R0lGODlhAQABAAAAACw=)")
    assert said(*words)[0] == 0
    images = [
        '<img src="data:image/svg+xml;base64,PHN2Zy8+" alt="two hosts">',
        '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" alt="a dot">',
    ]
    given = page.data(tl.loads(one_flow), sliders=["seed=1,2"], text=lesson.read_text(), folder=tmp_path)
    assert all(image.replace(" />", ">") in given["text"].replace(" />", ">") for image in images)
    assert "PHN2Zy8+" in (tmp_path / "one.html").read_text(encoding="utf-8")
    for address, expected in (
        ("none.png", "an image that can be read: no such file or directory"),
        ("https://example.org/a.png", "the page fetches nothing"),
        ("lesson.md", "an image in a file"),
    ):
        lesson.write_text(f"![]({address})")
        code, _, error = said(*words)
        assert code == 2
        assert expected in " ".join(error.split())


def test_users_are_refused(small_users: str) -> None:
    with pytest.raises(tl.ScenarioError, match="a browser cannot hold"):
        page.data(tl.loads(small_users))


def test_controls_in_python_are_refused(one_flow: str) -> None:
    class OnlyHere(tl.CongestionControl):
        name = "only-here"

    scenario = tl.loads(one_flow).set("traffic.ftp.tcp.congestion", "only-here")
    with pytest.raises(tl.ScenarioError, match="written in Python does not run in a browser"):
        page.data(scenario)


def test_without_the_engine_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from tightlink.laboratory import engine

    monkeypatch.setattr(engine, "files", lambda _: tmp_path)
    with pytest.raises(tl.TightlinkError, match="make lab-engine builds it"):
        engine.engine()


def test_nothing_else_is_overwritten(one_flow: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "engine", lambda: b"")
    with pytest.raises(tl.TightlinkError, match=r"it is a folder; expected a file, such as .*lab\.html"):
        page.write(tmp_path, tl.loads(one_flow))
    with pytest.raises(tl.TightlinkError, match=r"lab: expected a name that ends in \.html"):
        page.write(tmp_path / "lab", tl.loads(one_flow))
    (tmp_path / "a.html").write_text("<p>mine")
    with pytest.raises(tl.TightlinkError, match="is not overwritten"):
        page.write(tmp_path / "a.html", tl.loads(one_flow))
    file = page.write(tmp_path / "b.html", tl.loads(one_flow), sliders=["seed=1,2"])
    before = file.read_bytes()
    assert page.write(file, tl.loads(one_flow), sliders=["seed=1,2"]).read_bytes() == before


def test_a_network_of_a_file_is_found_beside_its_scenario(
    said: Callable[..., tuple[int, str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As ``topology.net.file`` is relative to the scenario, wherever the command is typed."""
    there, here = tmp_path / "there", tmp_path / "here"
    for folder in (there, here):
        folder.mkdir()
    nx.write_graphml_xml(nx.relabel_nodes(nx.path_graph(3), dict(enumerate("abc"))), there / "net.graphml")
    (there / "net.toml").write_text("""
        duration = "1 s"
        topology.net = { kind = "graph", file = "net.graphml", link = { rate = "10 Mbit/s", delay = "1 ms" } }
        traffic.t = { kind = "bulk", from = "net.a", to = "net.c" }
    """)
    monkeypatch.chdir(here)
    for sliders in ([], ["--slider", "traffic.t.flows=1..4"]):
        assert said("lab", "../there/net.toml", "-o", f"{len(sliders)}.html", *sliders) == (
            0,
            f"{len(sliders)}.html\n",
            "",
        )
