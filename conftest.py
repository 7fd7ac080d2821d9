"""What the examples of docstrings take for granted, as those of NumPy do: ``np``, ``pl`` and ``tl``."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture(scope="session", autouse=True)
def names_in_examples(doctest_namespace: dict[str, Any]) -> None:
    """What everybody calls NumPy, Polars and Tightlink."""
    import numpy as np
    import polars as pl

    import tightlink as tl

    doctest_namespace.update({"np": np, "pl": pl, "tl": tl})
