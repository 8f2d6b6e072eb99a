"""`make bench`: the benchmarks that need no data but our own, one after the other."""

from __future__ import annotations

import sys

from tests.benchmarks import spine

spine.main(sys.argv[1:])
