"""Which blocks fill which slot of a recipe."""

from functools import cache


@cache
def slot_bases() -> dict[str, type]:
    """Return the base class of the blocks that fill each slot."""
    from morl_blocks.combiners import Combiner
    from morl_blocks.critics import AttentionWeightedCritic, Critic
    from morl_blocks.ppo import Actor, ActorPenalty, AdvantageForm, ObjectiveLoss
    from morl_blocks.preferences import PreferenceSampler
    from morl_blocks.scalarizers import Scalarizer
    from morl_blocks.schedulers import Scheduler

    return {
        "scalarizer": Scalarizer,
        "mu": Scheduler,
        "advantage": AdvantageForm,
        "combiner": Combiner,
        "critic": (Critic, AttentionWeightedCritic),  # type: ignore[dict-item]
        "actor": Actor,
        "loss": ObjectiveLoss,
        "preferences": PreferenceSampler,
        "penalty": ActorPenalty,
    }


def slot_of(block: object) -> str | None:
    """Return the slot that a block's class fills."""
    if not isinstance(block, type):
        return None
    return next((slot for slot, base in slot_bases().items() if issubclass(block, base)), None)
