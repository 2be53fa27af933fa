"""Small faults that can be put into a source: which there are, and the source with one of them."""

import ast
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
}
NAMES = {"min": "max", "amin": "amax", "argmin": "argmax", "minimum": "maximum", "any": "all", "floor": "ceil"}
NAMES |= {value: key for key, value in NAMES.items()} | {"cumsum": "cumprod", "log1p": "log", "expm1": "exp"}
NO_FAULT = ("strict", "name", "device")
"""Keywords without which a right program does the same on one device."""

DECISIVE = ("fsync", "sync_folder", "not saved")
"""Faults that only a crash or a continued training meets: all of them are made."""

Function = ast.FunctionDef | ast.AsyncFunctionDef
Place = tuple[int, int, int, int]


@dataclass(frozen=True)
class Mutant:
    """One fault: where, what kind, and the texts before and after."""

    path: str
    """File, relative to the repository."""
    owner: str
    """Qualified name of the outermost function around it."""
    line: int
    kind: str
    before: str
    after: str
    place: Place
    """First line and byte, last line and byte, as `ast` counts them."""
    text: str
    """The first line of the source that it changes."""

    @property
    def change(self) -> str:
        """The fault in one line, without its place: the same after the code around it was moved."""
        fault = f"{self.owner}: {_short(self.before)} -> {_short(self.after)}"
        return fault if len(self.before) > 20 else f"{fault} in: {self.text}"


def _short(text: str) -> str:
    return " ".join(text.split())


def mutants_of(source: str, path: str) -> list[Mutant]:
    """List every fault that can be put into the functions of a source, in the order of the text."""
    return sorted(_Finder(source, path).found(), key=lambda mutant: (mutant.place, mutant.after))


def mutated(source: str, mutant: Mutant) -> str:
    """Return the source with the fault; all other lines stay as and where they are."""
    lines = source.encode().splitlines(keepends=True)
    first, start, last, end = mutant.place
    tail = lines[last - 1][end:]
    gap = b"\n" * (last - first) if not mutant.after.count("\n") and _statement(mutant) else b""
    lines[first - 1 : last] = [lines[first - 1][:start] + mutant.after.encode() + tail + gap]
    return b"".join(lines).decode()


def _statement(mutant: Mutant) -> bool:
    return mutant.after == "pass"


def choose(candidates: Iterable[Mutant], count: int, seed: int) -> list[Mutant]:
    """Choose mutants: all decisive ones, one of each file, and others by a hash that moving code does not change."""

    def rank(mutant: Mutant) -> str:
        return hashlib.sha256(f"{seed} {mutant.kind} {mutant.change}".encode()).hexdigest()

    ranked = sorted(candidates, key=rank)
    first_of_file = {mutant.path: mutant for mutant in reversed(ranked)}
    chosen = [m for m in ranked if first_of_file[m.path] is m or any(w in m.before or w in m.kind for w in DECISIVE)]
    rest = [mutant for mutant in ranked if mutant not in set(chosen)]
    return sorted(chosen + rest[: max(0, count - len(chosen))], key=lambda m: (m.path, m.place, m.after))


