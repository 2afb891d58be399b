"""`python -m posemill ...` is the program `posemill ...` of this package."""

import os
import subprocess
import sys

from ._program import program


def main() -> int:
    command = [program(), *sys.argv[1:]]
    if os.name == "nt":
        return subprocess.run(command, check=False).returncode
    # The program takes the place of this process: signals and the exit code are its own.
    os.execv(command[0], command)


if __name__ == "__main__":
    sys.exit(main())
