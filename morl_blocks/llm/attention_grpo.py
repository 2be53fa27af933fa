"""TRL's GRPO trainer with an attention over the rewards that follows their running means."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from morl_blocks import _checks
from morl_blocks._extras import missing
from morl_blocks.llm.attention import reward_attention
from morl_blocks.llm.conflict import reward_conflict
from morl_blocks.scalarizers import AdaptiveSmoothTchebycheff, Scalarizer
from morl_blocks.schedulers import LinearDecay

try:
    from trl import GRPOTrainer
except ModuleNotFoundError as error:
    if error.name != "trl":
        raise

    class GRPOTrainer:  # type: ignore[no-redef]
        """Placeholder for TRL's trainer if TRL is not installed."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            raise missing("AttentionGRPO", "trl")


STATE = "attention.pt"


class AttentionGRPO(GRPOTrainer):
    """TRL's ``GRPOTrainer``, with most attention on the reward whose running mean lags.

    It takes the arguments of ``GRPOTrainer``. The preference is TRL's own ``GRPOConfig(reward_weights=...)``, divided
    by its sum; by default all rewards have equal weight. Before TRL aggregates a batch, three things happen: the
    running means are updated with the means of the batch; a scheduler, if the scalarizer has one, chooses mu from the
    training progress and :func:`~morl_blocks.llm.reward_conflict`; and the attention replaces the reward weights. TRL
    then normalises each reward in its group, sums them and normalises over the batch (``normalize_then_sum``, whatever
    the config says), as :func:`~morl_blocks.llm.group_advantage` does. With ``Linear`` it is GDPO.

    TRL's logger gets ``attention/NAME`` and ``level/NAME`` of every reward, ``conflict`` and ``mu`` in addition to its
    own metrics. TRL's ``reward`` is the sum of the rewards weighted by the attention, so compare runs by
    ``rewards/NAME``. Evaluation changes neither the means nor mu. Checkpoints hold both, and the state of a normalizer
    that is a module.

    A reward that no completion has had yet gets no attention. Groups of one, constant and missing (``None``) rewards
    add 0, as in TRL; a completion without any reward gets the advantage 0.

    Args:
        *args: As ``GRPOTrainer``: model, reward functions (at least two), config, dataset, ...
        scalarizer: Any scalarizer to maximise; by default ``AdaptiveSmoothTchebycheff(LinearDecay(1.0, 0.05),
            maintenance=0.0, attention="gradient")``, whose attention is the exact derivative of the utility.
        decay: Share of the running means that is kept at each step, in [0, 1); 0 uses the means of the batch.
        normalizer: Maps the running means ``[m]`` to [0, 1], where STCH and TCH expect them; by default they are not
            mapped. If it has an ``update`` method, that receives the completions of each batch that have all rewards.
        **kwargs: As ``GRPOTrainer``.

    Raises:
        ImportError: At construction, when TRL is missing.
    """

    def __init__(
        self,
        *args: Any,
        scalarizer: Scalarizer | None = None,
        decay: float = 0.9,
        normalizer: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        if scalarizer is None:
            scalarizer = AdaptiveSmoothTchebycheff(LinearDecay(1.0, 0.05), maintenance=0.0, attention="gradient")
        if not isinstance(scalarizer, Scalarizer):
            _checks.fail("scalarizer", "be a Scalarizer such as SmoothTchebycheff(0.1)", repr(scalarizer))
        _checks.maximised("scalarizer", scalarizer)
        _checks.between("decay", decay, 0.0, 1.0, bounds="[)")
        names = self.reward_func_names
        if len(names) < 2:
            _checks.fail("reward_funcs", "hold at least two rewards", names)
        given = self.reward_weights.double().cpu()
        if bool((given < 0).any()) or not float(given.sum()) > 0:
            _checks.fail("reward_weights", "be >= 0 with a sum > 0", given.tolist())
        self.scalarizer, self.decay, self.normalizer = scalarizer, decay, normalizer
        self.preference = given / given.sum()
        self.levels = torch.full_like(self.preference, torch.nan)
        self.multi_objective_aggregation = "normalize_then_sum"

    def attention(self) -> Tensor:
        """Return the current attention over the rewards, ``[m]``."""
        levels, known = self.levels, ~self.levels.isnan()
        if self.normalizer is not None and bool(known.any()):
            levels = torch.where(known, self.normalizer(torch.where(known, levels, 0.0)), torch.nan)
        return reward_attention(levels, self.scalarizer, self.preference).detach()

    def _calculate_rewards(self, *args: Any, **kwargs: Any) -> Tensor:
        """Compute the rewards as TRL does and replace the reward weights by the attention."""
        rewards: Tensor = super()._calculate_rewards(*args, **kwargs)
        if self.model.training:
            self._follow(rewards.detach().double().cpu())
        self.reward_weights = self.attention().to(rewards)
        return rewards

    def _follow(self, rewards: Tensor) -> None:
        """Update the running means and the smoothness, and log them."""
        means = rewards.nanmean(0)
        means = torch.where(means.isnan(), self.levels, means)
        old = torch.where(self.levels.isnan(), means, self.levels)
        self.levels = self.decay * old + (1 - self.decay) * means
        complete = rewards[~rewards.isnan().any(-1)]
        if hasattr(self.normalizer, "update") and len(complete):
            self.normalizer.update(complete)
        conflict = reward_conflict(rewards, torch.arange(len(rewards)) // self.num_generations)
        if isinstance(self.scalarizer, AdaptiveSmoothTchebycheff):
            self.scalarizer.step(min(1.0, self.state.global_step / max(1, self.state.max_steps)), conflict)
        metrics = self._metrics["train"]
        for name, level, share in zip(self.reward_func_names, self.levels, self.attention(), strict=True):
            metrics[f"level/{name}"].append(float(level))
            metrics[f"attention/{name}"].append(float(share))
        metrics["conflict"].append(float(conflict))
        mu = getattr(self.scalarizer, "mu", None)
        if isinstance(mu, Tensor) and mu.numel() == 1:
            metrics["mu"].append(float(mu))

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        super()._save_checkpoint(model, trial)
        if self.args.should_save:
            folder = Path(self._get_output_dir(trial=trial), f"checkpoint-{self.state.global_step}")
            states = {name: module.state_dict() for name, module in self._modules_kept().items()}
            torch.save({"levels": self.levels, **states}, folder / STATE)

    def _load_optimizer_and_scheduler(self, checkpoint: Any) -> None:
        super()._load_optimizer_and_scheduler(checkpoint)
        if checkpoint is not None and Path(checkpoint, STATE).exists():
            state = torch.load(Path(checkpoint, STATE), weights_only=True)
            self.levels = state["levels"]
            for name, module in self._modules_kept().items():
                module.load_state_dict(state[name])

    def _modules_kept(self) -> dict[str, nn.Module]:
        """Return the modules whose state is saved in addition to the running means."""
        kept = {"scalarizer": self.scalarizer, "normalizer": self.normalizer}
        return {name: module for name, module in kept.items() if isinstance(module, nn.Module)}
