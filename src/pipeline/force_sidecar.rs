//! The sidecar file of forces next to an output: inverse dynamics of the motion.

use super::file_names::FORCE_TABLE;
use crate::model::Motion;
use crate::report::{Warnings, csv_field};
use crate::settle::{ClipForces, FrameForces};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The tables of forces next to `path`: `NAME.forces.csv`, with numbers from 1 if there are several motions.
pub(super) fn force_tables(
    motions: &[Motion],
    path: &Path,
    warnings: &mut Warnings,
) -> Vec<(PathBuf, Vec<u8>)> {
    let mut tables = Vec::new();
    for (k, motion) in motions.iter().enumerate() {
        let Some(forces) = ClipForces::of(motion) else {
            let message =
                "forces are known of bodies with hips and two legs in clips of two frames or more only";
            warnings.add("forces", message, path.file_stem().unwrap_or_default().to_string_lossy());
            continue;
        };
        let number = if motions.len() > 1 { format!("{}.", k + 1) } else { String::new() };
        tables.push((
            path.with_extension(format!("{number}{FORCE_TABLE}")),
            table(motion, &forces).into_bytes(),
        ));
    }
    tables
}

/// One row for each frame. Lengths in metres of the motion, forces and torques in N and N m for a body of 70 kg.
fn table(motion: &Motion, forces: &ClipForces) -> String {
    let mut text = String::from("frame,time_s");
    let axes = ["x", "y", "z"];
    for name in ["left_foot", "right_foot", "unexplained_force"] {
        axes.iter().for_each(|axis| text += &format!(",{name}_{axis}_n"));
    }
    axes.iter().for_each(|axis| text += &format!(",unexplained_torque_{axis}_nm"));
    text += ",unexplained_share";
    axes.iter().for_each(|axis| text += &format!(",pressure_{axis}_m"));
    text += ",kinetic_j,potential_j,power_w";
    for id in &forces.joints {
        let name = &motion.character.skeleton().joint(*id).name;
        axes.iter().for_each(|axis| text += &format!(",{}", csv_field(&format!("{name}_{axis}_nm"))));
    }
    text.push('\n');
    for (f, frame) in forces.frames.iter().enumerate() {
        let _ = write!(text, "{f},{:.6}", motion.clip.time(f));
        row(&mut text, frame);
    }
    text
}

fn row(text: &mut String, frame: &FrameForces) {
    let [force, torque] = frame.unexplained;
    // Nothing on the floor has no centre of pressure: the fields are empty.
    for v in [frame.feet[0], frame.feet[1], force, torque].iter().flat_map(|v| v.iter()) {
        let _ = write!(text, ",{v:.4}");
    }
    let _ = write!(text, ",{:.5}", frame.unexplained_share);
    match frame.pressure {
        Some(at) => at.iter().for_each(|x| text.push_str(&format!(",{x:.5}"))),
        None => text.push_str(",,,"),
    }
    for v in frame.energy.iter().chain([&frame.power]).chain(frame.torques.iter().flat_map(|t| t.iter())) {
        let _ = write!(text, ",{v:.4}");
    }
    text.push('\n');
}
