"""Optional packages: the extra that installs each of them, and the error message when one is missing.

The base install needs only torch and numpy. A function that needs more declares it with :func:`needs`. Classes that
derive from another package's classes have a module of their own, which :func:`lazy` loads on first use.
"""

import functools
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NoReturn, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

EXTRAS = {
    "gymnasium": "rl",
    "mo_gymnasium": "rl",
    "moocore": "metrics",
    "scipy": "metrics",
    "tensordict": "rl",
    "torchjd": "torchjd",
    "torchrl": "rl",
    "transformers": "llm",
    "trl": "llm",
}
"""The extra that installs a package, by the package's import name."""


def missing(name: str, package: str, extra: str | None = None) -> ModuleNotFoundError:
    """Return the error of a public name whose package is not installed.

    Example:
        >>> print(missing("hypervolume", "moocore"))
        `hypervolume` needs moocore: pip install 'morl-blocks[metrics]'.
    """
    sentence = f"`{name}` needs {package}: pip install 'morl-blocks[{extra or EXTRAS[package]}]'."
    return ModuleNotFoundError(sentence, name=package)


def needs(*packages: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Check at the start of each call of a function that these packages are installed.

    Args:
        *packages: Names of :data:`EXTRAS`.

    Returns:
        The decorator; the decorated function lists the packages as ``__needs__``.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            for package in packages:
                require(function.__name__, package)
            return function(*args, **kwargs)

        checked.__needs__ = packages  # type: ignore[attr-defined]
        return checked

    return decorate


def require(name: str, package: str) -> Any:
    """Import a package for a public name and return it, or raise an error that names its extra.

    Example:
        >>> require("example", "torch").__name__
        'torch'
    """
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        raise explained(name, error) from error


def explained(name: str, error: ModuleNotFoundError) -> ModuleNotFoundError:
    """Return the error that names the extra of a missing package of :data:`EXTRAS`, or the given error for others."""
    package = (error.name or "").partition(".")[0]
    return missing(name, package) if package in EXTRAS else error


class StandIn(type):
    """Placeholder for a class whose package is not installed: importing it works, using it raises the error."""

    error: ModuleNotFoundError

    def __call__(cls, *args: object, **kwargs: object) -> NoReturn:
        """Raise the error instead of creating an instance."""
        raise cls.error

    def __getattr__(cls, name: str) -> NoReturn:
        """Raise the error for a class attribute; Python itself looks up names with a leading underscore."""
        if name.startswith("_"):
            raise AttributeError(name)
        raise cls.error


def lazy(package: str, home: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package whose names are loaded on first use.

    Args:
        package: The package's ``__name__``.
        home: The module of each public name, relative to the package.

    Returns:
        A function that returns the object of a name, or a :class:`StandIn` if its package is not installed.
    """

    def find(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            return getattr(import_module(f"{package}.{home[name]}"), name)
        except ModuleNotFoundError as error:
            sentence = explained(name, error)
            if sentence is error:
                raise
            return StandIn(name, (), {"__doc__": str(sentence), "__module__": package, "error": sentence})

    return find
