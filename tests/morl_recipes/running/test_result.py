import pandas as pd
import pytest

from morl_recipes.store.history import validation_at

NAN = float("nan")


def _frame(*returns: tuple[float, float]) -> pd.DataFrame:
    rows = [(k, 64 * k, *pair, 0.1 * k, 1.0 * k) for k, pair in enumerate(returns, start=1)]
    return pd.DataFrame(rows, columns=["iteration", "steps", "return_0", "return_1", "hv", "eu"])


def test_last_validation_is_found() -> None:
    found = validation_at(_frame((1.0, 2.0), (3.0, 4.0), (NAN, NAN)), 2)
    assert found == {"iteration": 2, "steps": 128, "returns": (3.0, 4.0), "hv": 0.2, "eu": 2.0}


def test_validation_of_an_iteration_is_found() -> None:
    frame = _frame((1.0, 2.0), (NAN, NAN), (3.0, 4.0))
    found = validation_at(frame, 2, 1)
    assert found is not None
    assert found["returns"] == (1.0, 2.0)
    assert validation_at(frame, 2, 2) is None
    assert validation_at(pd.DataFrame(), 2) is None


@pytest.mark.parametrize("spoiled", [(NAN, 4.0), (3.0, NAN), (3.0, float("inf")), (float("-inf"), 4.0)])
def test_validation_with_a_return_that_is_not_finite_is_skipped(spoiled: tuple[float, float]) -> None:
    found = validation_at(_frame((1.0, 2.0), spoiled), 2)
    assert found is not None
    assert found["iteration"] == 1
