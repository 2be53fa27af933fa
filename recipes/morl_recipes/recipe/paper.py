"""The paper's results tables as data, with one name per method.

The paper names a method differently in its summary tables (``kappa = 0.2``) and in its appendix (``CR=0.2``). Here
every method has the name of the summary tables, which is also its name in ``ROWS`` and in a result store. PASTA itself
is :data:`REFERENCE` everywhere; :func:`is_reference` knows its other spellings.
"""

from collections.abc import Sequence
from functools import cache
from importlib import resources

import numpy as np
import pandas as pd

from morl_blocks.metrics import run_hypervolume

REFERENCE = "PASTA (Ours)"
"""Name of PASTA in every table."""
QUADROTOR = ("frogger", "formation")
"""Environments with their own table; the paper's other tables are on ``stealth``."""
TOLERANCE = 1e-6
"""Preferences whose weights differ by no more than this are the same."""
SCALE_TOLERANCE = 0.1
"""Largest relative difference between the paper's hypervolumes and those of its own returns under our bounds."""
_MOST_DIGITS = 8
_APPENDIX_PREFIX = {"Mu=": "mu=", "CR=": "kappa = ", "EMA=": "lambda=", "MR=": "rho=", "Controller ": ""}


def is_reference(method: str) -> bool:
    """Return whether the paper, or a row of this package, means PASTA by a method's name."""
    return method == "PASTA" or method.endswith("(Ours)")


def method_name(method: str) -> str:
    """Translate any spelling of the paper (``CR=0.2``) to the name of the summary tables (``kappa = 0.2``)."""
    if is_reference(method):
        return REFERENCE
    for prefix, name in _APPENDIX_PREFIX.items():
        if method.startswith(prefix):
            return name + method.removeprefix(prefix)
    return method


def preference_weights(label: str) -> tuple[float, ...]:
    """Parse a preference as printed in the paper, such as ``0.10-0.70-0.20``; thirds are printed as 0.33."""
    weights = tuple(float(part) for part in label.split("-"))
    return tuple(1 / 3 for _ in weights) if set(weights) == {0.33} else weights


def preference_label(weights: tuple[float, ...]) -> str:
    """Print a preference as in the paper, with two digits; more if it is another one than the paper prints so."""
    return preference_labels([weights])[0]


def preference_labels(preferences: Sequence[tuple[float, ...]]) -> list[str]:
    """Print several preferences as :func:`preference_label` does, with more digits if two would look the same."""
    printed, labels = _printed_preferences(), list[str]()
    for weights in preferences:
        for digits in range(2, _MOST_DIGITS + 1):
            label = _rounded(weights, digits)
            alike = [other for other in (*preferences, *printed) if _rounded(other, digits) == label]
            if any(_same(weights, own) for own in printed) or all(_same(weights, other) for other in alike):
                break
        labels.append(label)
    return labels


def _rounded(weights: tuple[float, ...], digits: int) -> str:
    return "-".join(f"{weight:.{digits}f}" for weight in weights)


def _same(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return len(one) == len(other) and all(abs(a - b) <= TOLERANCE for a, b in zip(one, other, strict=True))


@cache
def _printed_preferences() -> tuple[tuple[float, ...], ...]:
    return tuple(map(preference_weights, _read("per_preference")["preference"].unique()))


@cache
def _read(name: str) -> pd.DataFrame:
    """Read one of the packaged tables."""
    with (resources.files("morl_recipes") / "data" / "paper" / f"{name}.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file)


def _named(frame: pd.DataFrame) -> pd.DataFrame:
    """Add environment, group and the common names of the methods to an appendix table."""
    table = frame.pop("table")
    frame.insert(0, "env", table.where(table.isin(QUADROTOR), "stealth"))
    frame.insert(1, "group", table.where(~table.isin(QUADROTOR), "baselines"))
    frame["method"] = frame["method"].map(method_name)
    return frame


def per_preference() -> pd.DataFrame:
    """Return the appendix tables: 370 rows, one per environment, group, preference and method.

    Columns: ``env, group, preference`` (as printed), ``method``, ``hv_mean, hv_std, eu_mean, eu_std``,
    ``obj{i}_mean, obj{i}_std`` (NaN past the last objective; the std is over five seeds) and ``line``.
    """
    return _named(_read("per_preference").copy())


def marks() -> pd.DataFrame:
    """Return the typography of the appendix tables: ``best``, ``second``, ``worst`` or nothing for each cell."""
    return _named(_read("marks").copy())


def summary() -> pd.DataFrame:
    """Return the summary tables: 38 rows, one per group and method, all on ``stealth``.

    Columns: ``group, method, hv_mean, hv_std`` (over preferences), ``win_rate, obj_dom_rate`` (per cent), ``dmp_auc``,
    ``line`` and the typography ``hv_mark, win_mark, odr_mark, auc_mark``.
    """
    frame = _read("summary").copy()
    frame["method"] = frame["method"].map(method_name)
    return frame


def rescored(env: str, low: Sequence[float], high: Sequence[float]) -> tuple[float, float] | None:
    """Return the mean hypervolume of the paper's returns under given bounds, and as printed; ``None`` without any."""
    frame = per_preference()
    rows = frame[frame["env"] == env]
    returns = rows.reindex(columns=[f"obj{i}_mean" for i in range(len(low))]).to_numpy(dtype=float)
    if not len(rows) or not np.isfinite(returns).all():
        return None
    return float(run_hypervolume(returns, low, high).mean()), float(rows["hv_mean"].mean())


def same_scale(env: str, low: Sequence[float], high: Sequence[float]) -> bool:
    """Return whether the paper's hypervolumes are comparable with ours: its own returns must score as printed."""
    found = rescored(env, low, high)
    return found is None or abs(found[0] - found[1]) <= SCALE_TOLERANCE * found[1]
