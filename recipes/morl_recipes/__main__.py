"""``python -m morl_recipes`` is ``morl-blocks``."""

import sys

from morl_recipes.cli import main

if __name__ == "__main__":
    sys.exit(main())
