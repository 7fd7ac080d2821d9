"""Figures and axes that a notebook shows by themselves.

IPython knows those of matplotlib only after `%matplotlib inline`, or once pyplot has made a figure.
"""

from __future__ import annotations

import io
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

#: Of a screen, on which a figure is as wide as in a paper.
_DOTS_PER_INCH: Final = 120


class ShownFigure(Figure):
    """A figure that is its own picture in a notebook."""

    def _repr_png_(self) -> bytes:
        made = io.BytesIO()
        self.savefig(made, format="png", dpi=_DOTS_PER_INCH)
        return made.getvalue()


class ShownAxes(Axes):
    """Axes that are the picture of their figure in a notebook."""

    def _repr_png_(self) -> bytes | None:
        shown = self.get_figure(root=True)
        return shown._repr_png_() if isinstance(shown, ShownFigure) else None
