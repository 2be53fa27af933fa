"""Every row of the paper's tables as a recipe, in the paper's groups, and a group of our own."""

from __future__ import annotations

from dataclasses import replace

from morl_recipes.recipe.ppo import PPO
from morl_recipes.recipe.recipe import Recipe
from morl_recipes.recipe.specs import (
    Actor,
    AdaptiveSmoothTchebycheff,
    AttentionWeighted,
    Branched,
    ConflictBraked,
    Dirichlet,
    Fixed,
    Linear,
    LinearDecay,
    OfEpisode,
    OfExpectation,
    PCGrad,
    Scalarised,
    SelfTuned,
    Shared,
    SmoothTchebycheff,
    Sum,
    Tchebycheff,
    TorchJD,
    Uniform,
    Vector,
    VectorOfExpectation,
    WeightedPCGrad,
    WeightedSum,
)

SMOOTHNESSES = (0.01, 0.1, 0.5, 1.0, 5.0, 10.0)

PASTA = Recipe(
    scalarizer=AdaptiveSmoothTchebycheff(utopia=1.05, maintenance=0.15),
    mu=ConflictBraked(base=LinearDecay(10.0, 0.05), maximum=10.0, threshold=0.4, smoothing=0.05),
    advantage=Vector(),
    combiner=PCGrad(),
    critic=AttentionWeighted(Branched()),
)

# The baselines scalarise before the gradient and keep PASTA's vector critic, unweighted.
LINEAR = replace(PASTA, scalarizer=Linear(), mu=None, advantage=Scalarised(), critic=Branched())
TCHEBYCHEFF = replace(LINEAR, scalarizer=Tchebycheff(utopia=1.05))
# The fair counterpart: vector advantages as in PASTA, where the attention weights the gradients.
VECTOR = replace(LINEAR, advantage=Vector(), combiner=WeightedSum())

# The utility of the expected return: its exact gradient, computed once per preference at the initial states.
SER = replace(LINEAR, scalarizer=SmoothTchebycheff(0.1), advantage=OfExpectation())

# One policy for all preferences, with our own hyperparameters: a minibatch must contain many preferences.
FRONT = PPO(learning_rate=1e-3, minibatch_size=256)

FRONT_ACTOR, FRONT_PREFERENCES = Actor(init="orthogonal", log_std=-1.5), Dirichlet(0.5)
"""Arguments that :func:`~morl_recipes.front_recipe` sets in any recipe, besides those of PPO."""

