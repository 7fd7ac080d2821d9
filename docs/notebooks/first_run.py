"""Why is this flow slow?

A marimo notebook: `marimo edit docs/notebooks/first_run.py`.
"""

import marimo

app = marimo.App(app_title="Why is this flow slow?")


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
    # Why is this flow slow?

    A flow over a link of 2 Mbit/s with 100 ms in each direction. The queue of the link holds 20 packets.
    """)
    return


@app.cell
def _(tl):
    scenario = tl.loads("""
    profile = "ns2"
    duration = "20 s"
    link.bottleneck = { ends = ["sender", "receiver"], rate = "2 Mbit/s", delay = "100 ms", queue = "20 packets" }
    traffic.ftp = { kind = "bulk", from = "sender", to = "receiver", start = "0.1 s" }
    observe.interval = "50 ms"
    """)
    scenario
    return (scenario,)


@app.cell
def _(scenario, tl):
    run = tl.simulate(scenario)
    run.why()
    return (run,)


@app.cell
def _(mo):
    mo.md(r"""
    The receiver's window holds the rate at a window for each round trip. A larger one, of a bandwidth-delay product and a fifth:
    """)
    return


@app.cell
def _(scenario, tl):
    larger = tl.simulate(scenario.set_all({"traffic.ftp.tcp.window": "1.2 BDP", "link.bottleneck.queue": "1 BDP"}))
    larger.plot()
    return (larger,)


@app.cell
def _(larger, run, tl):
    tl.compare(run, larger).summary
    return


if __name__ == "__main__":
    app.run()
