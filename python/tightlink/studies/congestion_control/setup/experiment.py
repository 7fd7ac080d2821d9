"""The experiments of the NIST study as data: what is varied, which controls are compared, how large the network is.

Each stands in a file of the folder ``data``: the parameters of the four-tier network that all its runs have, those
that are varied over two levels, and a resolution. Sizes are the document's; a smaller part of an experiment has fewer
access routers with users, or fewer sources and slower routers alike, and may be shorter.

Example:
    >>> found = experiment("1b")
    >>> len(found.conditions), len(found.algorithms)
    (32, 8)
    >>> found.scenario(0, "fast", Size(Fraction(1), "5 min")).traffic["users"].tcp.congestion
    {'kind': 'fast', 'mi_threshold': '1000 s'}
"""

import tomllib
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any, Final, Literal

import polars as pl

from tightlink import units
from tightlink.errors import Argument, ScenarioError
from tightlink.experiment.execute import Task
from tightlink.experiment.fractional import Fraction as Design
from tightlink.experiment.fractional import fraction, of_signs
from tightlink.lazy import np
from tightlink.scenario import Scenario
from tightlink.scenario.four_tier import FourTier

#: The document's, with what its sensitivity analysis has of one control by itself; then what it asks for.
NAMES: Final = (
    "sensitivity", "sensitivity-reno", "sensitivity-compound", "sensitivity-256", "sensitivity-whole",
    "1a", "1b", "1b-fast", "2a", "2b", "2c", "mixture", "window", "prices", "choices",
)  # fmt: skip
#: The sensitivity analysis with 256 runs, which tell smaller effects; of resolution IV, all words even.
LARGE: Final = "sensitivity-256"
_GENERATORS: Final = "a b c d e f g h abcdh bdf adg abcdf bdfgh beg acefh cefgh cde ade acegh ceg"
#: The sensitivity analysis once, at the document's size and for longer: whether smaller runs tell the same.
ONCE: Final = "sensitivity-whole"
#: With one control alone.
OF_ONE: Final = ("sensitivity-reno", "sensitivity-compound")
#: What is claimed of FAST and FAST-AT in experiment 1b, in a network large enough that its losses are the whole one's.
DELAY: Final = "1b-fast"
#: What is compared where all controls are there at once.
ALL: Final = "all"
#: Standard TCP.
STANDARD: Final = "reno"
_FACTOR_OF_ALGORITHM: Final = "congestion"


@dataclass(frozen=True)
class Size:
    """How much of an experiment is run."""

    scale: Fraction
    """Of its sources and speeds."""
    duration: str
    """Simulated time of a run."""
    routers: Fraction = Fraction(1)
    """Part of the access routers of each class that have users."""

    @property
    def part(self) -> Fraction:
        """What there is of the whole experiment's traffic."""
        return self.scale * self.routers

    def __str__(self) -> str:
        parts = [f"{self.routers} of the access routers"] if self.routers != 1 else []
        parts += [f"scale {self.scale}"] if self.scale != 1 or not parts else []
        return f"{', '.join(parts)}, {self.duration} of simulated time"


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
    mixing: Literal["alone", "half", "all"]
    """Whether all sources have the same control, half of them standard TCP, or all controls are there at once."""
    resolution: int
    base: dict[str, Any]
    factors: dict[str, tuple[Any, Any]]
    variants: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Keys of the scenario with which all runs are repeated, by name."""
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Keys of the scenario that go with a control, or with one in one variant, by its name."""
    replications: int = 1
    """Runs of each condition and control, which differ in their seed."""
    same_seed: bool = False
    """Whether all conditions have the same random numbers, so that what these do cancels in effects of factors."""
    generators: str = ""
    """Of which of the first factors each is the product; without them the smallest design of the resolution."""

    @cached_property
    def design(self) -> Design:
        """The two-level design, a row for each condition."""
        if not self.generators:
            return fraction(len(self.factors), self.resolution)
        import pydoe

        return of_signs(np.asarray(pydoe.fracfact(self.generators), dtype=np.int64))

    @cached_property
    def conditions(self) -> pl.DataFrame:
        """A row for each condition: its number, and −1 or 1 for each factor."""
        columns = {name: self.design.signs[:, place] for place, name in enumerate(self.factors)}
        return pl.DataFrame({"condition": range(len(self.design.signs)), **columns})

    @property
    def compared(self) -> list[str]:
        """What has a run for each condition: controls, with the variant if there are some; one name for all at once."""
        if self.mixing == "all":
            return [ALL]
        names = self.algorithms or ("",)
        return [f"{name}, {variant}" for variant in self.variants for name in names] if self.variants else list(names)

    def scenario(self, condition: int, compared: str, size: Size, replication: int = 1) -> Scenario:
        """What is simulated for one condition and control. All controls of a condition have the same random numbers.

        Where controls are compared, conditions differ in their seeds, so that a mean over conditions is one over seeds.
        """
        algorithm, _, variant = compared.partition(", ")
        row = self.conditions.row(condition, named=True)
        chosen = {name: pair[row[name] > 0] for name, pair in self.factors.items()}
        longer = 2 if chosen.pop("duration", "low") == "high" else 1
        seconds = units.parse(size.duration, units.TIME)[1].exact * longer
        if algorithm and self.mixing == "alone":
            chosen[_FACTOR_OF_ALGORITHM] = algorithm
        elif algorithm:
            mixed = self.algorithms if self.mixing == "all" else (STANDARD, algorithm)
            chosen[_FACTOR_OF_ALGORITHM] = {name: 1 / len(mixed) for name in mixed}
        network = self._network(size, chosen | {"duration": units.format_time(float(seconds))})
        return network.scenario().set_all(
            {"seed": replication if self.same_seed else condition + replication}
            | self.settings.get(algorithm, {})
            | self.variants.get(variant, {})
            | (self.settings.get(compared, {}) if variant else {})
        )

    def tasks(self, size: Size) -> list[Task]:
        """The simulations of all conditions and controls.

        Raises:
            ScenarioError: The scale leaves less than a source for each access router.
        """
        self.check(size)
        return [
            Task(
                f"{self.name}/{condition:02}/{compared}/{replication}",
                self.scenario(condition, compared, size, replication),
            )
            for condition in range(self.conditions.height)
            for compared in self.compared
            for replication in range(1, self.replications + 1)
        ]

    def check(self, size: Size) -> None:
        """Refuse a scale that leaves less than a source for each access router, turns levels round, or is above one."""
        levels = self.factors.get("sources", (self.base.get("sources", "low"),))
        fewest = min(FourTier.model_validate({"sources": level}).value("sources") for level in levels)
        least, most = Fraction(1, int(self.scale * fewest)), min(Fraction(1), 1 / self.scale)
        if not least <= size.scale <= most:
            expected = f"from {least}, one source for each access router, to {most} for experiment {self.name}"
            raise ScenarioError(expected, key=Argument("scale"), value=str(size.scale))
        if size.scale == 1:
            return
        for row in self.conditions.drop("condition").iter_rows(named=True):
            chosen = {name: self.factors[name][sign > 0] for name, sign in row.items()}
            if (turned := self._network(size, chosen).turned_levels()) is not None:
                raise ScenarioError(f"{turned} (experiment {self.name})", key=Argument("scale"), value=str(size.scale))

    def distortion(self, size: Size) -> str | None:
        """What a scale makes of its network, with all factors low, in two sentences; nothing at the scale 1."""
        lowest = {name: low for name, (low, _) in self.factors.items()}
        return self._network(size, lowest).distortion(of=float(self.scale))

    def _network(self, size: Size, chosen: dict[str, Any]) -> FourTier:
        """Its network at a size, with some levels of its factors."""
        sized = {"scale": float(self.scale * size.scale), "routers": float(size.routers)}
        return FourTier.model_validate(self.base | chosen | sized)

    def sources(self, size: Size) -> int:
        """How many its largest condition has."""
        highest = {name: high for name, (_, high) in self.factors.items()}
        users = self._network(size, highest).scenario().resolve()["users"]
        return sum(site["sources"] for group in users for site in group["sites"])


