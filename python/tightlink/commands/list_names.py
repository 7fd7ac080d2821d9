"""The command ``tightlink list``: what there is to choose from."""

from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias, get_args

from tightlink import studies
from tightlink.commands.options import Json
from tightlink.commands.table_options import with_csv
from tightlink.console import print_json, print_text
from tightlink.experiment.metrics import listed
from tightlink.lazy import _core
from tightlink.scenario import PARAMETERS, PROFILES, TOPOLOGIES
from tightlink.scenario.forms import by_kind
from tightlink.scenario.networks import networks
from tightlink.scenario.traffic import Traffic
from tightlink.tables import metrics

_Kind: TypeAlias = Literal[
    "traffic",
    "congestion",
    "queues",
    "recovery",
    "profiles",
    "topologies",
    "networks",
    "parameters",
    "studies",
    "metrics",
]


@with_csv
def list_names(what: _Kind | None = None, *, json_: Json = False) -> None:
    """Print what there is to choose from, one name first on each line.

    Args:
        what: Kind of thing to list. Without it, the kinds that there are.
        json_: Print names and meanings as JSON.
    """
    names = [(name, about) for name, (about, _) in _LISTS.items()] if what is None else _LISTS[what][1]()
    if json_:
        print_json([{"name": name, "meaning": text} for name, text in names])
        return
    width = max((len(name) for name, _ in names), default=0)
    for name, text in names:
        print_text(f"{name:{width}}  {text}", indent=width + 2)


def _metrics() -> list[tuple[str, str]]:
    of_runs = ((f"runs.{name}", text) for name, text in listed())
    return [*metrics(), *((f"series.{name}", text) for name, text in _core.metrics()), *of_runs]


def _first_line(thing: Any) -> str:
    return str(thing.__doc__).partition("\n")[0].rstrip(".").replace("``", "")


#: By the kind: what it is, and what there is of it.
_LISTS: Final[dict[str, tuple[str, Callable[[], list[tuple[str, str]]]]]] = {
    "traffic": (
        "kinds of traffic",
        lambda: [(name, _first_line(table)) for name, table in by_kind(get_args(Traffic)[0]).items()],
    ),
    "congestion": ("congestion controls of TCP", lambda: list(_core.congestion())),
    "queues": ("queues of links", lambda: list(_core.queues())),
    "recovery": ("ways in which TCP finds and mends losses", lambda: list(_core.recoveries())),
    "profiles": (
        "defaults of all keys together, such as those of Linux",
        lambda: [(profile.name, profile.help) for profile in PROFILES.values()],
    ),
    "topologies": (
        "networks that a few keys describe",
        lambda: [(name, _first_line(topology)) for name, topology in TOPOLOGIES.items()],
    ),
    "networks": (
        "ready networks for tightlink new network",
        lambda: [(name, f"{network.title}: {network.about}") for name, network in networks().items()],
    ),
    "parameters": (
        "the twenty of the four-tier network",
        lambda: [(name, f"{each.id}: {each.meaning}") for name, each in PARAMETERS.items()],
    ),
    "studies": ("what tightlink study redoes", lambda: list(studies.names())),
    "metrics": ("columns of the tables of runs and sweeps, and what is sampled over time", _metrics),
}
