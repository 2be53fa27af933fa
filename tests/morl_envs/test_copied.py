import inspect
from typing import Any

import pytest
import torch
from torch import Tensor

from morl_envs import make_batch
from morl_envs.copied import NEEDED, CopiedEnv, with_own_tensors
from morl_envs.protocol import TensorEnv
from morl_envs.source import find_source
from tests.refusals import refused


class Reuser:
    """Counts its steps in one and the same set of tensors."""

    num_envs, objectives, horizon = 2, ("a", "b"), 5
    observation_dim, action_dim, num_actions = 2, 1, None
    action_low, action_high = torch.zeros(1), torch.ones(1)

    def __init__(self) -> None:
        self.numbers, self.flags = torch.zeros(2, 2), torch.zeros(2, 1, dtype=torch.bool)

    def reset_tensors(self, mask: Tensor | None = None) -> Tensor:
        return self.numbers.zero_()

    def step_tensors(self, action: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        self.numbers += 1
        return self.numbers, self.numbers, self.flags, self.flags

    def get_state(self) -> dict[str, Tensor]:
        return {"numbers": self.numbers.clone()}

    def set_state(self, state: dict[str, Tensor]) -> None:
        self.numbers = state["numbers"].clone()


def test_results_keep_their_numbers() -> None:
    env = with_own_tensors(Reuser())
    first = env.reset_tensors()
    steps = [env.step_tensors(torch.zeros(2, 1)) for _ in range(3)]
    assert [float(reward[0, 0]) for _, reward, _, _ in steps] == [1.0, 2.0, 3.0]
    assert [float(observation[0, 0]) for observation, *_ in steps] == [1.0, 2.0, 3.0]
    assert float(first.sum()) == 0
    assert env.horizon == 5
    reuser = Reuser()
    reuser.numbers.fill_(torch.nan)  # not a number stays one
    assert with_own_tensors(reuser).step_tensors(torch.zeros(2, 1))[1].isnan().all()
    assert isinstance(env, CopiedEnv)
    with pytest.raises(AttributeError, match="gravity"):
        _ = env.gravity


@pytest.mark.parametrize("name", ["stealth", "frogger", "formation", "deep-sea-treasure-v0"])
def test_our_own_environments_keep_their_promise_of_fresh_tensors(name: str) -> None:
    env = make_batch(name, 2)
    assert with_own_tensors(env) is env
    action = torch.zeros(2, dtype=torch.int64) if env.num_actions else torch.zeros(2, env.action_dim)
    first, reset = env.step_tensors(action), env.reset_tensors()
    kept = [tensor.clone() for tensor in (*first, reset)]
    for _ in range(3):
        env.step_tensors(action)
    env.reset_tensors(torch.tensor([True, False]))
    assert all(torch.equal(a, b) for a, b in zip((*first, reset), kept, strict=True))


def test_an_environment_that_lacks_something_is_refused_with_its_name() -> None:
    opened: Any = lambda num_envs, seeds: Reuser()  # noqa: E731
    assert isinstance(find_source(opened).make(2, [0, 1]), CopiedEnv)
    refused("`env` must open a TensorEnv, .* got int without reset_tensors, step_tensors", with_own_tensors, 3)

    class Incomplete(Reuser):
        def __getattribute__(self, asked: str) -> object:
            if asked in ("set_state", "horizon"):
                raise AttributeError(asked)
            return super().__getattribute__(asked)

    refused("`env` must open a TensorEnv, .*, got Incomplete without .*horizon", with_own_tensors, Incomplete())
    methods = [name for name, value in vars(TensorEnv).items() if inspect.isfunction(value) and name[0] != "_"]
    assert set(NEEDED) == {*methods, *TensorEnv.__annotations__}
