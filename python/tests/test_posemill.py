"""The package says what the program says, shares memory with it, and writes what it writes."""

import gc
import inspect
import pickle
import re
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import posemill


def address(array):
    return array.__array_interface__["data"][0]


def rotated(q, v):
    """`v` turned by the quaternions x, y, z, w."""
    xyz, w = q[..., :3], q[..., 3:]
    t = 2 * np.cross(xyz, v)
    return v + w * t + np.cross(xyz, t)


def product(a, b):
    av, aw, bv, bw = a[..., :3], a[..., 3:], b[..., :3], b[..., 3:]
    v = aw * bv + bw * av + np.cross(av, bv)
    return np.concatenate([v, aw * bw - np.sum(av * bv, axis=-1, keepdims=True)], axis=-1)


def test_arrays_are_those_of_the_motion_and_nothing_is_copied(data):
    take = posemill.load(data / "walk.bvh")
    frames, joints = len(take), len(take.names)
    assert take.rotations.shape == (frames, joints, 4)
    assert take.positions.shape == take.translations.shape == (frames, joints, 3)
    assert take.rest_rotations.shape == (joints, 4) and take.rest_translations.shape == (joints, 3)
    assert take.rate > 0 and take.times.shape == (frames,)
    for name in ["rotations", "positions", "translations"]:
        first, second = getattr(take, name), getattr(take, name)
        assert address(first) == address(second), name
        assert np.shares_memory(first, second), name
        assert not first.flags.writeable and not first.flags.owndata, name
        with pytest.raises(ValueError):
            first[0, 0, 0] = 1.0
    copy = take.rotations.copy()
    assert address(copy) != address(take.rotations)


def test_an_array_outlives_its_motion(data):
    take = posemill.load(data / "walk.bvh")
    rotations = take.rotations
    kept = rotations.copy()
    del take
    gc.collect()
    # Whatever wants memory now must not get that of the array.
    noise = [np.full(rotations.size, 7.0) for _ in range(8)]
    assert np.array_equal(rotations, kept) and len(noise) == 8


def test_positions_are_the_forward_kinematics_of_the_other_arrays(data):
    take = posemill.load(data / "jump.bvh")
    turns, places = np.empty_like(take.rotations), np.empty_like(take.positions)
    for joint, parent in enumerate(take.parents):
        turn, place = take.rotations[:, joint], take.translations[:, joint]
        if parent >= 0:
            place = places[:, parent] + rotated(turns[:, parent], place)
            turn = product(turns[:, parent], turn)
        turns[:, joint], places[:, joint] = turn, place
    assert np.allclose(places, take.positions, atol=1e-9)
    assert np.allclose(np.linalg.norm(take.rotations, axis=-1), 1.0)
    assert take.parents[0] == -1 and (take.parents[1:] < np.arange(1, len(take.names))).all()
    assert take.roles["hips"] in take.names


def test_a_retargeted_motion_is_that_of_the_command(data, tmp_path):
    take = posemill.load(data / "walk.bvh")
    hero = posemill.retarget(take, data / "robot.glb")
    pipeline = posemill.Pipeline.standard(data / "robot.glb")
    ended = pipeline.run([data / "walk.bvh"], tmp_path / "walk.npz")
    assert [o["status"] for o in ended] == ["written"] and ended[0]["error"] is None
    posemill.save(hero, tmp_path / "own.npz")
    assert (tmp_path / "own.npz").read_bytes() == (tmp_path / "walk.npz").read_bytes()
    with np.load(tmp_path / "walk.npz") as arrays:
        assert np.allclose(arrays["positions"], hero.positions, atol=1e-5)
        assert list(arrays["names"]) == hero.names
        assert list(arrays["contact_parts"]) == list(hero.contacts)
        assert np.array_equal(arrays["contacts"], np.stack(list(hero.contacts.values()), axis=1))
    assert posemill.load(data / "walk.bvh").contacts is None


def test_stages_are_told_by_their_names(data):
    take = posemill.load(data / "walk.bvh")
    plain = posemill.retarget(take, data / "robot.glb")
    scaled = posemill.retarget(take, data / "robot.glb", retarget={"scale": 1.0}, foot_lock=False)
    assert not np.allclose(plain.positions[:, 0], scaled.positions[:, 0], atol=1e-3)
    high = posemill.retarget(take, data / "robot.glb", ground={"height_m": 1.0})
    lift = (high.positions - plain.positions)[:, 0, 1]
    assert np.allclose(lift, lift[0], atol=1e-3) and abs(lift[0] - 1.0) < 0.05
    with pytest.raises(posemill.Error, match="unknown key `mode`, known are"):
        posemill.retarget(take, data / "robot.glb", limits={"mode": "hard"})
    with pytest.raises(posemill.Error, match="this pipeline has no stage `mirror`|there is no stage `mirror`"):
        posemill.retarget(take, data / "robot.glb", mirror=True)
    with pytest.raises(posemill.Error, match="write its keys"):
        posemill.retarget(take, data / "robot.glb", foot_lock=3)


