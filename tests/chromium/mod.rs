//! A real browser without a window, spoken to over its DevTools protocol: one WebSocket on this machine, std alone.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// A running Chromium with one page.
pub struct Chromium {
    child: Child,
    socket: BufReader<TcpStream>,
    next: u64,
    session: String,
    /// Every event heard since the start.
    pub events: Vec<Value>,
    _profile: TempDir,
}

/// Whether there is a Chromium; says aloud where there is none.
pub fn found() -> bool {
    let there = Command::new("chromium").arg("--version").output().is_ok_and(|o| o.status.success());
    if !there {
        println!(
            "SKIPPED: no `chromium` on the path, so no page was opened (Debian: `apt-get install chromium`)"
        );
    }
    there
}

impl Chromium {
    /// Starts one with a fresh profile and these further switches.
    pub fn start(switches: &[&str]) -> Self {
        let profile = TempDir::new().unwrap();
        let mut child = Command::new("chromium")
            .args(["--headless", "--no-sandbox", "--disable-quic", "--no-first-run"])
            .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
            .args(["--hide-scrollbars", "--remote-debugging-port=0"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .args(switches)
            .arg("about:blank")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let address = loop {
            let mut line = String::new();
            assert!(said.read_line(&mut line).unwrap() > 0, "chromium ended before it listened");
            if let Some(at) = line.find("ws://") {
                break line[at + 5..].trim().to_owned();
            }
        };
        // Nobody reads on, but a full pipe would stop it.
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        let (host, path) = address.split_once('/').unwrap();
        let mut stream = TcpStream::connect(host).unwrap();
        let hello = format!(
            "GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Key: cG9zZW1pbGwgcGFnZSB0ZXN0IQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        );
        stream.write_all(hello.as_bytes()).unwrap();
        let mut socket = BufReader::new(stream);
        let mut line = String::new();
        socket.read_line(&mut line).unwrap();
        assert!(line.contains(" 101 "), "{line}");
        while line != "\r\n" {
            line.clear();
            socket.read_line(&mut line).unwrap();
        }
        let session = String::new();
        let mut browser = Self { child, socket, next: 0, session, events: Vec::new(), _profile: profile };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }))["targetId"].clone();
        let attached = browser.call("Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        browser.session = attached["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page", "Runtime", "Network", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Calls a method and waits for its answer; events on the way are kept.
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.next += 1;
        let mut message = json!({ "id": self.next, "method": method, "params": parameters });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.send(message.to_string().as_bytes());
        loop {
            let answer = self.receive();
            if answer["id"] == json!(self.next) {
                assert!(answer.get("error").is_none(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            self.events.push(answer);
        }
    }

    fn send(&mut self, payload: &[u8]) {
        // One text frame; a mask is demanded, one of zeros changes nothing.
        let mut frame: Vec<u8> = vec![0x81, 0x80 | 127];
        frame.extend((payload.len() as u64).to_be_bytes());
        frame.extend([0u8; 4]);
        frame.extend(payload);
        self.socket.get_mut().write_all(&frame).unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut text = Vec::new();
        loop {
            let mut head = [0; 2];
            self.socket.read_exact(&mut head).unwrap();
            let length = match head[1] & 0x7f {
                126 => u64::from(u16::from_be_bytes(self.bytes())),
                127 => u64::from_be_bytes(self.bytes()),
                short => u64::from(short),
            };
            let mut part = vec![0; usize::try_from(length).unwrap()];
            self.socket.read_exact(&mut part).unwrap();
            assert!(head[0] & 0x0f <= 2, "chromium closed the connection");
            text.extend(part);
            if head[0] & 0x80 != 0 {
                return serde_json::from_slice(&text).unwrap();
            }
        }
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.socket.read_exact(&mut bytes).unwrap();
        bytes
    }

    /// Opens a file and waits until it is loaded.
    pub fn open(&mut self, file: &std::path::Path) {
        let heard = self.events.len();
        self.call("Page.navigate", json!({ "url": format!("file://{}", file.display()) }));
        let loaded = |e: &Value| e["method"] == "Page.loadEventFired";
        while !self.events[heard..].iter().any(loaded) {
            let event = self.receive();
            self.events.push(event);
        }
        self.settle();
    }

    /// The value of a JavaScript expression; promises are waited for.
    pub fn value(&mut self, expression: &str) -> Value {
        let asked = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let answer = self.call("Runtime.evaluate", asked);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Waits until everything that was asked for is drawn.
    pub fn settle(&mut self) {
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))");
    }

    /// Waits until the player has decoded its textures.
    pub fn textured(&mut self) {
        let asked = "new Promise(done => { const look = () => document.getElementById('player').dataset.loading === '0' \
                     ? done(0) : requestAnimationFrame(look); look(); })";
        self.value(asked);
        self.settle();
    }

    /// Presses and releases a key.
    pub fn press(&mut self, key: &str) {
        let text = if key.len() == 1 { key } else { "" };
        for kind in ["keyDown", "keyUp"] {
            self.call(
                "Input.dispatchKeyEvent",
                json!({ "type": kind, "key": key, "code": key, "text": text }),
            );
        }
        self.settle();
    }

    /// The size of the window, and whether dark colours are preferred.
    pub fn look(&mut self, width: u32, height: u32, dark: bool, media: &str) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500 });
        self.call("Emulation.setDeviceMetricsOverride", size);
        let scheme =
            json!([{ "name": "prefers-color-scheme", "value": if dark { "dark" } else { "light" } }]);
        self.call("Emulation.setEmulatedMedia", json!({ "media": media, "features": scheme }));
        self.settle();
    }

    /// What the window shows once it shows the same twice, as PNG: a busy machine composes late.
    pub fn picture(&mut self) -> Vec<u8> {
        use base64::Engine as _;
        let mut shot = || self.call("Page.captureScreenshot", json!({ "format": "png" }))["data"].clone();
        let mut last = shot();
        for _ in 0..20 {
            let next = shot();
            if next == last {
                break;
            }
            last = next;
        }
        base64::engine::general_purpose::STANDARD.decode(last.as_str().unwrap()).unwrap()
    }

    /// What went wrong since the start: exceptions, errors on the console or in the log, and requests that are
    /// neither the file itself nor data inside it.
    pub fn faults(&self, folder: &std::path::Path) -> Vec<String> {
        let own = format!("file://{}", folder.display());
        let fault = |e: &Value| {
            let p = &e["params"];
            let url = p["request"]["url"].as_str().unwrap_or_default();
            match e["method"].as_str().unwrap_or_default() {
                "Runtime.exceptionThrown" => true,
                "Runtime.consoleAPICalled" => {
                    matches!(p["type"].as_str(), Some("error" | "warning" | "assert"))
                }
                // Notes of the graphics driver on its own speed come with taking pictures.
                "Log.entryAdded" => {
                    p["entry"]["source"] != "rendering"
                        && matches!(p["entry"]["level"].as_str(), Some("error" | "warning"))
                }
                "Network.requestWillBeSent" => !(url.starts_with(&own) || url.starts_with("data:")),
                _ => false,
            }
        };
        self.events.iter().filter(|e| fault(e)).map(|e| e["params"].to_string()).collect()
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
