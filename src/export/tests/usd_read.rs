//! USD text that this program writes comes back: joints, clips, meshes, morph targets.

use super::surfaces::rich;
use crate::made_walk::{carried, take};
use posemill::export::{ExportOptions, FORMATS, save};
use posemill::import::{ImportOptions, from_bytes};
use posemill::model::{Asset, Motion};
use std::collections::BTreeSet;

fn written(motion: &Motion) -> Vec<u8> {
    save(
        std::slice::from_ref(motion),
        *FORMATS.iter().find(|f| f.name == "usda").unwrap(),
        &ExportOptions::default(),
    )
    .unwrap()
    .0
    .swap_remove(0)
    .bytes
}

fn read(bytes: &[u8]) -> Asset {
    from_bytes(bytes, "again", Some("usda"), None, &ImportOptions::default()).unwrap()
}

#[test]
fn a_walk_comes_back_from_usd() {
    let motion = carried(&take("walk.bvh"));
    let asset = read(&written(&motion));
    let again = asset.motion(0).unwrap();
    again.check().unwrap();
    assert_eq!(again.clip.frames(), motion.clip.frames());
    // The writer rounds the rate to a nominal one.
    assert!((again.clip.sample_rate / motion.clip.sample_rate - 1.0).abs() < 1e-6);
    let (own, theirs) = (motion.character.skeleton(), again.character.skeleton());
    for id in own.ids() {
        let other = theirs.find(&own.joint(id).name).unwrap();
        for frame in [0, 7, motion.clip.frames() - 1] {
            let (a, b) = (motion.model_pose(frame), again.model_pose(frame));
            let off = (a.joint(id).translation - b.joint(other).translation).norm();
            assert!(off < 1e-5, "{} in frame {frame}: {off} m", own.joint(id).name);
        }
    }
    let count = |motion: &Motion| {
        let meshes = motion.character.meshes.iter();
        meshes.fold([0; 2], |[v, t], mesh| [v + mesh.positions.len(), t + mesh.triangles.len()])
    };
    assert_eq!(count(&again), count(&motion));
    assert!(count(&again)[0] > 100);
}

#[test]
fn time_codes_that_are_no_frames_are_reported() {
    let text = String::from_utf8(written(&carried(&take("walk.bvh")))).unwrap();
    let at = text.find("timeCodesPerSecond = ").unwrap();
    let line = text[at..].lines().next().unwrap();
    let asset = read(text.replacen(line, "timeCodesPerSecond = 1000000000", 1).as_bytes());
    let told = asset.warnings.iter().find(|w| w.code == "usd-rate").unwrap();
    assert!(told.message.starts_with("1000000000 time codes per second are no frame rate"), "{told:?}");
    assert_eq!(asset.motion(0).unwrap().clip.sample_rate, 24.0);
}

#[test]
fn morph_targets_and_their_weights_come_back_from_usd() {
    let motion = rich();
    let asset = read(&written(&motion));
    let again = asset.motion(0).unwrap();
    let names = |motion: &Motion| -> BTreeSet<String> {
        let morphs = motion.character.meshes.iter().flat_map(|mesh| &mesh.morphs);
        morphs.map(|morph| morph.name.clone()).collect()
    };
    // Two primitives of one mesh are written as one.
    assert_eq!(names(&again), names(&motion));
    let peak = |motion: &Motion| {
        let values = motion.clip.property_tracks.iter().flat_map(|track| &track.values);
        values.copied().fold(0.0, f32::max)
    };
    assert!((peak(&again) - peak(&motion)).abs() < 1e-4 && peak(&motion) > 0.1);
}

