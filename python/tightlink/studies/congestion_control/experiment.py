"""The experiments of document 003 as data: what is varied, which controls are compared, how large the network is.

Each stands in a file of the folder ``data``: the parameters of the four-tier network that all its runs have, those
that are varied over two levels, and a resolution. Sizes are the document's; a smaller part of an experiment has fewer
sources and slower routers alike, and may be shorter.

Example:
    >>> found = experiment("1b")
    >>> len(found.conditions), len(found.algorithms)
    (32, 8)
    >>> found.scenario(0, "fast", Size(Fraction(1, 100), "5 min")).traffic["users"].tcp.congestion
    'fast'
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from tightlink import units
from tightlink.errors import ScenarioError
from tightlink.experiment.execute import Task
from tightlink.experiment.fractional import fraction
from tightlink.scenario.four_tier import FourTier

if TYPE_CHECKING:
    import polars as pl

    from tightlink.experiment.fractional import Fraction as Design
    from tightlink.scenario import Scenario

#: Those of the document, then what its sensitivity analysis has for one control by itself.
NAMES: Final = ("sensitivity", "sensitivity-reno", "sensitivity-compound", "1a", "1b", "2a", "2b", "2c")
#: Standard TCP.
STANDARD: Final = "reno"
#: The document's numbers of its controls.
NUMBERS: Final = {
    "bic": 1, "compound": 2, "fast": 3, "highspeed": 4, "htcp": 5, "scalable": 6, "reno": 7, "fast-at": 8,
}  # fmt: skip
_FACTOR_OF_ALGORITHM: Final = "congestion"
_TWICE: Final = 2


@dataclass(frozen=True)
class Size:
    """How much of an experiment is run."""

    scale: Fraction
    """Of its sources and speeds."""
    duration: str
    """Simulated time of a run."""

    def __str__(self) -> str:
        return f"scale {self.scale}, {self.duration} of simulated time"


@dataclass(frozen=True)
class Experiment:
    """An experiment: all runs of it are scenarios of the four-tier network."""

    name: str
    title: str
    question: str
    scale: Fraction
    """Of its network at the document's size, in the parameters of `FourTier`."""
    duration: str
    algorithms: tuple[str, ...]
    """Controls that are compared; empty where the control is a factor."""
    beside: bool
    """Whether half of the sources have standard TCP."""
    resolution: int
    base: dict[str, Any]
    factors: dict[str, tuple[Any, Any]]

    @cached_property
    def design(self) -> Design:
        """The two-level design, a row for each condition."""
        return fraction(len(self.factors), self.resolution)

    @cached_property
    def conditions(self) -> pl.DataFrame:
        """A row for each condition: its number, and −1 or 1 for each factor."""
        import polars as pl

        columns = {name: self.design.signs[:, place] for place, name in enumerate(self.factors)}
        return pl.DataFrame({"condition": range(len(self.design.signs)), **columns})

    def scenario(self, condition: int, algorithm: str | None, size: Size) -> Scenario:
        """What is simulated for one condition and control. All controls of a condition have the same random numbers."""
        row = self.conditions.row(condition, named=True)
        chosen = {name: pair[row[name] > 0] for name, pair in self.factors.items()}
        longer = _TWICE if chosen.pop("duration", "low") == "high" else 1
        seconds = units.parse(size.duration, units.TIME)[1].exact * longer
        if algorithm is not None:
            chosen[_FACTOR_OF_ALGORITHM] = {STANDARD: 0.5, algorithm: 0.5} if self.beside else algorithm
        parameters = self.base | chosen | {"duration": units.format_time(float(seconds))}
        network = FourTier.model_validate(parameters | {"scale": float(self.scale * size.scale)})
        return network.scenario().set("seed", condition + 1)

    def tasks(self, size: Size) -> list[Task]:
        """All runs.

        Raises:
            ScenarioError: The scale leaves less than a source for each access router.
        """
        self.check(size)
        return [
            Task(f"{self.name}/{condition:02}" + (f"/{algorithm}" if algorithm else ""),
                 self.scenario(condition, algorithm, size))
            for condition in range(self.conditions.height)
            for algorithm in self.algorithms or (None,)
        ]  # fmt: skip

    def check(self, size: Size) -> None:
        """Refuse a scale at which there would be less than a source for each access router."""
        low, high = self.factors["sources"]
        counts = [FourTier.model_validate({"sources": level}).value("sources") for level in (low, high)]
        least = 1 / (self.scale * min(counts))
        if size.scale < least:
            smallest = f"1/{int(1 / least)}"
            expected = f"from {smallest} to 1 for {self.name}: there, each access router has one source"
            raise ScenarioError(expected, key="--scale", value=str(size.scale))

    def sources(self, size: Size) -> int:
        """How many its largest condition has."""
        highest = {name: pair[1] for name, pair in self.factors.items()}
        network = FourTier.model_validate(self.base | highest | {"scale": float(self.scale * size.scale)})
        users = network.scenario().resolve()["users"]
        return sum(site["sources"] for group in users for site in group["sites"])


def experiment(name: str) -> Experiment:
    """One of `NAMES`."""
    base, _, algorithm = name.partition("-")
    found = _read(base)
    if base != "sensitivity":
        return found
    if not algorithm:
        return replace(found, algorithms=())
    factors = {key: pair for key, pair in found.factors.items() if key != _FACTOR_OF_ALGORITHM}
    title = f"{found.title}, {algorithm} alone"
    return replace(found, name=name, title=title, algorithms=(algorithm,), factors=factors)


def _read(name: str) -> Experiment:
    file = resources.files(__package__) / "data" / f"{name}.toml"
    table = tomllib.loads(file.read_text(encoding="utf-8"))
    factors = {key: (low, high) for key, (low, high) in table.pop("factors").items()}
    scale, algorithms = Fraction(str(table.pop("scale"))), tuple(table.pop("algorithms"))
    return Experiment(name=name, scale=scale, algorithms=algorithms, factors=factors, **table)
