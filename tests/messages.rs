//! Messages of the program, whole: what is printed for each invalid file, pipeline and argument, and with which exit code; and
//! laws of all error texts.

use posemill::export::{ExportOptions, Format, save};
use posemill::import::{ImportOptions, from_bytes};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// Two joints, a rotation of the root, three frames.
const TAKE: &str = "HIERARCHY\nROOT hips\n{\n  OFFSET 0 0 0\n  \
    CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n  \
    JOINT head\n  {\n    OFFSET 0 0.5 0\n    CHANNELS 3 Zrotation Xrotation Yrotation\n    \
    End Site\n    {\n      OFFSET 0 0.25 0\n    }\n  }\n}\n\
    MOTION\nFrames: 3\nFrame Time: 0.025\n\
    0 1 0 0 0 0 0 0 0\n0 1 0.1 10 0 0 0 5 0\n0 1 0.2 20 0 0 0 10 0\n";

/// One run of the program in a folder of its own, and what it prints.
struct Case {
    /// Names and contents; `@NAME` is a copy of the sample file `data/NAME`.
    files: &'static [(&'static str, &'static str)],
    arguments: &'static [&'static str],
    exit: i32,
    stderr: &'static str,
}

/// A pipeline of one stage with an invalid key, and what is reported of it.
struct StageFault {
    stage: &'static str,
    /// Lines of the stage, from line 5 of the pipeline.
    keys: &'static str,
    /// The line that is shown.
    line: usize,
    message: &'static str,
    /// Empty if there is none.
    hint: &'static str,
}

