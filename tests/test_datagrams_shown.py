"""What a terminal and a comparison say of datagrams: delay variation for jitter buffers, losses, frames of a video."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Final

import polars as pl
import pytest

import tightlink as tl
from tightlink.analysis.compare.comparison import compare
from tightlink.analysis.compare.words import is_main
from tightlink.cli import main
from tightlink.diagnosis.delay_variation import with_delay_variation

OFFICE: Final = """
duration = "4 s"
link.uplink = { ends = ["office", "internet"], rate = "10 Mbit/s", delay = "10 ms", queue = "64 packets" }
traffic.backup = { kind = "bulk", from = "office", to = "internet" }
traffic.audio = { kind = "cbr", from = "office", to = "internet", interval = "20 ms", udp.payload = "160 B" }
traffic.camera = { kind = "video", from = "office", to = "internet", rate = "2 Mbit/s" }
"""


@pytest.fixture(scope="module")
def office() -> tl.Run:
    return tl.simulate(tl.loads(f"{OFFICE}observe.delays = true\n"))


def test_delay_variation_is_what_a_jitter_buffer_needs(office: tl.Run) -> None:
    found = dict(with_delay_variation(office).select("label", "delay_variation_p99_s").iter_rows())
    assert found["backup"] is None
    for label in ("audio", "camera"):
        delays = office.delays.filter(entity=label, delay="one_way_delay")
        in_time = delays["packets"].cum_sum() / delays["packets"].sum()
        late = delays.filter(in_time >= 0.99)["at_most_s"][0]
        # Delays are counted in classes of a width of 1/64.
        assert found[label] == pytest.approx(late - delays["at_most_s"][0], rel=1 / 64)


@pytest.mark.parametrize(
    "rate",
    [
        '{ schedule = [{ at = "0 s", rate = "100 kbit/s" }, { at = "1 s", rate = "10 Mbit/s" }] }',
        '{ kind = "markov", states = [{ rate = "1 Mbit/s", mean = "1 s" }, { rate = "9 Mbit/s", mean = "300 ms" }] }',
        '{ kind = "random-walk", start = "1 Mbit/s", least = "500 kbit/s", most = "8 Mbit/s", deviation = 1 }',
    ],
)
def test_a_jitter_buffer_evens_out_what_a_link_is_at_times_slower(rate: str) -> None:
    link = f'link.wire = {{ ends = ["a", "b"], rate = {rate}, delay = "10 ms" }}'
    call = 'traffic.call = { kind = "cbr", from = "a", to = "b", interval = "20 ms", udp.payload = "160 B" }'
    run = tl.simulate(tl.loads(f'duration = "9 s"\n{link}\n{call}\nobserve.delays = true'))
    delays = run.delays.filter(entity="call", delay="one_way_delay")
    late = delays.filter(delays["packets"].cum_sum() / delays["packets"].sum() >= 0.99)["at_most_s"][0]
    found = with_delay_variation(run)["delay_variation_p99_s"].item()
    # No packet is faster than the link ever can be, and some is nearly as fast as that.
    assert found >= (late - delays["at_most_s"][0]) * (1 - 1 / 64)
    assert found == pytest.approx(late - delays["at_most_s"][0], rel=1 / 64, abs=0.0005)


def test_what_saturates_a_link_has_no_jitter_buffer() -> None:
    text = OFFICE.partition("traffic")[0] + 'traffic.s = { kind = "saturate", from = "office", to = "internet" }'
    assert (
        "delay_variation_p99_s" not in with_delay_variation(tl.simulate(tl.loads(text).set("duration", "1 s"))).columns
    )


def test_the_command_shows_losses_and_frames(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "office.toml"
    file.write_text(OFFICE, encoding="utf-8")
    main(["run", str(file)])
    header = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("flow"))
    assert all(name in header for name in ("loss", "delay variation p99", "frames sent", "frames complete"))
    assert "one-way delay p99" not in header
    main(["run", str(file), "--columns", "frames complete,loss,OWD p99"])
    lines = capsys.readouterr().out.splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith("flow"))
    assert re.split(r"\s\s+", lines[start]) == ["flow", "frames complete", "loss", "one-way delay p99"]
    assert lines[start + 1].split()[1] == "–"
    assert float(lines[start + 3].split()[1]) <= 4 * 25


def test_a_comparison_has_frames_and_nothing_of_tcp_for_datagrams(office: tl.Run) -> None:
    main_rows = compare(office, office).values.filter(is_main() & (pl.col("table") == "flows"))
    shown = {entity: set(rows["metric"]) for (entity,), rows in main_rows.group_by("entity")}
    assert {"frames_sent", "frames_complete"} <= shown["camera"]
    assert not shown["camera"] & {"packets_retransmitted", "timeouts"}
    assert {"packets_retransmitted", "timeouts"} <= shown["backup"]
    assert "frames_sent" not in shown["audio"]


def test_delay_variation_is_the_same_wherever_it_is_read(
    office: tl.Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a terminal, as JSON, as CSV, and where two runs are compared."""
    expected = dict(with_delay_variation(office).select("label", "delay_variation_p99_s").iter_rows())
    file = tmp_path / "office.toml"
    file.write_text(OFFICE, encoding="utf-8")
    main(["run", str(file), "--json"])
    rows = json.loads(capsys.readouterr().out)["flows"]
    assert {row["label"]: row["delay_variation_p99_s"] for row in rows} == expected
    main(["run", str(file), "--csv"])
    table = capsys.readouterr().out.partition("# flows\n")[2].partition("\n\n")[0]
    read = pl.read_csv(io.StringIO(table))
    assert dict(read.select("label", "delay_variation_p99_s").iter_rows()) == expected
    compared = compare(office, office).of("flows", "delay_variation_p99_s")
    assert dict(compared.select("entity", "first").iter_rows()) == {
        label: value for label, value in expected.items() if value is not None
    }
