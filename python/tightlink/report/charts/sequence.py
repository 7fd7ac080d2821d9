"""Sequence numbers over time, as a packet trace shows them."""

from __future__ import annotations

from typing import Any, Final

from tightlink.lazy import alt, pl
from tightlink.plots import palette
from tightlink.report.charts.linked import across, strip_of
from tightlink.report.encoding import painted, thinned, tip
from tightlink.report.thin import thin

#: How each kind of point is drawn: its colour, its symbol and its size.
_KINDS: Final = {
    "sent": (palette.SERIES[0], "circle", 9),
    "acknowledged": (palette.SERIES[2], "stroke", 0),
    "retransmitted": (palette.SERIES[4], "square", 26),
    "lost": (palette.SERIES[1], "cross", 40),
}
#: Points of a kind beyond which some are left out.
MOST_IN_SEQUENCE: Final = 4000


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
        "x": across("time_s", "time (s)"),
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
        above.properties(height=380, width=900), strip_of(first), spacing=4,
        usermeta={"panels": [], "note": thinned(frame, kept, "kind")},
        resolve=alt.Resolve(scale=alt.ScaleResolveMap(x="independent", y="independent")),
    )  # fmt: skip
