"""Every public callable of ``morl_blocks`` with good arguments, found by the names of its parameters."""

import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torch import Tensor, nn
from torchjd.aggregation import UPGrad
from torchjd.scalarization import Mean

from morl_blocks import (
    combine_gradients,
    combiners,
    critics,
    metrics,
    normalizers,
    objective_jacobian,
    ppo,
    preferences,
    problems,
    scalarizers,
    schedulers,
)
from morl_blocks.llm import group_advantage, group_normalize, reward_attention, reward_conflict
from morl_blocks.transforms import ScalarizeReward

FAMILIES = (scalarizers, schedulers, combiners, critics, ppo, metrics, normalizers, problems, preferences)
EXEMPT = {"seed_draws", "random_order", "dirichlet_preferences"}  # take a generator and sizes
BASES = {"Actor", "ActorPenalty", "AdvantageForm", "Combiner", "Critic", "DrawingCombiner", "Normalizer"}
BASES |= {"ObjectiveLoss", "PreferenceSampler", "Problem", "Scalarizer", "Scheduler"}

BY_HAND = {"scalarised_advantage", "objective_jacobian", "combine_gradients", "initial_values", "utility_weights"}
BY_HAND |= {"preference_regret"}


class UnreachedError(Exception):
    """The arguments cannot even be put into a tensordict, so that the block never saw them."""


@dataclass(frozen=True)
class Call:
    """A public name and good arguments for it.

    Args:
        name: What is reported.
        function: The call.
        arguments: Good arguments by name.
        pure: A pure function or a network, which carries NaN on instead of reading its data.
        words: Other names that an error may use.
        ignores: Arguments that are taken for the sake of one signature, and not read.
        kinds: Kinds of the arguments, for calls whose arguments are not tensors: see ``_fuzz_kinds``.
    """

    name: str
    function: Callable[..., Any]
    arguments: dict[str, Any]
    pure: bool = False
    words: frozenset[str] = field(default=frozenset())
    ignores: frozenset[str] = field(default=frozenset())
    kinds: dict[str, str] | None = None


def _good() -> dict[str, Any]:
    """Return good arguments by the names that the package gives them."""
    torch.manual_seed(0)
    unit: Callable[..., Tensor] = torch.rand
    simplex: Callable[..., Tensor] = lambda *shape: torch.rand(*shape).softmax(-1)  # noqa: E731
    gradients, ends = torch.randn(3, 4), torch.rand(5, 1) < 0.3
    vectors = {
        name: unit(5, 3) for name in ("reward", "value", "next_value", "target", "previous", "returns", "values")
    }
    vectors |= {
        name: unit(5, 3) for name in ("targets", "advantage", "normalized_return", "normalized_value", "others")
    }
    vectors |= {name: unit(5, 3) for name in ("gaps", "other_gaps", "rewards", "levels", "other", "preferences")}
    logs = {name: 0.1 * torch.randn(5) for name in ("log_prob", "old_log_prob")}
    normal = {
        name: 0.1 * torch.randn(5, 3) for name in ("mean", "action", "noise", "other_mean", "logits", "other_logits")
    }
    normal |= {"log_std": torch.randn(3), "other_log_std": torch.randn(3), "unit_action": unit(5, 3)}
    runs = {name: unit(3) for name in ("base", "boost", "conflict", "progress", "divergence")}
    numbers = {"mu": 0.1, "utopia": 1.05, "maintenance": 0.15, "smoothing": 0.05, "threshold": 0.4, "maximum": 10.0}
    numbers |= {"start": 10.0, "end": 0.05, "gamma": 0.99, "lmbda": 0.95, "clip": 0.2, "scale": 1.0, "level": 0.95}
    numbers |= {
        "groups": 4,
        "count": 10,
        "num_objectives": 3,
        "error": 0.1,
        "freedom": 4,
        "resamples": 10,
        "alpha": 1.0,
    }
    front: dict[str, Any] = {
        "points": unit(6, 3),
        "known": unit(4, 3),
        "reference": torch.zeros(3),
        "hv": unit(3, 4),
        "taus": 1 + unit(5),
    }
    front |= {"first": unit(4, 5), "second": unit(4, 5), "objectives": unit(3, 4, 2), "tau_max": 3.0}
    others = {
        "weights": simplex(3),
        "attention": simplex(3),
        "gramian": gradients @ gradients.mT,
        "low": torch.zeros(3),
    }
    others |= {
        "order": torch.tensor([[1, 2, 0], [0, 2, 1], [2, 0, 1]]),
        "jacobian": gradients,
        "high": torch.ones(3),
        "terminated": ends,
        "done": ends,
    }
    others |= {"observation": unit(5, 4), "preference": simplex(5, 3), "deviation": 1 + unit(3), "losses": gradients}
    return {**vectors, **logs, **normal, **runs, **numbers, **front, **others}


