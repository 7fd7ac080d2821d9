"""Which of six settings matter

A marimo notebook: `marimo edit docs/notebooks/designed_experiment.py`.
"""

import marimo

app = marimo.App(app_title="Which of six settings matter")


@app.cell
def _():
    import marimo as mo

    import tightlink as tl

    return (
        mo,
        tl,
    )


@app.cell
def _(mo):
    mo.md(r"""
    # Which of six settings matter

    Six factors of two levels are 64 combinations. Sixteen of them, chosen so that no main effect is mixed with another one or with an
    interaction of two, tell which factors move the goodput.
    """)
    return


@app.cell
def _(tl):
    from pathlib import Path

    base = tl.load(Path(tl.__file__).parent / "examples" / "screening.toml")
    vary = {
        "topology.net.bottleneck.queue": ["10 packets", "50 packets"],
        "topology.net.bottleneck.delay": ["5 ms", "40 ms"],
        "traffic.bulk.flows": [1, 4],
        "traffic.bulk.tcp.recovery": ["reno", "sack"],
        "traffic.bulk.tcp.window": ["20 packets", "200 packets"],
        "traffic.noise.rate": ["0.5 Mbit/s", "2 Mbit/s"],
    }
    runs = tl.sweep(base, vary, design="fractional", resolution=4, replications=2).runs.collect()
    runs
    return (
        runs,
        vary,
    )


@app.cell
def _(runs, tl, vary):
    effects = tl.analyze.main_effects(runs, list(vary), ["goodput_bps", "loss", "one_way_delay_mean_s", "utilization"])
    tl.report.charts.significance_map(effects)
    return (effects,)


@app.cell
def _(runs, tl, vary):
    tl.plots.ten_steps.half_normal(tl.analyze.filliben(runs, "goodput_bps", list(vary))).figure
    return


@app.cell
def _(mo):
    mo.md(r"""
    What stands above the line is more than noise.
    """)
    return


if __name__ == "__main__":
    app.run()
