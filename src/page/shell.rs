//! Assembles the HTML document: head with content security policy, style, content, scripts.
//!
//! The content security policy allows only what is inside the page.

use super::html_text::Text;

const STYLE: &str = include_str!("page.css");
/// Nothing is loaded from elsewhere: pictures are data URLs, style and scripts are inline.
const POLICY: &str =
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// Parts of a page that are compressed with the content of the player, which makes them four times smaller; a script puts them in
/// their place. What a reader without scripts needs is no such part.
#[derive(Debug, Default)]
pub(super) struct Later(pub(super) Vec<String>);

impl Later {
    /// Keeps `html` for the script; what is there until then.
    pub(super) fn put(&mut self, html: String) -> String {
        self.0.push(html);
        format!("<p class=\"quiet\" data-later=\"{}\">Scripts show this part.</p>", self.0.len() - 1)
    }
}

/// The whole document. `scene` is the content of the player, if there is one.
pub(super) fn document(title: &str, body: &str, scripts: &[&str], scene: Option<&str>) -> String {
    let scene = scene.map_or_else(String::new, |text| {
        format!("<script type=\"text/plain\" id=\"scene\">{text}</script>\n")
    });
    let scripts: String = scripts.iter().map(|s| format!("<script>\n{}</script>\n", bare(s))).collect();
    let style = bare(STYLE);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"posemill {version}\">\n\
         <link rel=\"icon\" href=\"data:,\">\n\
         <title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n{body}\
         <footer>Made by posemill {version}. This page is one file and asks nothing of the network.</footer>\n\
         {scene}{scripts}</body>\n</html>\n",
        version = env!("CARGO_PKG_VERSION"),
        title = Text(title),
    )
}

/// A script or a style without indentation and comment lines.
pub(super) fn bare(text: &str) -> String {
    let lines = text.lines().map(str::trim_start).filter(|line| !line.is_empty() && !line.starts_with("//"));
    lines.flat_map(|line| [line, "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_script_or_style_names_a_place_outside() {
        let scripts = [include_str!("table.js"), include_str!("clips.js"), include_str!("player.js")];
        let drawing = [
            include_str!("open.js"),
            include_str!("draw_2d.js"),
            include_str!("draw_3d.js"),
            include_str!("figure.js"),
        ];
        for text in scripts.into_iter().chain(drawing).chain([STYLE]) {
            for word in ["http:", "https:", "//cdn", "eval(", "new Function", "@import", "fetch(", "</script"]
            {
                assert!(!text.contains(word), "{word}");
            }
        }
    }
}
