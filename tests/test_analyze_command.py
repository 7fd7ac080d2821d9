"""The command ``tightlink analyze``: what it prints, its JSON, its figures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tightlink import cli

EXAMPLES = Path(__file__).parent.parent / "examples"
LINK, ROUTERS = str(EXAMPLES / "link-sweep.csv"), str(EXAMPLES / "router-load.csv")


def test_saturation_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["analyze", "saturation", LINK]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith("saturated below 479 B, from ")
    assert "cost per packet and byte" in out
    assert "d ln f / d ln p" in out
    assert "\x1b" not in out


def test_saturation_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["analyze", "saturation", LINK, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [law["name"] for law in found["laws"]] == ["cost", "ideal"]
    # What the example was made with.
    cost = found["laws"][0]
    assert cost["line_rate_bps"]["value"] == pytest.approx(100e6, rel=0.02)
    assert cost["overhead_bytes"]["low"] < 20 < cost["overhead_bytes"]["high"]
    assert cost["per_packet_s"]["value"] == pytest.approx(32.2e-6, rel=0.02)
    assert cost["per_byte_s"]["value"] == pytest.approx(16e-9, rel=0.1)
    assert len(found["points"]) == 29


def test_no_saturation_is_an_answer(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    lines = [
        line for line in Path(LINK).read_text().splitlines() if not line[0].isdigit() or int(line.split(",")[0]) > 600
    ]
    (tmp_path / "large.csv").write_text("\n".join(lines))
    assert cli.main(["analyze", "saturation", str(tmp_path / "large.csv")]) == 0
    assert capsys.readouterr().out.startswith("no saturation seen between 621 B and 1,471 B")
    assert cli.main(["analyze", "saturation", LINK, "--largest", "300"]) == 2
    assert "too few points: 5 packet sizes" in capsys.readouterr().err


def test_regimes(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["analyze", "regimes", ROUTERS]) == 0
    out = capsys.readouterr().out
    assert out.startswith("A: load stops following at 4 of 4 packet lengths, between 4,000 and 4,500 packets/s; ")
    assert "B: load stops following at 2 of 4 packet lengths; neither" in out
    assert cli.main(["analyze", "regimes", ROUTERS, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["A"]["governs"], found["B"]["governs"]) == ("packets_per_s", None)
    length = found["A"]["lengths"][0]
    for name in ("onset", "decline", "loss_onset"):
        assert length[f"{name}_packets_per_s"] == length[name]
    bits = 8 * length["packet_bytes"]
    assert length["onset_bps"] == {end: bits * rate for end, rate in length["onset"].items()}
    assert "loss_onset_bps" in length
    assert cli.main(["analyze", "regimes", ROUTERS, "--load", "load_reported"]) == 2
    assert "no column load_reported" in capsys.readouterr().err


def test_figures_are_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "router.png"
    assert cli.main(["analyze", "regimes", ROUTERS, "-o", str(file)]) == 0
    assert file.read_bytes().startswith(b"\x89PNG")
    assert cli.main(["analyze", "regimes", ROUTERS, "-o", str(file)]) == 2
    assert "is there already" in capsys.readouterr().err
    assert cli.main(["analyze", "saturation", LINK, "-o", str(tmp_path / "link.svg")]) == 0
    assert cli.main(["analyze", "saturation", LINK, "-o", str(tmp_path / "link.xls")]) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.svg", "router.png"]
