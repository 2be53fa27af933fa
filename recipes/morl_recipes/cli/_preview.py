"""What a sweep would do, in words."""

from pathlib import Path

from morl_recipes.store import Manifest, Store, StoreError
from morl_recipes.sweep import Plan
from morl_recipes.sweep._pin import pinned_size
from morl_recipes.sweep.engines._local import available_cores


def preview(plan: Plan, out: Path, *, workers: int | None = None) -> str:
    """Describe the populations of a plan and how much of each is there; changes nothing.

    Args:
        plan: The plan.
        out: Folder of the results; it need not exist.
        workers: Workers to size populations for; by default one per core.

    Returns:
        The text. A folder that holds another sweep raises :class:`~morl_recipes.store.StoreError`.
    """
    present: set[str] = set()
    size = None
    if (out / "manifest.json").exists():
        store = Store.open(out)
        difference = Manifest("", plan.environments, plan.runs).difference(store.manifest)
        if difference is not None:
            raise StoreError(f"{out}: holds another sweep ({difference}). Choose another folder.")
        present, size = set(store.run_ids()), pinned_size(out)
    populations = plan.populations(size or plan.suggest_size(workers or available_cores()))
    lines = [f"{'runs':>5} {'there':>6}  population"]
    for population in populations:
        there = sum(run.run_id in present for run in population.runs)
        methods = list(dict.fromkeys(run.method for run in population.runs))
        names = ", ".join(methods[:4]) + (f" and {len(methods) - 4} more" if len(methods) > 4 else "")
        lines.append(f"{len(population.runs):>5} {there:>6}  {population.env}: {names}")
    missing = [run for run in plan.runs if run.run_id not in present]
    steps = sum(run.steps for run in missing)
    lines.append(f"{len(plan.runs)} runs in {len(populations)} populations; {len(missing)} to do, {steps:,} steps.")
    lines.append(f"Results would go to {out}. Nothing was done.")
    return "\n".join(lines)
