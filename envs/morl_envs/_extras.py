"""The error message for an optional package of the environments that is not installed."""

EXTRAS = {
    "gymnasium": "rl",
    "matplotlib": "train",
    "mo_gymnasium": "rl",
    "PIL": "train",
    "tensordict": "rl",
    "torchrl": "rl",
}
"""The extra that installs a package, by the package's import name."""


def without_rl(name: str, error: ModuleNotFoundError) -> ModuleNotFoundError:
    """Return an error that names the extra of a missing package, and any other error unchanged.

    Example:
        >>> print(without_rl("make_batch", ModuleNotFoundError("No module named 'torchrl'", name="torchrl")))
        `make_batch` needs torchrl: pip install 'morl-blocks[rl]'.
    """
    package = (error.name or "").partition(".")[0]
    if package not in EXTRAS:
        return error
    return ModuleNotFoundError(f"`{name}` needs {package}: pip install 'morl-blocks[{EXTRAS[package]}]'.", name=package)
