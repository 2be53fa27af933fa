import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from morl_blocks.metrics import performance_ratios, profile, profile_auc
from morl_blocks.metrics.arrays import Array
from tests.refusals import refused

scores = arrays(np.float64, (3, 6), elements=st.one_of(st.just(0.0), st.floats(0.01, 1.0)))


def test_closed_form_and_zero_scores_are_infinitely_far() -> None:
    hv = [[1.0] * 4, [1.0, 1 / 1.5, 1 / 2, 1 / 4]]
    np.testing.assert_allclose(profile_auc(hv), [1.0, 0.5625])
    np.testing.assert_allclose(profile(hv, [1.0, 1.5, 2.0, 4.0])[1], [0.25, 0.5, 0.75, 1.0])
    assert np.isinf(performance_ratios([[0.0], [0.0]])).all()
    assert profile_auc([[0.0], [0.0]]).tolist() == [0.0, 0.0]
    several = np.random.default_rng(0).random((5, 3, 4))
    np.testing.assert_allclose(profile_auc(several), [profile_auc(one) for one in several])
    assert profile(several, [1.0, 2.0]).shape == (5, 3, 2)


@given(scores)
def test_auc_is_the_integral_of_the_profile(hv: Array) -> None:
    taus = np.linspace(1.0, 3.0, 4001)
    areas = np.trapezoid(profile(hv, taus), taus, axis=-1) / 2
    np.testing.assert_allclose(profile_auc(hv), areas, atol=2e-3)


def test_bad_input_raises() -> None:
    refused(r"`hv` must be >= 0, got -0\.1", profile_auc, [[0.1], [-0.1]])
    refused("`tau_max` must be finite and > 1, got 1", profile_auc, [[0.1]], tau_max=1.0)
    refused(r"`taus` must be >= 1, got 0\.5", profile, [[0.1]], [0.5])
