//! What a run has to say becomes a page that people open: plots, tables, pictures and a player in one file.
