from pathlib import Path

import pytest
from fakes.scratch_project import ScratchProject


@pytest.fixture
def project(tmp_path: Path) -> ScratchProject:
    return ScratchProject(tmp_path / "project")
