"""Queues beside Linux's own code: which packets each drops of the same arrivals.

    python benchmarks/qdiscs.py /usr/src/linux-source-6.12

Takes a source tree of Linux (Debian: `apt install linux-source-6.12`, and unpack what that installs), of which it
compiles `net/sched/sch_*.c` for user space, before a line in simulated time (`qdiscs/line.c`). Datagrams of the
simulation are given to that queue at the same instants. What is printed: packets that are dropped here, there, and by
both, and the mean wait of those that are sent, in ms. The packet on the line counts to limits here; there they are less
by that one.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

import tightlink as tl

HERE = Path(__file__).parent / "qdiscs"
RATE_BPS = 10_000_000
DURATION_S = 30
#: A queue of Linux is as old when the first packet comes: its controller waits for half a second at first.
OLD_NS = 10_080_000_000
#: What sch_pie.c does with a probability beyond one, and is meant to do.
BOUND = (("if (vars->prob < oldprob) {", "if (vars->prob > MAX_PROB) {"),)
#: Where sch_pie.c is not the text of RFC 8033, or takes what that leaves open otherwise than it is here, and the text.
PIE_OF_RFC = (
    *BOUND,
    # §5.4, which is optional: drops are spread.
    ("if (vars->accu_prob < (MAX_PROB / 100) * 85)", "if (0)"),
    ("if (vars->accu_prob >= (MAX_PROB / 2) * 17)", "if (0)"),
    # §4.2: the delay at an update, which is that of the last packet to leave there.
    ("qdelay = vars->qdelay;", "qdelay = delay_of_line(backlog);"),
    ("backlog ? now - pie_get_enqueue_time(skb) : 0", "vars->qdelay"),
    ("if (qdelay > (PSCHED_NS2TICKS(250 * NSEC_PER_MSEC)))", "if (0)"),
    ("vars->prob - vars->prob / 64", "vars->prob - vars->prob / 50"),
    # §4.1: two packets of 1 KiB.
    ("if (backlog < 2 * mtu)", "if (backlog <= 2048)"),
)
#: What sch_cake.c looks at in packets, which have no headers here, and what it tells of itself: where that begins and
#: what follows, and what stands in its place.
CAKE_WITHOUT = (
    ("static struct iphdr *cake_get_iphdr", "static u64 cake_ewma", "#define cake_ack_filter(q, flow) NULL"),
    ("static u32 cake_overhead", "static void cake_heap_swap", "#define cake_overhead(q, skb) (skb)->len"),
    (
        "static u8 cake_handle_diffserv",
        "static struct cake_tin_data *cake_select",
        "#define cake_handle_diffserv(...) 0",
    ),
    ("static int cake_dump(", "static struct Qdisc_ops cake", "#define cake_dump NULL\n#define cake_dump_stats NULL"),
    (".cl_ops", ".id", ""),
)
#: Of sch_cake.c, by their numbers in pkt_sched.h.
TINS = {"diffserv3": 0, "diffserv4": 1, "besteffort": 3}
#: CoDel that drops nothing: options of FQ-CoDel here and there, by their numbers in pkt_sched.h, in microseconds.
IDLE = {"target": "90 s", "interval": "100 s"}
IDLE_THERE = ("1=90000000", "3=100000000")


class Case(NamedTuple):
    """A queue here and in Linux, and what comes."""

    title: str
    queue: dict[str, Any]
    sources: tuple[str, ...]
    options: tuple[str, ...]
    load: float
    flows: int
    seeds: int = 1
    changed: tuple[tuple[str, str], ...] = ()
    """Of the sources there: what is written, and what is compiled in its place."""
    without: tuple[tuple[str, str, str], ...] = ()
    """Of the sources there: from where to where nothing is compiled, but what is last."""
    classes: tuple[str, ...] = ()
    """Of the flows, in turn, in the order of Linux's tins."""


def full(limit: int, load: float, flows: int) -> Case:
    """FQ-CoDel without room, which CoDel leaves alone."""
    queue = {"kind": "fq-codel", "limit": f"{limit} packets", **IDLE}
    return Case(f"fq-codel, {limit} packets", queue, ("fq_codel",), (f"2={limit - 1}", *IDLE_THERE), load, flows)


def codel(load: float) -> Case:
    """CoDel with room for all."""
    return Case("codel", {"kind": "codel", "limit": "100000 packets"}, ("codel",), ("2=100000",), load, 3)


def fq_codel(load: float, flows: int) -> Case:
    """FQ-CoDel with room for all."""
    queue = {"kind": "fq-codel", "limit": "100000 packets"}
    return Case("fq-codel", queue, ("fq_codel",), ("2=100000", "9=4000000000"), load, flows)


