# SPDX-License-Identifier: GPL-3.0-or-later
"""Choose a take, choose the armature, press: the armature performs the take, as an action of its own.

The panel is in the sidebar of the 3D view, under "posemill". The work is done by the Python package `posemill` where it can be
imported, else by the program, which is looked for in the preferences of the add-on and on the path.
"""

import os
import shutil
import subprocess
import tempfile
import threading
import time

import bpy
from bpy.props import BoolProperty, PointerProperty, StringProperty

from . import keys

FORMATS = (
    "*.bvh;*.fbx;*.glb;*.gltf;*.vrm;*.vrma;*.usda;*.usdc;*.usd;*.usdz;*.vmd;*.amc;"
    "*.npz;*.npy;*.csv;*.json;*.c3d;*.trc"
)


class Fault(Exception):
    """What went wrong, for people."""


def retarget(take: str, character: str, output: str, program: str = "", feet: bool = True, started=lambda _: None) -> None:
    """Retargets the file `take` to the file `character`, and writes the file `output`. `started` gets the program's process."""
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
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    except OSError as fault:
        raise Fault(f"the program `{program}` cannot be started: {fault.strerror}") from fault
    started(process)
    _, said = process.communicate()
    if process.returncode != 0:
        raise Fault(said.strip().removeprefix("error: ") or f"`{program}` ended with exit code {process.returncode}")


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


class Task:
    """One retargeting in a thread, while Blender goes on."""

    def __init__(self, context, take: str, armature, program: str = "", feet: bool = True):
        take = bpy.path.abspath(take)
        if not os.path.isfile(take):
            raise Fault(f"the file `{take}` does not exist")
        self.name = os.path.splitext(os.path.basename(take))[0]
        self.begun = time.monotonic()
        self.cancelled, self.process, self.fault = False, None, None
        # Undo replaces objects; their number stays.
        self.armature = armature.session_uid
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        character, self.output = (os.path.join(self.folder.name, name) for name in ("character.glb", "result.glb"))
        export(context, armature, character)
        self.thread = threading.Thread(target=self._work, args=(take, character, self.output, program, feet), daemon=True)
        self.thread.start()

    def _work(self, *arguments):
        try:
            retarget(*arguments, started=self._started)
        except Fault as fault:
            self.fault = fault
        except Exception as fault:
            self.fault = Fault(f"{type(fault).__name__}: {fault}")

    def _started(self, process):
        self.process = process
        if self.cancelled:
            process.kill()

    def running(self) -> bool:
        """Whether there is no result yet."""
        return self.thread.is_alive()

    def progress(self) -> str:
        """What is done, for people."""
        return f"posemill retargets {self.name}: {time.monotonic() - self.begun:.0f} s, Esc cancels"

    def cancel(self) -> None:
        """Ends the program; the library, which cannot be ended, goes on in its thread without being waited for."""
        self.cancelled = True
        if self.process is not None:
            self.process.kill()
        self.folder.cleanup()

    def finish(self, context):
        """Waits for the result, and makes it an action of the armature."""
        self.thread.join()
        try:
            if self.fault:
                raise self.fault
            armature = next((thing for thing in bpy.data.objects if thing.session_uid == self.armature), None)
            if armature is None:
                raise Fault("the armature was deleted")
            action = keys.action(context, armature, self.name, self.output)
        finally:
            self.folder.cleanup()
        first, last = action.frame_range
        context.scene.frame_start, context.scene.frame_end = int(first), int(last + 0.5)
        return f"{armature.name} performs {action.name}"


class POSEMILL_OT_retarget(bpy.types.Operator):
    """Carry the take onto the armature, as a new action"""

    bl_idname = "posemill.retarget"
    bl_label = "Retarget"
    bl_options = {"REGISTER", "UNDO"}
    # The one that runs, for the panel.
    task = None

    @classmethod
    def poll(cls, context):
        return context.mode == "OBJECT" and context.scene.posemill.armature is not None and cls.task is None

    def begin(self, context):
        """The task, or nothing where it cannot begin."""
        settings, addon = context.scene.posemill, context.preferences.addons.get(__package__)
        program = bpy.path.abspath(addon.preferences.program) if addon and addon.preferences.program else ""
        try:
            return Task(context, settings.take, settings.armature, program, settings.feet)
        except Fault as fault:
            self.report({"ERROR"}, str(fault))
            return None

    def end(self, context, task):
        """Makes the action, or reports why there is none."""
        try:
            self.report({"INFO"}, task.finish(context))
        except Fault as fault:
            self.report({"ERROR"}, str(fault))
            return {"CANCELLED"}
        return {"FINISHED"}

    def execute(self, context):
        """For scripts: waits for the result."""
        task = self.begin(context)
        return self.end(context, task) if task else {"CANCELLED"}

    def invoke(self, context, _event):
        """For the button: returns at once."""
        task = self.begin(context)
        if task is None:
            return {"CANCELLED"}
        POSEMILL_OT_retarget.task = task
        self.timer = context.window_manager.event_timer_add(0.1, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        """Shows progress until the task ends or is cancelled."""
        task = POSEMILL_OT_retarget.task
        cancelled = event.type == "ESC" and event.value == "PRESS"
        if not cancelled and (event.type != "TIMER" or task.running()):
            if event.type == "TIMER":
                context.workspace.status_text_set(task.progress())
            return {"PASS_THROUGH"}
        if cancelled:
            self.cancel(context)
            return {"CANCELLED"}
        self.close(context)
        return self.end(context, task)

    def close(self, context):
        """Nothing runs any more."""
        POSEMILL_OT_retarget.task = None
        context.window_manager.event_timer_remove(self.timer)
        context.workspace.status_text_set(None)

    def cancel(self, context):
        """Esc, or another file is opened."""
        POSEMILL_OT_retarget.task.cancel()
        self.close(context)


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
        if POSEMILL_OT_retarget.task is not None:
            layout.label(text=POSEMILL_OT_retarget.task.progress(), icon="SORTTIME")


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
