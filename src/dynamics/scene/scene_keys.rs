//! Descriptions of the keys of a scene file, for the help and for error messages.
//!
//! Units: SI, angles in radians; each line gives its own.

/// The end of the description of a key that a section must have.
const REQUIRED: &str = "(required)";

/// For each section its keys with their descriptions; the first section is the top level of the file.
pub const SCENE_KEYS: [(&str, &[(&str, &str)]); 8] = [
    ("", &[("name", "title of the scene; the name of the file if left out")]),
    (
        "[simulation]",
        &[
            ("step", "seconds (required)"),
            ("duration", "seconds (required)"),
            (
                "integrator",
                "`world` (default) for contacts and motors, else `rk4`, `variational`, `note` or `blocks`",
            ),
            ("stabilization", "for all integrators but `world`: `restore` (default), `project` or `none`"),
            ("output_rate", "frames per second, 60 if left out"),
            ("gravity", "m/s^2, three numbers; 9.81 downwards if left out"),
            ("up", "`y` (default) or `z`"),
            ("erp", "share of a constraint error corrected per step, 0 to 1, 0.2 if left out"),
            ("compliance", "compliance of contacts, motors and limits, m/s per N s, 1e-7 if left out"),
            ("slop", "penetration that is tolerated, metres, 0.0002 if left out"),
            (
                "friction_cone",
                "`false`: friction is limited by a pyramid, and depends on the direction, instead of a cone",
            ),
            (
                "self_collision",
                "`false`: linked bodies pass through each other, however far apart in the tree",
            ),
        ],
    ),
    (
        "[[body]]",
        &[
            ("name", "name used by constraints and sensors (required)"),
            ("mass", "kilograms (required)"),
            ("inertia", "kg m^2 about the centre: xx, yy, zz and xy, xz, yz; that of the shape if left out"),
            ("position", "metres, world, of the centre of mass (required)"),
            ("rotation", "a unit quaternion w, x, y, z"),
            ("velocity", "m/s, world"),
            ("angular_velocity", "rad/s, axes of the body"),
            ("sphere", "radius in metres"),
            ("capsule", "radius and length of the cylinder in metres, along the body's z"),
            ("box", "edges in metres"),
            ("collide", "`false`: the shape is only drawn"),
            (
                "friction",
                "Coulomb coefficient, 0.5 if left out; a contact uses the geometric mean of both bodies",
            ),
            ("restitution", "0 to 1, 0 if left out"),
        ],
    ),
    (
        "[[constraint]]",
        &[
            ("name", "name used by rules for its motor (required)"),
            ("kind", "`ball`, `hinge`, `universal`, `slider` or `fixed` (required)"),
            ("a", "the first body, or \"world\" (required)"),
            ("b", "the second body, or \"world\" (required)"),
            ("anchor", "metres, world, at the first instant (required)"),
            ("axis", "a direction, world, at the first instant; hinge, slider and universal"),
            ("second_axis", "perpendicular to `axis`; universal"),
            ("friction", "N m s/rad (slider: N s/m)"),
            ("torque", "constant, N m (slider: N)"),
            ("limits", "[low, high], radians (slider: metres) of `b` against `a`, 0 at the start"),
            ("motor", "{ speed = rad/s or m/s, limit = N m or N }"),
            ("spring", "{ stiffness, damping, target = radians or metres, rate = rad/s or m/s }"),
        ],
    ),
    (
        "[[plane]]",
        &[
            ("normal", "a direction, away from the ground (required)"),
            ("point", "metres, somewhere on it; the origin if left out"),
            ("friction", "as for a body"),
            ("restitution", "as for a body"),
        ],
    ),
    (
        "[[target]]",
        &[
            ("body", "the body that follows a joint of a clip, from its own initial position (required)"),
            ("motion", "the file with the clip, relative to the scene (required)"),
            ("clip", "its name; the main clip of the file if left out"),
            ("joint", "its name or role, such as `LeftHand` (required)"),
            ("force", "largest force on the body, N (required)"),
            ("torque", "largest torque on the body, N m (required)"),
        ],
    ),
    (
        "[[sensor]]",
        &[
            ("name", "name used by conditions (required)"),
            ("bodies", "names of the bodies whose contacts it senses (required)"),
            ("with", "names of the bodies that they must touch; any if left out"),
            ("margin", "detection distance, metres, 0.0002 if left out"),
        ],
    ),
    (
        "[[rule]]",
        &[
            ("when", "such as \"time >= 0.2 and touched(tip) and position(lift) < 0.1\" (required)"),
            ("then", "[{ motor = \"name\", speed = rad/s or m/s, limit = N m or N }] (required)"),
            ("latch", "`true`: stays active once triggered"),
        ],
    ),
];

/// The description of a key, from the first section that has it.
pub(super) fn meaning(key: &str) -> Option<&'static str> {
    SCENE_KEYS
        .iter()
        .flat_map(|s| s.1)
        .find(|k| k.0 == key)
        .map(|k| k.1.trim_end_matches(REQUIRED).trim_end())
}

/// Rewords a syntax error of the TOML parser: numbers instead of Rust types, and the most similar key.
pub(super) fn reworded(message: &str, line: &str) -> String {
    if let Some(rest) = message.strip_prefix("unknown field `")
        && let Some((found, list)) = rest.split_once('`')
    {
        let known = list.split('`').skip(1).step_by(2);
        let score = |key: &&str| strsim::jaro_winkler(key, found);
        let nearest = known.max_by(|a, b| score(a).total_cmp(&score(b))).filter(|key| score(key) > 0.8);
        return match nearest {
            Some(key) => format!("{message}\n  hint: did you mean `{key}`?"),
            None => message.to_owned(),
        };
    }
    if let Some(key) = message.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`')) {
        let section = SCENE_KEYS.iter().find(|s| !s.0.is_empty() && line.trim().starts_with(s.0));
        let required = section.into_iter().flat_map(|s| s.1).filter(|k| k.1.ends_with(REQUIRED));
        let required: Vec<String> = required.map(|k| format!("`{}`", k.0)).collect();
        return match section {
            Some((name, _)) => format!("{name} lacks `{key}`; it needs {}", required.join(", ")),
            None => format!("the key `{key}` is missing"),
        };
    }
    let mut text = message.replace("expected f64", "expected a number");
    for (count, word) in [(2, "two"), (3, "three"), (4, "four")] {
        text = text.replace(&format!("an array of length {count}"), &format!("{word} numbers"));
    }
    let key = line.split('=').next().unwrap_or_default().trim();
    match meaning(key) {
        Some(meaning) if message.starts_with("invalid") => format!("{text}\n  hint: `{key}`: {meaning}"),
        _ => text,
    }
}
