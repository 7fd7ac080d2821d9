"""The study of Internet-like networks on small designs: its claims, its report, its options."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from tightlink.cli import main
from tightlink.experiment import open as open_folder
from tightlink.experiment.claims_file import load
from tightlink.experiment.execute import execute
from tightlink.experiment.store import Store
from tightlink.studies import congestion_control
from tightlink.studies.congestion_control import options
from tightlink.studies.congestion_control.observe import sensitivity
from tightlink.studies.congestion_control.observe.evidence import gather, stored
from tightlink.studies.congestion_control.setup import Chosen, document
from tightlink.studies.congestion_control.setup.experiment import (
    HEAVIER,
    Experiment,
    Size,
    experiment,
    file_of,
    heavier,
)
from tightlink.studies.congestion_control.setup.one_link import CASES
from tightlink.studies.running import study

if TYPE_CHECKING:
    from tightlink.experiment.claims import Claim


WHOLE = Fraction(1)
SMALL = Size(Fraction(1, 10), "30 s", routers=Fraction(1, 6))
SMALLER = replace(SMALL, scale=Fraction(1, 50), duration="10 s")


def _fewer(name: str, factors: tuple[str, ...]) -> Experiment:
    whole = experiment(name)
    return replace(whole, factors={factor: whole.factors[factor] for factor in factors}, resolution=3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four or eight conditions of each kind of experiment, and three of each setting of FAST."""
    folder = tmp_path_factory.mktemp("study") / "out"
    patch = pytest.MonkeyPatch()
    fewer: dict[str, dict[str, Any]] = {
        "oscillation": {
            "control": (("fast", 8), ("fast", 100), ("fast-at", None)),
            "flows": (1, 4),
            "buffer_packets": (50, 800),
        },
        "newcomers": {"rate": ("20 Mbit/s",), "buffer": ("1 BDP",), "settled": (1,)},
    }
    for name, levels in fewer.items():
        patch.setitem(CASES, name, replace(CASES[name], levels={**CASES[name].levels, **levels}))
    factors = ("network_speed", "buffers", "think_time", "sources", "measurement_interval", "congestion")
    chosen = Chosen(
        (
            _fewer("sensitivity", factors),
            _fewer("sensitivity-reno", factors[:-1]),
            _fewer("1b", ("network_speed", "buffers", "sources")),
            _fewer("2b", ("network_speed", "buffers", "sources")),
            _fewer("mixture", ("network_speed", "buffers", "sources")),
            replace(experiment("window"), algorithms=("scalable",)),
            replace(_fewer("choices", ("network_speed", "sources")), algorithms=("fast", "htcp", "reno")),
        ),
        SMALL,
        on_one_link=tuple(fewer),
        # Most runs, and of none of these is it asserted what its networks do.
        sizes=dict.fromkeys(("1b", "2b", "mixture", "window", "choices"), SMALLER),
    )
    study(congestion_control.study(chosen), folder, jobs=2)
    patch.undo()
    return folder


@pytest.fixture(scope="module")
def claims(folder: Path) -> dict[str, Claim]:
    return {claim.id: claim for claim in load(folder / "claims.json")}


def test_claims_of_every_experiment(claims: dict[str, Claim]) -> None:
    assert {"sensitivity.Y2.X1", "sensitivity.Y9.X2", "sensitivity.order", "sensitivity.without-effect.X6",
            "sensitivity.dimensions", "1b.fast.loss", "1b.compound.little-change", "1b.conditions-separate",
            "1b.fast-apart", "2b.fair.compound", "2b.unfair.scalable", "2b.gain.movie", "mixture.standard-loses",
            "window.no-gain", "oscillation.boundary", "oscillation.fast-at",
            "newcomers.scalable"} <= claims.keys()  # fmt: skip
    assert not [name for name in claims if name.startswith(("1a.", "2a.", "prices."))]
    # Buffers of 50 packets hold those of one flow with alpha 8, and not of others; of 800 those of all.
    assert claims["oscillation.boundary"].holds
    assert claims["newcomers.scalable"].holds
    # What is not varied, or known to be another way, is open.
    assert claims["sensitivity.Y9.X2"].holds is None
    assert claims["sensitivity.Y2.X4"].holds is None
    # Nor are a topology and durations that are not the document's, or an amplitude that it does not give.
    assert claims["sensitivity.transmitting.X4"].holds is None
    assert claims["sensitivity.without-effect.X19"].holds is None
    assert claims["oscillation.rapidly"].holds is None
    assert claims["mixture.standard-loses"].origin == "ours"
    # Four conditions give no interval, so that nothing has a verdict that could turn.
    assert (claims["choices.verdicts"].holds, claims["choices.verdicts"].observed) == (None, 0)


def test_heavier_sizes() -> None:
    """As they are run, and as they are stored: in place of the default ones, and not simulated."""
    run = options.chosen({"evidence": "run", "experiments": "2b", "duration": "1 min"})
    assert (run.names, run.size_of("2b").duration, len(run.tasks())) == (["2b"], "1 min", 16 * 7)
    default, taken = options.chosen({}), options.chosen({"evidence": "stored"})
    left = tuple(each for each in default.experiments if each.name not in taken.stored)
    assert [task.name for task in taken.tasks()] == [task.name for task in replace(default, experiments=left).tasks()]
    assert set(taken.stored) == {name for name in HEAVIER if file_of(name).exists()}


