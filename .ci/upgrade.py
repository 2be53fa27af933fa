"""Upgrade 0.2 with all its packages to this version, and run the same script before and after.

``python .ci/upgrade.py`` builds both wheels, the old one from the last commit of 0.2 whose base install brought every
package. The environment borrows the packages of the Python that runs this. The script must print the same after the
upgrade, and may be warned of nothing but deprecated names.

Intervals of skewed scores of one preference are longer than in 0.2, on purpose; those of symmetric scores are compared.
"""

import difflib
import json
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
OLD = "f3d8a18d4f"
NAMES = json.loads((ROOT / "tests/public_names_0_2.json").read_text())

SCRIPT = """
import contextlib, io, torch
from importlib import import_module
for package, names in {names!r}.items():
    lost = [name for name in names if getattr(import_module(package), name, None) is None]
    print(package, "lost", lost)

from morl_blocks.combiners import PCGrad, Sum, WeightedPCGrad, WeightedSum, conflict_ratio
from morl_blocks.critics import AttentionWeightedCritic, BranchedCritic, SharedCritic
from morl_blocks.metrics import bootstrap_ci, hypervolume, profile_auc, run_hypervolume, win_rate
from morl_blocks.ppo import VectorGAE, combine_gradients, vector_gae
from morl_blocks.scalarizers import AdaptiveSmoothTchebycheff, Linear, SmoothTchebycheff, Tchebycheff
from morl_blocks.schedulers import ConflictBraked, Fixed, LinearDecay
torch.manual_seed(0)
values, weights, rows = torch.rand(4, 3), torch.tensor([0.5, 0.3, 0.2]), torch.randn(3, 6)
for scalarizer in (Linear(), Tchebycheff(), SmoothTchebycheff(0.1), AdaptiveSmoothTchebycheff(Fixed(0.5))):
    print(scalarizer(values, weights), scalarizer.attention(values, weights), scalarizer.gradient(values, weights))
for combiner in (Sum(), WeightedSum(), PCGrad(), WeightedPCGrad()):
    print(combiner(rows, weights, torch.Generator().manual_seed(0)), conflict_ratio(rows @ rows.T))
brake = ConflictBraked(base=LinearDecay(10.0, 0.05), maximum=10.0, threshold=0.4, smoothing=0.05)
print([float(brake.step(i / 10, 0.1 * i)) for i in range(10)])
critic = AttentionWeightedCritic(BranchedCritic(4, 3, hidden=8))
print(critic(torch.ones(2, 4), torch.ones(2, 3) / 3), SharedCritic(4, 3)(torch.ones(2, 4), torch.ones(2, 3) / 3))
ends = torch.zeros(5, 1, dtype=torch.bool)
print(vector_gae(torch.rand(5, 3), torch.rand(5, 3), torch.rand(5, 3), ends, ends, 0.99, 0.95))
leaf = torch.nn.Parameter(torch.ones(4))
print(combine_gradients(torch.stack([leaf.sum(), -leaf.square().sum()]), [leaf], Sum()).conflict, leaf.grad)
print(hypervolume([[1, 2], [2, 1]], [0, 0]), run_hypervolume([[1.0, 2.0]], [0, 0], [4, 4]))
print(win_rate([[1.0, 2.0], [2.0, 1.0]]), profile_auc([[1.0, 2.0], [2.0, 1.0]]), bootstrap_ci([[1.0, 2.0, 3.0]]))

from morl_envs import CARDS, CrazyflieFormation, CrazyflieFrogger, StealthVisualSearch
print(sorted(CARDS)[:5], StealthVisualSearch(batch_size=[2], seed=0).rollout(3)["next", "reward"])

from morl_recipes import PASTA, PPO, ROWS, Recipe, Settings, train
from morl_recipes.rows import PASTA as SAME
from morl_recipes.specs import Fixed as FixedSpec
from morl_recipes.store import load_runs
from morl_recipes.toy import toy
print(SAME == PASTA, FixedSpec(1.0), sorted(ROWS["baselines"]))
result = train(PASTA, toy(), preferences=[[0.5, 0.5]], seeds=[0], total_steps=2048, progress=False)
print([run.peak["returns"] for run in result.runs])
result.save("runs/one")
print(load_runs("runs/one")[["method", "steps", "peak_eu"]].to_string())
from morl_recipes.cli import main
with contextlib.redirect_stdout(io.StringIO()) as said:
    code = main(["table", "runs/one", "--format", "csv"])
print(code, "PASTA" in said.getvalue())
"""


def build(revision: str, folder: Path) -> Path:
    """Return the wheel of a revision."""
    folder.mkdir()
    archive = subprocess.run(["git", "-C", ROOT, "archive", revision], check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder / "dist", folder]
    subprocess.run(command, check=True, capture_output=True)
    return next((folder / "dist").glob("*.whl"))


def answers(python: Path, folder: Path, *options: str) -> str:
    """Return what the script prints; exit with its error if it fails."""
    folder.mkdir()
    script = folder / "script.py"
    script.write_text(SCRIPT.format(names=NAMES))
    done = subprocess.run([python, *options, script], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}")
    deprecated = sum("DeprecationWarning" in line for line in done.stderr.splitlines())
    print(f"{folder.name}: {len(done.stdout.splitlines())} lines, {deprecated} deprecations")
    return done.stdout


def main() -> None:
    """Exit with the difference if the answers differ."""
    if subprocess.run(["git", "-C", ROOT, "cat-file", "-e", OLD], capture_output=True).returncode:
        print("The commit of 0.2 is not in this clone: no upgrade was tried.")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        old, new = build(OLD, folder / "old"), build("HEAD", folder / "new")
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
        python = folder / "venv/bin/python"
        (site,) = folder.glob("venv/lib/python*/site-packages")
        (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
        pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index"]
        subprocess.run([*pip, old], check=True)
        before = answers(python, folder / "before")
        # Both may carry the same number as long as 0.2.0 is not released.
        subprocess.run([*pip, "--force-reinstall", new], check=True)
        after = answers(python, folder / "after", "-W", "error", "-W", "default::DeprecationWarning")
    if before != after:
        changes = difflib.unified_diff(before.splitlines(), after.splitlines(), "before", "after", lineterm="", n=0)
        sys.exit("\n".join(["The script's answers changed.", *changes]))
    print("The same answers before and after the upgrade.")


if __name__ == "__main__":
    main()
