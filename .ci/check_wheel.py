"""Check that the wheel in a folder ships exactly the three import packages, typed."""

import sys
import zipfile
from pathlib import Path

EXPECTED = {"morl_blocks", "morl_envs", "morl_recipes"}


def main(folder: str) -> None:
    """Exit with a message unless the one wheel in ``folder`` holds what it should."""
    (wheel,) = Path(folder).glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    found = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    untyped = sorted(package for package in EXPECTED if f"{package}/py.typed" not in names)
    if found != EXPECTED or untyped:
        sys.exit(f"{wheel.name}: top-level names {sorted(found)}, expected {sorted(EXPECTED)}; untyped: {untyped}")
    print(f"{wheel.name}: {' '.join(sorted(found))}, typed")


if __name__ == "__main__":
    main(sys.argv[1])
