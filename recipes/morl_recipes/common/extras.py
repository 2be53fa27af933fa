"""The error message for a package of the extra ``train`` that is not installed."""

TRAIN = {
    "filelock",
    "gymnasium",
    "matplotlib",
    "mo_gymnasium",
    "moocore",
    "pandas",
    "PIL",
    "safetensors",
    "scipy",
    "tensordict",
    "tomli",
    "torchrl",
    "tqdm",
    "tyro",
}
"""Packages of the extra, by their import names."""


def without_train(what: str, error: ModuleNotFoundError) -> ModuleNotFoundError:
    """Return an error that names the extra ``train`` if one of its packages is missing, and any other error unchanged.

    Example:
        >>> print(without_train("`train`", ModuleNotFoundError("No module named 'tyro'", name="tyro")))
        `train` needs tyro: pip install 'morl-blocks[train]'.
    """
    package = (error.name or "").partition(".")[0]
    if package not in TRAIN:
        return error
    return ModuleNotFoundError(f"{what} needs {package}: pip install 'morl-blocks[train]'.", name=package)
