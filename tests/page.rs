//! The pages as people meet them: opened, sorted, scrubbed and played in a real browser.

mod chromium;

use chromium::Chromium;
use posemill::batch::{JobOutcome, Manifest, OutcomeSpool, write_reports};
use posemill::measure::MEASURES;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A name that would end a script and start another, were it read as markup.
const EVIL: &str = "x</script><script>window.broken=1</script><b\"'&amp;";

fn posemill(arguments: &[&str]) {
    let output = Command::new(env!("CARGO_BIN_EXE_posemill")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Two takes of `data/` on its robot, with their pages.
fn batch() -> TempDir {
    let folder = TempDir::new().unwrap();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let takes = folder.path().join("takes/more");
    fs::create_dir_all(&takes).unwrap();
    fs::copy(data.join("walk.bvh"), folder.path().join("takes/walk.bvh")).unwrap();
    fs::copy(data.join("wave.bvh"), takes.join("wave #1.bvh")).unwrap();
    fs::copy(data.join("squat.bvh"), takes.join("squat.bvh")).unwrap();
    let text = format!(
        "[input]\nmotion = [\"takes/**/*.bvh\"]\ncharacter = {:?}\n[[stage]]\nuse = \"retarget\"\n",
        data.join("robot.glb").display().to_string()
    );
    fs::write(folder.path().join("p.toml"), text).unwrap();
    posemill(&["run", &folder.path().join("p.toml").display().to_string()]);
    folder
}

/// Keeps a picture where people can look at it.
fn keep(name: &str, picture: &[u8]) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("page");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(name), picture).unwrap();
}

/// How many pixels of two pictures of one size differ.
fn different(a: &[u8], b: &[u8]) -> usize {
    let pixels = |bytes: &[u8]| {
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes.to_vec())).read_info().unwrap();
        let mut buffer = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut buffer).unwrap();
        let samples = info.color_type.samples();
        buffer.chunks(samples).map(|p| p.to_vec()).collect::<Vec<_>>()
    };
    let (a, b) = (pixels(a), pixels(b));
    assert_eq!(a.len(), b.len());
    a.iter().zip(&b).filter(|(p, q)| p != q).count()
}

const SOFTWARE: [&str; 2] = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"];
const SCRUB: &str = "document.getElementById('scrub')";

fn scrub_to(browser: &mut Chromium, frame: usize) {
    browser.value(&format!("{SCRUB}.value = {frame}; {SCRUB}.dispatchEvent(new Event('input'))"));
    browser.settle();
    assert_eq!(browser.value("document.getElementById('player').dataset.frame"), json!(frame.to_string()));
}

#[test]
fn the_clip_before_its_performance_is_drawn_with_the_result() {
    if !chromium::found() {
        return;
    }
    let folder = TempDir::new().unwrap();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let text = format!(
        "[input]\nmotion = [{:?}]\ncharacter = {:?}\n[[stage]]\nuse = \"retarget\"\n[[stage]]\nuse = \"perform\"\n\
         hits = [{{ time_s = 1.0, part = \"chest\", impulse_n_s = [0.0, 0.0, -80.0] }}]\n",
        data.join("walk.bvh").display().to_string(),
        data.join("mannequin.glb").display().to_string()
    );
    fs::write(folder.path().join("p.toml"), text).unwrap();
    posemill(&["run", &folder.path().join("p.toml").display().to_string()]);
    let mut browser = Chromium::start(&SOFTWARE);
    browser.look(1280, 900, false, "screen");
    browser.open(&folder.path().join("out/walk.report.html"));
    browser.value("document.getElementById('player').scrollIntoView()");
    browser.textured();
    let mut changes = |frame: usize| {
        scrub_to(&mut browser, frame);
        let with = browser.picture();
        browser.value("document.getElementById('show-ghost').click()");
        browser.settle();
        let without = browser.picture();
        browser.value("document.getElementById('show-ghost').click()");
        keep(&format!("player_ghost_{frame}.png"), &with);
        different(&with, &without)
    };
    // A tenth of a second after the hit, and before it, where both are the same and the skin hides one of them.
    let (after, before) = (changes(132), changes(60));
    println!("{after} pixels after the hit, {before} before it");
    assert!(after > 500 && after > 3 * before, "{after} {before}");
    // Without a performance there is nothing to choose.
    browser.open(&batch().path().join("out/walk.report.html"));
    assert_eq!(browser.value("document.getElementById('ghost-choice').hidden"), json!(true));
}

