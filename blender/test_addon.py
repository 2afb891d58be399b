# SPDX-License-Identifier: GPL-3.0-or-later
"""The add-on in Blender without a window: `python blender/test_addon.py [FOLDER]`, where `bpy` can be imported.

The extension is validated, built and installed by Blender's own commands, with the wheel POSEMILL_WHEEL if there is one. The
character is loaded as a user would, turned and moved; the take is carried onto it; and every bone has to be where the
program POSEMILL puts it. A picture of six frames is drawn, into the folder that is named as the first argument.
"""

import importlib.util
import math
import os
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
# Extensions and preferences of this run are its own.
RESOURCES = tempfile.TemporaryDirectory()
os.environ["BLENDER_USER_RESOURCES"] = RESOURCES.name

try:
    import bpy
except ImportError:
    print("SKIPPED: the add-on was not tried, `bpy` cannot be imported here (pip install bpy)")
    sys.exit(0)

import numpy as np
from mathutils import Matrix, Quaternion, Vector

sys.path.insert(0, str(HERE))
from build_extension import build

PROGRAM = os.environ.get("POSEMILL", "")
WHEEL = os.environ.get("POSEMILL_WHEEL", "")


def installed():
    """The modules of the add-on, as Blender installs the extension and switches it on."""
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder), [Path(WHEEL)] if WHEEL else [])
        (package,) = Path(folder).glob("*.zip")
        install = bpy.ops.extensions.package_install_files
        assert install(filepath=str(package), repo="user_default", enable_on_install=True) == {"FINISHED"}
    name = "bl_ext.user_default.posemill"
    assert name in bpy.context.preferences.addons, "the extension is not switched on"
    return importlib.import_module(name), importlib.import_module(f"{name}.keys")


posemill_addon, keys = installed()


