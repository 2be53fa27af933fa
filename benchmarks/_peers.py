"""Other people's PPO, set up with the paper's numbers: Stable-Baselines3 and morl-baselines."""

import time
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np

STEPS, EPOCHS, MINIBATCH = 2048, 10, 64
MakeEnv = Callable[[], gymnasium.Env[Any, Any]]


class SummedReward(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Sum the reward vector, for algorithms that know only scalars."""

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Step and sum."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, float(np.asarray(reward).sum()), terminated, truncated, info


def stable_baselines(make: MakeEnv, num_envs: int) -> Callable[[], None]:
    """Return a function that trains SB3's PPO on the summed reward for one iteration of 2048 steps."""
    from stable_baselines3 import PPO
    from stable_baselines3.common.vec_env import DummyVecEnv

    model = PPO(
        "MlpPolicy",
        DummyVecEnv([lambda: SummedReward(make())] * num_envs),
        n_steps=STEPS // num_envs,
        batch_size=MINIBATCH,
        n_epochs=EPOCHS,
        ent_coef=0.01,
        policy_kwargs={"net_arch": [64, 64]},
        device="cpu",
    )

    def iterate() -> None:
        model.learn(STEPS, reset_num_timesteps=False)

    return iterate


def morl_baselines(make: MakeEnv, num_envs: int, objectives: int) -> Callable[[], None]:
    """Return a function that trains morl-baselines' MOPPO for one iteration of 2048 steps."""
    from mo_gymnasium.wrappers.vector.wrappers import MOSyncVectorEnv
    from morl_baselines.single_policy.ser.mo_ppo import MOPPO, MOPPONet

    envs = MOSyncVectorEnv(iter([make] * num_envs))
    observation, action = envs.single_observation_space.shape, envs.single_action_space.shape
    net = MOPPONet(observation, action, objectives, [64, 64])
    agent = MOPPO(
        id=0,
        networks=net,
        weights=np.full(objectives, 1 / objectives, np.float32),
        envs=envs,
        steps_per_iteration=STEPS // num_envs,
        num_minibatches=STEPS // MINIBATCH,
        update_epochs=EPOCHS,
        gamma=0.99,
        ent_coef=0.01,
        device="cpu",
    )

    def iterate() -> None:
        agent.train(time.time(), 1, 1)

    return iterate