def test_written_files_read_back(data, tmp_path):
    hero = posemill.retarget(posemill.load(data / "wave.bvh"), data / "robot.glb")
    for name in ["wave.glb", "wave.bvh", "wave.fbx"]:
        posemill.save(hero, tmp_path / name)
        read = posemill.load(tmp_path / name)
        shared = [n for n in hero.names if n in read.names]
        assert len(shared) > 10, name
        own, other = (m.positions[:, [m.names.index(n) for n in shared]] for m in (hero, read))
        assert np.abs(own - other).max() < 1e-4, name


def test_motions_change_by_making_new_ones(data):
    take = posemill.load(data / "walk.bvh")
    before = take.rotations.copy()
    same = take.replace(rotations=take.rotations, translations=take.translations)
    assert np.array_equal(same.rotations, before) and np.allclose(same.positions, take.positions)
    half = take.replace(rotations=before[::2], translations=take.translations[::2], rate=take.rate / 2, name="half")
    assert (len(half), half.name, half.rate) == ((len(take) + 1) // 2, "half", take.rate / 2)
    assert np.allclose(half.positions, take.positions[::2])
    # A flipped sign is the same rotation; interpolation must not take the long way round.
    flipped = before.copy()
    flipped[5] *= -1
    assert np.allclose(take.replace(rotations=flipped).rotations, before)
    assert np.array_equal(take.rotations, before)
    for bad, words in [
        (before[:, :-1], r"`rotations` has the shape \(\d+, \d+, 4\), expected \(any, \d+, 4\)"),
        (before[:-1], "give both"),
        (np.zeros_like(before), "`rotations`, frame 0, joint `.*`: a quaternion of length 0.000, not of unit length"),
    ]:
        with pytest.raises(posemill.Error, match=words):
            take.replace(rotations=bad)
    with pytest.raises(posemill.Error, match="sample rate 0 Hz"):
        take.replace(rate=0.0)


def test_measures_have_names_units_and_formulas(data):
    take = posemill.load(data / "walk.bvh")
    hero = posemill.retarget(take, data / "robot.glb")
    alone, beside = posemill.measure(hero), posemill.measure(hero, take)
    assert set(alone) < set(beside) <= set(posemill.measures())
    verdict = posemill.verdict(hero, take)
    assert verdict["word"] in ("good", "as recorded", "over") and verdict["judged"] > 10
    assert beside["foot_skate_p95"] < 0.05 and posemill.measures()["foot_skate_p95"]["unit"] == "m/s"


def test_a_saved_result_has_the_verdict_that_it_had(data, tmp_path):
    take = posemill.load(data / "walk.bvh")
    pipeline = posemill.Pipeline({
        "input": {"character": str(data / "robot.glb")},
        "stage": [{"use": "trim", "end_s": 1.0}, {"use": "retarget"}, {"use": "root_motion", "mode": "in_place"}],
    })
    hero = pipeline.apply(take)
    posemill.save(hero, tmp_path / "hero.glb")
    (tmp_path / "bytes.glb").write_bytes(hero.to_bytes("glb"))
    for name in ["hero.glb", "bytes.glb"]:
        text = (tmp_path / name).read_bytes()
        assert b'"not_judged":{"root_motion":' in text and b'"take_changes":[' in text


def test_faults_are_raised_in_the_words_of_the_program(data, tmp_path):
    (tmp_path / "bad.bvh").write_text("HIERARCHY\nROOT a\n{\n  OFFSET 0 zero 0\n")
    with pytest.raises(posemill.Error, match=r"^`.*bad\.bvh`: line 4") as fault:
        posemill.load(tmp_path / "bad.bvh")
    assert isinstance(fault.value, ValueError)
    with pytest.raises(posemill.Error, match="there is no clip `Dance`"):
        posemill.load(data / "walk.bvh", clip="Dance")
    with pytest.raises(posemill.Error, match="unknown key `unit`"):
        posemill.load(data / "walk.bvh", unit="cm")
    take = posemill.load(data / "walk.bvh")
    with pytest.raises(posemill.Error, match="has no extension of a format that can be written"):
        posemill.save(take, tmp_path / "walk.xyz")
    with pytest.raises(posemill.Error, match=r"^the file `.*robot\.glb/none\.glb` cannot be read"):
        posemill.retarget(take, data / "robot.glb" / "none.glb")


def test_a_pipeline_is_a_file_or_a_dict(data, tmp_path):
    stages = [{"use": "resample", "rate_hz": 30.0}, {"use": "retarget"}]
    sections = {
        "input": {"motion": [str(data / "w*.bvh")], "character": str(data / "robot.glb")},
        "output": {"dir": str(tmp_path / "out"), "formats": ["npz"], "report": False},
        "stage": stages,
    }
    made = posemill.Pipeline(sections)
    (tmp_path / "p.toml").write_text(made.text)
    ended = posemill.Pipeline(tmp_path / "p.toml").run()
    assert [(Path(o["inputs"][0]).name, o["status"]) for o in ended] == [("walk.bvh", "written"), ("wave.bvh", "written")]
    assert {o["status"] for o in made.run()} == {"up_to_date"}
    assert {o["status"] for o in made.run(force=True, dry_run=True)} == {"planned"}
    shares = [made.run(shard=f"{k}/2", dry_run=True) for k in (1, 2)]
    assert sorted(o["inputs"][0] for share in shares for o in share) == sorted(o["inputs"][0] for o in ended)
    assert made.apply(made.load(data / "walk.bvh")).rate == 30.0
    sections["stage"] = [{"use": "retargt"}]
    with pytest.raises(posemill.Error, match="did you mean `retarget`"):
        posemill.Pipeline(sections)


def test_a_take_that_fails_leaves_the_others_alone(data, tmp_path):
    (tmp_path / "takes").mkdir()
    (tmp_path / "takes" / "a.bvh").write_bytes((data / "walk.bvh").read_bytes())
    (tmp_path / "takes" / "b.bvh").write_text("HIERARCHY\n")
    pipeline = posemill.Pipeline.standard(data / "robot.glb")
    a, b = pipeline.run([str(tmp_path / "takes" / "*.bvh")], tmp_path / "out")
    assert (a["status"], b["status"]) == ("written", "failed")
    assert b["error"] and not b["outputs"] and Path(a["outputs"][0]).is_file()


def test_a_pipeline_travels_to_other_processes(data, monkeypatch, tmp_path):
    monkeypatch.chdir(data.parent)
    pipeline = posemill.Pipeline.standard("data/robot.glb", foot_lock=False)
    packed = pickle.dumps(pipeline)
    take = posemill.load("data/walk.bvh")
    monkeypatch.chdir(tmp_path)
    again = pickle.loads(packed)
    assert np.array_equal(again.apply(take).rotations, pipeline.apply(take).rotations)


def test_the_lock_is_released_while_working(data):
    take = posemill.load(data / "walk.bvh")
    pipeline = posemill.Pipeline.standard(data / "robot.glb")
    ticks, ended = [], threading.Event()

    def tick():
        while not ended.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    ticker = threading.Thread(target=tick)
    ticker.start()
    began = time.perf_counter()
    pipeline.apply(take)
    took = time.perf_counter() - began
    ended.set()
    ticker.join()
    during = [t for t in ticks if began < t < began + took]
    # Held, the other thread would tick not once.
    assert took > 0.005 and len(during) >= 2, (took, len(during))


def test_the_stubs_name_what_there_is():
    stubs = (Path(posemill.__file__).parent / "__init__.pyi").read_text()
    for name in set(posemill.__all__) - {"__version__"}:
        assert re.search(rf"^(class|def) {name}\b", stubs, re.M), name
    for kind in [posemill.Motion, posemill.Pipeline]:
        body = re.search(rf"^class {kind.__name__}:\n((?:    .*\n)+)", stubs, re.M).group(1)
        told = set(re.findall(r"def (\w+)", body))
        own = {n for n, _ in inspect.getmembers(kind) if not n.startswith("_")}
        assert own == {n for n in told if not n.startswith("_")}, kind
    assert (Path(posemill.__file__).parent / "py.typed").is_file()


def test_real_files_of_many_formats_load(shared):
    takes = []
    for end in ("bvh", "fbx", "glb", "npz"):
        files = [p for p in sorted(shared.rglob(f"*.{end}")) if "corpus" not in p.parts]
        takes += files[:: max(1, len(files) // 6)]
    loaded = 0
    for path in takes:
        try:
            motions = posemill.load_all(path)
        except posemill.Error as fault:
            assert str(fault).startswith(f"`{path}`: ")
            continue
        for motion in motions[:1]:
            assert np.isfinite(motion.positions).all(), path
            loaded += 1
    assert loaded > 3
