"""The study of networks: its cases, its claims, its report, on small graphs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import networkx as nx
import polars as pl
import pytest

import tightlink as tl
from tightlink.experiment.execute import execute
from tightlink.experiment.results import results
from tightlink.experiment.store import Store
from tightlink.report import write
from tightlink.studies.network_congestion import STUDY
from tightlink.studies.network_congestion.observe import networks, observe, rounding
from tightlink.studies.network_congestion.observe.load import Measured, agreeing, row
from tightlink.studies.network_congestion.report import report
from tightlink.studies.network_congestion.setup import cases, graphs, growth
from tightlink.studies.network_congestion.setup.graphs import Named
from tightlink.studies.network_congestion.setup.network import CAPACITY, Case, Sizes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tightlink.experiment.claims import Claim

#: Ids never change: scripts rely on them.
FAMILIES = {
    "one-link", "ring", "lattice", "torus", "tree", "small-world", "random", "scale-free", "autonomous-systems", "abilene",
}  # fmt: skip
IDS = {
    "fluid.order", "kind.critical", "kind.continuous", "kind.busiest", "routing.betweenness", "time.one-link",
    "time.scale-free", "time.ring", "kind.exponent", "size.critical", "size.ring", "kind.phase-transition",
    "kind.independent", "fluctuations.rise", "fluctuations.peak", "fluctuations.limited", "fluctuations.size",
    "fluctuations.lost", "invariants.betweenness", "invariants.even", "tolerant.scale-free", "tolerant.random",
    "limits.bits-critical", "limits.bits-queues",
    "balanced.independent", "balanced.gain", "growth.critical", "growth.congested", "growth.betweenness",
    "growth.preferential", "growth.never-lower", "growth.wider", "growth.moved", "growth.invariants", "growth.evenness",
}  # fmt: skip


#: As the study has them, before the fixture below puts others in their place.
_FULL = cases.order_parameter()


def test_the_families_of_the_study() -> None:
    assert {case.graph.family.lower().replace(" ", "-") for case in _FULL} == FAMILIES


def _small() -> dict[str, tuple[Case, ...]]:
    """The cases of each part, on small graphs and with few runs."""
    small = (graphs.one_link(), graphs.ring(9), graphs.scale_free(16))
    chosen = (
        graphs.ring(9), graphs.lattice(4), graphs.tree(3), graphs.random(16), graphs.scale_free(16),
        graphs.scale_free(16, 2),
    )  # fmt: skip
    first = cases.in_time()[0]
    short: dict[str, Any] = {"duration_s": 12.0}
    return {
        "order_parameter": tuple(Case(f"curves/{graph.name}", graph, cases.LOADS) for graph in small),
        "in_time": tuple(
            replace(first, name=f"time/{graph.name}", graph=graph, loads=first.loads[::2], seeds=4, **short)
            for graph in (small[0], small[2], small[1])
        ),
        "in_size": tuple(
            replace(cases.in_size()[0], name=f"size/{nodes}", graph=graphs.ring(nodes), seeds=1, **short)
            for nodes in (5, 9, 17)
        ),
        "limited_queues": tuple(replace(case, loads=case.loads[::2], **short) for case in cases.limited_queues()),
        "invariants": tuple(
            replace(cases.invariants()[0], name=f"invariants/{graph.name}", graph=graph, **short) for graph in chosen
        ),
        "packet_sizes": tuple(
            replace(case, graph=graphs.random(16), seeds=1, **short) for case in cases.packet_sizes()
        ),
        "balanced": tuple(
            replace(case, graph=graph, **short) for case, graph in zip(cases.balanced(), chosen[1:3], strict=False)
        ),
    }


@pytest.fixture(scope="module")
def _reduced() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, small in _small().items():
            patch.setattr(cases, name, lambda small=small: small)
        patch.setattr(growth, "starts", lambda: (graphs.random(16), graphs.scale_free(16)))
        patch.setattr(growth, "STEPS", 3)
        # Of grown networks no verdict is asserted, so that a few short runs of each are enough.
        patch.setattr(growth, "LOADS", growth.LOADS[::2])
        for module in (cases, growth):
            patch.setattr(module, "Case", partial(Case, duration_s=12.0))
        patch.setattr(growth, "RUNS", 1)
        patch.setattr(growth, "networks", growth.networks.__wrapped__)
        yield


@pytest.fixture(scope="module")
def runs(_reduced: None, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tl.Run]:
    """The runs of the reduced study."""
    return execute(STUDY.all_tasks(), Store(tmp_path_factory.mktemp("runs")), jobs=2)


@pytest.fixture(scope="module")
def observed(_reduced: None, runs: dict[str, tl.Run]) -> dict[str, Any]:
    """What is observed of them."""
    return observe(runs)


@pytest.fixture(scope="module")
def claims(observed: dict[str, Any]) -> dict[str, Claim]:
    """All claims, but of critical loads only those of graphs that are simulated here."""
    table = STUDY.table()
    listed = [
        each
        for each in table.statements
        if not each.id.startswith("critical.") or each.id.partition(".")[2] in observed["graphs"]
    ]
    return {claim.id: claim for claim in replace(table, statements=tuple(listed)).judged(observed)}


def test_every_claim_is_there_and_says_why_it_fails(claims: dict[str, Claim]) -> None:
    assert {name for name in claims if not name.startswith("critical.")} == IDS
    assert {name for name in claims if name.startswith("critical.")} == {
        "critical.one-link", "critical.ring", "critical.scale-free",
    }  # fmt: skip
    assert all(claim.reason for claim in claims.values())


@pytest.mark.parametrize(
    "name",
    [
        "critical.one-link", "critical.ring", "critical.scale-free", "fluid.order", "kind.critical", "kind.continuous",
        "kind.busiest", "routing.betweenness", "size.ring",
        "limits.bits-critical", "balanced.gain", "balanced.independent", "fluctuations.lost",
    ],
)  # fmt: skip
def test_what_holds(claims: dict[str, Claim], name: str) -> None:
    assert claims[name].holds is True, claims[name]


def test_the_critical_load_of_every_graph_is_that_of_its_busiest_link(observed: dict[str, Any]) -> None:
    for graph in observed["invariants"].iter_rows(named=True):
        reach = max(0.03 * graph["theory"], (graph["high"] - graph["low"]) / 2)
        assert graph["critical"] == pytest.approx(graph["theory"], abs=reach), graph
        assert graph["high"] - graph["low"] < 0.2 * graph["theory"]


@pytest.mark.parametrize("name", ["kind.independent", "fluctuations.peak"])
def test_what_does_not_hold(claims: dict[str, Claim], name: str) -> None:
    assert claims[name].holds is False, claims[name]
    # Of rings of three sizes for a short time, nothing is told.
    assert claims["kind.phase-transition"].holds is None


def test_sizes_sharpen_where_intervals_say_so_and_nowhere_else() -> None:
    """Widths go with n to the power; scattered ones leave it open, unless no family could be sharpened."""

    def opened(**powers: tuple[float, float]) -> str:
        rows = [
            {"family": family, "nodes": nodes, "width": nodes**power * (1 + spread * (-1) ** place),
             "error": nodes**power * max(spread, 0.01), "critical": 1 / (nodes + 1)}
            for family, (power, spread) in powers.items()
            for place, nodes in enumerate((16, 32, 64, 128))
        ]  # fmt: skip
        return str(rounding._sizes(pl.DataFrame(rows))["size.open"])

    assert not opened(ring=(0.3, 0.0), lattice=(0.2, 0.0))
    assert not opened(ring=(-0.5, 0.0), lattice=(-0.4, 0.01))
    assert "exclude that on: ring; on the others" in opened(ring=(0.3, 0.0), lattice=(0.1, 0.8))


def test_widths_that_lie_well_by_chance_tell_no_more_than_their_errors() -> None:
    """On a smooth line, or below zero: the exponent's interval is that of what each width is known to."""
    wide = [0.36, 0.30, 0.25, 0.18]
    ring = pl.DataFrame({"nodes": [17, 33, 65, 129], "width": [0.52, 0.65, 0.84, 1.04], "error": wide})
    assert rounding.width_exponent(ring).low < 0 < rounding.width_exponent(ring).high
    sure = rounding.width_exponent(ring.with_columns(pl.col("error") / 100))
    assert sure.value == pytest.approx(0.345, abs=0.01)
    assert 0.3 < sure.low < sure.high < 0.4
    below = pl.DataFrame(
        {"nodes": [16, 32, 64, 128], "width": [0.65, -0.17, 0.44, 0.32], "error": [0.3, 0.8, 0.9, 0.5]}
    )
    left_out = rounding.width_exponent(below.filter(pl.col("width") > 0))
    assert rounding.width_exponent(below) != left_out
    table = ring.with_columns(family=pl.lit("ring"), critical=1 / (pl.col("nodes") + 1.0))
    assert "exclude that on: none" in str(rounding._sizes(table)["size.open"])


