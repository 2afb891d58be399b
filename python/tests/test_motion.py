"""Motions are made of arrays, cut, packed and sent to other processes without a change in what they hold."""

import copy
import errno
import json
import multiprocessing
import pickle
import struct

import numpy as np
import pytest

import posemill


def arrays(take, **other):
    """Everything that a motion is made of."""
    found = {
        "names": take.names,
        "parents": take.parents,
        "rest_translations": take.rest_translations,
        "rest_rotations": take.rest_rotations,
        "rotations": take.rotations,
        "translations": take.translations,
        "rate": take.rate,
        "name": take.name,
    }
    return {**found, **other}


def same(a, b, atol=0.0):
    """The same skeleton and the same frames."""
    assert a.names == b.names and np.array_equal(a.parents, b.parents) and a.rate == b.rate and a.name == b.name
    for name in ["rotations", "translations", "rest_rotations", "rest_translations", "positions"]:
        assert np.allclose(getattr(a, name), getattr(b, name), rtol=0.0, atol=atol), name


def leg(scale=1.0):
    """A trunk with two legs of 0.8 m that swings to the front within a second, as arrays in units of 1 / `scale` metres."""
    names = ["Hips", "Spine", "Head", "LeftUpLeg", "LeftLeg", "LeftFoot", "RightUpLeg", "RightLeg", "RightFoot"]
    offsets = [[0, 0.9, 0], [0, 0.3, 0], [0, 0.3, 0], [0.1, 0, 0], [0, -0.4, 0], [0, -0.4, 0], [-0.1, 0, 0], [0, -0.4, 0], [0, -0.4, 0]]
    rotations = np.zeros((31, 9, 4))
    angles = np.linspace(0.0, 0.5, 31)
    rotations[..., 3] = 1.0
    rotations[:, 3, 0], rotations[:, 3, 3] = -np.sin(angles / 2), np.cos(angles / 2)
    root = np.stack([0 * angles, 0.9 + 0 * angles, angles], axis=-1)
    return {
        "names": names,
        "parents": [-1, 0, 1, 0, 3, 4, 0, 6, 7],
        "rest_translations": np.array(offsets) * scale,
        "rotations": rotations,
        "translations": root * scale,
        "rate": 30.0,
    }


@pytest.mark.parametrize("name", ["walk.bvh", "jump.bvh", "robot.glb"])
def test_a_motion_of_its_own_arrays_is_itself(data, name):
    take = posemill.load(data / "walk.bvh")
    if name.endswith("glb"):
        take = posemill.retarget(take, data / name)
    again = posemill.Motion(**arrays(take))
    # Rotations become of unit length again, which may change the last digit.
    same(again, take, atol=1e-12)
    assert {k: v for k, v in again.roles.items() if k in take.roles} == take.roles


def test_a_motion_of_bare_arrays_is_retargeted(data):
    take = posemill.load(data / "walk.bvh")
    bare = posemill.Motion(
        names=take.names,
        parents=list(take.parents),
        rest_translations=take.rest_translations.tolist(),
        rotations=take.rotations.astype("f4"),
        translations=take.translations[:, 0],
        rate=take.rate,
        name="walk",
    )
    one, other = (posemill.retarget(m, data / "robot.glb") for m in (take, bare))
    assert np.abs(one.positions - other.positions).max() < 1e-3