#[test]
fn the_player_scrubs_plays_and_draws_without_a_fault() {
    if !chromium::found() {
        return;
    }
    let folder = batch();
    let mut browser = Chromium::start(&SOFTWARE);
    browser.look(1280, 900, false, "screen");
    browser.open(&folder.path().join("out/walk.report.html"));
    assert_eq!(browser.value("document.getElementById('view').getContext('webgl2') !== null"), json!(true));
    assert_eq!(browser.value("document.getElementById('notice').textContent"), json!(""));
    // Keys work at once: nothing has to be clicked first.
    browser.press("ArrowRight");
    assert_eq!(browser.value("document.getElementById('player').dataset.frame"), json!("1"));
    browser.value("document.getElementById('player').scrollIntoView()");

    browser.textured();
    scrub_to(&mut browser, 0);
    let first = browser.picture();
    scrub_to(&mut browser, 200);
    let later = browser.picture();
    keep("player_frame_0.png", &first);
    keep("player_frame_200.png", &later);
    assert!(different(&first, &later) > 5000, "{}", different(&first, &later));
    // The same frame looks the same again.
    scrub_to(&mut browser, 0);
    assert_eq!(different(&first, &browser.picture()), 0);
    let heads =
        "[...document.querySelectorAll('[data-take] .playhead')].map(l => Number(l.getAttribute('x1')))";
    let before = browser.value(heads);
    scrub_to(&mut browser, 544);
    assert_eq!(before[0].as_f64(), Some(40.0));
    assert_eq!(browser.value(heads)[0].as_f64(), Some(432.0));

    for (box_, least) in [("show-skeleton", 500), ("show-skin", 5000), ("show-source", 5000)] {
        let was = browser.picture();
        browser.value(&format!("document.getElementById('{box_}').click()"));
        browser.settle();
        let shown = browser.picture();
        keep(&format!("player_{box_}.png"), &shown);
        assert!(different(&was, &shown) > least, "{box_}: {}", different(&was, &shown));
    }

    browser.value("document.getElementById('view').focus({preventScroll: true})");
    browser.press("Home");
    browser.press("ArrowRight");
    browser.press("ArrowRight");
    assert_eq!(browser.value("document.getElementById('player').dataset.frame"), json!("2"));
    let was = browser.picture();
    browser.press("d");
    browser.press("+");
    assert!(different(&was, &browser.picture()) > 5000);
    browser.press(" ");
    assert_eq!(browser.value("document.getElementById('play').textContent.includes('Pause')"), json!(true));
    let moved = "new Promise(done => { const look = () => document.getElementById('player').dataset.frame === '2' \
                 ? requestAnimationFrame(look) : done(true); look(); })";
    assert_eq!(browser.value(moved), json!(true));
    browser.press(" ");

    for (name, width, dark, media) in [
        ("light", 1280, false, "screen"),
        ("dark", 1280, true, "screen"),
        ("phone", 390, false, "screen"),
        ("print", 800, true, "print"),
    ] {
        browser.look(width, 900, dark, media);
        keep(&format!("clip_{name}.png"), &browser.picture());
        let wide = browser.value("document.documentElement.scrollWidth").as_u64().unwrap();
        assert!(wide <= u64::from(width), "{name}: {wide} of {width} pixels");
        let shown = browser.value("getComputedStyle(document.getElementById('player')).display");
        assert_eq!(shown == "none", media == "print");
        let pale = browser.value(include_str!("chromium/pale_texts.js"));
        assert_eq!(pale, json!([]), "{name}: texts of a contrast below 4.5:1 (WCAG 2.2, 1.4.3)");
        let column = "Math.min(...[...document.querySelectorAll('table.measures')].map(table => \
                      table.querySelector('tbody tr > *').getBoundingClientRect().width))";
        let column = browser.value(column).as_f64().unwrap();
        assert!(column > 110.0, "{name}: names of measures have {column} pixels");
    }
    assert_eq!(browser.faults(folder.path()), Vec::<String>::new());
}

