"""Who a planned run is in a table: PASTA as published, or whatever its own name says."""

from morl_recipes import paper
from morl_recipes.recipe import SLOTS
from morl_recipes.rows import PASTA
from morl_recipes.store import PlannedRun

_BLOCKS = {slot: PASTA.to_dict().get(slot) for slot in SLOTS}


def is_reference(run: PlannedRun) -> bool:
    """Tell whether a run is PASTA as published: a row of this package, under PASTA's name, with PASTA's blocks.

    The numbers of PPO are the sweep's own, the same for all of its rows.
    """
    blocks = {slot: run.recipe.get(slot) for slot in SLOTS}
    return not run.plugin and paper.is_reference(run.method) and blocks == _BLOCKS


def shown_name(run: PlannedRun) -> str:
    """Return the name that tables print; a row that calls itself PASTA and is not says where it comes from."""
    if is_reference(run):
        return paper.REFERENCE
    if run.method.lower() in ("pasta", paper.REFERENCE.lower()):
        return f"{run.method} of {run.group}"
    return run.method if run.plugin or paper.is_reference(run.method) else paper.method_name(run.method)
