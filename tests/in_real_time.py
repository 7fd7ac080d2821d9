"""Marks of tests that run in real time over links that this machine emulates.

A test that compares figures is tried three times: what is wrong is wrong each time, a machine that others keep busy is not. What
begins, ends and is cleaned up has one try.
"""

from __future__ import annotations

from typing import Any, Final

import pytest

from tightlink.measure.machine import missing


def _needs(feature: str) -> pytest.MarkDecorator:
    why = missing(feature)
    return pytest.mark.skipif(bool(why), reason=str(why))


#: Needs hosts and links between them.
needs_links: Final = _needs("tun")
#: Needs a router that is this machine's kernel.
needs_router: Final = _needs("forwarding")
#: Compares figures.
tried_again: Final = pytest.mark.flaky(reruns=2)


def measures(test: Any) -> Any:
    """Needs hosts and links between them, and compares figures."""
    return needs_links(tried_again(test))
