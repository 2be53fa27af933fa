"""Our own trained tables as data: one file per table inside the package, with a line per run.

Read with :func:`published`, print with ``morl-blocks table --results NAME``, make or extend with :func:`publish`.
"""

from morl_recipes.analysis.datasets.dataset import Dataset, find_dataset, names, published, read_dataset
from morl_recipes.analysis.datasets.publish import publish

__all__ = ["Dataset", "find_dataset", "names", "publish", "published", "read_dataset"]
