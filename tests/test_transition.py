"""Graphs in numbers, what paths ask of links, and where congestion begins: on cases with known answers."""

from __future__ import annotations

import networkx as nx
import numpy as np
import polars as pl
import pytest

import tightlink as tl
from tightlink.analysis.measurements import MeasurementError
from tightlink.analysis.networks.backlog import master, stationary_queue
from tightlink.analysis.networks.graphs import graph_of, invariants
from tightlink.analysis.networks.routes import Routes, routes
from tightlink.analysis.networks.scaling import collapse, scaled
from tightlink.analysis.networks.transition import growth, onset, rise, susceptibility
from tightlink.errors import TightlinkError

#: Packets/s of a link.
CAPACITY = 1000.0


def _network(graph: nx.Graph) -> tl.Scenario:
    """A duplex link for each edge."""
    links = {
        f"w{place}": {"ends": [f"n{one}", f"n{other}"], "rate": "1 Mbit/s"}
        for place, (one, other) in enumerate(graph.edges)
    }
    return tl.Scenario.from_dict(
        {"duration": "1 s", "link": links, "traffic": {"ftp": {"kind": "bulk", "from": "n0", "to": "n1"}}}
    )


def _routes(graph: nx.Graph) -> Routes:
    return routes(_network(graph))


def test_invariants_of_graphs_that_are_known() -> None:
    complete = invariants(nx.complete_graph(6))
    assert (complete.degree_mean, complete.clustering, complete.path_length_mean) == (5, 1, 1)
    # The normalised Laplacian of K_n has the eigenvalue n / (n − 1).
    assert complete.spectral_gap == pytest.approx(6 / 5)
    assert complete.link_betweenness_max == 1
    star = invariants(nx.star_graph(9))
    assert (star.degree_max, star.diameter, star.clustering) == (9, 2, 0)
    assert star.node_betweenness_max == pytest.approx(1)
    assert star.link_betweenness_max == pytest.approx(9)
    assert star.degree_ratio == pytest.approx((81 + 9) / 10 / 1.8**2)
    assert star.spectral_gap == pytest.approx(1)
    ring = invariants(nx.cycle_graph(21))
    assert ring.link_betweenness_max == pytest.approx((21**2 - 1) / 8)
    assert ring.spectral_gap == pytest.approx(1 - np.cos(2 * np.pi / 21))


def test_parallel_edges_and_loops_are_no_edges_of_their_own() -> None:
    graph = nx.MultiGraph(nx.cycle_graph(5))
    graph.add_edges_from([(0, 1), (2, 2)])
    assert invariants(graph) == invariants(nx.cycle_graph(5))


def test_a_graph_in_parts_has_no_invariants() -> None:
    with pytest.raises(TightlinkError, match="falls into 2 parts"):
        invariants(nx.disjoint_union(nx.path_graph(2), nx.path_graph(3)))
    with pytest.raises(TightlinkError, match="a graph of 1 nodes has no paths"):
        invariants(nx.path_graph(1))


def test_the_graph_of_a_scenario() -> None:
    graph = nx.barabasi_albert_graph(20, 2, seed=3)
    assert invariants(graph_of(_network(graph))).row() == pytest.approx(invariants(graph).row())


def test_betweenness_counts_every_path_once() -> None:
    graph = nx.barabasi_albert_graph(25, 2, seed=5)
    found = _routes(graph)
    assert found.pairs == 25 * 24
    assert found.hops.mean() == pytest.approx(invariants(graph).path_length_mean)
    assert found.betweenness.sum() == found.hops.sum()


def test_the_critical_load_of_a_ring_is_8_c_over_n_plus_1() -> None:
    """Every direction of every wire of a ring with an odd number of nodes has (n² − 1) / 8 paths."""
    for nodes in (5, 9, 17):
        found = _routes(nx.cycle_graph(nodes)).critical(CAPACITY)
        assert found.load == pytest.approx(8 * CAPACITY / (nodes + 1))
        assert found.links == 2 * nodes


def test_the_smallest_capacity_counts() -> None:
    found = _routes(nx.star_graph(4))
    capacity = np.full(8, CAPACITY)
    capacity[5] = 100.0
    critical = found.critical(capacity)
    assert (critical.link, critical.links) == (found.links[5], 1)
    assert critical.load == pytest.approx(100.0)


def test_the_fluid_model_of_one_link() -> None:
    found = _routes(nx.path_graph(2))
    assert found.piled_up(CAPACITY, 900.0) == pytest.approx(0, abs=1e-8)
    for load in (1100.0, 1500.0, 2000.0):
        assert found.piled_up(CAPACITY, load) == pytest.approx(1 - CAPACITY / load, abs=1e-8)


