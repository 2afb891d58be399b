//! The same markers in every form of C3D, and in TRC.

use super::super::marker_recording::MarkerRecording;
use super::super::{c3d_file, trc_file};
use super::c3d_writer::{C3dForm, INTEL};
use crate::import::import_error::ImportError;
use crate::math::Vec3;
use crate::memory_budget::MemoryBudget;

pub(super) fn c3d(bytes: &[u8]) -> Result<MarkerRecording, ImportError> {
    c3d_file::read(bytes, &MemoryBudget::new(bytes.len() as u64, None))
}

pub(super) fn trc(text: &str) -> Result<MarkerRecording, ImportError> {
    trc_file::read(text.as_bytes(), &MemoryBudget::new(text.len() as u64, None))
}

/// Three hundred markers over four frames, with a gap.
pub(super) fn markers() -> (Vec<String>, Vec<Vec<Vec3>>) {
    let labels = (0..300).map(|k| format!("M{k}")).collect();
    let at = |f: usize, k: usize| Vec3::new(100.0 * f as f64 + 0.5, k as f64, -20.0);
    let mut frames: Vec<Vec<Vec3>> = (0..4).map(|f| (0..300).map(|k| at(f, k)).collect()).collect();
    frames[2][299] = Vec3::repeat(f64::NAN);
    (labels, frames)
}

#[test]
fn every_processor_and_form_gives_the_same_markers() {
    let (labels, frames) = markers();
    for processor in [84, 85, 86] {
        for floats in [true, false] {
            for analog in [0, 7] {
                let form = C3dForm { processor, floats, analog, ..INTEL };
                let read = c3d(&form.file(&labels, &frames, 120.0)).unwrap();
                assert_eq!(
                    (&read.labels, read.rate, read.unit.as_str()),
                    (&labels, Some(120.0), "mm"),
                    "{form:?}"
                );
                assert_eq!((read.metres(), read.array.frames()), (Some(0.001), 4), "{form:?}");
                for (found, truth) in read.array.positions.iter().zip(frames.iter().flatten()) {
                    assert_eq!(found.x.is_nan(), truth.x.is_nan());
                    assert!(truth.x.is_nan() || (found - truth).norm() < 0.051, "{form:?}: {found} {truth}");
                }
                assert!(read.array.positions[2 * 300 + 299].x.is_nan());
            }
        }
    }
}

#[test]
fn frames_beyond_a_word_are_counted_by_the_parameters() {
    // 65,535 in the header says only that there are as many or more.
    let frames: Vec<Vec<Vec3>> = (0..70_000).map(|f| vec![Vec3::new(1.0 + f as f64, 1.0, 1.0)]).collect();
    let form = C3dForm { analog: 0, ..INTEL };
    let mut bytes = form.file(&["A".into()], &frames, 100.0);
    // A word that wraps round, or ends, and a last block that is filled with zeros.
    for (word, filled) in [(4464_u16, 0), (65_535, 0), (4464, 100), (65_535, 100)] {
        bytes[8..10].copy_from_slice(&word.to_le_bytes());
        let read = c3d(&[bytes.as_slice(), &vec![0; filled]].concat()).unwrap();
        assert_eq!(read.array.frames(), 70_000, "{word}");
        let said = read.count_doubt.unwrap();
        assert!(said.contains(&format!("{word} frames, the data have 70000")), "{said}");
    }
    // More than the last block is no part of the frames.
    bytes[8..10].copy_from_slice(&4464_u16.to_le_bytes());
    assert_eq!(c3d(&[bytes.as_slice(), &[1; 600]].concat()).unwrap().array.frames(), 4464);
    with_frames(&mut bytes, 70_000.0);
    assert_eq!(c3d(&bytes).unwrap().array.frames(), 70_000);
}

/// States POINT:FRAMES as a float, behind the last parameter.
fn with_frames(bytes: &mut [u8], frames: f32) {
    let section = &bytes[512..1024];
    let end = section.iter().rposition(|b| *b != 0).unwrap() + 3;
    let mut entry = vec![6, 1];
    entry.extend(b"FRAMES");
    entry.extend([9, 0, 4, 0]);
    entry.extend(frames.to_le_bytes());
    bytes[512 + end..512 + end + entry.len()].copy_from_slice(&entry);
}

