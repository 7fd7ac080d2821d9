"""What the commands of ``tightlink analyze`` have in common: their options, JSON, files for figures."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

from cyclopts import Parameter

from tightlink import plots
from tightlink.commands.options import Names

if TYPE_CHECKING:
    Panel = Callable[..., Any]

#: A CSV or Parquet file, or a folder.
Table: TypeAlias = Path
Algorithm = Annotated[str, Parameter(help="Column of the algorithm.")]
Condition = Annotated[Names, Parameter(help="Columns of the condition; without it, all other factors.")]
Figure = Annotated[Path | None, Parameter(name=["--output", "-o"], help="File for a figure: .png, .svg or .pdf.")]

#: Of a figure of several panels, in inches.
_PANEL: Final = (4.8, 3.4)


def draw(file: Path, rows: Mapping[str, list[Panel]], size: tuple[float, float] = _PANEL) -> None:
    """Rows of panels in one file, each row with its title; the size is that of a panel, in inches."""
    import matplotlib as mpl
    from matplotlib.figure import Figure as Drawing

    columns = max(len(panels) for panels in rows.values())
    with mpl.rc_context(plots.STYLE):
        figure = Drawing(figsize=(size[0] * columns, size[1] * len(rows)), layout="constrained")
        grid = figure.subplots(len(rows), columns, squeeze=False)
        for (title, panels), axes in zip(rows.items(), grid, strict=True):
            if title:
                axes[0].set_title(title)
            for panel, ax in zip(panels, axes, strict=True):
                panel(ax=ax)
    plots.write(figure, file)


def plain(thing: Any) -> Any:
    """What JSON can hold: fields of dataclasses, rows of frames and arrays, no number that is none."""
    if dataclasses.is_dataclass(thing):
        return {field.name: plain(getattr(thing, field.name)) for field in dataclasses.fields(thing)}
    if isinstance(thing, dict):
        return {key: plain(value) for key, value in thing.items()}
    if isinstance(thing, list | tuple):
        return [plain(value) for value in thing]
    if isinstance(thing, float):
        return thing if math.isfinite(thing) else None
    if hasattr(thing, "tolist"):
        return plain(thing.tolist())
    return plain(thing.to_dicts()) if hasattr(thing, "to_dicts") else thing
