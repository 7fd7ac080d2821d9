"""Reports of captures."""

from __future__ import annotations

from pathlib import Path

import tightlink as tl
from captures import UDP, ethernet, ipv4, noise, pcap, pcapng, udp
from conversations import MS, A, B
from tightlink import cli
from tightlink.report import captures, run_report
from tightlink.report.blocks import Chart


def test_report(tmp_path: Path) -> None:
    file = tmp_path / "a.pcapng"
    file.write_bytes(pcapng(noise(8)))
    shown = tmp_path / "shown.html"
    written = ["-o", str(tmp_path / "run"), "--report", str(shown)]
    assert cli.main(["capture", str(file), "--interval", "100 ms", *written]) == 0
    for page in (run_report(tmp_path / "run").read_text(), shown.read_text()):
        for title in ("Why is it slow?", "Flows", "Protocols", "Sizes of packets", "Interfaces"):
            assert f">{title}<" in page
        assert "its receiver closed its window" in page
        assert "how long nothing was in flight" in page
        # Whoever gets the page by mail sees of which capture it is.
        assert f"{file}: " in page


def test_a_report_of_one(tmp_path: Path) -> None:
    """Words are singular where there is one; axes of rates begin at zero, however little they vary."""
    frames = [(n * MS, ethernet(ipv4(A, B, UDP, udp((2000, 53), 1000)))) for n in range(3000)]
    (tmp_path / "a").write_bytes(pcap(frames))
    run = tl.capture(tmp_path / "a", interval="100 ms")
    assert captures.lead(run).endswith(": 1 connection, 1 flow.")
    (section,) = (section for section in captures.sections(run) if section.title == "Protocols")
    charts = [block.chart.to_dict() for block in section.blocks if isinstance(block, Chart)]
    assert len(charts) == 1
    for chart in charts:
        low, high = chart["encoding"]["y"]["scale"]["domain"]
        assert low == 0
        assert 8.224 < high < 10


def test_a_line_of_few_points_says_how_to_get_more(tmp_path: Path) -> None:
    frames = [(n * MS, ethernet(ipv4(A, B, UDP, udp((2000, 53), 1000)))) for n in range(3000)]
    (tmp_path / "a").write_bytes(pcap(frames))
    sections = captures.sections(tl.capture(tmp_path / "a"))
    (chart,) = (
        block for each in sections if each.title == "Protocols" for block in each.blocks if isinstance(block, Chart)
    )
    assert (
        chart.caption == 'Throughput of each interval of 1 s. For a finer line, read the file with --interval "100 ms".'
    )
