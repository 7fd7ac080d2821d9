"""Random input to the scenario parser: a scenario or a `ScenarioError`, never anything else."""

from __future__ import annotations

import os
import random

import pytest

import tightlink as tl
from tightlink.scenario import parse_option, understood

_WORDS = """
profile duration seed link topology traffic observe ends rate delay queue framing overhead smallest loss mtu one_way
reverse kind limit drop-tail bulk cbr on-off dumbbell chain pairs hops hop bottleneck access access_left access_right
from to flows start first every stop path reverse_path tcp udp congestion recovery payload datagram window
initial_window loss_window initial_ssthresh delayed_acks delayed_ack_timeout limited_transmit pacing processing_delay slow_start max_ssthresh ecn rto
initial min max granularity parking-lot cross fat-tree k graph file routers edges abilene-four-tier speed variant flows
buffers core_link host_link pop_divisor
interval on off distribution shape exponential pareto bytes reno dctcp sack limited hystart++ ns2 rfc each group none unlimited a b x y net
""".split()
_VALUES = r"""
0 | 1 | -1 | 1.5 | 2 | 20 | 1e999 | nan | inf | true | false | 9223372036854775808 | 2020-01-01 | ["x", "y"] | ["a"]
"" | "a" | "x" | "y" | "net.left[*]" | "net.right[0]" | "10 ms" | "1 s" | "10 s" | "0 s" | "-1 s" | "2 Mbit/s" | [] | {}
"2 mbps" | "2 packets/ms" | "1 Gbit/s" | "20 packets" | "0 packets" | "64 KiB" | "1 BDP" | "1 %" | "1000 B" | "unlimited" | "9e350 s"
["1\u00a0ms"] | [1, 2] | ["net.bottleneck"] | { a = 1 } | [[]] | '''x''' | "\u0000" | { kind = "cbr" } | { every = "1 s" }
"""
#: Topologies of other kinds, which take long to make when they are large.
_NETWORKS = [
    f'profile = "rfc"\nduration = "10 s"\n[topology.net]\n{keys}\n[traffic.t]\nkind = "bulk"\nfrom = "net.{ends[0]}"\nto = "net.{ends[1]}"\n'
    for keys, ends in {
        'kind = "parking-lot"\nhops = 2\ncross = 2\nhop.rate = "1 Mbit/s"\naccess.rate = "1 Gbit/s"': (
            "left[0]",
            "leave[1]",
        ),
        'kind = "fat-tree"\nk = 4\nlink.rate = "1 Gbit/s"\ncore_link.delay = "10 ms"': ("host[0]", "host[9]"),
        'kind = "graph"\nrouters = ["a", "b", "router[2]"]\nedges = [{ ends = ["a", "b"], rate = "2 packets/ms" }]': (
            "a",
            "b",
        ),
        'kind = "graph"\nfile = "missing.gml"\nlink.rate = "1 Gbit/s"': ("router[0]", "router[1]"),
    }.items()
]
_VALUE_LIST = [value.strip() for line in _VALUES.strip().splitlines() for value in line.split(" | ")]


def _mutated(rng: random.Random, texts: list[str]) -> str:
    text = rng.choice(texts)
    for _ in range(rng.randint(1, 4)):
        lines = text.split("\n")
        match rng.randrange(7):
            case 0:  # another character
                at = rng.randrange(len(text) + 1)
                text = text[:at] + chr(rng.choice([rng.randrange(128), rng.randrange(0xD800)])) + text[at + 1 :]
            case 1:  # a piece lost
                at = rng.randrange(len(text) + 1)
                text = text[:at] + text[at + rng.randrange(12) :]
            case 2:  # another word in place of a word
                text = text.replace(rng.choice(_WORDS), rng.choice(_WORDS), 1)
            case 3:  # another value in place of a value
                parts = text.split('"')
                if len(parts) > 2:
                    at = rng.randrange(1, len(parts), 2) if len(parts) % 2 else 1
                    parts[at - 1 : at + 2] = [parts[at - 1] + rng.choice(_VALUE_LIST) + parts[at + 1]]
                    text = '"'.join(parts)
            case 4:  # another key
                keys = ".".join(rng.choice(_WORDS) for _ in range(rng.randint(1, 4)))
                text += f"\n{keys} = {rng.choice(_VALUE_LIST)}"
            case 5:  # a line moved
                lines.insert(rng.randrange(len(lines)), lines.pop(rng.randrange(len(lines))))
                text = "\n".join(lines)
            case _:  # a piece twice
                at = rng.randrange(len(text) + 1)
                text = text[:at] + text[rng.randrange(len(text) + 1) :][:20] + text[at:]
    return text


def _small(text: str) -> bool:
    """Without numbers that make a network so large that resolving it takes its time."""
    return not any(len(digits) > 3 for digits in "".join(c if c.isdigit() else " " for c in text).split())


@pytest.mark.fuzz
def test_random_text(one_flow: str, dumbbell: str, mixed: str) -> None:
    rounds = int(os.environ.get("TIGHTLINK_FUZZ", "2000"))
    rng = random.Random(rounds)
    understood_texts = [understood(tl.loads(text)) for text in (one_flow, mixed)]
    texts = [one_flow, dumbbell.replace("100", "3"), mixed, *understood_texts, *_NETWORKS]
    outcomes = {"scenario": 0, "error": 0}
    for _ in range(rounds):
        text = _mutated(rng, texts)
        try:
            scenario = tl.loads(text, file="fuzz.toml")
            outcomes["scenario"] += 1
            if _small(text):
                scenario.resolve()
                assert tl.loads(scenario.to_toml()) == scenario
        except tl.ScenarioError as error:
            outcomes["error"] += 1
            lines = str(error).splitlines()
            assert all(line.startswith("fuzz.toml: ") for line in lines), text
            assert all(len(line) < 400 for line in lines), text
        except Exception as error:
            raise AssertionError(f"{error!r} from {text!r}") from error
    assert min(outcomes.values()) > rounds // 100


@pytest.mark.fuzz
def test_random_changes(mixed: str) -> None:
    rounds = int(os.environ.get("TIGHTLINK_FUZZ", "2000")) // 4
    rng = random.Random(rounds)
    scenario = tl.loads(mixed, file="fuzz.toml")
    steps = [*_WORDS, "wire", "lot", "web", "voice", "burst", "link[*]", "traffic[*]", "delay[1]", "start[0]", "", "?"]
    for _ in range(rounds):
        key = ".".join(rng.choice(steps) for _ in range(rng.randint(1, 4)))
        if rng.random() < 0.5:
            key = rng.choice(["link.wire.", "traffic.web.", "traffic.web.tcp.", "topology.lot.access."]) + key
        option = f"{key}={rng.choice(_VALUE_LIST)}"
        try:
            changed = scenario.set(*parse_option(option))
            if _small(option):
                changed.resolve()
        except tl.ScenarioError as error:
            assert str(error)
        except Exception as error:
            raise AssertionError(f"{error!r} from {option!r}") from error