#[test]
fn a_header_that_ends_before_the_frames_of_parameters_and_data_cuts_none_off() {
    let frames: Vec<Vec<Vec3>> = (0..50).map(|f| vec![Vec3::new(1.0 + f as f64, 1.0, 1.0)]).collect();
    let mut bytes = C3dForm { analog: 0, ..INTEL }.file(&["A".into()], &frames, 100.0);
    bytes[8..10].copy_from_slice(&10_u16.to_le_bytes());
    let short = c3d(&bytes).unwrap();
    assert_eq!((short.array.frames(), short.count_doubt), (10, None));
    // The parameters count more than the data have: the header is right.
    with_frames(&mut bytes, 60.0);
    assert_eq!(c3d(&bytes).unwrap().array.frames(), 10);
    let mut bytes = C3dForm { analog: 0, ..INTEL }.file(&["A".into()], &frames, 100.0);
    bytes[8..10].copy_from_slice(&10_u16.to_le_bytes());
    with_frames(&mut bytes, 50.0);
    let whole = c3d(&bytes).unwrap();
    assert_eq!((whole.array.frames(), whole.array.positions[49].x), (50, 50.0));
    assert!(
        whole.count_doubt.is_some_and(|said| said.contains("10 frames, the data have 50, which are read"))
    );
}

const TRC: &str = "PathFileType\t4\t(X/Y/Z)\ta.trc\nDataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\n60\t60\t2\t2\tmm\n\
    Frame#\tTime\tL.Knee\t\t\tR.Knee\t\t\n\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n\n1\t0\t1\t2\t3\t4\t5\t6\n2\t0.017\t\t\t\t7\t8\t9\n";

#[test]
fn tables_are_read_with_their_gaps_and_faults_have_their_line() {
    let read = trc(TRC).unwrap();
    assert_eq!(
        (read.labels.as_slice(), read.rate, read.metres()),
        (&["L.Knee".into(), "R.Knee".into()][..], Some(60.0), Some(0.001))
    );
    assert_eq!(read.array.positions[1], Vec3::new(4.0, 5.0, 6.0));
    assert!(read.array.positions[2].x.is_nan() && read.array.positions[3].z == 9.0);
    let commas = trc(&TRC.replace('\t', ",")).unwrap();
    assert_eq!((&commas.labels, commas.rate, commas.metres()), (&read.labels, read.rate, read.metres()));
    assert!(commas.array.positions[1] == read.array.positions[1] && commas.array.positions[2].x.is_nan());
    let crlf = TRC.replace('\n', "\r\n");
    assert_eq!(trc(&crlf).unwrap().array.positions[1], read.array.positions[1]);
    for (wrong, said) in [
        (TRC.replace("\t8\t", "\tx\t"), "line 8 of the TRC table: `x` is no number"),
        (
            TRC.replace("60\t60\t2", "60\t60\t3"),
            "line 3 of the TRC table: the header states 3 frames, the table has 2",
        ),
        (
            TRC.replace("2\t0.017", "two\t0.017"),
            "line 8 of the TRC table: it does not begin with the number of a frame",
        ),
        (TRC.replace("L.Knee", "").replace("R.Knee", ""), "no labels follow"),
        ("PathFileType\n".into(), "the file ends before"),
        ("x".into(), "it does not begin with `PathFileType`"),
        (TRC.replace("\t9", "\tinf"), "infinite"),
        (
            TRC.replace("\t8\t", "\t"),
            "line 8 of the TRC table: 5 numbers follow frame and time, where 2 markers have 6",
        ),
        // Between spaces a gap is not seen.
        (TRC.replace('\t', " "), "line 8 of the TRC table: 3 numbers follow frame and time"),
    ] {
        let message = trc(&wrong).unwrap_err().to_string();
        assert!(message.contains(said), "{message}, expected: {said}");
    }
}

#[test]
fn markers_that_are_missing_at_the_end_of_a_row_may_be_left_out() {
    let read = trc(&TRC.replace("\t4\t5\t6\n", "\n")).unwrap();
    assert!(read.array.positions[0] == Vec3::new(1.0, 2.0, 3.0) && read.array.positions[1].x.is_nan());
}

#[test]
fn units_are_those_of_the_file() {
    let with = |unit: &str| trc(&TRC.replace("\tmm\n", &format!("\t{unit}\n"))).unwrap().metres();
    assert_eq!(
        ["m", "CM", "inches", "ft", "furlong"].map(with),
        [Some(1.0), Some(0.01), Some(0.0254), Some(0.3048), None]
    );
}
