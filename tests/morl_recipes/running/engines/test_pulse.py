import time

import pytest

from morl_recipes.running.engines.ray import Listener, Pulse


def test_only_who_has_begun_and_falls_silent_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    pulse, listener = Pulse(), Listener(silence=10.0)
    assert listener.listen(pulse.heard()) == {}
    pulse.tell("a", 0)
    pulse.tell("b", 0)
    assert listener.listen(pulse.heard()) == {"a": 0, "b": 0}
    now = 9.0
    pulse.tell("a", 64)
    assert listener.listen(pulse.heard()) == {"a": 64}
    assert listener.silent() == []
    now = 10.0
    assert listener.silent() == ["b"]
    pulse.tell("b", 0)  # the same steps again are a word too
    assert listener.listen(pulse.heard()) == {"b": 0}
    assert listener.silent() == []


def test_another_attempt_may_wait_for_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    pulse, listener = Pulse(), Listener(silence=10.0)
    listener.forget("a")
    pulse.tell("a", 0)
    listener.listen(pulse.heard())
    listener.forget("a")
    now = 1000.0
    listener.listen(pulse.heard())
    assert listener.silent() == []
    pulse.tell("a", 0)
    listener.listen(pulse.heard())
    now = 1010.0
    assert listener.silent() == ["a"]
