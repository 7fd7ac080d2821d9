"""`python -m tightlink`: the same as the command `tightlink`."""

from tightlink.entry import main

raise SystemExit(main())
