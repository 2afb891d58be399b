//! Where meshes of robots may be: in the package of the robot, and nowhere else.

use super::meshes::{corners, files, points, same, urdf};
use super::*;
use std::fs;

/// A package `pack` with the folders `urdf` and `meshes`, and a mesh outside.
fn package() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for inside in ["pack/urdf", "pack/meshes", "pack/robots/deep", "other"] {
        fs::create_dir_all(at(inside)).unwrap();
    }
    let (_, stl) = &files()[0];
    for inside in ["pack/meshes/a.stl", "pack/urdf/a.stl", "other/a.stl", "a.stl"] {
        fs::write(at(inside), stl).unwrap();
    }
    folder
}

/// Whether a robot at `robot` has the mesh `name`; without it there is a warning.
fn has(folder: &Path, robot: &str, name: &str) -> bool {
    let path = folder.join(robot);
    fs::write(&path, urdf(name, "")).unwrap();
    let (asset, robot) = read(&path);
    let expected: Vec<Vec3> = corners().iter().map(|p| p + Vec3::z()).collect();
    let found = same(&points(&robot, 1), &expected);
    assert!(
        found != asset.warnings.has("robot-meshes") && (found || robot.links[1].shapes.is_empty()),
        "{name}"
    );
    found
}

#[test]
fn meshes_of_the_package_are_found() {
    let folder = package();
    let absolute = fs::canonicalize(folder.path().join("pack/meshes/a.stl")).unwrap();
    let absolute = absolute.to_str().unwrap();
    let names = [
        "a.stl",
        "./a.stl",
        "../meshes/a.stl",
        "package://pack/meshes/a.stl",
        "package:///pack/meshes/a.stl",
        "package://pack/urdf/../meshes/a.stl",
        "package://other/a.stl",
        absolute,
        &format!("file://{absolute}"),
    ];
    for name in names {
        assert!(has(folder.path(), "pack/urdf/r.urdf", name), "{name}");
    }
    // The folder is not called as those of robots are: only a `package.xml` makes it part of a package.
    assert!(!has(folder.path(), "pack/robots/deep/r.urdf", "../../meshes/a.stl"));
    fs::write(folder.path().join("pack/package.xml"), "<package/>").unwrap();
    assert!(has(folder.path(), "pack/robots/deep/r.urdf", "../../meshes/a.stl"));
}

#[test]
fn no_mesh_outside_of_the_package_is_read() {
    let folder = package();
    let absolute = fs::canonicalize(folder.path().join("other/a.stl")).unwrap();
    let absolute = absolute.to_str().unwrap();
    let mut names = vec![
        "../../a.stl".to_owned(),
        "../../other/a.stl".to_owned(),
        "package://pack/../a.stl".to_owned(),
        "package://pack/../other/a.stl".to_owned(),
        "package://../a.stl".to_owned(),
        "package://./a.stl".to_owned(),
        "package://pack".to_owned(),
        "package://".to_owned(),
        "package://none/a.stl".to_owned(),
        absolute.to_owned(),
        format!("file://{absolute}"),
        format!("package://pack/{absolute}"),
        "http://example.org/a.stl".to_owned(),
        "/dev/zero".to_owned(),
        "../meshes".to_owned(),
        String::new(),
    ];
    #[cfg(unix)]
    {
        let link = |to: &str, from: &str| {
            std::os::unix::fs::symlink(folder.path().join(to), folder.path().join(from)).unwrap();
        };
        link("other/a.stl", "pack/meshes/link.stl");
        link("other", "pack/meshes/folder");
        link("other", "pack/linked");
        let of_links = [
            "../meshes/link.stl",
            "package://pack/meshes/link.stl",
            "../meshes/folder/a.stl",
            "package://linked/a.stl",
        ];
        names.extend(of_links.map(str::to_owned));
    }
    for name in names {
        assert!(!has(folder.path(), "pack/urdf/r.urdf", &name), "{name}");
    }
}
