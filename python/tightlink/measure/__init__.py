"""Measuring the real thing: hosts of this machine with their real transports, over an emulated link."""
