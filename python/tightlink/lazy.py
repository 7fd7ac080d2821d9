"""Libraries, figures and the engine, that are loaded when first used: help and errors do not wait for data frames.

Example:
    >>> pl.Series([1, 2]).sum()
    3
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from tightlink.errors import TightlinkError

if TYPE_CHECKING:
    import altair as alt
    import networkx as nx
    import numpy as np
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray
    from scipy import stats

    from tightlink import _core, plots

    Array = NDArray[np.float64]

__all__ = ["Array", "ArrayLike", "Axes", "Figure", "NDArray", "_core", "alt", "np", "nx", "pl", "plots", "stats"]


#: How far Python optimizes where it leaves docstrings out.
_WITHOUT_DOCSTRINGS: Final = 2
#: What gives or takes arrays, by how its name begins: in it Ctrl-C, while NumPy is loaded, would be a panic.
_OF_ARRAYS: Final[dict[str, tuple[str, ...]]] = {
    "polars": ("",),
    "tightlink._core": ("capture", "completions", "departures", "digest", "probe_", "simulate", "write_parquet"),
}


class _Lazy(ModuleType):
    """A module in place of one that is loaded when it is asked for something."""

    def __getattr__(self, name: str) -> Any:
        # Which doctest asks of all that a module holds.
        if name == "__wrapped__":
            raise AttributeError(name)
        if self.__name__ == "altair" and sys.flags.optimize >= _WITHOUT_DOCSTRINGS:
            needed = "charts need docstrings, which -OO and PYTHONOPTIMIZE=2 have Python leave out"
            raise TightlinkError(f"{needed}: expected -O, PYTHONOPTIMIZE=1, or neither")
        if self.__name__ in _OF_ARRAYS and name.startswith(_OF_ARRAYS[self.__name__]):
            import_module("numpy")
        self.__dict__[name] = found = getattr(import_module(self.__name__), name)
        return found


if not TYPE_CHECKING:
    # Of annotations, which nothing evaluates.
    Array = ArrayLike = Axes = Figure = NDArray = Any
    _core, plots, alt, nx, np, pl, stats = map(
        _Lazy, ("tightlink._core", "tightlink.plots", "altair", "networkx", "numpy", "polars", "scipy.stats")
    )