def fresh(character):
    """An empty scene with the character, and its armature."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.import_scene.gltf(filepath=str(character))
    (armature,) = [o for o in bpy.data.objects if o.type == "ARMATURE"]
    return armature


def expected(path):
    """Where the program puts every node, frame by frame: times, {name: places}, in the space of the file."""
    document, binary = keys.read(path)
    nodes, animation = document["nodes"], document["animations"][-1]
    moved, times = {}, None
    for channel in animation["channels"]:
        sampler = animation["samplers"][channel["sampler"]]
        own = keys.values(document, binary, sampler["input"])[:, 0]
        times = own if times is None or len(own) > len(times) else times
        rows = keys.values(document, binary, sampler["output"])
        moved.setdefault(channel["target"]["node"], {})[channel["target"]["path"]] = (own, rows)
    parents = {child: k for k, node in enumerate(nodes) for child in node.get("children", [])}

    def world(k, time):
        rest = keys.standing(nodes[k])
        local = [keys.at(moved.get(k, {}), what, time, rest[i]) for i, what in enumerate(keys.PATHS)]
        own = Matrix.LocRotScale(*local)
        return world(parents[k], time) @ own if k in parents else own

    return times, {node.get("name"): [world(k, t).translation.copy() for t in times] for k, node in enumerate(nodes)}


def carried(character, take, turned):
    """The greatest distance of any bone from where the program puts it, metres."""
    armature = fresh(character)
    if turned:
        armature.matrix_world = Matrix.Translation((3.0, -2.0, 0.5)) @ Matrix.Rotation(0.7, 4, "Z") @ armature.matrix_world
        bpy.context.view_layer.update()
        # Bones of riggers rotate in all modes.
        for k, bone in enumerate(armature.pose.bones):
            bone.rotation_mode = ["QUATERNION", "XYZ", "AXIS_ANGLE", "ZXY"][k % 4]
    modes = [bone.rotation_mode for bone in armature.pose.bones]
    bpy.context.scene.render.fps = 30
    before = {b.name: b.matrix_local.copy() for b in armature.data.bones}
    with tempfile.TemporaryDirectory() as folder:
        written, result = os.path.join(folder, "character.glb"), os.path.join(folder, "result.glb")
        posemill_addon.export(bpy.context, armature, written)
        posemill_addon.retarget(str(take), written, result, PROGRAM)
        times, places = expected(result)
    settings = bpy.context.scene.posemill
    settings.take, settings.armature = str(take), armature
    addon_program(PROGRAM)
    assert bpy.ops.posemill.retarget() == {"FINISHED"}
    # Once more from the middle of what it performs now: an armature is carried onto as it rests, not as it stands.
    bpy.context.scene.frame_set(20)
    assert bpy.ops.posemill.retarget() == {"FINISHED"}
    action = armature.animation_data.action
    assert action.name.startswith(Path(take).stem), action.name
    assert {b.name: b.matrix_local for b in armature.data.bones} == before, "the armature itself was changed"
    assert [bone.rotation_mode for bone in armature.pose.bones] == modes, "a rotation mode was changed"
    worst, compared = 0.0, 0
    for k in range(0, len(times), max(1, len(times) // 8)):
        frame = 1.0 + times[k] * 30.0
        bpy.context.scene.frame_set(math.floor(frame), subframe=frame - math.floor(frame))
        for bone in armature.pose.bones:
            if bone.name in places:
                x, y, z = places[bone.name][k]
                here = armature.matrix_world @ bone.head
                worst = max(worst, (here - Vector((x, -z, y))).length)
                compared += 1
    assert compared > 100, compared
    return worst, armature


def addon_program(program):
    """The program, for where the add-on is registered without preferences: on the path."""
    if program:
        os.environ["PATH"] = str(Path(program).resolve().parent) + os.pathsep + os.environ["PATH"]


def refused(why):
    """The button says why it carries nothing over."""
    try:
        bpy.ops.posemill.retarget()
    except RuntimeError as fault:
        assert why in str(fault), fault
    else:
        raise AssertionError(f"carried over, where {why!r} was to be said")


def test_faults_are_told(character):
    armature = fresh(character)
    settings = bpy.context.scene.posemill
    settings.take, settings.armature = "/nowhere/none.bvh", armature
    refused("does not exist")
    with tempfile.TemporaryDirectory() as folder:
        bad = Path(folder) / "bad.bvh"
        bad.write_text("HIERARCHY\nROOT a\n{\n  OFFSET 0 zero 0\n")
        settings.take = str(bad)
        refused("line 4")
        try:
            bpy.ops.posemill.retarget()
        except RuntimeError as fault:
            assert "error: " not in str(fault), fault
    assert armature.animation_data is None or armature.animation_data.action is None or not settings.take.startswith(
        armature.animation_data.action.name
    )


def test_nothing_of_the_user_is_lost(character):
    """The earlier action, constraints and properties are there after the file was saved and opened again."""
    armature = fresh(character)
    name = armature.name
    armature.animation_data_create().action = bpy.data.actions.new("idle")
    bone = armature.pose.bones[3]
    bone["note"] = "mine"
    constraint = bone.constraints.new("LIMIT_ROTATION")
    constraint.name, constraint.influence = "limit", 0.25
    settings = bpy.context.scene.posemill
    settings.take, settings.armature = str(ROOT / "data" / "wave.bvh"), armature
    assert bpy.ops.posemill.retarget() == {"FINISHED"}
    assert armature.animation_data.action.name == "wave"
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "scene.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.open_mainfile(filepath=path)
    assert {"idle", "wave"} <= {action.name for action in bpy.data.actions}, [a.name for a in bpy.data.actions]
    bone = bpy.data.objects[name].pose.bones[3]
    assert bone["note"] == "mine" and [(c.name, c.influence) for c in bone.constraints] == [("limit", 0.25)]


def test_a_button_does_not_wait_and_can_be_cancelled(character):
    """The operator as a window drives it: timers until the result is there, Esc, an armature that was deleted."""
    operator = posemill_addon.POSEMILL_OT_retarget
    armature = fresh(character)
    settings = bpy.context.scene.posemill
    settings.take, settings.armature = str(ROOT / "data" / "wave.bvh"), armature
    shown, reports = [], []
    manager = SimpleNamespace(
        event_timer_add=lambda *_, **__: "timer", event_timer_remove=lambda timer: shown.append(timer), modal_handler_add=lambda _: True
    )
    context = SimpleNamespace(
        scene=bpy.context.scene,
        preferences=bpy.context.preferences,
        view_layer=bpy.context.view_layer,
        selected_objects=[],
        window=None,
        window_manager=manager,
        workspace=SimpleNamespace(status_text_set=shown.append),
        mode="OBJECT",
    )
    button = SimpleNamespace(report=lambda _, text: reports.append(text))
    for name in ["begin", "end", "close", "cancel"]:
        setattr(button, name, getattr(operator, name).__get__(button))
    timer, escape = SimpleNamespace(type="TIMER", value="NOTHING"), SimpleNamespace(type="ESC", value="PRESS")

    def events(event=timer):
        begun = time.monotonic()
        while (ended := operator.modal(button, context, event)) == {"PASS_THROUGH"} and time.monotonic() < begun + 60:
            time.sleep(0.02)
        return ended

    assert operator.invoke(button, context, None) == {"RUNNING_MODAL"} and not operator.poll(context)
    assert operator.modal(button, context, SimpleNamespace(type="MOUSEMOVE", value="NOTHING")) == {"PASS_THROUGH"}
    assert events() == {"FINISHED"} and reports[-1] == f"{armature.name} performs wave" and operator.poll(context)
    assert shown[0].startswith("posemill retargets wave: 0 s") and shown[-2:] == ["timer", None], shown
    # A program that never ends is ended by Esc, and nothing changes.
    with tempfile.TemporaryDirectory() as folder:
        slow = Path(folder) / "slow"
        slow.write_text("#!/bin/sh\nexec sleep 600\n")
        slow.chmod(0o755)
        task = posemill_addon.Task(context, settings.take, armature, str(slow))
        operator.task, actions = task, len(bpy.data.actions)
        begun = time.monotonic()
        while task.process is None and time.monotonic() < begun + 60:
            time.sleep(0.02)
        assert operator.modal(button, context, timer) == {"PASS_THROUGH"} and task.running()
        assert events(escape) == {"CANCELLED"} and operator.task is None
        task.thread.join(60)
        assert task.process.poll() is not None and not Path(task.folder.name).exists() and len(bpy.data.actions) == actions
    operator.invoke(button, context, None)
    bpy.data.objects.remove(armature)
    assert events() == {"CANCELLED"} and reports[-1] == "the armature was deleted", reports


def picture(armature, path):
    """Six frames of the action, side by side."""
    scene = bpy.context.scene
    first, last = scene.frame_start, scene.frame_end
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.use_denoising = 8, False
    scene.render.resolution_x, scene.render.resolution_y = 160, 240
    world = bpy.data.worlds.new("light")
    world.use_nodes = True
    world.node_tree.nodes["Background"].inputs[0].default_value = (0.9, 0.9, 0.9, 1.0)
    scene.world = world
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    scene.collection.objects.link(camera)
    scene.camera = camera
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for k in range(6):
            scene.frame_set(first + (last - first) * k // 6)
            middle = sum(((armature.matrix_world @ b.head) for b in armature.pose.bones), Vector()) / len(armature.pose.bones)
            camera.location = middle + Vector((2.2, -3.2, 0.6))
            camera.rotation_mode = "QUATERNION"
            camera.rotation_quaternion = (middle - camera.location).to_track_quat("-Z", "Y")
            scene.render.filepath = os.path.join(folder, f"{k}.png")
            bpy.ops.render.render(write_still=True)
            image = bpy.data.images.load(scene.render.filepath)
            rows.append(np.array(image.pixels[:], dtype=np.float32).reshape(240, 160, 4))
    strip = np.concatenate(rows, axis=1)
    assert strip[..., :3].std() > 0.02, "the picture is empty"
    sheet = bpy.data.images.new("sheet", 960, 240)
    sheet.pixels = strip.ravel()
    sheet.filepath_raw, sheet.file_format = str(path), "PNG"
    sheet.save()


def main():
    addon_program(PROGRAM)
    for name, turned in [("robot", False), ("robot", True), ("mannequin", True)]:
        worst, armature = carried(ROOT / "data" / f"{name}.glb", ROOT / "data" / "walk.bvh", turned)
        print(f"{name}{', turned and moved' if turned else ''}: bones are at most {worst * 1e3:.4f} mm from where the program puts them")
        assert worst < 1e-4, worst
    if len(sys.argv) > 1:
        Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
        picture(armature, Path(sys.argv[1]) / "blender.png")
    test_faults_are_told(ROOT / "data" / "robot.glb")
    test_nothing_of_the_user_is_lost(ROOT / "data" / "robot.glb")
    test_a_button_does_not_wait_and_can_be_cancelled(ROOT / "data" / "robot.glb")
    if WHEEL:
        library = importlib.util.find_spec("posemill")
        assert library and Path(library.origin).is_relative_to(RESOURCES.name), "the library is not that of the extension"
    bpy.ops.preferences.addon_disable(module="bl_ext.user_default.posemill")
    print(f"the add-on works in Blender {bpy.app.version_string}")


if __name__ == "__main__":
    main()