const CASES: &[Case] = &[
    Case {
        files: &[("a.bvh", TAKE), ("p.toml", "[input]\nmotion = \"a.bvh\"\n[stage]\nuse = \"trim\"\n")],
        arguments: &["run", "p.toml"],
        exit: 2,
        stderr: "error: `stage` must be a list of tables\n --> p.toml:3:1\n  |\n3 | [stage]\n  | ^^^^^^^ write `[[stage]]`, with two brackets\n",
    },
    Case {
        files: &[("a.bvh", TAKE), ("p.toml", "[input]\nmotion = \"a.bvh\"\n")],
        arguments: &["run", "p.toml", "--set", "stage.trim.start_s=1"],
        exit: 2,
        stderr: "error: this pipeline has no stage `trim`\n --> --set:1:7\n  |\n1 | stage.trim.start_s=1\n  |       ^^^^\n  |\n  = help: it has no stages; add it to a pipeline file for `posemill run`: [[stage]] use = \"trim\"\n",
    },
    Case {
        files: &[("a.bvh", TAKE), ("p.toml", "[input]\nmotion = \"a.bvh\"\n[[stage]]\nuse = \"trim\"\n")],
        arguments: &["run", "p.toml", "--set", "stage.loop.shortest_s=1"],
        exit: 2,
        stderr: "error: this pipeline has no stage `loop`\n --> --set:1:7\n  |\n1 | stage.loop.shortest_s=1\n  |       ^^^^\n  |\n  = help: its stages are `trim`; add it to a pipeline file for `posemill run`: [[stage]] use = \"loop\"\n",
    },
    Case {
        files: &[("a.bvh", TAKE), ("p.toml", "[input]\nmotion = \"a.bvh\"\n[[stage]]\nstart_s = 1.0\n")],
        arguments: &["run", "p.toml"],
        exit: 2,
        stderr: "error: stage 1: `use` must name a stage\n --> p.toml:3:1\n  |\n3 | [[stage]]\n  | ^^^^^^^^^\n  |\n  = help: write `use = \"NAME\"`; stages are `trim`, `repair`, `resample`, `filter`, `mirror`, `contacts`, `retarget`, `face`, `ground`, `foot_lock`, `ik`, `self_contact`, `limits`, `flights`, `perform`, `ragdoll`, `secondary`, `loop`, `root_motion`, `reduce`\n",
    },
    Case {
        files: &[
            ("a.bvh", TAKE),
            ("p.toml", "[input]\nmotion = \"a.bvh\"\n[[stage]]\nuse = \"trim\"\nenabled = false\n"),
        ],
        arguments: &["run", "p.toml", "--set", "stage.trim.start_s=1"],
        exit: 2,
        stderr: "error: stage 1 (`trim`): `start_s` does nothing, since the stage is disabled\n --> --set:1:12\n  |\n1 | stage.trim.start_s=1\n  |            ^^^^^^^\n  |\n  = help: enable it: `--set stage.trim.enabled=true`\n",
    },
    Case {
        files: &[
            ("a.bvh", TAKE),
            ("p.toml", "[input]\nmotion = \"a.bvh\"\n[[stage]]\nuse = \"retarget\"\n\n"),
        ],
        arguments: &["run", "p.toml"],
        exit: 2,
        stderr: "error: there is no character to retarget onto\n --> p.toml:4:7\n  |\n4 | use = \"retarget\"\n  |       ^^^^^^^^^^\n  |\n  = help: name one: `character = \"hero.glb\"` in [input]\n",
    },
    Case {
        files: &[
            ("a.bvh", TAKE),
            ("hero.glb", "x"),
            (
                "p.toml",
                "[input]\nmotion = \"a.bvh\"\ncharacter = \"hero.glb\"\n[[stage]]\nuse = \"retarget\"\n\n",
            ),
        ],
        arguments: &["run", "p.toml"],
        exit: 2,
        stderr: "error: character `hero.glb`: byte 0: neither `glTF` nor a JSON object begins here\n  hint: check that it is a glTF file, then copy or export it again\n",
    },
    Case {
        files: &[
            ("a.bvh", TAKE),
            (
                "p.toml",
                "[input]\nmotion = \"a.bvh\"\ncharacter = \"/dev/null\"\n[[stage]]\nuse = \"retarget\"\n\n",
            ),
        ],
        arguments: &["run", "p.toml"],
        exit: 2,
        stderr: "error: the file `/dev/null` cannot be read: it is a pipe or a device, not a file\n --> p.toml:3:13\n  |\n3 | character = \"/dev/null\"\n  |             ^^^^^^^^^^^\n",
    },
    Case {
        files: &[("a.bvh", TAKE)],
        arguments: &["calibrate", "a.bvh", "-o", "a.txt"],
        exit: 2,
        stderr: "error: `a.txt` has no extension of a pose file\n  hint: write `.bvh` for BVH takes, `.glb` for glTF takes\n",
    },
    Case {
        files: &[("a.bvh", TAKE), ("b.bvh", "@wave.bvh")],
        arguments: &["calibrate", "a.bvh", "b.bvh", "-o", "p.bvh"],
        exit: 2,
        stderr: "error: `a.bvh` and `b.bvh` have different joints\n  hint: calibrate takes of one skeleton at a time\n",
    },
    Case {
        files: &[("a.bvh", TAKE)],
        arguments: &["calibrate", "a.bvh", "-o", "p.bvh"],
        exit: 2,
        stderr: "warning: no legs were detected: the file's own up axis and the front +Z are assumed (a.bvh: HIERARCHY)\nwarning: units are assumed to be 1 m each: no legs were detected (a.bvh: HIERARCHY)\nerror: `a.bvh` shows no body in motion: hips, both thighs and something above them are needed\n  hint: list the detected roles with `posemill inspect`\n",
    },
    Case {
        files: &[("b.bvh", "@wave.bvh")],
        arguments: &["calibrate", "b.bvh", "-o", "p.glb"],
        exit: 2,
        stderr: "error: `p.glb` is no pose file for `b.bvh`: the joint axes of the formats differ\n  hint: write `p.bvh`\n",
    },
    Case {
        files: &[("h.glb", "@robot.glb")],
        arguments: &["measure", "h.glb"],
        exit: 1,
        stderr: "error: `h.glb` holds no motion\n  hint: list its content with `posemill inspect`\n",
    },
    Case {
        files: &[("h.glb", "@robot.glb"), ("b.bvh", "@wave.bvh")],
        arguments: &["measure", "b.bvh", "--source", "h.glb"],
        exit: 2,
        stderr: "error: the source holds no motion\n  hint: list its content with `posemill inspect`\n",
    },
    Case {
        files: &[(
            "h.gltf",
            "{\"asset\":{\"version\":\"2.0\"},\"nodes\":[{\"name\":\"root\"}],\"scenes\":[{\"nodes\":[0]}],\"scene\":0}",
        )],
        arguments: &["convert", "h.gltf", "-o", "x.csv"],
        exit: 1,
        stderr: "error: h.gltf: the file holds no motion\n  hint: list its content with `posemill inspect`\n1 failed\n",
    },
    Case {
        files: &[("h.glb", "@robot.glb")],
        arguments: &["joints", "h.glb", "--clip", "walk"],
        exit: 2,
        stderr: "error: there is no clip `walk`\n  hint: name another file: this one holds no motion\n",
    },
    Case {
        files: &[("a.bvh", TAKE)],
        arguments: &["convert", "a.bvh", "-o", "-"],
        exit: 2,
        stderr: "error: the format of standard output is unknown\n  hint: name it: `--format glb`\n",
    },
    Case {
        files: &[("a.bvh", TAKE), ("p.toml", "[input]\nmotion = \"a.bvh\"\n")],
        arguments: &["run", "p.toml", "--set", "input.limits.hero.head.flexion=30"],
        exit: 2,
        stderr: "error: `input.limits.hero.head.flexion` is not the path of a key\n --> --set:1:1\n  |\n1 | input.limits.hero.head.flexion=30\n  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n  |\n  = help: write the tables as one value: `--set 'input.limits={hero={head={flexion=30}}}'`\n",
    },
    Case {
        files: &[("a.bvh", TAKE), ("p.toml", "[input]\nmotion = \"a.bvh\"\n")],
        arguments: &["run", "p.toml", "--output", "a.bvh"],
        exit: 2,
        stderr: "error: `a.bvh` is a file, not a folder\n  hint: name the folder of the outputs, which are named after their takes\n",
    },
    Case {
        files: &[("sub/a.bvh", TAKE)],
        arguments: &["run", "sub"],
        exit: 2,
        stderr: "error: `sub` is a folder, not a pipeline (TOML)\n  hint: pass its pipelines: sub/*.toml\n",
    },
    Case {
        files: &[("e.glb", "")],
        arguments: &["inspect", "e.glb"],
        exit: 1,
        stderr: "error: `e.glb`: the file is empty\n  hint: export it again\n",
    },
    Case {
        files: &[("a.bvh", TAKE)],
        arguments: &["convert", "a.bvh", "-o", "-x.glb"],
        exit: 2,
        stderr: "error: unexpected argument '-x' found\n\n  tip: for a file of this name, write `-o ./-x.glb`\n\nUsage: posemill convert [OPTIONS] --output <OUT> <IN>...\n\nFor more information, try '--help'.\n",
    },
    Case {
        files: &[("a.bvh", TAKE)],
        arguments: &["convert", "-", "-o", "x.glb"],
        exit: 2,
        stderr: "error: standard input is empty\n",
    },
    Case {
        files: &[("a.bvh", TAKE)],
        arguments: &["convert", "a.bvh", "-o", "-", "--format", "glb", "--set", "output.report=true"],
        exit: 2,
        stderr: "error: `-o -` prints the output alone, and `output.report` asks for a page beside it\n  hint: name a file\n",
    },
    Case {
        files: &[("s.tar.gz", "packed")],
        arguments: &["convert", "*.tar.gz/**/*.bvh", "-o", "x/"],
        exit: 2,
        stderr: "error: no file matches `*.tar.gz/**/*.bvh`\n  hint: decompress `*.tar.gz`: a `.tar` is read without unpacking it\n",
    },
    Case {
        files: &[("b.bvh", "@wave.bvh"), ("a.bvh", "nonsense"), ("h.glb", "@robot.glb")],
        arguments: &["retarget", "b.bvh", "a.bvh", "--onto", "h.glb", "--merge", "-o", "m.glb"],
        exit: 1,
        stderr: "error: b.bvh, a.bvh: `a.bvh`: line 1, column 1: expected `HIERARCHY`, found `nonsense`\n  hint: check that this is a BVH file, which starts with `HIERARCHY` and `ROOT`\n1 failed\n",
    },
    Case {
        files: &[("a.bvh", TAKE), ("p.toml", "[input]\nmotion = \"a.bvh\"\n")],
        arguments: &["run", "p.toml", "--files-from", "nolist"],
        exit: 2,
        stderr: "error: the list of takes `nolist` cannot be read: no such file or directory\n",
    },
    Case {
        files: &[("a.bvh", TAKE), ("p.toml", "[input]\nmotion = \"a.bvh\"\n")],
        arguments: &["run", "p.toml", "--timeout", "5"],
        exit: 2,
        stderr: "error: invalid value '5' for '--timeout <TIME>': a time has a unit: `60s`, `500ms`, `5min` or `2h`, up to a week\n\nFor more information, try '--help'.\n",
    },
    Case {
        files: &[("a.bvh", TAKE), ("p.toml", "[input]\nmotion = \"a.bvh\"\n")],
        arguments: &["run", "p.toml", "--memory", "5"],
        exit: 2,
        stderr: "error: invalid value '5' for '--memory <AMOUNT>': an amount of memory has a unit: `2GB`, `500MB`\n\nFor more information, try '--help'.\n",
    },
    Case {
        files: &[("a.bvh", TAKE), ("p.toml", "[input]\nmotion = \"a.bvh\"\n")],
        arguments: &["run", "p.toml", "--shard", "5"],
        exit: 2,
        stderr: "error: invalid value '5' for '--shard <I/N>': `5` is no share of the takes\n  hint: write `1/4` to `4/4` for four machines\n\nFor more information, try '--help'.\n",
    },
    Case {
        files: &[("a.bvh", TAKE), ("p.toml", "[input]\nmotion = \"a.bvh\"\nmemory = true\n")],
        arguments: &["run", "p.toml"],
        exit: 2,
        stderr: "error: [input]: `memory` must be an amount of memory: \"2GB\", \"500MB\", or a number of bytes, not boolean `true`\n --> p.toml:3:10\n  |\n3 | memory = true\n  |          ^^^^\n",
    },
    Case {
        files: &[("a.bvh", TAKE), ("p.toml", "[input]\nmotion = \"a.bvh\"\nrate = 0.0\n")],
        arguments: &["run", "p.toml"],
        exit: 2,
        stderr: "error: [input]: `rate`: 0 frames per second, expected 0.1 to 10000\n --> p.toml:3:8\n  |\n3 | rate = 0.0\n  |        ^^^\n",
    },
    Case {
        files: &[("a.bvh", TAKE), ("p.toml", "[input]\nmotion = \"a.bvh\"\nmass_kg = -3\n")],
        arguments: &["run", "p.toml"],
        exit: 2,
        stderr: "error: [input]: `mass_kg`: -3 kg, expected 0.1 to 100000\n --> p.toml:3:11\n  |\n3 | mass_kg = -3\n  |           ^^\n",
    },
    Case {
        files: &[("a.bvh", TAKE), ("p.toml", "[input]\nmotion = \"a.bvh\"\nclip = -1\n")],
        arguments: &["run", "p.toml"],
        exit: 2,
        stderr: "error: [input]: `clip` must be the name of a clip or its number, 0 or more, not integer `-1`\n --> p.toml:3:8\n  |\n3 | clip = -1\n  |        ^^\n",
    },
    Case {
        files: &[("a.bvh", TAKE), ("p.toml", "[input]\nmotion = \"a.bvh\"\nunits = \"ell\"\n")],
        arguments: &["run", "p.toml"],
        exit: 2,
        stderr: "error: [input]: `units` must be \"m\", \"cm\", \"mm\", \"in\", \"ft\" or a positive number of metres per unit, not string \"ell\"\n --> p.toml:3:9\n  |\n3 | units = \"ell\"\n  |         ^^^^^\n",
    },
    Case {
        files: &[("a.bvh", TAKE)],
        arguments: &["convert", "a.bvh", "-o", "x.csv", "--set", "input.calibration.frame=7"],
        exit: 1,
        stderr: "error: a.bvh: there is no frame 7 to calibrate by: the take has 3 frames, counted from 0\n  hint: set `input.calibration.frame` to a frame in which the figure stands in a T-pose\n1 failed\n",
    },
    Case {
        files: &[("a.bvh", TAKE), ("b.bvh", "@wave.bvh")],
        arguments: &["convert", "a.bvh", "-o", "x.csv", "--set", "input.calibration.file=b.bvh"],
        exit: 1,
        stderr: "error: a.bvh: no joint of the take has the name of a joint in `b.bvh`\n  hint: set `input.calibration.file` to a file of the same skeleton\n1 failed\n",
    },
    Case {
        files: &[("a.bvh", TAKE), ("b.bvh", "nonsense")],
        arguments: &["convert", "a.bvh", "-o", "x.csv", "--set", "input.calibration.file=b.bvh"],
        exit: 1,
        stderr: "error: a.bvh: the file of the reference pose `b.bvh`: line 1, column 1: expected `HIERARCHY`, found `nonsense`\n  hint: check that this is a BVH file, which starts with `HIERARCHY` and `ROOT`\n1 failed\n",
    },
    Case {
        files: &[("a.bvh", TAKE)],
        arguments: &["convert", "a.bvh", "-o", "x.vrm"],
        exit: 1,
        stderr: "error: a.bvh: only a VRM character can be written as `.vrm`\n  hint: write `.vrma`, an animation that any VRM plays, or `.glb`\n1 failed\n",
    },
    Case {
        files: &[("a.bvh", TAKE)],
        arguments: &["convert", "a.bvh", "-o", "x.vrma"],
        exit: 1,
        stderr: "error: a.bvh: a VRM animation needs human bones that were not found: hips, spine, head, leftUpperLeg, leftLowerLeg, leftFoot, rightUpperLeg, rightLowerLeg, rightFoot, leftUpperArm, leftLowerArm, leftHand, rightUpperArm, rightLowerArm, rightHand\n  hint: see the detected roles with `posemill inspect`; add a name with `--set input.roles.words.WORD=PART`\n1 failed\n",
    },
    Case {
        files: &[
            ("a.bvh", "@wave.bvh"),
            ("p.toml", "[input]\nmotion = \"a.bvh\"\n[[stage]]\nuse = \"ragdoll\"\nlet_go_s=99.0\n"),
        ],
        arguments: &["run", "p.toml"],
        exit: 1,
        stderr: "error: a.bvh: stage 1 (`ragdoll`): `let_go_s` is 99, the motion ends before it\nreport: out/report.html\n1 failed\n",
    },
    Case {
        files: &[("a.amc", ":FULLY-SPECIFIED\n:DEGREES\n1\nroot 0 0 0 0 0 0\n")],
        arguments: &["convert", "a.amc", "-o", "x.csv"],
        exit: 1,
        stderr: "error: a.amc: the skeleton of the AMC file was not found: looked for `a.asf`\n  hint: put it into the folder of the take, or name it: `--set input.skeleton=01.asf`\n1 failed\n",
    },
    Case {
        files: &[("a.bvh", TAKE)],
        arguments: &["preview", "a.bvh", "-o", "x.png", "--size", "1920x1920", "--frames", "200"],
        exit: 2,
        stderr: "warning: a.bvh: no legs were detected: the file's own up axis and the front +Z are assumed (HIERARCHY)\nwarning: a.bvh: units are assumed to be 1 m each: no legs were detected (HIERARCHY)\nerror: 778555456 pixels in one picture, allowed are 67108864\n  hint: ask for a smaller size or fewer frames\n",
    },
    Case {
        files: &[
            ("a.bvh", "@wave.bvh"),
            (
                "p.toml",
                "[input]\nmotion = \"a.bvh\"\n[[stage]]\nuse = \"ragdoll\"\nhit = \"tail_0\"\nhit_impulse_n_s = [0.0, 0.0, 9.0]\n",
            ),
        ],
        arguments: &["run", "p.toml"],
        exit: 1,
        stderr: "error: a.bvh: stage 1 (`ragdoll`): the ragdoll has no part `tail_0`\n  hint: name one of `chest`, `hips`, `spine_0`, `spine_1`, `spine_2`, `neck_0`, `head`, `left_clavicle`, `left_upper_arm`, `left_lower_arm`, `left_hand`, `right_clavicle`, `right_upper_arm`, `right_lower_arm`, `right_hand`, `left_upper_leg`, `left_lower_leg`, `left_foot`, `left_toes`, `right_upper_leg`, `right_lower_leg`, `right_foot`, `right_toes`\nreport: out/report.html\n1 failed\n",
    },
    Case {
        files: &[("a.bvh", TAKE), ("p.toml", "[input]\nmotion = \"a.bvh\"\n")],
        arguments: &["run", "p.toml", "--verify"],
        exit: 1,
        stderr: "error: a.bvh: `out/a.glb` does not exist\n  hint: run the same command without `--verify`\n1 failed\n",
    },
    Case {
        files: &[("a.bvh", TAKE), ("p.toml", "[input]\nmotion = \"a.bvh\"\n"), ("out/a.glb", "x")],
        arguments: &["run", "p.toml", "--verify"],
        exit: 1,
        stderr: "error: a.bvh: `out/a.glb` is not what this pipeline makes of the take\n  hint: replace it with `--force`\n1 failed\n",
    },
    Case {
        files: &[
            ("a.amc", ":FULLY-SPECIFIED\n:DEGREES\n1\nroot 0 0 0 0 0 0\n"),
            (
                "a.asf",
                ":version 1.10\n:units\n length 1\n angle deg\n:root\n order TX TY TZ RX RY RZ\n axis XYZ\n position 0 0 0\n orientation 0 0 0\n:bonedata\nbegin\n name spine\n direction 0 1 0\n length x\n axis 0 0 0 XYZ\nend\n:hierarchy\nbegin\nroot spine\nend\n",
            ),
        ],
        arguments: &["convert", "a.amc", "-o", "x.csv"],
        exit: 1,
        stderr: "error: a.amc: a.asf, line 14: `length` needs 1 number\n  hint: correct the line, or export the take again\n1 failed\n",
    },
    Case {
        files: &[("a.pkl", "x")],
        arguments: &["inspect", "a.pkl"],
        exit: 1,
        stderr: "error: `a.pkl`: it is a pickle, which can execute any code when it is opened\n  hint: save its arrays as `.npz`\n",
    },
    Case {
        files: &[("a.npz", "PK\x03\x04xxxx")],
        arguments: &["inspect", "a.npz"],
        exit: 1,
        stderr: "error: `a.npz`: the archive cannot be opened: invalid Zip archive: Could not find EOCD\n  hint: copy the file again, or save it again with numpy\n",
    },
    Case {
        files: &[("a.c3d", "\x02Pxxxxxxxx")],
        arguments: &["inspect", "a.c3d"],
        exit: 1,
        stderr: "error: `a.c3d`: the C3D file: its first block is no header of a C3D file\n  hint: export it again from the program that recorded it\n",
    },
    Case {
        files: &[("a.usda", "#usda 1.0\n")],
        arguments: &["inspect", "a.usda"],
        exit: 1,
        stderr: "error: `a.usda`: it has no Skeleton prim\n  hint: export the character with its armature; flatten references and variants with `usdcat --flatten`\n",
    },
    Case {
        files: &[(
            "a.gltf",
            "{\"asset\": {\"version\": \"2.0\"}, \"nodes\": [{\"name\": \"a\"}], \"buffers\": [{\"byteLength\": 4, \"uri\": \"data:application/octet-stream;base64,AAAAAA==\"}], \"bufferViews\": [{\"buffer\": 0, \"byteLength\": 400}], \"accessors\": [{\"bufferView\": 0, \"componentType\": 5126, \"count\": 4, \"type\": \"SCALAR\"}, {\"bufferView\": 0, \"componentType\": 5126, \"count\": 4, \"type\": \"VEC3\"}], \"animations\": [{\"channels\": [{\"sampler\": 0, \"target\": {\"node\": 0, \"path\": \"translation\"}}], \"samplers\": [{\"input\": 0, \"output\": 1}]}]}",
        )],
        arguments: &["convert", "a.gltf", "-o", "x.csv"],
        exit: 1,
        stderr: "error: a.gltf: `bufferViews[0]`: it ends at byte 400 of 4\n1 failed\n",
    },
    Case {
        files: &[("a.glb", "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 3\n")],
        arguments: &["inspect", "a.glb"],
        exit: 1,
        stderr: "error: `a.glb`: this is a Git LFS pointer, not the model\n  hint: run `git lfs pull` in the repository of the file\n",
    },
    Case {
        files: &[("a.glb", "glTF\x02\x00\x00\x00")],
        arguments: &["inspect", "a.glb"],
        exit: 1,
        stderr: "error: `a.glb`: byte 0: the GLB header needs 20 bytes, the file has 8\n  hint: copy or export the file again: its end is missing\n",
    },
    Case {
        files: &[
            ("a.bvh", TAKE),
            ("l.csv", ""),
            ("p.toml", "[input]\nmotion = \"a.bvh\"\n[[stage]]\nuse = \"contacts\"\nfile = \"l.csv\"\n"),
        ],
        arguments: &["run", "p.toml"],
        exit: 1,
        stderr: "error: a.bvh: stage 1 (`contacts`): `l.csv`: the table is empty\n  hint: name the columns in the first line: `frame,left_heel,left_ball`\nreport: out/report.html\n1 failed\n",
    },
    Case {
        files: &[
            ("a.bvh", TAKE),
            ("l.csv", "frame,left_horn\n0,1\n"),
            ("p.toml", "[input]\nmotion = \"a.bvh\"\n[[stage]]\nuse = \"contacts\"\nfile = \"l.csv\"\n"),
        ],
        arguments: &["run", "p.toml"],
        exit: 1,
        stderr: "error: a.bvh: stage 1 (`contacts`): `l.csv`: line 1, column 2: `left_horn` is no part of the body\n  hint: name one of `left_heel`, `left_ball`, `left_hand`, `left_elbow`, `left_knee`, the same of the right, `pelvis` and `head`; each with `_height` behind it; and `ground`\nreport: out/report.html\n1 failed\n",
    },
    Case {
        files: &[
            ("a.bvh", TAKE),
            ("hero.glb", "@robot.glb"),
            (
                "p.toml",
                "[input]\nmotion = \"a.bvh\"\ncharacter=\"hero.glb\"\n[input.limits.other]\nleft_lower_leg = { flexion = 3.0 }\n[[stage]]\nuse=\"retarget\"\n",
            ),
        ],
        arguments: &["run", "p.toml"],
        exit: 2,
        stderr: "error: [input]: `limits` names no character of this pipeline: `other`\n --> p.toml:4:15\n  |\n4 | [input.limits.other]\n  |               ^^^^^\n  |\n  = help: write the name of the file without its extension\n",
    },
    Case {
        files: &[("a.bvh", "@wave.bvh"), ("h.glb", "@robot.glb")],
        arguments: &["retarget", "a.bvh", "--onto", "h.glb", "--map", "m.toml", "-o", "x.glb"],
        exit: 2,
        stderr: "error: the file `m.toml` does not exist\n  hint: write one with `posemill map`\n",
    },
    Case {
        files: &[("x/a.bvh", TAKE), ("y/a.bvh", TAKE)],
        arguments: &["convert", "x/a.bvh", "y/a.bvh", "-o", "out/", "--jobs", "1"],
        exit: 1,
        stderr: "error: x/a.bvh: `y/a.bvh` would go to `out/a.glb` too, and neither does\n  hint: give their common folder as a glob (`takes/**/*.bvh`), which keeps sub-folders, or rename one\nerror: y/a.bvh: `x/a.bvh` would go to `out/a.glb` too, and neither does\n  hint: give their common folder as a glob (`takes/**/*.bvh`), which keeps sub-folders, or rename one\n2 failed\n",
    },
    Case {
        files: &[
            ("a.bvh", TAKE),
            (
                "p.toml",
                "[input]\nmotion = \"a.bvh\"\n[[stage]]\nuse = \"ik\"\neffectors = [{ joint = \"tentacle\", target = [0.0, 1.0, 0.0] }]\n",
            ),
        ],
        arguments: &["run", "p.toml"],
        exit: 1,
        stderr: "error: a.bvh: stage 1 (`ik`): `tentacle` is neither a role nor a joint of `a`\n  hint: the nearest name is `head`\nreport: out/report.html\n1 failed\n",
    },
    Case {
        files: &[("p.toml", "[input]\n")],
        arguments: &["run", "p.toml"],
        exit: 2,
        stderr: "error: p.toml: [input] names no motion\n  hint: write `motion = [\"takes/**/*.bvh\"]` or pass `--input`\n",
    },
    Case {
        files: &[(
            "s.toml",
            "[simulation]\nintegrator = \"world\"\nstep = 0.01\nduration = 1.0\n[[body]]\nname = \"a\"\nmass = -1.0\nposition = [0.0, 1.0, 0.0]\nsphere = 0.1\n",
        )],
        arguments: &["simulate", "s.toml", "-o", "x.csv"],
        exit: 2,
        stderr: "error: the mass of body `a` is -1 kg\n --> s.toml:7:1\n  |\n7 | mass = -1.0\n  | ^^^^^^^^^^^\n  |\n  = help: write a finite number above 0\n",
    },
    Case {
        files: &[(
            "s.toml",
            "[simulation]\nintegrator = \"world\"\nstep = 0.01\nduration = 1.0\n[[body]]\nname = \"a\"\nmass = 1.0\nposition = [0.0, 1.0, 0.0]\ninertia = [1.0, 1.0, 9.0]\n",
        )],
        arguments: &["simulate", "s.toml", "-o", "x.csv"],
        exit: 2,
        stderr: "error: the inertia of body `a` has the principal moments [1.0, 1.0, 9.0] kg m^2\n --> s.toml:9:1\n  |\n9 | inertia = [1.0, 1.0, 9.0]\n  | ^^^^^^^^^^^^^^^^^^^^^^^^^\n  |\n  = help: write a symmetric matrix with three moments above 0, none larger than the sum of the other two\n",
    },
    Case {
        files: &[(
            "s.toml",
            "[simulation]\nintegrator = \"world\"\nstep = 0.01\nduration = 1.0\n[[body]]\nname = \"a\"\nmass = 1.0\nposition = [0.0, 1.0, 0.0]\nsphere = 0.1\n[[constraint]]\nname = \"h\"\nkind = \"hinge\"\na = \"world\"\nb = \"a\"\nanchor = [0.0, 0.0, 0.0]\naxis = [0.0, 0.0, 1.0]\n[[constraint]]\nname = \"i\"\nkind = \"ball\"\na = \"world\"\nb = \"a\"\nanchor = [0.0, 0.0, 0.0]\nfriction = 0.1\n",
        )],
        arguments: &["simulate", "s.toml", "-o", "x.csv"],
        exit: 2,
        stderr: "error: `kind` is `ball`, it must be without friction and spring, since it closes a loop: give them to another of the loop\n  --> s.toml:19:1\n   |\n19 | kind = \"ball\"\n   | ^^^^^^^^^^^^^\n",
    },
    Case {
        files: &[(
            "s.toml",
            "[simulation]\nintegrator = \"world\"\nstep = 0.01\nduration = 1.0\n[[body]]\nname = \"a\"\nmass = 1.0\nposition = [0.0, 1.0, 0.0]\nsphere = 0.1\n[[body]]\nname = \"a\"\nmass = 1.0\nposition = [0.0, 1.0, 0.0]\nsphere = 0.1\n",
        )],
        arguments: &["simulate", "s.toml", "-o", "x.csv"],
        exit: 2,
        stderr: "error: the name `a` is taken\n  --> s.toml:11:1\n   |\n11 | name = \"a\"\n   | ^^^^^^^^^^\n",
    },
    Case {
        files: &[(
            "s.toml",
            "[simulation]\nintegrator = \"world\"\nstep = 0.01\nduration = 1.0\n[[body]]\nname = \"a\"\nmass = 1.0\nposition = [0.0, 1.0, 0.0]\nsphere = 0.1\n[[constraint]]\nname = \"h\"\nkind = \"hinge\"\na = \"world\"\nb = \"a\"\nanchor = [0.0, 0.0, 0.0]\naxis = [0.0, 0.0, 1.0]\nmotor = { speed = 1.0, limit = 1.0 }\n[[rule]]\nwhen = \"touched(x)\"\nthen = [{ motor = \"h\", speed = 0.0 }]\n",
        )],
        arguments: &["simulate", "s.toml", "-o", "x.csv"],
        exit: 2,
        stderr: "error: in the condition: no sensor is called `x`\n  --> s.toml:19:1\n   |\n19 | when = \"touched(x)\"\n   | ^^^^^^^^^^^^^^^^^^^\n",
    },
    Case {
        files: &[("a.bvh", TAKE), ("p.toml", "[input]\nmotion = \"a.bvh\"\n[[stage]]\nuse = \"ragdoll\"\n")],
        arguments: &["run", "p.toml"],
        exit: 1,
        stderr: "error: a.bvh: stage 1 (`ragdoll`): no ragdoll can be made of `a`: it has no hips with limbs\n  hint: list the detected roles with `posemill inspect`; add a name with `--set input.roles.words.WORD=PART`\nreport: out/report.html\n1 failed\n",
    },
    Case {
        files: &[
            ("a.bvh", TAKE),
            ("p.toml", "[input]\nmotion = \"a.bvh\"\n[[stage]]\nuse = \"secondary\"\nchains = [\"tail*\"]\n"),
        ],
        arguments: &["run", "p.toml"],
        exit: 1,
        stderr: "error: a.bvh: stage 1 (`secondary`): no joint below the root has the name `tail*`\n  hint: list the joints with `posemill inspect`\nreport: out/report.html\n1 failed\n",
    },
    Case {
        files: &[
            ("a.bvh", TAKE),
            ("p.toml", "[input]\nmotion = \"a.bvh\"\n[[stage]]\nuse = \"secondary\"\nchains = [\"hips\"]\n"),
        ],
        arguments: &["run", "p.toml"],
        exit: 1,
        stderr: "error: a.bvh: stage 1 (`secondary`): no joint below the root has the name `hips`\n  hint: list the joints with `posemill inspect`\nreport: out/report.html\n1 failed\n",
    },
    // Stages that are disabled count, as in errors of the file and in `--set stage.2`.
    Case {
        files: &[
            ("a.bvh", TAKE),
            (
                "p.toml",
                "[input]\nmotion = \"a.bvh\"\n[[stage]]\nuse = \"trim\"\nenabled = false\n[[stage]]\nuse = \"ragdoll\"\n",
            ),
        ],
        arguments: &["run", "p.toml"],
        exit: 1,
        stderr: "error: a.bvh: stage 2 (`ragdoll`): no ragdoll can be made of `a`: it has no hips with limbs\n  hint: list the detected roles with `posemill inspect`; add a name with `--set input.roles.words.WORD=PART`\nreport: out/report.html\n1 failed\n",
    },
    Case {
        files: &[
            ("a.bvh", TAKE),
            ("a.contacts.bvh", TAKE),
            (
                "p.toml",
                "[input]\nmotion = \"*.bvh\"\n[output]\nformats = [\"csv\"]\ncontacts = true\n[[stage]]\nuse = \"contacts\"\n",
            ),
        ],
        arguments: &["run", "p.toml", "--quiet"],
        exit: 1,
        stderr: "error: a.bvh: `out/a.contacts.csv` beside the output is a file of another take of this run\n  hint: give the takes different names or folders\n",
    },
    Case {
        files: &[("a.bvh", TAKE)],
        arguments: &["convert", "a.bvh", "-o", "a.pkl"],
        exit: 1,
        stderr: "error: a.bvh: pkl files hold motions of robots, and the character is none\n  hint: use a robot model (MJCF or URDF), or write `.npz`\n1 failed\n",
    },
    Case {
        files: &[("a.bvh", "@walk.bvh"), ("r.xml", "@humanoid.xml")],
        arguments: &["retarget", "a.bvh", "--onto", "r.xml", "-o", "a.csv", "--set", "output.robot.layout=x"],
        exit: 1,
        stderr: "error: a.bvh: `x` is no layout of csv files for robots: `unitree_csv`, `seed_csv`, `kimodo_csv`\n  hint: set `output.robot.layout`\n1 failed\n",
    },
    Case {
        files: &[("a.bvh", TAKE), ("r.xml", "@humanoid.xml")],
        arguments: &["retarget", "a.bvh", "--onto", "r.xml", "-o", "a.glb"],
        exit: 1,
        stderr: "error: a.bvh: stage 5 (`retarget`): the take has no left_upper_leg, which a robot's legs need\n  hint: see the detected roles with `posemill inspect`, and name the joint with `posemill map`\n1 failed\n",
    },
    Case {
        files: &[("a.bvh", "@walk.bvh"), ("r.xml", ONE_HINGE)],
        arguments: &["retarget", "a.bvh", "--onto", "r.xml", "-o", "a.glb"],
        exit: 1,
        stderr: "error: a.bvh: stage 5 (`retarget`): `r` is no humanoid: no two limbs of three hinges each mirror each other and reach down\n  hint: name the model of a robot with two legs that bend at hip and knee\n1 failed\n",
    },
    Case {
        files: &[("a.csv", "a,b\n1,2\n"), ("r.xml", "@humanoid.xml")],
        arguments: &["inspect", "a.csv", "--set", "input.robot=r.xml"],
        exit: 1,
        stderr: "error: `a.csv`: a: it is of no layout for a robot of 29 hinges: 1 columns\n  hint: see docs/robots.md for the layouts that are read\n",
    },
    Case {
        files: &[("a.amc", ":FULLY-SPECIFIED\n:DEGREES\n1\nroot 1 2 3 0 90 0\n")],
        arguments: &["inspect", "a.amc", "--set", "input.skeleton=no.asf"],
        exit: 1,
        stderr: "error: `a.amc`: the skeleton file `no.asf`: no such file or directory\n",
    },
];

