"""Graphs and networks: what they carry, and where they begin to congest."""
