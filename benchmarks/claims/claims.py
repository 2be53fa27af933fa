"""What the paper claims, as pairs of rows of which the first shall be ahead."""

from dataclasses import dataclass
from itertools import product

from benchmarks.claims.rows import PASTA, Row
from morl_recipes.recipe.paper import QUADROTOR, is_reference, method_name
from morl_recipes.recipe.rows import ROWS

FULL_LENGTH = 999_424
"""Steps by which claims about other environments than stealth are judged: the length that the field uses."""
MUJOCO = ("mo-halfcheetah-v5", "mo-humanoid-v5", "mo-ant-v5", "mo-walker2d-v5")


@dataclass(frozen=True)
class Claim:
    """One claim of the paper.

    Attributes:
        text: What it says, in a few words.
        env: The environment that it is about.
        pairs: Rows of which the first shall be ahead of the second.
        note: What else a reader must know.
    """

    text: str
    env: str
    pairs: tuple[tuple[Row, Row], ...]
    note: str = ""

    @property
    def at_full_length(self) -> bool:
        """Tell whether only trainings of full length judge it, by hypervolume and by expected utility."""
        return self.env != "stealth"

    @property
    def members(self) -> tuple[Row, ...]:
        """Return its rows."""
        return tuple(dict.fromkeys(row for pair in self.pairs for row in pair))


def others(group: str) -> tuple[Row, ...]:
    """Return the rows of a group but for PASTA."""
    return tuple(Row(group, method_name(name)) for name in ROWS[group] if not is_reference(name))


def _over(*rows: Row) -> tuple[tuple[Row, Row], ...]:
    return tuple((PASTA, row) for row in rows)


def _every(group: str) -> tuple[tuple[Row, Row], ...]:
    return tuple(product(others(group), others("baselines")))


RHO = "\N{GREEK SMALL LETTER RHO}"
PROJECTION = "*No PCGrad* also lacks vector advantages and the brake, which need several gradients."
BRAKE = "For the brake, the paper calls the HV comparable and uses the win rate, which is not judged here."
DECAY = "*No Decay* is *mu=10.0*, trained once. The paper prints two numbers for them, 0.273 and 0.262."
FIXED = "The paper says that PASTA matches the best fixed smoothness; *cannot be told apart* agrees with that."
SETTINGS = "In the claims about other settings, each of them is compared with each of the baselines."

CLAIMS: tuple[Claim, ...] = (
    Claim("PASTA beats all baselines", "stealth", _over(*others("baselines"))),
    Claim("PCGrad beats the scalarised update", "stealth", _over(Row("pcgrad", "No PCGrad")), PROJECTION),
    Claim("Plain PCGrad beats weighted PCGrad", "stealth", _over(Row("pcgrad", "Weighted PCGrad"))),
    Claim("The conflict brake helps", "stealth", _over(Row("controller", "No Conflict")), BRAKE),
    Claim("The decay helps", "stealth", _over(Row("controller", "No Decay")), DECAY),
    Claim("Attention in the critic's loss helps", "stealth", _over(Row("critic", "Branched Unweighted"))),
    Claim(
        "Branched critics help",
        "stealth",
        (
            (PASTA, Row("critic", "Shared Weighted")),
            (Row("critic", "Branched Unweighted"), Row("critic", "Shared Unweighted")),
        ),
    ),
    Claim("No fixed smoothness is better", "stealth", _over(*others("fixed_mu")), FIXED),
    *(
        Claim(f"Any {name} beats all baselines", "stealth", _every(group), SETTINGS)
        for name, group in (("κ", "kappa"), ("λ", "lambda"), (RHO, "rho"), ("ζ", "utopia"))
    ),
    *(Claim(f"PASTA beats all baselines on {env}", env, _over(*others("baselines"))) for env in (*QUADROTOR, *MUJOCO)),
)
"""The claims, in the order of the paper."""
