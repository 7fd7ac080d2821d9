"""The study of bulk transfers: ns-2's counts to the packet, claims, report; reduced to a part of its grids."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import tightlink as tl
from programs import need
from tightlink.analysis.path.bulk_path import BulkPath
from tightlink.analysis.path.cells import cell, table
from tightlink.reduce import mean_of
from tightlink.studies.bulk_throughput import STUDY
from tightlink.studies.bulk_throughput.observe import alternatives, cross_traffic, grids, linux, residuals
from tightlink.studies.bulk_throughput.report import _of_observations
from tightlink.studies.bulk_throughput.report.grids import _shown, of_grids
from tightlink.studies.bulk_throughput.setup import paths
from tightlink.studies.bulk_throughput.setup.cross_traffic import observations
from tightlink.studies.bulk_throughput.setup.linux import cells as linux_cells
from tightlink.studies.bulk_throughput.setup.paths import ALTERNATIVES, DEFAULTS, Alternative
from tightlink.studies.bulk_throughput.setup.unknowns import UNKNOWNS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from tightlink.experiment.claims import Claim
    from tightlink.experiment.execute import Task
    from tightlink.run import Run

#: Of bulk.tcl, for each alternative.
OPTIONS = {
    "defaults": ["window", "Agent/TCPSink"],
    "threshold-20": ["20", "Agent/TCPSink"],
    "delayed-acks": ["window", "Agent/TCPSink/DelAck"],
    "threshold-20-delayed-acks": ["20", "Agent/TCPSink/DelAck"],
}
BULK_TCL = Path(__file__).parent / "data" / "ns2" / "bulk.tcl"


class Runs(dict[str, tl.Run]):
    """Runs that are simulated when somebody asks for them."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        super().__init__()
        self._tasks = {task.name: task for task in tasks}

    def __missing__(self, name: str) -> tl.Run:
        self[name] = tl.simulate(self._tasks[name].scenario)
        return self[name]


@pytest.fixture(scope="module")
def tasks() -> list[Task]:
    return STUDY.all_tasks()


@pytest.fixture(scope="module")
def runs(tasks: list[Task]) -> Mapping[str, Run]:
    return Runs(tasks)


@pytest.fixture(scope="module")
def grid(runs: Mapping[str, Run]) -> pl.DataFrame:
    return grids.cells(runs, "daresbury", paths.DARESBURY.cells, paths.DARESBURY.path)


def test_every_task_has_its_own_name_that_says_what_it_belongs_to(tasks: list[Task]) -> None:
    names = [task.name for task in tasks]
    assert len(set(names)) == len(names)
    assert all("/" in name for name in names)
    assert sum(len(place.cells) for place in paths.PATHS) == 760


@pytest.mark.parametrize("place", residuals.COMPARED, ids=lambda place: place.name)
def test_cells_without_loss_are_ns2s_to_the_packet(place: paths.Place, runs: Mapping[str, Run]) -> None:
    """A row of each path's grid, of those in which nothing is lost."""
    theirs = residuals.grid(place).filter((pl.col("bottleneck_drops") == 0) & (pl.col("flows").is_in([1, 4, 10])))
    assert theirs.height >= 6
    for row in theirs.iter_rows(named=True):
        run = runs[DEFAULTS.task(f"{place.name}/{row['window_packets']}/{row['flows']}")]
        link = run.links.row(0, named=True)
        ours = (
            run.flows["packets_sent"].sum(),
            link["packets_in"],
            link["packets_dropped"],
            grids.acked_packets(run, place.path),
        )
        assert ours == (row["packets_sent"], row["bottleneck_arrivals"], row["bottleneck_drops"], row["packets_acked"])


def ns2(place: paths.Place, window: int, flows: int, *options: str) -> str:
    """What ns-2 counts of a cell."""
    need("ns")
    path = place.path
    numbers = [path.bandwidth_bps / 1e6, path.rtt_s * 1e3, path.factor, window, flows]
    command = ["ns", str(BULK_TCL), *(f"{number:g}" for number in numbers), *options]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize(("under", "options"), [(each, OPTIONS[each.name]) for each in ALTERNATIVES])
@pytest.mark.parametrize(("window", "flows"), [(175, 1), (44, 2), (11, 15)])
def test_alternatives_are_ns2s_to_the_packet(
    under: Alternative, options: list[str], window: int, flows: int, runs: Mapping[str, Run]
) -> None:
    """A window that is set by an event at time 0 leaves the threshold at 20 packets; DelAck delays ACKs."""
    run = runs[under.task(f"daresbury/{window}/{flows}")]
    link = run.links.row(0, named=True)
    sent, arrivals, drops, _ = map(int, ns2(paths.DARESBURY, window, flows, *options).split(","))
    assert drops == 0
    assert (run.flows["packets_sent"].sum(), link["packets_dropped"]) == (sent, drops)
    # At the last instant a packet is there in one and not yet in the other.
    assert abs(link["packets_in"] - arrivals) <= 1