GOOD = _good()
SPECIAL: dict[str, dict[str, Any]] = {
    "bootstrap_ci": {"values": torch.rand(4, 5), "resamples": 10},
    "categorical_log_prob": {"action": torch.tensor([0, 1, 2, 0, 1])},
    "categorical_sample": {"noise": torch.rand(5, 3)},
    "discounted_returns": {"rewards": torch.rand(4, 2, 3), "done": torch.zeros(4, 2, dtype=torch.bool)},
    "eum": {"weights": torch.rand(4, 3).softmax(-1)},
    "indifference": {
        "divergence": torch.rand(5),
        "preference": GOOD["preference"],
        "other": GOOD["preference"].flip(0),
    },
    "interquartile_mean": {"values": torch.rand(8)},
    "log_ratio": {"values": 1 + torch.rand(5, 3), "first": 1 + torch.rand(3)},
    "objective_dominance_ci": {"objectives": torch.rand(3, 4, 5, 2), "resamples": 10},
    "preference_correlation": {"achieved": torch.rand(2, 4, 3), "weights": torch.rand(4, 3).softmax(-1)},
    "preference_groups": {"preferences": GOOD["preference"]},
    "profile_auc_ci": {"hv": torch.rand(3, 4, 5), "resamples": 10},
    "relative": {"scale": 1 + torch.rand(3)},
    "smooth": {"smoothing": 0.05},
    "win_rate_ci": {"hv": torch.rand(3, 4, 5), "resamples": 10},
}
WORDS = {"compare": "second", "scalarised_advantage": "values others", "objective_jacobian": "params"}
WORDS |= {"combine_gradients": "params jacobian", "TorchJD": "method UPGrad", "TorchJDScalarizer": "method utilities"}
WORDS |= {"ReturnNormalizer": "normalizer", "ScalarizeReward": "values", "VectorGAE": "state_value next tensordict"}
WORDS |= {"llm.reward_attention": "values", "Given": "preferences"}
WORDS |= {"VectorClipPPOLoss": "log_prob sample_log_prob state_value tensordict logits targets"}
WORDS |= {"initial_values": "critic observation preference", "utility_weights": "values"}
ESTIMATE = "normalized_return normalized_value values others"
WORDS |= {
    "ExpectationAdvantage": f"{ESTIMATE} expected span estimate",
    "VectorExpectationAdvantage": f"{ESTIMATE} expected span estimate",
}
WORDS |= {"VectorAdvantage": ESTIMATE, "ScalarisedAdvantage": ESTIMATE, "EpisodeAdvantage": ESTIMATE}

IGNORES = {"VectorAdvantage": "weights"} | dict.fromkeys(("Sum", "PCGrad", "GroupedPCGrad", "TorchJD"), "attention")
OUTSIDE = {"log_ratio", "ranged", "relative", "performance_ratios", "llm.group_normalize", "llm.reward_conflict"}
OUTSIDE |= {"llm.group_advantage", "llm.reward_attention", "utility_weights", "preference_correlation", "gaussian_kl"}
OUTSIDE |= {"gaussian_log_prob"}
"""Formulas that are not finite for some finite numbers, or for which NaN stands for a missing reward."""


def calls() -> list[Call]:
    """Return one call for every public name, and one per method of a scalarizer."""
    found = [*_functions(), *_modules(), *_by_hand(), *_constructors()]
    return [replace(c, words=_words(WORDS, c), ignores=_words(IGNORES, c)) for c in found]


def _words(table: dict[str, str], call: Call) -> frozenset[str]:
    return frozenset(table.get(call.name, "").split())


def uncovered() -> set[str]:
    """Return the public names that no call covers."""
    public = {name for family in FAMILIES for name in family.__all__ if callable(getattr(family, name))}
    plain = {name for family in FAMILIES for name in public if issubclass_of(getattr(family, name, None), tuple)}
    return public - {call.name.partition(".")[0] for call in calls()} - EXEMPT - BASES - plain - {"Comparison"}


def issubclass_of(value: Any, kind: type) -> bool:
    """Whether something is a class below another."""
    return inspect.isclass(value) and issubclass(value, kind)


