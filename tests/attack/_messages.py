"""Random lines, most of them nearly right: JSON with other values, keys and nesting, cut short, too long, no text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import random

VALUES: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, 1, -1, 2, 7, 100, 65536, 100_000, 100_001, 2**31, 2**53, 2**62, 2**63, 2**64, 10**30, 10**400),
    *(0.0, -0.0, 0.5, 1e-300, 1e300, -1e300, float("nan"), float("inf"), 1.0, 60.0, 60.1),
    *("", "1", "echo", "receive", "a" * 300, "\x1b[31m", "\x00", "\ud800", "é\u202e", "{", "1e5", "true"),
    *([], [0], [[0]], {}, {"a": 1}, [None], [1e9], ["x"], [0] * 50, {"tightlink": 1}),
)  # fmt: skip


def line(rng: random.Random, message: dict[str, Any]) -> bytes:
    """A line that is like a message, or is nothing like it."""
    changed = dict(message)
    for _ in range(rng.choice([0, 1, 1, 1, 2, 3])):
        match rng.randrange(5):
            case 0 | 1 if changed:
                changed[rng.choice(list(changed))] = rng.choice(VALUES)
            case 2 if changed:
                del changed[rng.choice(list(changed))]
            case 3:
                changed[rng.choice(["", "more", "error", "tightlink", "ready", "seq", "\x1b"])] = rng.choice(VALUES)
            case _:
                changed = {rng.choice(["do", "most", "a", "ready"]): changed}
    # Text may have halves of surrogate pairs, which are escapes in JSON.
    text = json.dumps(changed).encode()
    return _spoiled(rng, text) if rng.random() < 0.4 else text + b"\n"


def _spoiled(rng: random.Random, text: bytes) -> bytes:
    place = rng.randrange(len(text) + 1)
    return rng.choice(
        (
            text[:place],
            text[:place] + bytes([rng.randrange(256)]) + text[place + 1 :] + b"\n",
            text[:place] + text[place + rng.randrange(1, 9) :] + b"\n",
            rng.randbytes(rng.choice([0, 1, 30, 3000, 30_000])),
            rng.choice([b"[", b"{", b'{"a":', b"[[{", b'"', b"1", b" ", b"-", b"\\u"]) * rng.randrange(1, 5000) + b"\n",
            text + b" " * rng.randrange(8000) + b"\n",
            text + b"\n" + text + b"\n" + rng.randbytes(20),
            rng.choice(
                [b"", b"\n", b"\r\n", b"\x00\n", b"GET / HTTP/1.1\r\n\r\n", b"\xff\xfe\n", b"\xef\xbb\xbf" + text]
            ),
            text.replace(b'"', b"'") + b"\n",
            text.replace(b":", b": 1, ", 1) + b"\n",
            # Keys twice.
            text[:-1] + b", " + text[1:] + b"\n",
            text.replace(b"1", b"1" * rng.randrange(1, 4000)) + b"\n",
        )
    )