/// A robot of two links.
const ONE_HINGE: &str = "<mujoco><worldbody><body name=\"a\"><geom size=\"0.1\"/><body name=\"b\" pos=\"0 0 1\">\
    <joint name=\"j\" axis=\"0 0 1\"/><geom size=\"0.1\"/></body></body></worldbody></mujoco>";

/// Names of files, their contents, and why they cannot be read.
const REFUSED: &[(&str, &str, &str)] = &[
    (
        "a.csv",
        "Timecode,BlendshapeCount\n10:00:00:01,61\n",
        "the first row names no morph target of a face (`jawOpen`, `viseme_aa`, `happy`)\n  hint: name the columns after ARKit blend shapes, VRM expressions or visemes, besides `Timecode`, `time` or `frame`",
    ),
    (
        "a.csv",
        "Timecode,BlendshapeCount,jawOpen\n10:00:00:01,61,0.5,1\n",
        "line 2: 4 cells, the first row has 3\n  hint: export the table again",
    ),
    (
        "a.csv",
        "Timecode,BlendshapeCount,jawOpen\n10:00:03:00,61,1\n10:00:02:00,61,1\n10:00:01:00,61,1\n",
        "the times fall from frame to frame, first from 36003 s to 36002 s: the take would play backwards\n  hint: export the take again, with its frames in the order of their times",
    ),
    ("a.csv", "Timecode,BlendshapeCount,jawOpen\n", "no frame has weights\n  hint: export the take again"),
    (
        "a.json",
        "{\"fps\": 30",
        "the JSON holds neither positions of points nor weights of a face per frame: EOF while parsing an object at line 1 column 10\n  hint: write points as `{\"fps\": 30, \"frames\": [[[0, 1, 0], [0, 1.2, 0]]]}`, weights as `{\"fps\": 60, \"names\": [\"jawOpen\"], \"frames\": [[0.1]]}`, or `{\"frames\": [{\"time\": 0, \"weights\": {\"jawOpen\": 0.1}}]}`",
    ),
    (
        "a.json",
        "{\"fps\": 30, \"frames\": [[[0, 1, 2], [0, 2, 1]], [[0, 1, 2]]]}",
        "the JSON text: frame 1 has 1 points, others have 2",
    ),
    ("a.usd", "x", "line 1: `x` is no definition of a prim\n  hint: write it again with `usdcat`"),
    (
        "a.usdz",
        "PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
        "it is neither text nor binary USD, nor a `.usdz` that holds one uncompressed\n  hint: export it again, or write it as text with `usdcat in.usd -o out.usda` (usd-core)",
    ),
    (
        "a.usda",
        "#usda 1.0\ndef Skeleton \"S\" {\nuniform token[] joints = [\"a\", \"a/b\"]\nuniform matrix4d[] restTransforms = [((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1))]\n}\n",
        "`/S`: `restTransforms` has 1 matrices, the skeleton has 2 joints\n  hint: export the file again",
    ),
    (
        "a.urdf",
        "<robot name=\"r\"><link name=\"a\"></robot>",
        "a.urdf: expected 'link' tag, not 'robot' at 1:32\n  hint: correct the XML; document type definitions (`<!DOCTYPE`) are not read",
    ),
    (
        "a.xml",
        "<html></html>",
        "a.xml: its first element is <html>\n  hint: name the file of the robot itself, with its links and hinges",
    ),
    (
        "a.asf",
        ":units\nlength 0.45\n",
        "a.asf: there is no bone below the root: its `:hierarchy` is missing or cut off",
    ),
    (
        "a.pmx",
        "a file of another program",
        "byte 0: no PMX file begins here\n  hint: save it again, a `.pmx` with PMX Editor, a `.vmd` with MikuMikuDance",
    ),
    (
        "a.gltf",
        "{\"asset\": {\"version\": \"2.0\"}, \"nodes\": [{",
        "byte 0: EOF while parsing an object at line 1 column 41",
    ),
    (
        "a.gltf",
        "{\"asset\": {\"version\": \"2.0\"}, \"nodes\": [{\"children\": [5]}]}",
        "`nodes[0].children[0]`: there is no `nodes[5]`, only 1",
    ),
];