def _arguments(name: str, *functions: Callable[..., Any]) -> dict[str, Any]:
    """Return good arguments for all parameters of functions: those that ``SPECIAL`` has, defaults, and known names."""
    own = SPECIAL.get(name, {})
    wanted = [p for function in functions for p in inspect.signature(function).parameters.values() if p.name != "self"]
    return {p.name: own.get(p.name, GOOD.get(p.name) if p.default is p.empty else p.default) for p in wanted}


def _functions() -> Iterator[Call]:
    for family in FAMILIES:
        for name in family.__all__:
            function = getattr(family, name)
            special = name in EXEMPT | BY_HAND
            if inspect.isfunction(function) and not special:
                yield Call(name, function, _arguments(name, function), family is not metrics)
    for function in (group_normalize, reward_conflict, group_advantage, reward_attention):
        arguments = _arguments(function.__name__, function) | {"groups": torch.tensor([0, 0, 1, 1, 1])}
        arguments = {key: arguments[key] for key in arguments if key in inspect.signature(function).parameters}
        linear: dict[str, Any] = {"scalarizer": scalarizers.Linear()} if "scalarizer" in arguments else {}
        kept = {key: value for key, value in arguments.items() if key != "scalarizer"}
        yield Call(f"llm.{function.__name__}", functools.partial(function, **linear), kept)


def _constructors() -> Iterator[Call]:
    """Yield the classes themselves: a wrong size or word must not wait for the first call."""
    modules: dict[str, Any] = {
        "base": schedulers.Fixed(),
        "scheduler": schedulers.Fixed(),
        "scalarizer": scalarizers.Linear(),
    }
    modules |= {"aggregator": UPGrad(), "critic": _network(critics.BranchedCritic, 4, 3)}
    modules |= {"actor": _network(ppo.CategoricalActor, 4, 3, 3), "network": _network(ppo.CategoricalActor, 4, 3, 3)}
    modules |= {"actor_network": ppo.CategoricalPolicy(modules["actor"]), "critic_network": _critic()}
    modules |= {"observation_dim": 4, "action_dim": 2, "num_actions": 3, "low": -1.0, "high": 1.0}
    methods = {"TorchJD": UPGrad(), "TorchJDScalarizer": Mean()}
    for family in FAMILIES:
        for name in family.__all__:
            kind = getattr(family, name)
            if issubclass_of(kind, nn.Module) and name not in BASES:
                given = {**_arguments(name, kind.__init__), **modules, "method": methods.get(name)}
                wanted = [p.name for p in inspect.signature(kind).parameters.values() if p.kind not in (2, 4)]
                arguments = {key: given[key] for key in wanted}
                yield from [Call(f"{name}()", functools.partial(_constructed, kind), arguments)] if arguments else []


def _constructed(kind: Callable[..., Any], **arguments: Any) -> None:
    kind(**arguments)


def _modules() -> Iterator[Call]:
    """Yield the modules of families whose members are alike."""
    made: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
        "Linear": (scalarizers.Linear, ()),
        "Tchebycheff": (scalarizers.Tchebycheff, ("utopia",)),
        "SmoothTchebycheff": (scalarizers.SmoothTchebycheff, ("mu", "utopia")),
        "SmoothTchebycheffSet": (scalarizers.SmoothTchebycheffSet, ("mu", "utopia")),
        "AdaptiveSmoothTchebycheff": (
            lambda **k: scalarizers.AdaptiveSmoothTchebycheff(schedulers.Fixed(), **k),
            ("utopia", "maintenance"),
        ),
        "TorchJDScalarizer": (lambda: scalarizers.TorchJDScalarizer(Mean()), ()),
    }
    for name, (make, own) in made.items():
        for method in ("forward", "gradient", "attention"):
            given = {key: GOOD[key] for key in (*own, "values", "weights")}
            yield Call(f"{name}.{method}", functools.partial(_made, make, own, method), given)
    stepped = {
        "Fixed": ("mu",),
        "LinearDecay": ("start", "end", "smoothing"),
        "ConflictBraked": ("maximum", "threshold", "smoothing"),
    }
    for name, own in stepped.items():
        given = {key: GOOD[key] for key in (*own, "progress", "conflict")}
        yield Call(name, functools.partial(_made, getattr(schedulers, name), own, "step"), given)
    tuned = {key: GOOD[key] for key in ("gaps", "progress", "conflict")} | {"progress": 0.5, "conflict": 0.5}
    yield Call("SelfTuned", functools.partial(_made, schedulers.SelfTuned, (), "step"), tuned)
    for name in ("Sum", "WeightedSum", "PCGrad", "WeightedPCGrad", "GroupedPCGrad"):
        given = {"jacobian": GOOD["jacobian"], "attention": GOOD["attention"]}
        yield Call(name, functools.partial(_made, getattr(combiners, name), (), "forward"), given)
    yield Call("TorchJD", lambda jacobian, attention: combiners.TorchJD(UPGrad())(jacobian, attention), given)
    for name in ("InitialValue", "LogRatio", "RunningRange", "Standardize", "WarmUp"):
        yield Call(name, functools.partial(_normalized, getattr(normalizers, name)), {"values": 1 + GOOD["values"]})
    for name in ("DTLZ2", "VLMOP2", "ZDT1", "ZDT2", "ZDT3"):
        problem = getattr(problems, name)()
        low, high = problem.bounds
        point = low + (high - low) * torch.rand(5, problem.dimension)
        yield Call(name, problem, {"x": point})
    for name, given in (("Dirichlet", {"alpha": 1.0}), ("Grid", {"n": 5}), ("Uniform", {}), ("Given", {})):
        sampler = getattr(preferences, name)
        sizes = {**given, "count": 4, "num_objectives": 3}
        yield Call(name, functools.partial(_made, sampler, tuple(given), "forward"), sizes)


