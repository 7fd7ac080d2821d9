"""The four-tier network of NIST 2010 with its users, by twenty parameters of two levels each."""

from __future__ import annotations

from tightlink.scenario.four_tier.model import Distribution, FourTier, LargerFile
from tightlink.scenario.four_tier.parameters import PARAMETERS, Parameter

__all__ = ["PARAMETERS", "Distribution", "FourTier", "LargerFile", "Parameter"]
