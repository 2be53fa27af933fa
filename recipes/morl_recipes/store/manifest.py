"""The manifest: the planned runs of a sweep, versions of packages, and the machine."""

import hashlib
import json
import math
import os
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np

from morl_recipes.common import checks
from morl_recipes.common.errors import StoreError
from morl_recipes.recipe.run import Run
from morl_recipes.store.difference import describe_difference
from morl_recipes.store.files import as_json
from morl_recipes.store.shapes import check_manifest
from morl_recipes.store.versions import package_versions

SCHEMA = 1
"""Version of the store's layout; other versions raise an error."""

_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._=-]{0,199}")


def describe_machine() -> dict[str, Any]:
    """Describe the machine without its name."""
    return {"system": platform.platform(), "processor": platform.machine(), "cores": os.cpu_count()}


def check_run_id(run_id: str, name: str = "run_id") -> None:
    """Require an id that is a safe folder name on every system."""
    if not _RUN_ID.fullmatch(run_id):
        checks.fail(name, "be 1 to 200 of A-Z a-z 0-9 . _ = - and start with one of A-Z a-z 0-9", repr(run_id))


def make_run_id(
    env: str, group: str, method: str, preference: tuple[float, ...], seed: int, recipe: Mapping[str, Any]
) -> str:
    """Build a readable id that differs whenever a property of the run differs.

    Example:
        >>> make_run_id("stealth", "pcgrad", "No PCGrad", (0.1, 0.7, 0.2), 3, {"clip": 0.2})
        'stealth.pcgrad.no-pcgrad.0.10-0.70-0.20.s3.eb062cf1'
    """
    what = as_json([env, group, method, preference, seed, recipe])
    mark = hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:8]
    weights = "-".join(f"{weight:.2f}" for weight in preference)
    words = (re.sub(r"[^a-z0-9]+", "-", word.lower()).strip("-") for word in (env, group, method))
    return ".".join([*words, weights, f"s{seed}", mark])


@dataclass(frozen=True)
class EnvInfo:
    """Properties of an environment that a report needs.

    Attributes:
        objectives: Names of the objectives, in the order of the reward vector.
        low: Return of each objective that counts as 0 in the hypervolume; ``None`` when unknown.
        high: Return of each objective that counts as 1; ``None`` when unknown.
    """

    objectives: tuple[str, ...]
    low: tuple[float, ...] | None = None
    high: tuple[float, ...] | None = None

    @property
    def bounds(self) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
        """Return the lowest and the highest returns, or ``None`` if they cannot be used."""
        return None if self.bounds_problem or self.low is None or self.high is None else (self.low, self.high)

    @property
    def bounds_problem(self) -> str | None:
        """Return why no hypervolume can be computed; ``None`` when it can."""
        low, high = self.low or (None,), self.high or (None,)
        if not all(number is not None and math.isfinite(number) for number in (*low, *high)):
            return "the bounds of its returns are unknown"
        if not len(low) == len(high) == len(self.objectives):
            return f"{len(self.objectives)} objectives have {len(low)} lower and {len(high)} upper bounds"
        if not (np.array(low) < np.array(high)).all():
            return "an upper bound of its returns does not exceed the lower one"
        return None


@dataclass(frozen=True)
class Manifest:
    """The plan of a sweep.

    Attributes:
        command: The command that started it.
        environments: Properties of each environment that a report needs.
        runs: Every run of the sweep.
        versions: Versions of the packages that results depend on.
        machine: The machine, without its name.
        created: Time of creation, ISO 8601.
        training: Settings that all runs share besides their recipes, by name; empty when they were not recorded.
        plugins: The user's files that define recipes: ``path``, ``sha256`` and ``source`` of each.
    """

    command: str
    environments: Mapping[str, EnvInfo]
    runs: tuple[Run, ...]
    versions: Mapping[str, str] = field(default_factory=package_versions)
    machine: Mapping[str, Any] = field(default_factory=describe_machine)
    created: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    training: Mapping[str, Any] = field(default_factory=dict)
    plugins: tuple[Mapping[str, str], ...] = ()

    def __post_init__(self) -> None:
        """Require distinct safe ids and known environments with one name per objective."""
        object.__setattr__(self, "runs", tuple(self.runs))
        seen: set[str] = set()
        for run in self.runs:
            check_run_id(run.run_id)
            if run.run_id in seen:
                checks.fail("runs", "have distinct run ids", f"{run.run_id!r} twice")
            seen.add(run.run_id)
            if run.env not in self.environments:
                checks.fail("environments", f"describe {run.env!r}", sorted(self.environments))
            objectives = self.environments[run.env].objectives
            if len(run.preference) != len(objectives):
                checks.fail("preference", f"have one weight per objective {objectives}", run.preference)

    @property
    def most_objectives(self) -> int:
        """Return the number of objectives of the environment with the most."""
        return max((len(info.objectives) for info in self.environments.values()), default=0)

    def to_json(self) -> dict[str, Any]:
        """Return the manifest as JSON fields, with its schema version."""
        environments = {name: vars(info) for name, info in self.environments.items()}
        runs = [run.to_dict() for run in self.runs]
        fields: dict[str, Any] = as_json({"schema": SCHEMA, **vars(self), "environments": environments, "runs": runs})
        return fields

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> "Manifest":
        """Rebuild a manifest from :meth:`to_json`; later fields may be missing, and unknown ones are ignored."""
        try:
            check_manifest(fields)
            environments = {name: env_info(info) for name, info in fields["environments"].items()}
            known = Run.__dataclass_fields__.keys()
            runs = tuple(Run(**{key: run[key] for key in run.keys() & known}) for run in fields["runs"])
            values = {name: fields[name] for name in ("command", "versions", "machine", "created")}
            values |= {"training": fields.get("training", {}), "plugins": tuple(fields.get("plugins", ()))}
            return cls(environments=environments, runs=runs, **values)
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
            raise StoreError(f"the manifest misses or misspells a field: {error}.") from error

    def difference(self, other: "Manifest") -> str | None:
        """Describe how this sweep differs from another one; ``None`` when they are the same."""
        return describe_difference(self.to_json(), other.to_json())


def env_info(fields: Mapping[str, Any]) -> EnvInfo:
    """Rebuild an environment's entry, in which JSON has lists for tuples."""
    low, high = fields["low"], fields["high"]
    return EnvInfo(tuple(fields["objectives"]), low and tuple(low), high and tuple(high))
