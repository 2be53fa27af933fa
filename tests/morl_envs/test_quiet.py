import logging
import warnings
from pathlib import Path

import pytest

from morl_envs.gymnasium_batch import GymnasiumBatch
from morl_envs.quiet import quietly


def test_mujoco_says_a_thing_once_and_to_the_log(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    mujoco = pytest.importorskip("mujoco")
    monkeypatch.chdir(tmp_path)
    before = mujoco.get_mju_user_warning()
    with caplog.at_level(logging.INFO, logger="morl_envs"):
        GymnasiumBatch("mo-halfcheetah-v5", num_envs=3)
    out, err = capfd.readouterr()
    assert "settotalmass" not in out + err
    assert [record.message.count("settotalmass") for record in caplog.records] == [1]
    assert list(tmp_path.iterdir()) == []
    assert mujoco.get_mju_user_warning() is before


def test_other_warnings_are_heard() -> None:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        with quietly(None):
            warnings.warn("precision lowered by casting to float32", UserWarning, stacklevel=1)
            warnings.warn("look out", UserWarning, stacklevel=1)
    assert [str(each.message) for each in heard] == ["look out"]
