"""Networks from GraphML and GML files and from networkx: names, rates, delays, and what is no network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tightlink as tl
from tightlink.scenario import understood
from tightlink.scenario.network import Network
from tightlink.scenario.paths import Router

ZOO = """\
graph [
  directed 0
  node [ id 0 label "New York" Longitude -74.00597 Latitude 40.71427 ]
  node [ id 1 label "Chicago" Longitude -87.65005 Latitude 41.85003 ]
  node [ id 2 label "?" ]
  node [ id 3 label "?" ]
  edge [ source 0 target 1 LinkSpeedRaw 10000000000.0 LinkLabel "OC-192" ]
  edge [ source 0 target 1 LinkSpeedRaw 2500000000.0 latency 12.5 ]
  edge [ source 1 target 2 ]
  edge [ source 2 target 3 capacity "622 Mbit/s" delay 0.004 ]
]
"""


def scenario(keys: str, source: str, target: str) -> str:
    return (
        f'duration = "1 s"\ntopology.net = {{ kind = "graph", {keys} }}\n'
        f'traffic.t = {{ kind = "cbr", from = "{source}", to = "{target}", interval = "600 ms" }}\n'
    )


@pytest.fixture
def zoo(tmp_path: Path) -> Path:
    (tmp_path / "zoo.gml").write_text(ZOO, encoding="utf-8")
    (tmp_path / "zoo.toml").write_text(
        scenario('file = "zoo.gml", link = { rate = "100 Mbit/s", delay = "1 ms" }', "net.New_York", "net.router[3]"),
        encoding="utf-8",
    )
    return tmp_path / "zoo.toml"


def links(written: tl.Scenario) -> list[tuple[Any, ...]]:
    resolved = written.resolve()
    names = [node["name"] for node in resolved["nodes"]]
    return [
        (link["name"], names[link["from"]], names[link["to"]], link["rate_bps"], link["delay_s"])
        for link in resolved["links"]
        if not link["name"].endswith(".reverse")
    ]


def test_a_file_of_the_topology_zoo(zoo: Path) -> None:
    assert links(tl.load(zoo)) == [
        ("net.link[0]", "net.New_York", "net.Chicago", 1e10, 0.005729),
        ("net.link[1]", "net.New_York", "net.Chicago", 2.5e9, 0.005729),
        # Without coordinates and without a speed.
        ("net.link[2]", "net.Chicago", "net.router[2]", 1e8, 0.001),
        ("net.link[3]", "net.router[2]", "net.router[3]", 622e6, 0.004),
    ]


def test_attributes_and_units_may_be_named(zoo: Path) -> None:
    keys = 'file = "zoo.gml", delay_from = "latency", delay_unit = "1 ms", rate_from = "LinkSpeedRaw", rate_unit = "1 packet/s", link = { rate = "1 Gbit/s", delay = "2 ms" }'
    zoo.write_text(scenario(keys, "net.New_York", "net.Chicago"), encoding="utf-8")
    assert [link[3:] for link in links(tl.load(zoo))] == [(1.2e14, 0.002), (3e13, 0.0125), (1e9, 0.002), (1e9, 0.002)]


def test_nodes_have_their_number_beside_their_name(zoo: Path) -> None:
    text = zoo.read_text(encoding="utf-8").replace('from = "net.New_York"', 'flows = 2, from = "net.router[*]"')
    zoo.write_text(text + 'link.home = { ends = ["home", "net.router[1]"], rate = "1 Gbit/s" }\n', encoding="utf-8")
    written = tl.load(zoo)
    net = Network(written.explicit())
    assert net.groups == {"net.router": 4, "net.link": 4}
    assert [net.node("", "net.router[*]", index) for index in range(4)] == [0, 1, 2, 3]
    assert net.node("", "net.Chicago", 0) == net.node("", "net.router[1]", 0) == net.hops[-1].origin
    processors = written.set(
        "node", {"net.router[*]": {"processor": {"per_packet": "10 us", "output_ring": "9 packets"}}}
    )
    assert all(node["processor"] for node in processors.resolve()["nodes"][:4])
    assert processors.resolve()["links"][0]["queue"]["limit"] == {"packets": 9}
    with pytest.raises(tl.ScenarioError, match="no queue here"):
        processors.set("topology.net.link.queue", "20 packets").resolve()


def test_a_scenario_stands_without_its_file(zoo: Path, tmp_path: Path) -> None:
    written = tl.load(zoo)
    run = tl.simulate(written)
    folder = run.save(tmp_path / "run")
    (tmp_path / "zoo.gml").unlink()
    assert tl.open_run(folder).scenario.resolve() == written.resolve()
    assert tl.loads(understood(written)).resolve() == written.resolve()
    assert run.links.filter(run.links["packets_out"] > 0).height == 3


def test_a_file_may_be_changed_for_another(zoo: Path) -> None:
    (zoo.parent / "other.graphml").write_text("\n".join(nx.generate_graphml(nx.path_graph(5))), encoding="utf-8")
    other = tl.load(zoo).set("traffic.t.from", "net.router[0]").set("topology.net.file", "other.graphml")
    assert len(links(other)) == 4
    assert links(other)[3][:3] == ("net.link[3]", "net.router[3]", "net.router[4]")


@pytest.mark.parametrize("suffix", ["gml", "graphml"])
def test_both_formats_say_the_same(tmp_path: Path, suffix: str) -> None:
    graph = nx.MultiDiGraph()
    graph.add_node("a", label="A b", Latitude=10.0, Longitude=20.0)
    graph.add_node("b", label="Ä", Latitude=11.0, Longitude=21.0)
    graph.add_edge("a", "b", capacity=1e6)
    graph.add_edge("b", "a", capacity=2e6)
    graph.add_edge("b", "a", capacity=3e6, delay=0.25)
    file = tmp_path / f"net.{suffix}"
    if suffix == "gml":
        file.write_text(
            'graph [ directed 1\n node [ id 0 label "A b" Latitude 10.0 Longitude 20.0 ]\n'
            ' node [ id 1 label "&#196;" Latitude 11.0 Longitude 21.0 ]\n edge [ source 0 target 1 capacity 1000000 ]\n'
            " edge [ source 1 target 0 capacity 2000000 ]\n edge [ source 1 target 0 capacity 3000000 delay 0.25 ]\n]\n",
            encoding="utf-8",
        )
    else:
        nx.write_graphml_xml(graph, file)
    written = tl.loads(scenario(f'file = "{file}"', "net.A_b", "net.router[1]"))
    whole = tl.Scenario(duration="1 s", topology={"net": tl.Graph.from_networkx(graph)}, traffic=written.traffic)
    assert written.resolve() == whole.resolve()
    assert len(written.resolve()["links"]) == 3, "edges of a directed graph are one-way"


@settings(deadline=None, max_examples=25)
@given(st.integers(4, 20), st.integers(0, 1000))
def test_graphs_of_networkx(count: int, seed: int) -> None:
    graph = nx.connected_watts_strogatz_graph(count, 2, 0.3, seed=seed)
    net = tl.Graph.from_networkx(graph, link={"rate": "1 Gbit/s", "queue": "7 packets"})
    text = f"net.router[{count - 1}]"
    flow = tl.Cbr(from_="net.router[0]", to=text, interval="600 ms")
    written = tl.Scenario(duration="1 s", topology={"net": net}, traffic={"t": flow})
    network = Network(written.explicit())
    path = Router.of(network).path(0, count - 1)
    assert path is not None
    assert len(path) == nx.shortest_path_length(graph, 0, count - 1)
    assert tl.loads(written.to_toml()).resolve() == written.resolve()
    assert tl.simulate(written).flows["packets_delivered"].to_list() == [2]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"topology.net.file": "missing.gml"}, 'topology.net.file = "'),
        ({"topology.net.file": "zoo.toml"}, "expected the name of a file that ends in .graphml, .xml, .gml"),
        ({"topology.net.file": "broken.gml"}, "expected a graph in GML: "),
        ({"topology.net.file": "broken.graphml"}, "expected a graph in GraphML: "),
        ({"topology.net.file": "deep.gml"}, "expected a graph in GML: nested too deeply"),
        ({"topology.net.file": "apart.gml"}, 'topology.net.file = "apart.gml": expected a connected graph: there is no path from "A" to "C"'),
        ({"topology.net.file": "loop.gml"}, 'expected edges between two different nodes: "A" has one to itself'),
        ({"topology.net.file": "bare.gml"}, "expected a graph with edges"),
        ({"topology.net.file": "negative.gml"}, 'or a number, as capacity of the edge from "A" to "B", not -5'),
        ({"topology.net.file": "words.gml"}, 'or a number, as delay of the edge from "A" to "B", not "soon"'),
        ({"topology.net.file": ""}, 'topology.net.file = "": expected the name of a file'),
        ({"topology.net.link.rate": None}, 'topology.net.link.rate: expected a rate such as "1 Gbit/s", as the edge from "Chicago" to "?" has no LinkSpeedRaw, capacity, rate'),
        ({"topology.net.rate_from": "speed"}, 'topology.net.rate_from = "speed": expected an attribute of edges: edges have LinkLabel, LinkSpeedRaw, capacity, delay, latency'),
        ({"topology.net.rate_from": "coordinates"}, 'topology.net.rate_from = "coordinates": expected an attribute of edges'),
        ({"topology.net.delay_from": "coordinates"}, 'expected coordinates of all nodes: the edge from "Chicago" to "?" lacks some'),
        ({"topology.net.delay_unit": "1 Mbit/s"}, "topology.net.delay_unit"),
        ({"topology.net.routers": ["a"]}, "topology.net.routers"),
        ({"topology.net.file": None}, 'topology.net.file: expected the name of a file, such as "abilene.graphml", or routers and edges'),
        ({"topology.net.file": None, "topology.net.rate_from": "x"}, 'topology.net.rate_from = "x": expected nothing here without a file'),
        ({"traffic.t.from": "net.Chigaco"}, 'did you mean "net.Chicago"?'),
        ({"traffic.t.from": "net.router[4]"}, "net.router[0] to net.router[3]"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(zoo: Path, change: dict[str, Any], sentence: str) -> None:
    nodes = 'node [ id 0 label "A" ] node [ id 1 label "B" ] '
    for name, text in {
        "broken.gml": "graph [ node [ id 0",
        "broken.graphml": "<graphml>",
        "deep.gml": "graph [ " + "a [ " * 10_000,
        "apart.gml": f'graph [ {nodes} node [ id 2 label "C" ] edge [ source 0 target 1 ] ]',
        "loop.gml": f"graph [ {nodes} edge [ source 0 target 1 ] edge [ source 0 target 0 ] ]",
        "bare.gml": f"graph [ {nodes} ]",
        "negative.gml": f"graph [ {nodes} edge [ source 0 target 1 capacity -5 ] ]",
        "words.gml": f'graph [ {nodes} edge [ source 0 target 1 delay "soon" ] ]',
    }.items():
        (zoo.parent / name).write_text(text, encoding="utf-8")
    with pytest.raises(tl.ScenarioError) as caught:
        tl.load(zoo).set_all(change).resolve()
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("graph", "sentence"),
    [
        (nx.empty_graph(2), "Graph: expected a graph with edges"),
        (nx.empty_graph(0), "Graph: expected a graph with edges"),
        (nx.path_graph(3), "Graph: link.rate: expected a rate"),
        (nx.DiGraph([(0, 1)]), 'Graph: expected a connected graph: there is no path from "1" to "0"'),
    ],
)
def test_a_graph_that_is_no_network(graph: Any, sentence: str) -> None:
    with pytest.raises(tl.ScenarioError) as caught:
        tl.Graph.from_networkx(graph)
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ('routers = ["a", "a"], edges = [{ ends = ["a", "b"], rate = "1 Gbit/s" }]', "expected each node once"),
        ('routers = ["a", "b"], edges = [{ ends = ["a", "c"], rate = "1 Gbit/s" }]', 'topology.net.edges[0].ends = ["a", "c"]: expected two of the routers'),
        ('routers = ["a", "b"], edges = [{ ends = ["a", "a"], rate = "1 Gbit/s" }]', "expected two different nodes"),
        ('routers = ["a", "b"], edges = [{ ends = ["a", "b"] }]', "topology.net.edges[0].rate: this key is needed"),
        ('routers = ["a", "b"]', "topology.net.edges: expected the links"),
        ('routers = ["a", "router[0]"], edges = []', 'expected a name, or "router[1]" in this place'),
        ('routers = ["a b"], edges = []', "expected a name of letters"),
    ],
)  # fmt: skip
def test_a_written_graph_that_is_no_network(keys: str, sentence: str) -> None:
    with pytest.raises(tl.ScenarioError) as caught:
        tl.loads(scenario(keys, "net.a", "net.b")).resolve()
    assert sentence in str(caught.value)
