//! Tests of reading that need bodies made elsewhere.

#[cfg(feature = "draco")]
mod draco;
mod second_body;
mod stated_units;