def _made(make: Callable[..., Any], own: tuple[str, ...], method: str, **arguments: Any) -> Any:
    """Make a module of some of its arguments, and call a method with the others."""
    block = make(**{key: value for key, value in arguments.items() if key in own})
    return getattr(block, method)(**{key: value for key, value in arguments.items() if key not in own})


def _normalized(make: Callable[[], Any], values: Any) -> Any:
    block = make()
    block.update(values)
    return block(values)


@functools.cache
def _network(kind: Any, *sizes: int) -> Any:
    torch.manual_seed(0)
    return kind(*sizes)


def _data(batch: tuple[int, ...], **entries: Any) -> TensorDict:
    try:
        return TensorDict(entries, batch_size=batch)
    except Exception as error:
        raise UnreachedError from error


def _linear(losses: Any) -> tuple[Any, nn.Parameter]:
    """Return losses whose gradients are the rows of a matrix, and what they are differentiated by."""
    point = nn.Parameter(torch.zeros(4))
    fits = isinstance(losses, Tensor) and losses.layout is torch.strided and losses.shape[-1:] == (4,)
    fits = fits and not losses.is_meta
    return ((losses.detach() * point).sum(-1) if fits else losses), point


def _gradients(losses: Any, attention: Any) -> Any:
    values, point = _linear(losses)
    combine_gradients(values, [point], combiners.WeightedPCGrad(), attention)
    return point.grad


def _jacobian(losses: Any) -> Any:
    values, point = _linear(losses)
    return objective_jacobian(values, [point])


def _form(form: Any, advantage: Any, weights: Any) -> Any:
    expected = (advantage, torch.ones(3)) if form.at_expectation else ()
    return form(ppo.Estimate(*[advantage] * 5, *expected), scalarizers.SmoothTchebycheff(), weights)


def _expected(returns: Any) -> Any:
    block = ppo.ExpectedReturn(3)
    block.update(returns)
    return block.value


def _gae(reward: Any, value: Any, next_value: Any, terminated: Any, done: Any) -> Any:
    after = {"state_value": next_value, "reward": reward, "terminated": terminated, "done": done}
    return ppo.VectorGAE()(_data((5,), state_value=value, next=after))["advantage"]


def _policy(kind: Any, actor: Any, observation: Any, preference: Any) -> Any:
    bounds = {"low": -1.0, "high": 1.0} if kind is ppo.UnitBoxPolicy else {}
    data = _data((5,), observation=observation, preference=preference)
    return kind(_network(actor, 4, 3, 3), **bounds)(data)["action"]


def _critic() -> TensorDictModule:
    return TensorDictModule(_network(critics.SharedCritic, 4, 3), ["observation", "preference"], ["state_value"])


def _loss(**entries: Any) -> Any:
    policy = ppo.CategoricalPolicy(_network(ppo.CategoricalActor, 4, 3, 3))
    return ppo.VectorClipPPOLoss(policy, _critic())(_data((5,), **entries))["loss_objective"]


def _scalarized(reward: Any, weights: Any) -> Any:
    return ScalarizeReward(scalarizers.Linear(), weights)(_data((), reward=reward))["reward"]


