import time
from typing import Any
from unittest.mock import MagicMock

import pytest

from morl_recipes.running.engines.events import Lost
from morl_recipes.running.engines.ray import Heartbeats, _Tasks
from tests.morl_recipes.running.fakes import fake_work, tiny_plan


def test_task_is_overdue_only_after_it_has_begun_and_reports_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    now, heartbeats, job = 0.0, Heartbeats(), tiny_plan().groups[0]
    monkeypatch.setattr(time, "monotonic", lambda: now)
    engine: Any = MagicMock(silence=5.0, retries=0, _gone=(ConnectionError,))
    engine._ray.get.side_effect = lambda *_, **__: heartbeats.read()
    tasks = _Tasks(engine, fake_work, None)
    tasks.submit(job, 1)
    for now, steps, events in (
        (9.0, None, 0),  # it waits for a core
        (10.0, 0, 0),
        (14.0, 0, 0),  # the same steps again are a report too
        (18.0, None, 0),
        (19.0, None, 1),
    ):
        if steps is not None:
            heartbeats.report((job.name, 1), steps)
        tasks.listen(lambda name, steps: None)
        assert list(tasks.replace_silent()) == [Lost(job.name, "no progress for 5 seconds")] * events
        if now == 18.0:
            heartbeats = Heartbeats()  # the actor is lost, and forgets what it heard
    assert not tasks.pending