@pytest.mark.parametrize("name", ["daresbury,6,40", "caltech,88,10", "lbnl,700,7"])
def test_the_stored_counts_are_those_of_ns2(name: str) -> None:
    place_name, window, flows = name.split(",")
    place = next(place for place in paths.PATHS if place.name == place_name)
    counted = ns2(place, int(window), int(flows))
    columns = ("packets_sent", "bottleneck_arrivals", "bottleneck_drops", "packets_acked")
    stored = residuals.grid(place).filter((pl.col("window_packets") == int(window)) & (pl.col("flows") == int(flows)))
    assert counted == ",".join(str(value) for value in stored.select(columns).row(0))


def test_every_statement_of_the_document_that_needs_a_simulation_is_judged() -> None:
    statements = [each for each in STUDY.table().statements if each.origin == "document"]
    assert [each.id for each in statements if not each.observed] == ["summary.small-windows"]


def test_daresburys_claims(grid: pl.DataFrame) -> None:
    found = alternatives.judged(grids.daresbury_values(grid))
    assert {name: claim.holds for name, claim in found.items()} == {
        "daresbury.seventy-without-loss": True,
        "daresbury.four-needed": True,
        # Four flows are above 70 %, as the document says beside this.
        "daresbury.seventy-at-most": None,
        "daresbury.ninety-without-loss": True,
        "daresbury.optimum": True,
        "daresbury.maxima": True,
        "daresbury.flat-beyond": True,
        # Where windows never limit none alone is the best.
        "daresbury.best-window": None,
        "daresbury.smaller-windows": True,
    }
    assert found["daresbury.seventy-at-most"].observed == pytest.approx(74.5, abs=0.1)


def test_two_flows_with_ns2s_defaults_need_no_two_more(runs: Mapping[str, Run]) -> None:
    few = [(window, flows) for window, flows in paths.DARESBURY.cells if flows in {1, 2, 4, 40}]
    plain = grids.cells(runs, DEFAULTS.task("daresbury"), few, paths.DARESBURY.path)
    found = alternatives.judged({f"daresbury.{key}": value for key, value in grids.without_losses(plain).items()})
    assert {name: claim.holds for name, claim in found.items()} == {
        "daresbury.seventy-without-loss": False,
        "daresbury.four-needed": False,
        "daresbury.seventy-at-most": False,
    }


def test_the_criterion_charges_for_misses_and_for_settings() -> None:
    def aic(misses: dict[str, float], under: Alternative) -> float:
        return alternatives.Missed(misses=misses, changed=under.changed).aic

    missed, plain, both = {"a": 0.2, "b": 0.0}, DEFAULTS, ALTERNATIVES[-1]
    assert aic(missed, both) == pytest.approx(aic(missed, plain) + 4)
    assert aic({"a": 0.1, "b": 0.0}, plain) < aic(missed, plain)


def test_the_window_of_the_bdp_may_be_as_good_as_smaller_ones() -> None:
    line = pl.DataFrame({
        "flows": [1] * 3, "window_packets": [88, 175, 350], "goodput_bps": [5e6, 5e6, 4e6],
        "packets_sent": [10, 10, 12], "packets_dropped": [0, 0, 2],
    })  # fmt: skip
    assert grids.is_best(line, 175)
    assert grids.equal_to_best(line) == [88, 175]
    assert not grids.is_best(line, 175, alone=True)
    assert grids.short_of_best(line, 350) == pytest.approx(0.25)
    # Within what the document calls equal none is the best alone; beyond, one is.
    near, far = (line.with_columns(pl.Series("goodput_bps", [4e6, 5e6, 5e6 / more])) for more in (1.009, 1.011))
    assert (grids.equal_to_best(near), grids.is_best(far, 175, alone=True)) == ([175, 350], True)
    # The window that never limits is one point with the best.
    assert grids.beyond_best(line)["window_packets"].to_list() == [350]


