//! Writes everything that `data/` ships: `cargo run --example make_data [FOLDER]`, by default into `data/` itself.

#[path = "mod.rs"]
mod make;

use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let shipped = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("data");
    let folder = std::env::args_os().nth(1).map_or(shipped, PathBuf::from);
    for (name, bytes) in make::every_file() {
        let path = folder.join(name);
        path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        std::fs::write(path, &bytes)?;
        println!("{name}: {} bytes", bytes.len());
    }
    Ok(())
}
