"""What a capture tells

A marimo notebook: `marimo edit docs/notebooks/capture.py`.
"""

import marimo

app = marimo.App(app_title="What a capture tells")


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
    # What a capture tells

    A pcap file of slow uploads, taken at the sender. It has the same tables as a simulation, so that every analysis works on it.
    """)
    return


@app.cell
def _(tl):
    from pathlib import Path

    run = tl.capture(Path(tl.__file__).parent / "examples" / "slow-uploads.pcapng.gz")
    run
    return (run,)


@app.cell
def _(run):
    run.why()
    return


@app.cell
def _(run):
    run.plot()
    return


@app.cell
def _(run):
    run.flows.select("label", "goodput_bps", "packets_retransmitted", "rtt_mean_s")
    return


if __name__ == "__main__":
    app.run()