def test_a_family_is_more_tolerant_where_errors_tell() -> None:
    table = pl.DataFrame({
        "family": ["lattice", "tree", "scale-free", "random"], "load_per_s": [268.0, 62.0, 280.0, 483.0],
        "error_per_s": [0.0, 0.0, 41.0, 36.0], "even_per_s": [368.0, 62.0, 468.0, 554.0],
    })  # fmt: skip
    found = networks.tolerant(table)
    assert "280 ± 41" in found["tolerant.scale-free.open"]
    assert not found["tolerant.random.open"]


def test_a_critical_load_agrees_by_its_interval_on_the_theorys_side() -> None:
    table = pl.DataFrame({"critical": [96.0, 96.0, 98.5], "low": [90.0, 90.0, 98.0], "high": [101.0, 97.0, 99.0]})
    found = agreeing(table.with_columns(theory=pl.lit(100.0)))
    assert found["agrees"].to_list() == [True, False, True]


def test_the_report_has_its_charts(observed: dict[str, Any], claims: dict[str, Claim], tmp_path: Path) -> None:
    found = report(observed, claims)
    figures = found.draw(tmp_path / "figures")
    path = write(
        tmp_path / "report.html", title=found.title, lead=found.lead, claims=list(claims.values()), sections=found.sections,
        figures=figures,
    )  # fmt: skip
    assert path.read_text().count("<section") == 1 + len(found.sections)
    assert {file.suffix for file in figures} == {".svg", ".png"}
    assert {"order.svg", "critical-load-over-betweenness.svg", "fluctuations-limited-queues.svg"} <= {
        file.name for file in figures
    }


