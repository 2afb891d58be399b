//! Arrays made from captured takes in at least nine layouts, with the true rotations at three frames.

use super::figure::{poses, read, rotations};
use crate::development_data::data;
use crate::math::{Mat3, Quat, from_columns, mean_rotation, percentile};
use crate::model::{Role, Side};
use serde_json::Value;

/// A part by its name in the files, and its role.
type Part = (&'static str, fn(Side) -> Role);

/// The parts whose rotation a limb's solver finds.
const PARTS: [Part; 2] = [("upper_arm", Role::UpperArm), ("upper_leg", Role::UpperLeg)];

/// The true rotations of a part at the frames of the file; none if the take lacks it.
fn truth(file: &Value, part: &str) -> Vec<Quat> {
    let rows = file["rotations_row_major"][part].as_array();
    let one = |row: &Value| {
        let v: Vec<f64> = row.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
        let m = Mat3::from_row_slice(&v);
        from_columns(&m.column(0).into(), &m.column(1).into(), &m.column(2).into())
    };
    rows.map_or_else(Vec::new, |rows| rows.iter().map(one).collect())
}

/// A rest pose is a convention: the one constant rotation between it and ours is taken off.
#[test]
fn upper_arms_and_thighs_are_those_of_the_takes() {
    let Some(folder) = data().map(|d| d.join("dcc/points")).filter(|d| d.is_dir()) else { return };
    let mut names: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
    names.retain(|p| p.extension().is_some_and(|e| e == "json"));
    names.sort();
    assert!(names.len() >= 9);
    let mut off = Vec::new();
    for path in names {
        let file: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let (layout, dt) = (file["layout"].as_str().unwrap(), file["frame_time"].as_f64().unwrap());
        let asset = read(&std::fs::read(path.with_extension("npy")).unwrap(), layout, 1.0 / dt);
        let frames: Vec<usize> =
            file["frames"].as_array().unwrap().iter().map(|f| f.as_u64().unwrap() as usize).collect();
        let (_, poses) = poses(&asset);
        assert!(poses.len() > frames[2], "{}", path.display());
        for side in Side::BOTH {
            for (part, role) in PARTS {
                let name = format!("{}_{part}", side.word());
                let truth = truth(&file, &name);
                let found = rotations(&asset, role(side));
                let apart: Vec<Quat> =
                    truth.iter().zip(&frames).map(|(t, f)| found[*f].inverse() * t).collect();
                let rest = mean_rotation(&apart, &vec![1.0; apart.len()]);
                off.extend(apart.iter().map(|q| q.angle_to(&rest).to_degrees()));
            }
        }
    }
    let (median, high) = (percentile(&off, 0.5), percentile(&off, 0.9));
    // The pass mark of the method: 90 percent below 10 degrees.
    assert!(high < 10.0, "median {median:.1}, 90 % {high:.1} of {}", off.len());
}
