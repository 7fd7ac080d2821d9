"""Two runs side by side: what is paired, what is listed, how well they agree."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import tightlink as tl
from tightlink import cli
from tightlink.analysis import residuals
from tightlink.analysis.comparison import compare
from tightlink.run import CAPTURE, MEASUREMENT, Framed, Run

if TYPE_CHECKING:
    from pathlib import Path

BASE = """
profile = "ns2"
duration = "3 s"
link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms", queue = "10 packets" }
traffic.ftp = { kind = "bulk", flows = 4, from = "a", to = "b", start = { first = "0 s", every = "100 ms" } }
observe.interval = "100 ms"
"""


@pytest.fixture(scope="module")
def base() -> Run:
    return tl.simulate(tl.loads(BASE))


def measurement(flows: pl.DataFrame, **tables: pl.DataFrame) -> Run:
    return Run(None, {"source": MEASUREMENT, "identity": "x", "warnings": []}, Framed({"flows": flows, **tables}))


def test_a_run_agrees_with_itself(base: Run) -> None:
    found = compare(base, base)
    assert found.titles == ("first", "second")
    assert set(found.values["residual"]) == {0.0}
    assert found.alone.is_empty()
    assert found.differences.is_empty()
    goodput = found.agreements["flows.goodput_bps"]
    assert (goodput.points, goodput.slope, goodput.within) == (4, 1.0, 1.0)
    assert goodput.origin is not None
    assert goodput.origin.value == 1.0


def test_residuals_are_relative_to_what_was_observed(base: Run) -> None:
    observed = measurement(base.flows.with_columns(pl.col("goodput_bps") * 1.25, timeouts=pl.lit(0, pl.Int64)))
    found = compare(observed, base)
    assert found.titles == ("observed", "simulated")
    rows = found.values.filter((pl.col("table") == "flows") & (pl.col("metric") == "goodput_bps"))
    # (o − s) / o of o = 1.25 s.
    assert rows["residual"].to_list() == pytest.approx([0.2] * 4)
    assert found.agreements["flows.goodput_bps"].within == 0
    # Nothing observed and something simulated: no residual, but the values are there.
    timeouts = found.values.filter((pl.col("table") == "flows") & (pl.col("metric") == "timeouts"))
    for _, _, _, o, s, residual in timeouts.rows():
        assert residual == (0.0 if o == s else None)
    # What was measured has no links, no nodes and no scenario.
    assert set(found.alone["table"]) == {"links", "nodes", "series"}
    assert set(found.alone["side"]) == {"simulated"}
    assert found.differences.is_empty()


def test_what_one_side_does_not_know_is_listed(base: Run) -> None:
    flows = base.flows.with_columns(latency_mean_s=pl.lit(None, pl.Float64)).filter(pl.col("label") != "ftp[3]")
    extra = flows.head(1).with_columns(label=pl.lit("other"))
    found = compare(measurement(pl.concat([flows, extra])), base)
    alone = found.alone.filter(pl.col("table") == "flows")
    lost = alone.filter((pl.col("metric") == "latency_mean_s") & (pl.col("side") == "simulated"))
    assert lost["entity"].to_list() == [f"ftp[{place}]" for place in range(4)]
    assert set(alone.filter(pl.col("side") == "observed")["entity"]) == {"other"}
    of_last = alone.filter((pl.col("entity") == "ftp[3]") & (pl.col("metric") == "goodput_bps"))
    assert of_last["value"].to_list() == base.flows["goodput_bps"].to_list()[3:]
    both = set(found.values.filter(pl.col("table") == "flows")["entity"])
    assert both == {"ftp[0]", "ftp[1]", "ftp[2]"}


def test_flows_of_one_name_are_paired_in_order(base: Run) -> None:
    twice = base.flows.head(2).with_columns(label=pl.lit("10.0.0.1:61000-10.0.0.2:5201"))
    found = compare(measurement(twice), measurement(twice))
    goodput = found.of("flows", "goodput_bps")
    assert goodput["entity"].to_list() == [twice["label"][0], f"{twice['label'][0]} #2"]
    assert goodput["observed"].to_list() == twice["goodput_bps"].to_list()


def test_names_that_differ_are_paired_by_hand(base: Run) -> None:
    label = "10.0.0.1:61000-10.0.0.2:5201"
    captured = measurement(base.flows.head(1).with_columns(label=pl.lit(label)))
    assert compare(captured, base).nothing()
    found = compare(captured, base, pairs={label: "ftp[0]"})
    assert found.of("flows", "goodput_bps").rows() == [("ftp[0]", *base.flows["goodput_bps"].to_list()[:1] * 2, 0.0)]
    with pytest.raises(tl.TightlinkError, match=r"10.0.0.9 is nothing of the first, which has 10.0.0.1:61000"):
        compare(captured, base, pairs={"10.0.0.9": "ftp[0]"})
    with pytest.raises(tl.TightlinkError, match="ftp is nothing of the second"):
        compare(captured, base, pairs={label: "ftp"})
    with pytest.raises(tl.TightlinkError, match=r"the first has ftp\[1\], too"):
        compare(base, base, pairs={"ftp[0]": "ftp[1]"})


def test_series_are_compared_over_the_time_that_both_have(base: Run) -> None:
    late = pl.DataFrame(
        {
            "time_s": [2.0, 2.5, 3.5],
            "entity": ["wire"] * 3,
            "metric": ["queue_packets"] * 3,
            "value": [4.0, 6.0, 100.0],
        }
    )
    found = compare(measurement(base.flows, series=late), base)
    row = found.values.filter((pl.col("table") == "series") & (pl.col("entity") == "wire")).row(0, named=True)
    queue = base.series.filter((pl.col("entity") == "wire") & (pl.col("metric") == "queue_packets"))
    assert row["observed"] == 5.0
    assert row["simulated"] == queue.filter(pl.col("time_s") >= 2)["value"].mean()
    assert found.series.filter(pl.col("side") == "observed")["time_s"].to_list() == [2.0, 2.5]
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


def test_sweeps_are_paired_by_what_was_varied(tmp_path: Path) -> None:
    base = tl.loads(BASE)
    queues = ["5 packets", "10 packets", "20 packets", "40 packets"]
    first = tl.sweep(base, {"link.wire.queue": queues}, output=tmp_path / "first")
    second = tl.sweep(
        base.set("link.wire.delay", "20 ms"), {"link.wire.queue": queues[::-1][:3]}, output=tmp_path / "second"
    )
    found = tl.compare(first, tmp_path / "second")
    goodput = found.of("runs", "goodput_bps")
    assert goodput["entity"].to_list() == [f"link.wire.queue = {queue}" for queue in queues[1:]]
    runs = [side.runs.collect() for side in (first, second)]
    assert goodput["observed"].to_list() == runs[0]["goodput_bps"].to_list()[1:]
    assert goodput["simulated"].to_list() == runs[1]["goodput_bps"].to_list()[::-1]
    assert set(found.alone["entity"]) == {"link.wire.queue = 5 packets"}
    assert "runs.goodput_bps" in found.agreements
    with pytest.raises(tl.TightlinkError, match="first: delay: expected one of run"):
        compare(tmp_path / "first", tmp_path / "second", by=["delay"])
    with pytest.raises(tl.TightlinkError, match="the first is a folder of runs and the second a run"):
        compare(first, tl.simulate(base))


def test_wrong_folders(base: Run, tmp_path: Path) -> None:
    with pytest.raises(tl.TightlinkError, match=r"none: there is no such folder; expected the folder of a run"):
        compare(tmp_path / "none", base)
    with pytest.raises(tl.TightlinkError, match="nothing to compare is there"):
        compare(tmp_path, base)
    (tmp_path / "file").touch()
    with pytest.raises(tl.TightlinkError, match="file: it is a file; expected the folder of a run"):
        compare(tmp_path / "file", base)
    with pytest.raises(tl.TightlinkError, match="by label: two runs are paired by the names"):
        compare(base, base, by=["label"])


def test_nothing_in_common_is_said(base: Run) -> None:
    captured = Run(
        None,
        {"source": CAPTURE, "identity": "x", "warnings": ["the file ends early"]},
        Framed({"flows": base.flows.with_columns(label=pl.lit("10.0.0.1:61000-10.0.0.2:5201")).head(1)}),
    )
    found = compare(captured, base)
    assert found.nothing()
    assert found.warnings == ("first: the file ends early", "the two have no flow, link or node in common")
    # The other way round, residuals would be relative to the simulation.
    assert "residuals are relative to the first" in compare(base, captured).warnings[1]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "base.toml"
    file.write_text(BASE)
    names = {"first": "10 packets", "second": "20 packets"}
    for name, queue in names.items():
        assert cli.main(["run", str(file), "--set", f'link.wire.queue="{queue}"', "-o", str(tmp_path / name)]) == 0
    capsys.readouterr()
    folders = [str(tmp_path / name) for name in names]
    assert cli.main(["compare", *folders, "-o", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    lines = [line.split() for line in printed.splitlines()]
    assert ["link.wire.queue", "10", "packets", "20", "packets"] in lines
    assert ["flow", "metric", "first", "second", "residual"] in lines
    assert sum(line[:2] == ["ftp[0]", "goodput_bps"] for line in lines) == 2  # the total, and the mean of its series
    assert any(line[:2] == ["flows.goodput_bps", "4"] for line in lines)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "report.html",
        "comparison.parquet",
        "alone.parquet",
        "figures",
    }
    report = (tmp_path / "out" / "report.html").read_text()
    for title in ("Where the scenarios differ", "Agreement", "Flows", "Links", "Series"):
        assert f">{title}<" in report
    assert {path.name for path in (tmp_path / "out" / "figures").iterdir()} == {"agreement.svg", "series.svg"}
    assert cli.main(["compare", *folders, "-o", str(tmp_path / "out")]) == 2
    assert "is not empty" in capsys.readouterr().err
    assert cli.main(["compare", *folders, "--pair", "ftp[0]"]) == 2
    assert '--pair = "ftp[0]": expected OBSERVED=SIMULATED, two names' in capsys.readouterr().err
    assert cli.main(["compare", *folders, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["titles"] == ["first", "second"]
    assert found["agreements"]["flows.goodput_bps"]["points"] == 4
    assert {row["table"] for row in found["values"]} == {"flows", "links", "nodes", "series"}
