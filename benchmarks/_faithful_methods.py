"""Policy gradients on small worlds, with every way to bring a preference in; all preferences at once."""

from collections.abc import Callable

import torch
from torch import Tensor

from benchmarks._faithful_worlds import DOUBLE, Arms, Sea, utility
from morl_blocks.combiners import PCGrad
from morl_blocks.critics import BranchedCritic
from morl_blocks.ppo import (
    CategoricalActor,
    ExpectedReturn,
    expectation_advantage,
    initial_values,
    utility_weights,
    vector_advantage,
)
from morl_blocks.scalarizers import Linear

Advantage = Callable[[Tensor, Tensor, Tensor], Tensor]
SAMPLES = 256


def linear(returns: Tensor, weights: Tensor, expected: Tensor) -> Tensor:
    """The weighted sum: J does not matter."""
    return expectation_advantage(returns, weights.unsqueeze(1).expand_as(returns))


def of_episode(returns: Tensor, weights: Tensor, expected: Tensor) -> Tensor:
    """ESR: the utility of each return."""
    judged = utility()(returns, weights.unsqueeze(1).expand_as(returns))
    return vector_advantage(judged.unsqueeze(-1)).squeeze(-1)


def of_expectation(returns: Tensor, weights: Tensor, expected: Tensor) -> Tensor:
    """SER: the exact gradient of the utility at the expected return."""
    slope = utility_weights(utility(), expected, weights)
    return expectation_advantage(returns, slope.unsqueeze(1).expand_as(returns))


def _descend(logits: Tensor, steps: int, rate: float, gradient: Callable[[Tensor], Tensor]) -> Tensor:
    """Run Adam with a falling step size; return the policies' probabilities."""
    logits = logits.clone().requires_grad_()
    optimizer = torch.optim.Adam([logits], lr=rate)
    decay = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.01, steps)
    for _ in range(steps):
        logits.grad = gradient(logits.detach())
        optimizer.step()
        decay.step()
    return logits.detach().softmax(-1)


def train_arms(arms: Arms, weights: Tensor, advantage: Advantage, *, steps: int, seed: int = 0) -> Tensor:
    """Train one policy per preference by sampled policy gradients; return their expected returns, ``[P, 2]``.

    The expected return that SER needs is a running average of the returns played.
    """
    generator = torch.Generator().manual_seed(seed)
    expected = ExpectedReturn(2, (len(weights),), memory=0.9).double()

    def gradient(logits: Tensor) -> Tensor:
        policy = logits.softmax(-1)
        action = torch.multinomial(policy, SAMPLES, replacement=True, generator=generator)
        returns = arms.play(action, generator)
        expected.update(returns)
        judged = advantage(returns, weights, expected.value)
        score = torch.nn.functional.one_hot(action, logits.shape[-1]) - policy.unsqueeze(1)
        result: Tensor = -(judged.unsqueeze(-1) * score).mean(1)
        return result

    policy = _descend(torch.zeros(len(weights), len(arms.mean), dtype=DOUBLE), steps, 0.05, gradient)
    return policy @ arms.mean


def train_projected(arms: Arms, weights: Tensor, *, steps: int, seed: int = 0) -> Tensor:
    """Train as PASTA's actor does: standardised advantages, projected gradients, and a sum without weights."""
    generator, combiner = torch.Generator().manual_seed(seed), PCGrad()

    def gradient(logits: Tensor) -> Tensor:
        policy = logits.softmax(-1)
        action = torch.multinomial(policy, SAMPLES, replacement=True, generator=generator)
        judged = vector_advantage(arms.play(action, generator))
        score = torch.nn.functional.one_hot(action, logits.shape[-1]) - policy.unsqueeze(1)
        jacobian = torch.einsum("pnm,pnk->pmk", judged, score) / SAMPLES
        move: Tensor = combiner(jacobian, generator=generator)
        return -move

    policy = _descend(torch.zeros(len(weights), len(arms.mean), dtype=DOUBLE), steps, 0.05, gradient)
    return policy @ arms.mean


