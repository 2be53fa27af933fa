import time

import pytest

from morl_recipes.running.engines.ray import Heartbeats, Task
from tests.morl_recipes.running.fakes import tiny_plan


def test_task_is_overdue_only_after_it_has_begun_and_reports_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 5.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    heartbeats, task = Heartbeats(), Task(tiny_plan().groups[0])
    assert not task.hear(heartbeats.read().get("a"))
    assert task.heard == float("inf")
    heartbeats.report("a", 0)
    assert task.hear(heartbeats.read()["a"])
    now = 9.0
    assert not task.hear(heartbeats.read()["a"])
    assert task.heard == 5.0
    heartbeats.report("a", 0)  # the same steps again are a report too
    assert task.hear(heartbeats.read()["a"])
    assert task.heard == 9.0
