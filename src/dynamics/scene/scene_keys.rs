//! Descriptions of the keys of a scene file, for the help and for error messages.
//!
//! Units: SI, angles in radians; each line gives its own.

/// For each section its keys with their descriptions; the first section is the top level of the file.
pub const SCENE_KEYS: [(&str, &[(&str, &str)]); 8] = [
    ("", &[("name", "the title; else that of the file")]),
    (
        "[simulation]",
        &[
            ("step", "seconds"),
            ("duration", "seconds"),
            (
                "integrator",
                "`world` (default) for contacts and motors, else `rk4`, `variational`, `note` or `blocks`",
            ),
            ("stabilization", "of all but `world`: `restore` (default), `project` or `none`"),
            ("output_rate", "frames a second, 60 if left out"),
            ("gravity", "m/s^2, three numbers; 9.81 downwards if left out"),
            ("up", "`y` (default) or `z`"),
            ("erp", "the part of a violation that a step takes back, 0 to 1, 0.2 if left out"),
            ("compliance", "of contacts, motors and limits, m/s per N s, 1e-7 if left out"),
            ("slop", "metres of depth that contacts leave alone, 0.0002 if left out"),
            (
                "friction_cone",
                "`false`: friction in a pyramid, which depends on the direction, instead of a cone",
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
            ("name", "what constraints and sensors call it"),
            ("mass", "kilograms"),
            ("inertia", "kg m^2 about the centre: xx, yy, zz and xy, xz, yz; else that of the shape"),
            ("position", "metres, world, of the centre of mass"),
            ("rotation", "a unit quaternion w, x, y, z"),
            ("velocity", "m/s, world"),
            ("angular_velocity", "rad/s, axes of the body"),
            ("sphere", "radius in metres"),
            ("capsule", "radius and length of the cylinder in metres, along the body's z"),
            ("box", "edges in metres"),
            ("collide", "`false`: the shape is only drawn"),
            ("friction", "Coulomb's, 0.5 if left out; a contact takes the geometric mean of two"),
            ("restitution", "0 to 1, 0 if left out"),
        ],
    ),
    (
        "[[constraint]]",
        &[
            ("name", "what rules call its motor"),
            ("kind", "`ball`, `hinge`, `universal`, `slider` or `fixed`"),
            ("a", "the first body, or \"world\""),
            ("b", "the second body, or \"world\""),
            ("anchor", "metres, world, at the first instant"),
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
            ("normal", "a direction, away from the ground"),
            ("point", "metres, somewhere on it; the origin if left out"),
            ("friction", "as of a body"),
            ("restitution", "as of a body"),
        ],
    ),
    (
        "[[target]]",
        &[
            ("body", "the body that moves as a joint of a clip does, from where it is at the start"),
            ("motion", "the file with the clip, relative to the scene"),
            ("clip", "its name; else the one that the file means"),
            ("joint", "its name or role, such as `LeftHand`"),
            ("force", "the most that pulls the body along, N"),
            ("torque", "the most that turns it, N m"),
        ],
    ),
    (
        "[[sensor]]",
        &[
            ("name", "what conditions call it"),
            ("bodies", "names: it touches where one of them does"),
            ("with", "names: only where they touch one of these; anything if left out"),
            ("margin", "metres from which on it feels, 0.0002 if left out"),
        ],
    ),
    (
        "[[rule]]",
        &[
            ("when", "such as \"time >= 0.2 and touched(tip) and position(lift) < 0.1\""),
            ("then", "[{ motor = \"name\", speed = rad/s or m/s, limit = N m or N }]"),
            ("latch", "`true`: stays in force once it was met"),
        ],
    ),
];

/// The description of a key, from the first section that has it.
pub(super) fn meaning(key: &str) -> Option<&'static str> {
    SCENE_KEYS.iter().flat_map(|s| s.1).find(|k| k.0 == key).map(|k| k.1)
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
