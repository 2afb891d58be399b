//! Faults of pipeline files as people see them: all at once, each where it stands.

mod judged;

use posemill::anatomy::Word;
use posemill::model::Motion;
use posemill::pipeline::{
    DEFAULT_PIPELINE, Pipeline, PipelineConfig, PlanError, reference, save, schema, stage_help, stage_list,
};
use posemill::report::Report;
use posemill::stages::{STAGES, Setting, Stage, StageConfig, StageEntry, StageError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::fs;
use std::path::Path;

/// Plays the clip faster. Frames stay as they are.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Hasten {
    /// How many times as fast.
    factor: f64,
    /// What to do with the ends.
    ends: Ends,
    /// Leave this many frames alone.
    spare: Option<u32>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Ends {
    Keep,
    Blend,
}

impl Default for Hasten {
    fn default() -> Self {
        Self { factor: 2.0, ends: Ends::Keep, spare: None }
    }
}

#[derive(Debug)]
struct Hastening(f64);

impl StageConfig for Hasten {
    const NAME: &'static str = "hasten";

    fn validate(&self) -> Result<(), Vec<StageError>> {
        if self.factor > 0.0 {
            return Ok(());
        }
        Err(vec![StageError::key(
            "factor",
            format!("`factor` is {}\n  hint: it must be above 0", self.factor),
        )])
    }

    fn resolve(&self, _: &Setting) -> Result<Box<dyn Stage>, StageError> {
        Ok(Box::new(Hastening(self.factor)))
    }
}

impl Stage for Hastening {
    fn apply(&self, mut motion: Motion, _: &mut Report) -> Result<Motion, StageError> {
        motion.clip.sample_rate *= self.0;
        Ok(motion)
    }
}

const REGISTRY: &[StageEntry] = &[StageEntry::of::<Hasten>()];

fn parse(text: &str, sets: &[&str]) -> Result<PipelineConfig, String> {
    let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
    PipelineConfig::parse("dance.toml", text, &sets, REGISTRY).map_err(|e| e.to_string())
}

fn faults(text: &str, sets: &[&str]) -> String {
    parse(text, sets).expect_err("this pipeline is faulty")
}

#[test]
fn a_sound_pipeline_is_read_with_its_defaults() {
    let text = "[input]\nmotion = \"a.bvh\"\nunits = \"cm\"\n[[stage]]\nuse = \"hasten\"\nfactor = 3\n";
    let config = parse(text, &["stage.hasten.ends=blend", "output.formats=[\"glb\", \"bvh\"]"]).unwrap();
    assert_eq!(config.input.motion, ["a.bvh"]);
    assert_eq!(config.input.options("".as_ref()).units, Some(0.01));
    assert_eq!(config.output.formats.len(), 2);
    assert_eq!(config.output.dir, "out");
    let canonical = config.stages[0].stage.canonical().to_string();
    assert_eq!(canonical, r#"{"factor":3.0,"ends":"blend","spare":null}"#);
}

#[test]
fn a_layout_of_robots_that_no_format_has_is_a_fault() {
    let message = faults("[input]\nmotion = \"a.bvh\"\n[output]\nrobot = \"mjlab\"\n", &[]);
    assert!(
        message.contains("[output]: the layout `mjlab` does nothing, since the format is `glb`"),
        "{message}"
    );
    assert!(message.contains("dance.toml:4:"), "{message}");
    assert!(
        message.contains("write `formats = [\"npz\"]` in [output], or end `-o` with `.npz`"),
        "{message}"
    );
    let message = faults("", &["output.formats=glb", "output.robot.layout=mjlab"]);
    assert!(message.contains("the layout `mjlab` does nothing") && message.contains("--set"), "{message}");
    let message = faults("", &["output.formats=bvh", "output.robot.default_pose=[0.0]"]);
    assert!(message.contains("`robot.default_pose` does nothing, since the format is `bvh`"), "{message}");
    for written in [
        "formats = [\"npz\"]\nrobot = \"mjlab\"",
        "formats = [\"glb\", \"npz\"]\nrobot = \"mjlab\"",
        "robot = \"none\"",
    ] {
        assert!(parse(&format!("[output]\n{written}\n"), &[]).is_ok(), "{written}");
    }
}

#[test]
fn all_faults_are_shown_at_once_in_the_order_of_the_text() {
    let text = "\
[input]
motion = 7
up = \"x\"

[[stage]]
use = \"hasten\"
factor = \"fast\"
ends = \"blent\"
spair = 3

[[stage]]
use = \"hastn\"

[outputs]
";
    let expected = "\
error: [input]: `motion` must be a list of strings, not integer `7`
 --> dance.toml:2:10
  |
2 | motion = 7
  |          ^

error: [input]: `up` must be one of `y`, `z`, `-y`, not `x`
 --> dance.toml:3:6
  |
3 | up = \"x\"
  |      ^^^

error: stage 1 (`hasten`): `factor` must be a number, not string \"fast\"
 --> dance.toml:7:10
  |
7 | factor = \"fast\"
  |          ^^^^^^

error: stage 1 (`hasten`): `ends` must be one of `keep`, `blend`, not `blent`
 --> dance.toml:8:8
  |
8 | ends = \"blent\"
  |        ^^^^^^^ did you mean `blend`?

error: stage 1 (`hasten`): unknown key `spair`, known are `factor`, `ends`, `spare`, `enabled`
 --> dance.toml:9:1
  |
9 | spair = 3
  | ^^^^^ did you mean `spare`?

error: stage 2: there is no stage `hastn`
  --> dance.toml:12:7
   |
12 | use = \"hastn\"
   |       ^^^^^^^ did you mean `hasten`?
   |
   = help: stages are `hasten`

error: unknown section `outputs`, known are `input`, `output`, `stage`
  --> dance.toml:14:2
   |
14 | [outputs]
   |  ^^^^^^^ did you mean `output`?";
    assert_eq!(faults(text, &[]), expected);
}

#[test]
fn a_number_out_of_range_is_shown_with_its_hint() {
    let expected = "\
error: stage 1 (`hasten`): `factor` is -1
 --> dance.toml:3:10
  |
3 | factor = -1
  |          ^^
  |
  = help: it must be above 0";
    assert_eq!(faults("[[stage]]\nuse = \"hasten\"\nfactor = -1\n", &[]), expected);
}

#[test]
fn faults_of_overrides_are_shown_in_the_override() {
    let expected = "\
error: stage 1 (`hasten`): `factor` must be a number, not string \"fast\"
 --> --set:1:21
  |
1 | stage.hasten.factor=fast
  |                     ^^^^

error: there is no stage `hast`
 --> --set:1:7
  |
1 | stage.hast.factor=1
  |       ^^^^ did you mean `hasten`?
  |
  = help: its stages are `hasten`

error: [output]: unknown key `drir`, known are `dir`, `formats`, `preview`, `report`, `fail_on`, `contacts`, `forces`, `replace_animations`, `fbx`, `npz`, `points`, `csv`, `robot`, `vrma`
 --> --set:1:8
  |
1 | output.drir=x
  |        ^^^^ did you mean `dir`?

error: `nonsense` has no `=`
 --> --set:1:1
  |
1 | nonsense
  | ^^^^^^^^
  |
  = help: write `input.KEY=VALUE`, `output.KEY=VALUE` or `stage.NAME.KEY=VALUE`

error: `stage.factor` is not the path of a key
 --> --set:1:1
  |
1 | stage.factor=1
  | ^^^^^^^^^^^^
  |
  = help: write `input.KEY=VALUE`, `output.KEY=VALUE` or `stage.NAME.KEY=VALUE`";
    let sets =
        ["stage.hasten.factor=fast", "stage.hast.factor=1", "output.drir=x", "nonsense", "stage.factor=1"];
    assert_eq!(faults("[[stage]]\nuse = \"hasten\"\n", &sets), expected);
}

#[test]
fn words_in_names_are_told_in_the_file_and_on_top_of_it() {
    let text = "[input.roles.words]\nzampa = \"hand\"\ncoscia1 = \"upper_leg\"\n";
    let config = parse(text, &["input.roles.words.zampa=foot", "input.roles.words.Ala Sx='helper'"]).unwrap();
    let words = config.input.options("".as_ref()).words;
    let expected = [("Ala Sx", "helper"), ("coscia1", "upper_leg"), ("zampa", "foot")];
    assert_eq!(words, expected.map(|(word, part)| Word::new(word, part).unwrap()));
}

#[test]
fn words_for_parts_that_are_none_are_shown_with_the_nearest() {
    let expected = "\
error: [input]: `roles.words`: `hannd` is no part that a word may denote
 --> dance.toml:2:9
  |
2 | zampa = \"hannd\"
  |         ^^^^^^^ did you mean `hand`?
  |
  = help: known are `hips`, `spine`, `neck`, `head`, `tail`, `clavicle`, `upper_arm`, `lower_arm`, `hand`, \
`upper_leg`, `lower_leg`, `foot`, `toes`, `thumb`, `index`, `middle`, `ring`, `little`, `finger`, `first`, `second`, \
`third`, `fourth`, `fifth`, `metacarpal`, `left`, `right`, `front`, `hind`, `helper`, `tip`, `noise`

error: [input]: `roles.words`: `12` has no letters and cannot be a word of a joint name
 --> --set:1:19
  |
1 | input.roles.words.12=hand
  |                   ^^

error: `input.roles.word.ala` is not the path of a key
 --> --set:1:1
  |
1 | input.roles.word.ala=hand
  | ^^^^^^^^^^^^^^^^^^^^
  |
  = help: write `input.roles.words.WORD=PART`";
    let sets = ["input.roles.words.12=hand", "input.roles.word.ala=hand"];
    assert_eq!(faults("[input.roles.words]\nzampa = \"hannd\"\n", &sets), expected);
}

#[test]
fn a_key_of_a_stage_that_is_switched_off_is_not_set_in_vain() {
    let off = "[[stage]]\nuse = \"hasten\"\nenabled = false\n";
    let told = faults(off, &["stage.hasten.factor=2.0"]);
    assert!(
        told.contains("stage 1 (`hasten`): `factor` does nothing, since the stage is disabled"),
        "{told}"
    );
    assert!(told.contains("--set:1:14") && told.contains("`--set stage.hasten.enabled=true`"), "{told}");
    assert!(parse(off, &["stage.hasten.factor=2.0", "stage.hasten.enabled=true"]).is_ok());
    let on = "[[stage]]\nuse = \"hasten\"\n";
    assert!(parse(on, &["stage.hasten.enabled=false", "stage.hasten.factor=2.0"]).is_ok());
    assert!(parse(&format!("{off}factor = 2.0\n"), &[]).is_ok());
}

#[test]
fn an_override_repairs_what_the_file_says() {
    let text = "[[stage]]\nuse = \"hasten\"\nfactor = -1\n";
    assert!(parse(text, &["stage.hasten.factor=1.5"]).is_ok());
}

#[test]
fn one_of_several_stages_of_a_name_is_overridden_by_number() {
    let text = "[[stage]]\nuse = \"hasten\"\n[[stage]]\nuse = \"hasten\"\n";
    let config = parse(text, &["stage.2.factor=5"]).unwrap();
    assert_eq!(config.stages[1].stage.canonical()["factor"], 5.0);
    assert_eq!(config.stages[0].stage.canonical()["factor"], 2.0);
    let expected = "\
error: this pipeline has 2 stages `hasten`
 --> --set:1:7
  |
1 | stage.hasten.factor=5
  |       ^^^^^^
  |
  = help: say which by number: `stage.1`, `stage.2`";
    assert_eq!(faults(text, &["stage.hasten.factor=5"]), expected);
}

#[test]
fn text_that_is_no_toml_is_shown_where_it_breaks() {
    let text = faults("[input]\nmotion = \n[output]\nreport = perhaps\n", &[]);
    assert!(text.contains("--> dance.toml:2:"), "{text}");
    assert!(text.contains("--> dance.toml:4:"), "{text}");
}

#[test]
fn stages_of_the_wrong_shape_are_refused() {
    assert!(faults("[stage]\nuse = \"hasten\"\n", &[]).contains("write `[[stage]]`, with two brackets"));
    assert!(faults("stage = [3]\n", &[]).contains("a stage must be a table: `[[stage]]`"));
    assert!(faults("[[stage]]\nfactor = 1.0\n", &[]).contains("stage 1: `use` must name a stage"));
    assert!(faults("[[stage]]\nuse = 1\n", &[]).contains("stage 1: `use` must name a stage"));
    assert!(faults("input = 3\n", &[]).contains("`input` must be a section: `[input]`"));
    assert!(faults("[output]\nformats = []\n", &[]).contains("`formats` names no format"));
}

#[test]
fn units_are_names_or_positive_numbers() {
    let units =
        |text: &str| parse("", &[&format!("input.units={text}")]).map(|c| c.input.options("".as_ref()).units);
    assert_eq!(units("in"), Ok(Some(0.0254)));
    assert_eq!(units("0.5"), Ok(Some(0.5)));
    for bad in ["-1", "0", "inf", "furlong", "true"] {
        assert!(units(bad).unwrap_err().contains("`units` must be \"m\", \"cm\""), "{bad}");
    }
}

#[test]
fn the_reference_of_a_stage_shows_every_key_and_reads_back() {
    let text = reference(REGISTRY);
    let expected = "
# Plays the clip faster. Frames stay as they are.
[[stage]]
use = \"hasten\"

# How many times as fast.
factor = 2.0

# What to do with the ends. One of \"keep\", \"blend\".
ends = \"keep\"

# Leave this many frames alone.
# spare = ...
";
    assert!(text.ends_with(expected), "{text}");
    let read = parse(&text, &[]).unwrap();
    assert_eq!(read.stages[0].stage.canonical(), REGISTRY[0].defaults());
    assert_eq!(stage_list(REGISTRY), "hasten  Plays the clip faster\n");
    let help = stage_help(&REGISTRY[0]);
    assert!(help.contains("\nends (default \"keep\")\n    What to do with the ends. One of"), "{help}");
}

#[test]
fn the_schema_names_every_stage() {
    let schema = schema(REGISTRY);
    let stage = &schema["properties"]["stage"]["items"]["oneOf"][0];
    assert_eq!(stage["properties"]["use"]["const"], "hasten");
    assert_eq!(stage["additionalProperties"], false);
    assert_eq!(stage["properties"]["factor"]["default"], 2.0);
}

#[test]
fn the_committed_reference_is_current_and_sound() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/pipelines/reference.toml");
    let committed = std::fs::read_to_string(path).unwrap();
    let hint = "run `posemill stages --reference > pipelines/reference.toml`";
    assert!(committed == reference(STAGES), "{hint}");
    if let Err(error) = PipelineConfig::parse("reference.toml", &committed, &[], STAGES) {
        panic!("{error}");
    }
}

#[test]
fn a_stage_is_named_once_in_the_registry() {
    let mut names: Vec<&str> = STAGES.iter().map(|e| e.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), STAGES.len());
}

