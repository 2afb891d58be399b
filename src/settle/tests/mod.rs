//! Laws of flights, falls and chains, and what becomes of real takes.

mod laws;
mod real;
