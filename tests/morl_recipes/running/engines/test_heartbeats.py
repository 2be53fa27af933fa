import time

import pytest

from morl_recipes.running.engines.ray import Heartbeats, Watchdog


def test_population_that_has_begun_and_reports_no_more_is_overdue(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    heartbeats, watchdog = Heartbeats(), Watchdog(silence=10.0)
    assert watchdog.update(heartbeats.read()) == {}
    heartbeats.report("a", 0)
    heartbeats.report("b", 0)
    assert watchdog.update(heartbeats.read()) == {"a": 0, "b": 0}
    now = 9.0
    heartbeats.report("a", 64)
    assert watchdog.update(heartbeats.read()) == {"a": 64}
    assert watchdog.overdue() == []
    now = 10.0
    assert watchdog.overdue() == ["b"]
    heartbeats.report("b", 0)  # the same steps again are a report too
    assert watchdog.update(heartbeats.read()) == {"b": 0}
    assert watchdog.overdue() == []


def test_another_attempt_is_not_overdue_before_its_first_report(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    heartbeats, watchdog = Heartbeats(), Watchdog(silence=10.0)
    watchdog.reset("a")
    heartbeats.report("a", 0)
    watchdog.update(heartbeats.read())
    watchdog.reset("a")
    now = 1000.0
    watchdog.update(heartbeats.read())
    assert watchdog.overdue() == []
    heartbeats.report("a", 0)
    watchdog.update(heartbeats.read())
    now = 1010.0
    assert watchdog.overdue() == ["a"]
