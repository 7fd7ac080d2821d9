"""One example of each command, as it is typed: the end of its help."""

from collections.abc import Sequence
from typing import Final

from cyclopts import App

from tightlink import studies
from tightlink.commands.help_pages import example, options

_COMPARED: Final = "examples/controls-compared.csv"

EXAMPLES: Final = {
    "run": 'examples/one-flow.toml --trace -o results/one --set observe.interval="20 ms"',
    "sweep": 'examples/one-flow.toml --vary link.bottleneck.queue="5 packets,20 packets" -j 2',
    "study": "one-flow -j 2",
    "lab": "examples/one-flow.toml -o one-flow.html",
    "emulate": "examples/one-flow.toml -- ping -c 3 receiver",
    "capture": "examples/slow-uploads.pcapng.gz -o results/uploads",
    "measure": "examples/one-flow.toml --set profile=linux -o results/measured",
    "measure path": "192.0.2.7 -o path.toml",
    "measure serve": "192.0.2.7",
    "measure tcp": "--host 192.0.2.7 --windows 8K,64K --flows 1,4 -o results/grid",
    "measure udp-sweep": '--host 192.0.2.7 --payloads 100,1000 --rates "10 Mbit/s" -o results/datagrams',
    "report": "results/one",
    "plot": "results/one over-time -o over-time.svg",
    "compare": "results/before results/after",
    "query": 'results/one-flow-sweep "select run, goodput_bps from runs"',
    "analyze saturation": "examples/link-sweep.csv -o link.svg",
    "analyze regimes": "examples/router-load.csv -o router.svg",
    "analyze effects": "results/screening --responses goodput_bps,loss",
    "analyze ten-steps": "results/screening --response goodput_bps",
    "analyze correlation": _COMPARED,
    "analyze pca": f"{_COMPARED} --by congestion",
    "analyze explore": f"{_COMPARED} --algorithm congestion",
    "analyze clusters": f"{_COMPARED} --algorithm congestion",
    "analyze outliers": f"{_COMPARED} --algorithm congestion",
    "analyze ranks": f"{_COMPARED} --algorithm congestion --responses own_bps",
    "analyze fairness": (
        f"{_COMPARED} --algorithm congestion --own own_bps --standard standard_bps --available rate -o shares.svg"
    ),
    "analyze traffic": "results/one --column utilization",
    "analyze arrivals": "results/one",
    "analyze sizes": "flows.csv --column bytes",
    "analyze cross-correlation": 'results/one "bottleneck queue_packets" "ftp cwnd_packets"',
    "analyze synchronization": 'results/dumbbell --begin "2 s" -o losses.svg',
    "analyze oscillation": 'results/one --begin "3 s"',
    "analyze markov": 'tasks.csv --step "2 s"',
    "analyze pinger": "average_rtt-100-by-node-2014-09-10.txt",
    "new network": "lte -o lte.toml",
    "new four-tier": "--scale 0.01 --set sources=high > busy.toml",
    "new examples": "examples",
    "new lessons": "lessons",
    "new study": "my_study",
    "plan path": '--bandwidth "10 Mbit/s" --rtt "162 ms" --flows 1,4',
    "plan maxflow": "examples/slow-router.toml",
    "plan packetize": '--bitrate "64 kbit/s" --limit-pps 4000',
    "validate": "examples/one-flow.toml",
    "list": "congestion",
    "schema": "-o scenario.schema.json",
    "completion": "bash > tightlink.bash",
}


def show_options_of_study(app: App, words: Sequence[str]) -> None:
    """Where the help of a study is asked for by its name, put the options that it alone has above the example."""
    if words[:1] != ["study"]:
        return
    shown = example(f"study {EXAMPLES['study']}")
    if names := [word for word in words[1:] if not word.startswith("-")]:
        # Values of options are among the words, too.
        known = dict(studies.names())
        chosen = studies.named(next((name for name in names if name in known), names[0]))
        if chosen.options:
            own = f"Options of {chosen.name}:\n{options(chosen.options)}"
            shown = f"{own}\n\n{example(f'study {chosen.name} -j 2')}"
    app["study"].help_epilogue = shown