#[test]
fn usd_without_a_layer_or_a_skeleton_is_refused_with_the_command_that_helps() {
    let refused =
        |bytes: &[u8]| from_bytes(bytes, "a", None, None, &ImportOptions::default()).unwrap_err().to_string();
    let zipped = |name: &str| {
        let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        let stored =
            zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        zip.start_file(name, stored).unwrap();
        std::io::Write::write_all(&mut zip, b"#usda 1.0\n").unwrap();
        zip.finish().unwrap().into_inner()
    };
    assert!(refused(&zipped("a.usda")).starts_with("it has no Skeleton prim"));
    assert!(refused(b"PXR-USDC\0\0\0\0").contains("usdcat in.usdc -o out.usda"));
    assert!(
        refused(b"PXR-USDC")
            .starts_with("binary USD, header: 8 bytes were expected at byte 8, the file has 0 there")
    );
    assert!(refused(b"#usda 1.0\n\0").starts_with("it is neither text nor binary USD"));
    assert!(refused(b"#usda 1.0\n").starts_with("it has no Skeleton prim\n"));
    let loop_ = "#usda 1.0\ndef Skeleton \"S\" { uniform token[] joints = [\"a\", \"a\"] }";
    assert!(refused(loop_.as_bytes()).starts_with("`/S`: two joints have the same path"));
}

/// A triangle on two joints, of which the face, the joint indices, their weights and a blend shape are given.
fn triangle(face: &str, joints: &str, weights: &str, shape: &str) -> Result<Asset, String> {
    triangle_of(&triangle_text(face, joints, weights, shape))
}

fn triangle_of(text: &str) -> Result<Asset, String> {
    let options = ImportOptions::default();
    from_bytes(text.as_bytes(), "triangle", Some("usda"), None, &options).map_err(|e| e.to_string())
}

fn triangle_text(face: &str, joints: &str, weights: &str, shape: &str) -> String {
    format!(
        "#usda 1.0
        def SkelRoot 'R' {{
            def Skeleton 'S' {{
                uniform token[] joints = ['a', 'a/b']
                uniform matrix4d[] restTransforms = [
                    ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)),
                    ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 10, 0, 1))
                ]
            }}
            def Mesh 'M' {{
                point3f[] points = [(0, 0, 0), (10, 0, 0), (0, 10, 0)]
                int[] faceVertexCounts = [3]
                int[] faceVertexIndices = {face}
                int[] primvars:skel:jointIndices = {joints} (elementSize = 2)
                float[] primvars:skel:jointWeights = {weights} (elementSize = 2)
                uniform token[] skel:blendShapes = ['smile']
                rel skel:blendShapeTargets = </R/M/smile>
                def BlendShape 'smile' {{ uniform vector3f[] offsets = [(0, 1, 0)] uniform int[] pointIndices = {shape} }}
            }}
        }}"
    )
}

#[test]
fn coordinates_that_no_mesh_has_leave_finite_bounds() {
    let text = triangle_text("[0, 1, 2]", "[0, 1, 0, 1, 0, 1]", "[1, 0, 1, 0, 1, 0]", "[2]");
    assert!(!triangle_of(&text).unwrap().warnings.has("usd-not-finite"));
    for (usual, odd) in
        [("(10, 0, 0), (0, 10, 0)]", "(10, 0, 0), (0, 1e39, 0)]"), ("[(0, 1, 0)]", "[(0, -1e300, 0)]")]
    {
        assert!(text.contains(usual));
        let asset = triangle_of(&text.replace(usual, odd)).unwrap();
        assert!(asset.warnings.has("usd-not-finite"), "{odd}: {:?}", asset.warnings);
        let document = asset.character.document.as_ref().unwrap();
        assert!(!String::from_utf8_lossy(&document.bytes).contains("null"), "{odd}");
    }
}

