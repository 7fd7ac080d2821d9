"""The file of a study's claims: JSON, with its checksum in the file by which the study's folder is known."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, get_args

from tightlink.checksums import DamagedError, of_text, parsed_json, read_json
from tightlink.errors import TightlinkError
from tightlink.experiment.claims import Claim, Origin
from tightlink.files import write_text

#: The file by which the folder of a study is known; it has the checksum of the claims.
MARKER: Final = "study.json"

_KEYS: Final = (
    "id", "statement", "source", "origin", "expected", "observed", "tolerance", "condition", "tolerance_from", "unit",
    "holds", "reason",
)  # fmt: skip


def save(claims: Sequence[Claim], path: str | os.PathLike[str]) -> Path:
    """Write the claims, as JSON, in their order; the file appears complete or not at all."""
    _refuse_duplicates(claims, str(path))
    listed = [described(claim) for claim in claims]
    return write_text(path, json.dumps(listed, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def described(claim: Claim) -> dict[str, Any]:
    """A claim as the file has it: whose it is stands behind its source."""
    whole = asdict(claim)
    return {name: whole[name] for name in _KEYS}


def checksum_of(claims: Iterable[Claim]) -> str:
    """The checksum of claims, for the marker of their study."""
    return of_text(json.dumps([described(claim) for claim in claims]))


def load(path: str | os.PathLike[str]) -> list[Claim]:
    """Read the claims that were saved.

    Raises:
        TightlinkError: The file cannot be read, holds something else, or is not what the study wrote.
    """
    file = Path(path)
    try:
        listed = parsed_json(file)
        if not isinstance(listed, list):
            raise DamagedError(file, "not a file of claims: it is not a list")
        claims = [_read(entry) for entry in listed]
    except OSError as error:
        raise TightlinkError(f"{file}: cannot be read: {(error.strerror or str(error)).lower()}") from None
    except (ValueError, TypeError) as error:
        raise DamagedError(file, f"not a file of claims: {error}") from None
    marker = file.parent / MARKER
    checksum = read_json(marker, needed=False).get("claims") if marker.exists() else None
    if checksum not in {None, checksum_of(claims)}:
        raise DamagedError(file, f"its content does not match its checksum in {MARKER}")
    _refuse_duplicates(claims, str(file))
    return claims


def _read(entry: Any) -> Claim:
    if not isinstance(entry, dict) or set(entry) != set(_KEYS):
        raise ValueError(f"each claim needs {', '.join(_KEYS)}")
    if entry["origin"] not in get_args(Origin):
        raise ValueError(f"origin must be one of {', '.join(get_args(Origin))}")
    for name in ("id", "statement", "source", "condition", "tolerance_from", "unit", "reason"):
        if not isinstance(entry[name], str):
            raise TypeError(f"{name} must be text")
    if not isinstance(entry["tolerance"], int | float | None) or not isinstance(entry["holds"], bool | None):
        raise TypeError("tolerance must be a number, and holds true or false, or null")
    for name in ("expected", "observed"):
        if not isinstance(entry[name], bool | int | float | str | None):
            raise TypeError(f"{name} must be a number, text, true or false, or null")
    return Claim(**entry)


def _refuse_duplicates(claims: Iterable[Claim], place: str) -> None:
    seen: set[str] = set()
    for claim in claims:
        if claim.id in seen:
            raise TightlinkError(f"{place}: two claims have the id {claim.id}")
        seen.add(claim.id)
