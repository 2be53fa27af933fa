"""Hand-written policies. Each maximises one objective at the cost of the others: baselines that show the conflict.

A policy maps observations ``[N, n]`` to actions ``[N, a]`` and keeps no state. Its constants suit the default options
of its environment.
"""

from morl_envs.heuristics.crazyflie import formation_keeper, goal_rusher, lane_waiting_crosser, patient_hoverer
from morl_envs.heuristics.play import HEURISTICS, RandomPolicy, heuristics_of, mean_returns
from morl_envs.heuristics.stealth import greedy_searcher, sweeping_explorer, wall_follower

__all__ = [
    "HEURISTICS",
    "RandomPolicy",
    "formation_keeper",
    "goal_rusher",
    "greedy_searcher",
    "heuristics_of",
    "lane_waiting_crosser",
    "mean_returns",
    "patient_hoverer",
    "sweeping_explorer",
    "wall_follower",
]
