"""Laboratories: one HTML file with the engine itself, a scenario, and sliders that simulate every packet again."""

from tightlink.laboratory.page import write

__all__ = ["write"]
