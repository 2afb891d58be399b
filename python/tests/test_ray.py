"""Folders on a cluster of Ray: one row for each take, also where a machine is lost in the middle."""

import math
import os
import threading
import time

import pytest

import posemill

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'ray[data]'", exc_type=ImportError)
pytest.importorskip("ray.data", reason="Ray Data is not installed: pip install 'ray[data]'", exc_type=ImportError)

from ray.cluster_utils import Cluster  # noqa: E402

import posemill.ray  # noqa: E402

# Takes: enough that the work is not done before a machine is lost.
TAKES = 48


@pytest.fixture
def cluster():
    """Three machines of one processor."""
    found = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    nodes = [found.add_node(num_cpus=1) for _ in range(2)]
    ray.init(address=found.address, log_to_driver=False)
    yield found, nodes
    ray.shutdown()
    found.shutdown()


def test_nothing_is_lost_or_made_twice_where_a_machine_is_killed(cluster, data, tmp_path):
    machines, nodes = cluster
    takes, out = tmp_path / "takes", tmp_path / "out"
    (takes / "a").mkdir(parents=True)
    for k in range(TAKES):
        (takes / "a" / f"{k:02}.bvh").write_bytes((data / ["walk.bvh", "wave.bvh"][k % 2]).read_bytes())
    (takes / "bad.bvh").write_text("HIERARCHY\n")
    lost = []

    def kill():
        while not list(out.rglob("*.glb")):
            time.sleep(0.05)
        lost.append(len(list(out.rglob("*.glb"))))
        machines.remove_node(nodes[1], allow_graceful=False)

    killer = threading.Thread(target=kill)
    killer.start()
    # `fail_on` measures each take.
    asked = {
        "input": {"character": str(data / "robot.glb")},
        "output": {"report": False, "fail_on": ["foot_skate_p95 > 100 m/s"]},
        "stage": [{"use": "retarget"}],
    }
    pipeline = posemill.Pipeline(asked)
    rows = posemill.ray.map_folder(takes, pipeline, out, shares=12, retries=5, progress=False).take_all()
    killer.join()
    assert 0 < lost[0] < TAKES, "the machine was lost before or after the work"
    assert [os.path.basename(r["path"]) for r in rows] == [*(f"{k:02}.bvh" for k in range(TAKES)), "bad.bvh"]
    failed = rows.pop()
    assert failed["status"] == "failed" and failed["error"].startswith("line 2") and math.isnan(failed["foot_skate_p95"])
    assert {r["status"] for r in rows} <= {"written", "up_to_date"} and not any(r["error"] for r in rows)
    # The same bytes as of one machine, and nothing else; measures also of what a lost task had made.
    pipeline.run([takes / "**" / "*.bvh"], tmp_path / "one")
    here, there = (sorted(p.relative_to(f) for p in f.rglob("*.glb")) for f in (tmp_path / "one", out))
    assert here == there and len(here) == TAKES
    assert all((out / p).read_bytes() == (tmp_path / "one" / p).read_bytes() for p in here)
    table = posemill.table(tmp_path / "one").to_pylist()
    assert [r["output_blake3"] for r in rows] == [r["output_blake3"] for r in table]
    assert [r["foot_skate_p95"] for r in rows] == [r["measures"]["foot_skate_p95"]["value"] for r in table]
    # Once more: everything is there, with its measures.
    again = posemill.ray.map_folder(takes, pipeline, out, shares=3, progress=False).take_all()[:TAKES]
    assert [r["status"] for r in again] == ["up_to_date"] * TAKES
    assert [r["foot_skate_p95"] for r in again] == [r["foot_skate_p95"] for r in rows]
    with pytest.raises(ValueError, match="holds no takes"):
        posemill.ray.map_folder(data / "pictures", pipeline, tmp_path / "none")
