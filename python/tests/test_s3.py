"""The guide's examples with object stores, on a server that speaks S3 on this machine."""

import re
import tarfile

import pytest

import posemill

fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed: pip install s3fs")
pytest.importorskip("s3fs", reason="s3fs is not installed: pip install s3fs")
moto = pytest.importorskip("moto.server", reason="moto is not installed: pip install 'moto[server]'", exc_type=ImportError)


@pytest.fixture
def store(data, tmp_path, monkeypatch):
    """A bucket `studio` with a take, a character, and two shards of takes."""
    for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]:
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://{}:{}".format(*server.get_host_and_port()))
    found = fsspec.filesystem("s3", skip_instance_cache=True)
    found.mkdir("studio")
    found.put(str(data / "walk.bvh"), "studio/takes/walk.bvh")
    found.put(str(data / "robot.glb"), "studio/robot.glb")
    for name, takes in {"000": ["walk", "jump"], "001": ["wave"]}.items():
        with tarfile.open(tmp_path / f"{name}.tar", "w") as shard:
            for take in takes:
                shard.add(data / f"{take}.bvh", f"a/{take}.bvh")
        found.put(str(tmp_path / f"{name}.tar"), f"studio/shards/{name}.tar")
    yield found
    fsspec.filesystem("s3").clear_instance_cache()
    server.stop()


def test_the_guide_makes_in_a_store_what_is_made_here(store, data, tmp_path):
    guide = (data.parent / "docs" / "python.md").read_text()
    section = guide.split("## Object stores\n")[1].split("\n## ")[0]
    one, library = re.findall(r"^```py\n(.*?)^```", section, re.M | re.S)
    names = {"posemill": posemill}
    exec(compile(one, "docs/python.md", "exec"), names)
    here = posemill.retarget(posemill.load(data / "walk.bvh"), data / "robot.glb")
    assert store.cat("studio/results/walk.glb") == here.to_bytes("glb")
    # The library, twice: the second run finds the manifest and makes nothing.
    exec(compile(library, "docs/python.md", "exec"), names)
    assert [take["status"] for take in names["ended"]] == ["written"]
    made = {path.removeprefix("studio/out/"): store.cat(path) for path in store.find("studio/out") if path.endswith(".glb")}
    assert sorted(made) == ["000/a/jump.glb", "000/a/walk.glb", "001/a/wave.glb"]
    pipeline = posemill.Pipeline.standard(data / "robot.glb")
    for shard in ["000", "001"]:
        pipeline.run([tmp_path / f"{shard}.tar" / "**" / "*.bvh"], tmp_path / "out" / shard)
    assert all((tmp_path / "out" / path).read_bytes() == content for path, content in made.items())
    exec(compile(library, "docs/python.md", "exec"), names)
    assert [take["status"] for take in names["ended"]] == ["up_to_date"]
