//! Bodies of made and real characters.

mod capsules;
mod hand_places;
mod range_of_motion;
