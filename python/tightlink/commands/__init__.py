"""Commands that answer one question each: a file for every one, registered in `tightlink.cli`."""
