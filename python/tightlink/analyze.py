"""Analyses of runs and of any table of them: what ``tightlink analyze`` does, as functions.

Each is looked up when it is asked for, and its module says by which method it works.

| question | functions |
| --- | --- |
| What limits a link or a router? | `saturation`, `regimes` |
| Which factors matter? | `main_effects`, `interactions`, `influence`, `filliben` |
| Which responses say the same? | `correlation`, `pca` |
| How do algorithms differ? | `clusters`, `outliers`, `ranks`, `throughput_shares`, `fairness` |
| What is the traffic like? | `hurst`, `burstiness`, `spikes`, `cycles`, `interarrivals`, `tail`, `cross_correlation` |
| What changes with time? | `oscillation`, `oscillations`, `markov_from_users`, `markov_from_log` |
| What does theory expect? | `mathis`, `pftk` |
| How does one read a table? | `read_measurements`, `read_runs` |

Example:
    >>> import polars as pl
    >>> import tightlink as tl
    >>> runs = pl.DataFrame({"rate": [1, 2, 1, 2], "queue": [5, 5, 9, 9], "goodput_bps": [1.0, 2.0, 1.0, 2.0]})
    >>> tl.analyze.main_effects(runs, ["rate", "queue"], ["goodput_bps"]).select("factor", "effect").rows()
    [('rate', 1.0), ('queue', 0.0)]
"""

from __future__ import annotations

import importlib
from typing import Any, Final

from tightlink.analysis.effects.designed import read as read_runs
from tightlink.analysis.effects.influence import influence
from tightlink.analysis.effects.interactions import interactions
from tightlink.analysis.effects.main import main_effects
from tightlink.analysis.effects.ten_steps.steps import steps as filliben
from tightlink.analysis.limits.regimes import find as regimes
from tightlink.analysis.limits.saturation import find as saturation
from tightlink.analysis.markov import from_log as markov_from_log
from tightlink.analysis.markov import from_users as markov_from_users
from tightlink.analysis.measurements import read as read_measurements
from tightlink.analysis.path.response import mathis, pftk
from tightlink.analysis.responses.clusters import clusters
from tightlink.analysis.responses.correlation import correlation
from tightlink.analysis.responses.fairness import fairness
from tightlink.analysis.responses.fairness import shares as throughput_shares
from tightlink.analysis.responses.outliers import outliers
from tightlink.analysis.responses.pca import components as pca
from tightlink.analysis.responses.ranks import ranks
from tightlink.analysis.traffic.arrivals import interarrivals
from tightlink.analysis.traffic.burstiness import burstiness, hurst
from tightlink.analysis.traffic.cross_correlation import lag as cross_correlation
from tightlink.analysis.traffic.cycles import cycles
from tightlink.analysis.traffic.oscillation import oscillation
from tightlink.analysis.traffic.oscillations import of_run as oscillations
from tightlink.analysis.traffic.sizes import tail
from tightlink.analysis.traffic.spikes import spikes

__all__ = [
    "burstiness",
    "clusters",
    "correlation",
    "cross_correlation",
    "cycles",
    "fairness",
    "filliben",
    "hurst",
    "influence",
    "interactions",
    "interarrivals",
    "main_effects",
    "markov_from_log",
    "markov_from_users",
    "mathis",
    "oscillation",
    "oscillations",
    "outliers",
    "pca",
    "pftk",
    "ranks",
    "read_measurements",
    "read_runs",
    "regimes",
    "saturation",
    "spikes",
    "tail",
    "throughput_shares",
]

#: Where each function is: the module of `tightlink.analysis`, and its name there.
_PLACES: Final = {
    "burstiness": ("traffic.burstiness", "burstiness"),
    "clusters": ("responses.clusters", "clusters"),
    "correlation": ("responses.correlation", "correlation"),
    "cross_correlation": ("traffic.cross_correlation", "lag"),
    "cycles": ("traffic.cycles", "cycles"),
    "fairness": ("responses.fairness", "fairness"),
    "filliben": ("effects.ten_steps.steps", "steps"),
    "hurst": ("traffic.burstiness", "hurst"),
    "influence": ("effects.influence", "influence"),
    "interactions": ("effects.interactions", "interactions"),
    "interarrivals": ("traffic.arrivals", "interarrivals"),
    "main_effects": ("effects.main", "main_effects"),
    "markov_from_log": ("markov", "from_log"),
    "markov_from_users": ("markov", "from_users"),
    "mathis": ("path.response", "mathis"),
    "oscillation": ("traffic.oscillation", "oscillation"),
    "oscillations": ("traffic.oscillations", "of_run"),
    "outliers": ("responses.outliers", "outliers"),
    "pca": ("responses.pca", "components"),
    "pftk": ("path.response", "pftk"),
    "ranks": ("responses.ranks", "ranks"),
    "read_measurements": ("measurements", "read"),
    "read_runs": ("effects.designed", "read"),
    "regimes": ("limits.regimes", "find"),
    "saturation": ("limits.saturation", "find"),
    "spikes": ("traffic.spikes", "spikes"),
    "tail": ("traffic.sizes", "tail"),
    "throughput_shares": ("responses.fairness", "shares"),
}


def __getattr__(name: str) -> Any:
    """Look a function up when it is asked for: together they take more than a second to load."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, function = _PLACES[name]
    found = getattr(importlib.import_module(f"tightlink.analysis.{module}"), function)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
