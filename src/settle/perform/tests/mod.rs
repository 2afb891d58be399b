mod disturbed;
mod laws;
mod masses;
mod real;
mod scene;
