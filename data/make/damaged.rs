//! `damaged/walk.bvh`: the text of the walk becomes that of a recording that went wrong in four ways.
//!
//! It stands 12 cm too high all along, eight frames repeat the one before them, the left forearm is elsewhere for a frame,
//! and the body stands beside itself from the second half on. Everything else is the walk, digit for digit.

/// What is added to the height, file units (centimetres).
const RAISED: f64 = 12.0;
/// The frames that repeat the one before the first.
const HELD: std::ops::Range<usize> = 200..208;
/// The joint that is elsewhere, its frame, and by how many degrees.
const SPIKE: (&str, usize, f64) = ("mixamorig:LeftForeArm", 100, 70.0);
/// From this frame on the body stands so many centimetres beside itself.
const STEP: (usize, f64) = (300, 8.0);

/// The text of the damaged walk.
pub fn damaged(walk: &str) -> String {
    let (head, rows) = walk.split_at(rows_from(walk));
    let joints = head.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        matches!(words.next(), Some("ROOT" | "JOINT")).then(|| words.next().unwrap_or_default())
    });
    let place = joints.into_iter().position(|name| name == SPIKE.0).expect("the walk has a forearm");
    // The root has six channels, every other joint three.
    let forearm = 3 + 3 * place;
    let mut frames: Vec<Vec<String>> =
        rows.lines().map(|row| row.split_whitespace().map(str::to_owned).collect()).collect();
    for f in HELD {
        frames[f] = frames[HELD.start - 1].clone();
    }
    for (f, row) in frames.iter_mut().enumerate() {
        add(&mut row[1], RAISED);
        if f >= STEP.0 {
            add(&mut row[0], STEP.1);
        }
        if f == SPIKE.1 {
            add(&mut row[forearm], SPIKE.2);
        }
    }
    let rows: String = frames.iter().map(|row| row.join(" ") + "\n").collect();
    head.to_owned() + &rows
}

/// Where the line behind the frame time begins.
fn rows_from(text: &str) -> usize {
    let at = text.find("Frame Time").expect("a take has a frame time");
    at + text[at..].find('\n').expect("the frame time ends its line") + 1
}

fn add(number: &mut String, by: f64) {
    let value: f64 = number.parse().expect("channels are numbers");
    *number = format!("{:.4}", value + by);
}
