"""Claims: their verdicts, their file, their table."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tightlink.console import columns_chosen
from tightlink.errors import TightlinkError
from tightlink.experiment import claims, claims_file
from tightlink.experiment.claims import Claim
from tightlink.text_table import Choice

KEYS = [
    "id", "statement", "source", "origin", "expected", "observed", "tolerance", "condition", "tolerance_from", "unit", "holds",
    "reason",
]  # fmt: skip


def _some() -> list[Claim]:
    return [
        claims.compared("base.packets", "2385 packets are sent", "table 1", 2385, np.int64(2385)),
        claims.compared(
            "base.goodput", "The flow carries 1.9 Mbit/s", "p. 4", 1.9, np.float64(1.912), relative=0.02, unit="Mbit/s"
        ),
        claims.compared("queue-5", "2097 packets [are] sent", "p. 6", 2097, 2096, reason="another timer"),
        claims.stated("order", "Reno beats Tahoe", "fig. 2", 1.25, True, "ratio of the goodputs"),  # noqa: FBT003
        claims.stated("wan", "The path carries 20 Mbit/s", "fig. 3", None, None, "its data were not published"),
    ]


def test_verdicts() -> None:
    assert [claim.holds for claim in _some()] == [True, True, False, True, None]
    assert [claim.verdict for claim in _some()] == ["holds", "holds", "document contradicted", "holds", "open"]
    assert claims.exit_code(_some()) == 3
    assert claims.exit_code(claim for claim in _some() if claim.holds is not False) == 0


@pytest.mark.parametrize(
    ("expected", "observed", "tolerance", "holds"),
    [
        (0.3, 0.4, 0.1, True),
        (0.3, 0.2, 0.1, True),
        (0.3, 0.4000001, 0.1, False),
        (-5, -5.05, 0.05, True),
        (5, math.nan, 9.0, False),
        (5, None, 9.0, False),
    ],
)
def test_differences_are_those_of_the_decimals(
    expected: float, observed: float | None, tolerance: float, *, holds: bool
) -> None:
    claim = claims.compared("a", "it is so", "p. 1", expected, observed, tolerance=tolerance)
    assert claim.holds is holds
    assert claim.tolerance == tolerance


def test_relative_tolerances_are_kept_in_the_unit() -> None:
    claim = claims.compared("a", "it is so", "p. 1", -200.0, -210.0, relative=0.05)
    assert (claim.tolerance, claim.holds, claim.tolerance_text) == (10.0, True, "± 10 (5 %)")


def test_what_is_no_number_does_not_hold_and_stays_out_of_the_file(tmp_path: Path) -> None:
    found = [
        claims.compared("nan", "it is so", "p. 1", 1.0, math.nan),
        claims.compared("inf", "it is so", "p. 1", 1.0, math.inf, tolerance=1.0),
        claims.compared("none", "it is so", "p. 1", None, None),
    ]
    assert [claim.holds for claim in found] == [False] * 3
    text = claims_file.save(found, tmp_path / "claims.json").read_text()
    assert "NaN" not in text
    assert "Infinity" not in text


def test_words_and_truths_are_compared_too() -> None:
    assert claims.compared("a", "it is so", "p. 1", "cubic", "cubic").observed_text == "cubic"
    assert claims.compared("a", "it is so", "p. 1", True, 1).holds  # noqa: FBT003
    assert claims.compared("a", "it is so", "p. 1", True, np.bool_(False)).observed_text == "no"  # noqa: FBT003


def test_wrong_claims_are_refused() -> None:
    with pytest.raises(ValueError, match="either tolerance or relative"):
        claims.compared("a", "it is so", "p. 1", 1.0, 1.0, tolerance=1.0, relative=1.0)
    with pytest.raises(ValueError, match="an id has letters"):
        claims.compared("a b", "it is so", "p. 1", 1, 1)
    with pytest.raises(ValueError, match="needs a reason"):
        claims.stated("a", "it is so", "p. 1", None, None, "")
    with pytest.raises(TypeError, match="numbers and words"):
        claims.compared("a", "it is so", "p. 1", 1, [1])
    with pytest.raises(TypeError, match="must be a number"):
        claims.compared("a", "it is so", "p. 1", "1", 1.0, tolerance=1.0)


def test_the_file_is_that_of_the_contract(tmp_path: Path) -> None:
    path = claims_file.save(_some(), tmp_path / "new" / "claims.json")
    listed = json.loads(path.read_text())
    assert [list(claim) for claim in listed] == [KEYS] * 5
    assert listed[1] == {
        "id": "base.goodput", "statement": "The flow carries 1.9 Mbit/s", "source": "p. 4", "origin": "document",
        "expected": 1.9, "observed": 1.912, "tolerance": 0.038, "condition": "",
        "tolerance_from": "", "unit": "Mbit/s", "holds": True, "reason": "",
    }  # fmt: skip
    assert claims_file.load(path) == _some()
    assert [file.name for file in path.parent.iterdir()] == ["claims.json"]


def test_ids_do_not_repeat(tmp_path: Path) -> None:
    path = tmp_path / "claims.json"
    with pytest.raises(TightlinkError, match="two claims have the id wan"):
        claims_file.save([*_some(), _some()[-1]], path)
    assert not path.exists()
    claims_file.save(_some(), path)
    path.write_text(path.read_text().replace('"queue-5"', '"wan"'))
    with pytest.raises(TightlinkError, match=r"claims\.json: two claims have the id wan"):
        claims_file.load(path)


@pytest.mark.parametrize("text", ["", "{", "3", "[3]", '[{"id": "a"}]', '{"id": "a"}', "\x00", '[{"id": 3}]'])
def test_files_of_something_else(text: str, tmp_path: Path) -> None:
    path = tmp_path / "claims.json"
    path.write_text(text)
    with pytest.raises(TightlinkError, match=r"claims\.json: damaged: (it is not valid JSON|not a file of claims)"):
        claims_file.load(path)
    with pytest.raises(TightlinkError, match="no such file"):
        claims_file.load(tmp_path / "nothing.json")


def test_a_plain_table() -> None:
    out = io.StringIO()
    claims.print_table(_some(), out)
    lines = out.getvalue().splitlines()
    assert lines[2].split() == "The flow carries 1.9 Mbit/s 1.9 ± 0.038 Mbit/s 1.912 Mbit/s holds".split()
    assert lines[3].endswith("document contradicted")
    assert "\x1b" not in out.getvalue()


def test_a_table_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    monkeypatch.setattr(out, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    claims.print_table(_some(), out)
    assert "2097 packets [are] sent" in out.getvalue()
    assert "\x1b[1;31mdocument contradicted" in out.getvalue()
    out.truncate(0)
    with columns_chosen(Choice(names=["verdict"])):
        claims.print_table(_some(), out)
    assert "here" not in out.getvalue()
    assert "\x1b[1;31mdocument contradicted" in out.getvalue()


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
def test_any_numbers_can_be_compared_and_kept(expected: float, observed: float) -> None:
    claim = claims.compared("a", "it is so", "p. 1", expected, observed, relative=0.5)
    assert claim.holds == (abs(observed - expected) <= 0.5 * abs(expected)) or expected != 0
    assert json.loads(json.dumps(claim.expected)) == expected
    assert claim.compared_text
