"""From pydantic's list of problems to one `ScenarioError`, with keys as the user writes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from tightlink.errors import ABSENT, Argument, ScenarioError, in_quotes, one_of, show

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

#: Of a scenario that are shown.
MOST_PROBLEMS: Final = 10
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)

#: What the types that pydantic checks by itself expect.
_EXPECTED: Final = {
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "text",
    "dict_type": "a table of names, such as { a = … }",
    "model_type": "a table",
    "list_type": "a list",
    "tuple_type": "a list",
    "too_short": "a list that is not empty",
}
#: What others write for true and false.
_WORDS: Final = {
    **dict.fromkeys(("yes", "on", "true", "1"), "true"),
    **dict.fromkeys(("no", "off", "false", "0"), "false"),
}


def scenario_error(
    error: ValidationError,
    example: Callable[[Sequence[int | str]], str | None],
    file: str | None = None,
    changed: Collection[str] = (),
) -> ScenarioError:
    """One error with all problems, in their order.

    Problems below keys that were changed are of ``set``, not of the file.
    """
    details = error.errors(include_url=False)[:MOST_PROBLEMS]
    problems = [_problem(problem, example) for problem in details]
    problems[0].others = tuple(problems[1:])
    return placed(problems[0], file, changed)


def placed(error: ScenarioError, file: str | None, changed: Collection[str] = ()) -> ScenarioError:
    """The same error with the file, or the option, that each of its keys came from."""
    for problem in (error, *error.others):
        key = problem.key
        over = key is not None and any(_touches(key, other) for other in changed)
        if problem.file is None:
            problem.file = Argument("set") if over else file
    return error


def why_unreadable(error: OSError | ValueError) -> str:
    """Why a file cannot be read, in the words that end a sentence.

    >>> why_unreadable(FileNotFoundError(2, "No such file or directory")), why_unreadable(ValueError("null byte"))
    ('no such file or directory', 'not the name of a file')
    """
    if isinstance(error, OSError):
        return (error.strerror or str(error)).lower()
    return "not UTF-8 text" if isinstance(error, UnicodeDecodeError) else "not the name of a file"


@contextmanager
def below(table: str) -> Iterator[None]:
    """Errors raised inside have keys relative to this table."""
    try:
        yield
    except ScenarioError as error:
        error.key = f"{table}.{error.key}"
        raise


def _problem(details: ErrorDetails, example: Callable[[Sequence[int | str]], str | None]) -> ScenarioError:
    kind = details["type"]
    context: dict[str, Any] = details.get("ctx", {})
    location = list(details["loc"])
    if kind == "tightlink":
        key = dotted(location)
        if context["key"] is not None:
            key = f"{key}.{context['key']}" if key else context["key"]
        return ScenarioError(
            context["expected"],
            key=key or None,
            value=context["value"],
            suggestion=context["suggestion"],
            statement=context["statement"],
        )
    if kind == "extra_forbidden":
        # The Python name of a key that TOML spells otherwise.
        name = str(location[-1])
        key = ".".join(filter(None, [dotted(location[:-1]), name]))
        return ScenarioError("unknown key", key=key, suggestion=f'"{name.rstrip("_")}"', statement=True)
    if kind == "missing":
        shown = example(location)
        such_as = f", such as {dotted(location[-1:])} = {shown}" if shown else ""
        return ScenarioError(f"this key is needed{such_as}", key=dotted(location), statement=True)
    value = details["input"] if location else ABSENT
    if kind == "literal_error":
        # Pydantic says which words there are in a sentence only.
        words = re.findall("'([^']+)'", context["expected"])
        return ScenarioError(
            one_of(words), key=dotted(location) or None, value=value, suggestion=in_quotes(value, words)
        )
    expected = _EXPECTED.get(kind, details["msg"])
    key = dotted(location)
    if kind == "dict_type" and isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        # An array of tables, in TOML.
        expected = f"a name for each, as in [{key}.NAME] instead of [[{key}]]"
    meant = _WORDS.get(str(value).casefold()) if kind.startswith("bool") else None
    if kind == "list_type" and isinstance(value, str):
        meant = show([value])
    return ScenarioError(expected, key=key or None, value=value, suggestion=meant)


def dotted(location: list[int | str]) -> str:
    """The dotted path of a place in a scenario, without the tags of unions.

    >>> dotted(["traffic", "ftp", "<bulk>", "start", "<list>", 2])
    'traffic.ftp.start[2]'
    """
    path = ""
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
        elif part != "[key]" and not part.startswith("<"):
            name = "from" if part == "from_" else part if _BARE.fullmatch(part) else show(part)
            path += f".{name}" if path else name
    return path


def _touches(key: str, changed: str) -> bool:
    """Whether a problem's key is the changed one, stands within it, or holds it."""
    # Names with dots stand in quotes in a file, and without in an option.
    key = key.replace('"', "")
    pattern = re.escape(changed).replace(r"\[\*\]", r"(?:\.[^.]+|\[\d+\])")
    return changed.startswith(key + ".") or re.match(rf"{pattern}(?![^.\[])", key) is not None
