# SPDX-License-Identifier: GPL-3.0-or-later
"""The animation of a GLB becomes keys of the armature that the GLB was made from.

glTF says how a joint stands against the joint above; Blender, how a bone stands against its own rest. Both mean the same
axes, those of the bone, so that `basis = rest^-1 * local`, with the rest as the same file has it: neither the direction that
is up nor the place of the armature matters.
"""

import json
import struct

import bpy
import numpy as np
from mathutils import Euler, Matrix, Quaternion, Vector

COMPONENTS = {5120: "i1", 5121: "u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


def read(path):
    """The document of a GLB and its binary part."""
    with open(path, "rb") as file:
        data = file.read()
    length, _ = struct.unpack_from("<II", data, 12)
    document = json.loads(data[20 : 20 + length])
    start = 20 + length
    return document, data[start + 8 :] if start < len(data) else b""


def values(document, binary, index):
    """An accessor as rows of numbers."""
    accessor = document["accessors"][index]
    view = document["bufferViews"][accessor["bufferView"]]
    kind, width = np.dtype(COMPONENTS[accessor["componentType"]]), WIDTHS[accessor["type"]]
    start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
    count = accessor["count"] * width
    found = np.frombuffer(binary, kind, count, start).reshape(-1, width).astype(float)
    return found / np.iinfo(kind).max if accessor.get("normalized") else found


def standing(node):
    """How a node stands against the one above: translation, rotation, scale."""
    if "matrix" in node:
        return Matrix([node["matrix"][k::4] for k in range(4)]).decompose()
    x, y, z, w = node.get("rotation", (0, 0, 0, 1))
    return (
        Vector(node.get("translation", (0, 0, 0))),
        Quaternion((w, x, y, z)),
        Vector(node.get("scale", (1, 1, 1))),
    )


def curves_of(action, armature):
    """The curves of the action for this armature, and its slot where actions have slots (4.4 and later)."""
    if not hasattr(action, "slots"):
        return action.fcurves, None
    slot = action.slots.new(id_type="OBJECT", name=armature.name)
    strip = action.layers.new("Layer").strips.new(type="KEYFRAME")
    return strip.channelbag(slot, ensure=True).fcurves, slot


def rotation_of(turn, mode, before):
    """A rotation as the numbers of a bone's rotation mode, near to those of the frame before."""
    if mode == "QUATERNION":
        if before is not None:
            turn.make_compatible(Quaternion(before))
        return tuple(turn)
    if mode == "AXIS_ANGLE":
        axis, angle = turn.to_axis_angle()
        # The same rotation about the opposite axis, if that is the one of the frame before.
        if before is not None and axis.dot(Vector(before[1:])) < 0.0:
            axis, angle = -axis, -angle
        return (angle, *axis)
    return tuple(turn.to_euler(mode) if before is None else turn.to_euler(mode, Euler(before, mode)))


# The property that holds a bone's rotation in each mode; all others are Euler angles.
ROTATIONS = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}


def action(context, armature, name, path):
    """The last animation of the GLB as an action of the armature, from frame 1 on. The action that it had stays in the file."""
    document, binary = read(path)
    animation = document["animations"][-1]
    scene = context.scene
    rate = scene.render.fps / scene.render.fps_base
    channels = {}
    for channel in animation["channels"]:
        node, what = channel["target"].get("node"), channel["target"]["path"]
        sampler = animation["samplers"][channel["sampler"]]
        if node is not None and what in ("translation", "rotation", "scale"):
            times = values(document, binary, sampler["input"])[:, 0]
            rows = values(document, binary, sampler["output"])
            if sampler.get("interpolation") == "CUBICSPLINE":
                rows = rows[1::3]
            channels.setdefault(node, {})[what] = (times, rows)

    made = bpy.data.actions.new(name)
    curves, slot = curves_of(made, armature)
    for node, moved in channels.items():
        bone = armature.pose.bones.get(document["nodes"][node].get("name", ""))
        if bone is None:
            continue
        rest = standing(document["nodes"][node])
        into_bone = Matrix.LocRotScale(*rest).inverted()
        times = sorted({t for ts, _ in moved.values() for t in ts})
        frames = 1.0 + np.array(times) * rate
        places, turns = [], []
        for time in times:
            place, turn, _ = (at(moved, what, time, rest[k]) for k, what in enumerate(PATHS))
            basis = into_bone @ Matrix.LocRotScale(place, turn, rest[2])
            place, turn, _ = basis.decompose()
            places.append(tuple(place))
            turns.append(rotation_of(turn, bone.rotation_mode, turns[-1] if turns else None))
        if "translation" in moved:
            write(curves, bone.path_from_id("location"), frames, np.array(places))
        write(curves, bone.path_from_id(ROTATIONS.get(bone.rotation_mode, "rotation_euler")), frames, np.array(turns))
    armature.animation_data_create()
    before = armature.animation_data.action
    if before is not None:
        # Without a user an action is not saved.
        before.use_fake_user = True
    armature.animation_data.action = made
    if slot is not None:
        armature.animation_data.action_slot = slot
    return made


PATHS = ("translation", "rotation", "scale")


def at(moved, what, time, rest):
    """A channel at a time; what does not move stays as it rests."""
    if what not in moved:
        return rest
    times, rows = moved[what]
    k = min(int(np.searchsorted(times, time)), len(times) - 1)
    here = rows[k] if times[k] == time or k == 0 else None
    if what != "rotation":
        if here is None:
            share = (time - times[k - 1]) / (times[k] - times[k - 1])
            here = rows[k - 1] + share * (rows[k] - rows[k - 1])
        return Vector(here)

    def turn(row):
        return Quaternion((row[3], row[0], row[1], row[2]))

    if here is not None:
        return turn(here)
    return turn(rows[k - 1]).slerp(turn(rows[k]), (time - times[k - 1]) / (times[k] - times[k - 1]))


def write(curves, path, frames, rows):
    """One curve for each column."""
    for column in range(rows.shape[1]):
        curve = curves.new(path, index=column)
        curve.keyframe_points.add(len(frames))
        curve.keyframe_points.foreach_set("co", np.column_stack([frames, rows[:, column]]).ravel())
        # 1 is LINEAR: between two keys of a capture there is nothing to be guessed.
        curve.keyframe_points.foreach_set("interpolation", np.ones(len(frames), dtype=np.int32))
        curve.update()