#[test]
fn the_published_schema_takes_every_pipeline_that_is_shipped() {
    let schema = schema(STAGES);
    let validator = jsonschema::draft202012::new(&schema).expect("the schema is one");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("pipelines");
    let mut held = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let table: toml::Table = text.parse().unwrap();
        // The others are scenes, which `posemill simulate` carries out.
        if path.extension().is_some_and(|e| e == "toml") && table.contains_key("input") {
            let pipeline = serde_json::to_value(table).unwrap();
            let faults: Vec<String> = validator.iter_errors(&pipeline).map(|e| e.to_string()).collect();
            assert!(faults.is_empty(), "{}: {faults:?}", path.display());
            held += 1;
        }
    }
    assert!(held >= 10, "only {held} pipelines");
    for wrong in [
        json!({ "input": { "motion": 3 } }),
        json!({ "output": { "formats": "gbl" } }),
        json!({ "output": { "fail_on": [1] } }),
        json!({ "stage": [{ "use": "resample", "rate": 30.0 }] }),
        json!({ "stages": [] }),
    ] {
        assert!(!validator.is_valid(&wrong), "{wrong}");
    }
}

#[test]
fn a_fingerprint_depends_on_the_content_of_files_and_not_on_their_paths() {
    let text = "[input]\ncalibration = { file = \"rig.pose.bvh\" }\nskeleton = \"rig.asf\"\nbody_model = \"body.npz\"\n";
    let config = PipelineConfig::parse("dance.toml", text, &[], STAGES).unwrap();
    let names = ["rig.pose.bvh", "rig.asf", "body.npz"];
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    for folder in &folders {
        names.iter().for_each(|name| fs::write(folder.path().join(name), name).unwrap());
    }
    let fingerprint = |folder: &Path| Pipeline::new(&config, folder, None).unwrap().fingerprint;
    let first = fingerprint(folders[0].path());
    assert_eq!(first, fingerprint(folders[1].path()));
    for name in names {
        fs::write(folders[1].path().join(name), "changed").unwrap();
        assert_ne!(first, fingerprint(folders[1].path()), "{name}");
        fs::write(folders[1].path().join(name), name).unwrap();
    }
}

