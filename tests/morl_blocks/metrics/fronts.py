"""Point sets that the tests of the front metrics share."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays


def fronts(m: int, most: int = 7) -> st.SearchStrategy[np.ndarray]:
    """Sets of small multiples of a quarter: ties, copies and dominated points are common."""
    whole = st.integers(1, most).flatmap(lambda n: arrays(np.int64, (n, m), elements=st.integers(-8, 8)))
    return whole.map(lambda points: points / 4)


pairs = st.integers(2, 4).flatmap(lambda m: st.tuples(fronts(m), fronts(m)))
