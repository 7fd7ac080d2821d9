"""What each lesson says is what its laboratory simulates, before and after each of its buttons."""

from __future__ import annotations

import shlex
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import tightlink as tl
from programs import needs_engine_for_browsers
from tightlink.laboratory import lessons
from tightlink.laboratory.text import settings

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = Path(lessons.__file__).parent


@cache
def runs(name: str) -> list[tl.Run]:
    """The scenario of a lesson, then after each button in the order of the text; sliders stay where they were moved."""
    base = tl.load(FOLDER / f"{name}.toml")
    moved: dict[str, object] = {}
    found = [tl.simulate(base)]
    for button in settings((FOLDER / f"{name}.md").read_text(encoding="utf-8")):
        moved |= {f"{key}.limit" if key.endswith(".queue") else key: value for key, value in button}
        found.append(tl.simulate(base.set_all(moved)))
    return found


def values(name: str, column: str, label: str) -> list[float]:
    """A column of a flow or a link in each of the runs."""
    rows = [run.flows.rows_by_key("label", named=True, unique=True) for run in runs(name)]
    if label not in rows[0]:
        rows = [run.links.rows_by_key("link", named=True, unique=True) for run in runs(name)]
    return [each[label][column] for each in rows]


def test_each_lesson_is_checked_here() -> None:
    checked = {name.removeprefix("test_").replace("_", "-") for name in globals()}
    assert set(lessons.LESSONS) <= checked


@needs_engine_for_browsers
def test_all_are_written_beside_their_sources_and_nothing_else_is_overwritten(
    tmp_path: Path, said: Callable[..., tuple[int, str, str]]
) -> None:
    listed = said("new", "lessons")[1]
    written = [Path(line) for line in said("new", "lessons", str(tmp_path))[1].splitlines()]
    assert [file.name for file in written] == [f"{name}.html" for name in lessons.LESSONS]
    for name, (title, sliders) in lessons.LESSONS.items():
        assert f"<title>{title}" in (tmp_path / f"{name}.html").read_text(encoding="utf-8")
        assert f"{name} " in listed
        assert title in listed
        # What is typed to write a changed one again has all its sliders.
        words = shlex.split(lessons.command(name).replace("\\\n", ""))
        assert [words[place + 1] for place, word in enumerate(words) if word == "--slider"] == sliders
    assert len(list(tmp_path.iterdir())) == 3 * len(written)
    assert said("new", "lessons", str(tmp_path))[0] == 0
    (tmp_path / "l4s.md").write_text("Mine.\n", encoding="utf-8")
    with pytest.raises(tl.TightlinkError, match=r"l4s\.md: is there already and differs"):
        lessons.write_lessons(tmp_path)
    (tmp_path / "l4s.md").unlink()
    (tmp_path / "l4s.html").write_text("<p>mine", encoding="utf-8")
    with pytest.raises(tl.TightlinkError, match=r"l4s\.html: another file has this name"):
        lessons.write_lessons(tmp_path)


def test_hidden_window() -> None:
    assert "window" not in (FOLDER / "hidden-window.toml").read_text(encoding="utf-8")
    default, _, closed, far = values("hidden-window", "one_way_delay_mean_s", "ftp")
    assert default / closed == pytest.approx(5, rel=0.05)
    assert far > 0.1
    queues = values("hidden-window", "queue_mean_packets", "bottleneck")
    assert queues[0] == pytest.approx(14, abs=0.5)
    assert queues[2] < 0.1
    goodputs = values("hidden-window", "goodput_bps", "ftp")
    assert goodputs[1] == pytest.approx(goodputs[0], rel=0.05)
    drops = values("hidden-window", "packets_dropped", "ftp")
    assert drops[0] == 0 < drops[1]
    assert values("hidden-window", "limited_by_receiver_window", "ftp")[2] > 0.9
    assert values("hidden-window", "utilization", "bottleneck")[3] < 0.5


def test_bufferbloat() -> None:
    # The call waits for what its delay has above the path's 10.2 ms.
    waits = [1e3 * delay - 10.2 for delay in values("bufferbloat", "one_way_delay_mean_s", "call")]
    large, small, tiny, again, codel, fair = waits
    assert again == large == pytest.approx(650, rel=0.05)
    assert small == pytest.approx(37, abs=0.5)
    assert tiny == pytest.approx(2, abs=0.2)
    assert codel == pytest.approx(7, abs=0.5)
    assert fair < 1.2
    uploads = [run.flows.filter(pl.col("label") != "call")["goodput_bps"].sum() for run in runs("bufferbloat")]
    assert uploads[1] >= uploads[0]
    busy = values("bufferbloat", "utilization", "uplink")
    assert busy[2] == pytest.approx(0.94, abs=0.005)
    assert min(busy[:2] + busy[3:]) > 0.99
    drops = values("bufferbloat", "packets_dropped", "uplink")
    assert drops[4] < drops[0]