#[test]
fn all_faults_of_what_a_pipeline_names_are_shown_at_once() {
    let text = "[input]\ncalibration = { file = \"rig.pose.bvh\" }\n[input.limits.hero.left_lower_arm]\nflexion = 120\n\
        [[stage]]\nuse = \"retarget\"\nmap = \"map.toml\"\n";
    let config = PipelineConfig::parse("dance.toml", text, &[], STAGES).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let Err(PlanError::Config(error)) = Pipeline::new(&config, folder.path(), None) else { panic!() };
    let messages: Vec<&str> = error.faults.iter().map(|f| f.message.as_str()).collect();
    let expected = [
        "the file `rig.pose.bvh` cannot be read: no such file or directory",
        "[input]: `limits` names no character of this pipeline: `hero`",
        "there is no character to retarget onto",
        "the file `map.toml` cannot be read: no such file or directory",
    ];
    assert_eq!(messages, expected);
    let Err(PlanError::Config(error)) = Pipeline::new(&config, folder.path(), Some("gone.glb")) else {
        panic!()
    };
    assert!(error.to_string().contains("dance.toml: the file `gone.glb` cannot be read"), "{error}");
    assert_eq!(error.faults.len(), 4, "{error}");
}

#[test]
fn the_layout_of_a_robot_is_a_name_or_one_of_its_options() {
    let robot = |value: &str| {
        let text = format!("[output]\nformats = \"npz\"\nrobot = {value}\n");
        parse(&text, &[]).map(|config| config.output.robot)
    };
    assert_eq!(robot("\"mjlab\""), robot("{ layout = \"mjlab\" }"));
    assert_eq!(robot("\"mjlab\"").unwrap().layout, "mjlab");
    assert!(robot("{ layuot = \"mjlab\" }").unwrap_err().contains("`layuot`"));
    assert!(robot("3").unwrap_err().contains("the name of a layout, or a table of options"));
}