class _Finder(ast.NodeVisitor):
    """Walk a module and keep the faults; messages, annotations, decorators and docstrings stay as they are."""

    def __init__(self, source: str, path: str) -> None:
        self.source, self.path, self.lines = source, path, source.splitlines()
        self.scope, self.mutants = list[tuple[str, bool]](), dict[tuple[Place, str], Mutant]()

    def found(self) -> Iterator[Mutant]:
        self.visit(ast.parse(self.source))
        yield from self.mutants.values()

    def add(self, node: ast.expr | ast.stmt | ast.keyword, kind: str, after: str) -> None:
        names = [name for name, _ in self.scope]
        depth = next((i for i, (_, function) in enumerate(self.scope) if function), None)
        if depth is None:  # only functions are changed
            return
        owner = ".".join(names[: depth + 1])
        place = (node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)
        before = ast.get_source_segment(self.source, node) or ""
        text = self.lines[node.lineno - 1].strip()
        mutant = Mutant(self.path, owner, node.lineno, kind, before, after, place, text)
        self.mutants.setdefault((place, after), mutant)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._scoped(node, function=False)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._scoped(node, function=True)

    def _scoped(self, node: ast.ClassDef | ast.FunctionDef, *, function: bool) -> None:
        self.scope.append((node.name, function))
        for statement in node.body:
            self.visit(statement)
        self.scope.pop()

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Raise(self, node: ast.Raise) -> None:
        self.add(node, "statement dropped", "pass")

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Leave texts alone: their parts have no places of their own."""

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self.add(node, "statement dropped", "pass")
        if self._saves() and isinstance(node.value, ast.Yield | ast.YieldFrom):
            self._not_saved(node.value)
        self.generic_visit(node)

    def _saves(self) -> bool:
        return any("state" in name or "carried" in name or "_modules" in name for name, _ in self.scope)

    def _not_saved(self, node: ast.Yield | ast.YieldFrom) -> None:
        value = node.value
        if isinstance(node, ast.Yield) or not isinstance(value, ast.Tuple):
            self.add(node, "state not saved", "None" if isinstance(node, ast.Yield) else "[]")
            return
        for item in value.elts:
            kept = [one for one in value.elts if one is not item]
            self.add(node, "state not saved", f"yield from {ast.unparse(ast.Tuple(kept, ast.Load()))}")

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.add(node, "statement dropped", "pass")
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        if isinstance(node.targets[0], ast.Subscript):
            self.add(node, "statement dropped", "pass")
        if not (isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__"):
            self.visit(node.value)

    def visit_Compare(self, node: ast.Compare) -> None:
        if len(node.ops) == 1:
            operator = COMPARISONS[type(node.ops[0])]()
            self.add(node, "comparison", f"({ast.unparse(ast.Compare(node.left, [operator], node.comparators))})")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        operator = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
        self.add(node, "and / or", f"({ast.unparse(ast.BoolOp(operator, node.values))})")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not | ast.USub):
            kind = "not dropped" if isinstance(node.op, ast.Not) else "sign"
            self.add(node, kind, f"({ast.unparse(node.operand)})")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        plain = not any(isinstance(side, ast.JoinedStr | ast.Tuple | ast.List) for side in (node.left, node.right))
        text = any(isinstance(side, ast.Constant) and isinstance(side.value, str) for side in (node.left, node.right))
        if plain and not text and type(node.op) in OPERATORS:
            other = OPERATORS[type(node.op)]()
            self.add(node, "arithmetic", f"({ast.unparse(ast.BinOp(node.left, other, node.right))})")
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test) != "TYPE_CHECKING":
            self._negate(node.test)
            self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def _negate(self, test: ast.expr) -> None:
        if not isinstance(test, ast.Compare | ast.UnaryOp):
            self.add(test, "condition negated", f"(not ({ast.unparse(test)}))")

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self.add(node, "constant", str(not node.value))
        elif isinstance(node.value, int):
            self.add(node, "constant", str(node.value + 1))
        elif isinstance(node.value, float):
            self.add(node, "constant", repr(node.value * 2 if node.value else 1.0))

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in NAMES:
            old = ast.unparse(node.func)
            self.add(node.func, "other function", old.removesuffix(name) + NAMES[name])
        for keyword in node.keywords:
            if keyword.arg is not None and keyword.arg not in NO_FAULT:
                self._without(node, keyword)
        self.visit(node.func)
        for argument in (*node.args, *(word.value for word in node.keywords if word.arg != "strict")):
            self.visit(argument)

    def _without(self, node: ast.Call, keyword: ast.keyword) -> None:
        kept = [word for word in node.keywords if word is not keyword]
        self.add(node, "keyword dropped", ast.unparse(ast.Call(node.func, node.args, kept)))

    def visit_Dict(self, node: ast.Dict) -> None:
        if self._saves():
            for key, value in zip(node.keys, node.values, strict=True):
                if key is not None:
                    kept = [(k, v) for k, v in zip(node.keys, node.values, strict=True) if v is not value]
                    other = ast.Dict([k for k, _ in kept], [v for _, v in kept])
                    self.add(node, "state not saved", ast.unparse(other))
        self.generic_visit(node)


def read(root: Path, globs: Iterable[str]) -> dict[str, str]:
    """Read all files that the globs name."""
    paths = sorted({path for glob in globs for path in root.glob(glob)})
    return {str(path.relative_to(root)): path.read_text() for path in paths}
