import pandas as pd
import pytest

from morl_recipes.store.history import validation_at

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("unusable", [(NAN, NAN), (NAN, 4.0), (3.0, NAN), (3.0, INF), (-INF, 4.0)])
def test_last_validation_with_finite_returns_or_that_of_an_iteration_is_found(unusable: tuple[float, float]) -> None:
    rows = [(k, 64 * k, *own, 0.1 * k, 1.0 * k) for k, own in enumerate([(1.0, 2.0), (3.0, 4.0), unusable], start=1)]
    frame = pd.DataFrame(rows, columns=["iteration", "steps", "return_0", "return_1", "hv", "eu"])
    first, last = validation_at(frame, 2, 1), validation_at(frame, 2)
    assert last == {"iteration": 2, "steps": 128, "returns": (3.0, 4.0), "hv": 0.2, "eu": 2.0}
    assert first is not None
    assert first["returns"] == (1.0, 2.0)
    assert validation_at(frame, 2, 3) is None
    assert validation_at(pd.DataFrame(), 2) is None
