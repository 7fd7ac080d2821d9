"""Tables of claims: what they may say, what they compute, and what is told of mistakes in them."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

import tightlink as tl
from tightlink.errors import TightlinkError
from tightlink.studies import named, names
from tightlink.studies.claims_table import ClaimsTable, figure
from tightlink.studies.expressions import NotObservedError, evaluate, fill

OBSERVED = {"base.rate-a": 4.0, "tcp/base.sent": 10, "verdict": "bad: loss", "none": None, "equal": True}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("base.rate-a - 1", 3.0),
        ("tcp/base.sent / base.rate-a", 2.5),
        ("-base.rate-a ** 2 / 1e3", -0.016),
        ("max(base.rate-a, 5, tcp/base.sent)", 10),
        ("1 < base.rate-a <= 4 and not base.rate-a > 4", True),
        ("1 < base.rate-a < 4 or verdict == 'good'", False),
        ("'bad: loss' in verdict", True),
        ("'same' if equal else 'other'", "same"),
        ("round(tcp/base.sent / 3, 2)", 3.33),
        ("none", None),
    ],
)
def test_expressions(text: str, value: object) -> None:
    assert evaluate(text, OBSERVED) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("max(queue.lost / queue.sent)", 0.25),
        ("sum(queue.lost > 0)", 1),
        ("mean(abs(queue.lost - 2))", 1.5),
        ("median(queue.limit)", 27.5),
        ("all(queue.sent == 4) and rises(queue.limit) and falls(queue.lost)", True),
        ("rises(queue.sent) or falls(queue.sent)", False),
    ],
)
def test_columns_take_part_row_by_row(text: str, value: object) -> None:
    table = pl.DataFrame({"limit": [5, 50], "sent": [4, 4], "lost": [1, 0]})
    assert evaluate(text, {"queue": table}) == value


def test_a_column_is_no_condition() -> None:
    table = ClaimsTable.parsed("""
[[claims]]
id = "a"
statement = "Nothing is lost"
place = "p. 1"
observed = "max(queue.lost)"
holds = "queue.lost == 0"
""")
    with pytest.raises(TightlinkError, match=r"claim a: holds must be a condition, not Series; all\(…\) is one"):
        table.judged({"queue": pl.DataFrame({"limit": [5, 50], "lost": [1, 0]})})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("base.rate-b", '"base.rate-b" was not observed; "base.rate-a" was'),
        ("base.rate-a -", "is no expression"),
        ("__import__('os')", "there is no function __import__"),
        ("maximum(base.rate-a)", "there is no function maximum; did you mean max"),
        ("[1, 2]", "has more in it than arithmetic"),
        ("max(1, default=2)", "has more in it|was not observed"),
        ("(lambda: 1)()", "no expression|more in it|was not observed"),
    ],
)
def test_what_is_no_expression(text: str, message: str) -> None:
    with pytest.raises((ValueError, NotObservedError), match=message):
        evaluate(text, OBSERVED)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("queue.5.loss", '; "queue.5.lost" was'),
        ("queue.9.lost", "; queue has 5, 50, limit, lost"),
        ("queue.lsot", '; "queue.lost" was'),
        ("quue.5.lost", "; what was: queue, nested.run"),
        ("nested.run.set", '; "nested.run.sent" was'),
        ("nested.run.x", "; nested.run has sent, lost"),
    ],
)
def test_what_there_is_in_place_of_what_was_not_observed(name: str, said: str) -> None:
    queue = pl.DataFrame({"limit": [5, 50], "lost": [1, 0]})
    with pytest.raises(NotObservedError) as caught:
        evaluate(name, {"queue": queue, "nested.run": {"sent": 1, "lost": 0}})
    assert str(caught.value) == f'"{name}" was not observed{said}'


def test_a_format_that_is_none_is_named_with_its_expression() -> None:
    with pytest.raises(ValueError, match=r'"\{base\.rate-a:msec 0\}": expected one of percent, ms, '):
        fill("{base.rate-a:msec 0}", OBSERVED)


def test_sentences() -> None:
    text = "{base.rate-a:.1f} Mbit/s, {base.rate-a / 100:percent 1}, {verdict}, {0.0123:ms}, {tcp/base.sent * 1e3:kbit}"
    written = "4.0 Mbit/s, 4.0 %, bad: loss, 12.3 ms, 10 kbit/s"
    assert fill(text, OBSERVED).replace("\u00a0", " ") == written


CLAIM = """
[[claims]]
id = "a"
statement = "It is four"
place = "p. 1"
observed = "base.rate-a"
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("claims = 3 4", "claims.toml: not TOML"),
        ("claims = 3", r"claims\.toml: claims must be tables, each below a line \[\[claims\]\]"),
        (CLAIM.replace("[[claims]]", "[claims]"), r"claims\.toml: claims must be tables"),
        (
            CLAIM.replace("claims", "claim"),
            r'claims\.toml: "claim" is no key of a table of claims; did you mean claims\?',
        ),
        (CLAIM, "claim a: either expected or holds must be given"),
        (CLAIM + 'expected = 4\nholds = "base.rate-a > 3"', "claim a: either expected or holds must be given"),
        (CLAIM + "expected = 4\ntolerance = 1", "claim a: tolerance_from must say where the tolerance comes from"),
        (CLAIM + 'holds = "base.rate-a > 3"\nrelative = 1', "claim a: a figure that is expected has one of tolerance"),
        (CLAIM + "expected = 4\nexpcted = 4", 'claim a: "expcted" is no key of a claim; did you mean expected'),
        (CLAIM + "expected = 4\nunit = 4", "claim a: unit must be text, not 4"),
        (CLAIM + 'expected = 4\norigin = "ours"', 'claim a: origin must be "theory" or "ours" where source is given'),
        (CLAIM + 'expected = 4\nsource = "p. 2"', "claim a: either place, in the document, or source must be given"),
        ('[[claims]]\nid = "a"\nstatement = "b"\nplace = "c"', "claim a: observed is missing, or the reason why"),
        (CLAIM + 'expected = 4\nopen_if = "base.rate-a > 3"', "claim a: open must say why there is no verdict"),
        ('[[claims]]\nid = "a"\nplace = "c"', "claim a: statement is missing"),
        ('[[claims]]\nstatement = "a"\nplace = "c"', "claim 1: id is missing"),
        (2 * (CLAIM + "expected = 4"), r"claims\.toml: two claims have the id a"),
        (CLAIM + 'holds = "base.rate-a >"', 'claim a: "base.rate-a >" is no expression'),
        (CLAIM + 'expected = "{4 +}"', r'claim a: "4 \+" is no expression'),
        (CLAIM + 'expected = 4\nreason = "{least(base.rate-a)}"', "claim a: .* there is no function least"),
        (
            CLAIM + 'expected = "4 s"\nrelative = 0.1\ntolerance_from = "ours"',
            "toml: claim a: expected must be a number, or an expression in braces, not '4 s'",
        ),
    ],
)
def test_mistakes_in_a_table(text: str, message: str) -> None:
    with pytest.raises(tl.TightlinkError, match=message):
        ClaimsTable.parsed(text)


