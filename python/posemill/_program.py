"""Finds the program that came with this package."""

import os
import shutil
import sys
import sysconfig


def program() -> str:
    """The path of the program of this package, else of the one in `PATH`.

    Raises `FileNotFoundError` where there is none: `pip install ./python` builds the package without the program.
    """
    name = "posemill" + (sysconfig.get_config_var("EXE") or "")
    user = sysconfig.get_preferred_scheme("user")
    folders = [
        sysconfig.get_path("scripts"),
        sysconfig.get_path("scripts", scheme=user),
        # `pip install --target FOLDER` has a folder of its own.
        os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin"),
        os.path.dirname(sys.executable),
    ]
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    found = shutil.which(name)
    if found is None:
        raise FileNotFoundError(2, "the program is not part of this package, and not in PATH", name)
    return found
