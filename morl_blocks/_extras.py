"""Packages beyond torch and numpy: which extra brings each, and the sentence for one that is not installed.

The base needs torch and numpy alone. A function that needs more says so with :func:`needs`; classes that derive from
another package's stand in a module of their own, which :func:`lazy` loads when one of them is first used.
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
"""The extra that brings a package, by the name it is imported under."""


def missing(name: str, package: str, extra: str | None = None) -> ModuleNotFoundError:
    """Return the error of a public name whose package is not installed.

    Example:
        >>> print(missing("hypervolume", "moocore"))
        `hypervolume` needs moocore: pip install 'morl-blocks[metrics]'.
    """
    sentence = f"`{name}` needs {package}: pip install 'morl-blocks[{extra or EXTRAS[package]}]'."
    return ModuleNotFoundError(sentence, name=package)


def needs(*packages: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let each call of a function begin with a look whether these packages are there.

    Args:
        *packages: Names of :data:`EXTRAS`.

    Returns:
        The decorator; what it returns lists the packages as ``__needs__``.
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
    """Import a package for a public name and return it, or raise the sentence that names its extra.

    Example:
        >>> require("example", "torch").__name__
        'torch'
    """
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        raise explained(name, error) from error


def explained(name: str, error: ModuleNotFoundError) -> ModuleNotFoundError:
    """Return the sentence for a failed import of a package of :data:`EXTRAS`, and any other error as it is."""
    package = (error.name or "").partition(".")[0]
    return missing(name, package) if package in EXTRAS else error


class StandIn(type):
    """The class of a public name whose package is not installed: to import it is free, to use it says what to do."""

    error: ModuleNotFoundError

    def __call__(cls, *args: object, **kwargs: object) -> NoReturn:
        """Raise the sentence instead of making an instance."""
        raise cls.error

    def __getattr__(cls, name: str) -> NoReturn:
        """Raise the sentence for a class attribute; Python itself asks for names with underscores."""
        if name.startswith("_"):
            raise AttributeError(name)
        raise cls.error


def lazy(package: str, home: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package whose names are loaded when they are first used.

    Args:
        package: The package, its ``__name__``.
        home: The module of each public name, inside the package.

    Returns:
        A function that finds a name; a :class:`StandIn` where its module needs a package that is not installed.
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
