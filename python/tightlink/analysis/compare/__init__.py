"""Two runs, or two folders of runs, side by side."""
