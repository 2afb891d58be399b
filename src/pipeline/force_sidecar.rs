//! The sidecar files of forces next to an output: inverse dynamics of the motion.

#[cfg(feature = "formats")]
use super::file_names::FORCE_ARRAYS;
use super::file_names::FORCE_TABLE;
#[cfg(feature = "formats")]
use super::force_arrays::force_arrays;
use super::output_section::ForceFiles;
use crate::export::ExportError;
use crate::model::Motion;
use crate::report::{Warnings, csv_field};
use crate::settle::{ClipForces, FrameForces, OTHER_PARTS};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The files of forces next to `path`: `NAME.forces.csv` and `NAME.forces.npz`, with numbers from 1 if there are several motions.
///
/// # Errors
/// [`ExportError`] if arrays exceed the limits of their file.
pub(super) fn force_files(
    motions: &[Motion],
    path: &Path,
    which: ForceFiles,
    warnings: &mut Warnings,
) -> Result<Vec<(PathBuf, Vec<u8>)>, ExportError> {
    let mut files = Vec::new();
    for (k, motion) in motions.iter().enumerate().filter(|_| which.any()) {
        let Some(forces) = ClipForces::of(motion) else {
            let message =
                "forces are known of bodies with hips and two legs in clips of two frames or more only";
            warnings.add("forces", message, path.file_stem().unwrap_or_default().to_string_lossy());
            continue;
        };
        if let Some(text) = &forces.doubt {
            warnings.add("mass-shares", text.clone(), motion.character.name.clone());
        }
        let number = if motions.len() > 1 { format!("{}.", k + 1) } else { String::new() };
        let named = |end: &str| path.with_extension(format!("{number}{end}"));
        if which.table() {
            files.push((named(FORCE_TABLE), table(motion, &forces).into_bytes()));
        }
        #[cfg(feature = "formats")]
        if which.arrays() {
            files.push((named(FORCE_ARRAYS), force_arrays(motion, &forces)?));
        }
    }
    Ok(files)
}

/// One row for each frame. Lengths in metres of the motion, forces and torques in N and N m for a body of `input.mass_kg`.
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
    for part in OTHER_PARTS {
        axes.iter().for_each(|axis| text += &format!(",{part}_{axis}_n"));
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
    for v in frame
        .energy
        .iter()
        .chain([&frame.power])
        .chain(frame.torques.iter().chain(&frame.others).flat_map(|t| t.iter()))
    {
        let _ = write!(text, ",{v:.4}");
    }
    text.push('\n');
}

#[cfg(all(test, feature = "formats"))]
mod tests {
    use super::*;
    use crate::import::{ImportOptions, load};
    use crate::math::Vec3;
    use crate::pipeline::output_section::ForceWord;
    use std::io::{Cursor, Read};
    use zip::ZipArchive;

    /// The shape of an array as its header has it, and its numbers.
    fn array(archive: &mut ZipArchive<Cursor<Vec<u8>>>, name: &str) -> (String, Vec<f64>) {
        let mut bytes = Vec::new();
        archive.by_name(&format!("{name}.npy")).unwrap().read_to_end(&mut bytes).unwrap();
        let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        let header = String::from_utf8_lossy(&bytes[10..start]);
        assert!(header.contains("'<f8'"), "{header}");
        let shape = header.split_once("'shape': ").unwrap().1.split_once(", }").unwrap().0.to_owned();
        let numbers = bytes[start..].chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap()));
        (shape, numbers.collect())
    }

    #[test]
    fn arrays_hold_the_numbers_of_the_table() {
        let take = load("data/squat.bvh", &ImportOptions::default()).unwrap().motion(0).unwrap();
        let files = |which| {
            force_files(std::slice::from_ref(&take), Path::new("a/squat.glb"), which, &mut Warnings::new())
                .unwrap()
        };
        assert_eq!(files(ForceFiles::Flag(false)), []);
        let both = files(ForceFiles::Word(ForceWord::Both));
        let names: Vec<_> = both.iter().map(|(path, _)| path.to_string_lossy().replace('\\', "/")).collect();
        assert_eq!(names, ["a/squat.forces.csv", "a/squat.forces.npz"]);
        assert_eq!(files(ForceFiles::Flag(true)), both[..1]);
        assert_eq!(files(ForceFiles::Word(ForceWord::Npz)), both[1..]);

        // Nothing but feet bears a squat: the other parts get forces of their own, so that their order is seen.
        let mut forces = ClipForces::of(&take).unwrap();
        let made = |forces: &ClipForces| (table(&take, forces), force_arrays(&take, forces).unwrap());
        assert_eq!(made(&forces), (String::from_utf8(both[0].1.clone()).unwrap(), both[1].1.clone()));
        for (k, frame) in forces.frames.iter_mut().enumerate() {
            let own = |part: usize| Vec3::new(part as f64, k as f64, 10.0 + part as f64);
            frame.others = std::array::from_fn(own);
        }
        let (text, arrays) = made(&forces);
        let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let columns = lines.next().unwrap();
        let rows: Vec<Vec<f64>> =
            lines.map(|row| row.iter().map(|x| x.parse().unwrap_or(f64::NAN)).collect()).collect();
        let frames = rows.len();
        let mut archive = ZipArchive::new(Cursor::new(arrays)).unwrap();
        let joints = columns.iter().filter(|name| name.ends_with("_x_nm")).count() - 1;
        for (name, first, width, shape) in [
            ("time", "time_s", 1, format!("({frames},)")),
            ("foot_forces", "left_foot_x_n", 6, format!("({frames}, 2, 3)")),
            ("other_forces", "left_hand_x_n", 24, format!("({frames}, 8, 3)")),
            ("unexplained_force", "unexplained_force_x_n", 3, format!("({frames}, 3)")),
            ("unexplained_torque", "unexplained_torque_x_nm", 3, format!("({frames}, 3)")),
            ("center_of_pressure", "pressure_x_m", 3, format!("({frames}, 3)")),
            ("kinetic_energy", "kinetic_j", 1, format!("({frames},)")),
            ("power", "power_w", 1, format!("({frames},)")),
            (
                "joint_torques",
                columns[1 + columns.iter().position(|name| *name == "power_w").unwrap()],
                3 * joints,
                format!("({frames}, {joints}, 3)"),
            ),
        ] {
            let (found, numbers) = array(&mut archive, name);
            assert_eq!(found, shape, "{name}");
            let column = columns.iter().position(|c| *c == first).unwrap();
            let table = rows.iter().flat_map(|row| &row[column..column + width]);
            assert_eq!(numbers.len(), frames * width, "{name}");
            for (a, b) in numbers.iter().zip(table) {
                assert!((a - b).abs() < 1e-4 || a.is_nan() && b.is_nan(), "{name}: {a} and {b}");
            }
        }
        let (_, masses) = array(&mut archive, "body_masses");
        assert_eq!((masses.len(), array(&mut archive, "mass").1), (joints + 1, vec![70.0]));
        assert!((masses.iter().sum::<f64>() - 70.0).abs() < 1e-9);
    }
}
