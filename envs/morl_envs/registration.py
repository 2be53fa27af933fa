"""Registration with Gymnasium. Cheap on purpose: environments are named by strings and loaded by ``make``."""

import gymnasium

NAMES = ("StealthVisualSearch", "CrazyflieFrogger", "CrazyflieFormation")


def register_all() -> None:
    """Register ``morl_envs/<name>-v0`` for the three environments of the paper; a second call changes nothing.

    Example:
        >>> import gymnasium
        >>> import morl_envs
        >>> sorted(name for name in gymnasium.registry if name.startswith("morl_envs/"))
        ['morl_envs/CrazyflieFormation-v0', 'morl_envs/CrazyflieFrogger-v0', 'morl_envs/StealthVisualSearch-v0']
    """
    for name in NAMES:
        if f"morl_envs/{name}-v0" not in gymnasium.registry:
            gymnasium.register(
                id=f"morl_envs/{name}-v0",
                entry_point="morl_envs.gymnasium_env:SingleEnv",
                vector_entry_point="morl_envs.gymnasium_vector:BatchVectorEnv",
                # Gymnasium's passive checker warns about every reward that is not a single number.
                disable_env_checker=True,
                kwargs={"world": name},
            )