def test_what_is_not_observed_is_named_with_its_claim() -> None:
    table = ClaimsTable.parsed(CLAIM + "expected = 4")
    with pytest.raises(tl.TightlinkError, match=r'claims\.toml: claim a: "base\.rate-a" was not observed'):
        table.judged({})
    with pytest.raises(tl.TightlinkError, match="claim a: "):
        ClaimsTable.parsed(CLAIM + 'holds = "base.rate-a > 3"').judged({"base.rate-a": "text"})


def test_a_tolerance_may_be_an_expression() -> None:
    bound = 'expected = 3\ntolerance = "{base.rate-a / 4}"\ntolerance_from = "ours: a quarter"'
    (claim,) = ClaimsTable.parsed(CLAIM + bound).judged(OBSERVED)
    assert (claim.tolerance, claim.holds) == (1.0, True)


def test_rows_of_several_entries() -> None:
    family = """
[[claims]]
rows = "rates"
[[claims.each]]
id = "{}.<name>"
statement = "It is <rate>"
place = ""
observed = "base.rate-a"
expected = "<rate>"
"""
    text = '[rows]\nrates = [{ name = "four", rate = 4.0 }, { name = "half", rate = 0.5 }]\n'
    claims = ClaimsTable.parsed(text + family.format("a") + family.format("b")).judged(OBSERVED)
    assert [claim.id for claim in claims] == ["a.four", "a.half", "b.four", "b.half"]
    assert [claim.statement for claim in claims[:2]] == ["It is 4", "It is 0.5"]
    assert figure({claim.id: claim for claim in claims}, "b.half") == 0.5
    with pytest.raises(tl.TightlinkError, match=r'claims\.toml: there are no rows "rates"'):
        ClaimsTable.parsed(family.format("a"))