const STAGE_FAULTS: &[StageFault] = &[
    StageFault {
        stage: "trim",
        keys: "start_s = 2.0\nend_s = 1.0",
        line: 6,
        message: "`end_s` is 1, before `start_s` 2",
        hint: "",
    },
    StageFault {
        stage: "contacts",
        keys: "parts = [\"horn\"]",
        line: 5,
        message: "`horn` is not a part with contacts",
        hint: "name one of `left_heel`, `right_heel`, `left_ball`, `right_ball`, `left_hand`, `right_hand`, `left_elbow`, `right_elbow`, `left_knee`, `right_knee`, `pelvis`, `head`",
    },
    StageFault {
        stage: "trim",
        keys: "start_s = -1.0",
        line: 5,
        message: "`start_s` is -1, allowed is 0 and more",
        hint: "",
    },
    StageFault {
        stage: "trim",
        keys: "start_s = 1.0\nstart_frame = 3",
        line: 6,
        message: "`start_frame` and `start_s` exclude each other",
        hint: "remove one of them",
    },
    StageFault {
        stage: "trim",
        keys: "end_s = 1.0\nend_frame = 3",
        line: 6,
        message: "`end_frame` and `end_s` exclude each other",
        hint: "remove one of them",
    },
    StageFault {
        stage: "trim",
        keys: "start_frame = 3\nend_frame = 2",
        line: 6,
        message: "`end_frame` is 2, before `start_frame` 3",
        hint: "",
    },
    StageFault {
        stage: "contacts",
        keys: "ground_m = inf",
        line: 5,
        message: "`ground_m` is inf, allowed is a finite number",
        hint: "",
    },
    StageFault {
        stage: "contacts",
        keys: "height_on_m = 0.2\nheight_off_m = 0.1",
        line: 6,
        message: "`height_off_m` is 0.1, below 0.2 where a contact begins",
        hint: "",
    },
    StageFault {
        stage: "contacts",
        keys: "shortest_s = 0.0",
        line: 5,
        message: "`shortest_s` is 0, allowed is above 0",
        hint: "",
    },
    StageFault {
        stage: "filter",
        keys: "degree = 12\nwindow_frames = 31",
        line: 5,
        message: "`degree` is 12, allowed is 0 to 9",
        hint: "",
    },
    StageFault {
        stage: "filter",
        keys: "window_frames = 4",
        line: 5,
        message: "a window of 4 frames has no middle: use an odd number",
        hint: "",
    },
    StageFault {
        stage: "filter",
        keys: "degree = 3\nwindow_frames = 3",
        line: 6,
        message: "a polynomial of degree 3 smooths nothing in a window of 3 frames",
        hint: "",
    },
    StageFault {
        stage: "ground",
        keys: "height_m = nan",
        line: 5,
        message: "`height_m` is NaN, allowed is a finite number",
        hint: "",
    },
    StageFault {
        stage: "ik",
        keys: "posture = -1.0",
        line: 5,
        message: "`posture` is -1, allowed is 0 and more",
        hint: "",
    },
    StageFault {
        stage: "limits",
        keys: "cutoff_hz = 99.0",
        line: 5,
        message: "`cutoff_hz` is 99, allowed is 0.5 to 30",
        hint: "",
    },
    StageFault {
        stage: "loop",
        keys: "blend_s = 0.0",
        line: 5,
        message: "`blend_s` is 0, allowed is above 0",
        hint: "",
    },
    StageFault {
        stage: "loop",
        keys: "shortest_s = 2.0\nlongest_s = 1.0",
        line: 6,
        message: "`longest_s` is 1, below `shortest_s` 2",
        hint: "",
    },
    StageFault {
        stage: "retarget",
        keys: "scale = -1.0",
        line: 5,
        message: "`scale` is -1, allowed is `legs` or a number above 0",
        hint: "",
    },
    StageFault {
        stage: "retarget",
        keys: "scale = \"arms\"",
        line: 5,
        message: "`scale`: a scale is `legs` or a number",
        hint: "",
    },
    StageFault {
        stage: "settle",
        keys: "mode = \"track\"",
        line: 5,
        message: "`mode`: `track` was removed: it changed clean takes and fixed few errors",
        hint: "use `flights` for jumps and landings, `perform` for a body that performs the clip, the stages `repair`, `foot_lock`, `ground` and `limits` for the rest",
    },
    StageFault {
        stage: "settle",
        keys: "mode = \"flight\"",
        line: 5,
        message: "`mode` must be one of `flights`, `ragdoll`, `secondary`, not `flight`",
        hint: "",
    },
    StageFault {
        stage: "perform",
        keys: "hits = [{ part = \"nose\", impulse_n_s = [1.0, 0.0, 0.0] }]",
        line: 5,
        message: "`part` of a hit is `nose`, which is no part of a body",
        hint: "name one: `part = \"chest\"`",
    },
    StageFault {
        stage: "perform",
        keys: "hits = [{ part = \"chest\", mass_kg = 1.0 }]",
        line: 5,
        message: "the hit on `chest` needs `impulse_n_s`, or `mass_kg` and `velocity_m_s`",
        hint: "",
    },
    StageFault {
        stage: "perform",
        keys: "residual = 2.0",
        line: 5,
        message: "`residual` is 2, allowed is 0 to 1",
        hint: "",
    },
    StageFault {
        stage: "ragdoll",
        keys: "hit_impulse_n_s = [inf, 0.0, 0.0]",
        line: 5,
        message: "`hit_impulse_n_s` must be three finite numbers",
        hint: "",
    },
    StageFault {
        stage: "ragdoll",
        keys: "hit = \"head\"",
        line: 5,
        message: "the hit on `head` has no impulse",
        hint: "set `hit_impulse_n_s`",
    },
    StageFault {
        stage: "ragdoll",
        keys: "hit_impulse_n_s = [0.0, 0.0, 50.0]",
        line: 5,
        message: "`hit_impulse_n_s` hits no part",
        hint: "set `hit`, such as `hit = \"chest\"`",
    },
    StageFault {
        stage: "ragdoll",
        keys: "hit = \"head\"\nhit_impulse_n_s = [0.0, 0.0, -3000.0]",
        line: 6,
        message: "`hit_impulse_n_s` has 3000 N s, allowed is at most 2000",
        hint: "",
    },
    StageFault {
        stage: "perform",
        keys: "hits = [{ part = \"chest\", impulse_n_s = [0.0, 0.0, -3000.0] }]",
        line: 5,
        message: "the hit on `chest` has 3000 N s, allowed is at most 2000",
        hint: "",
    },
    StageFault {
        stage: "ragdoll",
        keys: "floor_m = nan",
        line: 5,
        message: "`floor_m` is NaN, allowed is a finite number",
        hint: "",
    },
    StageFault {
        stage: "ragdoll",
        keys: "hit = \"nose\"\nhit_impulse_n_s = [0.0, 0.0, 9.0]",
        line: 5,
        message: "`nose` is no role",
        hint: "",
    },
    StageFault {
        stage: "ik",
        keys: "effectors = [{ target = [0.0, 1.0, 0.0] }]",
        line: 5,
        message: "an effector has no `joint`",
        hint: "name one: `joint = \"left_hand\"`",
    },
    StageFault {
        stage: "ik",
        keys: "effectors = [{ joint = \"head\", target = [0.0, 1.0, 0.0], blend_s = -1.0 }]",
        line: 5,
        message: "`blend_s` of effector `head` is -1, allowed is 0 and more",
        hint: "",
    },
    StageFault {
        stage: "ik",
        keys: "effectors = [{ joint = \"head\", target = [0.0, 1.0, 0.0], from_s = 2.0, until_s = 1.0 }]",
        line: 5,
        message: "`until_s` of effector `head` is 1, not after `from_s` 2",
        hint: "",
    },
    StageFault {
        stage: "ik",
        keys: "effectors = [{ joint = \"head\", target = [0.0, 1.0, 0.0], axis = [0.0, 0.0, 0.0] }]",
        line: 5,
        message: "the `axis` of effector `head` has no direction",
        hint: "",
    },
    StageFault {
        stage: "ik",
        keys: "effectors = [{ joint = \"head\", target = [nan, 1.0, 0.0] }]",
        line: 5,
        message: "a target of effector `head` is not finite",
        hint: "",
    },
    StageFault {
        stage: "ik",
        keys: "effectors = [{ joint = \"head\", keys = [[1.0, 0.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0]] }]",
        line: 5,
        message: "the keys of effector `head` do not ascend in time",
        hint: "",
    },
    StageFault {
        stage: "ik",
        keys: "effectors = [{ joint = \"head\" }]",
        line: 5,
        message: "effector `head` needs exactly one of `target`, `keys`, `follow` and `csv`; the goal `hold` takes `target` only",
        hint: "",
    },
    StageFault {
        stage: "ik",
        keys: "effectors = [{ joint = \"head\", target = [0.0, 1.0, 0.0], weight = 0.0 }]",
        line: 5,
        message: "`weight` of effector `head` is 0, allowed is above 0",
        hint: "",
    },
    StageFault {
        stage: "ik",
        keys: "effectors = [{ joint = \"head\", target = [0.0, 1.0, 0.0], from_s = inf }]",
        line: 5,
        message: "`from_s` of effector `head` is inf, allowed is a finite number",
        hint: "",
    },
    StageFault {
        stage: "resample",
        keys: "rate_hz = 1000000000.0",
        line: 5,
        message: "1000000000 Hz is not above 0 Hz and at most 1000 Hz",
        hint: "",
    },
    StageFault {
        stage: "resample",
        keys: "rate_hz = 100000000.0",
        line: 5,
        message: "100000000 Hz is not above 0 Hz and at most 1000 Hz",
        hint: "",
    },
    StageFault {
        stage: "mirror",
        keys: "x = 1",
        line: 5,
        message: "unknown key `x`, known are `pairs`, `enabled`",
        hint: "",
    },
    StageFault {
        stage: "reduce",
        keys: "tolerance_mm = -1",
        line: 5,
        message: "unknown key `tolerance_mm`, known are `tolerance_m`, `enabled`",
        hint: "",
    },
    StageFault {
        stage: "trim",
        keys: "start_frame = -1",
        line: 5,
        message: "`start_frame` must be a whole number, 0 or more, not integer `-1`",
        hint: "",
    },
    StageFault {
        stage: "trim",
        keys: "start_frame = 2.5",
        line: 5,
        message: "`start_frame` must be a whole number, 0 or more, not floating point `2.5`",
        hint: "",
    },
];

