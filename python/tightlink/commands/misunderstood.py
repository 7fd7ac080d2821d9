"""What is said of a command line that was not understood: one sentence, in the words of the command's help."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, get_args, get_origin

from cyclopts import CoercionError, MissingArgumentError, UnusedCliTokensError

from tightlink.errors import ScenarioError, closest, one_of

if TYPE_CHECKING:
    from cyclopts import CycloptsError

_KINDS: Final = {int: "a whole number", float: "a number"}


def misunderstood(error: CycloptsError) -> str:
    """What is wrong with the words of a command."""
    command = " ".join(["tightlink", *(error.command_chain or ())])
    match error:
        case UnusedCliTokensError(unused_tokens=[first, *_]):
            return f'"{first}": one word too many; {command} --help tells what is expected'
        case MissingArgumentError(keyword=str(option)):
            return f"{option}: expected a value after it"
        case MissingArgumentError(argument=argument) if argument is not None:
            name = argument.name if argument.index is None else argument.name.removeprefix("--").upper()
            return f"{name} is missing; {command} --help tells what is expected"
        case CoercionError(token=token, target_type=kind) if token is not None and token.keyword is not None:
            if get_origin(kind) is Literal:
                known = [str(word) for word in get_args(kind)]
                meant = closest(token.value, known)
                suggestion = None if meant is None else f'"{meant}"'
                return str(ScenarioError(one_of(known), key=token.keyword, value=token.value, suggestion=suggestion))
            if kind in _KINDS:
                return str(ScenarioError(_KINDS[kind], key=token.keyword, value=token.value))
    return str(error)
