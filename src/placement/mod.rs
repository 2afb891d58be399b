//! Hands go where they belong on the body: surface distances of the source kept, bodies pushed out of themselves.
