"""Two runs side by side: what is paired, what is listed, how well they agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import tightlink as tl
from compared import BASE, measurement
from tightlink.analysis.compare.comparison import compare
from tightlink.analysis.path import residuals
from tightlink.reduce import jain
from tightlink.report import run_report
from tightlink.report.side_by_side import write_comparison
from tightlink.run import CAPTURE, Framed, Run

if TYPE_CHECKING:
    from pathlib import Path


def test_a_run_agrees_with_itself(four_flows: Run) -> None:
    found = compare(four_flows, four_flows)
    assert found.titles == ("first", "second")
    assert set(found.values["change"]) == {0.0}
    assert set(found.summary["verdict"]) == {"same"}
    assert found.alone.is_empty()
    assert found.differences.is_empty()
    # How well a simulation predicts a measurement is nothing that two simulations have.
    assert found.agreements == {}
    goodput = compare(measurement(four_flows.flows), four_flows).agreements["flows.goodput_bps"]
    assert (goodput.points, goodput.slope, goodput.within) == (4, 1.0, 1.0)
    assert goodput.origin is not None
    assert goodput.origin.value == 1.0


def test_changes_are_relative_to_the_first(four_flows: Run) -> None:
    observed = measurement(four_flows.flows.with_columns(pl.col("goodput_bps") * 1.25, timeouts=pl.lit(0, pl.Int64)))
    found = compare(observed, four_flows)
    assert found.titles == ("measured", "simulated")
    rows = found.values.filter((pl.col("table") == "flows") & (pl.col("metric") == "goodput_bps"))
    # The simulation has a fifth less.
    assert rows["change"].to_list() == pytest.approx([-0.2] * 4)
    assert found.agreements["flows.goodput_bps"].within == 0
    # Nothing measured and something simulated: no change, but the values are there.
    timeouts = found.values.filter((pl.col("table") == "flows") & (pl.col("metric") == "timeouts"))
    for _, _, _, before, after, change in timeouts.rows():
        assert change == (0.0 if before == after else None)
    # What was measured has no links, no nodes and no scenario.
    assert set(found.alone["table"]) == {"links", "nodes", "series"}
    assert set(found.alone["side"]) == {"second"}
    assert found.differences.is_empty()


def test_what_one_side_does_not_know_is_listed(four_flows: Run) -> None:
    flows = four_flows.flows.with_columns(one_way_delay_mean_s=pl.lit(None, pl.Float64)).filter(
        pl.col("label") != "ftp[3]"
    )
    extra = flows.head(1).with_columns(label=pl.lit("other"))
    found = compare(measurement(pl.concat([flows, extra])), four_flows)
    alone = found.alone.filter(pl.col("table") == "flows")
    lost = alone.filter((pl.col("metric") == "one_way_delay_mean_s") & (pl.col("side") == "second"))
    assert lost["entity"].to_list() == [f"ftp[{place}]" for place in range(4)]
    assert set(alone.filter(pl.col("side") == "first")["entity"]) == {"other"}
    of_last = alone.filter((pl.col("entity") == "ftp[3]") & (pl.col("metric") == "goodput_bps"))
    assert of_last["value"].to_list() == four_flows.flows["goodput_bps"].to_list()[3:]
    both = set(found.values.filter(pl.col("table") == "flows")["entity"])
    assert both == {"ftp[0]", "ftp[1]", "ftp[2]"}


def test_flows_of_one_name_are_paired_in_order(four_flows: Run) -> None:
    twice = four_flows.flows.head(2).with_columns(label=pl.lit("10.0.0.1:61000-10.0.0.2:5201"))
    found = compare(measurement(twice), measurement(twice))
    goodput = found.of("flows", "goodput_bps")
    assert goodput["entity"].to_list() == [twice["label"][0], f"{twice['label'][0]} #2"]
    assert goodput["first"].to_list() == twice["goodput_bps"].to_list()


def test_names_that_differ_are_paired_by_hand(four_flows: Run) -> None:
    label = "10.0.0.1:61000-10.0.0.2:5201"
    captured = measurement(four_flows.flows.head(1).with_columns(label=pl.lit(label)))
    assert compare(captured, four_flows).nothing()
    found = compare(captured, four_flows, pairs={label: "ftp[0]"})
    assert found.of("flows", "goodput_bps").rows() == [
        ("ftp[0]", *four_flows.flows["goodput_bps"].to_list()[:1] * 2, 0.0)
    ]
    with pytest.raises(tl.TightlinkError, match=r"10.0.0.9 is nothing of the first, which has 10.0.0.1:61000"):
        compare(captured, four_flows, pairs={"10.0.0.9": "ftp[0]"})
    with pytest.raises(tl.TightlinkError, match="ftp is nothing of the second"):
        compare(captured, four_flows, pairs={label: "ftp"})
    with pytest.raises(tl.TightlinkError, match=r"the first has ftp\[1\], too"):
        compare(four_flows, four_flows, pairs={"ftp[0]": "ftp[1]"})


def test_captures_are_paired_by_services(four_flows: Run) -> None:
    """Clients take other ports; the first connection, which controls the others, carries next to nothing."""

    def captured(client: int, control: int) -> Run:
        labels = [f"10.0.0.1:{client + place}-10.0.0.2:5201" for place in (3, 1, 2)]
        flows = four_flows.flows.head(3).with_columns(
            label=pl.Series(labels), start_s=pl.Series([0.0, 0.2, 0.1]), bytes_sent=pl.Series([control, 10**6, 10**6])
        )
        series = pl.DataFrame({"time_s": [1.0], "entity": labels[:1], "metric": ["rtt_s"], "value": [0.1]})
        manifest = {"source": CAPTURE, "identity": "x", "warnings": []}
        return Run(None, manifest, Framed({"flows": flows, "series": series}))

    found = compare(captured(40_000, 700), captured(50_000, 700))
    names = [f"10.0.0.1:*-10.0.0.2:5201{number}" for number in ("", " #2", " #3")]
    assert found.of("flows", "start_s").select("entity", "first", "second").rows() == [
        (names[0], 0.0, 0.0), (names[2], 0.2, 0.2), (names[1], 0.1, 0.1)
    ]  # fmt: skip
    assert found.alone.is_empty()
    assert found.values.filter(table="series")["entity"].to_list() == names[:1]
    control = four_flows.flows["goodput_bps"].head(3)
    fair = found.summary.filter(metric="jain").row(0, named=True)["first"]
    assert fair == pytest.approx(jain(control[1:].to_list()))
    by_hand = {"10.0.0.1:40003-10.0.0.2:5201": "10.0.0.1:50001-10.0.0.2:5201"}
    kept = compare(captured(40_000, 700), captured(50_000, 700), pairs=by_hand).of("flows", "start_s")
    assert kept.select("entity", "first", "second").rows()[0] == ("10.0.0.1:50001-10.0.0.2:5201", 0.0, 0.2)


def test_series_are_compared_over_the_time_that_both_have(four_flows: Run) -> None:
    late = pl.DataFrame(
        {
            "time_s": [2.0, 2.5, 3.5],
            "entity": ["wire"] * 3,
            "metric": ["queue_packets"] * 3,
            "value": [4.0, 6.0, 100.0],
        }
    )
    found = compare(measurement(four_flows.flows, series=late), four_flows)
    row = found.values.filter((pl.col("table") == "series") & (pl.col("entity") == "wire")).row(0, named=True)
    queue = four_flows.series.filter((pl.col("entity") == "wire") & (pl.col("metric") == "queue_packets"))
    assert row["first"] == 5.0
    assert row["second"] == queue.filter(pl.col("time_s") >= 2)["value"].mean()
    assert found.series.filter(pl.col("side") == "first")["time_s"].to_list() == [2.0, 2.5]
    assert set(found.series["entity"]) == {"wire"}


def test_agreement_of_any_columns() -> None:
    rng = np.random.default_rng(3)
    s = rng.uniform(1, 10, 40)
    frame = pl.DataFrame({"o": 2 * s * rng.uniform(0.95, 1.05, 40), "s": s})
    found = residuals.agreement(frame, ("o", "s"))
    assert found.slope == pytest.approx(2, abs=0.05)
    assert found.origin is not None
    assert found.origin.value > 0.98
    assert found.within == 0
    halved = residuals.agreement(frame.with_columns(pl.col("s") * 2), ("o", "s"))
    assert (halved.within, halved.origin) == (1.0, found.origin)


def test_wrong_folders(four_flows: Run, tmp_path: Path) -> None:
    with pytest.raises(tl.TightlinkError, match=r"none: there is no such folder; expected the folder of a run"):
        compare(tmp_path / "none", four_flows)
    with pytest.raises(tl.TightlinkError, match="nothing to compare is there"):
        compare(tmp_path, four_flows)
    (tmp_path / "file").touch()
    with pytest.raises(tl.TightlinkError, match="file: it is a file; expected the folder of a run"):
        compare(tmp_path / "file", four_flows)
    for name, command in (("home.toml", "run"), ("up.pcapng.gz", "capture")):
        (tmp_path / name).touch()
        for asks in (lambda place: compare(four_flows, place), run_report):
            with pytest.raises(tl.TightlinkError, match=rf"; tightlink {command} .*{name} -o DIR makes one$"):
                asks(tmp_path / name)
    with pytest.raises(tl.TightlinkError, match="by label: two runs are paired by the names"):
        compare(four_flows, four_flows, by=["label"])


def test_nothing_in_common_is_said(four_flows: Run) -> None:
    captured = Run(
        None,
        {"source": CAPTURE, "identity": "x", "warnings": ["the file ends early"]},
        Framed({"flows": four_flows.flows.with_columns(label=pl.lit("10.0.0.1:61000-10.0.0.2:5201")).head(1)}),
    )
    found = compare(captured, four_flows)
    assert found.nothing()
    assert found.warnings == ("first: the file ends early", "the two have no flow, link or node in common")
    # The other way round, changes are relative to the simulation.
    assert "changes are relative to the first" in compare(four_flows, captured).warnings[1]


def test_a_captured_flow_that_lasts_longer_is_said(four_flows: Run) -> None:
    longer = four_flows.flows.with_columns(stop_s=pl.col("start_s") + 1.2 * (pl.col("stop_s") - pl.col("start_s")))
    captured = Run(None, {"source": "capture", "warnings": []}, Framed({"flows": longer, "links": four_flows.links}))
    said = compare(captured, four_flows).warnings
    assert any(text.endswith("compare its rates and shares, not its numbers of packets") for text in said)
    same = Run(
        None, {"source": "capture", "warnings": []}, Framed({"flows": four_flows.flows, "links": four_flows.links})
    )
    assert compare(same, four_flows).warnings == ()


def test_a_measurement_has_how_near_the_simulation_comes(four_flows: Run, tmp_path: Path) -> None:
    measured = measurement(four_flows.flows.with_columns(pl.col("goodput_bps") * 1.25))
    found = compare(measured, four_flows)
    assert ">Agreement<" in write_comparison(found, tmp_path, ("lab", "model")).read_text()
    again = compare(four_flows, tl.simulate(tl.loads(BASE), seed=2))
    assert ">Agreement<" not in write_comparison(again, tmp_path, ("before", "after")).read_text()


def test_nearly_equal_values_have_no_line(four_flows: Run) -> None:
    first, second = (
        measurement(four_flows.flows.with_columns(packets_sent=pl.Series(sent), one_way_delay_max_s=pl.Series(delays)))
        for sent, delays in (([100, 101, 102, 101], [0.1, 0.2, 0.3, 0.2]), ([102, 101, 100, 101], [0.3, 0.2, 0.1, 0.2]))
    )
    simulated = tl.Run(four_flows.scenario, four_flows.manifest, Framed({"flows": second.flows}))
    found = compare(first, simulated).agreements
    assert (found["flows.packets_sent"].origin, found["flows.packets_sent"].free) == (None, None)
    assert (found["flows.packets_sent"].points, found["flows.packets_sent"].within) == (4, 1.0)
    assert found["flows.one_way_delay_max_s"].origin is not None
    assert found["flows.one_way_delay_max_s"].origin.value < 0
