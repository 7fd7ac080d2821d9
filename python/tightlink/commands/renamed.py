"""Commands and options that had other names before, which are understood for one release more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tightlink.console import say

#: Old names of commands, and today's.
COMMANDS: Final = {
    "analyze chain": "analyze markov",
    "analyze components": "analyze pca",
    "analyze lags": "analyze cross-correlation",
    "analyze shares": "analyze fairness",
    "examples": "new examples",
    "four-tier": "new four-tier",
    "maxflow": "plan maxflow",
    "packetize": "plan packetize",
    "pinger": "analyze pinger",
    "predict": "plan path",
    "sql": "query",
}
#: Of commands, by today's names, old names of options and today's.
OPTIONS: Final = {
    "analyze markov": {"--goal": "--target"},
    "measure tcp": {"--most": "--max-repeats"},
    "measure udp-sweep": {"--most": "--max-repeats"},
    "plan path": {"--leave": "--headroom"},
}


def as_now(arguments: Sequence[str]) -> list[str]:
    """A command line with today's names of its command and options; where those are others, a warning says so.

    >>> as_now(["run", "one-flow.toml"])
    ['run', 'one-flow.toml']
    """
    words = list(arguments)
    if words[:1] == ["evaluate"]:
        words = [*_renamed("evaluate", "study evaluation").split(), *_options_of_evaluation(words[1:])]
    if words[:1] == ["study"] and "--new" in words:
        words.remove("--new")
        words[:1] = _renamed("study --new", "new study").split()
    for length in (1, 2):
        old = " ".join(words[:length])
        if old in COMMANDS:
            words[:length] = _renamed(old, COMMANDS[old]).split()
            break
    options = OPTIONS.get(" ".join(words[:2]), {})
    told: dict[str, str] = {}
    for place, word in enumerate(words):
        name, given, value = word.partition("=")
        if name in options:
            told[name] = told.get(name) or _renamed(name, options[name])
            words[place] = told[name] + given + value
    return words


#: Options of ``evaluate`` that a value follows.
_WITH_VALUE: Final = {"--pack", "--jobs", "-j", "--cluster", "--output", "-o", "--controls", "--columns"}


def _options_of_evaluation(words: Sequence[str]) -> list[str]:
    """The words of ``evaluate`` as options of the study: its names were no option, and its tests were one each.

    >>> _options_of_evaluation(["codel", "cake", "--queues", "--test", "bursts", "-j", "2"])
    ['-j', '2', '--queues', 'codel, cake', '--tests', 'bursts']
    """
    names, tests, others, kind = [], [], [], "--congestion"
    left = iter(words)
    for word in left:
        option, given, value = word.partition("=")
        if word == "--queues":
            kind = word
        elif option in ("--test", "--tests"):
            tests.append(value if given else next(left, ""))
        elif word.startswith("-"):
            others += [word, next(left, "")] if word in _WITH_VALUE else [word]
        else:
            names.append(word)
    listed = {kind: ", ".join(names), "--tests": ",".join(tests)}
    return [*others, *(part for option, text in listed.items() if text for part in (option, text))]


def _renamed(old: str, now: str) -> str:
    say(f"warning: {old} is called {now} now; the next release has the new name alone")
    return now
