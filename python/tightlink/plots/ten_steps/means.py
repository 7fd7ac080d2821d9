"""Step 3: the mean at each level of each factor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tightlink.plots.effects import main_effects
from tightlink.plots.ten_steps import names as named

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes

    from tightlink.analysis.ten_steps import Steps

#: Numbers of more factors run into each other in a part of a page.
_CROWDED: Final = 10


def means(found: Steps, *, names: Mapping[str, str] | None = None, ax: Axes | None = None) -> Axes:
    """Step 3: the mean at the low and the high level of each factor, joined by a line.

    Args:
        found: The ten steps of a response.
        names: What to call factors.
        ax: Where to draw; without it, in a new figure.
    """
    crowded = ax is not None and len(found.design.factors) > _CROWDED
    return main_effects(found.means, found.response, written="significant" if crowded else "all",
                        names=named.chosen(found, names), ax=ax)  # fmt: skip