fn run(files: &[(&str, &str)], arguments: &[&str]) -> Output {
    let folder = TempDir::new().unwrap();
    for (name, content) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match content.strip_prefix('@') {
            Some(sample) => {
                let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
                fs::copy(samples.join(sample), path).unwrap();
            }
            None => fs::write(path, content).unwrap(),
        }
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_posemill"));
    command.args(arguments).current_dir(folder.path()).env_remove("NO_COLOR").env("TERM", "dumb");
    command.output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn files_that_cannot_be_read_have_their_reason_printed_whole() {
    let coincident = format!("{{\"fps\": 30, \"frames\": [[{}]]}}", ["[0, 0, 0]"; 22].join(", "));
    let points = [
        (&[][..], "the legs have no length: hips, knees and ankles coincide"),
        (
            &["--set", "input.points.person=3"],
            "there is no person 3: it holds 0 in 1 of 1 frames\n  hint: name one with `--set input.points.person=0`",
        ),
    ];
    let points = points.map(|(sets, reason)| ("a.json", coincident.as_str(), sets, reason));
    for (name, content, sets, reason) in
        REFUSED.iter().map(|(name, content, reason)| (*name, *content, &[][..], *reason)).chain(points)
    {
        let output = run(&[(name, content)], &[&["inspect", name], sets].concat());
        assert_eq!(stderr(&output), format!("error: `{name}`: {reason}\n"));
        assert_eq!(output.status.code(), Some(1), "{reason}");
    }
}

#[test]
fn every_message_of_the_program_is_printed_whole() {
    let wrong: Vec<String> = CASES
        .iter()
        .filter_map(|case| {
            let output = run(case.files, case.arguments);
            let (exit, printed) = (output.status.code(), stderr(&output));
            (exit != Some(case.exit) || printed != case.stderr).then(|| {
                format!(
                    "{:?}: {exit:?} for {}\n{printed}--- expected\n{}",
                    case.arguments, case.exit, case.stderr
                )
            })
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), CASES.len(), wrong.join("\n"));
}

#[test]
fn every_fault_of_a_stage_names_the_stage_the_file_the_line_and_the_hint() {
    for fault in STAGE_FAULTS {
        let head = "[input]\nmotion = \"a.bvh\"\n[[stage]]\nuse = ";
        let pipeline = format!("{head}\"{}\"\n{}\n", fault.stage, fault.keys);
        let output = run(&[("a.bvh", TAKE), ("p.toml", &pipeline)], &["run", "p.toml"]);
        let printed = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{printed}");
        let lines: Vec<&str> = printed.lines().collect();
        assert_eq!(lines[0], format!("error: stage 1 (`{}`): {}", fault.stage, fault.message));
        assert!(lines[1].starts_with(&format!(" --> p.toml:{}:", fault.line)), "{printed}");
        let shown = pipeline.lines().nth(fault.line - 1).unwrap();
        assert_eq!(lines[3], format!("{} | {shown}", fault.line));
        let hint = printed.lines().find_map(|line| line.strip_prefix("  = help: "));
        assert_eq!(hint.unwrap_or_default(), fault.hint, "{printed}");
        assert_eq!(printed.matches("error: ").count(), 1, "{printed}");
    }
}

#[test]
fn the_chains_of_secondary_are_checked_before_a_take_is_read() {
    let pipeline = "[input]\nmotion = \"a.bvh\"\ncharacter = \"h.glb\"\n[[stage]]\nuse = \"retarget\"\n\
        [[stage]]\nuse = \"secondary\"\nchains = [\"spine_1\"]\n";
    let files = [("a.bvh", "@wave.bvh"), ("h.glb", "@tailed.glb"), ("p.toml", pipeline)];
    let output = run(&files, &["run", "p.toml", "--dry-run"]);
    let printed = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{printed}");
    for part in
        ["no joint below the root has the name `spine_1`", " --> p.toml:8:", "the nearest name is `spine_01`"]
    {
        assert!(printed.contains(part), "{printed}");
    }
}

#[test]
fn motions_that_a_format_cannot_hold_are_refused_with_their_names() {
    let options = ExportOptions::default();
    let none = save(&[], Format::GLB, &options).unwrap_err().to_string();
    assert_eq!(none, "there is no motion to write");
    let asset = from_bytes(TAKE.as_bytes(), "walk", Some("bvh"), None, &ImportOptions::default()).unwrap();
    let motion = asset.motion(0).unwrap();
    let two = save(&[motion.clone(), motion], Format::BVH, &options).unwrap_err().to_string();
    assert_eq!(
        two,
        "a file of the format bvh holds one clip, but 2 were given\n  hint: name a folder to get a file for each, select \
         one with `--clip NAME` (here `walk`, `walk`), or write GLB"
    );
}

/// The text of every attribute `#[error("...")]` in `folder`, with the file.
fn error_texts(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            error_texts(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let source = fs::read_to_string(&path).unwrap();
            for attribute in source.split("#[error(").skip(1) {
                let Some(rest) = attribute.trim_start().strip_prefix('"') else { continue };
                found.push((path.clone(), literal(rest)));
            }
        }
    }
}