def test_units_axes_and_orders_of_numbers(data):
    plain = posemill.Motion(**leg())
    assert plain.roles["left_foot"] == "LeftFoot" and plain.name == "motion" and len(plain) == 31
    assert np.allclose(plain.positions[-1, 0], [0.0, 0.9, 0.5])
    same(posemill.Motion(**leg(100.0), units="cm"), plain, atol=1e-12)
    same(posemill.Motion(**leg(2.0), units=0.5), plain, atol=1e-12)
    # The same numbers as w, x, y, z, and as matrices.
    first = np.roll(leg()["rotations"], 1, axis=-1)
    same(posemill.Motion(**{**leg(), "rotations": first, "order": "wxyz"}), plain, atol=1e-12)
    x, w = leg()["rotations"][..., 0], leg()["rotations"][..., 3]
    matrices = np.zeros((31, 9, 3, 3))
    matrices[..., 0, 0] = 1.0
    matrices[..., 1, 1] = matrices[..., 2, 2] = w * w - x * x
    matrices[..., 1, 2], matrices[..., 2, 1] = -2 * x * w, 2 * x * w
    same(posemill.Motion(**{**leg(), "rotations": matrices}), plain, atol=1e-12)
    # Z up, facing -Y: the root's numbers are those of the other axes.
    tilt = np.array([np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)])
    z_up = leg()
    x, y, z = np.moveaxis(z_up["translations"], -1, 0)
    z_up["translations"] = np.stack([x, -z, y], axis=-1)
    z_up["rotations"][:, 0] = tilt
    z_up["rest_rotations"] = np.tile([0.0, 0.0, 0.0, 1.0], (9, 1))
    z_up["rest_rotations"][0] = tilt
    z_up["rest_translations"][0] = [0.0, 0.0, 0.9]
    same(posemill.Motion(**z_up, up="z"), plain, atol=1e-9)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"parents": [-1, 0]}, "`parents` has 2 entries, `names` has 9"),
        ({"parents": [-1, 2, 1, 0, 3, 4, 0, 6, 7]}, "joint 1 precedes its parent"),
        ({"parents": [-1, 0, 1, -1, 3, 4, 0, 6, 7]}, "joint `LeftUpLeg` is a second root"),
        ({"names": ["Hips"] * 9}, "joint 1 has the name `Hips`, which is empty or already used"),
        ({"rest_translations": np.zeros((9, 2))}, r"`rest_translations` has the shape \(9, 2\), expected \(9, 3\)"),
        ({"rotations": np.zeros((31, 8, 4))}, r"`rotations` has the shape \(31, 8, 4\), expected \(any, 9, 4\)"),
        ({"rotations": np.zeros((0, 9, 4))}, "`rotations` has no frames"),
        ({"rotations": np.full((31, 9, 4), np.nan)}, "`rotations`, frame 0, joint `.*`: a value that is not finite"),
        ({"translations": np.zeros((30, 3))}, r"`translations` has the shape \(30, 3\), expected \(31, 3\)"),
        ({"translations": np.full((31, 3), np.nan)}, "the array `root_positions`, row 0: a value is not finite"),
        ({"rate": 0.0}, "`rate` is 0 frames per second"),
        ({"order": "zyxw"}, "`order` is `zyxw`"),
        ({"rotations": np.roll(leg()["rotations"], 1, axis=-1)}, "look like quaternions w, x, y, z"),
        ({"rest_translations": leg(100.0)["rest_translations"]}, r"the legs are 80\.000 long, in metres\nwrite the unit"),
        ({"rotations": 2.0 * leg()["rotations"]}, "`rotations`, frame 0, joint `.*`: a quaternion of length 2.000"),
        ({"rotations": 0.0 * leg()["rotations"]}, "`rotations`, frame 0, joint `.*`: a quaternion of length 0.000"),
        (
            {"rotations": np.tile(np.diag([1.0, 1.0, -1.0]), (*leg()["rotations"].shape[:2], 1, 1))},
            "`rotations`, frame 0, joint `.*`: a matrix that mirrors",
        ),
        (
            {"rest_rotations": np.zeros((len(leg()["names"]), 4))},
            "`rest_rotations`, joint `.*`: a quaternion of length 0.000",
        ),
        ({"units": "ell"}, "units"),
        ({"unit": "cm"}, "unknown key `unit`"),
    ],
)
def test_wrong_arrays_are_refused_with_what_is_wrong(other, words):
    with pytest.raises(posemill.Error, match=words):
        posemill.Motion(**{**leg(), **other})


def test_a_slice_is_those_frames(data):
    hero = posemill.retarget(posemill.load(data / "walk.bvh"), data / "robot.glb")
    part = hero[10:50]
    assert len(part) == 40 and part.rate == hero.rate
    for name in ["rotations", "translations", "positions"]:
        assert np.array_equal(getattr(part, name), getattr(hero, name)[10:50]), name
    for name, rests in hero.contacts.items():
        assert np.array_equal(part.contacts[name], rests[10:50]), name
    assert any(rests.any() for rests in part.contacts.values())
    third = hero[1:50:3]
    assert np.array_equal(third.rotations, hero.rotations[1:50:3]) and third.rate == hero.rate / 3
    for name, rests in hero[1:50].contacts.items():
        # A label that is shorter than the step may be lost; what is left is where it was.
        assert np.array_equal(third.contacts[name], rests[::3]), name
    assert np.array_equal(hero[-5:].rotations, hero.rotations[-5:])
    same(hero[:], hero)
    with pytest.raises(TypeError, match=r"write a slice of frames, `motion\[10:50\]`"):
        hero[3]
    with pytest.raises(TypeError, match="frames are whole numbers"):
        hero[0.5:1.0]
    with pytest.raises(posemill.Error, match=f"the slice has no frames, the motion has {len(hero)}"):
        hero[50:10]
    with pytest.raises(posemill.Error, match="not played backwards"):
        hero[::-1]


def test_seconds_are_the_frames_at_those_times(data):
    take = posemill.load(data / "walk.bvh")
    for start, end in [(0.5, 1.0), (None, 0.5), (0.25, None), (None, None), (1 / 3, 2 / 3)]:
        low, high = (-np.inf if start is None else start), (np.inf if end is None else end)
        inside = (take.times >= low - 1e-9) & (take.times < high - 1e-9)
        assert np.array_equal(take.seconds(start, end).rotations, take.rotations[inside]), (start, end)
    cuts = [take.seconds(None, 0.5), take.seconds(0.5, 1.0), take.seconds(1.0, None)]
    assert np.array_equal(np.concatenate([c.rotations for c in cuts]), take.rotations)
    with pytest.raises(posemill.Error, match="no frame is from 900 to 901 s: the motion lasts from 0 to"):
        take.seconds(900, 901)