#[test]
fn resting_weights_come_back_from_usd() {
    let mut motion = rich();
    let mut hero = (*motion.character).clone();
    hero.meshes.iter_mut().flat_map(|mesh| mesh.morphs.get_mut(3)).for_each(|morph| morph.weight = 0.25);
    motion.character = std::sync::Arc::new(hero);
    motion.clip.property_tracks.clear();
    let moving = written(&motion);
    // A value without time is 0 in Blender.
    assert!(String::from_utf8_lossy(&moving).contains("float[] blendShapeWeights.timeSamples = {"));
    let again = read(&moving).motion(0).unwrap();
    assert!(again.clip.property_tracks.iter().any(|t| t.values.contains(&0.25)));
    let asset = read(&written(&motion.part(0..0)));
    assert!(asset.clips.is_empty());
    let morphs = asset.character.meshes.iter().flat_map(|mesh| &mesh.morphs);
    let resting: BTreeSet<&str> = morphs.filter(|m| m.weight == 0.25).map(|m| m.name.as_str()).collect();
    assert_eq!(resting, BTreeSet::from(["shape 3"]));
}

#[test]
fn indices_below_zero_are_refused_and_weights_of_any_size_sum_to_one() {
    let (face, joints, weights) = ("[0, 1, 2]", "[0, 1, 0, 1, 0, 1]", "[1, 0, 1e-50, 3e-50, 1e300, 1e300]");
    let asset = triangle(face, joints, weights, "[2]").unwrap();
    assert!(!asset.warnings.has("usd-inbetweens"));
    let mesh = &asset.character.meshes[0];
    let of = |vertex: usize| mesh.weights[vertex];
    assert_eq!([of(0), of(1), of(2)], [[1.0, 0.0, 0.0, 0.0], [0.75, 0.25, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0]]);
    for (wrong, said) in [
        (triangle("[0, -1, 2]", joints, weights, "[2]"), "its faces name points that are not there"),
        (triangle(face, "[0, 1, -1, 1, 0, 1]", weights, "[2]"), "a weight names a joint that is not there"),
        (triangle(face, joints, weights, "[-2]"), "a blend shape moves points that are not there"),
    ] {
        let message = wrong.err().unwrap_or_default();
        assert!(message.contains(said), "{message}, expected: {said}");
    }
    let between = "[2] uniform vector3f[] inbetweens:half = [(3, 0, 0)]";
    assert!(triangle(face, joints, weights, between).unwrap().warnings.has("usd-inbetweens"));
}

/// Skeletons `A`, `B`, ... with the same joints, each with the animation that it binds, if any; each animation has its own rate of
/// rotation. Further animations are bound by none.
fn skeletons(bound: &[bool], free: usize) -> String {
    let animation = |path: &str, x: usize| {
        format!(
            "def SkelAnimation '{path}' {{
                uniform token[] joints = ['a', 'a/b']
                float3[] translations.timeSamples = {{ 0: [(0, 0, 0), (0, 1, 0)], 24: [({x}, 0, 0), (0, 1, 0)] }}
                quatf[] rotations.timeSamples = {{ 0: [(1, 0, 0, 0), (1, 0, 0, 0)], 24: [(1, 0, 0, 0), (0, 1, 0, 0)] }}
            }}"
        )
    };
    let root = |(k, bound): (usize, &bool)| {
        let name = char::from(b'A' + k as u8);
        let (source, clip) = match bound {
            true => (format!("rel skel:animationSource = </{name}/Anim>"), animation("Anim", k + 1)),
            false => Default::default(),
        };
        format!(
            "def SkelRoot '{name}' {{
                def Skeleton 'S' {{
                    uniform token[] joints = ['a', 'a/b']
                    uniform matrix4d[] restTransforms = [
                        ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)),
                        ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 1, 0, 1))
                    ]
                    {source}
                }}
                {clip}
            }}\n"
        )
    };
    let free = (0..free).map(|k| format!("def Scope 'F{k}' {{ {} }}\n", animation("Anim", 10 * (k + 1))));
    let roots = bound.iter().enumerate().map(root);
    format!("#usda 1.0\n( metersPerUnit = 1 )\n{}", roots.chain(free).collect::<String>())
}

/// Which skeletons bind an animation, how many further ones there are, and the names and travels of the clips that are read.
type SkeletonCase<'a> = (&'a [bool], usize, &'a [(&'a str, f64)]);