ROWS: dict[str, dict[str, Recipe]] = {
    "baselines": {
        "PASTA (Ours)": PASTA,
        "Tchebycheff": TCHEBYCHEFF,
        **{f"STCH ({mu})": replace(LINEAR, scalarizer=SmoothTchebycheff(mu, utopia=1.05)) for mu in SMOOTHNESSES},
        "Linear": LINEAR,
    },
    "pcgrad": {
        "PASTA (Ours)": PASTA,
        "No PCGrad": replace(PASTA, advantage=Scalarised()),
        "Weighted PCGrad": replace(PASTA, combiner=WeightedPCGrad()),
    },
    "controller": {
        "PASTA (Ours)": PASTA,
        "No Conflict": replace(PASTA, mu=LinearDecay(10.0, 0.05, smoothing=0.05)),
        "No Decay": replace(PASTA, mu=ConflictBraked(base=Fixed(10.0))),
    },
    "critic": {
        "PASTA (Ours)": PASTA,
        "Branched Unweighted": replace(PASTA, critic=Branched()),
        "Shared Unweighted": replace(PASTA, critic=Shared()),
        "Shared Weighted": replace(PASTA, critic=AttentionWeighted(Shared())),
    },
    "fixed_mu": {
        "PASTA (Ours)": PASTA,
        **{f"mu={mu}": replace(PASTA, mu=Fixed(mu)) for mu in SMOOTHNESSES},
    },
    "kappa": {
        "kappa = 0.4 (Ours)": PASTA,
        **{f"kappa = {tau}": replace(PASTA, mu=ConflictBraked(threshold=tau)) for tau in (0.2, 0.6, 0.8)},
    },
    "lambda": {
        "lambda=0.05 (Ours)": PASTA,
        **{f"lambda={lmbda}": replace(PASTA, mu=ConflictBraked(smoothing=lmbda)) for lmbda in (0.2, 0.5)},
    },
    "rho": {
        "rho=0.15 (Ours)": PASTA,
        **{
            f"rho={rho}": replace(PASTA, scalarizer=AdaptiveSmoothTchebycheff(maintenance=rho))
            for rho in (0.05, 0.3, 0.5, 0.8)
        },
    },
    "utopia": {
        "PASTA (Ours)": PASTA,
        **{
            f"z={zeta}": replace(PASTA, scalarizer=AdaptiveSmoothTchebycheff(utopia=zeta))
            for zeta in (1.0, 1.01, 1.1, 1.5, 5.0)
        },
    },
    "ours": {
        "PASTA (Ours)": PASTA,
        "Plain Sum": replace(PASTA, combiner=Sum()),
        "Linear, vector advantages": VECTOR,
        "Exact PCGrad": replace(
            PASTA, scalarizer=AdaptiveSmoothTchebycheff(attention="gradient"), combiner=WeightedPCGrad()
        ),
        "UPGrad": replace(PASTA, combiner=TorchJD("UPGradWeighting")),
        "MGDA": replace(PASTA, combiner=TorchJD("MGDAWeighting")),
        "CAGrad": replace(PASTA, combiner=TorchJD("CAGradWeighting(c=0.5)")),
        "STCH (1.0), vector advantages": replace(VECTOR, scalarizer=SmoothTchebycheff(1.0)),
        "STCH (1.0), exact gradient": replace(VECTOR, scalarizer=SmoothTchebycheff(1.0, attention="gradient")),
        "Tchebycheff, vector advantages": replace(VECTOR, scalarizer=Tchebycheff()),
        "Linear, weighted critic": replace(LINEAR, critic=AttentionWeighted(Branched())),
        "Linear, raw returns": replace(LINEAR, advantage=Scalarised(returns="raw")),
        "Normalised targets": replace(PASTA, ppo=PPO(normalize_targets=True)),
        "Conditioned Linear": replace(VECTOR, preferences=Uniform(), ppo=FRONT),
        "Conditioned STCH": replace(
            LINEAR, scalarizer=SmoothTchebycheff(0.01), advantage=OfEpisode(), preferences=Uniform(), ppo=FRONT
        ),
        "SelfTuned": replace(PASTA, mu=SelfTuned()),
        "SER-STCH": SER,
        "SER-STCH, PCGrad": replace(SER, advantage=VectorOfExpectation(), combiner=PCGrad()),
        "Conditioned SER-STCH": replace(SER, preferences=Uniform(), ppo=FRONT),
    },
    "readings": {
        "PASTA (Ours)": PASTA,
        "Advantages per minibatch": replace(PASTA, ppo=PPO(normalize_advantages="minibatch")),
        "Time limit as terminal": replace(PASTA, ppo=PPO(time_limit="terminal")),
        "Mask of the next step": replace(PASTA, ppo=PPO(mask="next")),
        "PCGrad by position": replace(PASTA, combiner=PCGrad(pairing="position")),
        "Conflict of projections": replace(PASTA, combiner=PCGrad(conflict="projected")),
        "All readings": replace(
            PASTA,
            combiner=PCGrad(pairing="position", conflict="projected"),
            ppo=PPO(normalize_advantages="minibatch", time_limit="terminal", mask="next"),
        ),
    },
}
"""``ROWS[group][name]``: groups and names as in the paper's summary tables, then three more.

``"utopia"`` is the paper's too; ``"ours"`` tests questions that the paper leaves open; ``"readings"`` are readings of
the paper in which its reference code differs from its text.
"""