#[test]
fn the_batch_table_sorts_filters_and_links() {
    if !chromium::found() {
        return;
    }
    let folder = batch();
    let mut browser = Chromium::start(&SOFTWARE);
    browser.look(1280, 900, false, "screen");
    browser.open(&folder.path().join("out/report.html"));
    keep("batch_light.png", &browser.picture());
    let beyond = "(box => box.scrollWidth - box.clientWidth)(document.querySelector('.scroll.wide'))";
    assert_eq!(browser.value(beyond), json!(0), "every column can be seen");
    let names = "[...document.querySelectorAll('#clips tbody tr:not([hidden]) a')].map(a => a.textContent)";
    let click = "document.querySelector('#clips thead th button').click()";
    let order = "document.querySelector('#clips thead th').getAttribute('aria-sort')";
    browser.value(click);
    assert_eq!(browser.value(names), json!(["more/squat.glb", "more/wave #1.glb", "walk.glb"]));
    assert_eq!(browser.value(order), json!("ascending"));
    browser.value("document.querySelector('#clips thead th button').focus()");
    browser.press("Enter");
    if browser.value(order) == json!("ascending") {
        browser.value(click);
    }
    assert_eq!(browser.value(names), json!(["walk.glb", "more/wave #1.glb", "more/squat.glb"]));
    assert_eq!(browser.value("document.querySelectorAll('#clips [aria-sort]').length"), json!(1));
    // Numbers sort as numbers.
    let column = "(() => { const h = [...document.querySelectorAll('#clips thead th')], k = 3; h[k].querySelector('button').click(); \
                  return [...document.querySelectorAll('#clips tbody tr')].map(r => Number(r.cells[k].textContent)); })()";
    let values: Vec<f64> = serde_json::from_value(browser.value(column)).unwrap();
    assert!(values.len() == 3 && values.is_sorted_by(|a, b| a >= b), "{values:?}");
    browser.value(
        "const f = document.getElementById('find'); f.value = 'WAVE'; f.dispatchEvent(new Event('input'))",
    );
    assert_eq!(browser.value(names), json!(["more/wave #1.glb"]));
    browser.look(1280, 900, true, "screen");
    keep("batch_dark.png", &browser.picture());
    // The link leads to the page of the clip, and that one back.
    let link = browser.value("document.querySelector('#clips tr:not([hidden]) a').getAttribute('href')");
    assert_eq!(link, json!("./more/wave%20%231.report.html"));
    browser.open(&folder.path().join("out/more/wave #1.report.html".replace('#', "%23").replace(' ', "%20")));
    assert_eq!(
        browser.value("document.querySelector('h1').firstChild.textContent.trim()"),
        json!("wave #1.glb")
    );
    assert_eq!(
        browser.value("document.querySelector('nav a').getAttribute('href')"),
        json!("./../report.html")
    );
    assert_eq!(browser.faults(folder.path()), Vec::<String>::new());
}