def test_a_motion_is_pickled_whole(data, tmp_path):
    take = posemill.load(data / "walk.bvh")
    hero = posemill.retarget(take, data / "robot.glb")
    for motion in [take, hero, hero[10:20]]:
        again = pickle.loads(pickle.dumps(motion))
        same(again, motion)
        assert (again.roles, again.warnings, again.metrics) == (motion.roles, motion.warnings, motion.metrics)
        assert (again.contacts is None) == (motion.contacts is None)
        assert posemill.measure(again) == posemill.measure(motion)
        # The character's file goes with it.
        for name in ["a.glb", "a.bvh"]:
            posemill.save(motion, tmp_path / name)
            posemill.save(again, tmp_path / f"again-{name}")
            assert (tmp_path / name).read_bytes() == (tmp_path / f"again-{name}").read_bytes(), name
    same(copy.deepcopy(hero), hero)


def test_damaged_and_foreign_pickles_are_refused(data):
    restore, (packed,) = posemill.load(data / "walk.bvh").__reduce__()
    assert packed[0] == len(posemill.__version__) and packed[1:6] == posemill.__version__.encode()
    with pytest.raises(posemill.Error, match=r"was pickled by posemill 9\.9\.9, this is"):
        restore(b"\x059.9.9" + packed[6:])
    for length in range(0, len(packed), 997):
        with pytest.raises(posemill.Error, match="pickled motion is damaged"):
            restore(packed[:length])
    refused = 0
    for place in range(6, len(packed), len(packed) // 200):
        damaged = bytearray(packed)
        damaged[place] ^= 0x85
        try:
            restore(bytes(damaged)).positions
        except posemill.Error:
            refused += 1
    assert refused > 0


def frames_of(motion):
    """What a worker says of a motion, and the motion back."""
    return len(motion), motion[: len(motion) // 2]


def test_motions_go_to_other_processes_and_back(data):
    takes = [posemill.load(data / name) for name in ["walk.bvh", "wave.bvh"]]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        for take, (frames, half) in zip(takes, pool.map(frames_of, takes), strict=True):
            assert frames == len(take)
            same(half, take[: frames // 2])


def test_files_as_bytes(data, tmp_path):
    take = posemill.from_bytes((data / "walk.bvh").read_bytes(), "bvh", name="walk")
    same(take, posemill.load(data / "walk.bvh"))
    hero = posemill.retarget(take, data / "robot.glb")
    for name in ["motion.glb", "motion.npz", "motion.bvh", "motion.fbx"]:
        posemill.save(hero, tmp_path / name)
        assert hero.to_bytes(name.split(".")[1]) == (tmp_path / name).read_bytes(), name
    assert hero.to_bytes("npz", npz={"up": "z"}) != hero.to_bytes("npz")
    assert len(posemill.from_bytes(hero.to_bytes("glb"), ".glb", clip="walk")) == len(hero)
    with pytest.raises(posemill.Error, match="the format `xyz` cannot be written\nwrite one of `glb`"):
        hero.to_bytes("xyz")
    # A character whose buffer is a file of its own.
    glb = (data / "robot.glb").read_bytes()
    length = struct.unpack_from("<I", glb, 12)[0]
    document = json.loads(glb[20 : 20 + length])
    document["buffers"][0]["uri"] = "robot.bin"
    (tmp_path / "robot.gltf").write_text(json.dumps(document))
    (tmp_path / "robot.bin").write_bytes(glb[28 + length :])
    with pytest.raises(posemill.Error, match=r"is \d files\nwrite `glb`"):
        posemill.retarget(take, tmp_path / "robot.gltf").to_bytes("gltf")
    with pytest.raises(posemill.Error, match=r"^`motion\.bvh`: line 1"):
        posemill.from_bytes(b"HIERARCHY", "bvh")


def test_a_missing_file_is_told_as_python_does(data, tmp_path):
    path, take = tmp_path / "none.bvh", posemill.load(data / "walk.bvh")
    pipeline = posemill.Pipeline.standard(data / "robot.glb")
    for ask in [
        lambda: posemill.load(path),
        lambda: posemill.load_all(path),
        lambda: pipeline.load(path),
        lambda: posemill.retarget(take, path),
        lambda: posemill.Pipeline.standard(path),
        lambda: posemill.Pipeline(path),
    ]:
        with pytest.raises(FileNotFoundError) as fault:
            ask()
        assert fault.value.errno == errno.ENOENT and fault.value.filename == str(path)
        assert isinstance(fault.value, posemill.Error) and str(path) in str(fault.value)
        assert str(pickle.loads(pickle.dumps(fault.value))) == str(fault.value)
