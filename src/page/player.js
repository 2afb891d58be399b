// The player: time, camera, keys and pointers, linked with the plots and frame buttons of the page.
(() => {
  "use strict";
  const section = document.getElementById("player");
  const by = (id) => document.getElementById(id);
  const { scene } = posemill;
  if (scene.takes.length === 0) return;
  const characters = scene.characters.map((c) => new posemill.Character(c));
  const unpacked = new Map();
  const actorsOf = (take) => {
    if (!unpacked.has(take)) unpacked.set(take, scene.takes[take].actors.map((a) => new posemill.Actor(a, characters)));
    return unpacked.get(take);
  };

  let canvas = by("view");
  const state = { take: 0, time: 0, playing: false, last: 0, turn: 0.6, tilt: 0.22, zoom: 1, pan: [0, 0] };
  const start = { ...state };
  let actors = actorsOf(0);
  let drawing;
  const fallBack = (why) => {
    // A canvas keeps its first kind of context, so the 2-D one needs a new canvas.
    const fresh = canvas.cloneNode(true);
    canvas.replaceWith(fresh);
    canvas = fresh;
    listen();
    drawing = new posemill.Drawing2d(canvas);
    by("notice").textContent = why;
    for (const id of ["show-skin", "show-skeleton"]) by(id).parentElement.hidden = true;
    redraw();
  };

  const dark = matchMedia("(prefers-color-scheme: dark)");
  const theme = () => dark.matches
    ? { back: [0.075, 0.085, 0.105], floor: [0.125, 0.14, 0.165], line: [0.24, 0.265, 0.305], shadow: [0, 0, 0, 0.42],
        way: [0.42, 0.62, 0.93, 1], bones: [[0.86, 0.84, 0.78], [0.42, 0.66, 0.95], [0.95, 0.62, 0.32]] }
    : { back: [0.93, 0.935, 0.945], floor: [0.875, 0.885, 0.9], line: [0.74, 0.755, 0.78], shadow: [0.1, 0.12, 0.18, 0.22],
        way: [0.16, 0.42, 0.78, 1], bones: [[0.35, 0.36, 0.4], [0.16, 0.45, 0.76], [0.8, 0.42, 0.1]] };

  const duration = () => Math.max(...actors.map((a) => a.duration), 0);
  const lead = () => actors[actors.length - 1];
  const frame = () => Math.min(Math.round(state.time * lead().rate), lead().frames - 1);
  const views = () => actors.filter((a) => !a.ghost);
  const shown = () => (by("show-source").checked || views().length < 2 ? views() : [lead()]);
  // The clip before its performance, in the view of the result.
  const ghost = () => (by("show-ghost").checked ? actors.find((a) => a.ghost) : undefined);

  const camera = (actor) => {
    const follow = by("follow").checked;
    const way = actor.position(actor.character.hips);
    const middle = [0, 1, 2].map((c) => 0.5 * (actor.low[c] + actor.high[c]));
    const spread = Math.hypot(actor.high[0] - actor.low[0], actor.high[2] - actor.low[2]);
    const target = follow ? [way[0], middle[1], way[2]] : middle.slice();
    const fit = follow ? 0.62 * actor.size : 0.55 * Math.max(actor.size, spread);
    const distance = (fit / Math.tan(0.26)) / state.zoom;
    const [ct, st, ch, sh] = [Math.cos(state.tilt), Math.sin(state.tilt), Math.cos(state.turn), Math.sin(state.turn)];
    const back = [sh * ct, st, ch * ct], right = [ch, 0, -sh], up = [-sh * st, ct, -ch * st];
    for (let c = 0; c < 3; c++) target[c] += actor.size * (right[c] * state.pan[0] + up[c] * state.pan[1]);
    const eye = target.map((x, c) => x + distance * back[c]);
    const a = 0.55, key = [right[0] * -0.55 + back[0] * a, 1.15, right[2] * -0.55 + back[2] * a];
    const l = Math.hypot(...key);
    const dot = (u, v) => u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
    return {
      target, eye, light: key.map((x) => x / l),
      matrix(aspect) {
        // A narrow view sees as far to the sides as a wide one sees up and down.
        const f = 1 / Math.tan(0.26) * Math.min(1, aspect / 0.8), near = 0.02 * distance, far = distance + 12 * actor.size;
        const rows = [right, up, back];
        const v = rows.map((r) => [...r, -dot(r, eye)]);
        const p = [f / aspect, f, (far + near) / (near - far), (2 * far * near) / (near - far)];
        const out = new Float32Array(16);
        for (let c = 0; c < 4; c++) {
          out[4 * c] = p[0] * v[0][c]; out[4 * c + 1] = p[1] * v[1][c];
          out[4 * c + 2] = p[2] * v[2][c] + (c === 3 ? p[3] : 0); out[4 * c + 3] = -v[2][c];
        }
        return out;
      },
    };
  };

  const draw = () => {
    const box = canvas.getBoundingClientRect();
    const density = Math.min(window.devicePixelRatio || 1, 2);
    const [width, height] = [Math.max(1, Math.round(box.width * density)), Math.max(1, Math.round(box.height * density))];
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    const colors = theme();
    const skin = by("show-skin").checked && drawing instanceof posemill.Drawing3d;
    drawing.begin(colors);
    const all = shown(), stacked = box.width < 520 && all.length > 1;
    all.forEach((actor, k) => {
      actor.move(state.time);
      if (skin) actor.skin();
      const n = all.length;
      const at = (side, i) => Math.round((side * i) / n);
      const part = stacked
        ? [0, height - at(height, k + 1), width, at(height, k + 1) - at(height, k)]
        : [at(width, k), 0, at(width, k + 1) - at(width, k), height];
      const options = { skin, skeleton: by("show-skeleton").checked, way: true, redraw };
      drawing.draw(actor, part, camera(actor), options, colors);
      const other = actor === lead() ? ghost() : undefined;
      if (other) {
        other.move(state.time);
        drawing.draw(other, part, camera(actor), { ...options, skin: false, way: false, ghost: true }, colors);
      }
    });
    by("names").className = stacked ? "stacked" : "";
    by("names").replaceChildren(...all.map((a) => {
      const name = document.createElement("span");
      name.textContent = all.length > 1 || a.label !== "clip" ? `${a.label} · ${a.character.name}` : a.character.name;
      return name;
    }));
    const at = frame(), last = lead().frames - 1;
    by("scrub").max = String(last);
    by("scrub").value = String(at);
    by("scrub").setAttribute("aria-valuetext", `frame ${at} of ${last}, ${(at / lead().rate).toFixed(2)} seconds`);
    by("readout").textContent = `frame ${at} / ${last} · ${(at / lead().rate).toFixed(2)} s`;
    for (const head of heads) {
      const { from, to, frames } = head;
      const x = from + (to - from) * (frames > 1 ? Math.min(at / (frames - 1), 1) : 0);
      head.line.setAttribute("x1", x.toFixed(1));
      head.line.setAttribute("x2", x.toFixed(1));
    }
    section.dataset.frame = String(at);
    section.dataset.loading = String(drawing.loading || 0);
  };

  let asked = false;
  const redraw = () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame((now) => {
      asked = false;
      if (state.playing) {
        const passed = Math.min((now - state.last) / 1000, 0.25) * Number(by("speed").value);
        state.last = now;
        state.time += passed;
        if (state.time > duration()) state.time = duration() > 0 ? state.time % duration() : 0;
      }
      draw();
      if (state.playing) redraw();
    });
  };
  const play = (on) => {
    state.playing = on;
    state.last = performance.now();
    by("play").querySelector("span").textContent = on ? "❚❚" : "▶";
    by("play").lastElementChild.textContent = on ? "Pause" : "Play";
    redraw();
  };
  const seek = (to) => {
    play(false);
    state.time = Math.min(Math.max(to, 0), lead().frames - 1) / lead().rate;
    redraw();
  };
  const choose = (take) => {
    state.take = take;
    actors = actorsOf(take);
    by("source-choice").hidden = views().length < 2;
    by("ghost-choice").hidden = views().length === actors.length;
    state.time = 0;
    findHeads();
    redraw();
  };

  // Lines on the plots of this clip that show where the player is.
  let heads = [];
  const plotsOf = (take) => {
    const own = [...document.querySelectorAll(`[data-take="${take}"] svg[data-frames]`)];
    const table = scene.takes.length === 1 ? [...document.querySelectorAll("table.measures svg[data-frames]")] : [];
    return own.concat(table);
  };
  const findHeads = () => {
    heads = plotsOf(state.take).flatMap((svg) => {
      const line = svg.querySelector(".playhead");
      const { from, to, frames } = svg.dataset;
      return line ? [{ line, from: Number(from), to: Number(to), frames: Number(frames) }] : [];
    });
  };
  scene.takes.forEach((_, take) => {
    for (const svg of plotsOf(take)) {
      svg.classList.add("leads");
      svg.addEventListener("click", (event) => {
        const box = svg.getBoundingClientRect();
        const { from, to, frames } = svg.dataset;
        const x = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
        if (state.take !== take) { by("take").value = String(take); choose(take); }
        seek(Math.round(((x - from) / (to - from)) * (frames - 1)));
      });
    }
  });
  for (const button of document.querySelectorAll("button.moment")) {
    button.addEventListener("click", () => {
      seek(Number(button.dataset.frame));
      section.scrollIntoView({ block: "nearest", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
    });
  }

  const keys = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = event.shiftKey ? 10 : 1;
    const done = {
      " ": () => play(!state.playing),
      ArrowLeft: () => seek(frame() - step), ArrowRight: () => seek(frame() + step),
      Home: () => seek(0), End: () => seek(lead().frames - 1),
      a: () => { state.turn -= 0.12; }, d: () => { state.turn += 0.12; },
      w: () => { state.tilt = Math.min(state.tilt + 0.1, 1.5); }, s: () => { state.tilt = Math.max(state.tilt - 0.1, -0.4); },
      "+": () => { state.zoom = Math.min(state.zoom * 1.15, 12); }, "=": () => { state.zoom = Math.min(state.zoom * 1.15, 12); },
      "-": () => { state.zoom = Math.max(state.zoom / 1.15, 0.2); },
    }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!done) return;
    // Buttons, lists and boxes keep the keys that are theirs.
    const own = event.target.closest("button, select, input");
    if (own && (event.key === " " || (own.tagName !== "BUTTON" && own.type !== "checkbox"))) return;
    event.preventDefault();
    done();
    redraw();
  };
  // They work at once, wherever on the page nothing else has the focus; there Home and End belong to the page.
  document.addEventListener("keydown", (event) => {
    const nowhere = event.target === document.body && !["Home", "End"].includes(event.key);
    if (nowhere || section.contains(event.target)) keys(event);
  });

  const pointers = new Map();
  function listen() {
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, [event.clientX, event.clientY]);
    });
    canvas.addEventListener("pointermove", (event) => {
      const was = pointers.get(event.pointerId);
      if (!was) return;
      const now = [event.clientX, event.clientY], [dx, dy] = [now[0] - was[0], now[1] - was[1]];
      if (pointers.size === 2) {
        const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
        const apart = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]) || 1;
        state.zoom = Math.min(Math.max((state.zoom * apart(now)) / apart(was), 0.2), 12);
      } else if (event.shiftKey || event.buttons & 6) {
        const scale = 1 / (canvas.clientHeight * state.zoom);
        state.pan = [state.pan[0] - dx * scale, state.pan[1] + dy * scale];
      } else {
        state.turn -= dx * 0.008;
        state.tilt = Math.min(Math.max(state.tilt + dy * 0.006, -0.4), 1.5);
      }
      pointers.set(event.pointerId, now);
      redraw();
    });
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) {
      canvas.addEventListener(end, (event) => pointers.delete(event.pointerId));
    }
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("wheel", (event) => {
      // A page that scrolls past keeps scrolling; the view zooms once it was clicked.
      if (document.activeElement !== canvas && !event.ctrlKey) return;
      event.preventDefault();
      state.zoom = Math.min(Math.max(state.zoom * Math.exp(-event.deltaY * 0.0012), 0.2), 12);
      redraw();
    }, { passive: false });
  }

  by("play").addEventListener("click", () => play(!state.playing));
  by("back").addEventListener("click", () => seek(frame() - 1));
  by("on").addEventListener("click", () => seek(frame() + 1));
  by("scrub").addEventListener("input", () => seek(Number(by("scrub").value)));
  by("reset").addEventListener("click", () => {
    const { turn, tilt, zoom } = start;
    Object.assign(state, { turn, tilt, zoom, pan: [0, 0] });
    redraw();
  });
  for (const id of ["show-skin", "show-skeleton", "show-source", "show-ghost", "follow"]) by(id).addEventListener("change", redraw);
  dark.addEventListener("change", redraw);
  addEventListener("resize", redraw);
  if (scene.takes.length > 1) {
    by("take").append(...scene.takes.map((t, k) => new Option(t.name || `clip ${k + 1}`, String(k))));
    by("take-choice").hidden = false;
    by("take").addEventListener("change", () => choose(Number(by("take").value)));
  }

  section.hidden = false;
  listen();
  try {
    drawing = new posemill.Drawing3d(canvas, () => fallBack("The graphics card stopped: the skeleton is drawn without it."));
  } catch {
    fallBack("This browser has no WebGL 2: the skeleton is shown without its skin.");
  }
  choose(0);
})();
