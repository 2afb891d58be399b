//! Tests of reading that need bodies made elsewhere.

mod second_body;
mod stated_units;
