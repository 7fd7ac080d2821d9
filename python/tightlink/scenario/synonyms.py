"""What other tools and textbooks call the keys and kinds of a scenario: for "did you mean" alone, none is accepted.

Example:
    >>> from tightlink.scenario import Bulk, Link
    >>> from tightlink.scenario.traffic import Cbr
    >>> meant_key("bandwidth", Link), meant_key("mss", Bulk), meant_key("flow", Bulk)
    ('rate', 'tcp.payload', 'flows')
    >>> meant_key("payload", Cbr), meant_key("payload", Cbr, beside=["tcp"])
    ('udp.payload', 'tcp.payload')
    >>> meant_kind("droptail", ["drop-tail", "red"]), meant_kind("ftp", ["bulk", "cbr"])
    ('drop-tail', 'bulk')
    >>> alike("rate", ["rtt", "bandwidth"]), called("cca", Bulk)
    ('bandwidth', 'tcp.congestion')
    >>> meant_control("ns3::TcpBic", ["bic", "cubic"]), meant_control("bbr2", ["bbr", "bbr3"])
    ('bic', 'bbr3')
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from tightlink.errors import closest
from tightlink.scenario.described import tables_in

if TYPE_CHECKING:
    from tightlink.scenario.table import Table

#: Letters with which a key that nothing else begins with is meant.
_LEAST: Final = 3


def meant_key(word: str, table: type[Table], beside: Collection[str] = ()) -> str | None:
    """The key of a table, or of one below it, that somebody has in mind who writes an unknown one ``beside`` others."""
    keys = table.keys()
    begun = [key for key in keys if len(word) >= _LEAST and key.startswith(word.casefold())]
    return called(word, table, beside) or (begun[0] if len(begun) == 1 else closest(word, keys))


def alike(word: str, names: Collection[str]) -> str | None:
    """The one of some names that others use for the same as a word."""
    groups = [{_plain(each) for each in (key, *others.split())} for key, others in _elsewhere()["keys"].items()]
    same = set().union(*(group for group in groups if _plain(word) in group))
    return next((name for name in names if _plain(name) in same), None)


def meant_kind(word: str, kinds: Collection[str]) -> str | None:
    """The kind that somebody has in mind who writes an unknown one."""
    named = next((kind for kind in _named(word, "kinds") if kind in kinds), None)
    # FqCoDelQueueDisc, OnOffApplication.
    begins = (kind for kind in sorted(kinds, key=len, reverse=True) if _plain(word).startswith(_plain(kind)))
    return named or closest(word, kinds) or next(begins, None)


def meant_control(word: str, controls: Collection[str]) -> str | None:
    """The congestion control, or the loss recovery among them, that somebody has in mind who writes an unknown one."""
    plain = _plain(word).removeprefix("ns3::").removeprefix("tcp")
    named = next((control for control in _named(plain, "controls") if control in controls), None)
    return named or closest(plain, controls)


def meant_network(word: object, networks: Collection[str]) -> str | None:
    """The ready network that somebody has in mind who writes an unknown one.

    >>> [meant_network(word, ["lte", "leo", "5g"]) for word in ("4G", "Starlink", "5G", "ltee", 4)]
    ['lte', 'leo', '5g', 'lte', None]
    """
    if not isinstance(word, str):
        return None
    named = next((network for network in _named(word, "networks") if network in networks), None)
    return named or closest(word, networks)


def called(word: str, table: type[Table], beside: Collection[str] = (), *, below: bool = True) -> str | None:
    """The key of a table that is called so here or elsewhere, or ``below``, that of a table in it."""
    known = table.keys()
    for key in (word, *_named(word, "keys")):
        if key in known:
            return key
    if not below:
        return None
    # A table that stands there comes first: a payload is that of the transport that carries the traffic.
    first = (*beside, getattr(table, "carrier", None))
    for name in sorted(table.model_fields, key=lambda name: first.index(name) if name in first else len(first)):
        tables = list(tables_in(table.model_fields[name].annotation, named=False))
        # Of several kinds none is meant by a key that one of them happens to have.
        if len(tables) == 1 and (found := called(word, tables[0], below=False)):
            return f"{name.rstrip('_')}.{found}"
    return None


@cache
def _elsewhere() -> dict[str, dict[str, str]]:
    """By what it is called here, the names elsewhere: of keys, of kinds, of ready networks, of controls."""
    return tomllib.loads((files("tightlink.scenario") / "synonyms.toml").read_text(encoding="utf-8"))


def _named(word: str, of: str) -> Iterator[str]:
    plain = _plain(word)
    return (key for key, others in _elsewhere()[of].items() if plain in map(_plain, others.split()))


def _plain(word: str) -> str:
    """A word as it is however its parts are joined: ``SegmentSize`` as ``segment_size``."""
    return word.casefold().replace("-", "").replace("_", "")