def experiment(name: str) -> Experiment:
    """The experiment of one of `NAMES`."""
    base, _, algorithm = name.partition("-")
    found = _read(base)
    if base == "sensitivity":
        found = replace(found, algorithms=())
    words, changes = _CHANGED.get(name, ("", {}))
    if name in OF_ONE:
        factors = {key: pair for key, pair in found.factors.items() if key != _FACTOR_OF_ALGORITHM}
        words, changes = f"{algorithm} alone", {"algorithms": (algorithm,), "factors": factors, "replications": 1}
    return replace(found, name=name, title=f"{found.title}, {words}", **changes) if words else found


#: Of experiments with the file of another: what their titles say beside its, and what is changed.
_CHANGED: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    DELAY: ("FAST and FAST-AT", {"algorithms": ("fast", "fast-at", STANDARD)}),
    # As many runs leave effects of three parameters and more, whose size is an error.
    LARGE: ("256 runs", {"generators": _GENERATORS, "replications": 1}),
    ONCE: ("the whole network", {"replications": 1}),
}


def _read(name: str) -> Experiment:
    file = resources.files(__package__) / "data" / f"{name}.toml"
    table = tomllib.loads(file.read_text(encoding="utf-8"))
    factors = {key: (low, high) for key, (low, high) in table.pop("factors").items()}
    scale, algorithms = Fraction(str(table.pop("scale"))), tuple(table.pop("algorithms"))
    return Experiment(name=name, scale=scale, algorithms=algorithms, factors=factors, **table)


# The heavier runs: experiments at sizes that take hours, whose responses are stored with the study.
#
# `tightlink study congestion-control --evidence run` simulates them, and finishes what was interrupted; `benchmarks/
# evidence.py` stores what they found, and ``--evidence stored`` takes that instead of runs.

_TEN_MINUTES: Final = Size(Fraction(1), "10 min", Fraction(1, 6))
#: In the order of how much they decide.
HEAVIER: Final = ("2b", "2a", "choices", "sensitivity", "1b", "mixture", ONCE, DELAY)
#: Those that are not ten minutes of a sixth of the access routers.
_SIZES: Final = {ONCE: Size(Fraction(1), "5 min"), DELAY: Size(Fraction(1), "10 min", Fraction(1, 3))}
#: The resolution of a smaller design than the document's 32 conditions; 16 are two hours of a core.
_SMALLER: Final = {"2b": 4, "2a": 4}
FOLDER: Final = Path(__file__).parent / "data" / "evidence"


def heavier(name: str) -> tuple[Experiment, Size]:
    """An experiment of `HEAVIER`, and the size at which it is stored."""
    found = experiment(name)
    return replace(found, resolution=_SMALLER.get(name, found.resolution)), _SIZES.get(name, _TEN_MINUTES)


def file_of(name: str) -> Path:
    """Where the responses of an experiment are stored."""
    return FOLDER / f"{name}.parquet"
