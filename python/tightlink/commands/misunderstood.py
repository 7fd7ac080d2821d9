"""What is said of a command line that was not understood: one sentence, in the words of the command's help."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Final, Literal, get_args, get_origin

from cyclopts import (
    CoercionError,
    CycloptsError,
    MissingArgumentError,
    UnknownCommandError,
    UnknownOptionError,
    UnusedCliTokensError,
)

from tightlink.errors import ScenarioError, closest, in_quotes, one_of
from tightlink.scenario.overrides import whole_path
from tightlink.scenario.synonyms import alike, called
from tightlink.shell import quoted

_KINDS: Final[dict[object, str]] = {int: "a whole number", float: "a number", Path: "the name of a file or folder"}
#: How like an option a word must be: all of them begin with the same two letters.
_LIKENESS: Final = 0.7
#: Commands by other words for what they do, which no likeness of letters would find.
_COMMANDS: Final = {
    "analyze": "analyse analysis stats",
    "capture": "pcap tcpdump read",
    "compare": "diff",
    "list": "ls",
    "measure": "ping iperf iperf3",
    "new": "init create",
    "plot": "draw figure chart",
    "report": "html show view",
    "run": "simulate sim start exec",
    "sweep": "experiment vary batch grid",
    "validate": "check lint",
    "--help": "help man -?",
    "--version": "version -V -v",
}
#: Likewise of those below one.
_BELOW: Final = {"path": "ping traceroute mtr pathchar", "tcp": "iperf iperf3", "udp-sweep": "udp"}
#: What iperf3 calls keys of a scenario.
_OF_IPERF3: Final = {
    "-b": "traffic.NAME.rate",
    "-C": "traffic.NAME.tcp.congestion",
    "-n": "traffic.NAME.bytes",
    "-P": "traffic.NAME.flows",
    "-t": "duration",
    "-w": "traffic.NAME.tcp.window",
}
#: Options that take ``key=value``, the one first that is meant where a command has both.
_TAKES_KEYS: Final = ("--vary", "--slider", "--set")
_KEY_AND_VALUE: Final = re.compile(r"[A-Za-z][\w.*\[\]-]*=.+", re.DOTALL)
#: Commands by the ends of the names of files that they read.
_READERS: Final = {
    ".toml": "run",
    ".py": "study",
    **dict.fromkeys((".pcap", ".pcapng", ".cap", ".tr", ".gz", ".bz2", ".xz", ".zst"), "capture"),
}


def misunderstood(error: CycloptsError) -> str:
    """What is wrong with the words of a command."""
    command = " ".join(["tightlink", *(error.command_chain or ())])
    match error:
        case UnknownCommandError() | UnknownOptionError():
            return _unknown(error, command)
        case UnusedCliTokensError(unused_tokens=[first, *_]):
            return _left_over(error, first, command)
        case MissingArgumentError(keyword=str(option)):
            argument = error.argument
            file = argument is not None and Path in (argument.hint, *get_args(argument.hint))
            return f"{option}: expected {_KINDS[Path] if file else 'a value'} after it"
        case MissingArgumentError(argument=argument) if argument is not None:
            name = argument.name if argument.index is None else argument.name.removeprefix("--").upper()
            return f"{name} is missing; {command} --help tells what is expected"
        case CoercionError(token=token, target_type=kind, argument=argument) if token is not None:
            known = [str(word) for word in get_args(kind)] if get_origin(kind) is Literal else []
            expected = one_of(known) if known else _KINDS.get(kind)
            if expected is not None:
                suggestion = in_quotes(alike(token.value.removesuffix("s"), known) or token.value, known)
                key = token.keyword or (None if argument is None else argument.name.removeprefix("--").upper())
                return str(ScenarioError(expected, key=key, value=token.value, suggestion=suggestion))
    return str(error)


def _unknown(error: UnknownCommandError | UnknownOptionError, command: str) -> str:
    """A word that is no command, or no option of its command, with what was probably meant."""
    if isinstance(error, UnknownOptionError):
        word = error.token.keyword or error.token.value
        names = [name for argument in error.argument_collection for name in argument.names]
        meant = _option(word, names)
        ending = f"did you mean {meant}?" if meant else f"{command} --help lists them"
        return f"{word}: there is no such option; {ending}"
    return _no_command(error, error.unused_tokens or [""], command)


def _option(word: str, names: Sequence[str]) -> str | None:
    """The option that somebody has in mind who writes another one: by its other names, its letters, or as a key."""
    name = word.lstrip("-").partition("=")[0]
    known = {each.removeprefix("--"): each for each in names if each.startswith("--")}
    if (same := alike(name, known)) is not None:
        return known[same]
    key = _OF_IPERF3.get(word) or (name.replace("-", "_") if word.startswith("--") else "")
    path = key if key in _OF_IPERF3.values() else _path(key)
    return f"--set {path}=…" if path and "--set" in names else closest(word, names, likeness=_LIKENESS)


def _path(key: str) -> str | None:
    """The path of a key of a scenario, be it one of the whole scenario or of what has a name in it."""
    from tightlink.scenario.model import Scenario

    return whole_path(key) or called(key, Scenario)


def _no_command(error: CycloptsError, words: Sequence[str], command: str) -> str:
    """The first word is no command; what was meant is told by it, or by the file behind it."""
    word, *behind = words
    names = [name for name in error.app or () if not name.startswith("-")]
    top = not error.command_chain
    if top and word == "help" and behind and behind[0] in names:
        found: str | None = f"{behind[0]} --help"
    elif command.endswith("analyze") and Path(word).exists():
        found = f"effects {quoted(word)}"
    else:
        found = _command(word, names, top=top) or (_command(behind[0], (), top=top) if behind and top else None)
    ending = f'did you mean "{command} {found}"?' if found else f"{command} --help lists them"
    return f'"{word}": there is no such command; {ending}'


def _left_over(error: CycloptsError, word: str, command: str) -> str:
    """A word too many; where the first one was taken for a file that is none, it was meant as a command."""
    commands = any(not name.startswith("-") for name in error.app or ())
    first = [*(error.root_input_tokens or [])[len(error.command_chain or ()) :], "-"][0]
    if commands and not first.startswith("-") and not Path(first).suffix and not Path(first).exists():
        return _no_command(error, [first], command)
    ending = _as_option(error, word) or _split(list(error.root_input_tokens or ()), word)
    ending = ending or f"{command} --help tells what is expected"
    return f'"{word}": one word too many; {ending}'


def _as_option(error: CycloptsError, word: str) -> str | None:
    """A key with its value, which takes an option before it, if the command has one."""
    key, _, value = word.partition("=")
    if error.app is None or not _KEY_AND_VALUE.fullmatch(word):
        return None
    names = {name for argument in error.app.assemble_argument_collection() for name in argument.names}
    option = next((each for each in _TAKES_KEYS if each in names), None)
    written = value if value.split() == [value] else f'"{value}"'
    return option and f"did you mean {option} {key}={written}?"


def _split(words: list[str], word: str) -> str | None:
    """What was meant to be one word where the shell took it for several."""
    spans = (" ".join(words[first:last]) for last in range(2, len(words) + 1) for first in range(last - 1))
    if (file := next((span for span in spans if Path(span).is_file()), None)) is not None:
        return f"a name with spaces stands in quotes: {quoted(file)}"
    before = words[words.index(word) - 1] if word in words[1:] else ""
    key, equals, value = before.partition("=")
    if equals and value:
        return f'a value with spaces stands in quotes: {key}="{value} {word}"'
    return f"there are no spaces around the = of a key: {before}=…" if word.startswith("=") else None


def _command(word: str, known: Sequence[str], *, top: bool) -> str | None:
    """The command that somebody has in mind who writes another word, or the name of a file, in its place."""
    if top:
        reader = _READERS.get(PurePath(word).suffix)
        synonym = next((name for name, others in _COMMANDS.items() if word.casefold() in others.split()), None)
        if reader or synonym:
            return f"{reader} {quoted(word)}" if reader else synonym
    below = (name for name in known if word.casefold() in _BELOW.get(name, "").split())
    return next(below, None) or closest(word, known)
