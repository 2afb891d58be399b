mod disturbed;
mod laws;
mod masses;
mod other_parts;
mod real;
mod scene;
mod symmetry;
