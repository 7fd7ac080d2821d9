"""Reports of runs: what is drawn over time, what is said of rates above the link's, delay, completion times."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import tightlink as tl
from tightlink import plots
from tightlink.plots import palette
from tightlink.plots.observed import observed
from tightlink.reduce import jain, largest
from tightlink.report import blocks, captures, charts, delays, over_time, runs, transfers
from tightlink.report.tables import parts
from tightlink.run import Framed, Run

LINK = 'link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms", queue = "20 packets" }\n'


def _run(traffic: str, *, observe: str = "100 ms", trace: bool = False, duration: str = "6 s") -> tl.Run:
    text = f'duration = "{duration}"\n{LINK}{traffic}\nobserve = {{ interval = "{observe}", flows = "each" }}'
    return tl.simulate(tl.loads(text), trace=trace)


def _chart(section: blocks.Section) -> tuple[dict[str, Any], str]:
    (block,) = section.blocks
    assert isinstance(block, blocks.Chart)
    return block.chart.to_dict(), block.caption


def _panels(spec: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {panel["title"]: panel for panel in spec["vconcat"][0]["vconcat"]}


@pytest.fixture(scope="module")
def several() -> tl.Run:
    return _run('traffic.up = { kind = "bulk", flows = 6, from = "a", to = "b" }')


def test_all_flows_are_in_one_chart_in_the_colours_of_the_run(several: tl.Run) -> None:
    spec, caption = _chart(over_time.section(several))
    assert "flows are drawn" not in caption
    shade = next(iter(_panels(spec).values()))["encoding"]["color"]["scale"]
    of_run = palette.colors(palette.entities(several))
    assert shade["domain"] == [*several.flows["label"], "wire"]
    assert shade["range"] == [of_run[name] for name in shade["domain"]]


def test_many_flows_are_left_out_with_a_word() -> None:
    run = _run('traffic.up = { kind = "bulk", flows = 40, from = "a", to = "b" }', duration="3 s")
    spec, caption = _chart(over_time.section(run))
    drawn = next(iter(_panels(spec).values()))["encoding"]["color"]["scale"]["domain"]
    flows = [name for name in drawn if name != "wire"]
    assert f"{len(flows)} of 40 flows are drawn, from the lowest rate to the highest." in caption
    means = run.series.filter(pl.col("metric") == "throughput_bps").group_by("entity").agg(pl.col("value").mean())
    rated = means.filter(pl.col("entity") != "wire").sort("value")
    assert {rated["entity"][0], rated["entity"][-1]} & set(flows)
    assert len(set(palette.colors(drawn).values())) == len(drawn)


def test_panels_zoom_together(several: tl.Run) -> None:
    spec, _ = _chart(over_time.section(several))
    panels = _panels(spec)
    assert len(panels) >= 4
    assert all(
        panel["encoding"]["x"]["scale"]["domain"] == {"param": "zoom", "encoding": "x"} for panel in panels.values()
    )
    assert spec["vconcat"][1]["name"] == "strip"
    assert {param["name"]: param["views"] for param in spec["params"]} == {"chosen": ["panel_0"], "zoom": ["strip"]}
    fading = {panel["name"]: panel["fading"] for panel in spec["usermeta"]["panels"]}
    # The queue is not a flow's: it stays where a flow is picked out.
    assert fading[panels["queue (packets)"]["name"]] is False
    assert fading["panel_0"] is True


def test_no_window_is_drawn_before_its_flow_starts() -> None:
    """A flow that starts at 3 s had a line at one packet until then."""
    run = _run(
        'traffic.one = { kind = "bulk", from = "a", to = "b" }\n'
        'traffic.two = { kind = "bulk", from = "a", to = "b", start = "3 s" }'
    )
    windows = run.series.filter(metric="cwnd_packets", entity="two")
    assert windows["time_s"].min() == pytest.approx(0.1)
    spec, _ = _chart(over_time.section(run))
    rows = spec["datasets"][_panels(spec)["congestion window (packets)"]["data"]["name"]]
    drawn = [row["time_s"] for row in rows if row["entity"] == "two" and row["cwnd_packets"] is not None]
    assert 3.0 < min(drawn) < 3.2
    two = next(line for line in plots.series(run, "cwnd_packets").lines if line.get_label() == "two")
    assert np.asarray(two.get_xdata(), dtype=float).min() == pytest.approx(3.1)


def test_no_rate_is_above_the_links_without_a_reason(several: tl.Run) -> None:
    goodput = several.series.filter(pl.col("metric") == "goodput_bps")["value"].max()
    # What the report drew before: a filled hole delivers a backlog at once.
    assert goodput > 2.02e6  # type: ignore[operator]
    spec, caption = _chart(over_time.section(several))
    (panel,) = (panel for title, panel in _panels(spec).items() if title.startswith("throughput"))
    rows = spec["datasets"][panel["data"]["name"]]
    assert max(row["throughput_bps"] for row in rows) <= 2.02
    assert "A packet counts whole" not in caption
    # Packets of 6 ms in intervals of 1 ms.
    fine = _run('traffic.up = { kind = "bulk", from = "a", to = "b" }', observe="1 ms", duration="1 s")
    _, caption = _chart(over_time.section(fine))
    assert "A packet counts whole when it arrives, so that a sample can exceed the rate of the link." in caption


def test_a_run_without_samples_says_how_to_get_them() -> None:
    run = tl.simulate(tl.loads(f'duration = "1 s"\n{LINK}traffic.up = {{ kind = "bulk", from = "a", to = "b" }}'))
    (block,) = over_time.section(run).blocks
    assert isinstance(block, blocks.Text)
    assert "--set 'observe.interval=100 ms'" in block.text


def test_the_report_of_a_run_without_samples_has_them_of_the_same_run(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = tl.loads(f'duration = "1 s"\n{LINK}traffic.up = {{ kind = "bulk", from = "a", to = "b" }}')
    run = tl.simulate(scenario)
    drawn = {section.title: section for section in runs.sections(run)}
    spec, caption = _chart(drawn["Over time"])
    assert "the same run once more, observed every 20 ms" in caption
    assert spec == _chart(over_time.section(tl.simulate(scenario.set("observe.interval", "20 ms"))))[0]
    (distributions,) = (block for block in drawn["Delay"].blocks if isinstance(block, blocks.Row))
    assert len(distributions.charts) == 3
    assert distributions.caption.startswith("Share of packets that arrived")
    (rows,) = distributions.charts[2].to_dict()["datasets"].values()
    assert (rows[0]["share"], rows[-1]["share"]) == (0, 100)
    assert rows[-1]["rtt_s"] / 1e3 == pytest.approx(run.flows["rtt_max_s"][0])
    assert "round-trip" in plots.delays(run, "rtt").get_xlabel()
    with pytest.raises(tl.TightlinkError, match="queueing_delay"):
        plots.delays(run, "queueing")
    assert "queue" in plots.overview(run).axes[-1].get_ylabel()
    assert run.tables == ["flows", "links", "nodes"]
    # With samples already it is simulated again for its delays alone.
    sampled = tl.simulate(scenario.set("observe.interval", "10 ms"))
    drawn = {section.title: section for section in runs.sections(sampled)}
    assert _chart(drawn["Over time"]) == _chart(over_time.section(sampled))
    assert any(
        isinstance(block, blocks.Row) and block.caption == distributions.caption for block in drawn["Delay"].blocks
    )
    assert observed(sampled, "series") is sampled

    def not_again(run: tl.Run) -> None:
        (section,) = (part for part in runs.sections(run) if part.title == "Over time")
        assert isinstance(section.blocks[0], blocks.Text)

    tables = Framed({name: run.table(name) for name in run.tables})
    # Of an engine whose results may be others; of a part of a run; of another run; of a long one.
    not_again(Run(scenario, {**run.manifest, "engine_behaviour": 1}, tables))
    not_again(Run(scenario, {**run.manifest, "part_until_s": 0.5}, tables))
    not_again(Run(scenario.set("traffic.up.start", "0.1 s"), run.manifest, tables))
    monkeypatch.setitem(vars(runs)["observed"].__globals__, "_MOST_PACKET_HOPS", 1)
    not_again(run)


def test_pictures_end_with_the_last_flow() -> None:
    text = f'duration = "60 s"\n{LINK}traffic.get = {{ kind = "bulk", from = "a", to = "b", bytes = "300 kB" }}'
    run = tl.simulate(tl.loads(text))
    times = observed(run, "series").series["time_s"]
    stop_s = run.flows["stop_s"].item()
    assert stop_s < largest(times) < 1.1 * stop_s < 10
    assert times.n_unique() >= 50
    endless = observed(tl.simulate(run.scenario.set("traffic.get.bytes", None)), "series").series["time_s"]
    assert largest(endless) > 59


def test_pictures_of_flows_that_stop_last_until_their_queues_are_empty() -> None:
    text = """
    duration = "10 s"
    link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "1 ms", queue = "unlimited" }
    traffic.u = { kind = "cbr", from = "a", to = "b", rate = "40 Mbit/s", stop = "0.5 s", udp.datagram = "1250 B" }
    """
    series = observed(tl.simulate(tl.loads(text)), "series").series
    waiting = series.filter(pl.col("metric") == "queue_packets")
    assert largest(waiting.filter(pl.col("value") > 0)["time_s"]) == pytest.approx(2, rel=0.02)
    assert waiting.filter(pl.col("time_s") == largest(series["time_s"]))["value"].to_list() == [0, 0]
    assert largest(series["time_s"]) < 2.2


def test_the_flows_of_a_report_have_their_fairness() -> None:
    def said(traffic: str) -> str:
        (section,) = (section for section in runs.sections(_run(traffic)) if section.title == "Flows")
        return section.finding

    long = 'traffic.long = { kind = "bulk", from = "a", to = "b", tcp.window = "2 packets" }\n'
    call = 'traffic.call = { kind = "cbr", from = "a", to = "b", rate = "50 kbit/s" }\n'
    others = 'traffic.others = { kind = "bulk", flows = 2, from = "a", to = "b" }\n'
    run = _run(long + call + others)
    index = jain(run.flows.filter(pl.col("label") != "call")["goodput_bps"].to_list())
    assert said(long + call + others).startswith(f"Jain's index of the goodputs of flows that compete: {index:.3g} ")
    assert said(long + call) == ""


def test_rates_over_time_begin_at_zero() -> None:
    frame = pl.DataFrame({"time_s": [0.0, 1.0], "entity": ["ftp"] * 2, "throughput_bps": [9e6, 10e6]})
    panel = charts.linked([frame], "time_s", "entity").to_dict()["vconcat"][0]["vconcat"][0]
    assert panel["encoding"]["y"]["scale"]["zero"] is True


def test_rounding_is_not_drawn_as_if_a_delay_changed() -> None:
    """A stream over an empty link: the axis of its delay had the only tick "11" at 11.28 ms, or 13 decimals."""
    run = _run('traffic.call = { kind = "cbr", from = "a", to = "b", rate = "64 kbit/s", udp.datagram = "160 B" }')
    chart, _ = _chart(over_time.section(run))
    scales = {title: panel["encoding"]["y"]["scale"] for title, panel in _panels(chart).items()}
    assert scales["one-way delay (ms)"]["zero"] is True
    plane, row, *tables = delays.sections(run)[0].blocks
    assert isinstance(plane, blocks.Chart) and isinstance(row, blocks.Row)  # noqa: PT018
    along = plane.chart.to_dict()["layer"][0]["encoding"]["x"]
    assert (along["title"], along["scale"]["domain"]) == ("p95 queueing delay (ms)", [0.0, 1.0])
    waited, took = (each.to_dict()["encoding"]["x"] for each in row.charts)
    assert (waited["title"], waited["scale"]["domain"]) == ("queueing delay (ms)", [0, 1])
    assert took["scale"]["zero"] is True
    for table in (*tables, *runs.sections(run)[-2].blocks):
        assert isinstance(table, blocks.Table)
        (page,) = parts(table.frame, {})
        assert "(s)" not in page
        assert "(ns)" not in page
    assert plots.series(run, "one_way_delay_s").get_ylim()[0] <= 0


def test_completion_times_count_what_was_not_complete() -> None:
    run = _run('traffic.get = { kind = "bulk", flows = 4, from = "a", to = "b", bytes = "300 kB" }', duration="4 s")
    (section,) = transfers.sections(run)
    done = run.completions["completion_s"].count()
    # The last byte of one has arrived, and its ACK has not.
    assert 0 < run.flows.filter(pl.col("stop_s") < 4).height < done < 4
    assert section.finding.startswith(f"{done} of 4 transfers were complete at the end")
    distribution, _ = section.blocks
    assert isinstance(distribution, blocks.Chart)
    spec = distribution.chart.to_dict()
    (rows,) = spec["datasets"].values()
    assert max(row["share"] for row in rows) == 100 * done / 4


def test_linked_panels_keep_peaks_and_say_what_is_thinned() -> None:
    many = pl.DataFrame({"time_s": pl.int_range(5000, eager=True) / 100, "entity": "ftp"}).with_columns(
        cwnd_packets=pl.when(pl.col("time_s") == 20.0).then(99.0).otherwise(1.0)
    )
    spec = charts.linked([many], "time_s", "entity").to_dict()
    (rows,) = spec["datasets"].values()
    assert max(row["cwnd_packets"] for row in rows) == 99
    assert re.fullmatch(r"Drawn: \d+ of 5,000 points, every peak among them\.", spec["usermeta"]["note"])


def test_delay_has_a_plane_and_a_table(several: tl.Run) -> None:
    (section,) = (part for part in delays.sections(several) if part.title == "Delay")
    plane, quantiles, of_flows, of_links = section.blocks
    assert isinstance(plane, blocks.Chart)
    spec = plane.chart.to_dict()
    rows = spec["datasets"][spec["layer"][0]["data"]["name"]]
    known = several.flows.drop_nulls("queueing_delay_p95_s")
    assert [row["label"] for row in rows] == known["label"].to_list()
    delays_s = [row["queueing_delay_p95_s"] / 1e3 for row in rows]
    assert delays_s == pytest.approx(known["queueing_delay_p95_s"].to_list())
    unknown = several.flows.height - known.height
    assert (f"Of {unknown} flows of 6 the queueing delay is not known." in plane.caption) == (unknown > 0)
    assert isinstance(quantiles, blocks.Row)
    assert len(quantiles.charts) == 3
    assert isinstance(of_flows, blocks.Table)
    assert isinstance(of_links, blocks.Table)
    first = of_flows.frame.filter(pl.col("label") == "up[0]")
    assert first["delay"].to_list() == ["queueing delay", "one-way delay", "round-trip time"]
    assert first["p95_s"].to_list() == [
        several.flows[f"{delay}_p95_s"][0] for delay in ("queueing_delay", "one_way_delay", "rtt")
    ]
    assert of_links.frame["link"][0] == "wire"


def test_many_flows_are_points_of_their_group() -> None:
    run = _run('traffic.up = { kind = "bulk", flows = 40, from = "a", to = "b" }', duration="3 s")
    (section,) = (part for part in delays.sections(run) if part.title == "Delay")
    plane = section.blocks[0]
    assert isinstance(plane, blocks.Chart)
    assert plane.chart.to_dict()["layer"][0]["encoding"]["color"]["scale"]["domain"] == ["up"]
    assert "a large point is their mean" in plane.caption


def test_a_capture_is_drawn_over_time() -> None:
    uploads = Path(__file__).parent.parent / "examples" / "slow-uploads.pcapng.gz"
    run = tl.capture(uploads, interval="100 ms")
    spec, caption = _chart(over_time.section(run))
    titles = list(_panels(spec))
    rates, waits = ["throughput (Mbit/s)", "in flight (kB)"], ["round-trip time (ms)", "payload sent (MB)"]
    for title in (*rates, "receiver's window (MB)", *waits):
        assert title in titles
    # Rates of the samples are the bytes of the flows.
    series = run.series
    for flow in run.flows.iter_rows(named=True):
        own = series.filter((pl.col("entity") == flow["label"]) & (pl.col("metric") == "throughput_bps"))
        spacing = own["time_s"].diff().drop_nulls().to_list()
        assert spacing == pytest.approx([spacing[0]] * len(spacing))
        assert own["value"].sum() * spacing[0] / 8 == pytest.approx(flow["bytes_sent"])
    assert "Throughput is what was captured" in caption
    sections = captures.sections(run)
    (protocols,) = (part for part in sections if part.title == "Protocols")
    assert sum(isinstance(block, blocks.Chart) for block in protocols.blocks) == 1


def test_samples_of_a_capture_add_up_to_its_totals() -> None:
    run = tl.capture(Path(__file__).parent.parent / "examples" / "slow-uploads.pcapng.gz")
    joined = run.table("connections").join(run.flows.select("flow", "packets_retransmitted"), on="flow")
    for row in joined.iter_rows(named=True):
        own = run.series.filter(pl.col("entity") == row["label"])
        of = {metric: part["value"] for (metric,), part in own.group_by("metric", maintain_order=True)}
        assert of["packets_retransmitted"].sum() == row["packets_retransmitted"]
        assert of["acknowledged_bytes"].max() == row["delivered_bytes"]
        assert of["in_flight_bytes"].max() == row["in_flight_max_bytes"]
        assert of["receiver_window_bytes"].max() <= row["window_max_bytes"]
        assert row["rtt_min_s"] <= of["rtt_s"].min()
        assert of["rtt_s"].max() <= row["rtt_max_s"]
        assert of["sent_bytes"].is_sorted()


def test_a_measurement_that_was_not_observed_says_how() -> None:
    """It has samples nevertheless, of its echoes."""
    run = tl.simulate(tl.loads(f'duration = "1 s"\n{LINK}traffic.ftp = {{ kind = "bulk", from = "a", to = "b" }}'))
    echoes = pl.DataFrame({"time_s": [0.2], "entity": ["echo"], "metric": ["rtt_s"], "value": [0.02]})
    frames = {"flows": run.flows, "links": run.links, "series": echoes}
    measured = Run(run.scenario, run.manifest | {"source": "measurement"}, Framed(frames))
    (said,) = over_time.section(measured).blocks
    assert isinstance(said, blocks.Text)
    assert "Set `observe.interval`" in said.text


def test_lines_of_a_slow_line_are_of_whole_packets() -> None:
    """A packet takes 667 ms of 2.4 kbit/s: samples of 200 ms were a comb; and one round trip of a SYN is no line."""
    run = tl.simulate(
        tl.loads("""
    duration = "20 s"
    link.up = { ends = ["ship", "shore"], rate = "2.4 kbit/s", delay = "20 ms", queue = "20 packets" }
    traffic.upload = { kind = "bulk", from = "ship", to = "shore" }
    traffic.voice = { kind = "cbr", from = "ship", to = "shore", interval = "20 ms", udp.datagram = "200 B" }
    """)
    )
    seen = observed(run, "series")
    assert seen.series.filter(entity="upload", metric="rtt_s").height == 1
    spec, caption = _chart(over_time.section(seen, again=True))
    assert "round-trip time (ms)" not in _panels(spec)
    assert "observed every 1 s" in caption


@pytest.mark.parametrize("queue", ["20 packets", "5 packets"])
def test_the_first_sentences_count_losses_where_there_are_any(one_flow: str, queue: str, tmp_path: Path) -> None:
    """Of one datagram that came it was said that 0 of 1 packets were lost."""
    run = tl.simulate(tl.loads(one_flow).set("link.bottleneck.queue", queue), tr=tmp_path / "run.tr")
    dropped, sent = run.flows.select("packets_dropped", "packets_sent").row(0)
    assert bool(dropped) == (queue == "5 packets")
    for lead in (runs.lead(run), runs.lead(tl.capture(tmp_path / "run.tr"))):
        assert not re.search(r"  |\.\.|; *\.", lead)
        assert (f"{dropped} of {sent:,} packets were lost." in lead) == ("lost" in lead) == bool(dropped)
