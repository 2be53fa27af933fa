"""Draw the picture of docs/architecture.md from the imports of the packages: ``python docs/make_architecture.py``.

An arrow says that a folder imports another one; its number counts the import statements. Arrows that follow from others
are left out: if A imports B and B imports C, there is no arrow from A to C.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "pictures" / "architecture.png"
HARNESS = ROOT / "recipes" / "morl_recipes"
OWNS = {
    "cli": "commands",
    "analysis": "tables, reports, figures",
    "running": "train, sweep, fronts, engines",
    "learning": "the training iteration",
    "evaluation": "episodes of fixed policies",
    "store": "run records on disk",
    "recipe": "recipes, rows, settings",
    "common": "checks, messages, scores",
    "morl_blocks": "scalarizers, combiners, critics, ...",
    "morl_envs": "environments",
}
"""What each folder holds."""
PLACES = {
    "cli": (0.5, 5),
    "analysis": (1, 4),
    "running": (0, 4),
    "evaluation": (0, 3),
    "store": (1, 3),
    "learning": (0, 2),
    "recipe": (1, 2),
    "morl_envs": (0, 1),
    "common": (1, 1),
    "morl_blocks": (1, 0),
}
"""Column and floor of each box; imports go to the same floor or downwards."""
Edge = tuple[str, str]


def imported(path: Path) -> Iterator[str]:
    """Yield the folder or package of each import statement of a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module or ""]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] in ("morl_blocks", "morl_envs"):
                yield parts[0]
            elif parts[0] == "morl_recipes" and len(parts) > 1:
                yield parts[1]


def imports() -> Counter[Edge]:
    """Count the import statements from each folder of ``morl_recipes`` to other folders and to the two packages."""
    edges: Counter[Edge] = Counter()
    for name in OWNS:
        for path in sorted((HARNESS / name).rglob("*.py")):
            edges.update((name, other) for other in imported(path) if other in OWNS and other != name)
    return edges


def reduced(edges: Counter[Edge]) -> Counter[Edge]:
    """Leave out the edges that follow from others."""

    def reach(start: str, without: Edge) -> set[str]:
        found, todo = set[str](), [start]
        while todo:
            node = todo.pop()
            following = {b for a, b in edges if a == node and (a, b) != without} - found
            found |= following
            todo += following
        return found

    return Counter({edge: count for edge, count in edges.items() if edge[1] not in reach(edge[0], edge)})


def draw(edges: Counter[Edge]) -> Figure:
    """Draw the folders and the arrows between them; an arrow upwards is red."""
    figure = Figure(figsize=(7.6, 5.9), layout="constrained")
    axes = figure.add_subplot()
    centre = {name: (5.2 * column, 1.5 * floor) for name, (column, floor) in PLACES.items()}
    half = (1.95, 0.42)
    for name, (x, y) in centre.items():
        colour = "#e8eef5" if name.startswith("morl_") else "#ffffff"
        box = FancyBboxPatch((x - half[0], y - half[1]), 2 * half[0], 2 * half[1], boxstyle="round,pad=0.04")
        box.set(facecolor=colour, edgecolor="#34495e", linewidth=1.2, zorder=3)
        axes.add_patch(box)
        axes.text(x, y + 0.15, name, ha="center", va="center", weight="bold", fontsize=11, zorder=4)
        axes.text(x, y - 0.19, OWNS[name], ha="center", va="center", fontsize=8.5, zorder=4)
    for (a, b), count in sorted(edges.items()):
        (x0, y0), (x1, y1) = centre[a], centre[b]
        side = 0 if y0 != y1 else 1 if x1 > x0 else -1
        down, lean = (1 if y0 > y1 else -1), 0.25 * (x1 - x0)
        start = (x0 + side * half[0], y0) if side else (x0 + lean, y0 - down * half[1])
        end = (x1 - side * half[0], y1) if side else (x1 - lean, y1 + down * half[1])
        colour = "#c0392b" if y1 > y0 else "#5d6d7e"
        look = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.3, "shrinkA": 3, "shrinkB": 3}
        axes.annotate("", xy=end, xytext=start, arrowprops=look, zorder=2)
        middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
        number = axes.text(*middle, str(count), fontsize=8, color=colour, ha="center", va="center", zorder=5)
        number.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.8})
    axes.set(xlim=(-2.2, 7.4), ylim=(-0.7, 8.2))
    axes.set_axis_off()
    return figure


def upward(edges: Counter[Edge]) -> list[Edge]:
    """Return the imports of a higher floor."""
    return sorted(edge for edge in edges if PLACES[edge[1]][1] > PLACES[edge[0]][1])


if __name__ == "__main__":
    found = imports()
    draw(reduced(found)).savefig(PICTURE, dpi=110)
    for a, b in upward(found):
        print(f"upwards: {a} imports {b}")
    print(PICTURE.relative_to(ROOT))