def test_a_full_link_shields_those_behind_it() -> None:
    """a to b to c: where a-b passes 100 of 150 packets/s on, b-c is asked for less than it would be."""
    found = _routes(nx.path_graph(3))
    capacity = np.array([100.0, 1e9, 140.0, 1e9])
    load = 150.0
    # a sends 75 each to b and c over a-b, which passes 2/3 on; b-c gets 75 from b and 50 from a.
    expected = 50.0 + 50.0 + 75.0 + 3 * 75.0
    assert found.links[0] == "w0"
    assert found.carried(capacity, load) == pytest.approx(expected / (3 * load))


def test_no_path_is_an_error() -> None:
    scenario = tl.loads(
        'duration = "1 s"\nlink.one = { ends = ["a", "b"], rate = "1 Mbit/s" }\n'
        'link.other = { ends = ["c", "d"], rate = "1 Mbit/s" }\ntraffic.ftp = { kind = "bulk", from = "a", to = "b" }'
    )
    with pytest.raises(TightlinkError, match="no path leads from"):
        routes(scenario)
    with pytest.raises(TightlinkError, match="expected two at least"):
        routes(scenario, ["a"])


def _queue(utilization: float, *, seed: int, samples: int = 2000, steps: int = 50) -> pl.DataFrame:
    """One server that takes a service time a packet, and what arrives at random; a sample each 50 service times."""
    draws = np.random.default_rng(seed)
    arrivals = draws.poisson(utilization, samples * steps)
    walk = np.concatenate([[0], np.cumsum(arrivals - 1)])
    inside = (walk - np.minimum.accumulate(np.minimum(walk, 0)))[1:][steps - 1 :: steps]
    sent = arrivals.reshape(samples, steps).sum(axis=1)
    return pl.DataFrame(
        {
            "time_s": np.arange(1, samples + 1) * 0.05,
            "packets_sent": sent,
            "packets_dropped": np.zeros(samples, dtype=np.int64),
            "packets_in_network": inside,
        }
    )


def test_the_order_parameter_of_a_queue() -> None:
    for utilization in (0.5, 0.9, 1.1, 1.5, 2.0):
        found = growth(_queue(utilization, seed=1), 20.0)
        assert found.order == pytest.approx(max(0.0, 1 - 1 / utilization), abs=4 * found.error + 1e-3)
        assert found.lost == 0


def test_the_susceptibility_of_a_queue_is_a_step() -> None:
    """Beyond the critical load it is the variance of a Poisson process over its mean."""
    below = susceptibility([_queue(0.8, seed=seed) for seed in (1, 2)], 10.0)
    beyond = susceptibility([_queue(1.2, seed=seed) for seed in (1, 2)], 10.0)
    assert below.value == pytest.approx(0, abs=0.01)
    assert beyond.value == pytest.approx(1, abs=4 * beyond.error)
    assert beyond.error < 0.2


def test_what_only_goes_up_and_down_has_no_susceptibility() -> None:
    draws = np.random.default_rng(4)
    table = _queue(0.5, seed=1).with_columns(packets_in_network=pl.Series(draws.poisson(20, 2000)))
    found = susceptibility([table])
    assert found.value == pytest.approx(0, abs=max(0.05, 4 * found.error))


@pytest.mark.parametrize("critical", [0.9, 1.0, 1.13])
def test_the_onset_is_found(critical: float) -> None:
    loads = np.repeat([0.6, 0.7, 0.8, 0.9, 0.95, 1.0, 1.05, 1.1, 1.15, 1.2, 1.3, 1.4], 2)
    draws = np.random.default_rng(7)
    relative = np.maximum(0.0, loads / critical - 1)
    orders = (0.2 * relative + 0.3 * relative**2) / (1 + relative) + draws.normal(0, 5e-4, len(loads))
    found = onset(loads, orders, np.full(len(loads), 5e-4))
    assert found.critical.low <= critical <= found.critical.high
    assert found.critical.high - found.critical.low < 0.07
    assert found.slope.low <= 0.2 <= found.slope.high


def test_intervals_hold_what_they_say() -> None:
    """Of many made-up sets of orders at loads that lie close, 95 % and more have the critical load in theirs."""
    loads = np.array([0.7, 0.85, 0.92, 0.96, 0.98, 1, 1.02, 1.04, 1.06, 1.08, 1.1, 1.2, 1.5])
    draws = np.random.default_rng(11)
    truth = np.maximum(0.0, 1 - 1.0 / loads)
    held = 0
    for _ in range(60):
        found = onset(loads, truth + draws.normal(0, 2e-3, len(loads)), np.full(len(loads), 2e-3), resamples=99)
        held += found.critical.low <= 1.0 <= found.critical.high
    assert held >= 51


