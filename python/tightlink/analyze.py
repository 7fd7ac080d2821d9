"""Analyses of runs and of any table of them: what ``tightlink analyze`` does, as functions.

The module of each says by which method it works.

| question | functions |
| --- | --- |
| What limits a link or a router? | `saturation`, `regimes` |
| Which factors matter? | `main_effects`, `interactions`, `influence`, `filliben` |
| Which responses say the same? | `correlation`, `pca` |
| How do algorithms differ? | `clusters`, `outliers`, `ranks`, `throughput_shares`, `fairness` |
| What is the traffic like? | `hurst`, `burstiness`, `spikes`, `cycles`, `interarrivals`, `tail`, `cross_correlation` |
| Do flows lose packets together? | `synchronization` |
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

from typing import TYPE_CHECKING, Any

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
from tightlink.analysis.traffic.synchronization import synchronization
from tightlink.errors import did_you_mean

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
    "synchronization",
    "tail",
    "throughput_shares",
]

# Hidden from type checkers, which would take any name for one that there is.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        meant = "" if name.startswith("_") else did_you_mean(name, __all__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{meant}", name=name)


def __dir__() -> list[str]:
    return __all__