def test_a_study_of_stored_responses_alone(tmp_path: Path) -> None:
    found = study("congestion-control", tmp_path / "out", options={"evidence": "stored", "experiments": "2b"})
    text = html.unescape((found.folder / "report.html").read_text(encoding="utf-8"))
    assert "Stored responses, whose sections say their size, are those of 2b." in text
    assert stored(heavier("2b")[0]).origin in text
    assert {claim.id.partition(".")[0] for claim in found.claims} == {"2b"}
    assert pl.read_parquet(found.folder / "runs.parquet").is_empty()


def test_the_report_and_the_tables(folder: Path) -> None:
    text = html.unescape((folder / "report.html").read_text(encoding="utf-8"))
    # A scale is another network, and the summary says what became of it.
    assert experiment("sensitivity").distortion(Size(WHOLE, "30 s")) is None
    assert "In experiment sensitivity, scale 0.01 makes another network: " in text
    assert str(experiment("sensitivity").distortion(SMALL)) in text
    for name in ("sensitivity", "1b", "2b", "mixture", "window"):
        assert experiment(name).title in text
    assert {"Where FAST oscillates", "What newcomers get", "What it costs"} <= set(
        re.findall(r"<h2[^>]*>([^<]*)<", text)
    )
    figures = {file.name for file in (folder / "figures").iterdir()}
    assert {
        "sensitivity-main-effects.svg",
        "sensitivity-significance.svg",
        "1b-dendrograms.svg",
        "2b-beside-standard.svg",
    } <= figures
    marks = re.findall(r">([+−]\*+)<", (folder / "figures" / "sensitivity-verdicts.svg").read_text(encoding="utf-8"))
    printed = [strong for row in document.effects().values() for _, strong in row.values()]
    assert [mark.endswith("**") for mark in marks] == printed
    table = pl.read_parquet(folder / "responses.parquet")
    assert table.columns == [
        "experiment", "condition", "algorithm", "replication", "control", "period", "response", "value",
    ]  # fmt: skip
    keys = table.columns[:-1]
    assert not table.select(keys).is_duplicated().any()
    opened = open_folder(folder)
    assert opened.own == ["runs", "costs", "responses"]
    assert opened.table("responses").collect().equals(table)
    counted = opened.connect().sql("select experiment, count(*) from responses group by all order by all").fetchall()
    assert dict(counted) == dict(table.group_by("experiment").len().rows())
    spent = pl.read_parquet(folder / "costs.parquet")
    measured, whole = (spent.filter(pl.col("experiment") == "1b")[place] for place in (0, -1))
    at_this_size = spent.filter(pl.col("from") == "counted")["stored_bytes"].sum()
    files = [run.stat().st_size for run in (folder / "runs").iterdir()]
    assert 0 < at_this_size < sum(files)
    assert whole["stored_bytes"].item() == pytest.approx(150 * measured["stored_bytes"].item(), abs=1)
    # Three hundred times the traffic for 25 min, 150 times as long.
    assert whole["packet_hops"].item() / measured["packet_hops"].item() == pytest.approx(300 * 150)
    assert whole["sources"].item() > 50 * measured["sources"].item()


def test_counts_are_rates_where_intervals_differ(tmp_path: Path) -> None:
    factors = ("measurement_interval", "think_time")
    small = _fewer("sensitivity", factors)
    runs = execute(small.tasks(SMALL), Store(tmp_path))
    evidence = gather(small, SMALL, runs)
    counted = evidence.responses()
    rates = sensitivity.per_second(evidence, counted)
    for sign, length in ((-1, 0.2), (1, 1.0)):
        one, other = (table.filter(pl.col("measurement_interval") == sign) for table in (counted, rates))
        assert (one["packets_leaving"] / length).to_list() == pytest.approx(other["packets_leaving"].to_list())
        assert other["sources_transmitting"].to_list() == one["sources_transmitting"].to_list()
        completed, transmitting = other["transfers_completed"], other["sources_transmitting"]
        assert other["completion_rate"].to_list() == pytest.approx((completed / (completed + transmitting)).to_list())


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--scale", "2"], '--scale = "2": expected a part of the document\'s networks, such as 1/10 or 0.1'),
        (["--scale", "1/0"], '--scale = "1/0": expected a part'),
        (["--scale", "1/1000", "--experiments", "1b"], "expected from 1/100, one source for each access router, to 1"),
        (
            ["--scale", "1/100", "--experiments", "1b"],
            '--scale = "1/100": expected a scale that keeps the order of the levels of buffers: low and high have 4 and '
            "4 packets in the queue of a normal router",
        ),
        (["--routers", "0"], '--routers = "0": expected a part of the access routers, such as 1/3'),
        (["--scale", "1/5", "--experiments", "window"], "to 1/10 for experiment window"),
        (["--duration", "5"], '--duration = "5": expected a time, such as "25 min"'),
        (["--duration", "1 s"], 'expected at least "30 s"'),
        (["--evidence", "none"], '--evidence = "none": expected one of run, stored'),
        (["--evidence", "run", "--experiments", "2c"], '--experiments = "2c": expected one of 2b, 2a, choices'),
        (
            ["--evidence", "stored", "--duration", "1 min"],
            '--duration = "1 min": expected to be left out beside evide',
        ),
        (
            ["--experiments", "1c"],
            '--experiments = "1c": expected one of sensitivity, sensitivity-reno, sensitivity-co',
        ),
    ],
)
def test_options_that_are_wrong(
    given: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["study", "congestion-control", *given, "-o", str(tmp_path / "out")]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
