"""The built package is what users get: complete, typed, and installable without anything of this checkout."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DESCRIBED_BY = ("pyproject.toml", "README.md", "LICENSE")
SHIPPED = ("*.py", "*.sql", "py.typed")
BUILT_WITHIN_S = 100


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, capture_output=True, text=True, timeout=BUILT_WITHIN_S
    )
    assert 0 == done.returncode, done.stdout + done.stderr
    return done.stdout


def sources(package: Path) -> set[str]:
    return {path.relative_to(package.parent).as_posix() for pattern in SHIPPED for path in package.rglob(pattern)}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build from a copy, so that nothing is left here, and nothing of an earlier build gets in."""
    copy = tmp_path_factory.mktemp("source")
    for name in DESCRIBED_BY:
        shutil.copy(ROOT / name, copy)
    shutil.copytree(ROOT / "chronoshard", copy / "chronoshard", ignore=shutil.ignore_patterns("__pycache__"))
    pip = (sys.executable, "-m", "pip")
    run(*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", "wheels", ".", cwd=copy)
    (built,) = (copy / "wheels").glob("*.whl")
    return built


def test_a_wheel_holds_every_module_and_statement_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}

    assert sources(ROOT / "chronoshard") == held


def test_a_wheel_installs_into_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    environment = tmp_path / "environment"
    run(sys.executable, "-m", "venv", "--without-pip", environment, cwd=tmp_path)
    python = environment / "bin" / "python"

    run(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", wheel, cwd=tmp_path)

    code = "import chronoshard, pathlib; print(pathlib.Path(chronoshard.__file__).parent)"
    installed = Path(run(python, "-I", "-c", code, cwd=tmp_path).strip())
    assert sources(ROOT / "chronoshard") == sources(installed)
    assert any(installed.rglob("*.sql"))
    assert (environment / "bin" / "chronoshard").is_file()
