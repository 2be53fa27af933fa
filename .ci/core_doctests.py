"""Run the docstring examples of the base, with nothing but torch, numpy and the standard library.

Run ``.ci/core_doctests.py`` with the Python to try. The example of a name whose extra is not installed must end in the
sentence that names the extra. Every other example must print what it says.
"""

import doctest
import importlib
import pkgutil
import sys

import torch

import morl_blocks
from morl_blocks._extras import EXTRAS

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def asks(test: doctest.DocTest, said: str) -> bool:
    """Tell whether examples failed for a package of an extra alone; a public name must have said which extra."""
    if "ModuleNotFoundError" not in said:
        return False
    named = "pip install 'morl-blocks[" in said or any(f"No module named '{name}" in said for name in EXTRAS)
    public = hasattr(importlib.import_module("morl_blocks.metrics"), test.name.split(".")[-1])
    return "pip install 'morl-blocks[" in said if public else named


def main() -> None:
    """Exit with the failures, or print how many examples ran."""
    ran, asked, failed = 0, [], []
    for found in pkgutil.walk_packages(morl_blocks.__path__, "morl_blocks."):
        try:
            module = importlib.import_module(found.name)
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] not in EXTRAS:
                raise
            asked.append(found.name)
            continue
        for test in doctest.DocTestFinder(exclude_empty=True).find(module):
            if not test.examples:
                continue
            said: list[str] = []
            result = doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(test, out=said.append)
            if result.failed and asks(test, "".join(said)):
                asked.append(test.name)
            elif result.failed:
                failed.append("".join(said))
            else:
                ran += 1
    if failed:
        sys.exit("\n".join(failed))
    print(f"torch {torch.__version__}: {ran} docstrings' examples pass; {len(asked)} ask for an extra:")
    print("  " + ", ".join(asked))


if __name__ == "__main__":
    main()
