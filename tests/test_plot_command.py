"""Figures of a folder by name: the list, the formats, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl
import pytest

import tightlink as tl
from tightlink.report.figures import figures

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Said = Callable[..., tuple[int, str, str]]

_BEGINS: Final = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, one_flow: str) -> Path:
    scenario = tl.loads(one_flow).set_all({"duration": "1 s", "observe.interval": "100 ms"})
    return tl.simulate(scenario).save(tmp_path_factory.mktemp("drawn") / "run")


def test_a_run_has_the_figures_of_its_report(run: Path, said: Said) -> None:
    code, out, _ = said("plot", str(run))
    assert code == 0
    names = [line.split("  ")[0].strip() for line in out.splitlines()[1:]]
    assert names == [each.name for each in figures(run)]
    assert {"overview", "over-time", "delay", "delay-2", "cwnd_packets", "queue_packets"} <= set(names)
    assert len(set(names)) == len(names)


def test_figures_of_a_sweep_say_what_is_in_them(tmp_path: Path, one_flow: str) -> None:
    """Two rows of charts of one factor have one heading and no captions."""
    base = tl.loads(one_flow).set("duration", "1 s")
    tl.sweep(base, {"link.bottleneck.queue": ["5 packets", "50 packets"]}, output=tmp_path / "sweep")
    titles = {each.name: each.title for each in figures(tmp_path / "sweep")}
    assert len(set(titles.values())) == len(titles) > 1
    assert "p95 RTT" in titles["effect-of-link-bottleneck-queue-2"]


@pytest.mark.parametrize("ending", _BEGINS)
@pytest.mark.parametrize("name", ["overview", "delay", "cwnd_packets"])
def test_each_format(run: Path, said: Said, tmp_path: Path, name: str, ending: str) -> None:
    file = tmp_path / f"figure.{ending}"
    assert said("plot", str(run), name, "-o", str(file))[:2] == (0, f"{file}\n")
    assert _BEGINS[ending] in file.read_bytes()[:1000]
    # Nothing is overwritten.
    assert said("plot", str(run), name, "-o", str(file))[0] == 2


def test_what_is_written_has_no_strip_to_drag_over(run: Path, said: Said, tmp_path: Path) -> None:
    """All of it is shown, over the whole time."""
    file = tmp_path / "over-time.svg"
    assert said("plot", str(run), "over-time", "-o", str(file))[0] == 0
    text = file.read_text(encoding="utf-8")
    assert "drag over" not in text
    assert "legend to pick" not in text
    assert "time (s)" in text or "time (ms)" in text
    assert ">0.8<" in text or ">800<" in text


def test_a_study_has_those_that_it_drew(said: Said, tmp_path: Path) -> None:
    table = pl.DataFrame({"time_s": [0.0, 1.0], "queue_packets": [0, 19]})
    tl.plots.save(tl.plots.line(table, x="time_s", y="queue_packets"), tmp_path / "figures", "queue")
    assert said("plot", str(tmp_path))[1].split() == ["figure", "title", "queue"]
    for ending, begins in _BEGINS.items():
        file = tmp_path / f"drawn.{ending}"
        assert said("plot", str(tmp_path), "queue", "-o", str(file))[0] == 0
        assert begins in file.read_bytes()[:1000]


def test_a_study_that_drew_none_has_a_report(said: Said, tmp_path: Path) -> None:
    (tmp_path / "claims.json").write_text("[]", encoding="utf-8")
    code, _, err = said("plot", str(tmp_path))
    assert (code, "draws no figures; its charts are in" in err) == (2, True)


def test_some_flows_of_a_series(run: Path, said: Said, tmp_path: Path) -> None:
    file = tmp_path / "x.svg"
    assert said("plot", str(run), "queue_packets", "--entity", "bottleneck", "-o", str(file))[0] == 0
    text = file.read_text(encoding="utf-8")
    assert ("bottleneck" in text, "bottleneck.reverse" in text) == (True, False)
    for more, expected in (
        (["overview", "--entity", "ftp"], "entity, or --entity, is of a series, such as cwnd_packets"),
        (["cwnd_packets", "--entity", "fpt"], "did you mean ftp?"),
        (["--entity", "ftp"], "--entity: nothing is drawn without the name of a figure"),
    ):
        code, _, err = said("plot", str(run), *more)
        assert (code, expected in err) == (2, True), err


def test_what_is_not_there(run: Path, said: Said, tmp_path: Path) -> None:
    code, _, err = said("plot", str(run), "overvew", "-o", str(tmp_path / "x.svg"))
    assert code == 2
    assert "did you mean overview?" in err
    assert said("plot", str(run), "-o", str(tmp_path / "x.svg"))[2].endswith(
        "nothing is drawn without the name of a figure\n"
    )
    assert not list(tmp_path.iterdir())
