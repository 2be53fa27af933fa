"""A policy as a folder in the layout of a model hub: safetensors, ``config.json``, model card; no network, no login."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from math import isfinite, nan
from pathlib import Path
from string import Template
from typing import Any

import safetensors
import safetensors.torch

from morl_blocks.metrics import bootstrap_ci
from morl_recipes.common import atomic_files, checks
from morl_recipes.common.errors import StoreError
from morl_recipes.common.scores import SCORES
from morl_recipes.common.text import for_json, for_markdown, for_terminal
from morl_recipes.evaluation.saved_policy import Point, SavedPolicy, bounds_of, make_policy
from morl_recipes.recipe.policy_network import Network
from morl_recipes.recipe.run import IDENTITY
from morl_recipes.running.stored_runs import open_policy, policy_tensors, stored_network
from morl_recipes.store.files import LARGEST_FILE, digest, read_bytes, seal, unseal
from morl_recipes.store.frames import load_runs
from morl_recipes.store.store import Store

SCHEMA, CONFIG, MODEL, CARD = 1, "config.json", "model.safetensors", "README.md"
ADVICE = "Export the run again, or restore the file."
_TESTED = "Mean returns of fresh episodes, ± their standard error."
_VALIDATED = (
    "Mean returns of a validation during training. The best one is too high; `morl-blocks test` plays test episodes."
)
TAGS = ["reinforcement-learning", "multi-objective-reinforcement-learning", "morl-blocks"]


def export_hub(
    folder: str | Path, out: str | Path, *, run: str | None = None, point: Point = "peak", env: Any = None
) -> str:
    """Write a policy as a folder in the layout of a model hub, completely or not at all.

    Args:
        folder: A result store.
        out: The folder to create; it must be empty or not exist.
        run: The run, as for :func:`~morl_recipes.running.export.export_policy`; by default the best.
        point: The policy of the best validation, or the last.
        env: The environment, if it was made in Python and has no name.

    Returns:
        The id of the run.
    """
    out = checks.path("out", out)
    store = Store.open(folder)
    row, source, _ = open_policy(store, run, point, env)  # raises if the tensors fit no network
    tensors = policy_tensors(store, row["run_id"], point)
    with source.opened(1, [0]) as world:
        network = stored_network(store, row["run_id"], tensors, world)
        tensors |= bounds_of(world)
    objectives = store.manifest.environments[row["env"]].objectives
    model = safetensors.torch.save(tensors, {"format": "pt", "run_id": row["run_id"]})
    config = {"schema": SCHEMA, "library_name": "morl-blocks", **{name: row[name] for name in IDENTITY}, "point": point}
    config |= {"objectives": objectives, "steps": int(row[f"{point}_steps"]), "network": network.to_dict()}
    versions = {**store.manifest.versions, **store.read(row["run_id"]).get("versions", {})}
    config |= {"versions": versions, "sha256": digest(model)}
    tested = isfinite(row[f"test_{point}_episodes"])
    results = list(_results(store, row, f"test_{point}" if tested else point, objectives))
    card = _card(config, _TESTED if tested else _VALIDATED, results).encode()
    atomic_files.create_folder(out, {MODEL: model, CONFIG: seal(config), CARD: card})
    return str(row["run_id"])


def load_hub(folder: str | Path) -> SavedPolicy:
    """Return the policy of a folder written by ``morl-blocks export RUN --hub``.

    The folder may be untrusted: it contains numbers and JSON, all of which are checked, and no code is run. A custom
    actor is known after importing the file that defines it.

    Args:
        folder: The folder.

    Returns:
        A module that maps observations ``[N, n]`` and preferences ``[N, m]`` or ``[1, m]`` to actions of the
        environment.
    """
    place = checks.path("folder", folder)
    path, model = place / CONFIG, place / MODEL
    config = unseal(path, schema=SCHEMA, advice=ADVICE)
    content = read_bytes(model, LARGEST_FILE, ADVICE)
    if digest(content) != config.get("sha256"):
        raise StoreError(f"{model}: damaged (its digest does not match). {ADVICE}")
    try:
        network, m = Network.from_dict(config["network"]), len(config["objectives"])
        return make_policy(safetensors.torch.load(content), m, network)
    except (KeyError, TypeError, RuntimeError, safetensors.SafetensorError) as error:
        raise StoreError(f"{path}: damaged ({type(error).__name__}: {str(error)[:200]}). {ADVICE}") from error


def _results(store: Store, row: Mapping[str, Any], prefix: str, objectives: Sequence[str]) -> Iterator[list[str]]:
    """Yield the measurements: name, value with its standard error, and mean over seeds with its interval.

    Seeds are the finished runs of the store that differ from this one only in the seed.
    """
    alike = ["status", "group", "method", "env", "preference"]
    runs = load_runs(store, damaged="mark").to_dict("records")
    runs = [other for other in runs if all(other[name] == row[name] for name in alike)]
    names: dict[int | str, str] = dict(enumerate(objectives)) | {score.name: score.title for score in SCORES}
    for key, name in names.items():
        value, error = row[f"{prefix}_{key}"], row.get(f"{prefix}_{key}_se", nan)
        seeds = [other[f"{prefix}_{key}"] for other in runs if isfinite(other[f"{prefix}_{key}"])]
        if isfinite(value):
            mean, low, high = bootstrap_ci([seeds]) if len(seeds) > 1 else (value, nan, nan)
            over_seeds = f"{mean:.4g} [{low:.4g}, {high:.4g}], {len(seeds)} seeds" if len(seeds) > 1 else "one seed"
            yield [name, f"{value:.4g}" + (f" ± {error:.2g}" if isfinite(error) else ""), over_seeds]


def _card(config: Mapping[str, Any], measured: str, results: Sequence[Sequence[str]]) -> str:
    """Return the model card. All names in it may be untrusted, and none of them becomes markup."""
    env, method = for_terminal(config["env"]), for_terminal(config["method"])
    metrics = [{"type": "mean_reward", "name": for_terminal(name), "value": value} for name, value, _ in results]
    task = {"type": TAGS[0], "name": TAGS[0]}
    result = {"task": task, "dataset": {"name": env, "type": env}, "metrics": metrics}
    index = [{"name": f"{method} on {env}", "results": [result]}]
    header = {"library_name": "morl-blocks", "pipeline_tag": TAGS[0], "tags": TAGS, "model-index": index}
    facts = {name: config[name] for name in ("method", "group", "env", "seed", "steps", "point", "run_id")}
    facts |= {name: ", ".join(map(str, config[name])) for name in ("objectives", "preference")}
    facts |= {"versions": ", ".join(" ".join(item) for item in config["versions"].items())}
    text = (resources.files(__package__) / "hub_card.md").read_text(encoding="utf-8")
    return Template(text).substitute(
        header="\n".join(f"{key}: {for_json(value)}" for key, value in header.items()),
        method=for_markdown(method),
        env=for_markdown(env),
        facts=_rows(facts.items()),
        measured=measured,
        results=_rows([("", "this policy", "mean over seeds [95 %]"), ("---",) * 3, *results]),
        inputs=config["network"]["observation_dim"],
        count=len(config["objectives"]),
        weights=", ".join(map(str, config["preference"])),
    )


def _rows(rows: Iterable[Sequence[object]]) -> str:
    """Return the rows of a Markdown table."""
    return "\n".join("| " + " | ".join(for_markdown(str(cell)) for cell in row) + " |" for row in rows)
