"""How evenly a resource is shared.

Jain, Chiu, Hawe: A Quantitative Measure of Fairness and Discrimination for Resource Allocation in
Shared Computer Systems, DEC-TR-301, 1984.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def jain(shares: Sequence[float]) -> float:
    """Jain's index (Σx)² / (n Σx²): 1 where all get the same, 1/n where one gets all.

    >>> jain([1.0, 1.0, 1.0, 1.0]), jain([1.0, 0.0, 0.0, 0.0])
    (1.0, 0.25)
    """
    squares = sum(share * share for share in shares)
    return sum(shares) ** 2 / (len(shares) * squares) if squares > 0 else 1.0
