mod disturbed;
mod laws;
mod real;
mod scene;
