"""The base of every table of a scenario.

What a single table can know to be wrong is an error when it is made; what takes the whole scenario,
when it is resolved.
"""

from __future__ import annotations

import inspect
import itertools
import os
import re
from collections.abc import Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, TypeVar, dataclass_transform

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from tightlink.arguments import plain
from tightlink.errors import ABSENT, TightlinkError, closest, one_of, show
from tightlink.scenario.attributes import MissingAttributeError
from tightlink.scenario.problems import MOST_PROBLEMS
from tightlink.scenario.read_only import read_only

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from inspect import Signature

    from pydantic import GetJsonSchemaHandler
    from pydantic._internal._model_construction import ModelMetaclass
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema

    T = TypeVar("T", bound="Table")
else:
    ModelMetaclass = type(BaseModel)

V = TypeVar("V")

#: What names of links, traffic and topologies look like: no dots, which separate the keys of a path.
NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
#: Tables of which the kind says what else they hold.
_WHOLE: Final = ("queue", "congestion", "loss", "jitter")
#: So are these, where they are tables with a kind.
_WHOLE_BY_KIND: Final = ("rate", "delay")
#: Keys of the whole scenario, which stand before its tables.
_OF_SCENARIO: Final = ("profile", "duration", "seed", "routing", "observe")
#: What could be changed within a table. (A union made anew for each value of each table takes its time.)
_CHANGEABLE: Final = (dict, list)
#: What a reader wants to see first; the other keys follow in the order of their definition.
_FIRST: Final = (
    "kind",
    "pairs",
    "hops",
    "ends",
    "network",
    "from_",
    "to",
    "flows",
    "rate",
    "interval",
    "delay",
    "bottleneck",
    "hop",
)


def wrong(
    expected: str,
    *,
    key: str | None = None,
    value: object = ABSENT,
    suggestion: str | None = None,
    statement: bool = False,
) -> PydanticCustomError:
    """A problem found while validating; ``key`` is relative to the table being validated."""
    context = {"expected": expected, "key": key, "value": value, "suggestion": suggestion, "statement": statement}
    return PydanticCustomError("tightlink", "not as expected", context)


@cache
def _of_pydantic() -> frozenset[str]:
    """What pydantic gives each model, and Python no class."""
    given = {*dir(BaseModel), *dir(type(BaseModel)), "__class_vars__", "__private_attributes__"}
    return frozenset(given.difference(dir(object), dir(type)))


def _is_of_pydantic(name: str) -> bool:
    return name in _of_pydantic() or name.startswith("__pydantic_")


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(Field, PrivateAttr))
class _TableType(ModelMetaclass):
    """Makes ``tl.Link(...)`` raise a `ScenarioError` instead of pydantic's own error."""

    # Hidden from type checkers, which know the arguments of each table by its fields.
    if not TYPE_CHECKING:

        @property
        def __doc__(cls) -> str | None:  # noqa: N805
            """What ``help`` shows: the docstring, then every key with its type, its meaning and an example.

            Looked up when it is asked for, as no command needs it.
            """
            from tightlink.scenario.described import with_keys

            return with_keys(cls)

        @property
        def __signature__(cls) -> Signature:  # noqa: N805
            """The arguments with plain types, without what checks them."""
            from tightlink.scenario.described import signature

            return signature(cls)

        def __getattr__(cls, name: str) -> Any:  # noqa: N805
            """Say what was probably meant by a name that there is not."""
            try:
                return super().__getattr__(name)
            except AttributeError:
                if name.startswith("_"):
                    raise
                said = f"{cls.__name__} has no attribute {name!r}"
                raise MissingAttributeError(said, partial(cls._attribute_meant, name)) from None

        def __dir__(cls) -> list[str]:  # noqa: N805
            """What a table has, without what every model of pydantic has: what ``help`` shows and editors complete."""
            return [name for name in super().__dir__() if not _is_of_pydantic(name)]

        @__signature__.setter
        def __signature__(cls, _: object) -> None:  # noqa: N805
            """Pydantic offers its own, with what checks the values."""

        def __call__(cls: type[T], *args: Any, **kwargs: Any) -> T:  # noqa: N805
            if args:
                names = [name for name, _ in cls._in_order() if name != "kind"]
                first = next((name for name in names if cls.model_fields[name].is_required()), names[0])
                name, instead = cls.__name__, ""
                if isinstance(args[0], dict):
                    instead = f"; {name}(**table) takes those of a table"
                elif name == "Scenario" and isinstance(args[0], str | os.PathLike):
                    instead = f"; tl.load({os.fspath(args[0])!r}) reads one from its file"
                raise TypeError(f"{name} takes its keys by name only, such as {name}({first}=…){instead}")
            try:
                return super().__call__(**kwargs)
            except ValidationError as error:
                # Not at the top: problems.py walks the models that are defined with this base.
                from tightlink.scenario.described import example
                from tightlink.scenario.in_python import of_arguments
                from tightlink.scenario.problems import scenario_error

                raise of_arguments(scenario_error(error, partial(example, cls), cls.__name__)) from None