def test_rows_of_several_families_are_multiplied_and_parts_chosen() -> None:
    text = """
[rows]
rates = [{ name = "four", rate = 4.0 }, { name = "half", rate = 0.5 }]
parts = [{ part = "one" }, { part = "two" }]
[[claims]]
rows = ["parts", "rates"]
[[claims.each]]
id = "<part>.<name>"
statement = "It is <rate>"
place = ""
observed = "base.rate-a"
expected = "<rate>"
open = "{'' if base.rate-a == 4 else 'It is another one.'}"
"""
    table = ClaimsTable.parsed(text)
    assert [each.id for each in table.statements] == ["one.four", "one.half", "two.four", "two.half"]
    assert [each.id for each in table.of({"two"}).statements] == ["two.four", "two.half"]
    # A sentence without words is no reason to be open.
    assert [claim.holds for claim in table.of({"one"}).judged({"base.rate-a": 4.0})] == [True, False]
    assert [claim.reason for claim in table.of({"one"}).judged({"base.rate-a": 3.0})] == ["It is another one."] * 2
    with pytest.raises(tl.TightlinkError, match=r'claims\.toml: there are no rows "other"'):
        ClaimsTable.parsed(text.replace('"parts", "rates"', '"parts", "other"'))


def test_rows_without_a_key_have_that_of_the_entry() -> None:
    text = """
[[claims]]
rows = [{ name = "a", rate = 4 }, { name = "b", rate = 3, why = "A slip." }, { name = "c", rate = 2 }]
why = "{base.rate-a:.0f} is not <rate>."
[[claims.each]]
id = "<name>"
statement = "It is <rate>"
place = ""
observed = "base.rate-a"
expected = "<rate>"
why_not = "<why>"
"""
    claims = ClaimsTable.parsed(text).judged(OBSERVED)
    assert [claim.reason for claim in claims] == ["", "A slip.", "4 is not 2."]


def test_a_claim_without_a_verdict_is_open() -> None:
    table = ClaimsTable.parsed(CLAIM + 'holds = "none"\nreason = "Nobody looked."')
    assert [claim.verdict for claim in table.judged(OBSERVED)] == ["open"]


def test_what_is_observed_may_have_no_verdict() -> None:
    table = ClaimsTable.parsed(CLAIM + 'expected = 5\nopen = "Another version: {base.rate-a:.0f} here."')
    (claim,) = table.judged(OBSERVED)
    assert (claim.expected, claim.observed, claim.holds, claim.reason) == (5, 4.0, None, "Another version: 4 here.")


def test_a_claim_is_open_under_a_condition() -> None:
    table = ClaimsTable.parsed(CLAIM + 'expected = 4\nopen_if = "runs < 9"\nopen = "Only {runs} runs."')
    verdicts = [table.judged({"base.rate-a": 4, "runs": runs})[0] for runs in (8, 9)]
    assert [(claim.holds, claim.reason) for claim in verdicts] == [(None, "Only 8 runs."), (True, "")]


def test_measured_claims_are_open_where_nothing_was_measured() -> None:
    table = ClaimsTable.parsed(CLAIM.replace("claims", "live") + "expected = 4.0")
    assert table.judged({}) == []
    assert [claim.verdict for claim in table.judged_live(OBSERVED)] == ["holds"]
    (missing,) = table.judged_live({})
    assert (missing.verdict, missing.reason) == ("open", "The machine was too busy to measure it.")
    other = ClaimsTable.parsed(CLAIM.replace("claims", "live") + 'expected = 4.0\nunmeasured = "{verdict}."')
    (missing,) = other.judged_live({"verdict": "No kernel"})
    assert (missing.verdict, missing.reason) == ("open", "No kernel.")


PAGE = (Path(__file__).parents[1] / "docs" / "validation.md").read_text(encoding="utf-8")
#: Those of which the page counts all claims; of the others it depends on what is run.
COUNTED = [name for name, _ in names() if name not in {"congestion-control", "evaluation"}]


@pytest.mark.parametrize("study", COUNTED)
def test_validation_counts_the_claims_of_each_study(study: str) -> None:
    found = Counter[str](statement.origin for statement in named(study).table().statements)
    words = {"document": "the document", "theory": "theory and others", "ours": "our own"}
    wanted = [f"{found[origin]} of {whose}: " for origin, whose in words.items() if found[origin]]
    (row,) = (line for line in PAGE.splitlines() if line.startswith("| ") and f"claims of the study `{study}`" in line)
    assert re.findall(r"\d+ of (?:the document|theory and others|our own): ", row) == wanted
    for part in row.split(" | ")[2].split("; "):
        total, *verdicts = map(int, re.findall(r"(\d+) (?:of|holds?|do|does|is|are)\b", part.partition(" (")[0]))
        assert total == sum(verdicts), part


@pytest.mark.parametrize("study", [name for name, _ in names() if name != "evaluation"])
def test_every_bound_of_a_condition_says_where_it_comes_from(study: str) -> None:
    table = named(study).table()
    silent = [
        each.id
        for each in (*table.statements, *table.live)
        if re.search(r"(?<![\w.-])\d+(\.\d+|e-\d+)", each.holds) and not each.tolerance_from
    ]
    assert silent == []
