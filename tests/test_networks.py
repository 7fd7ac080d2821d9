"""Ready networks: the table, links that are like them, their keys changed one by one, and the command that writes them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import tightlink as tl
from tightlink import units
from tightlink.scenario.networks import networks
from tightlink.scenario.new import network_toml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

NAMES = tuple(networks())


def leaves(table: dict[str, Any], path: str = "") -> Iterator[str]:
    """The dotted paths of all values."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{path}{key}.")
        else:
            yield path + key


def access(text: str = 'network = "lte"', **changes: object) -> tl.Scenario:
    return tl.loads(
        f'duration = "1 s"\nlink.access = {{ ends = ["a", "b"], {text} }}\ntraffic.d = {{ kind = "bulk", from = "a", to = "b" }}',
        set=changes,
    )


@pytest.mark.parametrize("name", NAMES)
def test_each_number_has_a_source_and_each_source_a_number(name: str) -> None:
    network = networks()[name]
    paths = list(leaves(dict(network.link)))
    assert all(network.source(path).endswith(".") for path in paths)
    named = {key for key in network.sources if any(f"{path}.".startswith(f"{key}.") for path in paths)}
    assert named == set(network.sources)
    # All that the table says is in the rows, once.
    shown = [f"{key}.{part}" if part else key for key, value, _ in network.rows()
             for part in (leaves(value) if isinstance(value, dict) else [""])]  # fmt: skip
    assert sorted(shown) == sorted(paths)


@pytest.mark.parametrize("name", NAMES)
def test_a_link_by_its_network_is_the_network_written_out(name: str) -> None:
    short, long = tl.network(name), tl.loads(network_toml(name))
    assert short.resolve() == long.resolve()
    assert short.written()["link"]["access"] == {"ends": list(networks()[name].ends), "network": name}
    assert tl.loads(short.to_toml()) == short
    assert "network" not in long.written()["link"]["access"]


@pytest.mark.parametrize("name", NAMES)
def test_a_download_has_what_the_network_has(name: str) -> None:
    scenario = tl.network(name).set("duration", "5 s")
    run = tl.simulate(scenario)
    flow = run.flows.row(0, named=True)
    down, up = scenario.resolve()["links"]
    # No round trip is shorter than the way there and back, and no goodput above what the link could carry.
    assert flow["rtt_mean_s"] >= down["delay_s"] + up["delay_s"]
    assert 0 < flow["goodput_bps"] < 2 * down["rate_bps"]
    assert run.manifest["digest"] == tl.simulate(scenario).manifest["digest"]


def test_what_a_link_says_takes_the_place_of_what_its_network_says() -> None:
    scenario = access('network = "cable", rate = "50 Mbit/s", reverse = { delay = "7 ms" }')
    down, up = scenario.resolve()["links"]
    assert (down["rate_bps"], up["rate_bps"]) == (50e6, 20e6)
    assert (down["delay_s"], up["delay_s"]) == (0.013, 0.007)
    assert up["queue"]["kind"] == "pie"
    assert scenario.link["access"].rate == "50 Mbit/s"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            'network = "wifi", rate.rate = "60 Mbit/s"',
            'link.access.rate = { rate = "60 Mbit/s" }: expected all keys of this table, which takes the place of that of '
            'network "wifi"; did you mean { kind = "aggregating", rate = "60 Mbit/s", access = "1 ms", burst = "64 packets" }?',
        ),
        (
            'network = "lte", arq.retransmissions = 3',
            "link.access.arq = { retransmissions = 3 }: expected all keys of this table, which takes the place of that of "
            'network "lte"; did you mean { after = "8 ms", retransmissions = 3 }?',
        ),
        (
            'network = "cable", reverse.queue.target = "5 ms"',
            'link.access.reverse.queue = { target = "5 ms" }: expected all keys of this table, which takes the place of that '
            'of network "cable"; did you mean { kind = "pie", limit = "250 ms", target = "5 ms", update = "16 ms", '
            'burst = "142 ms" }?',
        ),
        (
            'network = "lte", arq.afer = "8 ms"',
            "link.access.arq.afer: unknown key; expected one of after, retransmissions",
        ),
    ],
)
def test_a_part_of_a_table_is_told_that_it_takes_the_whole_place(text: str, sentence: str) -> None:
    with pytest.raises(tl.ScenarioError) as caught:
        access(text)
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize("name", NAMES)
def test_each_key_of_a_network_can_be_changed_by_its_path(name: str) -> None:
    scenario = tl.network(name)
    for path in leaves(dict(networks()[name].link)):
        if path.endswith("kind"):
            continue
        value: Any = scenario.explicit().written()["link"]["access"]
        for part in path.split("."):
            value = value[part]
        changed = scenario.set(f"link.access.{path}", value).written()["link"]["access"]
        # To what it is already: nothing differs from the network.
        assert changed == scenario.written()["link"]["access"], path


