"""The study of Internet-like networks: its experiments, its claims, its report, on small designs."""

from __future__ import annotations

import html
import math
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from tightlink.analysis.responses.ranks import ranks
from tightlink.cli import main
from tightlink.experiment import open as open_folder
from tightlink.experiment.claims_file import load
from tightlink.experiment.execute import execute
from tightlink.experiment.store import Store
from tightlink.scenario import PARAMETERS
from tightlink.studies import congestion_control
from tightlink.studies.claims_table import ClaimsTable
from tightlink.studies.congestion_control import options
from tightlink.studies.congestion_control.observe import costs, homogeneous, mixed, one_link, sensitivity
from tightlink.studies.congestion_control.observe.evidence import gather, stored
from tightlink.studies.congestion_control.observe.ratios import of_ratios
from tightlink.studies.congestion_control.observe.readings import Readings
from tightlink.studies.congestion_control.setup import Chosen, document
from tightlink.studies.congestion_control.setup.experiment import (
    ALL,
    HEAVIER,
    NAMES,
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


def test_a_share_of_few_conditions_has_an_interval() -> None:
    table = congestion_control.STUDY.table()
    text = next(each for each in table.statements if each.id == "1b.fast-apart")

    def holds(apart: int) -> bool | None:
        return text.judged({"experiment-1b": homogeneous.set_apart(apart, 10)}).holds

    assert [holds(apart) for apart in (0, 1, 5, 8, 9, 10)] == [False, False, None, None, True, True]


def test_groups_that_were_read_by_eye_are_open() -> None:
    (text,) = (each for each in congestion_control.STUDY.table().statements if each.id == "sensitivity.dimensions")
    observed = {"sensitivity": {"runs": 64, "dimensions.alone": 5}}
    assert [text.judged(observed | {"sensitivity.dimensions": groups}).holds for groups in (6, 7)] == [None, None]


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


def test_claims_have_every_effect_of_the_document() -> None:
    table = ClaimsTable.read(Path(sensitivity.__file__).parents[1] / "claims.toml").of(["sensitivity"])
    claimed = {each.id.partition(".")[2]: each.holds for each in table.statements}
    for number, marks in document.effects().items():
        for parameter, (sign, strong) in marks.items():
            assert (f".sign == '{sign}'" in claimed.get(f"{number}.{parameter}", "")) is strong


def _effects(signs: dict[str, dict[str, str]], first: dict[str, str]) -> pl.DataFrame:
    """Effects that stand out: of each response by parameter, and of some by their sign alone."""
    names = document.NAME_OF
    return pl.DataFrame([
        {"factor": names[parameter], "response": response, "sign": sign, "mark": "**", "p_joint": 0.001}
        for response, row in {**signs, **{name: {"X4": sign} for name, sign in first.items()}}.items()
        for parameter, sign in row.items()
    ])  # fmt: skip


def test_an_effect_is_not_tested_by_a_reading_that_it_helped_to_find() -> None:
    """Y9 is one of two delays; a wrong sign of X2 must not make it the other one, whose sign would be right."""
    of_rtt = {"X1": "−", "X2": "−", "X3": "+"}
    of_queueing = {"X1": "+", "X2": "+", "X3": "−"}
    readings = Readings(_effects({"rtt_mean_s": of_rtt, "queueing_delay_mean_s": of_queueing}, {}))
    response, agreement = readings.response("Y9", "X2")
    assert response == "rtt_mean_s"
    assert agreement == pytest.approx(2 / math.sqrt(2 * 2.5))
    assert readings.sign("Y9", "X2") == "−"
    assert readings.effect("X5", "rtt_mean_s") is None


def test_what_can_be_told_is_not_read() -> None:
    """Y2 is what the slide on the number of sources transmitting is about: the same six parameters, and no other row."""
    assert [number for number, marks in document.effects().items() if set(marks) == set(document.SIX)] == ["Y2"]
    assert Readings(_effects({}, {})).response("Y2", "X1") == ("sources_transmitting", 1.0)


def test_readings_that_say_different_things_are_disputed() -> None:
    """Without X7 Y3 is a window, whose other effects are right, and without X5 a rate of completions for that reason."""
    turned = {"+": "−", "−": "+"}
    marks = {name: sign for name, (sign, _) in document.effects()["Y3"].items()}
    window, rate = (marks | {name: turned[marks[name]]} for name in ("X7", "X5"))
    readings = Readings(_effects({"cwnd_mean_packets": window, "completion_rate": rate}, {}))
    assert readings.response("Y3", "X7")[0] == "cwnd_mean_packets"
    assert readings.response("Y3", "X5")[0] == "completion_rate"
    assert "cwnd_mean_packets" in readings.disputed("Y3", "X7")
    assert "completion_rate" in readings.disputed("Y3", "X5")
    assert not readings.disputed("Y3", "X1")


def test_the_level_of_a_parameter_is_told_by_the_other_responses() -> None:
    marks = document.effects()
    ours = {"packets_leaving": {name: sign for name, (sign, _) in marks["Y12"].items() if name not in document.UNKNOWN}}
    turned = {"+": "−", "−": "+"}
    same = {"first_pps": "+", "second_pps": "+", "third_pps": "+"}
    for level, long_lived in ((1, same), (-1, {name: turned[sign] for name, sign in same.items()})):
        readings = Readings(_effects(ours, long_lived))
        # Y13 and Y14 have + of X4: what they say here is not asked of themselves.
        assert readings.orientation("X4", "Y12") == level
        assert readings.sign("Y14", "X4") == "+"
    one = Readings(_effects(ours, {}))
    assert (one.orientation("X4", "Y14"), one.sign("Y14", "X4")) == (0, "")


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


def test_places_by_ranks_that_are_alike_decide_nothing() -> None:
    def open_(values: list[list[float]]) -> str:
        rows = [
            (str(cell), name, value) for cell, row in enumerate(values) for name, value in zip("abc", row, strict=True)
        ]
        table = pl.DataFrame(rows, schema=["condition", "algorithm", "value"], orient="row")
        table = table.with_columns(response=pl.lit("file"))
        return mixed._alike(ranks(table, condition="condition", algorithm="algorithm"), "what they get")

    assert not open_([[1.0, 2.0, 3.0]] * 8)
    assert "cannot be told apart" in open_([[1.0, 2.0, 3.0], [3.0, 1.0, 2.0], [2.0, 3.0, 1.0]])


def test_medians_have_an_interval_by_the_sign_test() -> None:
    found = of_ratios("loss", np.array([1.2, 0.9, 1.4, 1.1, 1.3, 1.6]))
    # Six of six on one side happen in 2 of 64 cases.
    assert (found["loss.low"], found["loss.high"], found["loss.ratio"]) == (0.9, 1.6, pytest.approx(1.25))
    few = of_ratios("loss", np.array([1.2, 1.4, 1.1, 1.3, 1.6]))
    assert (few["loss.low"], few["loss.high"]) == (0.0, np.inf)


@pytest.mark.parametrize(
    ("ratios", "open_claims"),
    [
        ([1.2, 1.3, 1.4, 1.1, 1.3, 1.6], ["alike"]),
        ([1.2, 1.3, 1.4, 1.15, 1.3, 1.6], []),
        # An effect that may be there and is small is not contradicted.
        ([0.95, 1.0, 1.01, 1.02, 1.03, 1.05], ["side"]),
        ([0.95, 0.96, 0.97, 0.98, 0.98, 0.99], []),
        ([0.7, 0.8, 0.8, 0.8, 0.8, 0.95], ["alike"]),
        ([0.7, 1.0, 1.0, 1.0, 1.0, 1.3], ["side", "alike"]),
        ([1.2, 1.4, 1.1], ["side", "alike"]),
        ([], ["side", "alike"]),
    ],
)
def test_what_an_interval_leaves_open(ratios: list[float], open_claims: list[str]) -> None:
    found = of_ratios("loss", np.array(ratios))
    assert [claim for claim in ("side", "alike") if found[f"loss.open_{claim}"]] == open_claims


def test_runs_that_are_copies_of_each_other_are_one() -> None:
    """Where slow start ends below both thresholds, two settings are the same run."""
    rows = [
        {
            "delay": "20 ms",
            "arrives_s": arrives,
            "initial_ssthresh": threshold,
            "control": control,
            "goodput_bps": goodput,
        }
        for arrives, fast, same in ((20, 3.0, True), (23, 4.0, False))
        for threshold in ("100 packets", "unlimited")
        for control, goodput in (("reno", 2.0), ("fast", fast if same or threshold == "unlimited" else 8.0))
    ]
    assert sorted(one_link._over(pl.DataFrame(rows), "goodput_bps", "fast", ["reno"])) == [1.5, 2.0, 4.0]


def _judged(name: str, observed: dict[str, Any]) -> bool | None:
    """The verdict on a claim of the table with what was observed."""
    table = ClaimsTable.read(Path(sensitivity.__file__).parents[1] / "claims.toml")
    (text,) = (each for each in table.statements if each.id == name)
    return text.judged(observed).holds


@pytest.mark.parametrize(("low", "high", "holds"), [(0.5, 0.9, True), (0.8, 1.3, None), (2.1, 4.1, None)])
def test_what_can_happen_is_not_contradicted_where_it_does_not(low: float, high: float, *, holds: bool | None) -> None:
    found = {"ratio": (low + high) / 2, "low": low, "high": high, "conditions": 12}
    for claim, place in (("bic-below-standard", "bic.extreme"), ("htcp-below-others", "htcp.others")):
        observed = {f"increase.{place}.{name}": value for name, value in found.items()}
        assert _judged(f"increase.{claim}", observed) is holds


@pytest.mark.parametrize(("psi", "holds"), [(0.0, True), (0.05, None)])
def test_no_effect_is_the_documents_own_measure(psi: float, *, holds: bool | None) -> None:
    """Where levels are ours, what they move contradicts nothing; that losses could be moved by more is no effect."""
    found = {"psi": psi, "open": "Ours." if psi else "", "where": "loss", "responses": 18, "largest": 2.0, "surely": ""}
    observed = {f"sensitivity.without-effect.X8.{name}": value for name, value in found.items()}
    assert _judged("sensitivity.without-effect.X8", observed) is holds


def test_an_effect_that_the_joint_model_alone_sees_has_no_verdict() -> None:
    """It sees the crowd before there is one, by products of three parameters; Lenth's test hardly does."""
    effects = sensitivity.Sensitivity(stored(heavier("sensitivity")[0]), {}).effects
    crowd = effects.filter(pl.col("factor") == "crowd", pl.col("row") == "before").to_dicts()
    by_model = [own for own in crowd if own["p_joint"] < document.STRONG]
    by_both = [own for own in crowd if sensitivity._seen(own)]
    assert len(by_model) > len(crowd) / 3
    assert len(by_both) < len(crowd) / 5
    assert all(sensitivity._unseen(own) for own in by_model if own not in by_both)


def test_the_documents_seven_controls() -> None:
    """Its slides on what sets controls apart have no FAST-AT, beside which FAST would not be alone."""
    one = homogeneous.Homogeneous(stored(heavier("1b")[0]))
    assert set(one.of_seven["algorithm"]) == set(one.table["algorithm"]) - {"fast-at"}
    assert {tree.apart for tree in one.dendrograms} <= {None, *one.of_seven["algorithm"]}
    assert "fast-at" not in set(one.components.scores["algorithm"])
    assert one.components.responses == tuple(homogeneous.THROUGHPUTS)


def test_origins_and_places() -> None:
    """What the document does not say is not its claim, and what it says has the slide that says so."""
    table = ClaimsTable.read(Path(sensitivity.__file__).parents[1] / "claims.toml")
    known = {each.id: each for each in table.statements}
    ours = {"window.gain-grows", "2b.only-uncongested", "1b.bic.recovers"}
    assert {known[name].origin for name in ours} == {"ours"}
    assert known["oscillation.boundary"].origin == "theory"
    # With a high initial threshold it has no gain.
    assert not {"2a.gain.service-pack", "2c.gain.movie"} & known.keys()
    places = {
        "1b.conditions-separate": "3 primary principal components plots", "2a.movies-first": "5 biplots",
        "2b.movies-first": "6 colored bar graphs", "2b.compound-ranks-high": "7 rank analyses",
    }  # fmt: skip
    assert {name: known[name].source.partition(", slides, ")[2] for name in places} == places


def test_what_a_window_keeps_is_told_at_losses_only() -> None:
    """A delay makes it smaller, too; a loss sets the threshold; the first of them ends slow start."""
    window = np.array([8.0, 16, 4, 6, 8, 10, 7, 7, 8, 10, 5, 5.5, 6, 7, 8, 9, 10])
    threshold = np.array([np.inf, np.inf, *[8.0] * 8, *[5.0] * 7])
    assert one_link.kept_after_losses(window, threshold, 2) == 0.5
    # A threshold that goes with a window that shrinks is no loss.
    shrinks = np.array([10.0, 9.9, 9.8, 9.7, 9.6, 9.5, 9.4, 9.3])
    assert math.isnan(one_link.kept_after_losses(shrinks, shrinks, 2))
    assert math.isnan(one_link.kept_after_losses(window[:6], threshold[:6], 2))


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


def test_what_smaller_runs_make_of_effects() -> None:
    found = sensitivity.Sensitivity(stored(heavier("sensitivity")[0]), {})
    assert found.beside_smaller is None
    turned = sensitivity.Sensitivity(found.found, {})
    of_speed = pl.col("factor") == "network_speed"
    other = pl.when(of_speed).then(pl.col("sign").replace({"+": "−", "−": "+"})).otherwise("sign")
    turned.__dict__["effects"] = found.effects.with_columns(sign=other)
    same, differ = (replace(found, smaller=each).beside_smaller for each in (found, turned))
    assert same is not None
    assert differ is not None
    assert sum(same["effects"].to_list()) > 100
    assert same["same_sign"].equals(same["effects"])
    assert same["seen"].equals(same["effects"])
    speed = found.effects.filter(of_speed, pl.col("row") == "congestion", pl.col("p_joint") < document.STRONG)
    assert sum(same["seen"].to_list()) - sum(differ["seen"].to_list()) == speed.height
