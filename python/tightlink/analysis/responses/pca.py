"""Principal components of standardised responses: how few numbers say nearly the same as all of them.

Each response is centred and divided by its standard deviation over the runs; the components are the directions in
which the runs differ most, one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tightlink.analysis.effects.designed import numbers, varying
from tightlink.analysis.measurements import MeasurementError
from tightlink.lazy import Array, np, pl
from tightlink.numbers import several

_FEWEST: Final = 2
_ROUNDING: Final = 1e-9


@dataclass(frozen=True)
class Components:
    """The principal components of a table of runs."""

    #: Responses that vary, in the order of the columns.
    responses: tuple[str, ...]
    #: Responses that are the same in all runs, which have no part in any component.
    constant: tuple[str, ...]
    #: A row for each component, the largest first: component, variance (of all together: one for each response),
    #: share, cumulated.
    variances: pl.DataFrame
    #: A row for each component and response: component, response, weight (in the unit vector of the component),
    #: correlation (of the response with the component).
    loadings: pl.DataFrame
    #: The runs that have all responses, with a column for each component.
    scores: pl.DataFrame
    #: Runs that were left out, as they lack a response.
    left_out: int

    @property
    def above_one(self) -> int:
        """Components with more variance than a single response has (Kaiser's rule)."""
        return int((self.variances["variance"] > 1).sum())

    def needed(self, share: float) -> int:
        """How many components have together at least this share of the variance."""
        return int((self.variances["cumulated"] < share - _ROUNDING).sum()) + 1

    def sentence(self) -> str:
        """What was found, in words."""
        first = self.variances.row(min(_FEWEST, self.variances.height) - 1, named=True)
        return (
            f"{len(self.responses)} responses of {self.scores.height} runs: {100 * first['cumulated']:.0f} % of the "
            f"variance in PC1 and PC2, 90 % or more in {several(self.needed(0.9), 'component')}; "
            f"{self.above_one} {'says' if self.above_one == 1 else 'say'} more than a single response does"
        )


def components(runs: pl.DataFrame, responses: Sequence[str]) -> Components:
    """Find the principal components of responses over runs.

    The sign of a component is such that its largest weight is positive.

    Args:
        runs: A row a run; those that lack a response are left out, and a response that all of them lack.
        responses: Columns of numbers.

    Returns:
        The variance and share of each component (``variances``), the weights of responses (``loadings``) and the values
        of runs (``scores``); ``above_one`` and ``needed(share)`` say how many components count.

    Raises:
        MeasurementError: There are fewer than two responses that vary, or fewer than three runs that have them all.

    Example:
        >>> runs = pl.DataFrame({"sent": [1.0, 2, 3, 4], "received": [1.0, 2, 3, 5], "loss": [0.3, 0.1, 0.4, 0.1]})
        >>> found = tl.analyze.pca(runs, ["sent", "received", "loss"])
        >>> found.variances["component"].to_list(), found.above_one, found.needed(0.9)
        (['PC1', 'PC2', 'PC3'], 1, 2)
    """
    values = numbers(runs, responses, fewest=_FEWEST)
    # As Jain's index of runs of one flow.
    known = np.isfinite(values).any(axis=0)
    complete = np.isfinite(values[:, known]).all(axis=1)
    table = values[complete]
    if len(table) <= _FEWEST:
        raise MeasurementError(f"{len(table)} runs have all {known.sum()} responses; expected at least three")
    varies, named = varying(table, responses)
    vectors, variances, scores = _decomposed(table[:, varies])
    names = [f"PC{place}" for place in range(1, len(variances) + 1)]
    shares = variances / len(named)
    return Components(
        responses=named,
        constant=tuple(name for name in responses if name not in named),
        variances=pl.DataFrame(
            {"component": names, "variance": variances, "share": shares, "cumulated": np.cumsum(shares)}
        ),
        loadings=pl.DataFrame({
            "component": np.repeat(names, len(named)).tolist(),
            "response": [*named] * len(names),
            "weight": vectors.ravel(),
            "correlation": (vectors * np.sqrt(variances)[:, None]).ravel(),
        }),
        scores=runs.filter(pl.Series(complete)).hstack(pl.DataFrame(scores, schema=names)),
        left_out=int((~complete).sum()),
    )  # fmt: skip


def _decomposed(values: Array) -> tuple[Array, Array, Array]:
    """Unit vectors, a row each, variances, and the scores of the runs."""
    scaled = (values - values.mean(axis=0)) / values.std(axis=0, ddof=1)
    _, singular, vectors = np.linalg.svd(scaled, full_matrices=False)
    largest = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=1)[:, None], axis=1)
    vectors = vectors * np.sign(largest)
    return vectors, singular**2 / (len(values) - 1), scaled @ vectors.T