def test_the_reverse_direction_is_changed_alone() -> None:
    scenario = access().set("link.access.reverse.queue", "9 packets").set("link.access.reverse.arq.after", "3 ms")
    down, up = scenario.resolve()["links"]
    assert (down["queue"]["limit"], up["queue"]["limit"]) == ({"bytes": 1_650_000}, {"packets": 9})
    assert (down["arq"]["after_s"], up["arq"]["after_s"]) == (0.008, 0.003)
    assert scenario.set("link.access.network", "5g").resolve()["links"][0]["rate"]["mean"] == 110e6


def test_networks_are_levels_of_a_factor(tmp_path: Path) -> None:
    found = tl.sweep(
        access(), vary={"link.access.network": ["dsl", "lte"], "link.access.queue": ["50 packets", "100 packets"]},
        output=tmp_path / "sweep",
    )  # fmt: skip
    assert found.runs.collect().height == 4


def test_the_bottleneck_of_a_dumbbell_takes_a_network() -> None:
    net = tl.Dumbbell.model_validate({"pairs": 1, "bottleneck": {"network": "geo"}, "access": {"rate": "1 Gbit/s"}})
    scenario = tl.Scenario(
        duration="1 s", topology={"net": net}, traffic={"d": tl.Bulk(from_="net.left[0]", to="net.right[0]")}
    )
    changed = scenario.set("topology.net.bottleneck.reverse.jitter.most", "1 ms")
    assert changed.resolve()["links"][1]["jitter"]["distribution"]["most_s"] == units.time("1 ms")
    assert scenario.resolve()["links"][1]["jitter"]["distribution"]["most_s"] == units.time("40 ms")


def test_the_links_of_a_group_take_a_network() -> None:
    text = (
        'duration = "1 s"\n'
        'topology.net = { kind = "dumbbell", pairs = 2, bottleneck = { rate = "1 Gbit/s" }, '
        'access_left = { rate = "1 Gbit/s" }, access_right = { network = "NAME", queue = "20 packets" } }\n'
        'traffic.d = { kind = "bulk", from = "net.left[0]", to = "net.right[0]" }'
    )
    links = {link["name"]: link for link in tl.loads(text.replace("NAME", "lte")).resolve()["links"]}
    alone = {link["name"]: link for link in access('network = "lte", queue = "20 packets"').resolve()["links"]}
    for end in ("", ".reverse"):
        one, other = links[f"net.access_right[1]{end}"], alone[f"access{end}"]
        assert {key: one[key] for key in one if key not in {"name", "from", "to"}} == {
            key: other[key] for key in other if key not in {"name", "from", "to"}
        }
    with pytest.raises(
        tl.ScenarioError, match=r'access_right\.network = "leo": expected a network with a constant delay'
    ):
        tl.loads(text.replace("NAME", "leo"))
    assert tl.loads(text.replace('"NAME"', '"leo", delay = "20 ms"')).resolve()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('network = "lt"', 'link.access.network = "lt": expected one of dsl, cable, fibre, lte, 5g, leo, geo, wifi, '
         'transatlantic, rack; did you mean "lte"?'),
        ("network = 4", "link.access.network = 4: expected one of dsl, cable, fibre, lte, 5g, leo, geo, wifi, "
         "transatlantic, rack"),
        ('delay = "1 ms"', 'link.access.rate: this key is needed, such as rate = "2 Mbit/s"'),
        ('network = "lte", reverse = 3', "link.access.reverse = 3: expected a table"),
    ],
)  # fmt: skip
def test_wrong_networks(text: str, sentence: str) -> None:
    with pytest.raises(tl.ScenarioError) as caught:
        access(text)
    assert str(caught.value) == sentence


def test_a_one_way_link_has_the_way_down_only() -> None:
    scenario = access('network = "dsl", one_way = true').set(
        "traffic.d", {"kind": "cbr", "from": "a", "to": "b", "rate": "1 Mbit/s"}
    )
    assert [link["rate_bps"] for link in scenario.resolve()["links"]] == [16e6]


def test_the_schema_wants_a_rate_or_a_network() -> None:
    schema = json.loads(json.dumps(tl.Scenario.json_schema()))["$defs"]["Link"]
    assert schema["anyOf"] == [{"required": ["rate"]}, {"required": ["network"]}]
    assert schema["required"] == ["ends"]


def test_the_commands(said: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    code, out, _ = said("list", "networks")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == list(NAMES)
    file = tmp_path / "my.toml"
    assert said("new", "network", "wifi", "-o", str(file))[:2] == (0, f"{file}\n")
    assert said("new", "network", "wifi")[1] == file.read_text(encoding="utf-8")
    assert tl.load(file).resolve() == tl.network("wifi").resolve()
    assert said("new", "network", "wlan")[0] == 2
