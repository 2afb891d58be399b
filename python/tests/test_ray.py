"""Folders on a cluster of Ray: one row for each take, also where a machine is lost in the middle."""

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
    table = posemill.ray.map_folder(takes, data / "robot.glb", out, shares=12, retries=5, progress=False)
    killer.join()
    assert 0 < lost[0] < TAKES, "the machine was lost before or after the work"
    rows = table.take_all()
    assert [os.path.basename(r["path"]) for r in rows] == [*(f"{k:02}.bvh" for k in range(TAKES)), "bad.bvh"]
    failed = rows.pop()
    assert failed["status"] == "failed" and failed["error"].startswith("line 2")
    assert {r["status"] for r in rows} <= {"written", "up_to_date"} and not any(r["error"] for r in rows)
    # The same bytes as of one machine, and nothing else.
    posemill.Pipeline.standard(data / "robot.glb").run([takes / "**" / "*.bvh"], tmp_path / "one")
    here, there = (sorted(p.relative_to(f) for p in f.rglob("*.glb")) for f in (tmp_path / "one", out))
    assert here == there and len(here) == TAKES
    assert all((out / p).read_bytes() == (tmp_path / "one" / p).read_bytes() for p in here)
    # Once more: everything is there.
    again = posemill.ray.map_folder(takes, data / "robot.glb", out, shares=3, progress=False).take_all()
    assert [r["status"] for r in again if not r["error"]] == ["up_to_date"] * TAKES
    with pytest.raises(ValueError, match="holds no takes"):
        posemill.ray.map_folder(data / "pictures", data / "robot.glb", tmp_path / "none")
