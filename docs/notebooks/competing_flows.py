"""Who gets what: BBR beside CUBIC

A marimo notebook: `marimo edit docs/notebooks/competing_flows.py`.
"""

import marimo

app = marimo.App(app_title="Who gets what: BBR beside CUBIC")


@app.cell
def _():
    import marimo as mo
    import polars as pl

    import tightlink as tl

    return (
        mo,
        pl,
        tl,
    )


@app.cell
def _(mo):
    mo.md(r"""
    # Who gets what: BBR beside CUBIC

    Two flows share a link of 20 Mbit/s. Whether they share it fairly depends on the buffer before it.
    """)
    return


@app.cell
def _(tl):
    base = tl.loads("""
    profile = "linux"
    duration = "20 s"
    link.bottleneck = { ends = ["left", "right"], rate = "20 Mbit/s", delay = "20 ms", queue = "1 BDP" }
    traffic.bbr = { kind = "bulk", from = "left", to = "right", tcp.congestion = "bbr" }
    traffic.cubic = { kind = "bulk", from = "left", to = "right", start = "0.1 s", tcp.congestion = "cubic" }
    """)
    base
    return (base,)


@app.cell
def _(base, tl):
    found = tl.sweep(base, {"link.bottleneck.queue": [f"{size} BDP" for size in (0.25, 0.5, 1, 2, 4, 8)]})
    runs = found.runs.collect()
    runs.select("link.bottleneck.queue", "bbr.goodput_bps", "cubic.goodput_bps", "jain")
    return (runs,)


@app.cell
def _(pl, runs, tl):
    sizes = runs.with_columns(buffer_bdp=pl.col("link.bottleneck.queue").str.strip_suffix(" BDP").cast(pl.Float64))
    goodput = sizes.select("buffer_bdp", bbr="bbr.goodput_bps", cubic="cubic.goodput_bps")
    named = goodput.unpivot(index="buffer_bdp", variable_name="flow", value_name="goodput_bps")
    tl.plots.line(named, "buffer_bdp", "goodput_bps", by="flow", marker="o").figure
    return


@app.cell
def _(mo):
    mo.md(r"""
    BBR takes a short buffer, in which CUBIC loses packets; CUBIC fills a long one, and BBR waits in its queue.
    """)
    return


if __name__ == "__main__":
    app.run()