def test_tahoe_and_sack_differ_where_something_is_lost_and_only_there(runs: Mapping[str, Run]) -> None:
    place = paths.IN2P3[1]
    for window, flows, lost in ((44, 4, False), (11, 20, False), (175, 4, True), (88, 10, True)):
        names = [DEFAULTS.task(f"{recovery}/{place.name}/{window}/{flows}") for recovery in ("tahoe", "sack")]
        both = [cell(runs[name], place.path) for name in names]
        assert (both[0]["packets_dropped"] > 0) is lost
        assert (both[0]["goodput_bps"] == both[1]["goodput_bps"]) is not lost


def test_a_ping_sees_the_queue_otherwise_than_tcp(runs: Mapping[str, Run]) -> None:
    lost = {}
    for queue in ("ping", "ping-bytes"):
        run = runs[f"{queue}/700/40"]
        sent = run.flows.filter(pl.col("label").str.starts_with("ping"))
        assert sent["packets_sent"].sum() == 200
        lost[queue] = int(sent["packets_dropped"].sum()) / 200, cell(run, paths.CALTECH.path)["loss"]
    assert lost["ping"][0] > lost["ping"][1] > 0.03
    assert lost["ping-bytes"][0] == 0
    assert lost["ping-bytes"][1] == pytest.approx(lost["ping"][1], rel=0.1)


def test_cross_traffic_takes_its_share_and_widens_the_interval() -> None:
    path = BulkPath(10e6, 0.162, cross=0.3, duration_s=60.0)
    run = tl.simulate(path.scenario(6, 1))
    cross = run.flows.filter(pl.col("label").str.starts_with("cross"))
    assert float(cross["throughput_bps"].sum()) / path.bandwidth_bps == pytest.approx(0.3, rel=0.25)
    rows = pl.DataFrame({
        "setting": ["a"] * 6, "share": [0.0] * 3 + [0.4] * 3, "goodput_bps": [5e6] * 3 + [2e6, 3e6, 5e6], "weight": [5, 2, 5] * 2,
    })  # fmt: skip
    assert cross_traffic.intervals(rows)["width"].to_list() == pytest.approx([0, 3 / 3.4167], rel=1e-3)


def test_what_was_measured_and_never_published_stays_open() -> None:
    found = [each.judged({}) for each in STUDY.table().statements if not each.observed]
    assert [claim.id for claim in found] == ["summary.small-windows"]
    assert all(claim.holds is None and claim.reason for claim in found)


def summarized(goodput_bps: Callable[[paths.Place, int, int], float]) -> dict[str, Claim]:
    """The statements of the summary, with 1, 7 and 40 flows."""

    def grid(place: paths.Place) -> pl.DataFrame:
        cells = [(n, window, goodput_bps(place, n, window)) for n in (1, 7, 40) for window in paths.WINDOWS]
        frame = pl.DataFrame(cells, schema=["flows", "window_packets", "goodput_bps"], orient="row")
        return frame.with_columns(goodput_share=pl.lit(0.9))

    return alternatives.judged(grids._summary({place.name: grid(place) for place in paths.PATHS}))


def test_a_maximum_that_fewer_than_seven_flows_reach_too_is_open() -> None:
    def judged(few_bps: float) -> bool | None:
        return summarized(lambda _, flows, __: few_bps if flows < 7 else 9e6)["summary.seven-flows"].holds

    assert [judged(8e6), judged(8.95e6), judged(9e6), judged(9.05e6), judged(9.1e6)] == [True, None, None, None, False]


def test_the_window_of_the_bdp_is_told_from_others_by_more_than_one_percent() -> None:
    def judged(name: str, others: float, *flows: int, places: Sequence[paths.Place] = paths.SUMMARY) -> bool | None:
        """What the statement is where other windows carry so much, with these numbers of flows on these paths."""

        def goodput_bps(place: paths.Place, own: int, window: int) -> float:
            of_others = window != grids.nearest_window(place.bdp_packets) and own in flows and place in places
            return 9e6 * (others if of_others else 1)

        return summarized(goodput_bps)[name].holds

    few = [judged("summary.bdp", others, 1) for others in (0.98, 0.995, 1, 1.007, 1.02)]
    assert few == [True, None, None, None, False]
    # The path to Caltech is that of the summary's table, with 10 ms.
    assert judged("summary.bdp", 1.05, 1, places=[paths.CALTECH]) is None
    many = [judged("summary.bdp-many", others, 7, 40) for others in (0.98, 0.995, 1, 1.005, 1.02)]
    assert many == [False, None, None, None, True]
    # From which number of flows on, and on which paths, the document does not say.
    assert judged("summary.bdp-many", 1.02, 40) is True
    assert judged("summary.bdp-many", 1.02, 7) is None
    assert judged("summary.bdp-many", 1.02, 40, places=paths.SUMMARY[:2]) is None


