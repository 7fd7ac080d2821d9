"""Measured beside simulated

A marimo notebook: `marimo edit docs/notebooks/measured_beside_simulated.py`.
"""

import marimo

app = marimo.App(app_title="Measured beside simulated")


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
    # Measured beside simulated

    The same scenario twice: in simulation, and in real time with Linux's own TCP over an emulated link between two network namespaces of
    this machine. It takes Linux and user namespaces, no root.
    """)
    return


@app.cell
def _(tl):
    from tightlink.measure.measuring import measure

    scenario = tl.loads("""
    profile = "linux"
    duration = "3 s"
    link.bottleneck = { ends = ["sender", "receiver"], rate = "10 Mbit/s", delay = "20 ms", queue = "1 BDP" }
    traffic.ftp = { kind = "bulk", from = "sender", to = "receiver", tcp.congestion = "cubic" }
    observe.interval = "50 ms"
    """)
    measured, simulated = measure(scenario), tl.simulate(scenario)
    measured
    return (
        measured,
        simulated,
    )


@app.cell
def _(measured, simulated, tl):
    found = tl.compare(measured, simulated)
    found.summary
    return (found,)


@app.cell
def _(found, tl):
    tl.report.charts.compared_series(found, "bottleneck", "queue_packets")
    return


if __name__ == "__main__":
    app.run()
