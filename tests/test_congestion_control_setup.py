"""Experiments of the study of Internet-like networks: sizes, designs, scenarios, and what they cost."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tightlink.scenario import PARAMETERS
from tightlink.studies.congestion_control.observe import costs
from tightlink.studies.congestion_control.setup import document
from tightlink.studies.congestion_control.setup.experiment import ALL, NAMES, Size, experiment

WHOLE = Fraction(1)
SMALL = Size(Fraction(1, 10), "30 s", routers=Fraction(1, 6))


#: As published: sources and the backbone's speed of the largest condition, in Gbit/s, and the runs.
PUBLISHED = {
    "1a": (278_000, 192.0, 224), "1b": (27_800, 28.8, 256), "2a": (26_085, 38.4, 224), "2b": (26_085, 38.4, 224),
    "2c": (261_792, 384.0, 224),
}  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
def test_experiments_have_the_size_of_the_document(name: str) -> None:
    sources, gigabits, runs = PUBLISHED[name]
    found = experiment(name)
    assert found.conditions.height == 32
    assert found.conditions.height * len(found.compared) == runs
    # The document's 26,085 has 89 instead of 90 sources at each of the 105 normal routers.
    assert found.sources(Size(WHOLE, "1 min")) == pytest.approx(sources, rel=0.005)
    fastest = found.conditions.filter(pl.col("network_speed") > 0)["condition"][0]
    links = found.scenario(fastest, found.compared[0], Size(WHOLE, "1 min")).resolve()["links"]
    assert max(link["rate_bps"] for link in links) / 1e9 == pytest.approx(gigabits)


@pytest.mark.parametrize("name", NAMES)
def test_designs_tell_single_effects_apart(name: str) -> None:
    found = experiment(name)
    signs = found.conditions.drop("condition").to_numpy()
    assert (signs.T @ signs == len(signs) * np.eye(len(found.factors))).all()
    assert found.design.resolution is None or found.design.resolution >= 4


def test_the_tables_of_the_document_agree_with_each_other() -> None:
    """Its effects of the second period add up to the printed influence of all twenty parameters."""
    effects = document.effects()
    assert len(effects) == 18
    for parameter, printed in document.influence()["congestion"].items():
        marks = [row[parameter][1] for row in effects.values() if parameter in row]
        psi = sum(1.0 if strong else 0.5 for strong in marks) / len(effects)
        assert psi == pytest.approx(printed, abs=0.0051), parameter
    weighted = document.influence()
    for parameter, printed in weighted["weighted"].items():
        periods = sum(weighted[row][parameter] for row in ("before", "congestion", "after")) / 3
        controls = (weighted["reno"][parameter] + weighted["compound"][parameter]) / 2
        assert (periods + controls) / 2 == pytest.approx(printed, abs=0.011), parameter
    assert set(document.NAME_OF.values()) == set(PARAMETERS)


def test_controls_of_a_condition_have_the_same_random_numbers() -> None:
    found = experiment("1b")
    one, other = (found.scenario(3, name, SMALL) for name in ("reno", "bic"))
    assert one.seed == other.seed == 4
    # Effects of factors are compared between conditions: these have the same numbers there.
    design = experiment("sensitivity")
    assert [design.scenario(condition, "", SMALL, replication=2).seed for condition in (0, 3)] == [2, 2]
    assert one.set("traffic.users.tcp.congestion", "bic").written() == other.written()


def test_choices_are_turned_back_one_by_one() -> None:
    found = experiment("choices")
    tcp = {
        name: found.scenario(0, name, SMALL).written()["traffic"]["users"]["tcp"]
        for name in found.compared
        if name.startswith(("fast,", "htcp,"))
    }
    whole = {name: tcp[f"{name}, all as NIST"] for name in ("fast", "htcp")}
    changed = {
        name: {key for key in own | whole[name.split(",")[0]] if own.get(key) != whole[name.split(",")[0]].get(key)}
        for name, own in tcp.items()
    }
    assert {name: keys for name, keys in changed.items() if keys} == {
        "fast, timeout to one packet": {"loss_window"},
        "htcp, timeout to one packet": {"loss_window"},
        "fast, slow start of our FAST": {"congestion"},
        "htcp, growth of our H-TCP": {"congestion"},
        "fast, SACK": {"recovery"},
        "htcp, SACK": {"recovery"},
    }


def test_mixing() -> None:
    half = experiment("2b").scenario(0, "compound", SMALL).written()["traffic"]["users"]["controls"]
    assert {name: control["share"] for name, control in half.items()} == {"reno": 0.5, "compound": 0.5}
    every = experiment("mixture").scenario(0, ALL, SMALL).written()["traffic"]["users"]["controls"]
    assert {control["share"] for control in every.values()} == {1 / 8}
    window = experiment("window").scenario(0, "bic, 64 KiB", SMALL)
    assert window.written()["traffic"]["users"]["tcp"]["window"] == "64 KiB"


def test_costs_are_those_of_the_benchmarks() -> None:
    page = (Path(__file__).parents[1] / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    table = page.partition("<!-- users: begin -->")[2].partition("<!-- users: end -->")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if line.startswith("|")]
    columns = {name: place for place, name in enumerate(rows[0])}
    one_thread = [row for row in rows[2:] if row[columns["threads"]] == "1"]
    assert {int(row[columns["sources"]]): int(row[columns["ns/hop"]]) for row in one_thread} == costs.NANOSECONDS


def test_a_cluster_is_not_faster_than_the_longest_run() -> None:
    of_run = {"experiment": "1b", "runs": 4, "memory_bytes": 2_000_000_000}
    table = pl.DataFrame(
        [of_run | {"core_hours": 2.0, "longest_hours": 1.0}, of_run | {"core_hours": 80.0, "longest_hours": 2.0}]
    )
    found = costs.on_cluster(table, (16, 64)).row(0, named=True)
    assert (found["hours on 16 cores"], found["hours on 64 cores"], found["gigabytes_a_worker"]) == (5.0, 2.0, 2.0)
