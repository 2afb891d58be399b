//! Laws of bodies, constraints, contacts and scenes.

mod contacts;
mod laws;
mod motion;
mod reference;
mod scenes;
mod shapes;
mod support;
