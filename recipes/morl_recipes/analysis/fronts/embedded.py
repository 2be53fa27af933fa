"""The front that a result store was trained for, as a part of another page."""

from __future__ import annotations

import logging
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import safetensors.torch
from torch import Tensor

from morl_envs import CARDS
from morl_envs.source import find_source
from morl_recipes.analysis.fronts.page import front_sections, page_data
from morl_recipes.analysis.fronts.summary import known_front
from morl_recipes.analysis.report.offline import inline_json, resource
from morl_recipes.common.errors import StoreError
from morl_recipes.running.fronts.files import NAME
from morl_recipes.running.fronts.front import BOUNDS, Front
from morl_recipes.running.fronts.train import STORE
from morl_recipes.store.record import at_point
from morl_recipes.store.store import Store

_LOG = logging.getLogger("morl_recipes")


class Part(NamedTuple):
    """HTML, CSS and JavaScript that another page includes."""

    html: str = ""
    css: str = ""
    js: str = ""


def front_part(store: Path) -> Part:
    """Return the front of a store: its slider, its picture and published values; nothing where there is no front.

    ``morl-blocks front`` and ``train_front(out=...)`` keep the store of their training beside the front. One that is
    damaged, or whose policies are not those of the store, is left out with a warning: the store itself may be sound.
    """
    folder = store.resolve().parent
    if store.resolve().name != STORE or not (folder / NAME).exists():
        return Part()
    try:
        front = Front.load(folder)
        if not _trained_in(front, Store.open(store)):
            raise StoreError(f"{folder / NAME}: belongs to another training.")
    except StoreError as error:
        _LOG.warning("The front beside the store is not shown: %s", error)
        return Part()
    source = find_source(front.env) if front.env in CARDS else None
    data = inline_json(page_data(front, known_front(front), source))
    html = f'{front_sections(front)}<script type="application/json" id="front-data">{data}</script>\n'
    return Part(html, resource(__package__, "page.css"), resource(__package__, "page.js"))


def _trained_in(front: Front, store: Store) -> bool:
    """Tell whether all policies of a front are last policies of a store; a run that cannot be read has none."""
    known = set()
    for run_id in store.run_ids():
        with suppress(StoreError):
            known.add(_content(at_point(store.policy(run_id), "final")))
    return all(_content(own) in known for own in front.policies)


def _content(policy: dict[str, Tensor]) -> bytes:
    return safetensors.torch.save({name: tensor for name, tensor in policy.items() if name not in BOUNDS})
