"""What a test of a pack is: settings, each simulated with some seeds, what is read from the runs, and words of it."""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import polars as pl

from tightlink.errors import ScenarioError, closest, one_of
from tightlink.experiment.execute import Task
from tightlink.scenario import Scenario
from tightlink.studies.evaluation.setup.subjects import Subject
from tightlink.studies.expressions import fill

#: What the tests are called, and say, in the order of the report.
TABLE: Final[dict[str, dict[str, Any]]] = tomllib.loads(
    Path(__file__).parents[1].joinpath("tests.toml").read_text(encoding="utf-8")
)
#: Seeds of the tests in which something is random.
SEEDS: Final = (1, 2, 3)
#: What the runs of a trial are called: that of its subject, and what it is compared with.
_RUNS: Final = ("run", "alone")


class Made(NamedTuple):
    """How a test is made."""

    settings: Callable[[], Mapping[str, Any]]
    """By what tables call them."""
    scenarios: Callable[[Any, Any, int], Sequence[Scenario]]
    """What is simulated for a control or a queue, a setting and a seed: one, or one and what it is compared with."""
    measure: Callable[..., Mapping[str, float | None]]
    """From a setting and its runs to values by name, with the unit at its end; none where something did not happen."""
    curve: Callable[..., pl.DataFrame] | None = None
    """From the same to what the report draws over time."""


@dataclass(frozen=True)
class Headline:
    """A column of the table of all subjects."""

    title: str
    measure: str
    setting: str | None = None
    """Without it, the mean over all settings."""
    never: str = "never"
    """What stands there if it did not happen in the simulated time."""


@dataclass(frozen=True)
class Test:
    """A test of the pack, as ``tests.toml`` describes it."""

    name: str
    title: str
    about: str
    """What is simulated and measured, in the report."""
    made: Made
    headlines: Sequence[Headline]
    random: bool = True
    plane: bool = False
    others: bool = False

    @property
    def seeds(self) -> Sequence[int]:
        """What each setting is simulated with."""
        return SEEDS if self.random else (1,)


def tests(made: Mapping[str, Made], constants: Mapping[str, object]) -> dict[str, Test]:
    """The tests of a module, by name, whose texts name its constants."""
    found = {}
    for name, own in made.items():
        entry = TABLE[name]
        columns = [{key: fill(text, constants) for key, text in column.items()} for column in entry["headlines"]]
        words = {"about": fill(entry["about"], constants), "headlines": [Headline(**column) for column in columns]}
        found[name] = Test(name, made=own, **entry | words)
    return found


class Trial(NamedTuple):
    """One setting of a test with one seed, for what is evaluated."""

    subject: Subject
    test: Test
    setting: str
    value: Any
    """Of the setting."""
    seed: int

    def tasks(self) -> list[Task]:
        """The simulations that the test needs."""
        place = f"{self.subject.label}/{self.test.name}/{self.setting}/{self.seed}"
        scenarios = self.test.made.scenarios(self.subject.value, self.value, self.seed)
        return [Task(f"{place}/{name}", scenario) for name, scenario in zip(_RUNS, scenarios, strict=False)]


# Named packs: what they ask of a control, from ``requirements.toml``, and whether a control meets it.

Verdict: TypeAlias = Literal["met", "missed", "open"]


@dataclass(frozen=True)
class Requirement:
    """One thing that a pack asks of a control."""

    title: str
    place: str
    """Where it stands: a section, or the name of a test."""
    test: str = ""
    """The test that says it; without one it is open."""
    measure: str = ""
    settings: tuple[str, ...] = ()
    """Those settings of the test in which it must hold; without them, all."""
    at_least: float | None = None
    at_most: float | None = None
    origin: str = ""
    """Where the bound is from."""
    open: str = ""
    """Why no test says it."""

    @property
    def bound(self) -> float:
        """The value that is still enough."""
        found = self.at_most if self.at_least is None else self.at_least
        return 0.0 if found is None else found

    def judged(self, value: float | None, half_width: float | None) -> Verdict:
        """Whether a mean meets it: open where its confidence interval has values on both sides of the bound.

        Without a mean it did not happen, which misses the bound.
        """
        if value is None:
            return "missed"
        margin = (value - self.bound) if self.at_least is not None else (self.bound - value)
        if abs(margin) < (half_width or 0.0):
            return "open"
        return "met" if margin >= 0 else "missed"


@dataclass(frozen=True)
class Pack:
    """A named pack of requirements."""

    title: str
    requirements: tuple[Requirement, ...]

    @property
    def tests(self) -> list[str]:
        """The names of the tests that it needs."""
        return list(dict.fromkeys(each.test for each in self.requirements if each.test))


@cache
def packs() -> dict[str, Pack]:
    """The packs of requirements, by name."""
    tables = tomllib.loads((Path(__file__).parents[1] / "requirements.toml").read_text(encoding="utf-8"))
    return {
        name: Pack(table["title"], tuple(_requirement(each) for each in table["requirements"]))
        for name, table in tables.items()
    }


def _requirement(table: dict[str, Any]) -> Requirement:
    own = {("origin" if key == "from" else key): value for key, value in table.items()}
    return Requirement(**own | {"settings": tuple(own.get("settings", ()))})


def pack_named(name: str) -> Pack:
    """The pack of this name.

    Raises:
        ScenarioError: There is none.
    """
    known = packs()
    if name not in known:
        raise ScenarioError(one_of(known), key="pack", value=name, suggestion=closest(name, known))
    return known[name]