def fq_pie(load: float, flows: int, *, bounded: bool) -> Case:
    """FQ-PIE, in Linux as it is or with a probability that ends at one, as it is meant to."""
    queue = {"kind": "fq-pie", "limit": "10240 packets", "update": "15 ms"}
    changed = BOUND if bounded else ()
    title = "fq-pie, at most 1" if bounded else "fq-pie"
    return Case(title, queue, ("pie", "fq_pie"), ("1=10240",), load, flows, 5, changed)


def pie(load: float, flows: int, *, of_rfc: bool) -> Case:
    """PIE, in Linux as it is or as RFC 8033 has it."""
    queue = {"kind": "pie", "limit": "10001 packets"}
    title, changed = ("pie, the RFC's", PIE_OF_RFC) if of_rfc else ("pie", ())
    return Case(title, queue, ("pie",), ("2=10000",), load, flows, 5, changed)


def cake(load: float, flows: int, shaper: str = "", tins: str = "besteffort", classes: tuple[str, ...] = ()) -> Case:
    """CAKE with room for all, whose flows share as flows."""
    queue = {"kind": "cake", "limit": "100000 packets", "isolation": "flows", "tins": tins, "ecn": False}
    options = [f"3={TINS[tins]}", "5=4", "10=4000000000"]
    if shaper:
        queue["rate"] = f"{shaper} Mbit/s"
        options.append(f"2={float(shaper) * 125_000:.0f}")
    title = f"cake, {tins}" + (f", {shaper} Mbit/s" if shaper else "")
    return Case(title, queue, ("cake",), tuple(options), load, flows, without=CAKE_WITHOUT, classes=classes)


def cobalt(load: float) -> Case:
    """COBALT with room for all, in Linux CAKE with one queue."""
    queue = {"kind": "cobalt", "limit": "100000 packets"}
    return Case("cobalt", queue, ("cake",), ("3=3", "5=0", "10=4000000000"), load, 3, without=CAKE_WITHOUT)


CASES = (
    *(full(limit, load, flows) for limit, load, flows in ((100, 3, 8), (300, 2, 8), (1000, 3, 3), (1000, 8, 3))),
    *(codel(load) for load in (0.95, 1.05, 1.3)),
    *(fq_codel(load, flows) for load, flows in ((0.95, 1), (1.3, 3), (1.3, 8))),
    *(cobalt(load) for load in (0.95, 1.05, 1.3)),
    *(cake(load, flows) for load, flows in ((0.95, 1), (1.3, 3), (1.3, 8))),
    *(cake(load, 3, shaper) for load, shaper in ((0.95, "8"), (0.95, "6.7"), (0.065, "0.5"))),
    *(cake(1.3, 4, shaper, "diffserv4", ("LE", "CS0", "AF41", "EF")) for shaper in ("", "8", "6.7")),
    cake(1.3, 3, "8", "diffserv3", ("LE", "CS0", "EF")),
    *(fq_pie(load, flows, bounded=True) for load, flows in ((1.05, 1), (0.95, 3), (1.3, 3), (1.3, 8))),
    *(fq_pie(load, flows, bounded=False) for load, flows in ((1.05, 1), (1.3, 3))),
    *(pie(load, flows, of_rfc=True) for load, flows in ((1.05, 1), (0.95, 3), (1.3, 3), (1.3, 8))),
    *(pie(load, flows, of_rfc=False) for load, flows in ((1.05, 1), (0.95, 3), (1.3, 3), (1.3, 8))),
)


def compiled(tree: Path, case: Case, folder: Path) -> Path:
    """The program that is a queue of Linux and a line."""
    texts = [(tree / "net" / "sched" / f"sch_{name}.c").read_text() for name in case.sources]
    for before, after in case.changed:
        if before not in texts[0]:
            sys.exit(f"{tree}: sch_{case.sources[0]}.c has no {before!r}")
        texts[0] = texts[0].replace(before, after)
    for start, end, instead in case.without:
        before, _, rest = texts[0].partition(start)
        _, found, after = rest.partition(end)
        if not found:
            sys.exit(f"{tree}: sch_{case.sources[0]}.c has no {start!r} before {end!r}")
        texts[0] = f"{before}{instead}\n{end}{after}"
    (numbers := folder / "pkt_sched.h").write_text(
        re.sub(r"#include.*|#define TC_H_.*", "", (tree / "include" / "uapi" / "linux" / "pkt_sched.h").read_text())
    )
    headers = {f"net/{name}.h": tree / "include" / "net" / f"{name}.h"
               for name in ("codel", "codel_impl", "codel_qdisc", "pie")}  # fmt: skip
    wanted = [*texts, *(file.read_text() for file in headers.values())]
    for name in {name for text in wanted for name in re.findall(r"#include <(.*)>", text)}:
        (file := folder / name).parent.mkdir(parents=True, exist_ok=True)
        file.write_text(headers[name].read_text() if name in headers else "")
    # Names that are of one file there would be of both here.
    texts = [text.replace("pie_policy", f"policy_{place}") for place, text in enumerate(texts)]
    queue = f"#define QUEUE {case.sources[-1]}_qdisc_ops\n"
    (source := folder / "queue.c").write_text("\n".join([*texts, queue, (HERE / "line.c").read_text()]))
    program = folder / "queue"
    command = [
        "cc",
        "-O1",
        "-w",
        "-I",
        folder,
        "-include",
        HERE / "kernel.h",
        "-include",
        numbers,
        "-o",
        program,
        source,
    ]
    subprocess.run(command, check=True)
    return program


