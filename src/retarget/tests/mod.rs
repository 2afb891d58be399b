//! Laws of the transfer, and what it does with real takes.

mod laws;
mod missing;
mod real;
