"""How many runs an experiment makes, looked at before any of it is built.

Example:
    >>> check_runs(10**9, 100_000, "100,000 combinations of 10,000 replications")
    Traceback (most recent call last):
    tightlink.errors.ScenarioError: 1,000,000,000 runs (100,000 combinations of 10,000 replications): expected at most \
100,000; vary less, take a smaller design such as fractional or latin-hypercube, or allow more (max_runs, \
or --yes)
"""

from __future__ import annotations

from typing import Final

from tightlink.errors import ScenarioError
from tightlink.numbers import grouped

#: Runs of an experiment, unless somebody asks for more.
MOST_RUNS: Final = 100_000
_MOST_DIGITS: Final = 15


def check_runs(runs: int, most: int, made_of: str) -> None:
    """Refuse an experiment that is larger than anybody meant."""
    if runs > most:
        raise ScenarioError(
            f"{counted(runs)} runs ({made_of}): expected at most {counted(most)}; vary less, take a smaller "
            "design such as fractional or latin-hypercube, or allow more (max_runs, or --yes)",
            statement=True,
        )


def counted(number: int) -> str:
    """A whole number for people.

    >>> counted(100_000), counted(2**100)
    ('100,000', 'more than 10^30')
    """
    return grouped(number) if number < 10**_MOST_DIGITS else f"more than 10^{_digits(number) - 1}"


def _digits(number: int) -> int:
    """How many decimal digits a whole number has, without writing all of them."""
    digits = int(number.bit_length() * 0.30103)
    return digits + 1 if number >= 10**digits else digits