class Table(BaseModel, metaclass=_TableType):
    """A table of a scenario: keyword-only, immutable, and closed to unknown keys."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        populate_by_name=True,
        hide_input_in_errors=True,
        # What checks a table is made when it is first needed, together with the tables inside it: each command
        # imports all tables and most need few.
        defer_build=True,
    )

    # Hidden from type checkers, which would take any name for one that there is.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Say what was probably meant by a name that there is not."""
            try:
                return super().__getattr__(name)
            except AttributeError as error:
                if name.startswith("_"):
                    raise
                raise MissingAttributeError(str(error), partial(self._attribute_meant, name)) from None

    #: What is called otherwise, or is a function of the package.
    _elsewhere: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def _attribute_meant(cls, name: str) -> str | None:
        if name in cls._elsewhere:
            return cls._elsewhere[name]
        meant = closest(name, [*dir(cls), *cls.model_fields])
        return f".{meant}" if meant else None

    @classmethod
    def keys(cls) -> list[str]:
        """The keys of this table as they are written in TOML."""
        return [key_of(name) for name in cls.model_fields]

    @classmethod
    @cache
    def _accepted(cls) -> frozenset[str]:
        return frozenset((*cls.model_fields, *cls.keys()))

    @classmethod
    @cache
    def _in_order(cls) -> list[tuple[str, str]]:
        """Fields and their keys, in the order in which they are written."""
        fields = sorted(cls.model_fields, key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST))
        return [(name, key_of(name)) for name in fields]

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """A table is described by what its docstring says it is, its keys by what stands under them."""
        from tightlink.scenario.described import about, meanings

        schema = handler(core_schema)
        described = handler.resolve_ref_schema(schema)
        described["description"] = about(cls)
        for name, meaning in meanings(cls).items():
            for key in {name, key_of(name)} & described["properties"].keys():
                described["properties"][key]["description"] = meaning
        return schema

    if not TYPE_CHECKING:

        def __setattr__(self, name: str, value: object) -> None:
            """Refuse to change a key."""
            if name in type(self).model_fields:
                key = f"{type(self).__name__}.{name}"
                raise TightlinkError(f"{key} cannot be changed: scenario.set(key, value) returns a changed copy")
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        """What a table has, without what every model of pydantic has: what notebooks complete."""
        return [name for name in super().__dir__() if not _is_of_pydantic(name)]

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """What was set, in the order in which it is written: as Python, a table with the same keys."""
        given = self.model_fields_set
        for name, _ in self._in_order():
            if name in given and name != "kind" and (value := getattr(self, name)) is not None:
                yield name, value

    def __str__(self) -> str:
        """The same: what pydantic prints lacks the name of the table."""
        return repr(self)

    @model_validator(mode="wrap")
    @classmethod
    def _known_keys(cls, data: object, check: ModelWrapValidatorHandler[Self]) -> Self:
        if isinstance(data, cls):
            return check(data)
        if not isinstance(data, dict):
            raise wrong("a table", value=data, suggestion=cls._meant(data))
        accepted = cls._accepted()
        known = {key: plain(value) for key, value in data.items() if key in accepted}
        if len(known) == len(data):
            return check(known)
        # Not at the top: no scenario that is right needs it.
        from tightlink.scenario.synonyms import meant_key

        # More are not shown, and looking for what is meant takes its time.
        unknown = itertools.islice((str(key) for key in data if key not in known), MOST_PROBLEMS)
        meant = {
            key: cls._meant_key(key.rstrip("_"), data) or meant_key(key.rstrip("_"), cls, known) for key in unknown
        }
        problems = [_unknown(key, instead, cls._in_order()) for key, instead in meant.items()]
        # What else is wrong in the table is said, too; but not that a key is missing that stands there misspelt.
        try:
            check(known)
        except ValidationError as error:
            problems += [
                _again(each)
                for each in error.errors(include_url=False)
                if not (each["type"] == "missing" and key_of(str(each["loc"][-1])) in meant.values())
            ]
        raise ValidationError.from_exception_data(cls.__name__, problems)

    @classmethod
    def _meant_key(cls, key: str, data: Mapping[str, Any]) -> str | None:  # noqa: ARG003
        """What is meant by an unknown key beside others, where that is no key of the table."""
        return None

    def _check(self) -> None:
        """Refuse keys that contradict each other."""

    def _refuse(self, expected: str, *keys: str) -> None:
        """Refuse keys that have no effect beside the others."""
        for key in keys:
            if (value := getattr(self, key)) is not None:
                raise wrong(expected, key=key, value=value.written() if isinstance(value, Table) else value)

    def _only(self, *keys: str) -> str | None:
        """Refuse more than one of some keys; the one that is set, if any is."""
        there = [key for key in keys if getattr(self, key) is not None]
        for other in there[1:]:
            self._refuse(f"either {there[0]} or {other}, not both", other)
        return there[0] if there else None

    @model_validator(mode="after")
    def _checked(self) -> Self:
        self._check()
        for name, value in self.__dict__.items():
            if isinstance(value, _CHANGEABLE):
                self.__dict__[name] = read_only(value, f"{type(self).__name__}.{key_of(name)}")
        return self

    @classmethod
    def _meant(cls, value: object) -> str | None:
        """The table that somebody has in mind who writes the value of one key alone, or a list of several."""
        keys = list(cls.keys())
        alone = [{key: value} for key in keys] if isinstance(value, str) else []
        for meant in [dict(zip(keys, value, strict=False))] if isinstance(value, list) else alone:
            try:
                cls.model_validate(meant)
            except ValidationError:
                continue
            return f"{{ {', '.join(f'{key} = {show(given)}' for key, given in meant.items())} }}"
        return None

    def written(self) -> dict[str, Any]:
        """The table as nested dictionaries of what was set, as TOML would give them."""
        given = self.model_fields_set
        return {
            key: as_written(value)
            for name, key in self._in_order()
            if (name in given or name == "kind") and (value := getattr(self, name)) is not None
        }

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """What its keys are that nobody writes, of a table of which no default depends on the profile."""
        fields = ((key, cls.model_fields[name]) for name, key in cls._in_order())
        return {
            key: as_written(field.default)
            for key, field in fields
            if not field.is_required() and field.default is not None
        }

    def complete(self) -> dict[str, Any]:
        """The table with its defaults, for one of which none depends on the profile."""
        return {key: as_written(value) for name, key in self._in_order() if (value := getattr(self, name)) is not None}


