"""What lies between Linear and PASTA, ingredient by ingredient: pairs of rows, and all that they differ in."""

from dataclasses import dataclass

from benchmarks.claims.findings import Lead, find_lead
from benchmarks.claims.rows import PASTA, Row, Rows

LINEAR = Row("baselines", "Linear")
VECTOR = Row("ours", "Linear, vector advantages")
PLAIN = Row("ours", "Plain Sum")


@dataclass(frozen=True)
class Ingredient:
    """A change from one row to another.

    Attributes:
        name: All that it changes.
        with_it: The row that has it.
        without: The row that has not.
    """

    name: str
    with_it: Row
    without: Row


CHAIN: tuple[Ingredient, ...] = (
    Ingredient("Advantages: normalised per objective instead of scalarised", VECTOR, LINEAR),
    Ingredient("Equal weights in the actor; attention, steered by the controller, in the critic", PLAIN, VECTOR),
    Ingredient("Projection of conflicting gradients (PCGrad)", PASTA, PLAIN),
)
"""From Linear to PASTA in three steps; the steps add up to the lead."""

SINGLE: tuple[Ingredient, ...] = (
    Ingredient("Attention in the critic's loss, in PASTA", PASTA, Row("critic", "Branched Unweighted")),
    Ingredient("Attention in the critic's loss, in Linear", Row("ours", "Linear, weighted critic"), LINEAR),
    Ingredient("Controller: the conflict brake", PASTA, Row("controller", "No Conflict")),
    Ingredient("Controller: the decay", PASTA, Row("controller", "No Decay")),
    Ingredient("Vector advantages, projection and the brake that needs them", PASTA, Row("pcgrad", "No PCGrad")),
    Ingredient(
        "Vector advantages, weighed by attention, for STCH (1.0)",
        Row("ours", "STCH (1.0), vector advantages"),
        Row("baselines", "STCH (1.0)"),
    ),
    Ingredient(
        "Vector advantages, weighed by attention, for Tchebycheff",
        Row("ours", "Tchebycheff, vector advantages"),
        Row("baselines", "Tchebycheff"),
    ),
    Ingredient("Returns normalised, in Linear", LINEAR, Row("ours", "Linear, raw returns")),
    Ingredient("The preference in the actor, and the exact gradient as attention", Row("ours", "Exact PCGrad"), PASTA),
    Ingredient("UPGrad in place of PCGrad", Row("ours", "UPGrad"), PASTA),
    Ingredient("MGDA in place of PCGrad", Row("ours", "MGDA"), PASTA),
    Ingredient("CAGrad in place of PCGrad", Row("ours", "CAGrad"), PASTA),
)
"""Other pairs of rows."""


def measure(rows: Rows, ingredients: tuple[Ingredient, ...]) -> list[tuple[Ingredient, Lead]]:
    """Compare the rows with and without each ingredient, where both were planned."""
    planned = [one for one in ingredients if all(rows.runs(row)[1] for row in (one.with_it, one.without))]
    return [(one, find_lead(rows, one.with_it, one.without)) for one in planned]
