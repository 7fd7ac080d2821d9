"""The look of figures for papers, and how they are saved: equal figures give equal files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tightlink import arguments
from tightlink.errors import Argument, ScenarioError, TightlinkError, visible
from tightlink.files import whole
from tightlink.lazy import Axes, Figure, alt
from tightlink.plots import paper
from tightlink.plots.palette import SERIES

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    Chart = alt.Chart | alt.LayerChart | alt.VConcatChart
    Drawing = Figure | Axes | Chart | Sequence[Chart] | Sequence[Sequence[Chart]] | paper.Page

#: A figure of one column of a paper, in inches.
SIZE: Final = (4.8, 3.0)
_DOTS_PER_INCH: Final = 200
#: What files say of themselves, by their ending: nothing that differs from one time to the next.
_METADATA: Final[dict[str, dict[str, str | None]]] = {
    "svg": {"Date": None, "Creator": "Tightlink"},
    "png": {"Software": "Tightlink"},
    "pdf": {"CreationDate": None, "Creator": "Tightlink"},
}

STYLE: Final[dict[Any, Any]] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#59616b",
    "axes.linewidth": 0.8,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": "#dfe3e8",
    "grid.linewidth": 0.7,
    "xtick.color": "#59616b",
    "ytick.color": "#59616b",
    "xtick.labelcolor": "#1b1f24",
    "ytick.labelcolor": "#1b1f24",
    "lines.linewidth": 1.4,
    "lines.markersize": 4.5,
    "svg.fonttype": "none",
    "svg.hashsalt": "tightlink",
}

#: Legends do not take their look from the figure, but from the moment.
LEGEND: Final[dict[str, Any]] = {"frameon": False, "fontsize": 8.5}


def axes(ax: Axes | None, size: tuple[float, float] = SIZE) -> Axes:
    """The axes to draw in: those given, or those of a new figure in the house style and of some inches.

    The figure is not one of pyplot's: it goes when nobody holds it, and no window opens.
    """
    if ax is None:
        return figure(size)[1][0]
    given: object = ax
    if not callable(getattr(given, "get_xlabel", None)):
        expected = "axes of matplotlib, such as those of fig, ax = plt.subplots()"
        raise ScenarioError(expected, key=Argument("ax"), value=given)
    return ax


def figure(size: tuple[float, float], rows: int = 1, columns: int = 1) -> tuple[Figure, list[Axes]]:
    """A new figure in the house style, and its axes row by row; those of one column have one axis along."""
    from tightlink.plots.shown import ShownAxes, ShownFigure

    with house_style():
        made = ShownFigure(figsize=size, layout="constrained")
        shared, kind = rows > columns == 1, {"axes_class": ShownAxes}
        return made, list(made.subplots(rows, columns, squeeze=False, sharex=shared, subplot_kw=kind).flat)


def house_style() -> AbstractContextManager[None]:
    """What is drawn within has the look of all figures."""
    import matplotlib as mpl
    from cycler import cycler

    return mpl.rc_context({**STYLE, "axes.prop_cycle": cycler(color=SERIES)})


def legend(ax: Axes) -> Axes:
    """The axes with a legend that has the look of all."""
    ax.legend(**LEGEND)
    return ax


def save(figure: Drawing, folder: str | os.PathLike[str], name: str) -> list[Path]:
    """Write a figure as SVG and as PNG; a figure that was drawn twice gives the same bytes.

    Args:
        figure: What to write: a figure, axes of it, or a chart, several, or rows of them of
            `tightlink.report.charts`.
        folder: Where; it is made.
        name: Name of the files, without an ending.

    Returns:
        The two files.

    Raises:
        TightlinkError: The name has an ending.

    Example:
        >>> import tempfile
        >>> frame = pl.DataFrame({"time_s": [0.0, 1.0], "queue_packets": [0, 19]})
        >>> ax = tl.plots.line(frame, x="time_s", y="queue_packets")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     [file.name for file in tl.plots.save(ax, folder, "queue")]
        ['queue.svg', 'queue.png']
    """
    if Path(name).suffix.removeprefix(".") in _METADATA:
        raise TightlinkError(f"{name}: expected a name without an ending; plots.write writes one file")
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    drawn = _drawn(figure)
    return [write(drawn, place / f"{name}.{ending}") for ending in ("svg", "png")]


def check_format(path: Path) -> str:
    """The format of a figure's file by its ending, before the work that the figure is for.

    Raises:
        TightlinkError: The ending is none of those that a figure can have.
    """
    ending = path.suffix.removeprefix(".")
    if ending not in _METADATA:
        raise TightlinkError(f"{path}: expected a file that ends in .{', .'.join(_METADATA)}")
    return ending


def write(figure: Drawing, path: str | os.PathLike[str]) -> Path:
    """Write a figure, or charts as `save` takes them, into one file, in the format of its ending.

    The parts of a PDF of charts stand in another order each time; SVG and PNG are the same, byte by byte.

    Args:
        figure: What to write.
        path: The file, which ends in .svg, .png or .pdf, and is replaced if it is there.

    Returns:
        The file.

    Raises:
        TightlinkError: The ending is none of those that a figure can have.
        OSError: The file cannot be written.

    Example:
        >>> import tempfile
        >>> run = tl.simulate(tl.network("dsl").set("duration", "1 s"))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     tl.plots.write(run.plot(), f"{folder}/run.pdf").name
        'run.pdf'
    """
    import matplotlib as mpl

    target = arguments.path("path", path)
    ending = check_format(target)
    drawn = _drawn(figure)
    with whole(target, parents=False) as temporary, mpl.rc_context(STYLE):
        if isinstance(drawn, paper.Page):
            temporary.write_bytes(drawn.content(ending, _DOTS_PER_INCH))
        else:
            about = _METADATA[ending] | {"Title": _called(drawn)}
            drawn.savefig(temporary, format=ending, dpi=_DOTS_PER_INCH, metadata=about)
            if ending == "svg":
                text = visible(paper.numbered(temporary.read_text(encoding="utf-8")))
                temporary.write_text(text, encoding="utf-8")
    return target


def _called(figure: Figure) -> str:
    """What a figure shows, for those who hear it: titles of its axes, or what is drawn over what."""
    names = []
    for ax in figure.axes:
        title = ax.get_title() or ax.get_title(loc="left")
        across, up = ax.get_xlabel(), ax.get_ylabel()
        names.append(title or (f"{up} over {across}" if up and across else up))
    return paper.called(" ".join(name.split()) for name in names)


def _drawn(figure: Drawing) -> Any:
    """A figure of matplotlib, or a page of charts."""
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    if isinstance(figure, Axes):
        return figure.figure
    return figure if isinstance(figure, Figure | paper.Page) else paper.page(figure)