/// The report of so many clips with eight measures each, every hundredth of them over a limit.
fn many_clips(count: usize) -> TempDir {
    let folder = TempDir::new().unwrap();
    let at = |name: String| folder.path().join(name).display().to_string();
    let mut rows = OutcomeSpool::new(count).unwrap();
    for k in 0..count {
        let over = k % 100 == 7;
        let values = (0..40).map(|i| f64::from(i % 7) * 0.01).collect::<Vec<_>>();
        let measure = |i: usize| {
            let value = match over && i == 0 {
                true => 1.0 + k as f64 * 1e-5,
                false => 0.001 * ((k * (i + 3)) % 97) as f64,
            };
            json!({ "name": MEASURES[i].name, "value": value, "unit": "m", "at_most": 0.5 })
        };
        let outcome = json!({
            "inputs": [at(format!("takes/day_{:03}/take_{k:06}.bvh", k / 500))],
            "status": "written",
            "outputs": [at(format!("day_{:03}/take_{k:06}.glb", k / 500))],
            "warnings": [],
            "metrics": (0..8).map(measure).collect::<Vec<_>>(),
            "changes": [],
            "findings": [],
            "worst_course": { "name": MEASURES[0].name, "unit": "m", "values": values, "frame": 3, "of": "" },
            "error": null,
        });
        rows.put(k, &serde_json::from_value::<JobOutcome>(outcome).unwrap()).unwrap();
    }
    let manifest = Manifest::open(folder.path()).unwrap();
    write_reports(folder.path(), "p.toml", &mut rows, &manifest).unwrap();
    folder
}

#[test]
fn a_page_of_very_many_clips_is_small_and_makes_rows_when_they_are_looked_at() {
    if !chromium::found() {
        return;
    }
    let mut browser = Chromium::start(&SOFTWARE);
    browser.look(1280, 900, false, "screen");
    let names = "[...document.querySelectorAll('#clips tbody th')].map(a => a.textContent)";
    let rows = "document.querySelectorAll('#clips tbody tr').length";
    let type_in = |text: &str| {
        format!(
            "(f => {{ f.value = '{text}'; f.dispatchEvent(new Event('input')); }})(document.getElementById('find'))"
        )
    };
    for (count, most) in [(10, 60_000), (1_000, 600_000), (10_000, 2_000_000)] {
        let folder = many_clips(count);
        browser.events.clear();
        let page = folder.path().join("report.html");
        let bytes = fs::metadata(&page).unwrap().len();
        browser.open(&page);
        let loaded = "Math.round(performance.getEntriesByType('navigation')[0].loadEventEnd)";
        println!("{count} clips: {bytes} bytes, loaded in {} ms", browser.value(loaded));
        assert!(bytes < most, "{count}: {bytes}");
        assert_eq!(browser.value(rows), json!(count.min(200)));
        let shown = |n: usize| json!(format!("{n} of {count} shown"));
        assert_eq!(browser.value("document.getElementById('found').textContent"), shown(count));
        let bad = (0..count).filter(|k| k % 100 == 7).max().unwrap();
        let worst = browser.value(names)[0].clone();
        assert_eq!(worst, json!(format!("day_{:03}/take_{bad:06}.glb", bad / 500)));
        // The end of the table is the start of more.
        browser.value("document.getElementById('more').scrollIntoView()");
        let grown = count.min(400);
        browser.value(&format!("new Promise(done => {{ const look = () => {rows} >= {grown} ? done(0) : requestAnimationFrame(look); look(); }})"));
        // Every row that is made is as those that stood in the page, but for the small plot.
        let cells = "[...document.querySelectorAll('#clips tbody tr')].map(r => [...r.cells].map(c => [c.className, c.firstElementChild?.tagName])) \
                     .map(r => (r.splice(2, 1), JSON.stringify(r))).filter((r, k, all) => !all.includes(r) || all.indexOf(r) === k).length";
        assert!(browser.value(cells).as_u64().unwrap() <= 2, "good rows and bad ones");
        let last = count - 1;
        browser.value(&type_in(&format!("take_{last:06}")));
        assert_eq!(browser.value(names), json!([format!("day_{:03}/take_{last:06}.glb", last / 500)]));
        let text = "[...document.querySelector('#clips tbody tr').cells].slice(3).map(c => c.textContent)";
        let cell = |i: usize| {
            let value = 0.1 * ((last * (i + 3)) % 97) as f64;
            // Three digits, and no zeros at the end.
            let text = format!(
                "{value:.*}",
                if value >= 10.0 {
                    1
                } else if value >= 1.0 || value == 0.0 {
                    2
                } else {
                    3
                }
            );
            if text.contains('.') {
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            } else {
                text
            }
        };
        let told: Vec<String> =
            browser.value(text).as_array().unwrap().iter().map(|t| t.as_str().unwrap().to_owned()).collect();
        // The first column has lengths above a metre, and is in metres.
        assert_eq!(told[1..8], (1..8).map(cell).collect::<Vec<_>>());
        assert_eq!(told[8], "0");
        browser.value(&type_in(""));
        browser.value("document.getElementById('only-over').click()");
        assert_eq!(browser.value("document.getElementById('found').textContent"), shown((count + 92) / 100));
        browser.value("document.getElementById('only-over').click()");
        browser.value("document.querySelector('#clips thead th button').click()");
        assert_eq!(browser.value(names)[0], json!("day_000/take_000000.glb"));
        assert_eq!(browser.faults(folder.path()), Vec::<String>::new());
    }
}

