"""Analysis: what the tables of runs say, computed the same way for simulated, live and captured traffic."""