def test_the_table_of_runs_says_what_a_network_was(runs: dict[str, tl.Run]) -> None:
    case = cases.order_parameter()[1]
    tasks = {task.name: task.scenario for task in case.tasks()}
    table = results(tasks, runs, row)
    assert table["traffic.calls.rate"][0] == f"{case.load(0.7)!r} packets/s"
    beyond = table["run"].index(case.key(2.0, 1))
    assert table["order"][beyond] == pytest.approx(case.routes.piled_up(CAPACITY, case.load(2.0)), abs=0.02)
    assert table["loss"] == [0.0] * len(tasks)


def test_limited_queues_lose_what_unlimited_ones_keep() -> None:
    graph = graphs.one_link()
    kept, lost = (
        Case(f"test/{limit}", graph, (1.5,), queue=limit, duration_s=10.0) for limit in ("unlimited", "20 packets")
    )
    ours = {task.name: tl.simulate(task.scenario) for case in (kept, lost) for task in case.tasks()}
    piled, dropped = (Measured(case, ours).mean.row(0, named=True) for case in (kept, lost))
    assert piled["order"] == pytest.approx(1 / 3, abs=0.02)
    assert piled["lost"] == 0
    assert dropped["lost"] == pytest.approx(1 / 3, abs=0.02)
    assert dropped["order"] == pytest.approx(0, abs=0.005)


def test_sizes_of_packets() -> None:
    assert cases.MIXED.mean == 539
    assert cases.ALIKE.variability == 1
    assert Sizes({"a": (100, 0.5), "b": (300, 0.5)}).variability == pytest.approx(5e4 / 4e4)


def test_a_case_is_the_same_every_time() -> None:
    case = Case("test/again", graphs.scale_free(16), (0.9, 1.1), 2)
    assert [task.scenario.seed for task in case.tasks()] == [task.scenario.seed for task in case.tasks()]
    assert len({task.scenario.seed for task in case.tasks()}) == 4
    graphs.scale_free.cache_clear()
    assert graphs.scale_free(16).graph.edges == case.graph.graph.edges


def test_a_rule_puts_a_wire_where_it_says() -> None:
    """Two triangles with one wire between: the busiest link is that one, and hubs are its ends."""
    barbell = Named("barbell-6", "barbell", nx.barbell_graph(3, 0))
    past, hubs = (growth.grown(barbell, rule).named.graph.edges for rule in ("congested", "betweenness"))
    old = {frozenset(edge) for edge in barbell.graph.edges}
    for edges in (past, hubs):
        assert len(edges) == len(old) + growth.STEPS
        assert old < {frozenset(edge) for edge in edges}
    first = growth.grown(barbell, "congested").critical
    assert first[0] == pytest.approx(CAPACITY * 5 / 9)
    assert first[1] > first[0]


def test_rules_that_draw_count_by_the_mean_of_their_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """One draw of twelve wires anywhere differs from the next by more than one rule from another."""
    monkeypatch.setattr(growth, "STEPS", 3)
    monkeypatch.setattr(growth, "starts", lambda: (graphs.scale_free(16),))
    start = growth.starts()[0]
    drawn = [one.critical[-1] for one in growth.drawn(start, "anywhere")]
    assert len(set(drawn)) > 1
    assert len(drawn) == growth.DRAWS
    assert len(growth.drawn(start, "congested")) == 1
    found = networks.growth_table().filter(pl.col("rule") == "anywhere")
    assert found["critical"].to_list() == [pytest.approx(sum(drawn) / len(drawn))]


def test_capacity_is_added_or_moved() -> None:
    start = graphs.scale_free(16)
    wider, moved = (growth.grown(start, rule) for rule in ("wider", "moved"))
    links = 2 * start.graph.number_of_edges()
    assert wider.capacity.sum() == pytest.approx((links + 2 * growth.STEPS) * CAPACITY)
    assert moved.capacity.sum() == pytest.approx(links * CAPACITY)
    assert wider.critical[-1] > wider.critical[0]
    assert moved.critical[-1] > moved.critical[0]