def arrivals(case: Case, seed: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What comes to the queue, and what became of it here: ``uid``, ``sent``, ``at_s``."""
    each_bps = RATE_BPS * case.load / case.flows
    traffic = {
        f"flow{number}": {
            "kind": "on-off", "from": "a", "to": "b", "rate": f"{2 * each_bps:.0f} bit/s",
            "on": f"{300 + 70 * number} ms", "off": f"{300 + 70 * number} ms",
            "udp": {"datagram": f"{1472 - 100 * number} B"},
            "dscp": (case.classes or ("CS0",))[number % max(len(case.classes), 1)],
        }
        for number in range(case.flows)
    }  # fmt: skip
    link = {"ends": ["a", "b"], "rate": f"{RATE_BPS} bit/s", "delay": "5 ms", "queue": case.queue}
    scenario = tl.Scenario.from_dict(
        {"duration": f"{DURATION_S} s", "seed": seed, "link": {"wire": link}, "traffic": traffic}
    )
    packets = tl.simulate(scenario, trace=True).packets
    came = packets.filter(pl.col("event").is_in(["+", "d"])).unique("uid", keep="first", maintain_order=True)
    became = packets.filter(pl.col("event").is_in(["-", "d"])).select("uid", sent=pl.col("event") == "-", at_s="time_s")
    return came.select("uid", "time_s", "flow", "size_bytes"), became


def there(program: Path, case: Case, came: pl.DataFrame, seed: int) -> pl.DataFrame:
    """What became of it in Linux."""
    rows = came.select("time_s", "flow", "size_bytes").iter_rows()
    # Linux puts a packet whose priority says 1 into the first tin, and by its code point if it says 0.
    classes = len(case.classes)
    text = "".join(
        f"{round(time_s * 1e9) + OLD_NS},{flow + 1},{size},{1 + flow % classes if classes else 0}\n"
        for time_s, flow, size in rows
    )
    command = [program, str(RATE_BPS), *case.options, f"seed={seed}"]
    told = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    found = pl.read_csv(told.encode(), has_header=False, new_columns=["number", "what", "ns"])
    uid = came["uid"].gather(found["number"])
    return found.select(uid=uid, sent=pl.col("what") == "sent", at_s=(pl.col("ns") - OLD_NS) / 1e9)


def wait_ms(came: pl.DataFrame, became: pl.DataFrame) -> float:
    """How long packets waited on the average that were sent before the end."""
    sent = became.filter("sent", pl.col("at_s") < DURATION_S).join(came, on="uid")
    mean: Any = (sent["at_s"] - sent["time_s"]).mean()
    return float(mean) * 1e3


def rows(tree: Path) -> Iterator[tuple[str, ...]]:
    """A row for each case, of the seeds together."""
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            program = compiled(tree, case, Path(folder))
            dropped, waits = [0, 0, 0], [0.0, 0.0]
            for seed in range(1, case.seeds + 1):
                came, here = arrivals(case, seed)
                linux = there(program, case, came, seed)
                # What is still in the queue at the end of the run is not told of here.
                known = [became.filter(~pl.col("sent"), pl.col("at_s") < DURATION_S)["uid"] for became in (here, linux)]
                both = known[0].is_in(known[1].implode()).sum()
                dropped = [one + more for one, more in zip(dropped, (*map(len, known), both), strict=True)]
                waits = [one + wait_ms(came, became) for one, became in zip(waits, (here, linux), strict=True)]
        means = (f"{wait / case.seeds:.2f}" for wait in waits)
        yield case.title, f"{case.load:g}", str(case.flows), *map(str, dropped), *means


def main() -> None:
    """Print the table, as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path, help="source tree of Linux")
    tree = parser.parse_args().tree
    if not (tree / "net" / "sched").is_dir():
        parser.error(f"{tree}: expected a source tree of Linux, which has net/sched")
    print("| queue | load | flows | dropped here | in Linux | by both | mean wait here, ms | in Linux, ms |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for row in rows(tree):
        print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
