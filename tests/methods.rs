//! The page of methods names tests that exist.

use std::path::Path;

#[test]
fn every_test_that_the_page_of_methods_names_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("docs/METHODS.md")).unwrap();
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let (mut file, mut named) = (String::new(), 0);
    for code in page.split('`').skip(1).step_by(2) {
        let test = match code.split_once(": ") {
            Some((of, test)) => {
                file = if of.starts_with("src/") { of.into() } else { format!("tests/{of}.rs") };
                test
            }
            // A name alone is of the file before it.
            None if code.matches('_').count() > 1 && !code.contains(' ') => code,
            None => continue,
        };
        if !test.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_') {
            continue;
        }
        let text = std::fs::read_to_string(root.join(&file)).unwrap_or_else(|_| panic!("no {file}"));
        assert!(text.contains(&format!("fn {test}(")), "{file} has no test {test}");
        named += 1;
    }
    assert!(named > 25, "{named}");
}