def train_conditioned(arms: Arms, weights: Tensor, *, steps: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Train one network for all preferences by SER; return expected returns and the critic's forecasts, ``[P, 2]``.

    Each sample has a preference of its own, and its weights are the gradient at the critic's J(w).
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        actor, critic = CategoricalActor(1, 2, len(arms.mean)), BranchedCritic(1, 2)
    # The critic is faster: the weights are right only where its forecast keeps up with the policy.
    rates = [{"params": actor.parameters(), "lr": 1e-3}, {"params": critic.parameters(), "lr": 1e-2}]
    optimizer = torch.optim.Adam(rates)
    decay = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.02, steps)
    ask, initial, observation = utility().float(), torch.zeros(1, 1), torch.zeros(1024, 1)
    for _ in range(steps):
        first = torch.rand(len(observation), generator=generator)
        preference = torch.stack([first, 1 - first], -1)
        logits = actor(observation, preference)
        action = torch.multinomial(logits.detach().softmax(-1), 1, generator=generator).squeeze(-1)
        returns = arms.play(action, generator).float()
        value = critic(observation, preference)
        with torch.no_grad():
            expected = initial_values(critic, initial, preference)
            judged = expectation_advantage(returns - value, utility_weights(ask, expected, preference))
        log_prob = logits.log_softmax(-1).gather(-1, action.unsqueeze(-1)).squeeze(-1)
        optimizer.zero_grad()
        (critic.loss(value, returns) - (judged * log_prob).mean()).backward()
        optimizer.step()
        decay.step()
    with torch.no_grad():
        asked = weights.float()
        policy = actor(torch.zeros(len(asked), 1), asked).softmax(-1)
        return policy.double() @ arms.mean, initial_values(critic, initial, asked).double()


def judge(sea: Sea, policy: Tensor) -> tuple[Tensor, Tensor]:
    """Return exact values ``[P, S, 2]`` and advantages ``[P, S, 4, 2]`` of tabular policies ``[P, S, 4]``."""
    states = len(sea.following)
    there = torch.nn.functional.one_hot(sea.following, states + 1)[..., :states].to(policy)
    moves = torch.einsum("psa,sat->pst", policy, there)
    mean = torch.einsum("psa,sam->psm", policy, sea.reward)
    value = torch.linalg.solve(torch.eye(states, dtype=policy.dtype) - moves, mean)
    action_value = sea.reward + torch.einsum("sat,ptm->psam", there, value)
    return value, action_value - value.unsqueeze(2)


def train_sea(sea: Sea, weights: Tensor, method: str, *, steps: int, rate: float = 0.5) -> Tensor:
    """Train tabular policies by the exact natural gradient (advantages added to the logits); return J, ``[P, 2]``.

    Args:
        sea: The world.
        weights: Preferences, ``[P, 2]``.
        method: ``"linear"``, ``"projected"`` (PASTA's sum without weights) or ``"expectation"`` (SER).
        steps: Gradient steps.
        rate: First step size; it falls to a hundredth.
    """
    generator, combiner, even = torch.Generator().manual_seed(0), PCGrad(), Linear()
    logits = torch.zeros(len(weights), len(sea.following), 4, dtype=DOUBLE)
    for step in range(steps):
        value, advantage = judge(sea, logits.softmax(-1))
        expected = value[:, 0] + torch.tensor([0.0, 1 + 1 / 18], dtype=DOUBLE)
        if method == "projected":
            flat = vector_advantage(advantage.flatten(1, 2)).mT
            move = combiner(flat, generator=generator).reshape(logits.shape) / 10
        else:
            slope = utility_weights(even if method == "linear" else utility(), expected, weights)
            move = (slope[:, None, None] * advantage).sum(-1) * 10
        logits = logits + rate * (1 - 0.99 * step / steps) * move
        logits = (logits - logits.amax(-1, keepdim=True)).clamp_min(-30)
    return judge(sea, logits.softmax(-1))[0][:, 0] + torch.tensor([0.0, 1 + 1 / 18], dtype=DOUBLE)
