"""What the server of processes does as it starts, for all of them: it makes what checks a scenario, which takes a while."""

from __future__ import annotations

import tightlink as tl
from attack._scenario import SCENARIO

tl.loads(SCENARIO).set("link.wire.queue", "5 packets").resolve()
