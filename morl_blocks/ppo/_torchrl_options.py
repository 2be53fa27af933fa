"""Options of TorchRL's ``ClipPPOLoss`` and ``GAE`` that have no meaning for vector objectives, with the reasons."""

from collections.abc import Mapping

from morl_blocks import _checks

Refusals = Mapping[str, tuple[object, str]]
"""Option, the only value of it that changes nothing, and why other values raise an error."""

LOSS: Refusals = {
    "functional": (False, "the parameters stay in the networks"),
    "separate_losses": (False, "detach what the critic reads, or combine over the actor's own parameters"),
    "normalize_advantage_exclude_dims": ((), "each objective is standardised by itself"),
    "advantage_norm": (None, "one scale for all objectives; use vector_advantage"),
    "delay_actor": (False, "the parameters stay in the networks, so there is no second set"),
    "max_importance_ratio": (None, "write an objective_loss of your own"),
    "samples_mc_entropy": (1, "an entropy without closed form is estimated from one sample"),
    "log_explained_variance": (True, "it is always reported, per objective"),
    "gamma": (None, "discounts belong to VectorGAE"),
}

GAE: Refusals = {
    "average_gae": (False, "one mean over all objectives; use vector_advantage on the rollout"),
    "vectorized": (True, "there is one implementation, and it is vectorised"),
    "auto_reset_env": (False, "the last observation of an episode is needed to bootstrap"),
    "deactivate_vmap": (True, "no vmap is used"),
    "shifted_budget": (1, "shifted=True drops no sample and needs no budget"),
    "group_key": (None, "nothing is standardised here; use vector_advantage per group"),
    "value_chunk_size": (None, "call the network in chunks before, and pass value_network=None"),
    "num_chunks": (None, "call the network in chunks before, and pass value_network=None"),
}


def refuse(owner: str, given: Mapping[str, object], refusals: Refusals) -> None:
    """Raise for the first option that would have no effect here, or that does not exist.

    Example:
        >>> refuse("VectorGAE", {"average_gae": True}, GAE)
        Traceback (most recent call last):
        ...
        ValueError: `average_gae` must be False (one mean over all objectives; ...), got True.
    """
    for name, value in given.items():
        if name not in refusals:
            raise TypeError(f"{owner} has no option {name!r}.")
        harmless, reason = refusals[name]
        if value != harmless:
            _checks.fail(name, f"be {harmless!r} ({reason})", repr(value))
