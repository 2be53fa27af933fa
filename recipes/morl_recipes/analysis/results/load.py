"""Read a store or a dataset and sort its runs into studies."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

from morl_recipes.analysis.datasets import Dataset
from morl_recipes.analysis.results.build_study import TableRow, build_study, find_reference, with_name
from morl_recipes.analysis.results.study import READINGS, TESTED, Reading, Study
from morl_recipes.common import checks
from morl_recipes.common.errors import StoreError
from morl_recipes.recipe.paper import REFERENCE
from morl_recipes.store.frames import load_both, load_runs
from morl_recipes.store.manifest import Manifest
from morl_recipes.store.store import Store


@dataclass(frozen=True)
class Results:
    """Data of tables and reports: a study per environment and group, and the frames of a store.

    ``path`` is the folder of the store or the name of a dataset, ``reading`` the score of each run.
    """

    path: Path
    manifest: Manifest
    reading: Reading
    studies: tuple[Study, ...]
    runs: pd.DataFrame = field(repr=False)
    history: pd.DataFrame = field(repr=False)


def load_results(
    store: str | Path | Store | Dataset,
    *,
    score: Reading | None = None,
    against: str | None = None,
    history: bool = False,
    columns: Sequence[str] | None = None,
) -> Results:
    """Read a store or a published dataset, and sort its runs into comparable studies.

    PASTA is trained once and belongs to every group, as in the paper. Failed, damaged and missing runs, and runs with
    returns that are not finite, are NaN in the arrays; ``gaps`` describes them.

    ``score`` and ``against`` work as in :func:`~morl_recipes.analysis.tables.render_table`. Histories are read on
    request, for a large store only some columns; a dataset has none. An empty store raises ``StoreError``.
    """
    if score is not None:
        checks.one_of("score", score, READINGS)
    curves = pd.DataFrame(columns=["run_id", "iteration", "steps"])
    if isinstance(store, Dataset):
        path, manifest, runs = Path(store.name), store.manifest, store.runs
    else:
        store = Store.open(store)
        path, manifest = store.path, store.manifest
        if history:
            runs, curves = load_both(store, columns)
        else:
            runs = load_runs(store, damaged="mark")
    done = runs["status"] == "done"
    if not done.any():
        words = "failed or damaged" if (runs["status"] == "damaged").any() else "failed"
        reasons = f" ({len(runs)} {words}, first: {runs['reason'].iloc[0]})" if len(runs) else ""
        raise StoreError(f"{path}: no finished run yet, of {len(manifest.runs)} planned{reasons}. Nothing to show.")
    untested = int(runs.loc[done, "test_peak_episodes"].isna().sum())
    reading: Reading = score or ("peak" if untested else "test")
    if reading in TESTED and untested == done.sum():
        raise StoreError(f"{path}: no run has a test score. `morl-blocks test {path}` adds it.")
    stored, planned = runs.set_index("run_id"), [with_name(run) for run in manifest.runs]
    reference = REFERENCE if against is None else find_reference(against, planned)
    studies = [
        build_study(manifest, planned, stored, env, group, reading, reference) for env, group in _groups(planned)
    ]
    if score is None and untested:
        why = (
            f"Scores are best validations, which are partly luck: {untested} of {len(runs)} runs have no test "
            f"score (`morl-blocks test {path}` adds it)."
        )
        studies = [replace(study, why=why) for study in studies]
    return Results(path, manifest, reading, tuple(studies), runs, curves)


def _groups(planned: Sequence[TableRow]) -> list[tuple[str, str]]:
    """List (environment, group) in the order of the plan; PASTA is a group only if there is no other."""
    groups: dict[tuple[str, str], bool] = {}
    for one in planned:
        key = (one.run.env, one.run.group)
        groups[key] = groups.get(key, False) or not one.is_reference
    with_others = {env for (env, _), others in groups.items() if others}
    return [key for key, others in groups.items() if others or key[0] not in with_others]