@pytest.mark.parametrize(
    ("orders", "message"),
    [
        ([0.0, 0.0, 0.0, 0.0, 0.0], "nothing piles up at any load up to 1.4"),
        ([0.1, 0.2, 0.3, 0.4, 0.5], "packets pile up at the smallest load, 1"),
    ],
)
def test_an_onset_outside_the_loads_is_an_error(orders: list[float], message: str) -> None:
    with pytest.raises(MeasurementError, match=message):
        onset([1.0, 1.1, 1.2, 1.3, 1.4], orders, [0.001] * 5)


def test_too_few_samples_and_loads_are_errors() -> None:
    with pytest.raises(MeasurementError, match="3 different loads"):
        onset([1.0, 1.1, 1.1, 1.2], [0, 0, 0, 1], [1e-3] * 4)
    with pytest.raises(MeasurementError, match="samples after 0 s"):
        growth(_queue(0.5, seed=1, samples=20))
    with pytest.raises(MeasurementError, match="100 samples after 0 s: expected at least 256"):
        susceptibility([_queue(0.5, seed=1, samples=100)])


def test_where_the_susceptibility_rises() -> None:
    loads = np.array([0.8, 0.9, 0.96, 1.0, 1.05, 1.1, 1.2])
    found = rise(loads, [0, 0, 0, 2, 2, 2, 6], [0.1] * 7, 1.0)
    assert found.value == pytest.approx(0.98)
    assert found.low < 0.98 < found.high
    assert found.high - found.low < 0.01
    with pytest.raises(MeasurementError, match="no load between"):
        rise(loads, [0, 0, 0, 2, 2, 2, 6], [0.1] * 7, 1.3)
    with pytest.raises(MeasurementError, match="high at all loads"):
        rise(loads, [5, 5, 5, 5, 5, 5, 5], [0.1] * 7, 1.0)


def _backlog(utilization: float, services: float, variability: float = 1.0) -> float:
    """The mean backlog of a server that began empty, after it could have served so many packets."""
    root = (services / variability) ** 0.5
    return float(variability * root * master((utilization - 1) * root))


def test_the_master_curve_is_that_of_a_queue() -> None:
    """Means over many queues that began empty, near the critical load, below it and beyond."""
    services = 2000
    for utilization in (0.97, 1.0, 1.03):
        ends = [_queue(utilization, seed=seed, samples=services // 50)["packets_in_network"][-1] for seed in range(400)]
        error = float(np.std(ends)) / 20
        assert float(np.mean(ends)) == pytest.approx(_backlog(utilization, services), abs=4 * error)


def test_the_master_curve_ends_in_both_theories() -> None:
    assert _backlog(1.5, 1e6) == pytest.approx(0.5e6, rel=1e-3)
    assert _backlog(0.99, 1e8) == pytest.approx(float(stationary_queue(0.99)), rel=0.03)
    assert _backlog(0.99, 1e8, 2.0) == pytest.approx(float(stationary_queue(0.99, 2.0)), rel=0.03)


@pytest.mark.parametrize(("height", "width"), [(0.5, 0.5), (0.25, 1.0), (0.0, 0.5)])
def test_exponents_are_found(height: float, width: float) -> None:
    draws = np.random.default_rng(3)
    parts = []
    for size in (100.0, 200.0, 400.0):
        x = 1 + np.linspace(-6, 8, 29) / 100**width
        y = size**-height * master((x - 1) * size**width)
        error = 0.01 * size**-height
        parts.append(pl.DataFrame({"size": size, "x": x, "y": y + draws.normal(0, error, len(x)), "error": error}))
    found = collapse(pl.concat(parts), 1.0)
    assert found.height.value == pytest.approx(height, abs=0.06)
    assert found.width.value == pytest.approx(width, abs=0.06)
    assert found.misfit < 0.15 * found.misfit_unscaled


def test_scaled_points_lie_on_one_curve() -> None:
    points = pl.DataFrame({"size": [4, 16], "x": [1.5, 1.25], "y": [0.5, 0.25]})
    assert scaled(points, 1.0, 0.5, 0.5).select("scaled_x", "scaled_y").rows() == [(1.0, 1.0), (1.0, 1.0)]


def test_one_size_cannot_be_scaled() -> None:
    points = pl.DataFrame({"size": [4] * 4, "x": [1.0, 2, 3, 4], "y": [1.0, 2, 3, 4], "error": [0.1] * 4})
    with pytest.raises(MeasurementError, match="1 size"):
        collapse(points, 1.0)
    with pytest.raises(MeasurementError, match="size 4: 3 points"):
        collapse(points.head(3), 1.0)
