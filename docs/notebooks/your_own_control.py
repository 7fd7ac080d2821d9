"""A congestion control of your own

A marimo notebook: `marimo edit docs/notebooks/your_own_control.py`.
"""

import marimo

app = marimo.App(app_title="A congestion control of your own")


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
    # A congestion control of your own

    A class with what happens when an ACK arrives and when a packet is lost. This one gives up an eighth of its window where Reno gives up
    a half.
    """)
    return


@app.cell
def _(tl):
    class Gentle(tl.CongestionControl):
        """Standard growth; a loss costs an eighth of the window instead of a half."""

        def __init__(self, share: float = 0.125) -> None:
            self.share = share

        def on_report(self, report: tl.Report) -> None:
            if report.in_use and self.cwnd >= self.ssthresh:
                self.cwnd += 1

        def on_loss(self, loss: tl.Loss) -> float:
            return loss.in_use * (1 - self.share)

    return (Gentle,)


@app.cell
def _(mo):
    mo.md(r"""
    It is known by its name from here on, and competes with Reno:
    """)
    return


@app.cell
def _(Gentle, tl):
    scenario = tl.Scenario(
        duration="40 s",
        link={"wire": tl.Link(ends=("a", "b"), rate="10 Mbit/s", delay="20 ms", queue="0.5 BDP")},
        traffic={
            "gentle": tl.Bulk(from_="a", to="b", tcp=tl.Tcp(congestion=Gentle)),
            "reno": tl.Bulk(from_="a", to="b", start="0.1 s", tcp=tl.Tcp(congestion="reno")),
        },
        observe=tl.Observe(interval="100 ms"),
    )
    run = tl.simulate(scenario)
    run.plot()
    return (run,)


@app.cell
def _(run):
    run.flows.select("label", "goodput_bps", "packets_dropped", "rtt_mean_s")
    return


if __name__ == "__main__":
    app.run()
