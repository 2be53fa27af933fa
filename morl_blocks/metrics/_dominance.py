"""The non-dominated points of a set."""

import numpy as np
from numpy.typing import NDArray

from morl_blocks._checks import fail
from morl_blocks._extras import needs
from morl_blocks.metrics.arrays import Values, as_array


@needs("moocore")
def nondominated(points: Values) -> NDArray[np.bool_]:
    """Mark the points that no other point dominates (maximise).

    A point dominates another when it is at least as good in every objective and better in one. Equal points do not
    dominate each other, so all copies of a non-dominated point are marked.

    Args:
        points: One row per policy, ``[n, m]``; NaN and infinite numbers raise.

    Returns:
        ``True`` for every non-dominated point, ``[n]``.

    Example:
        >>> nondominated([[1.0, 0.0], [0.0, 1.0], [0.0, 0.5]])
        array([ True,  True, False])
    """
    array = as_array("points", points, ndim=2)
    if array.ndim != 2 or array.shape[1] < 1:
        fail("points", "have shape [n, m] with m >= 1", f"shape {list(array.shape)}")
    if not len(array):
        return np.zeros(0, dtype=np.bool_)
    if array.shape[1] == 1:
        return np.asarray(array[:, 0] == array.max())
    import moocore

    return np.asarray(moocore.is_nondominated(array, maximise=True, keep_weakly=True), dtype=np.bool_)