#[test]
fn a_broken_motion_is_an_error_without_stages_too() {
    let config = PipelineConfig::parse("dance.toml", "[output]\nreport = false\n", &[], STAGES).unwrap();
    let pipeline = Pipeline::new(&config, Path::new(""), None).unwrap();
    let (mut motion, _) = pipeline.load(concat!(env!("CARGO_MANIFEST_DIR"), "/data/walk.bvh")).unwrap();
    assert!(pipeline.apply(motion.clone()).is_ok());
    motion.clip.sample_rate = f64::NAN;
    let expected = "the motion is invalid: ";
    let error = pipeline.apply(motion.clone()).unwrap_err().to_string();
    assert!(error.starts_with(expected), "{error}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("walk.bvh");
    let error = save(&[motion], &path, &posemill::export::ExportOptions::default()).unwrap_err().to_string();
    assert!(error.starts_with(expected) && !path.exists(), "{error}");
}

#[cfg(feature = "physics")]
#[test]
fn the_old_name_of_a_split_stage_is_read_as_the_stage_that_it_means() {
    let parsed = |stage: &str, sets: &[&str]| {
        let text = format!("[input]\nmotion = \"a.bvh\"\n\n[[stage]]\n{stage}\n");
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        PipelineConfig::parse("p.toml", &text, &sets, STAGES)
    };
    let names = |config: &PipelineConfig| config.stages.iter().map(|s| s.stage.name()).collect::<Vec<_>>();
    for (written, meant) in [
        ("use = \"settle\"", "flights"),
        ("use = \"settle\"\nmode = \"flights\"", "flights"),
        ("use = \"settle\"\nmode = \"ragdoll\"\nlet_go_s = 2.0", "ragdoll"),
        ("use = \"settle\"\nmode = \"secondary\"\nchains = [\"tail\"]", "secondary"),
    ] {
        let config = parsed(written, &[]).unwrap();
        assert_eq!(names(&config), [meant]);
        assert_eq!(config.renamed, [(1, "settle", meant.to_owned())], "{written}");
    }
    let config =
        parsed("use = \"settle\"", &["stage.settle.mode=ragdoll", "stage.settle.let_go_s=2.0"]).unwrap();
    assert_eq!(names(&config), ["ragdoll"]);
    // A key of another mode was ignored.
    let error = parsed("use = \"settle\"\nmode = \"ragdoll\"\nchains = [\"tail\"]", &[]).unwrap_err();
    assert!(
        error.render(false).contains("stage 1 (`ragdoll`): unknown key `chains`"),
        "{}",
        error.render(false)
    );
    let standard = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        PipelineConfig::parse("p.toml", DEFAULT_PIPELINE, &sets, STAGES).unwrap()
    };
    assert!(!names(&standard(&[])).contains(&"flights"));
    assert!(names(&standard(&["stage.settle.enabled=true"])).contains(&"flights"));
    let hit = "stage.settle.hits=[{ part = \"chest\", impulse_n_s = [1, 0, 0] }]";
    assert_eq!(standard(&[hit]).renamed.last().unwrap().2, "perform");
    assert!(parsed("use = \"flights\"", &[]).unwrap().renamed.is_empty());
}

#[test]
fn the_stages_of_retarget_are_in_the_order_that_the_manual_recommends() {
    let page = include_str!("../../docs/pipelines.md");
    let order = page.split_once("A common order: ").unwrap().1.split_once("`.").unwrap().0;
    let order: Vec<&str> = order.split('`').skip(1).step_by(2).collect();
    let stages = DEFAULT_PIPELINE.lines().filter_map(|line| line.strip_prefix("use = \"")?.strip_suffix('"'));
    let places: Vec<Option<usize>> = stages.map(|name| order.iter().position(|o| *o == name)).collect();
    assert!(places.len() > 8 && places.iter().all(Option::is_some), "{places:?}");
    assert!(
        places.is_sorted(),
        "a hit acts on a body that travels, before `root_motion` keeps it in place: {places:?}"
    );
}
