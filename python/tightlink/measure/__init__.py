"""Measuring real networks."""
