"""Every row of the paper's tables as a recipe, in the paper's groups, and a group of our own."""

from __future__ import annotations

from dataclasses import replace

from morl_recipes.recipe import specs
from morl_recipes.recipe.ppo import PPO
from morl_recipes.recipe.recipe import Recipe

SMOOTHNESSES = (0.01, 0.1, 0.5, 1.0, 5.0, 10.0)

PASTA = Recipe(
    scalarizer=specs.AdaptiveSmoothTchebycheff(utopia=1.05, maintenance=0.15),
    mu=specs.ConflictBraked(base=specs.LinearDecay(10.0, 0.05), maximum=10.0, threshold=0.4, smoothing=0.05),
    advantage=specs.Vector(),
    combiner=specs.PCGrad(),
    critic=specs.AttentionWeighted(specs.Branched()),
)

# The baselines scalarise before the gradient and keep PASTA's vector critic, unweighted.
LINEAR = replace(PASTA, scalarizer=specs.Linear(), mu=None, advantage=specs.Scalarised(), critic=specs.Branched())
TCHEBYCHEFF = replace(LINEAR, scalarizer=specs.Tchebycheff(utopia=1.05))
# The fair counterpart: vector advantages as in PASTA, where the attention weights the gradients.
VECTOR = replace(LINEAR, advantage=specs.Vector(), combiner=specs.WeightedSum())

# The utility of the expected return: its exact gradient, computed once per preference at the initial states.
SER = replace(LINEAR, scalarizer=specs.SmoothTchebycheff(0.1), advantage=specs.OfExpectation())

# One policy for all preferences, with our own hyperparameters: a minibatch must contain many preferences.
FRONT = PPO(learning_rate=1e-3, minibatch_size=256)
CONDITIONED = replace(LINEAR, preferences=specs.Uniform(), ppo=FRONT)

FRONT_ACTOR, FRONT_PREFERENCES = specs.Actor(init="orthogonal", log_std=-1.5), specs.Dirichlet(0.5)
"""Arguments that :func:`~morl_recipes.front_recipe` sets in any recipe, besides those of PPO."""

