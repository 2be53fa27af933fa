"""The output of a loss module, also readable under TorchRL's names."""

from typing import Any

from tensordict import NestedKey, TensorDict


class Losses(TensorDict):
    """The losses of a minibatch; ``"loss_critic"``, TorchRL's name, is an alias of ``"loss_value"``.

    The key is stored once, so that a loop that sums all keys with the prefix ``"loss_"`` counts the critic once.

    Example:
        >>> import torch
        >>> Losses({"loss_value": torch.tensor(2.0)})["loss_critic"]
        tensor(2.)
    """

    def __getitem__(self, index: Any) -> Any:
        return super().__getitem__(_true_name(index))

    def get(self, key: NestedKey, *args: Any, **kwargs: Any) -> Any:
        """Return an entry."""
        return super().get(_true_name(key), *args, **kwargs)


def _true_name(key: Any) -> Any:
    return "loss_value" if isinstance(key, str) and key == "loss_critic" else key
