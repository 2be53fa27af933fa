from pathlib import Path
from typing import Any

import pytest

from morl_recipes.common import toml

jinja2: Any = pytest.importorskip("jinja2", reason="Jinja is not installed")
yaml: Any = pytest.importorskip("yaml", reason="PyYAML is not installed")
ROOT = Path(__file__).parents[1]


def test_recipe_states_what_pyproject_states() -> None:
    recipe = yaml.safe_load(jinja2.Template((ROOT / "conda/meta.yaml").read_text()).render(PYTHON="python"))
    project = toml.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert recipe["package"] == {"name": project["name"], "version": project["version"]}
    wanted = [f"python {project['requires-python']}", *project["dependencies"]]
    needed = [line.replace("pytorch", "torch").replace(" ", "") for line in recipe["requirements"]["run"]]
    assert sorted(needed) == sorted(line.replace(" ", "") for line in wanted)
    assert recipe["build"]["entry_points"] == [f"{name} = {where}" for name, where in project["scripts"].items()]
    assert (ROOT / "conda" / recipe["source"]["path"] / recipe["about"]["license_file"]).is_file()