/// The value of a string literal from behind its opening quote.
fn literal(source: &str) -> String {
    let (mut text, mut rest) = (String::new(), source.chars());
    loop {
        match rest.next().unwrap() {
            '"' => return text,
            '\\' => match rest.next().unwrap() {
                'n' => text.push('\n'),
                '\n' => rest = rest.as_str().trim_start().chars(),
                other => text.push(other),
            },
            other => text.push(other),
        }
    }
}

/// Words with which hints begin.
const VERBS: &[&str] = &[
    "add",
    "ask",
    "check",
    "copy",
    "correct",
    "decompress",
    "end",
    "export",
    "give",
    "leave",
    "limit",
    "list",
    "name",
    "pass",
    "put",
    "remove",
    "replace",
    "report",
    "run",
    "save",
    "see",
    "set",
    "split",
    "start",
    "take",
    "trim",
    "try",
    "use",
    "write",
];

#[test]
fn errors_end_without_a_full_stop_and_hints_begin_with_a_verb() {
    let mut texts = Vec::new();
    error_texts(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut texts);
    assert!(texts.len() > 140, "{}", texts.len());
    let mut hints = 0;
    for (path, text) in texts {
        let place = path.display();
        let (message, hint) = text.split_once('\n').map_or((text.as_str(), None), |(m, h)| (m, Some(h)));
        assert!(!message.ends_with(['.', '!', ' ', ':']), "{place}: {message}");
        let first = message.chars().next().unwrap();
        assert!(!first.is_uppercase() || message.starts_with("FBX"), "{place}: {message}");
        let Some(hint) = hint.map(str::trim_start) else { continue };
        let hint = hint.strip_prefix("hint: ").unwrap_or(hint);
        if hint.starts_with('{') {
            continue;
        }
        hints += 1;
        assert!(!hint.contains('\n') && !hint.ends_with(['.', '!']), "{place}: {hint}");
        let verb = hint.split([' ', ',']).next().unwrap();
        assert!(VERBS.contains(&verb), "{place}: `{verb}` of `{hint}` is none of {VERBS:?}");
    }
    assert!(hints > 45, "{hints}");
}
