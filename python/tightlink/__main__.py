"""`python -m tightlink`: the same as the command `tightlink`."""

from tightlink.cli import main

raise SystemExit(main())