def test_identical_is_open_between_equal_and_what_the_document_tells_apart() -> None:
    def judged(difference: float) -> Claim:
        cells = {"equal": [True, difference == 0], "difference": [0.0, difference], "lossless": [True, False]}
        values = {"recoveries": {"lbnl.sack-newreno": pl.DataFrame(cells)}}
        return alternatives.judged(values)["lbnl.sack-newreno"]

    assert [judged(off).holds for off in (0.0, 1e-4, 0.02)] == [True, None, False]
    assert "1 of 2 cells differ, 1 in goodput, by 0.01 % at most" in judged(1e-4).reason


def test_maxima_are_passed_by_windows_and_by_flows() -> None:
    """16 kB carry less and lose no more beyond 4 flows, which windows along a number of flows do not show."""
    cells = [(1, 6, 10.0, 0), (4, 6, 30.0, 0), (7, 6, 40.0, 0), (1, 11, 20.0, 0), (4, 11, 50.0, 1), (7, 11, 45.0, 1)]
    grid = pl.DataFrame(cells, schema=["flows", "window_packets", "goodput_bps", "packets_dropped"], orient="row")
    grid = grid.with_columns(packets_sent=pl.lit(10), loss=pl.col("packets_dropped") / 10)
    found = grids.maxima(grid)
    assert (found["lines"], found["lines_losing_more"], found["decrease_most_at"]) == (1, 0, "16 kB")
    assert found["decrease_mean"] == pytest.approx(0.1)


def test_best_windows_are_those_of_the_numbers_of_flows_that_are_plotted(grid: pl.DataFrame) -> None:
    """With 12 flows, which are in the document's other list, the best window is larger than with 10."""
    more, ranks = grids.best_windows(grid), grids.daresbury_values(grid)["daresbury.best_windows_ranks"]
    assert 12 not in grids.PLOTTED
    assert more[12] > more[10]
    assert ranks == grids.daresbury_values(grids.plotted(grid))["daresbury.best_windows_ranks"]


def test_the_criterion_measures_figures_as_their_claims_do() -> None:
    cells = [(flows, window) for flows in (1, 4, 7, 25, 40) for window in paths.WINDOWS]
    grid = pl.DataFrame(cells, schema=["flows", "window_packets"], orient="row").with_columns(
        goodput_bps=9e6 + pl.col("flows") * 1e3 - (pl.col("window_packets") == 700) * 1e3, goodput_share=pl.lit(0.9),
        packets_sent=pl.lit(10), packets_dropped=(pl.col("window_packets") == 700).cast(int),
    ).with_columns(loss=pl.col("packets_dropped") / 10)  # fmt: skip
    differences = {each.name: pl.DataFrame({"difference": [0.0, -0.02]}) for each in paths.COMPARED}
    values = {
        "daresbury.optimum_share": 0.9, "daresbury.lossless_share_most_below_4": 0.6, "daresbury.decrease_mean": 0.05,
        "daresbury.decrease_most": 0.3, "daresbury.share_most_to_4": 0.75, "daresbury.best_windows_rise": 0.0,
        "in2p3.factor-1-2.mean_change": 0.12, "lbnl.window_effect": 0.4, "lbnl.window_effect_mean": 0.03,
    }  # fmt: skip
    found = alternatives.misses({place.name: grid for place in paths.WEIGHED}, differences, values)
    missed = {figure: round(miss, 6) for figure, miss in found.items() if miss > 1e-9}
    assert missed == {
        "at most 70 % with 4 flows or fewer": 0.05,
        "IN2P3: not sensitive to the factor": 0.02,
        "IN2P3: Tahoe and SACK identical": 0.02,
        "LBNL: SACK and NewReno identical": 0.02,
    }


def test_one_sentence_of_the_document_is_one_claim_of_it() -> None:
    """It ran bottleneck factors 1 and 2, at IN2P3."""
    origins = {each.id: each.origin for each in STUDY.table().statements}
    factors = ("in2p3.factor-1-2", "in2p3.factor-2-3", "sweep.factor")
    assert [origins[name] for name in factors] == ["document", "ours", "ours"]


def test_little_is_said_of_a_whole_plot() -> None:
    """One rule for all claims of little effect: the mean, below a tenth."""
    said = {each.id: each for each in STUDY.table().statements}
    little = ("daresbury.flat-beyond", "in2p3.factor-1-2", "in2p3.factor-2-3", "lbnl.window", "sweep.factor")
    assert {said[name].tolerance_from.rpartition(", ")[2] for name in little} == {"on average"}
    grid = pl.DataFrame({"flows": [1, 1, 2, 2], "window_packets": [6, 11] * 2, "goodput_bps": [8.5, 10.0, 10.0, 10.0]})
    claims = alternatives.judged(grids.lbnl(grid))
    assert (claims["lbnl.window"].observed, claims["lbnl.window"].holds) == (7.5, True)