#[test]
fn a_skeleton_has_the_animation_that_it_binds_and_not_those_of_others() {
    let cases: [SkeletonCase<'_>; 5] = [
        (&[true], 0, &[("Anim", 1.0)]),
        (&[true, true], 0, &[("Anim", 1.0)]),
        (&[false, true], 0, &[("Anim", 2.0)]),
        (&[true, true], 2, &[("Anim", 1.0), ("Anim_2", 10.0), ("Anim_3", 20.0)]),
        (&[false, false], 1, &[("Anim", 10.0)]),
    ];
    for (bound, free, wanted) in cases {
        let asset = read(skeletons(bound, free).as_bytes());
        assert_eq!(asset.warnings.has("usd-skeletons"), bound.len() > 1);
        let travel = |k: usize| {
            let motion = asset.motion(k).unwrap();
            let joint = motion.character.skeleton().find("a").unwrap();
            let [first, last] = [0, motion.clip.frames() - 1].map(|f| motion.model_pose(f).position(joint));
            (last - first).norm()
        };
        let found = asset.clips.iter().enumerate().map(|(k, clip)| (clip.name.as_str(), travel(k)));
        let found: Vec<_> = found.map(|(name, travel)| (name, (1e3 * travel).round() / 1e3)).collect();
        assert_eq!(found, wanted, "{bound:?} {free}");
    }
}

#[test]
fn offsets_of_sublayers_and_references_are_read_over() {
    let text = skeletons(&[true], 0);
    let layers = "( metersPerUnit = 1 subLayers = [@./a.usda@ (offset = 10; scale = 2), @b.usda@] )";
    let text = text.replace("( metersPerUnit = 1 )", layers);
    let asset = read(text.as_bytes());
    assert!(asset.warnings.has("usd-references"));
    assert_eq!(asset.clips.len(), 1);
    let nested = format!("#usda 1.0\n( subLayers = [{}", "@a@ (x = ".repeat(100_000));
    let message =
        from_bytes(nested.as_bytes(), "a", Some("usda"), None, &ImportOptions::default()).unwrap_err();
    assert!(message.to_string().contains("`)` is missing"), "{message}");
}

/// A skeleton of two joints with an animation whose translations have no time, in a layer with these metadata.
fn animated(stage: &str) -> Motion {
    let text = format!(
        "#usda 1.0
        ( timeCodesPerSecond = 24 {stage} )
        def SkelRoot 'R' {{
            def Skeleton 'S' {{
                uniform token[] joints = ['a', 'a/b']
                uniform matrix4d[] restTransforms = [
                    ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)),
                    ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 10, 0, 1))
                ]
                rel skel:animationSource = </R/A>
            }}
            def SkelAnimation 'A' {{
                uniform token[] joints = ['a', 'a/b']
                float3[] translations = [(0, 0, 0), (0, 10, 0)]
                quatf[] rotations.timeSamples = {{
                    1001: [(1, 0, 0, 0), (1, 0, 0, 0)],
                    1002: [(1, 0, 0, 0), (0.8, 0.6, 0, 0)],
                    1003: [(1, 0, 0, 0), (0, 1, 0, 0)]
                }}
            }}
        }}"
    );
    triangle_of(&text).unwrap().motion(0).unwrap()
}

#[test]
fn a_value_without_time_does_not_begin_at_time_zero() {
    let clip = animated("").clip;
    assert_eq!((clip.frames(), clip.sample_rate), (3, 24.0));
    assert!((clip.start - 1001.0 / 24.0).abs() < 1e-5, "{}", clip.start);
}

#[test]
fn poses_that_are_held_at_the_ends_of_the_stage_are_read() {
    let clip = animated("startTimeCode = 991 endTimeCode = 1010").clip;
    assert_eq!(clip.frames(), 20);
    assert_eq!(clip.rotations(0), clip.rotations(10));
    assert_eq!(clip.rotations(19), clip.rotations(12));
    assert_ne!(clip.rotations(10), clip.rotations(12));
    // A stage that does not contain the samples is not that of the animation.
    assert_eq!(animated("startTimeCode = 1 endTimeCode = 250").clip.frames(), 3);
}

