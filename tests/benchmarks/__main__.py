"""`make bench`: speed beside its floors; quality, and what is called far, where the public data is at hand."""

from __future__ import annotations

import sys

from tests.benchmarks import far, quality, speed

speed.main(sys.argv[1:])
if quality.DATA.exists():
    far.main([])
    quality.main([])
else:
    print(f"Quality was not measured: there is no {quality.DATA}.")
