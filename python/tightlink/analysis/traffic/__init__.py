"""What traffic looks like, whatever its source: bursts at all time scales, arrivals, sizes, cycles, spikes, lags.

These are the properties that Smith 2009 (section 2) lists as what makes Internet traffic hard to predict. Counts
over time are columns of any table at equal intervals; arrivals and sizes columns of any table.
"""