ROWS: dict[str, dict[str, Recipe]] = {
    "baselines": {
        "PASTA (Ours)": PASTA,
        "Tchebycheff": TCHEBYCHEFF,
        **{f"STCH ({mu})": replace(LINEAR, scalarizer=specs.SmoothTchebycheff(mu, utopia=1.05)) for mu in SMOOTHNESSES},
        "Linear": LINEAR,
    },
    "pcgrad": {
        "PASTA (Ours)": PASTA,
        "No PCGrad": replace(PASTA, advantage=specs.Scalarised()),
        "Weighted PCGrad": replace(PASTA, combiner=specs.WeightedPCGrad()),
    },
    "controller": {
        "PASTA (Ours)": PASTA,
        "No Conflict": replace(PASTA, mu=specs.LinearDecay(10.0, 0.05, smoothing=0.05)),
        "No Decay": replace(PASTA, mu=specs.ConflictBraked(base=specs.Fixed(10.0))),
    },
    "critic": {
        "PASTA (Ours)": PASTA,
        "Branched Unweighted": replace(PASTA, critic=specs.Branched()),
        "Shared Unweighted": replace(PASTA, critic=specs.Shared()),
        "Shared Weighted": replace(PASTA, critic=specs.AttentionWeighted(specs.Shared())),
    },
    "fixed_mu": {
        "PASTA (Ours)": PASTA,
        **{f"mu={mu}": replace(PASTA, mu=specs.Fixed(mu)) for mu in SMOOTHNESSES},
    },
    "kappa": {
        "kappa = 0.4 (Ours)": PASTA,
        **{f"kappa = {tau}": replace(PASTA, mu=specs.ConflictBraked(threshold=tau)) for tau in (0.2, 0.6, 0.8)},
    },
    "lambda": {
        "lambda=0.05 (Ours)": PASTA,
        **{f"lambda={lmbda}": replace(PASTA, mu=specs.ConflictBraked(smoothing=lmbda)) for lmbda in (0.2, 0.5)},
    },
    "rho": {
        "rho=0.15 (Ours)": PASTA,
        **{
            f"rho={rho}": replace(PASTA, scalarizer=specs.AdaptiveSmoothTchebycheff(maintenance=rho))
            for rho in (0.05, 0.3, 0.5, 0.8)
        },
    },
    "utopia": {
        "PASTA (Ours)": PASTA,
        **{
            f"z={zeta}": replace(PASTA, scalarizer=specs.AdaptiveSmoothTchebycheff(utopia=zeta))
            for zeta in (1.0, 1.01, 1.1, 1.5, 5.0)
        },
    },
    "ours": {
        "PASTA (Ours)": PASTA,
        "Plain Sum": replace(PASTA, combiner=specs.Sum()),
        "Linear, vector advantages": VECTOR,
        "Exact PCGrad": replace(
            PASTA, scalarizer=specs.AdaptiveSmoothTchebycheff(attention="gradient"), combiner=specs.WeightedPCGrad()
        ),
        "UPGrad": replace(PASTA, combiner=specs.TorchJD("UPGradWeighting")),
        "MGDA": replace(PASTA, combiner=specs.TorchJD("MGDAWeighting")),
        "CAGrad": replace(PASTA, combiner=specs.TorchJD("CAGradWeighting(c=0.5)")),
        "STCH (1.0), vector advantages": replace(VECTOR, scalarizer=specs.SmoothTchebycheff(1.0)),
        "STCH (1.0), exact gradient": replace(VECTOR, scalarizer=specs.SmoothTchebycheff(1.0, attention="gradient")),
        "Tchebycheff, vector advantages": replace(VECTOR, scalarizer=specs.Tchebycheff()),
        "Linear, weighted critic": replace(LINEAR, critic=specs.AttentionWeighted(specs.Branched())),
        "Linear, raw returns": replace(LINEAR, advantage=specs.Scalarised(returns="raw")),
        "Normalised targets": replace(PASTA, ppo=PPO(normalize_targets=True)),
        "Conditioned Linear": replace(VECTOR, preferences=specs.Uniform(), ppo=FRONT),
        "Conditioned STCH": replace(CONDITIONED, scalarizer=specs.SmoothTchebycheff(0.01), advantage=specs.OfEpisode()),
        "SelfTuned": replace(PASTA, mu=specs.SelfTuned()),
        "SER-STCH": SER,
        "SER-STCH, PCGrad": replace(SER, advantage=specs.VectorOfExpectation(), combiner=specs.PCGrad()),
        "Conditioned SER-STCH": replace(SER, preferences=specs.Uniform(), ppo=FRONT),
    },
    "readings": {
        "PASTA (Ours)": PASTA,
        "Advantages per minibatch": replace(PASTA, ppo=PPO(normalize_advantages="minibatch")),
        "Time limit as terminal": replace(PASTA, ppo=PPO(time_limit="terminal")),
        "Mask of the next step": replace(PASTA, ppo=PPO(mask="next")),
        "PCGrad by position": replace(PASTA, combiner=specs.PCGrad(pairing="position")),
        "Conflict of projections": replace(PASTA, combiner=specs.PCGrad(conflict="projected")),
        "All readings": replace(
            PASTA,
            combiner=specs.PCGrad(pairing="position", conflict="projected"),
            ppo=PPO(normalize_advantages="minibatch", time_limit="terminal", mask="next"),
        ),
    },
}
"""``ROWS[group][name]``: groups and names as in the paper's summary tables, then three more.

``"utopia"`` is the paper's too; ``"ours"`` tests questions that the paper leaves open; ``"readings"`` are readings of
the paper in which its reference code differs from its text.
"""
