"""Motion capture onto rigged characters.

    import posemill

    take = posemill.load("walk.bvh")
    hero = posemill.retarget(take, "hero.glb")
    print(posemill.measure(hero, take)["foot_skate_p95"])
    posemill.save(hero, "hero-walk.glb")

Metres, seconds, Y up, facing +Z; quaternions x, y, z, w. Arrays look into the memory of a motion: they are read-only, and
`array.copy()` is one's own.
"""

from ._posemill import (
    Error,
    Motion,
    Pipeline,
    __version__,
    from_bytes,
    load,
    load_all,
    measure,
    measures,
    retarget,
    save,
    verdict,
)
from ._table import table


class MissingFile(FileNotFoundError, Error):
    """A file does not exist; `filename` is its path."""


__all__ = [
    "Error",
    "MissingFile",
    "Motion",
    "Pipeline",
    "__version__",
    "from_bytes",
    "load",
    "load_all",
    "measure",
    "measures",
    "retarget",
    "save",
    "table",
    "verdict",
]
