"""Another checkout of this project, trained in turns with this one: a process that trains when it is told to."""

import subprocess
import sys
from pathlib import Path

CODE = """
import sys, time, torch
torch.set_num_threads(1)
from benchmarks._dummy import dummy
from morl_recipes import PASTA, Run
try:
    from morl_envs.source import find_source
except ImportError:  # version 0.2
    from morl_recipes.envs import find_source
source = dummy(3) if {world!r} == "dummy" else find_source({world!r})
runs = [Run(PASTA, (1 / 3,) * 3, seed) for seed in range({runs})]
try:
    from morl_recipes.learning.batch import Batch
    try:
        from morl_recipes.recipe.settings import Settings
    except ImportError:  # version 0.2
        from morl_recipes.settings import Settings
    own = Batch(runs, source, Settings(total_steps=10**6, compile={compiled}))
except ImportError:  # version 0.1
    from morl_recipes.population.population import Population
    own = Population(runs, source, total_steps=10**6, compile={compiled})
for line in sys.stdin:
    start = time.process_time()
    own.iterate()
    print(time.process_time() - start, flush=True)
"""


class Checkout:
    """A process that trains R runs of PASTA with the code of a folder.

    Args:
        folder: A checkout of this project.
        world: Name of the environment.
        runs: Number of runs.
        compiled: Whether its update is compiled.
    """

    def __init__(self, folder: Path, world: str, runs: int, *, compiled: bool) -> None:
        code = CODE.format(world=world, runs=runs, compiled=compiled)
        paths = ":".join(str(folder.resolve() / part) for part in (".", "envs", "recipes"))
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=folder,
            env={"PYTHONPATH": paths, "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(Path.home())},
        )

    def iterate(self) -> float:
        """Train for one iteration; return its seconds of processor time."""
        if self.process.stdin is None or self.process.stdout is None:
            raise RuntimeError("the process has no pipes")
        print(file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())

    def __enter__(self) -> "Checkout":
        return self

    def __exit__(self, *reason: object) -> None:
        self.process.kill()
        self.process.wait()
