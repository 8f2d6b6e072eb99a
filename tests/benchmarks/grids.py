"""Which setting of a grid to take: the one that is good together with those beside it.

With few examples the very best of thousands of settings is mostly luck. A setting whose neighbours are good too is
likelier to be good on data that nobody has looked at.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def safest(values: Any) -> tuple[int, ...]:
    """Return where a grid's mean of a value and those one step away is highest; the first of equals.

    Args:
        values: One value for each setting, one axis for each thing that is set.
    """
    total, count = values.astype(np.float64), np.ones(values.shape)
    for axis in range(values.ndim):
        for step in (1, -1):
            beside, here = _pair(values.ndim, axis, step)
            total[here] += values[beside]
            count[here] += 1
    place = np.unravel_index(int(np.argmax(np.round(total / count, 9))), values.shape)
    return tuple(int(each) for each in place)


def _pair(axes: int, axis: int, step: int) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    beside, here = [slice(None)] * axes, [slice(None)] * axes
    beside[axis], here[axis] = (slice(1, None), slice(None, -1)) if step > 0 else (slice(None, -1), slice(1, None))
    return tuple(beside), tuple(here)
