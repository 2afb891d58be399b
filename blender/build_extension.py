# SPDX-License-Identifier: GPL-3.0-or-later
"""Validates and builds the extension with Blender's own command: `python blender/build_extension.py OUT [WHEEL...]`.

With wheels (`python/wheel.sh`) the extension brings the library, and needs no installed program; for wheels of several systems an
extension is built for each. It needs a Python that can `import bpy` (pip install bpy).
"""

import importlib.util
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ADDON = Path(__file__).resolve().parent / "posemill_addon"

# Parts of a wheel's name, and Blender's name of the system.
SYSTEMS = {
    ("linux", "x86_64"): "linux-x64",
    ("linux", "aarch64"): "linux-arm64",
    ("macosx", "x86_64"): "macos-x64",
    ("macosx", "arm64"): "macos-arm64",
    ("win", "amd64"): "windows-x64",
}


def command() -> Path:
    """The program behind `blender --command extension`."""
    found = importlib.util.find_spec("bpy")
    if found is None or found.origin is None:
        sys.exit("`bpy` cannot be imported here: pip install bpy")
    (path,) = Path(found.origin).parent.glob("*/scripts/addons_core/bl_pkg/cli/blender_ext.py")
    return path


def system(wheel: Path) -> str:
    """Blender's name of the system that a wheel is for."""
    tag = wheel.stem.split("-")[-1]
    for (name, processor), found in SYSTEMS.items():
        if name in tag and processor in tag:
            return found
    sys.exit(f"`{wheel.name}` is of no system that Blender runs on")


def build(out: Path, wheels: list[Path]) -> None:
    """Builds the extension into the folder `out`."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "posemill"
        shutil.copytree(ADDON, source, ignore=shutil.ignore_patterns("__pycache__"))
        manifest = source / "blender_manifest.toml"
        if wheels:
            (source / "wheels").mkdir()
            for wheel in wheels:
                shutil.copy(wheel, source / "wheels")
            names = ", ".join(f'"./wheels/{wheel.name}"' for wheel in wheels)
            platforms = ", ".join(f'"{name}"' for name in sorted({system(wheel) for wheel in wheels}))
            text = manifest.read_text()
            lines = f"wheels = [{names}]\nplatforms = [{platforms}]\n\n[permissions]"
            assert text.count("[permissions]") == 1, "the manifest has one table of permissions"
            manifest.write_text(text.replace("[permissions]", lines))
        out.mkdir(parents=True, exist_ok=True)
        tool = [sys.executable, command()]
        subprocess.run([*tool, "validate", source], check=True)
        split = ["--split-platforms"] if len(wheels) > 1 else []
        subprocess.run([*tool, "build", "--source-dir", source, "--output-dir", out, *split], check=True)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    build(Path(sys.argv[1]), [Path(wheel) for wheel in sys.argv[2:]])
