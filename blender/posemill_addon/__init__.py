# SPDX-License-Identifier: GPL-3.0-or-later
"""Choose a take, choose the armature, press: the armature performs the take, as an action of its own.

The panel is in the sidebar of the 3D view, under "posemill". The work is done by the Python package `posemill` where it can be
imported, else by the program, which is looked for in the preferences of the add-on and on the path.
"""

import os
import shutil
import subprocess
import tempfile

import bpy
from bpy.props import BoolProperty, PointerProperty, StringProperty

from . import keys

FORMATS = (
    "*.bvh;*.fbx;*.glb;*.gltf;*.vrm;*.vrma;*.usda;*.usdc;*.usd;*.usdz;*.vmd;*.amc;"
    "*.npz;*.npy;*.csv;*.json;*.c3d;*.trc"
)


class Fault(Exception):
    """What went wrong, for people."""


def retarget(take: str, character: str, output: str, program: str = "", feet: bool = True) -> None:
    """Retargets the file `take` to the file `character`, and writes the file `output`."""
    if not program:
        try:
            import posemill
        except ImportError:
            program = shutil.which("posemill") or ""
            if not program:
                raise Fault(
                    "posemill is not installed: name the program in the preferences of the add-on, "
                    "or build the extension with its wheel"
                ) from None
        else:
            stages = {} if feet else {"foot_lock": False}
            try:
                (ended,) = posemill.Pipeline.standard(character, **stages).run([take], output)
            except posemill.Error as fault:
                raise Fault(str(fault)) from fault
            if ended["error"]:
                raise Fault(ended["error"])
            return
    command = [program, "--quiet", "retarget", take, "--onto", character, "-o", output]
    command += [] if feet else ["--set", "stage.foot_lock.enabled=false"]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as fault:
        raise Fault(f"the program `{program}` cannot be started: {fault.strerror}") from fault
    if ended.returncode != 0:
        raise Fault(ended.stderr.strip().removeprefix("error: ") or f"`{program}` ended with exit code {ended.returncode}")


def export(context, armature, path: str) -> None:
    """Writes the armature as it rests, and what is bound to it, as GLB."""
    selected, active = list(context.selected_objects), context.view_layer.objects.active
    bound = [o for o in context.view_layer.objects if o.type == "MESH" and o.find_armature() == armature]
    for thing in selected:
        thing.select_set(False)
    for thing in [armature, *bound]:
        thing.select_set(True)
    context.view_layer.objects.active = armature
    try:
        bpy.ops.export_scene.gltf(
            filepath=path,
            export_format="GLB",
            use_selection=True,
            export_animations=False,
            export_rest_position_armature=True,
            export_def_bones=False,
            export_materials="NONE",
            export_morph=False,
        )
    finally:
        for thing in [armature, *bound]:
            thing.select_set(False)
        for thing in selected:
            thing.select_set(True)
        context.view_layer.objects.active = active


def carry(context, take: str, armature, program: str = "", feet: bool = True):
    """The take as a new action of the armature."""
    take = bpy.path.abspath(take)
    if not os.path.isfile(take):
        raise Fault(f"the file `{take}` does not exist")
    with tempfile.TemporaryDirectory() as folder:
        character, output = os.path.join(folder, "character.glb"), os.path.join(folder, "result.glb")
        export(context, armature, character)
        retarget(take, character, output, program, feet)
        name = os.path.splitext(os.path.basename(take))[0]
        return keys.action(context, armature, name, output)


class POSEMILL_OT_retarget(bpy.types.Operator):
    """Carry the take onto the armature, as a new action"""

    bl_idname = "posemill.retarget"
    bl_label = "Retarget"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return context.mode == "OBJECT" and context.scene.posemill.armature is not None

    def execute(self, context):
        settings, addon = context.scene.posemill, context.preferences.addons.get(__package__)
        program = bpy.path.abspath(addon.preferences.program) if addon and addon.preferences.program else ""
        try:
            action = carry(context, settings.take, settings.armature, program, settings.feet)
        except Fault as fault:
            self.report({"ERROR"}, str(fault))
            return {"CANCELLED"}
        first, last = action.frame_range
        context.scene.frame_start, context.scene.frame_end = int(first), int(last + 0.5)
        self.report({"INFO"}, f"{settings.armature.name} performs {action.name}")
        return {"FINISHED"}


class POSEMILL_PT_panel(bpy.types.Panel):
    """The take, the armature, the button"""

    bl_label = "posemill"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "posemill"

    def draw(self, context):
        settings, layout = context.scene.posemill, self.layout
        layout.prop(settings, "take")
        layout.prop(settings, "armature")
        layout.prop(settings, "feet")
        layout.operator(POSEMILL_OT_retarget.bl_idname, icon="ARMATURE_DATA")


class PosemillSettings(bpy.types.PropertyGroup):
    """What the panel asks for."""

    take: StringProperty(name="Take", description=f"A motion file: {FORMATS}", subtype="FILE_PATH")
    armature: PointerProperty(
        name="Armature",
        description="The armature that shall perform the take",
        type=bpy.types.Object,
        poll=lambda _, thing: thing.type == "ARMATURE",
    )
    feet: BoolProperty(name="Lock feet", description="Keep feet that stand where they are", default=True)


class PosemillPreferences(bpy.types.AddonPreferences):
    """Where the program is."""

    bl_idname = __package__
    program: StringProperty(
        name="Program",
        description="The program posemill; empty: the wheel of the extension, else the program on the path",
        subtype="FILE_PATH",
    )

    def draw(self, _context):
        self.layout.prop(self, "program")


CLASSES = [PosemillSettings, PosemillPreferences, POSEMILL_OT_retarget, POSEMILL_PT_panel]


def register():
    for kind in CLASSES:
        bpy.utils.register_class(kind)
    bpy.types.Scene.posemill = PointerProperty(type=PosemillSettings)


def unregister():
    del bpy.types.Scene.posemill
    for kind in reversed(CLASSES):
        bpy.utils.unregister_class(kind)