def _unknown(key: str, meant: str | None, known: Iterable[tuple[str, str]]) -> InitErrorDetails:
    message = f"unknown key; expected {one_of(name for _, name in known)}"
    if key in _OF_SCENARIO and meant is None:
        suggestion: str | None = f"{key} above the first [table], as it is of the whole scenario"
    else:
        suggestion = f'"{meant}"' if meant else None
    problem = wrong(message, key=key or '""', suggestion=suggestion, statement=True)
    return InitErrorDetails(type=problem, loc=(), input=None)


def _again(details: ErrorDetails) -> InitErrorDetails:
    """A problem that was found already."""
    kind, context = details["type"], details.get("ctx", {})
    if kind == "tightlink":
        own = PydanticCustomError(kind, details["msg"], context)
        return InitErrorDetails(type=own, loc=details["loc"], input=details["input"])
    return InitErrorDetails(type=kind, loc=details["loc"], input=details["input"], ctx=context)


def own_docstring(table: type[Table]) -> str:
    """The docstring of a table as it stands in the source."""
    return inspect.cleandoc(str(table.__dict__.get("__doc__") or ""))


def as_written(value: Any) -> Any:
    """A value with its tables as nested dictionaries, as TOML would give them."""
    if isinstance(value, str):
        return value
    if isinstance(value, Table):
        return value.written()
    if isinstance(value, dict):
        return {key: as_written(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_written(item) for item in value]
    return plain(value)


def as_set(value: Any) -> Any:
    """The same, of a table without the defaults that some write out: as somebody would type it.

    >>> import tightlink as tl
    >>> as_set(tl.Codel(target="4 ms"))
    {'kind': 'codel', 'target': '4 ms'}
    """
    return Table.written(value) if isinstance(value, Table) else as_written(value)


def key_of(field: str) -> str:
    """The TOML key of a Python field: ``from_`` is ``from``."""
    return field.rstrip("_")


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Nested tables merged, the second winning; queues and congestion controls are replaced as a whole."""
    result = dict(base)
    for key, value in over.items():
        below = result.get(key)
        whole = key in _WHOLE or (key in _WHOLE_BY_KIND and kind_of(value) is not None)
        if isinstance(below, dict) and isinstance(value, dict) and not whole:
            result[key] = merged(below, value)
        else:
            result[key] = value
    return result


def given(value: V | None) -> V:
    """A value that filling in the defaults has provided."""
    if value is None:
        raise AssertionError("a default was not filled in")
    return value


def kind_of(value: object) -> object:
    """The ``kind`` of a table, given as a dictionary or as an object."""
    return value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