def _by_hand() -> Iterator[Call]:
    """Yield what takes more than tensors."""
    seen = {"observation": GOOD["observation"], "preference": GOOD["preference"]}
    for kind in (critics.SharedCritic, critics.BranchedCritic):
        yield Call(kind.__name__, _network(kind, 4, 3), seen)
    yield Call("AttentionWeightedCritic", critics.AttentionWeightedCritic(_network(critics.BranchedCritic, 4, 3)), seen)
    losses = {key: GOOD[key] for key in ("values", "targets", "attention")}
    critic = critics.AttentionWeightedCritic(_network(critics.BranchedCritic, 4, 3))
    yield Call("AttentionWeightedCritic.loss", critic.loss, losses)
    for actor, policy in ((ppo.UnitBoxGaussianActor, ppo.UnitBoxPolicy), (ppo.CategoricalActor, ppo.CategoricalPolicy)):
        yield Call(actor.__name__, _network(actor, 4, 3, 3), seen)
        yield Call(policy.__name__, functools.partial(_policy, policy, actor), seen)
    one_world = {"observation": GOOD["observation"], "preference": torch.full((5, 3), 1 / 3)}
    actor = _network(ppo.CategoricalActor, 4, 3, 3)
    yield Call("Indifference", lambda **given: ppo.Indifference()(actor, **given), one_world)
    surrogate = {key: GOOD[key] for key in ("log_prob", "old_log_prob", "advantage", "clip")}
    yield Call("ClippedSurrogate", ppo.ClippedSurrogate(), surrogate, pure=True)
    forms = (ppo.VectorAdvantage(), ppo.ScalarisedAdvantage(), ppo.EpisodeAdvantage())
    for form in (*forms, ppo.ExpectationAdvantage(), ppo.VectorExpectationAdvantage()):
        given = {"advantage": GOOD["advantage"], "weights": GOOD["weights"]}
        yield Call(type(form).__name__, functools.partial(_form, form), given, isinstance(form, ppo.VectorAdvantage))
    normalized = {key: GOOD[key] for key in ("normalized_return", "normalized_value", "weights")}
    smooth = scalarizers.SmoothTchebycheff()
    yield Call("scalarised_advantage", lambda **given: ppo.scalarised_advantage(smooth, **given), normalized)
    yield Call("ReturnNormalizer", lambda returns: ppo.ReturnNormalizer(3)(returns), {"returns": GOOD["returns"]})
    yield Call("ExpectedReturn", _expected, {"returns": GOOD["returns"]})
    initial = {"initial": GOOD["observation"], "preferences": GOOD["preference"]}
    critic = _network(critics.SharedCritic, 4, 3)
    yield Call("initial_values", lambda **given: ppo.initial_values(critic, **given), initial)
    slope = {"expected": GOOD["values"], "weights": GOOD["weights"], "span": torch.ones(3)}
    yield Call("utility_weights", lambda **given: ppo.utility_weights(smooth, **given), slope)
    asked = {"achieved": torch.rand(2, 4, 3), "weights": torch.rand(4, 3).softmax(-1), "known": GOOD["known"]}
    yield Call("preference_regret", lambda **given: metrics.preference_regret(scalarizer=smooth, **given), asked)
    yield Call("objective_jacobian", _jacobian, {"losses": GOOD["losses"]}, pure=True)
    yield Call("combine_gradients", _gradients, {"losses": GOOD["losses"], "attention": GOOD["attention"]})
    rollout = {key: GOOD[key] for key in ("reward", "value", "next_value", "terminated", "done")}
    yield Call("VectorGAE", _gae, rollout)
    batch = seen | {"action": torch.tensor([0, 1, 2, 0, 1]), "action_log_prob": -1 + GOOD["log_prob"]}
    yield Call("VectorClipPPOLoss", _loss, batch | {"advantage": GOOD["advantage"], "value_target": GOOD["value"]})
    shaped = {"reward": GOOD["reward"], "weights": GOOD["weights"]}
    yield Call("ScalarizeReward", _scalarized, shaped)


def numbers(value: Any) -> list[np.ndarray]:
    """Return all real numbers of an argument or an answer, in float64; anything else has none."""
    if isinstance(value, Tensor) and value.is_meta:
        return []
    if isinstance(value, Tensor):
        dense = value.detach().to_dense() if value.layout is not torch.strided else value.detach()
        return [] if dense.is_complex() else [dense.double().numpy()]
    if isinstance(value, TensorDict | dict):
        return [array for entry in value.values() for array in numbers(entry)]
    if isinstance(value, tuple) or (isinstance(value, list) and any(isinstance(entry, Tensor) for entry in value)):
        return [array for entry in value for array in numbers(entry)]
    try:
        return [] if value is None or isinstance(value, str | bytes) else [np.asarray(value, dtype=np.float64)]
    except (TypeError, ValueError):
        return []
