"""Rows that came out the same."""

from collections.abc import Sequence

from morl_recipes.analysis.results.study import Study


def alike(studies: Sequence[Study]) -> list[tuple[str, ...]]:
    """Group the methods whose runs have the same returns on an environment, to the last digit.

    What tells such rows apart never acted, for example a brake that no conflict ever reached. Names of one and the same
    run, such as PASTA's in every group, count once.

    Args:
        studies: Where to look; rows of different groups may be alike too.
    """
    found: dict[tuple[object, ...], dict[tuple[str, ...], str]] = {}
    for study in studies:
        for k, method in enumerate(study.methods):
            if study.active[k]:
                key = (study.env, study.preferences, study.seeds, study.returns[k].tobytes())
                found.setdefault(key, {}).setdefault(tuple(study.run_ids[k].flat), method)
    return [tuple(methods.values()) for methods in found.values() if len(methods) > 1]
