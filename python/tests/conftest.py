"""The files of the repository, and the development data where it is there."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def data() -> Path:
    """The takes and characters that the repository ships."""
    return ROOT / "data"


@pytest.fixture
def shared() -> Path:
    """The folder of development data: `POSEMILL_DATA`, else `../shared/data` beside the repository."""
    folder = Path(os.environ.get("POSEMILL_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"the development data is missing: {folder} (set POSEMILL_DATA)")
    return folder
