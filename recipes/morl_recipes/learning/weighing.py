r"""Weights that belong to the sample, for runs whose preference changes from episode to episode.

A weighted combiner weighs whole objectives by the mean attention of the minibatch. Where every sample has a preference
of its own that mean says nothing: each policy would be trained for the average preference. So the attention moves into
the samples,

.. math:: L_i = -\frac1B \sum_b \min(\rho_b \tilde A_{bi}, \dots), \qquad \tilde A_{bi} = m\,\eta_{bi} A_{bi},

and the combiner weighs all objectives alike. In the fast update these are the coefficients C of :math:`G = C^\top K C`.
Where all samples have one attention the two agree: a projection does not see the length of what it projects on.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from morl_blocks.combiners import Combiner
from morl_blocks.combiners.grouped import nearest
from morl_blocks.preferences import even_preferences
from morl_recipes.learning.minibatch import Minibatch


@dataclass(frozen=True)
class Weighing:
    """How the advantages of a minibatch are weighed before the losses.

    Args:
        per_sample: Weigh each sample by its own attention.
        groups: Groups of like preferences that have losses of their own, K.
        centres: What samples of a group are nearest to, ``[K, m]``; ``None`` for one group.
    """

    per_sample: bool = False
    groups: int = 1
    centres: Tensor | None = field(default=None, compare=False)

    @classmethod
    def of(cls, combiner: Combiner, objectives: int, *, conditioned: bool) -> Weighing:
        """Return what a combiner asks for, in runs whose preference is redrawn (``conditioned``) or not."""
        groups = combiner.groups
        centres = None if groups == 1 else even_preferences(groups, objectives)
        return cls(groups > 1 or (conditioned and combiner.needs_attention), groups, centres)

    def __call__(self, batch: Minibatch) -> Minibatch:
        """Return the minibatch for the actor: advantages ``[R, B, K * q]``, and uniform attention if they are weighed.

        A scalarised advantage is weighed already: its utility saw the sample's own preference.
        """
        if not self.per_sample or batch.advantage.shape[-1] == 1:
            return batch
        m = batch.attention.shape[-1]
        weighed = batch.advantage * (m * batch.attention)
        if self.centres is not None:
            weighed = split(weighed, batch.inputs[..., -m:], self.centres.to(weighed))
        return batch._replace(advantage=weighed, attention=torch.full_like(weighed, 1 / weighed.shape[-1]))


def split(advantage: Tensor, preferences: Tensor, centres: Tensor) -> Tensor:
    """Give every group its own columns, zero for the samples of the other groups.

    Args:
        advantage: Advantages, ``[*B, m]``.
        preferences: Preference of each sample, ``[*B, m]``.
        centres: What samples of a group are nearest to, ``[K, m]``.

    Returns:
        Advantages, ``[*B, K * m]``; groups outermost.

    Example:
        >>> split(torch.ones(2, 2), torch.tensor([[0.0, 1.0], [1.0, 0.0]]), torch.tensor([[0.0, 1.0], [1.0, 0.0]]))
        tensor([[1., 1., 0., 0.],
                [0., 0., 1., 1.]])
    """
    return (nearest(preferences, centres).unsqueeze(-1) * advantage.unsqueeze(-2)).flatten(-2)