#[test]
fn a_page_that_cannot_be_unpacked_says_so() {
    if !chromium::found() {
        return;
    }
    let folder = batch();
    let page = folder.path().join("out/walk.report.html");
    let text = fs::read_to_string(&page).unwrap();
    fs::write(&page, text.replacen("id=\"scene\">", "id=\"scene\">AAAA", 1)).unwrap();
    let mut browser = Chromium::start(&SOFTWARE);
    browser.look(1280, 900, false, "screen");
    browser.open(&page);
    let shown = "new Promise(done => { const look = () => document.getElementById('player').hidden \
                 ? requestAnimationFrame(look) : done(document.getElementById('player').textContent); look(); })";
    let told = browser.value(shown);
    assert!(told.as_str().unwrap().starts_with("This browser cannot unpack the motion"), "{told}");
}

#[test]
fn names_from_files_stay_text_and_a_browser_without_webgl_gets_lines() {
    if !chromium::found() {
        return;
    }
    let folder = TempDir::new().unwrap();
    let take = format!(
        "HIERARCHY\nROOT {EVIL}\n{{\n OFFSET 0 0 0\n CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n \
         JOINT {EVIL}2\n {{\n  OFFSET 0 50 0\n  CHANNELS 3 Zrotation Xrotation Yrotation\n  End Site\n  {{\n   OFFSET 0 40 0\n  }}\n \
         }}\n}}\nMOTION\nFrames: 3\nFrame Time: 0.1\n0 90 0 0 0 0 0 0 0\n0 90 5 0 0 0 9 0 0\n0 90 10 0 0 0 0 9 0\n"
    );

    let bvh = folder.path().join("<i>&amp;'.bvh");
    fs::write(&bvh, take).unwrap();
    let out = folder.path().join("o.glb").display().to_string();
    posemill(&["convert", &bvh.display().to_string(), "-o", &out, "--set", "output.report=true"]);
    let text = fs::read_to_string(folder.path().join("o.report.html")).unwrap();
    assert!(!text.contains(EVIL) && text.contains("&lt;i&gt;"));

    let mut browser = Chromium::start(&["--disable-3d-apis"]);
    browser.look(900, 700, false, "screen");
    browser.open(&folder.path().join("o.report.html"));
    assert_eq!(browser.value("typeof window.broken"), json!("undefined"));
    assert_eq!(browser.value("document.querySelectorAll('main b, main i, h1 i').length"), json!(0));
    let notice = browser.value("document.getElementById('notice').textContent");
    assert!(notice.as_str().unwrap().starts_with("This browser has no WebGL 2"), "{notice}");
    scrub_to(&mut browser, 0);
    let first = browser.picture();
    scrub_to(&mut browser, 2);
    let last = browser.picture();
    keep("player_without_webgl.png", &last);
    assert!(different(&first, &last) > 50, "{}", different(&first, &last));
    assert_eq!(browser.faults(folder.path()), Vec::<String>::new());
}
