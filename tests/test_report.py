"""Reports: what stands in the file, what must not, and what is refused."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl
import pytest
from markupsafe import Markup

import tightlink as tl
from tightlink import report
from tightlink.cli import main
from tightlink.diagnosis import percent
from tightlink.experiment import claims, claims_file
from tightlink.report import charts
from tightlink.report.page import ranges
from tightlink.report.specs import Data, figure
from tightlink.report.tables import parts


def _frame(points: int = 50) -> pl.DataFrame:
    time = pl.int_range(points, eager=True) / 10
    return pl.DataFrame(
        {"time_s": time, "goodput_bps": time * 1e5, "queue_packets": pl.int_range(points, eager=True) % 20}
    )


def _write(path: Path, *blocks: report.Block, **more: Any) -> str:
    section = report.Section("Section", "Found.", list(blocks))
    return report.write(path, title="Title", lead="Lead.", sections=[section], **more).read_text()


def _specs(text: str) -> list[dict[str, Any]]:
    found = re.findall(r'<div class="chart"[^>]*><script type="application/json">(.*?)</script>', text)
    return [json.loads(spec) for spec in found]


def _data(text: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_one_file_without_references(tmp_path: Path) -> None:
    chart = report.Chart(charts.line(_frame(), "time_s", "goodput_bps"))
    text = _write(tmp_path / "report.html", chart, report.Row([chart.chart, chart.chart], "twice"))
    assert len(text) < 1_100_000
    assert text.count("window.vegaEmbed=") == 1
    assert (
        re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)) == []
    )
    assert "cdn" not in text.lower()
    assert "@import" not in text
    assert "default-src 'none'" in text
    assert len(_specs(text)) == 3
    assert len(_data(text)) == 1


def test_equal_reports_are_equal_files(tmp_path: Path) -> None:
    block = report.Chart(charts.line(_frame(), "time_s", "goodput_bps"))
    assert _write(tmp_path / "a.html", block, command="x") == _write(tmp_path / "b.html", block, command="x")
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["a.html", "b.html"]


def test_everything_from_outside_is_text(tmp_path: Path) -> None:
    evil = "</script><script>alert(1)</script>"
    frame = pl.DataFrame({"label": [evil], "x": [1.0], "y": [2.0]})
    claim = claims.stated("evil", evil, evil, evil, True, evil)  # noqa: FBT003
    text = report.write(
        tmp_path / "report.html", title=evil, lead=evil, claims=[claim], command=evil, warnings=[evil],
        sections=[report.Section(evil, evil, [
            report.Text(evil), report.Table(frame, evil), report.Details(evil, evil),
            report.Chart(charts.points(frame, "x", "y", by="label", title=evil), evil),
        ])],
    ).read_text()  # fmt: skip
    assert "<script>alert" not in text
    assert _data(text)
    trusted = _write(tmp_path / "trusted.html", report.Text(Markup("<p class='mine'>x</p>")))
    assert "<p class='mine'>" in trusted


def test_a_page_without_charts_is_small(tmp_path: Path) -> None:
    text = _write(tmp_path / "report.html", report.Text("A **bold** `word`.\n\n- one\n- two"))
    assert "<strong>bold</strong> <code>word</code>" in text
    assert text.count("<li>") == 3
    assert len(text) < 40_000


def test_the_finding_and_its_picture_come_first_and_the_claims_last(tmp_path: Path) -> None:
    listed = [
        claims.compared("sent", "2097 packets", "p. 6", 2097, 2096, reason="another timer"),
        claims.stated("wan", "20 Mbit/s", "fig. 3", None, None, "not published"),
        *(claims.compared(f"lost.{place}", "Nothing is lost", "p. 6", 0, 0) for place in range(4)),
        claims.compared("ours", "It is even", "this study", 1.0, 0.9, origin="ours"),
    ]
    frame = pl.DataFrame({"time_s": [0.0, 1.0], "goodput_bps": [0.0, 2e6]})
    text = report.write(
        tmp_path / "report.html", title="T", lead="The queue is full.", claims=listed, seeds=[3, 1, 2, 3],
        picture=report.Chart(charts.line(frame, "time_s", "goodput_bps"), "It fills."),
        sections=[report.Section("Evidence", "", [report.Text("x")])],
    ).read_text()  # fmt: skip
    parts = [
        "The queue is full.",
        "6 claims of the document</a>",
        "1 claim of our own</a>",
        "It fills.",
        'id="evidence"',
        'id="claims"',
    ]
    assert [text.index(part) for part in parts] == sorted(text.index(part) for part in parts)
    # Whether the document or this program is contradicted is said, of all, of a section, and of each.
    assert re.findall(r"<b>(\d+)</b> ([^<]*)", text) == [
        ("7", "claims"), ("4", "hold"), ("1", "is contradicted by our runs"), ("1", "of our own fails"), ("1", "is open"),
    ]  # fmt: skip
    folded = re.findall(r'<details class="claimed"><summary>([^<]*)<?/?', text)
    assert [name.strip() for name in folded] == ["p. 6", "fig. 3", "this study"]
    assert '<span class="badge document">document contradicted</span>' in text
    assert '<span class="badge ours">our own check fails</span>' in text
    assert "another timer" in text
    assert "<dt>seeds</dt><dd>1–3</dd>" in text
    assert f"<dt>Tightlink</dt><dd>{tl.__version__}</dd>" in text


def test_a_claim_says_its_condition_and_whose_bound_it_is(tmp_path: Path) -> None:
    claim = claims.stated("loss", "Loss is small", "p. 1", 0.002, holds=True)
    claim = replace(claim, condition="max(loss) < 0.01", tolerance_from="ours: a hundredth")
    page = _write(tmp_path / "report.html", report.Text("x"), claims=[claim])
    assert "Holds if max(loss) &lt; 0.01 (ours: a hundredth)" in page


def test_a_few_claims_are_not_folded(tmp_path: Path) -> None:
    claim = claims.compared("sent", "2097 packets", "p. 6", 2097, 2097)
    text = _write(tmp_path / "report.html", report.Text("x"), claims=[claim])
    assert '<details class="claimed" open>' in text
    assert "<b>1</b> claim<" in text.replace("\n", "")


def test_anchors_differ(tmp_path: Path) -> None:
    sections = [report.Section(title) for title in ("Claims", "Base", "Base", "×")]
    text = report.write(tmp_path / "report.html", title="T", lead="", sections=sections).read_text()
    assert re.findall(r'<section id="(.*?)"', text) == ["claims-2", "base", "base-2", "section"]


def test_other_files_are_not_overwritten(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    target.write_text("<html>mine</html>")
    with pytest.raises(tl.TightlinkError, match="nothing is overwritten"):
        _write(target, report.Text("x"))
    assert target.read_text() == "<html>mine</html>"
    target.unlink()
    _write(target, report.Text("x"))
    assert "another" in _write(target, report.Text("another"))


def test_lines_are_thinned_and_the_caption_says_so(tmp_path: Path) -> None:
    frame = _frame(10_000).with_columns(pl.when(pl.col("time_s") == 500.0).then(99).otherwise(0).alias("queue_packets"))
    text = _write(tmp_path / "report.html", report.Chart(charts.line(frame, "time_s", "queue_packets"), "Queue."))
    (columns,) = _data(text).values()
    assert max(columns["queue_packets"]) == 99
    assert len(columns["time_s"]) <= 2002
    assert columns["time_s"] == sorted(columns["time_s"])
    assert re.search(r"Queue\. <span class=\"note\">Drawn: [\d,]+ of 10,000 points, every peak among them\.", text)


def test_thinning_keeps_every_line() -> None:
    frame = pl.concat([_frame(9000).with_columns(kind=pl.lit(kind)) for kind in ("a", "b")])
    thinned = charts.thin(frame, "time_s", "goodput_bps", by="kind", most=100)
    assert thinned.group_by("kind").len().sort("kind")["len"].to_list() == [100, 100]
    assert thinned.equals(charts.thin(frame, "time_s", "goodput_bps", by="kind", most=100))
    assert charts.thin(frame.clear(), "time_s", "goodput_bps").height == 0


def test_charts_with_too_many_points_are_refused(tmp_path: Path) -> None:
    chart = alt.Chart(_frame(30_000)).mark_line().encode(x="time_s:Q", y="goodput_bps:Q")
    with pytest.raises(tl.TightlinkError, match="30000 points, and 20000 are the most"):
        _write(tmp_path / "report.html", report.Chart(chart))
    assert list(tmp_path.iterdir()) == []


def test_data_are_kept_in_columns() -> None:
    data = Data()
    frame = pl.DataFrame({"x": [1.0, 2.5, None], "word": ["a", "b", "a"], "y": [1 / 3, float("nan"), float("inf")]})
    figure(alt.Chart(frame).mark_point().encode(x="x:Q", y="y:Q", color="word:N"), data)
    (columns,) = data.sets.values()
    assert columns == {
        "x": [1, 2.5, None],
        "word": {"words": ["a", "b"], "at": [0, 1, 0]},
        "y": [0.3333333, None, None],
    }


def test_units_of_charts() -> None:
    encoding = charts.line(_frame(), "time_s", "goodput_bps").to_dict()["encoding"]
    assert (encoding["x"]["title"], encoding["y"]["title"]) == ("time (s)", "goodput (kbit/s)")
    given = charts.line(_frame(), "time_s", "goodput_bps", y_title="bits").to_dict()
    assert given["encoding"]["y"]["title"] == "bits"
    assert max(row["goodput_bps"] for rows in given["datasets"].values() for row in rows) == pytest.approx(490_000)


def test_small_multiples_share_axes() -> None:
    frames = [_frame(), _frame(90)]
    domains = charts.shared_domains(frames, ["goodput_bps", "queue_packets"])
    rows = [
        charts.small_multiples(frame, "time_s", ["goodput_bps", "queue_packets"], domains=domains) for frame in frames
    ]
    ends = [[chart.to_dict()["encoding"]["y"]["scale"]["domain"] for chart in row] for row in rows]
    assert ends[0] == ends[1] == [[0, 900], [0, 20]]
    titled = charts.small_multiples(_frame(), "time_s", {"goodput_bps": "rate"})
    assert titled[0].to_dict()["title"] == "rate"


def test_stacked_bars_have_what_took_time() -> None:
    frame = pl.DataFrame(
        {
            "case": ["a", "b"],
            "limited_by_network": [0.75, 0.0],
            "limited_by_receiver_window": [0.25, 1.0],
            "limited_by_pacing": [0.0, 0.0],
        }
    )
    spec = charts.bars_stacked(frame, "case").to_dict()
    assert spec["encoding"]["color"]["scale"]["domain"] == ["network (the path is full)", "receiver's window"]
    assert charts.bars_stacked(frame, "case", columns=["limited_by_network"]).to_dict()["encoding"]["color"]


def test_empty_frames_draw_nothing(tmp_path: Path) -> None:
    empty = _frame().clear()
    shares = pl.DataFrame(
        {"case": [], "limited_by_network": []}, schema={"case": pl.String, "limited_by_network": pl.Float64}
    )
    blocks = [
        charts.line(empty, "time_s", "goodput_bps"),
        charts.points(empty, "time_s", "goodput_bps"),
        charts.bars_stacked(shares, "case"),
    ]
    _write(tmp_path / "report.html", report.Row(blocks), report.Table(empty))


def test_tables_line_up() -> None:
    frame = pl.DataFrame(
        {
            "label": ["a", None],
            "one_way_delay_mean_s": [0.0724753, 0.1],
            "bytes_sent": [2479400, 0],
            "ok": [True, False],
        }
    )
    text = str(parts(frame, {})[0])
    assert "mean one-way delay (ms)" in text
    assert re.findall(r"<t[dh][^>]*>([^<]*)<", text.partition("<tbody>")[2]) == [
        "a",
        "72.5",
        "2,479,400",
        "yes",
        "–",
        "100.0",
        "0",
        "no",
    ]
    given = str(parts(frame, {"one_way_delay_mean_s": ".4f", "bytes_sent": lambda value: f"<{value}>"})[0])
    assert "mean one-way delay (s)" in given
    assert "0.0725" in given
    assert "&lt;2479400&gt;" in given


def test_the_summaries_of_a_delay_have_one_unit() -> None:
    """A mean in ms stood beside a median in s, and a largest in s beside both."""
    frame = pl.DataFrame({"delay": ["queueing delay"], "mean_s": [0.59], "median_s": [0.0], "largest_s": [3.21],
                          "rtt_median_s": [25e-6], "rtt_max_s": [0.2]})  # fmt: skip
    (page,) = parts(frame, {})
    heads = re.findall("<th[^>]*>([^<]*)", page.partition("<tbody>")[0])
    assert heads[-5:] == ["mean (ms)", "median (ms)", "largest (ms)", "median RTT (ms)", "largest RTT (ms)"]
    assert re.findall('<td class="number">([^<]*)', page) == ["590", "0", "3,210", "0.025", "200"]


def test_the_report_of_a_run(one_flow: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tl.simulate(tl.loads(one_flow).set("observe.interval", "100 ms")).save(tmp_path / "base <1>")
    assert main(["report", str(folder)]) == 0
    out, err = capsys.readouterr()
    assert (out, err) == (f"{folder / 'report.html'}\n", "")
    text = (folder / "report.html").read_text()
    assert "<strong>ftp</strong>: link bottleneck is saturated (99 % busy), and a window of 20 packets is more" in text
    # A command breaks anywhere but within the name of an option.
    assert '<span class="option">--set</span> traffic.ftp.tcp.window=' in text
    assert "Run base &lt;1&gt;" in text
    assert "<dt>seed</dt><dd>1</dd>" in text
    (over_time,) = (spec for spec in _specs(text) if "vconcat" in spec)
    panels = [panel["title"] for panel in over_time["vconcat"][0]["vconcat"]]
    for title in ("throughput (Mbit/s)", "congestion window (packets)", "round-trip time (ms)", "queue (packets)"):
        assert title in panels
    assert "The busiest link, bottleneck, has a rate of 2 Mbit/s." in text
    assert "Only the busiest of 2 links is drawn." in text
    assert main(["report", str(folder)]) == 0
    assert (folder / "report.html").read_text() == text
    assert tl.open_run(folder).save(folder) == folder


def test_the_report_of_users(small_users: str, tmp_path: Path) -> None:
    run = tl.simulate(tl.loads(small_users))
    text = report.run_report(run.save(tmp_path / "run")).read_text()
    found = [re.sub("<.*?>", "", title) for title in re.findall(r"<h2[^>]*>.*?</h2>", text)]
    assert found[:6] == ["Why is it slow?", "Users over time", "Responses", "Transfers", "Links", "Scenario"]
    completed, sent = (int(run.users[name].sum()) for name in ("transfers_completed", "packets_sent"))
    lost = 1 - int(run.users["packets_delivered"].sum()) / sent
    assert f"6 sources completed {completed} transfers; of {sent:,} packets {percent(lost)} were lost" in text
    assert len(_specs(text)) == 5
    assert '<th scope="row">packets_entering</th><td>y3</td>' in text
    assert ">begin</th>" in text
    assert "both-both_pps" in text
    # A notebook has its sentences and its links.
    assert "6 sources completed" in run._repr_html_()
    # A row for each period of transfers.
    assert text.count("<td>page</td><td>both-both</td><td>ethernet</td><td>reno</td>") == 2


def test_several_groups_of_users_have_their_own_charts(small_users: str, tmp_path: Path) -> None:
    more = tl.loads(small_users).written()
    more["traffic"]["mail"] = {**more["traffic"]["web"], "think": "1 s"}
    more["traffic"]["mail"].pop("long_lived")
    run = tl.simulate(tl.Scenario.from_dict(more))
    text = report.run_report(run.save(tmp_path / "run")).read_text()
    assert "Users web over time" in text
    assert "Users mail over time" in text
    assert '<th scope="row">mail</th><td>packets_entering</td>' in text
    assert len(_specs(text)) == 9


def test_the_report_of_datagrams(tmp_path: Path) -> None:
    run = tl.simulate(
        tl.loads("""\
        duration = "5 s"
        link.wire = { ends = ["a", "b"], rate = "1 Mbit/s", delay = "2 ms", queue = "20 packets" }
        traffic.calls = { kind = "scatter", at = ["a", "b"], rate = "100 packets/s" }
        """)
    )
    text = report.run_report(run.save(tmp_path / "run")).read_text()
    assert "Datagrams over time" in text
    assert len(_specs(text)) == 4
    dropped, sent = int(run.scatter["packets_dropped"].sum()), int(run.scatter["packets_sent"].sum())
    assert 0 < dropped < sent
    assert f"{dropped} of {sent} datagrams were lost." in text


def test_many_flows_are_spoken_of_together(dumbbell: str, tmp_path: Path) -> None:
    folder = tl.simulate(tl.loads(dumbbell).set("duration", "2 s")).save(tmp_path / "run")
    text = report.run_report(folder).read_text()
    said = re.search(r"<strong>(\d\d) flows, (bulk\[0\.\.\d+\], .*) and (\d+) more</strong>: ", text)
    assert said
    spans = [(int(first), int(last or first)) for first, last in re.findall(r"\[(\d+)(?:\.\.(\d+))?\]", said[2])]
    assert int(said[1]) == sum(last - first + 1 for first, last in spans) + int(said[3])
    assert "24 of 100 flows, from the lowest goodput to the highest" in text


def test_flows_one_after_the_other_carry_no_more_than_their_link(one_flow: str, tmp_path: Path) -> None:
    ftp = one_flow[one_flow.index("traffic.ftp") :]
    one_after_the_other = {"traffic.ftp.start": "0 s", "traffic.ftp.stop": "5 s", "traffic.then.start": "5 s"}
    run = tl.simulate(tl.loads(one_flow + ftp.replace("traffic.ftp", "traffic.then")).set_all(one_after_the_other))
    text = report.run_report(run.save(tmp_path / "run")).read_text()
    found = re.search(r"Goodput ([\d.]+) (\w)bit/s in all", text)
    assert found is not None
    unit = {"k": 1e3, "M": 1e6}[found[2]]
    # The first has its time until its queue is empty, in which the second has begun.
    lasts = 8 * run.flows["bytes_delivered"] / run.flows["throughput_bps"]
    assert lasts[0] > 5
    assert float(found[1]) * unit == pytest.approx(sum(run.flows["goodput_bps"] * lasts) / 10, rel=1e-3)


def test_a_study_whose_report_is_there_keeps_it(tmp_path: Path) -> None:
    claims_file.save([claims.compared("sent", "2385 packets", "p. 6", 2385, 2385)], tmp_path / "claims.json")
    pl.DataFrame({"run": ["base"], "seed": [7], "status": ["done"], "goodput_bps": [1.9e6]}).write_parquet(
        tmp_path / "runs.parquet"
    )
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "why.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    made = report.run_report(tmp_path).read_text()
    assert 'id="claim-sent"' in made
    assert "goodput (Mbit/s)" in made
    assert "1.9</td>" in made
    assert "data:image/svg+xml;base64," in made
    assert "<dt>seed</dt><dd>7</dd>" in made
    (tmp_path / "report.html").write_text("the study's own")
    assert report.run_report(tmp_path).read_text() == "the study's own"


def test_folders_of_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(tmp_path)]) == 2
    assert "expected the folder of a run" in capsys.readouterr().err
    assert main(["report", str(tmp_path / "nowhere")]) == 2
    assert "there is no such folder" in capsys.readouterr().err
    (tmp_path / "claims.json").write_text("{")
    assert main(["report", str(tmp_path)]) == 2
    assert "claims.json: damaged: it is not valid JSON" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["claims.json"]


def test_seeds_in_brief() -> None:
    assert ranges([5]) == "5"
    assert ranges([3, 1, 2, 10, 11]) == "1–3, 10–11"
