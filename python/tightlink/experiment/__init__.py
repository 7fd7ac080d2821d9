"""Experiments: what is varied, what is claimed, and what came out.

Example:
    >>> from tightlink.experiment import claims
    >>> claims.exact("packets", "2385 packets are sent", "table 1", 2385, 2385).holds
    True
"""
