from morl_blocks.schedulers import Fixed
from tests.refusals import refused


def test_stays_where_it_is() -> None:
    schedule = Fixed(0.5)
    for progress in (0.0, 0.5, 1.0):
        assert schedule.step(progress, 1.0) == 0.5
    for mu in (0.0, -1.0, float("nan")):
        refused("`mu` must be > 0, got", Fixed, mu)
