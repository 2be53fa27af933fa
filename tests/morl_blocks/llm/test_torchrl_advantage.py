import pytest
import torch
from tensordict import NonTensorStack, TensorDict
from torch import nn
from torchrl.data import LazyTensorStorage, ReplayBuffer
from torchrl.modules.distributions import LLMMaskedCategorical
from torchrl.objectives import llm

from morl_blocks.llm import GroupAdvantage, group_advantage
from morl_blocks.scalarizers import Linear, SmoothTchebycheff
from tests.refusals import refused

HALF, GROUPS = torch.tensor([0.5, 0.5]), torch.tensor([0, 0, 1, 1])
REWARDS = torch.tensor([[1.0, 0.0], [0.5, 0.9], [0.3, 0.2], [0.0, 0.4]])


class Actor(nn.Module):
    """Four words, the same logits everywhere: what TorchRL's losses ask of a language model."""

    def __init__(self) -> None:
        super().__init__()
        self.logits = nn.Parameter(torch.zeros(4))

    def get_dist(self, tensordict: TensorDict, **kwargs: object) -> LLMMaskedCategorical:
        tokens = tensordict["tokens", "full"]
        return LLMMaskedCategorical(logits=self.logits.expand(*tokens.shape, 4), mask=torch.ones_like(tokens).bool())


def completions() -> TensorDict:
    tokens = torch.tensor([[0, 0, 0], [1, 1, 1], [2, 2, 2], [3, 3, 3]])
    batch = TensorDict({"query": GROUPS, ("next", "reward"): REWARDS}, batch_size=4)
    batch["tokens", "full"], batch["log_probs", "full"] = tokens, torch.full((4, 3), 0.25).log()
    return batch


@pytest.mark.skipif(not hasattr(llm, "CISPOLoss"), reason="the losses of TorchRL 0.10 take TorchRL's own actors alone")
def test_the_loss_moves_each_word_by_its_advantage() -> None:
    batch = GroupAdvantage(SmoothTchebycheff(0.1), HALF).inv(completions())
    expected = group_advantage(REWARDS, GROUPS, SmoothTchebycheff(0.1), HALF)
    assert batch["advantage"].shape == (4, 1, 1)
    for kind in (llm.GRPOLoss, llm.CISPOLoss):
        actor = Actor()
        kind(actor, entropy_bonus=False)(batch).loss_objective.backward()
        assert actor.logits.grad is not None
        # Ratio 1: the gradient of a word's log-probability is its indicator minus 1/4, and advantages sum to 0.
        torch.testing.assert_close(actor.logits.grad, -expected / 4, rtol=1e-4, atol=1e-6)


def test_texts_name_groups_and_tokens_are_added_up() -> None:
    batch = completions()
    batch["query"] = NonTensorStack("p", "p", "q", "q")
    batch["next", "reward"] = torch.stack([REWARDS / 2, REWARDS / 2], 1)
    batch = GroupAdvantage(Linear(), HALF).inv(batch)
    torch.testing.assert_close(batch["advantage"].flatten(), group_advantage(REWARDS, GROUPS, Linear(), HALF))


def test_in_a_replay_buffer() -> None:
    buffer = ReplayBuffer(storage=LazyTensorStorage(4), transform=GroupAdvantage(Linear(), HALF), batch_size=2)
    buffer.extend(completions())
    torch.testing.assert_close(buffer[:]["advantage"].flatten(), group_advantage(REWARDS, GROUPS, Linear(), HALF))
    assert buffer.sample()["advantage"].shape == (2, 1, 1)


def test_bad_input() -> None:
    batch = completions()
    batch["next", "reward"] = torch.zeros(4)
    refused(r"must be \[N, m\]", GroupAdvantage(Linear(), HALF).inv, batch)
    refused("`weights` must sum to 1", GroupAdvantage, Linear(), torch.ones(2))
    batch["next", "reward"] = torch.zeros(4, 3)
    refused("`weights` must have 3 objectives", GroupAdvantage(Linear(), HALF).inv, batch)
