"""Files that are not ours, beside a store: whatever is done to the store, they stay as they are."""

import hashlib
import os
import time
from pathlib import Path

OLD = 10 * 86_400.0
NAMES = (
    "thesis.tex",
    "manifest.json.4711.0a1b2c3d",
    "checkpoint.safetensors",
    "history.csv",
    "run.json",
    "notes/a.txt",
)


def plant(folder: Path) -> Path:
    """Make a folder of old files, some of them with names like ours."""
    for name in NAMES:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"somebody's {name}")
        os.utime(path, (time.time() - OLD,) * 2)
    return folder


def fingerprint(folder: Path) -> str:
    """Return a digest of every file's name, content and age."""
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        content = path.read_bytes() if path.is_file() else b""
        age = int(path.lstat().st_mtime) if path.is_file() else 0
        whole.update(f"{path.relative_to(folder)}\n{age}\n".encode() + content)
    return whole.hexdigest()