def test_bbr_beside_cubic() -> None:
    bbr, cubic = (values("bbr-beside-cubic", "goodput_bps", label) for label in ("bbr", "cubic"))
    shallow, deep, three = (bbr[place] / (bbr[place] + cubic[place]) for place in (1, 2, 3))
    assert shallow > 0.8
    assert deep < 0.4
    assert three != deep
    base = tl.load(FOLDER / "bbr-beside-cubic.toml")
    swept = [
        tl.simulate(base.set("link.bottleneck.queue.limit", size)).flows["goodput_bps"] for size in ("2 BDP", "4 BDP")
    ]
    assert [bbr > cubic for bbr, cubic in swept] == [True, False]


def test_phase_effects() -> None:
    a, b = (values("phase-effects", "goodput_bps", label) for label in "ab")
    ratios = [second / first for first, second in zip(a, b, strict=True)]
    fair, nine, eleven, fifteen, again, by_loss, by_red = ratios
    assert all(0.8 < ratio < 1.25 for ratio in (fair, eleven, by_loss, by_red))
    assert again == nine > 4
    assert fifteen > 4


def test_slow_start_overshoot() -> None:
    name = "slow-start-overshoot"
    counting, standard, hystart, plus_plus, short, short_hystart, *others = values(name, "packets_dropped", "file")
    holds = 334 + 400
    assert counting == pytest.approx(holds, abs=2)
    assert standard == pytest.approx(holds / 2, abs=2)
    assert hystart == 0
    assert plus_plus / counting == pytest.approx(0.8, abs=0.05)
    assert min(short, short_hystart) > 100
    assert set(others) == {counting}


def test_slow_start_grows_as_its_lesson_says() -> None:
    base = tl.load(FOLDER / "slow-start-overshoot.toml").set("observe.interval", "1 ms")

    def sampled(metric: str, **changes: str) -> pl.DataFrame:
        keys = {"kind": "traffic.file.tcp.slow_start", "queue": "link.bottleneck.queue.limit"}
        series = tl.simulate(base.set_all({keys[name]: value for name, value in changes.items()})).series
        return series.filter(pl.col("metric") == metric, pl.col("value") > 0).sort("time_s")

    assert sampled("in_flight_packets")["value"].max() == pytest.approx(2 * (334 + 400), abs=2)
    for kind, factor in (("byte-counting", 2), ("standard", 1.5)):
        windows = sampled("cwnd_packets", kind=kind)
        # At the ends of the round trips of 80.4 ms, before a queue makes them longer.
        ends = [windows.filter(pl.col("time_s") <= 0.1 + 0.0804 * turn)["value"][-1] for turn in range(1, 4)]
        assert [ends[1] / ends[0], ends[2] / ends[1]] == pytest.approx([factor, factor], rel=0.05)
    first_s = sampled("packets_dropped", queue="100 packets")["time_s"][0]
    assert sampled("cwnd_packets", queue="100 packets").filter(pl.col("time_s") <= first_s)["value"][-1] < 334


def test_packets_against_bits() -> None:
    name = "packets-against-bits"
    lost = [run.flows["packets_dropped"][0] / run.flows["packets_sent"][0] for run in runs(name)]
    assert lost[:3] == [0, 0, 0]
    assert lost[3] == lost[4] == pytest.approx(1 / 3, abs=0.02)
    assert lost[5] == 0
    busy = values(name, "utilization", "wan")
    assert busy[3] < busy[0]
    assert runs(name)[2].nodes.filter(pl.col("load_true").is_not_null())["load_true"].item() == pytest.approx(
        1, abs=1e-3
    )
    assert [run.nodes["dropped_input_ring"].sum() for run in runs(name)] == [
        run.flows["packets_dropped"].sum() for run in runs(name)
    ]
    headers = [values(name, "goodput_bps", "stream")[place] / 6e6 for place in (0, 1, 2)]
    assert headers == pytest.approx([1 - 28 / size for size in (1500, 500, 150)], rel=2e-3)


def test_l4s() -> None:
    # Above 10 ms of propagation and 0.3 ms of transmission.
    prague, cubic = (
        [1e3 * delay - 10.3 for delay in values("l4s", "one_way_delay_mean_s", label)] for label in ("prague", "cubic")
    )
    assert [prague[0], cubic[0]] == pytest.approx([64, 64], abs=2)
    assert [prague[1], cubic[1]] == pytest.approx([5, 6], abs=0.5)
    assert prague[2] < 0.34
    assert cubic[2] > 10
    assert prague[3] == pytest.approx(cubic[3], rel=0.25)
    drops = values("l4s", "packets_dropped", "bottleneck")
    assert drops[1] > 0
    assert drops[2] == 0
    assert values("l4s", "packets_marked", "bottleneck")[2] > 0
    coupled = runs("l4s")[2].scenario.set("observe.interval", "100 ms")
    later = tl.simulate(coupled).series.filter((pl.col("metric") == "goodput_bps") & (pl.col("time_s") > 4))
    shares = dict(later.group_by("entity").agg(pl.col("value").mean()).iter_rows())
    assert shares["prague"] / (shares["prague"] + shares["cubic"]) == pytest.approx(0.5, abs=0.1)
