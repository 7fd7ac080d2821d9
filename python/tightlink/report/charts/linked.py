"""Charts that a strip below zooms in to: panels over the same time, and the sequence numbers of a packet trace.

Example:
    >>> rates = pl.DataFrame({"time_s": [0.0, 1.0], "entity": ["ftp"] * 2, "throughput_bps": [0.0, 2e6]})
    >>> queue = pl.DataFrame({"time_s": [0.0, 1.0], "entity": ["wire"] * 2, "queue_packets": [0.0, 9.0]})
    >>> [panel["title"] for panel in linked([rates, queue], "time_s", "entity").to_dict()["vconcat"][0]["vconcat"]]
    ['throughput (Mbit/s)', 'queue (packets)']
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from tightlink.lazy import alt, pl
from tightlink.plots import labels, palette
from tightlink.plots.gaps import gaps
from tightlink.plots.paper import STRIP
from tightlink.report.encoding import axis_of, from_zero, legend_columns, painted, scaled, steps, thinned, tip
from tightlink.report.thin import thin

#: Points of a panel, and of a line of it: several panels of so many are a file that can be mailed.
_MOST: Final = 12_000
_MOST_A_LINE: Final = 800
_HEIGHT: Final = 104
#: Room for the labels of the axes up, in pixels: all panels begin at the same place.
_EXTENT: Final = 44
#: In notebooks; a page makes them as wide as it is.
_WIDTH: Final = 900
_FADED: Final = 0.1
#: Lines that are short enough for narrow screens.
_HOW: Final = ("drag over this strip to zoom in, double-click it for all",)
_PICK: Final = ("click a name in the legend to pick it out",)
#: Names of the parts, by which the page finds them.
_PANELS: Final = "panels"
_ZOOM: Final = "zoom"
#: How each kind of point is drawn: its colour, its symbol and its size.
_KINDS: Final = {
    "sent": (palette.SERIES[0], "circle", 9),
    "acknowledged": (palette.SERIES[2], "stroke", 0),
    "retransmitted": (palette.SERIES[4], "square", 26),
    "lost": (palette.SERIES[1], "cross", 40),
}
#: Points of a kind beyond which some are left out.
MOST_IN_SEQUENCE: Final = 4000


def linked(panels: Sequence[pl.DataFrame], x: str, by: str, *, among: Iterable[str] | None = None) -> alt.VConcatChart:
    """Panels of lines below each other over one axis, for `report.Chart`.

    Dragging over the strip at the bottom zooms all panels; a click on a name in the legend picks out its line in all of
    them (with Shift several). A double click takes either back.

    Args:
        panels: One frame each, at least one, with ``x``, ``by`` and one column that is drawn up.
        x: Column along, in all frames.
        by: Column of the names of the lines, in all frames.
        among: All names that share their colours, such as all flows of a run of which some are drawn.
    """
    along = labels.axis(x, max((labels.largest(frame, x) or 0.0 for frame in panels), default=None))
    names = [str(name) for frame in panels for name in frame[by].unique(maintain_order=True)]
    color = _color(names, by, among)
    chosen = alt.selection_point(name="chosen", fields=[by], bind="legend", empty=True)
    opacity = alt.when(chosen).then(alt.value(1)).otherwise(alt.value(_FADED))
    # The queue stays where a flow is picked out.
    fading = [bool(set(panels[0][by]) & set(frame[by])) for frame in panels]
    drawn: list[Any] = []
    found, notes = [], []
    for place, frame in enumerate(panels):
        y = next(column for column in frame.columns if column not in {x, by})
        kept = thin(frame, x, y, by=by, most=min(_MOST_A_LINE, _MOST // max(frame[by].n_unique(), 1)))
        notes.append(thinned(frame, kept, by))
        kept = pl.concat([kept, gaps(frame, x, y, by=by).select(kept.columns)]).sort(x, maintain_order=True)
        up = axis_of(kept, y, None)
        # A rate that hardly changes looks as if it hardly did.
        zero = y.endswith("_bps") or from_zero(kept, y)
        lines = alt.Chart(scaled(kept, {x: along, y: up}), name=f"panel_{place}")
        lines = lines.mark_line(strokeWidth=1.4, strokeJoin="round", strokeCap="round", clip=True).encode(
            x=_across(x, along.title if place == len(panels) - 1 else None),
            y=alt.Y(y, type="quantitative", title=None, scale=alt.Scale(zero=zero, nice=steps(_HEIGHT)),
                    axis=alt.Axis(minExtent=_EXTENT, maxExtent=_EXTENT)),
            color=color, opacity=opacity if fading[place] else alt.OpacityValue(1),
        )  # fmt: skip
        drawn.append(lines.properties(height=_HEIGHT, width=_WIDTH, title=up.title))
        titles = {"x_title": along.title, "y_title": up.title}
        found.append({"name": f"panel_{place}", "x": x, "y": y, "by": by, **titles, "fading": fading[place]})
    strip = _strip_of(drawn[0], _HOW + (_PICK if len(set(names)) > 1 else ()))
    drawn[0] = drawn[0].add_params(chosen)
    above = alt.vconcat(*drawn, spacing=12, name=_PANELS).resolve_scale(x="shared")
    meta = {"panels": found, "note": next((note for note in notes if note), "")}
    independent = alt.Resolve(scale=alt.ScaleResolveMap(x="independent"))
    return alt.vconcat(above, strip, spacing=4, usermeta=meta, resolve=independent)


def _color(names: Sequence[str], by: str, among: Iterable[str] | None) -> Any:
    """One legend for all panels, in as many rows as it needs."""
    drawn = list(dict.fromkeys(names))
    colors = palette.colors(drawn, among or ())
    how = {"symbolType": "stroke", "symbolStrokeWidth": 2.5, "orient": "top", "columns": legend_columns(drawn)}
    legend = alt.Legend(title=None, **how) if len(drawn) > 1 else None
    return painted(by, {name: colors[name] for name in drawn}, legend)


def _across(x: str, title: str | None) -> alt.X:
    """The axis along of a chart that shows what its strip zooms in to; only the last panel has a title."""
    last = title is not None
    axis = alt.Axis(labels=last, ticks=last, grid=True)
    scale = alt.Scale(domain={"param": _ZOOM, "encoding": "x"}, nice=False, zero=False)
    return alt.X(x, type="quantitative", title=title, axis=axis, scale=scale)


def _strip_of(first: Any, title: Sequence[str] = _HOW) -> Any:
    """All lines of a chart in small, over which one drags."""
    axis = alt.Axis(labels=False, ticks=False, grid=False, minExtent=_EXTENT, maxExtent=_EXTENT)
    encoding = first.encoding
    lines = alt.Chart(first.data, name=STRIP).mark_line(strokeWidth=0.7, opacity=0.7).encode(
        x=alt.X(encoding.x.shorthand, type="quantitative", title=list(title), scale=alt.Scale(nice=False, zero=False),
                axis=alt.Axis(labels=False, ticks=False, titleOpacity=0.6, aria=False)),
        y=alt.Y(encoding.y.shorthand, type="quantitative", title=None, axis=axis),
        color=encoding.color,
    )  # fmt: skip
    zoom = alt.selection_interval(name=_ZOOM, encodings=["x"])
    return lines.properties(height=34, width=_WIDTH).add_params(zoom)


def sequence(frame: pl.DataFrame) -> alt.VConcatChart:
    """What was sent, retransmitted, lost and acknowledged, for `report.Chart`; it zooms by dragging over the strip.

    Args:
        frame: One row a point: ``time_s``, ``sequence``, and ``kind``, one of sent, acknowledged, retransmitted, lost.

    >>> points = pl.DataFrame({"time_s": [0.0, 0.1], "sequence": [1.0, 1.0], "kind": ["sent", "lost"]})
    >>> [layer["mark"]["type"] for layer in sequence(points).to_dict()["vconcat"][0]["layer"]]
    ['line', 'point']
    """
    shown = [kind for kind in _KINDS if (frame["kind"] == kind).any()]
    kept = thin(frame, "time_s", "sequence", by="kind", most=MOST_IN_SEQUENCE)
    legend = alt.Legend(title=None, orient="top", symbolType="circle")
    encoding: dict[str, Any] = {
        "x": _across("time_s", "time (s)"),
        "y": alt.Y("sequence", type="quantitative", title="sequence number", scale=alt.Scale(zero=False)),
        "color": painted("kind", {kind: _KINDS[kind][0] for kind in shown}, legend),
    }
    points = [kind for kind in shown if kind != "acknowledged"]
    told = [tip("kind"), tip("time_s", ".7~g", "time (s)"), tip("sequence", ",", "sequence number")]
    line = alt.Chart(kept.filter(pl.col("kind") == "acknowledged")).mark_line(
        interpolate="step-after", strokeWidth=1.2, clip=True
    )
    marks = alt.Chart(kept.filter(pl.col("kind") != "acknowledged")).mark_point(filled=True, opacity=0.9, clip=True)
    symbols = alt.Shape("kind", type="nominal", legend=None,
                        scale=alt.Scale(domain=points, range=[_KINDS[kind][1] for kind in points]))  # fmt: skip
    # Vega's choice, a scale of places in between, has none for one kind alone.
    scale = alt.Scale(type="ordinal", domain=points, range=[_KINDS[kind][2] for kind in points])
    sizes = alt.Size("kind", type="ordinal", legend=None, scale=scale)
    above = alt.layer(line.encode(**encoding), marks.encode(**encoding, shape=symbols, size=sizes, tooltip=told))
    first = alt.Chart(kept).mark_line().encode(**encoding)
    return alt.vconcat(
        above.properties(height=380, width=900), _strip_of(first), spacing=4,
        usermeta={"panels": [], "note": thinned(frame, kept, "kind")},
        resolve=alt.Resolve(scale=alt.ScaleResolveMap(x="independent", y="independent")),
    )  # fmt: skip