def test_lbnls_claims(runs: Mapping[str, Run]) -> None:
    lbnl = grids.cells(runs, "lbnl", [(w, n) for w in (6, 11, 175) for n in (1, 4)], paths.LBNL.path)
    found = {name: claim.holds for name, claim in alternatives.judged(grids.lbnl(lbnl)).items()}
    # Of one flow of two; with all 17 numbers of flows it is one of many.
    assert found == {"lbnl.window": False}


def test_measures_name_the_path_and_what_analyses_want(runs: Mapping[str, Run]) -> None:
    found = STUDY.measure(runs["in2p3-factor-3/44/4"])
    wanted = {
        "bandwidth_bps": 28e6,
        "rtt_s": 0.18,
        "factor": 3.0,
        "window_packets": 44,
        "flows": 4,
        "packet_bytes": 1500,
    }
    assert {name: found[name] for name in wanted} == wanted
    assert float(found["packets_per_s"]) * 12000 == pytest.approx(found["throughput_bps"])
    assert found["goodput_bps"] == pytest.approx(float(found["throughput_bps"]) * 1460 / 1500, rel=0.01)
    assert json.dumps(found)


def test_the_report_of_a_grid(grid: pl.DataFrame) -> None:
    names, blocks = of_grids(dict.fromkeys((place.name for place in paths.PATHS), grid))
    text = Path(paths.__file__).parents[1].joinpath("report.md").read_text("utf-8")
    shown = [place.name for place in (*paths.SITES, paths.CALTECH_10MS)]
    assert {f"grid.{name}" for name in shown} == {name for name in blocks if "." in name and f"[[{name}]]" in text}
    assert all(f"{{sites.{name}.finding}}" in text and "lose" in own["finding"] for name, own in names["sites"].items())
    kept = _shown(grid)
    assert kept["line"].unique(maintain_order=True).to_list()[:2] == ["1", "2"]
    assert table(grid.to_dicts())["limit"].to_list() == grid["limit"].to_list()


def test_unknown_traffic_costs_a_prediction_its_accuracy(runs: Mapping[str, Run]) -> None:
    found = cross_traffic.points(paths.LBNL, runs)
    assert found.height == 32
    # No flow gains by competing with others but by chance, and whoever fills the path loses their share.
    assert (found["residual"] < 0.05).all()
    full = found.filter(pl.col("window_packets") >= 88)
    assert mean_of(full["residual_bps"]) < -0.1 * paths.LBNL.path.bandwidth_bps
    # Hours and windows are in no step: small windows meet busy hours, too.
    moments = [each.path.cross for each in observations(paths.LBNL) if each.window <= 22]
    assert max(moments) > 0.3
    assert min(moments) < 0.1


def test_the_residuals_in_the_report(runs: Mapping[str, Run]) -> None:
    names, blocks = _of_observations({place.name: cross_traffic.points(place, runs) for place in paths.SITES})
    assert names["synthetic_r2"].count("(the document:") == 4
    assert [points for _, _, points, *_ in blocks["agreements"]] == [32, 8, 8, 8, 8] * 4


def test_what_was_measured_is_stored_with_where_and_how() -> None:
    measured = linux.stored()
    assert measured.select("path", "congestion", "window_packets", "flows").rows() == [
        (each.place.name, each.congestion, each.window, each.flows) for each in linux_cells()
    ]
    assert (measured["times"] >= 3).all()
    where = " ".join(linux.where())
    assert all(word in where for word in ("Linux ", "processors", "commit ", "--live"))


def test_linux_is_as_its_profile_has_it(runs: Mapping[str, Run]) -> None:
    some = linux.stored().filter((pl.col("path") == "lbnl") & (pl.col("congestion") == "reno"))
    assert (linux.beside(some, runs)["residual"].abs() < 0.1).all()


def test_more_bandwidth_than_predicted_is_underestimated(runs: Mapping[str, Run]) -> None:
    quiet, wide = (next(each for each in UNKNOWNS if (each.cross, each.bandwidth) == (0, more)) for more in (1, 1.5))
    known, other = residuals._explained(quiet, runs), residuals._explained(wide, runs)
    assert abs(known.figures["most_flows_median"]) < 0.05
    assert other.figures["most_flows_median"] > 0.25
    assert (quiet.names, wide.names) == ((), ("bandwidth",))
