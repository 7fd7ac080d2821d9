"""The commands of ``tightlink analyze`` for many responses and many algorithms."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from tightlink import cli

IRIS = str(Path(__file__).parent / "data" / "tables" / "iris.csv")
COMPARED = str(Path(__file__).parent.parent / "examples" / "controls-compared.csv")


def _json(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    assert cli.main(["analyze", *words, "--json"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_correlation(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["analyze", "correlation", IRIS]) == 0
    out = capsys.readouterr().out
    assert out.startswith("4 responses have 2 dimensions: 3 of 6 pairs have |r| > 0.65")
    found = _json(
        capsys, "correlation", IRIS, "--threshold", "0.9", "--responses", "petal_length,petal_width,sepal_width"
    )
    assert found["dimension"] == 2
    assert len(found["r"]) == 3  # type: ignore[arg-type]
    assert _json(capsys, "correlation", IRIS, "--threshold", "gap")["threshold"] == pytest.approx(0.6142, abs=1e-4)


def test_names_are_separated_by_commas_or_given_again(capsys: pytest.CaptureFixture[str]) -> None:
    once = _json(capsys, "correlation", IRIS, "--responses", "petal_length, petal_width,sepal_width")
    again = _json(capsys, "correlation", IRIS, "--responses", "petal_length,petal_width", "--responses", "sepal_width")
    assert once == again
    assert len(once["r"]) == 3  # type: ignore[arg-type]  # a matrix, row by row


def test_components(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["analyze", "pca", IRIS]) == 0
    assert "PC1           2.918  73.0 %    73.0 %" in capsys.readouterr().out
    assert _json(capsys, "components", IRIS)["above_one"] == 1
    assert cli.main(["analyze", "pca", IRIS, "--by", "specie"]) == 2
    assert "no column specie" in capsys.readouterr().err


def test_clusters(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["analyze", "clusters", COMPARED, "--algorithm", "congestion"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("apart from a cluster of all others: fast under 10 of 16 conditions")
    found = _json(capsys, "clusters", COMPARED, "--algorithm", "congestion", "--condition", "rate")
    assert [each["condition"] for each in found] == ["20 Mbit/s", "100 Mbit/s"]  # type: ignore[index]
    assert cli.main(["analyze", "clusters", COMPARED, "--algorithm", "congestions"]) == 2
    assert "did you mean congestion?" in capsys.readouterr().err


def test_long_tables(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    wide = pl.read_csv(COMPARED, comment_prefix="#").filter(flows=16, queue="1 BDP", delay="5 ms")
    responses = ["loss", "timeouts", "own_bps"]
    wide.select("rate", "congestion", *responses).write_csv(tmp_path / "wide.csv")
    long = wide.unpivot(responses, index=["rate", "congestion"], variable_name="response")
    long.write_csv(tmp_path / "long.csv")
    for command in (["clusters"], ["ranks", "--responses", "loss,own_bps"]):
        both = [_json(capsys, *command, str(tmp_path / f"{name}.csv"), "--algorithm", "congestion")
                for name in ("wide", "long")]  # fmt: skip
        assert both[0] == both[1]


def test_factors_that_are_no_condition_are_no_responses(capsys: pytest.CaptureFixture[str]) -> None:
    found = _json(capsys, "ranks", COMPARED, "--algorithm", "congestion", "--condition", "rate,delay")
    assert "flows" not in {row["response"] for row in found["table"]}  # type: ignore[attr-defined]


def test_ranks(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["ranks", COMPARED, "--algorithm", "congestion", "--responses", "own_bps"]
    assert cli.main(["analyze", *words]) == 0
    assert capsys.readouterr().out.startswith("scalable ranks best, 1.75 of 8 over 16 cells")
    summary = _json(capsys, *words, "--best", "smallest")["summary"]
    assert summary[-1]["algorithm"] == "scalable"  # type: ignore[index]


def test_outliers(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["analyze", "outliers", COMPARED, "--algorithm", "congestion"]) == 0
    out = capsys.readouterr().out
    assert "one algorithm is an outlier\nwere all alike, about 13 would have one\n" in out
    found = _json(capsys, "outliers", COMPARED, "--algorithm", "congestion", "--responses", "loss")
    assert len(found["cells"]) == 16  # type: ignore[arg-type]
    assert cli.main(["analyze", "outliers", COMPARED, "--algorithm", "congestion", "--level", "5"]) == 2
    assert "--level = 5.0: expected a probability between 0 and 1" in capsys.readouterr().err


def test_shares(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["shares", COMPARED, "--algorithm", "congestion", "--own", "own_bps", "--standard", "standard_bps"]
    assert cli.main(["analyze", *words, "--available", "rate"]) == 0
    assert (
        capsys.readouterr()
        .out.splitlines()[1]
        .startswith("scalable      65.1 %                  28.7 %            2.39     16       0")
    )
    assert cli.main(["analyze", *words, "--available", "delay"]) == 2
    assert "delay: expected numbers, or quantities in the unit of own_bps" in capsys.readouterr().err


def test_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compared = [COMPARED, "--algorithm", "congestion"]
    commands = {
        "correlation": [IRIS], "components": [IRIS, "--by", "species"], "clusters": compared, "outliers": compared,
        "ranks": compared,
        "shares": [*compared, "--own", "own_bps", "--standard", "standard_bps", "--available", "rate"],
    }  # fmt: skip
    for name, words in commands.items():
        file = str(tmp_path / f"{name}.png")
        assert cli.main(["analyze", name, *words, "-o", file]) == 0
        assert Path(file).read_bytes().startswith(b"\x89PNG")
        capsys.readouterr()
        assert cli.main(["analyze", name, *words, "-o", file]) == 2
        assert "is there already" in capsys.readouterr().err
    assert len(list(tmp_path.iterdir())) == len(commands) + 1


def test_wrong_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["analyze", "correlation", IRIS, "--threshold", "high"]) == 2
    assert '--threshold = "high": expected a number from 0 to less than 1, or "gap"' in capsys.readouterr().err
    assert cli.main(["analyze", "ranks", IRIS, "--algorithm", "species"]) == 2
    assert "no factor beside the algorithm; expected --condition COLUMN" in capsys.readouterr().err


def test_a_response_of_two_values_is_no_factor(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rows = [f"{rate},{tcp},{place * rate},{0.01 if tcp == 'fast' else 0}" for rate in (10, 100)
            for place, tcp in enumerate(("reno", "fast", "bic", "cubic"), 1)]  # fmt: skip
    path = tmp_path / "runs.csv"
    path.write_text("\n".join(["rate,tcp,own_bps,loss", *rows]))
    for analysis in ("ranks", "outliers", "clusters"):
        assert cli.main(["analyze", analysis, str(path), "--algorithm", "tcp", "--responses", "own_bps,loss"]) == 0
    assert "in 2 of 4 cells" in capsys.readouterr().out
    shares = ["--own", "own_bps", "--standard", "loss", "--available", "rate"]
    assert cli.main(["analyze", "fairness", str(path), "--algorithm", "tcp", *shares]) == 0


def test_few_runs_and_what_is_missing_are_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    few = [1, 3, 9] + [None] * 17
    pl.DataFrame({"u": range(20), "v": few, "w": [place * 4 % 7 for place in range(20)]}).write_csv(path)
    assert cli.main(["analyze", "correlation", str(path)]) == 0
    said = (
        "1 pair may be kept by chance, as few runs have both: p ≥ 0.05; most so u and v (r = 0.96 of 3 runs, p = 0.18)"
    )
    assert said in capsys.readouterr().out
    shares = pl.DataFrame({"rate": [10, 20, 40] * 2, "tcp": ["fast"] * 3 + ["bic"] * 3, "own": [1, 2, 3, 4, 5, 6],
                           "standard": [4, 5, 6, None, None, None]})  # fmt: skip
    shares.write_csv(path)
    words = [
        "--algorithm",
        "tcp",
        "--condition",
        "rate",
        "--own",
        "own",
        "--standard",
        "standard",
        "--available",
        "rate",
    ]
    assert cli.main(["analyze", "fairness", str(path), *words]) == 0
    assert "left out, as no run has both throughputs: bic" in capsys.readouterr().out


@pytest.mark.parametrize("analysis", ["correlation", "pca"])
def test_columns_that_are_taken_for_factors_are_named(
    analysis: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("u,v\n1,2\n2,4.1\n")
    assert cli.main(["analyze", analysis, str(path)]) == 2
    said = "expected responses, columns of numbers; u, v: taken for factors, as they have two values"
    assert said in capsys.readouterr().err
