"""``morl-blocks test``."""

from dataclasses import dataclass

from morl_recipes.cli.options import Folder
from morl_recipes.cli.own_blocks import OwnBlocks
from morl_recipes.common.naming import count
from morl_recipes.common.text import say
from morl_recipes.recipe.settings import Settings


@dataclass(frozen=True)
class AddTestScores(OwnBlocks):
    """Play the stored policies of all finished runs on test episodes, and store the scores beside the runs.

    The best of several validation scores is biased upwards; a test score is not. Runs that were trained by this version
    have a test score already. Runs of older versions get one here, without training. The same command continues where
    it stopped.

    Examples:
      morl-blocks test runs/paper_baselines
      morl-blocks test runs/smoke --episodes 20
    """

    folder: Folder
    """Results of a sweep or a training, complete or not."""
    episodes: int = Settings.test_episodes
    """Test episodes per policy."""
    accept_versions: bool = False
    """Play with other versions of Gymnasium, MO-Gymnasium or MuJoCo than the runs were trained with."""

    def run(self, argv: list[str]) -> int:
        """Play the policies, write the scores and print how many runs were tested."""
        from morl_recipes.running.test_scores import test_store

        self.load_blocks(self.folder)
        done = test_store(self.folder, self.episodes, env=self.env, accept_versions=self.accept_versions)
        words = f", {len(done.there)} had a test score already" if done.there else ""
        tested, episodes = count(len(done.tested), "run"), count(self.episodes, "fresh episode")
        say(f"{self.folder}: {tested} tested on {episodes} each{words}.")
        return 0
