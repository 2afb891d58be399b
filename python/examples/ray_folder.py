"""Carries a folder of takes onto one character with Ray Data: `python ray_folder.py TAKES CHARACTER OUT [WORKERS]`.

On one machine as it is; on a cluster with `ray job submit -- python ray_folder.py ...` or `RAY_ADDRESS` set, where every
machine sees the folders (a network file system). Each worker is a process of one thread that loads the character once.
"""

import os
import sys
from pathlib import Path

import ray


class Retarget:
    """One worker: its pipeline is made once, and takes come in one by one."""

    def __init__(self, character: str, out: str):
        import posemill

        self.out = Path(out)
        self.pipeline = posemill.Pipeline.standard(character)
        self.measure = posemill.measure
        self.save = posemill.save
        self.fault = posemill.Error

    def __call__(self, row: dict) -> dict:
        try:
            take = self.pipeline.load(row["path"])
            made = self.pipeline.apply(take)
            target = (self.out / row["name"]).with_suffix(".npz")
            target.parent.mkdir(parents=True, exist_ok=True)
            self.save(made, target)
        except self.fault as fault:
            return {**row, "frames": 0, "foot_skate_p95": float("nan"), "error": str(fault)}
        skate = self.measure(made, take).get("foot_skate_p95", float("nan"))
        return {**row, "frames": len(made), "foot_skate_p95": skate, "error": ""}


# Files that are takes by their extension; arrays (`.npz`) may be anything.
TAKES = {".bvh", ".fbx", ".glb", ".amc", ".vrma", ".usda", ".usdc", ".usd", ".usdz", ".vmd", ".c3d", ".trc"}


def convert(takes: str, character: str, out: str, workers: int) -> list[dict]:
    """One row for each take: where it is, its frames, how far its feet slide, what went wrong."""
    folder = Path(takes).resolve()
    files = sorted(p for p in folder.rglob("*") if p.suffix.lower() in TAKES)
    rows = [{"path": str(p), "name": str(p.relative_to(folder))} for p in files]
    # Small blocks: takes differ in length, and a worker that is done takes the next.
    found = ray.data.from_items(rows, override_num_blocks=min(len(rows), 8 * workers)).map(
        Retarget,
        fn_constructor_args=(str(Path(character).resolve()), str(Path(out).resolve())),
        concurrency=workers,
        num_cpus=1,
    )
    return sorted(found.take_all(), key=lambda row: row["name"])


def main() -> int:
    takes, character, out, *rest = sys.argv[1:]
    workers = int(rest[0]) if rest else os.cpu_count() or 1
    # One thread for each worker: the takes are what runs side by side.
    ray.init(num_cpus=workers, runtime_env={"env_vars": {"RAYON_NUM_THREADS": "1"}}, log_to_driver=False)
    rows = convert(takes, character, out, workers)
    failed = [row for row in rows if row["error"]]
    for row in failed:
        print(f"{row['name']}: {row['error']}", file=sys.stderr)
    print(f"{len(rows) - len(failed)} takes written, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
