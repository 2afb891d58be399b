//! Laws of bodies, constraints, contacts and scenes.

mod closed_forms;
mod ball_tree;
mod contacts;
mod laws;
mod motion;
mod reference;
mod scenes;
mod shapes;
mod support;
