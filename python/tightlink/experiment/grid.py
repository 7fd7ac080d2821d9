"""The runs of a sweep as a grid of xarray: a dimension for each factor, a variable for each metric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tightlink.errors import TightlinkError, not_installed
from tightlink.experiment.summary import metric_names
from tightlink.lazy import np, pl

if TYPE_CHECKING:
    import xarray


def grid(runs: pl.DataFrame, factors: Sequence[Sequence[str]]) -> xarray.Dataset:
    """Runs as an array of one dimension for each factor and one for replications, without a number where none was run.

    Columns of a factor that change together are one dimension, called like the first.
    """
    try:
        import xarray
    except ModuleNotFoundError as error:
        raise TightlinkError(not_installed(error)) from None

    dimensions = [[name for name in factor if name in runs.columns] for factor in factors]
    dimensions = [*filter(None, dimensions), ["replication"]]
    levels = [runs.select(names).unique(maintain_order=True) for names in dimensions]
    places = tuple(
        runs.select(names)
        .join(level.with_row_index("_place"), on=names, how="left", nulls_equal=True)["_place"]
        .to_numpy()
        for names, level in zip(dimensions, levels, strict=True)
    )
    varied = [name for names in dimensions for name in names]
    metrics = runs.select(metric_names(runs, varied))
    variables = {}
    for name, values in metrics.to_dict().items():
        array = np.full([level.height for level in levels], np.nan)
        array[places] = values.to_numpy()
        variables[name] = ([names[0] for names in dimensions], array)
    coordinates = {
        name: (names[0], level[name].to_numpy())
        for names, level in zip(dimensions, levels, strict=True)
        for name in names
    }
    return xarray.Dataset(variables, coordinates)
