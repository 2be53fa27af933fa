"""Every public callable of ``morl_recipes`` and ``morl_envs`` with good arguments, and the kind of each argument.

What trains, trains 32 steps of a toy; what reads, reads a store, a front and a hub folder that were made once; what
writes, writes into the same temporary folder.
"""

import functools
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch

import morl_envs
import morl_recipes
from benchmarks._fuzz_calls import Call
from morl_blocks.combiners import PCGrad
from morl_envs import heuristics
from morl_envs.rendering import video
from morl_envs.source import find_source
from morl_envs.toy import toy
from morl_recipes import PASTA, PPO, Front, Recipe, Run, Settings, running, store
from morl_recipes.analysis import datasets, differences, fronts, report, tables
from morl_recipes.recipe import fields, selection, specs
from morl_recipes.recipe.recipe import SLOTS
from morl_recipes.recipe.spec import Kind, spec
from morl_recipes.running import export, hub, play, test_scores
from morl_recipes.running.plan import plan_runs

TINY = replace(PASTA, ppo=PPO(steps_per_iteration=32, minibatch_size=16, epochs=1))
SMALL = Settings(total_steps=32, num_envs=2, eval_episodes=1, test_episodes=1, compile=False)
SETTINGS = {
    **dict.fromkeys(("total_steps", "num_envs", "eval_every", "eval_episodes", "checkpoint_every"), "count"),
    **{"test_episodes": "whole", "eval_deterministic": "flag", "compile": "flag or auto", "update": "word"},
    "device": "text",
}
NUMBERS = dict.fromkeys(("learning_rate", "clip", "max_gradient_norm"), "positive")
NUMBERS |= dict.fromkeys(("value_coefficient", "entropy_coefficient"), "not negative")
NUMBERS |= dict.fromkeys(("gamma", "gae_lambda", "learning_rate_decay"), "share")
NUMBERS |= dict.fromkeys(("steps_per_iteration", "minibatch_size"), "whole count")
NUMBERS |= {"normalize_targets": "flag", "epochs": "count"} | dict.fromkeys(
    ("normalize_advantages", "time_limit", "mask"), "word"
)
RESUME = dict.fromkeys(("resume", "retry_failed", "accept_versions", "progress"), "flag")
PLAN = {"preferences": "planned preferences or None", "seeds": "planned seeds", "population": "count or None"}

EXEMPT = {"PASTA", "ROWS", "SCHEMA", "CARDS", "HEURISTICS", "Format", "Kind", "TensorEnv", "StoreError"}
"""Names that cannot be called."""
EXEMPT |= {"EnvCard", "EnvInfo", "Manifest", "RunRecord", "FrontReturns", "Finding", "Verified", "Cell", "Table"}
EXEMPT |= {"Job", "Plan", "Outcome", "RunResult", "TrainResult", "Options"}
"""Records that the package makes itself."""
EXEMPT |= {"train_job", "summary_table", "preference_tables", "other_versions", "make_run_id", "RayEngine"}
"""What takes such records; a cluster."""


@dataclass(frozen=True)
class Made:
    """What was trained once, and the folder that everything is written to."""

    folder: Path
    result: Any
    front: Front