/// The triangle with further properties of its mesh.
fn triangle_with(property: &str) -> Asset {
    let text = triangle_text("[0, 1, 2]", "[0, 1, 0, 1, 0, 1]", "[1, 0, 1, 0, 1, 0]", "[0]");
    triangle_of(&text.replace("def Mesh 'M' {", &format!("def Mesh 'M' {{ {property}"))).unwrap()
}

#[test]
fn a_mesh_with_a_space_of_its_own_does_not_turn_the_skeleton() {
    let matrix = "((-1, 0, 0, 0), (0, 1, 0, 0), (0, 0, -2, 0), (1, 0, 0, 1))";
    let [plain, turned] =
        ["", &format!("matrix4d primvars:skel:geomBindTransform = {matrix}")].map(triangle_with);
    assert_eq!(plain.character.bind, turned.character.bind);
    let mesh = |asset: &Asset| asset.character.meshes[0].positions.clone();
    assert_eq!(mesh(&plain), [[0.0; 3], [10.0, 0.0, 0.0], [0.0, 10.0, 0.0]]);
    assert_eq!(mesh(&turned), [[1.0, 0.0, 0.0], [-9.0, 0.0, 0.0], [1.0, 10.0, 0.0]]);
    let mirrored =
        triangle_with(&format!("matrix4d primvars:skel:geomBindTransform = {}", matrix.replace("-1", "1")));
    let corners = |asset: &Asset| asset.character.meshes[0].triangles[0];
    assert_eq!((corners(&turned), corners(&mirrored)), ([0, 1, 2], [0, 2, 1]));
}

#[test]
fn surfaces_that_are_not_read_are_reported() {
    let asset = read(&written(&carried(&take("walk.bvh"))));
    assert!(asset.warnings.has("usd-materials"), "{:?}", asset.warnings);
    let plain = triangle_with("");
    assert!(!plain.warnings.has("usd-materials") && !plain.warnings.has("usd-primvars"));
    for property in ["color3f[] primvars:displayColor = [(1, 0, 0)]", "texCoord2f[] primvars:st1 = [(0, 0)]"]
    {
        assert!(triangle_with(property).warnings.has("usd-primvars"), "{property}");
    }
    assert!(!triangle_with("texCoord2f[] primvars:st = [(0, 0)]").warnings.has("usd-primvars"));
}

#[test]
fn meshes_that_are_not_drawn_are_left_out_and_reported() {
    let text = triangle_text("[0, 1, 2]", "[0, 1, 0, 1, 0, 1]", "[1, 0, 1, 0, 1, 0]", "[0]");
    let (start, end) = (text.find("def Mesh").unwrap(), text.rfind('}').unwrap());
    let read = |properties: [&str; 2]| {
        let meshes = ["M", "N"].map(|name| {
            text[start..end].replace("'M'", &format!("'{name}'")).replace("/M/", &format!("/{name}/"))
        });
        let bodies = meshes
            .iter()
            .zip(properties)
            .map(|(mesh, property)| mesh.replacen('{', &format!("{{ {property}"), 1));
        let asset = triangle_of(&format!("{}{}}}", &text[..start], bodies.collect::<String>())).unwrap();
        (asset.character.meshes.len(), asset.warnings.has("usd-hidden-mesh"))
    };
    for hidden in [
        "uniform token purpose = 'proxy'",
        "uniform token purpose = 'guide'",
        "token visibility = 'invisible'",
    ] {
        assert_eq!(read(["", hidden]), (1, true), "{hidden}");
        assert_eq!(read([hidden, hidden]), (2, false), "nothing else is there");
    }
    assert_eq!(read(["", "uniform token purpose = 'render'"]), (2, false));
}
