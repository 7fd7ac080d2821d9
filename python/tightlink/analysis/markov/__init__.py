"""Markov chains: what something is at each step, what it becomes next, and where its goal is lost.

After C. Dabrowski, F. Hunt, K. Morrison: Improving the Efficiency of Markov Chain Analysis of Complex Distributed
Systems, NISTIR 7744, 2010, and NIST 2010, which names the method as its second way to reduce a model.

Example:
    >>> from tightlink.analysis.markov import from_log, ranked
    >>> log = pl.DataFrame(
    ...     {"entity": ["a", "a", "b", "b"], "time_s": [0.0, 2.0, 0.0, 4.0], "state": ["waiting", "completed"] * 2}
    ... )
    >>> chains = from_log(log, step_s=1.0)
    >>> chains.pieces[0].chain.matrix.round(3).tolist()
    [[0.667, 0.333], [0.0, 1.0]]
    >>> ranked(chains, "waiting", "completed")["transition"].to_list()
    ['waiting → completed']
"""

from tightlink.analysis.markov.chain import Chain
from tightlink.analysis.markov.cuts import minimal_cut_sets
from tightlink.analysis.markov.logs import from_log
from tightlink.analysis.markov.perturbation import degraded, perturbed
from tightlink.analysis.markov.piecewise import Piece, PiecewiseChain
from tightlink.analysis.markov.sensitivity import ranked
from tightlink.analysis.markov.users import from_users

__all__ = [
    "Chain",
    "Piece",
    "PiecewiseChain",
    "degraded",
    "from_log",
    "from_users",
    "minimal_cut_sets",
    "perturbed",
    "ranked",
]