@functools.cache
def made() -> Made:
    """Train the store, the front and the hub folder that are read."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    known: dict[str, Any] = {"settings": SMALL, "total_steps": 32, "progress": False}
    result = morl_recipes.train(TINY, toy(), [[0.5, 0.5]], [0], out=folder / "store", **known)
    front = morl_recipes.train_front(TINY, toy(), 3, (0,), out=folder / "front", **known)
    hub.export_hub(folder / "store", folder / "hub", env=toy())
    return Made(folder, result, front)


def remove() -> None:
    """Remove what was made and written."""
    if made.cache_info().currsize:
        shutil.rmtree(made().folder)
        made.cache_clear()


def calls() -> list[Call]:
    """Return the calls of both packages."""
    return [*_recipes(), *_specs(), *_sweeps(), *_training(), *_results(), *_fronts(), *_sources(), *_worlds()]


def uncovered() -> set[str]:
    """Return the public names that no call covers."""
    modules = (morl_recipes, running, store, tables, report, fronts, morl_envs, heuristics)
    public = {name for module in modules for name in getattr(module, "__all__", ())}
    return public - {call.name.partition(".")[0].removesuffix("()") for call in calls()} - EXEMPT


def _call(name: str, function: Callable[..., Any], words: str = "", /, **given: tuple[str, Any]) -> Call:
    """Return a call of arguments, each a kind and a good value."""
    kinds = {key: kind for key, (kind, _) in given.items()}
    values = {key: value for key, (_, value) in given.items()}
    return Call(name, function, values, words=frozenset(words.split()), kinds=kinds)


def _of(kinds: dict[str, str], good: Any) -> dict[str, tuple[str, Any]]:
    """Return kinds and good values, those of an object."""
    return {key: (kind, getattr(good, key)) for key, kind in kinds.items()}


def _fresh(function: Callable[..., Any], *names: str) -> Callable[..., Any]:
    """Return a function before which what it shall write is removed."""

    def call(**arguments: Any) -> Any:
        for name in names:
            path = arguments[name]
            if str(path).startswith(f"{made().folder}"):
                path = Path(path)
                shutil.rmtree(path, ignore_errors=True)
                path.unlink(missing_ok=True)
        return function(**arguments)

    return call


def _recipes() -> Iterator[Call]:
    """Yield recipes, their numbers, their names and their texts."""
    slots = {slot: (f"{slot} block", getattr(PASTA, slot)) for slot in SLOTS}
    slots["penalty"] = ("penalty block", specs.Indifference())
    yield _call("Recipe", Recipe, "scheduler", **slots, ppo=("object", PPO()))
    yield _call("Recipe.from_dict", Recipe.from_dict, "recipe", data=("table", PASTA.to_dict()))
    yield _call("Recipe.from_json", Recipe.from_json, "recipe", text=("json", PASTA.to_json()))
    yield _call("Recipe.from_toml", Recipe.from_toml, text=("text", PASTA.to_toml()))
    yield _call("Recipe.differences", PASTA.differences, other=("recipe", TINY))
    yield _call("PPO", PPO, **_of(NUMBERS, PPO()))
    yield _call("PPO.from_dict", PPO.from_dict, "ppo", data=("table", {"epochs": 2}))
    yield _call("Settings", Settings, **_of(SETTINGS, SMALL))
    yield _call("Settings.change", Settings().change, **_of(SETTINGS, SMALL))
    run = {"recipe": ("recipe or table", PASTA), "preference": ("any weights", (0.5, 0.5)), "seed": ("whole", 0)}
    names = dict.fromkeys(("run_id", "group", "method", "env", "plugin"), ("text", "a"))
    yield _call("Run", Run, "preferences", **run, **names, steps=("whole", 32))
    yield _call("by_batch", morl_recipes.by_batch, runs=("objects", [Run(PASTA, (0.5, 0.5), 0)]))
    yield _call("select_rows", selection.select_rows, "rows row", names=("names", ["PASTA"]))
    changes = ("table", {"ppo.epochs": 2})
    yield _call("change_recipe", fields.change_recipe, recipe=("recipe", PASTA), changes=changes)
    yield _call("name_of", selection.name_of, recipe=("recipe", PASTA))
    yield _call("protocol", morl_recipes.protocol, name=("word", "B"))
    yield _call("Protocol.task", morl_recipes.protocol("B").task, env=("word", "mo-ant-v5"))
    yield _call("published_fronts", lambda: len(morl_recipes.published_fronts()))


def _specs() -> Iterator[Call]:
    """Yield specs, each made and built."""
    sizes: dict[str | None, tuple[int, ...]] = {"critic": (4, 2), "actor": (4, 2, 2)}

    def build(kind: Kind, **arguments: Any) -> None:
        one = kind(**arguments)
        scheduler = (specs.Fixed().build(),) if kind.scheduled else sizes.get(kind.slot, ())
        one.build(*scheduler)

    words = {"weighting": "text", "activation": "name", "attention": "word", "pairing": "word", "conflict": "word"}
    for name, kind in vars(specs).items():
        if isinstance(kind, Kind):
            given = {key: (words.get(key) or _kind(value), value) for key, value in kind.defaults.items()}
            yield _call(f"specs.{name}", functools.partial(build, kind), **given)
    named: dict[str, tuple[str, Any]] = {"name": ("text or None", "Fuzzed"), "slot": ("word or None", "combiner")}
    yield _call("spec", spec, block=("object", type("Fuzzed", (PCGrad,), {})), **named)


def _kind(value: Any) -> str:
    """Return the kind of an argument by its default."""
    if isinstance(value, bool):
        return "flag"
    if isinstance(value, specs.Spec):
        return f"{value.slot} block"
    return {int: "whole count", str: "word", float: "number", tuple: "object"}.get(type(value), "object")


def _sweeps() -> Iterator[Call]:
    """Yield sweeps and plans."""
    values = {"preferences": ((0.2, 0.3, 0.5),), "seeds": (0,)}
    plan = {key: (kind, (values | {"population": 1})[key]) for key, kind in PLAN.items()}
    more = {"ppo": ("table", {"epochs": 2}), "set": ("table", {"ppo.clip": 0.1}), "settings": ("settings", SMALL)}

    def planned(**given: Any) -> None:
        running.make_plan(running.Sweep(**given))

    loose: dict[str, tuple[str, Any]] = {"rows": ("list of text", ("PASTA",)), "envs": ("list of text", ("stealth",))}
    strict: dict[str, tuple[str, Any]] = {"rows": ("names", ("PASTA",)), "envs": ("names", ("stealth",))}
    yield _call("Sweep", running.Sweep, **plan, **(more | {"set": ("text table", {})}), **loose)
    yield _call("make_plan", planned, "env names", **plan, **more, **strict)
    yield _call("make_plan.sweep", running.make_plan, sweep=("object", running.Sweep(rows=("PASTA",), seeds=(0,))))
    yield _call("sweep_from", running.sweep_from, content=("table", {"rows": ["PASTA"]}), folder=("new path", Path()))
    yield _call("find_sweep", running.find_sweep, "sweep", name=("text", "smoke"))
    yield _call("read_sweep", running.read_sweep, "sweep", path=("old path", "smoke"))
    yield _call("shipped_sweeps", lambda: len(running.shipped_sweeps()))
    yield _call("InlineEngine", lambda: running.InlineEngine().workers)
    silent = {"silence": ("positive", 60.0), "workers": ("count or None", 1)}
    yield _call("LocalEngine", lambda **given: running.LocalEngine(**given).workers, **silent)
    tiny = plan_runs([Run(TINY, (0.5, 0.5), 0)], toy().complete(), SMALL)
    out = made().folder / "sweep"
    options: dict[str, tuple[str, Any]] = dict.fromkeys(("retry_failed", "accept_versions"), ("flag", False))
    options |= {"plan": ("object", tiny), "out": ("new path", out), "size": ("count or None", 1)}
    options |= {"engine": ("object", running.InlineEngine()), "command": ("text", "fuzz"), "progress": ("flag", False)}
    yield _call("run_sweep", _fresh(running.run_sweep, "out"), **options)


def _training() -> Iterator[Call]:
    """Yield what trains."""
    out = made().folder / "trained"
    quiet: dict[str, tuple[str, Any]] = {key: (kind, False) for key, kind in RESUME.items()}
    small = _of({key: kind for key, kind in SETTINGS.items() if key != "checkpoint_every"}, SMALL)
    good: dict[str, tuple[str, Any]] = {"recipe": ("recipe", TINY), "env": ("environment", toy())}
    asked: dict[str, tuple[str, Any]] = {"preferences": ("preferences", [[0.5, 0.5]]), "seeds": ("seeds", [0])}
    given = good | asked | quiet | small | {"out": ("new path or None", out), "settings": ("settings or None", SMALL)}
    given["device"] = ("device", "cpu")
    yield _call("train", _fresh(morl_recipes.train, "out"), "device", **given)
    front: dict[str, tuple[str, Any]] = {"conditioned": ("flag", True), "warm_start": ("share", 0.0)}
    front |= {
        "gamma": ("share", 1.0),
        "normalize_observations": ("flag or None", False),
        "horizon": ("count or None", 8),
    }
    yield _call(
        "train_front",
        _fresh(morl_recipes.train_front, "out"),
        "device",
        **(given | front | {"preferences": ("preferences or count", [[0.5, 0.5]])}),
    )
    runs: dict[str, tuple[str, Any]] = {"runs": ("object", [Run(TINY, (0.5, 0.5), 0)]), "env": ("environment", toy())}
    runs |= {"settings": ("settings or None", SMALL), "folder": ("new path or None", out), **quiet}
    yield _call("train_runs", _fresh(morl_recipes.train_runs, "folder"), "out", **runs)
    chosen: dict[str, tuple[str, Any]] = {"env": ("environment", toy()), "recipe": ("recipe or None", PASTA)}
    yield _call("front_recipe", morl_recipes.front_recipe, **chosen)
    result = made().result
    yield _call("TrainResult.policy", result.policy, run=("whole", 0), point=("word", "peak"))
    yield _call("TrainResult.save", _fresh(result.save, "folder"), folder=("new path", made().folder / "saved"))


def _results() -> Iterator[Call]:
    """Yield what reads and shows a store."""
    place, out = made().folder, made().folder / "out"
    there: dict[str, tuple[str, Any]] = {"store": ("old path", place / "store")}
    folder: dict[str, tuple[str, Any]] = {"folder": ("old path", place / "store")}
    known: dict[str, tuple[str, Any]] = {"env": ("environment", toy()), "run": ("name or None", "pasta")}
    known |= {"point": ("word", "peak")}
    read: dict[str, tuple[str, Any]] = {"frame": ("word", "pandas"), "damaged": ("word", "raise")}
    yield _call("load_runs", store.load_runs, "path", **there, **read)
    yield _call("load_history", store.load_history, "path", **there, **read)
    yield _call("verify", lambda folder: len(store.verify(folder).findings), folder=("path", place / "store"))
    yield _call("Store.open", store.Store.open, path=("old path", place / "store"))
    opened = store.Store.open(place / "store")
    (run_id,) = opened.run_ids()
    for method in (opened.read, opened.policy):
        own = f"Store.{method.__name__}"
        yield _call(own, lambda run_id, _method=method: len(_method(run_id)), run_id=("name", run_id))
    yield _call("Store.remove_leftovers", opened.remove_leftovers, older_than=("not negative", 1e9))
    new: dict[str, tuple[str, Any]] = {"path": ("new path", out), "manifest": ("object", opened.manifest)}
    yield _call("Store.create", _fresh(store.Store.create, "path"), **new)
    yield _call("Store.write", opened.write, record=("object", made().result.runs[0]))
    yield _call("run_versions", lambda: len(store.run_versions()))
    shown: dict[str, tuple[str, Any]] = {"format": ("word", "csv"), "score": ("word or None", "peak")}
    table = {
        **there,
        **shown,
        "kind": ("word", "summary"),
        "against": ("name or None", "pasta"),
        "width": ("count or None", 80),
    }
    yield _call("render_table", tables.render_table, "path", **table)
    two: dict[str, tuple[str, Any]] = dict.fromkeys(("first", "second"), ("old path", place / "store"))
    yield _call("render_difference", differences.render_difference, **two, **shown)
    page: dict[str, tuple[str, Any]] = {**there, "out": ("new path", out), "score": ("word or None", "peak")}
    yield _call("write_report", _fresh(report.write_report, "out"), "path", **page, title=("text", "A title"))
    yield _call("write_figures", _fresh(report.write_figures, "out"), "path", **page, formats=("names", ("png",)))
    yield _call("published", morl_recipes.published, "results", name=("name or None", datasets.names()[0]))
    yield _call("find_dataset", datasets.find_dataset, "results", name=("name", datasets.names()[0]))
    picture: dict[str, tuple[str, Any]] = {"preference": ("weights or None", (0.5, 0.5)), "episodes": ("size", 1)}
    yield _call("play", play.play, "path", **folder, **known, **picture, seed=("seed", 0))
    tested: dict[str, tuple[str, Any]] = {"episodes": ("count", 2), "accept_versions": ("flag", False)}
    tested |= {"progress": ("flag", False), "env": ("environment", toy())}

    def test_again(**given: Any) -> None:
        for path in (place / "store").glob("runs/*/test.json"):
            path.unlink()
        test_scores.test_store(**given)

    yield _call("test_store", test_again, "path", **folder, **tested)
    onnx: dict[str, tuple[str, Any]] = {"out": ("new path", out), "tolerance": ("positive", 0.1)}
    yield _call("export_policy", _fresh(export.export_policy, "out"), "path", **folder, **known, **onnx)
    yield _call("export_hub", _fresh(hub.export_hub, "out"), "path", **folder, **known, out=("new path", out))
    yield _call("load_hub", morl_recipes.load_hub, folder=("old path", place / "hub"))


def _fronts() -> Iterator[Call]:
    """Yield fronts."""
    front, place, out = made().front, made().folder, made().folder / "front.out"
    yield _call("Front.load", Front.load, folder=("old path", place / "front"))
    yield _call("read_front", store.read_front, folder=("old path", place / "front"))
    yield _call("Front.save", _fresh(front.save, "folder"), folder=("new path", out))
    yield _call("Front.of", front.of, seed=("whole", 0))
    yield _call("Front.policy", front.policy, preference=("weights", (0.5, 0.5)))
    seen = ("numbers", torch.zeros(4))
    yield _call("Front.policy.call", lambda observation: front.policy((0.5, 0.5))(observation), observation=seen)
    reference: dict[str, tuple[str, Any]] = {"reference": ("numbers", (-99.0, -99.0)), "allow_empty": ("flag", False)}
    yield _call("Front.hypervolume", front.hypervolume, **reference)
    yield _call("Front.table", lambda: len(front.table()))
    onnx: dict[str, tuple[str, Any]] = {"path": ("new path", out), "env": ("environment", toy())}
    yield _call("Front.export", _fresh(front.export, "path"), **onnx, preference=("weights or None", (0.5, 0.5)))
    drawn: dict[str, tuple[str, Any]] = {"front": ("object", front), "known": ("numbers or None", np.ones((1, 2)))}
    yield _call("draw_front", _fresh(fronts.draw_front, "path"), **drawn, path=("new path", place / "front.png"))
    yield _call("write_front_page", _fresh(fronts.write_front_page, "path"), **drawn, path=("new path", out))
    small: dict[str, tuple[str, Any]] = {"gamma": ("discount", 1.0), "reference": ("numbers or None", (-1.0, -99.0))}
    small |= {"points": ("numbers", [[0.7, -1.0]]), "env": ("word", "deep-sea-treasure-v0")}
    yield _call("distance_to_exact", morl_recipes.distance_to_exact, "name", **small)
    world = morl_envs.make_batch("deep-sea-treasure-v0", 2)
    down: dict[str, tuple[str, Any]] = {"policy": ("object", lambda seen: torch.ones(len(seen), dtype=torch.int64))}
    played = {**down, "env": ("object", world), "gamma": ("discount", 1.0)}
    yield _call("play_returns", morl_recipes.play_returns, "action", **played)


def _sources() -> Iterator[Call]:
    """Yield what finds environments by name."""
    named: dict[str, tuple[str, Any]] = {"env": ("environment", "stealth"), "device": ("device or None", "cpu")}
    given = {**named, "plugins": ("objects", ()), "folder": ("new path", ".")}
    yield _call("find_source", lambda **given: find_source(**given).complete() and None, **given)
    source: dict[str, tuple[str, Any]] = {"name": ("text", "toy"), "make": ("function", toy().make)}
    source |= {
        "hv_low": ("numbers or None", (0.0, 0.0)),
        "hv_high": ("numbers or None", (1.0, 1.0)),
        "horizon": ("count or None", 16),
    }
    source |= {"normalize_observations": ("flag", False), "objectives": ("objects", ("a", "b"))}
    source |= {"preferences": ("objects", ((0.5, 0.5),)), "observation_dim": ("count or None", 4)}
    yield _call("EnvSource", lambda **given: morl_recipes.EnvSource(**given).complete() and None, **source)
    sizes: dict[str, tuple[str, Any]] = {"num_envs": ("size", 2), "seeds": ("seed", [0, 1])}
    yield _call("EnvSource.opened", _opened, **sizes)
    yield _call("find_card", lambda name: None if morl_envs.find_card(name) else 0, "env", name=("word", "stealth"))
    yield _call("heuristics_of", lambda name: len(heuristics.heuristics_of(name)), "env", name=("word", "stealth"))
    exact: dict[str, tuple[str, Any]] = {"name": ("word", "deep-sea-treasure-v0"), "gamma": ("discount", 1.0)}
    yield _call("exact_front", morl_envs.exact_front, "env", **exact)
    yield _call("register", morl_envs.register, card=("object", morl_envs.find_card("stealth")))
    yield _call("register_all", morl_envs.register_all)
    batch: dict[str, tuple[str, Any]] = {"num_envs": ("size", 2), "seeds": ("seed", 0)}
    for name in ("stealth", "deep-sea-treasure-v0"):
        yield _call(
            "make_batch", lambda **given: morl_envs.make_batch(**given) and None, "env", name=("word", name), **batch
        )
    gym: dict[str, tuple[str, Any]] = {"env": ("word", "deep-sea-treasure-v0"), "num_envs": ("size", 2)}
    gym |= {"seed": ("seed", 0), "objectives": ("objects or None", ("a", "b")), "horizon": ("count or None", 9)}
    yield _call("GymnasiumBatch", lambda **given: morl_envs.GymnasiumBatch(**given) and None, **gym)
    numbers = {key: ("count", size) for key, size in (("objectives", 2), ("observation_dim", 4), ("horizon", 4))}
    yield _call("toy", lambda **given: toy(**given).complete() and None, **numbers, action_dim=("count", 2))


def _opened(num_envs: Any, seeds: Any) -> None:
    with find_source("stealth").opened(num_envs, seeds):
        pass


OPTIONS = {"lanes": "numbers", "opponent_speeds": "numbers", "circle_radius": "numbers", "box_half_size": "numbers"}
OPTIONS |= {"effort": "word", "flip_probability": "share", "clearance": "not negative", "jitter": "not negative"}
OPTIONS |= dict.fromkeys(("start_height", "goal_height", "spread", "lane"), "number")
OPTIONS |= dict.fromkeys(("num_circles", "num_boxes"), "whole")
OPTIONS |= dict.fromkeys(("horizon", "num_targets", "lidar_rays", "layout_attempts"), "count")


def _worlds() -> Iterator[Call]:
    """Yield the environments themselves: their options, a reset, a step, their films."""
    for name in ("StealthVisualSearch", "CrazyflieFrogger", "CrazyflieFormation"):
        kind = getattr(morl_envs, name)
        world = kind(batch_size=[2])
        options = {key: (OPTIONS.get(key, "positive"), value) for key, value in vars(world.options).items()}
        sizes: dict[str, tuple[str, Any]] = {
            "batch_size": ("size", 2),
            "seed": ("seed", 0),
            "device": ("device or None", "cpu"),
        }
        yield _call(name, lambda _kind=kind, **given: _kind(**given).reset_tensors(), **sizes, **options)
        yield _call(f"{name}.step", world.step_tensors, action=("action", torch.zeros(2, world.action_dim)))
        yield _call(f"{name}.reset", world.reset_tensors, mask=("mask", torch.ones(2, dtype=torch.bool)))
        yield _call(f"{name}.seed_each", world.seed_each, seed=("seed", 0))
        yield _call(f"{name}.set_seed", world.set_seed, seed=("seed or None", 0))
        yield _call(f"{name}.set_state", world.set_state, "state", state=("table", world.get_state()))
        single = gymnasium.make(f"morl_envs/{name}-v0").unwrapped
        single.reset(seed=0)
        yield _call(f"{name}.gymnasium", single.step, action=("action", np.zeros(world.action_dim, np.float32)))
        yield _call(
            f"{name}.gymnasium.reset", lambda seed, _env=single: _env.reset(seed=seed)[0], seed=("seed or None", 0)
        )
        vector = gymnasium.make_vec(f"morl_envs/{name}-v0", num_envs=2)
        vector.reset(seed=0)
        many = ("action", np.zeros((2, world.action_dim), np.float32))
        yield _call(f"{name}.vector", lambda actions, _env=vector: _env.step(actions)[1], "action", actions=many)
    sea = morl_envs.make_batch("deep-sea-treasure-v0", 2)
    yield _call("GymnasiumBatch.step", sea.step_tensors, action=("action", torch.zeros(2, dtype=torch.int64)))
    yield _call("GymnasiumBatch.reset", sea.reset_tensors, mask=("mask", torch.ones(2, dtype=torch.bool)))
    yield _call("GymnasiumBatch.set_state", sea.set_state, "state", state=("table", sea.get_state()))
    short = morl_envs.CrazyflieFrogger(batch_size=[2], horizon=4)
    acting: dict[str, tuple[str, Any]] = {"env": ("object", short)}
    yield _call("RandomPolicy", heuristics.RandomPolicy, **acting, seed=("seed", 0))
    ahead: dict[str, tuple[str, Any]] = {**acting, "policy": ("object", lambda seen: seen[:, 2:4])}
    yield _call("mean_returns", heuristics.mean_returns, "action", **ahead)
    film: dict[str, tuple[str, Any]] = {"index": ("whole", 0), "every": ("count", 2), "max_steps": ("count or None", 2)}
    yield _call("record_episode", video.record_episode, "action", **ahead, **film)
    saved: dict[str, tuple[str, Any]] = {"pictures": ("objects", [np.zeros((8, 8, 3), np.uint8)])}
    written = {**saved, "path": ("new path", made().folder / "a.gif"), "fps": ("positive", 20)}
    yield _call("save_video", _fresh(video.save_video, "path"), **written)
    yield _call("captioned", video.captioned, **saved, caption=("text", "A"), size=("count", 16))
    for card in morl_envs.CARDS.values():
        for title, policy in heuristics.heuristics_of(card).items():
            seen = ("observation", torch.zeros(2, card.observation_dim))
            yield _call(f"{policy.__name__}", policy, title, observation=seen)
