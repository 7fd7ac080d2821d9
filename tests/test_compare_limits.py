"""Limits of changes: a comparison that ends with exit code 3 where something went further."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import tightlink as tl
from tightlink.analysis.compare.limits import Limit, passed

Said = Callable[..., tuple[int, str, str]]
BASE = """
profile = "ns2"
duration = "2 s"
link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms", queue = "15 packets" }
traffic.ftp = { kind = "bulk", from = "a", to = "b" }
"""


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A run with losses, and one with a longer queue instead."""
    made = tmp_path_factory.mktemp("runs")
    base = tl.loads(BASE)
    tl.simulate(base).save(made / "first")
    tl.simulate(base.set("link.wire.queue", "20 packets")).save(made / "second")
    return str(made / "first"), str(made / "second")


def test_what_went_further_is_said_by_the_exit_code(folders: tuple[str, str], said: Said) -> None:
    found = tl.compare(*folders)
    growth = found.summary.filter(metric="one_way_delay_p95_s")["change"][0]
    assert 0 < growth < 0.5
    for share, expected in ((100 * growth - 1, 3), (100 * growth + 1, 0)):
        limit = f"one_way_delay_p95_s=+{share:.4f} %"
        code, out, err = said("compare", *folders, "--limit", limit)
        assert code == expected
        assert "one-way delay p95, worst flow" in out
        assert ("beyond --limit" in err) == (expected == 3)
    # Only growth was limited, and only falling.
    assert said("compare", *reversed(folders), "--limit", "one_way_delay_p95_s=+0 %")[0] == 0
    assert said("compare", *folders, "--limit", "one_way_delay_p95_s=-0 %")[0] == 0
    # Either way.
    assert said("compare", folders[0], folders[0], "--limit", "one_way_delay_p95_s=0 %,goodput_bps=0 %")[0] == 0
    assert said("compare", *reversed(folders), "--limit", "one_way_delay_p95_s=1 %")[0] == 3


def test_what_went_further_is_in_json(folders: tuple[str, str], said: Said) -> None:
    limits = ("--limit", "loss=0.1 %, queue_mean_packets=+10 %", "--limit", "packets_dropped=+0 %")
    code, out, _ = said("compare", *folders, *limits, "--json")
    beyond = json.loads(out)["beyond"]
    assert code == 3
    assert [(row["metric"], row["of"]) for row in beyond] == [("loss", "all flows"), ("queue_mean_packets", "wire")]
    # Of shares the difference, in points.
    assert beyond[0]["change"] == beyond[0]["second"] - beyond[0]["first"] < 0
    code, out, _ = said("compare", *reversed(folders), "--limit", "packets_dropped=+1000 %", "--json")
    assert code == 3
    assert all((row["first"], row["change"]) == (0.0, None) for row in json.loads(out)["beyond"])
    assert json.loads(said("compare", *folders, "--json")[1])["beyond"] == []


def test_combinations_of_sweeps(tmp_path: Path) -> None:
    levels = {"link.wire.delay": ["5 ms", "10 ms"]}
    for name, queue in (("first", "15 packets"), ("second", "20 packets")):
        tl.sweep(tl.loads(BASE).set("link.wire.queue", queue), levels, output=tmp_path / name)
    found = tl.compare(tmp_path / "first", tmp_path / "second")
    rows = passed(found, Limit.parse("one_way_delay_p95_s=+1 %"))
    assert [row["of"] for row in rows] == ["link.wire.delay = 5 ms", "link.wire.delay = 10 ms"]
    assert passed(found, Limit.parse("goodput_bps=-90 %")) == []


@pytest.mark.parametrize("limit", ["goodput_bps", "goodput_bps=5", "=5 %", "goodput_bps=5 ms", "goodput_bps=+-5 %"])
def test_limits_that_are_none(limit: str, folders: tuple[str, str], said: Said) -> None:
    code, out, err = said("compare", *folders, "--limit", limit)
    assert (code, out) == (2, "")
    assert f'--limit = "{limit}": expected METRIC=CHANGE, such as "one_way_delay_p95_s=+10 %"' in err


def test_a_metric_that_there_is_not(folders: tuple[str, str], said: Said) -> None:
    code, out, err = said("compare", *folders, "--limit", "one_way_delay_p96_s=+10 %")
    assert (code, out) == (2, "")
    assert "did you mean one_way_delay_p9" in err
