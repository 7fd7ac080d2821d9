"""The model finds the paths that the engine takes: bandwidth-delay products depend on it."""

from __future__ import annotations

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

import tightlink as tl
from tightlink.scenario.network import Network
from tightlink.scenario.paths import Router

_pairs = st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda pair: pair[0] != pair[1])


@settings(deadline=None, max_examples=60)
@given(st.lists(_pairs, max_size=14), st.permutations(range(8)), st.integers(1, 7))
def test_paths_agree(extra: list[tuple[int, int]], order: list[int], target: int) -> None:
    tree = [(order[index // 2], order[index]) for index in range(1, 8)]
    scenario = tl.Scenario(
        duration="1 s",
        link={
            f"l{index}": tl.Link(ends=(f"n{one}", f"n{other}"), rate="1 Gbit/s")
            for index, (one, other) in enumerate([*extra, *tree])
        },
        traffic={"probe": tl.Cbr(from_="n0", to=f"n{target}", interval="600 ms")},
    )
    network = Network(scenario.explicit())
    path = Router.of(network).path(network.nodes["n0"], network.nodes[f"n{target}"])
    assert path is not None
    taken = tl.simulate(scenario).links.filter(pl.col("packets_in") > 0)["link"]
    assert sorted(taken) == sorted(network.hops[link].name for link in path)


def test_no_way() -> None:
    link = tl.Link(ends=("a", "b"), rate="1 Gbit/s", one_way=True)
    flow = tl.Cbr(from_="a", to="b", interval="1 s")
    network = Network(tl.Scenario(duration="1 s", link={"l": link}, traffic={"t": flow}).explicit())
    router = Router.of(network)
    assert router.path(0, 1) == [0]
    assert router.path(1, 0) is None
