"""One finished run, and the content of its files."""

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import pandas as pd
from safetensors.torch import save
from torch import Tensor

from morl_recipes.common import checks, scores
from morl_recipes.recipe.fields import describe_recipe
from morl_recipes.recipe.recipe import Recipe
from morl_recipes.store.files import as_json, digest, seal
from morl_recipes.store.manifest import SCHEMA, check_run_id
from morl_recipes.store.shapes import HISTORY, POINT_FIELDS, POLICY
from morl_recipes.store.versions import run_versions

Status = Literal["done", "failed"]


@dataclass(frozen=True)
class RunRecord:
    """Everything about one finished run.

    Attributes:
        run_id: As in :class:`~morl_recipes.Run`, like ``group``, ``method``, ``env``, ``preference`` and ``seed``.
        status: ``"done"`` or ``"failed"``.
        reason: Why it failed; empty when done.
        steps: Environment steps that were trained.
        peak: The best validation point: ``iteration, steps, returns, hv, eu``; ``None`` when it never validated.
        final: The last validation point, likewise.
        recipe: The recipe as JSON; the recipe itself where a training returns the record.
        history: One row of numbers per iteration, with ``iteration`` and ``steps``; ``return_0 ...``, ``hv``, ``eu``
            are NaN on iterations without a validation.
        policy: Parameters of the last policy by name, with the observation statistics if there are any.
        versions: Versions that trained it: morl-blocks, torch, the packages of external environments and, if known, the
            commit of the source.
        test_peak: The policy of the best validation on fresh episodes: ``episodes, returns, returns_se`` and each score
            with its standard error (``hv, hv_se, ...``); ``None`` without a test.
        test_final: The last policy, likewise.
        peak_policy: The policy of the best validation; empty in a custom record with only one policy.
    """

    run_id: str
    group: str
    method: str
    env: str
    preference: tuple[float, ...]
    seed: int
    status: Status
    reason: str
    steps: int
    peak: Mapping[str, Any] | None
    final: Mapping[str, Any] | None
    recipe: Any = field(repr=False)
    history: pd.DataFrame = field(repr=False)
    policy: dict[str, Tensor] = field(default_factory=dict, repr=False)
    versions: Mapping[str, str] = field(default_factory=run_versions, repr=False)
    test_peak: Mapping[str, Any] | None = None
    test_final: Mapping[str, Any] | None = None
    peak_policy: dict[str, Tensor] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Raise for a record that a report could not read; a run that failed at once may have no history."""
        if self.status == "failed" and self.history.empty:
            object.__setattr__(self, "history", pd.DataFrame({"iteration": [], "steps": []}, dtype=float))
        check_run_id(self.run_id)
        checks.one_of("status", self.status, get_args(Status))
        if self.status == "done" and (self.peak is None or self.final is None):
            raise ValueError("`peak` and `final` must be given for a run that is done, got None.")
        for name, point in (("peak", self.peak), ("final", self.final)):
            known = (*POINT_FIELDS, *scores.names())
            missing = [key for key in known if point is not None and key not in point]
            if missing:
                raise ValueError(f"`{name}` must have the fields {', '.join(known)}, got none named {missing[0]}.")
            if point is not None and len(point["returns"]) != (m := len(self.preference)):
                raise ValueError(f"`{name}` must have {m} returns, one per weight, got {len(point['returns'])}.")
        if lacking := sorted({"iteration", "steps"} - set(self.history.columns)):
            raise ValueError(f"`history` must have the columns iteration and steps, got none named {lacking}.")
        for column_name, column in self.history.items():
            if not pd.api.types.is_numeric_dtype(column.dtype):
                raise ValueError(f"`history` must hold numbers, got column {column_name!r} of {column.dtype}.")
        if self.history[["iteration", "steps"]].isna().any(axis=None):
            raise ValueError("`history` must number every row with iteration and steps, got a missing one.")

    def files(self) -> dict[str, bytes]:
        """Return the content of every file of the run's folder, ``run.json`` last."""
        text = io.StringIO()
        self.history.astype(float).to_csv(text, index=False, lineterminator="\n", na_rep="nan")
        content = {HISTORY: text.getvalue().encode()}
        if self.policy:  # with prefixed names, peak.<name> and final.<name>, if there are two of them
            both = {"peak.": self.peak_policy, "final.": self.policy} if self.peak_policy else {"": self.policy}
            named = {f"{point}{name}": tensor for point, policy in both.items() for name, tensor in policy.items()}
            tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in named.items()}
            content[POLICY] = save(tensors, {"run_id": self.run_id})
        own = ("history", "policy", "peak_policy")
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in own}
        if isinstance(self.recipe, Recipe):
            fields["recipe"] = describe_recipe(self.recipe)
        sizes = {name: {"bytes": len(data), "sha256": digest(data)} for name, data in content.items()}
        content["run.json"] = seal(as_json({"schema": SCHEMA, **fields, "files": sizes}))
        return content


def at_point(tensors: Mapping[str, Tensor], point: str) -> dict[str, Tensor]:
    """Return the policy of one point from the stored tensors of a run, which contain both."""
    return {name.removeprefix(f"{point}."): tensor for name, tensor in tensors.items() if name.startswith(f"{point}.")}
