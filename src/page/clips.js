"use strict";
// The table of clips: the worst are rows of the HTML; rows of the others are made when they become visible.
(() => {
  const list = document.getElementById("list");
  const clips = JSON.parse(list.textContent);
  const step = Number(list.dataset.rows);
  const courses = list.dataset.courses === "1";
  const [NAME, PAGE, CLASS, WORD, ERROR, COURSE, VALUES, WARNINGS] = [0, 1, 2, 3, 4, 5, 6, 7];
  const table = document.getElementById("clips");
  const body = table.tBodies[0];
  const more = document.getElementById("more");
  const find = document.getElementById("find");
  const only = document.getElementById("only-over");
  const found = document.getElementById("found");

  const element = (name, attributes, ...content) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...content);
    return made;
  };
  const made = (clip) => {
    const name = clip[PAGE] ? element("a", { href: clip[PAGE] }, clip[NAME]) : clip[NAME];
    const head = element("th", { scope: "row" }, name);
    if (clip[ERROR] !== null) head.append(element("p", { class: "error" }, clip[ERROR]));
    const row = element("tr", { class: clip[CLASS] }, head);
    row.append(element("td", {}, element("span", { class: `badge ${clip[CLASS]}` }, clip[WORD])));
    if (courses) row.append(element("td", {}, ...(clip[COURSE] ? [element("small", {}, clip[COURSE])] : [])));
    for (const value of clip[VALUES]) {
      const over = value.startsWith("!");
      row.append(element("td", { class: over ? "n over" : "n" }, over ? value.slice(1) : value));
    }
    row.append(element("td", { class: "n" }, String(clip[WARNINGS])));
    return row;
  };
  // By the number of the clip, from the worst down.
  const rows = [...body.rows];
  const row = (k) => (rows[k] ??= made(clips[k]));

  let order = clips.map((_, k) => k);
  let shown = order;
  let count = rows.length;
  const tell = () => {
    found.textContent = `${shown.length} of ${clips.length} shown`;
    more.hidden = count >= shown.length;
    more.textContent = `${shown.length - count} more`;
  };
  const grow = () => {
    body.append(...shown.slice(count, count + step).map(row));
    count = Math.min(count + step, shown.length);
    tell();
  };
  const show = () => {
    const wanted = find.value.trim().toLowerCase();
    const bad = (clip) => clip[CLASS] === "failed" || clip[CLASS] === "over";
    const told = (clip) => `${clip[NAME]} ${clip[ERROR] ?? ""}`.toLowerCase();
    shown = order.filter((k) => told(clips[k]).includes(wanted) && (bad(clips[k]) || !only.checked));
    body.replaceChildren();
    count = 0;
    grow();
  };

  const number = (text) => {
    const value = Number(text.replace("!", "").replace("\u2212", "-"));
    return text === "" || Number.isNaN(value) ? -Infinity : value;
  };
  const first = courses ? 3 : 2;
  const value = (clip, k, column) => {
    if (column === 0) return clip[NAME];
    if (column === 1) return -k;
    if (column < first) return clip[COURSE] ?? "";
    return column - first < clip[VALUES].length ? number(clip[VALUES][column - first]) : clip[WARNINGS];
  };
  sortable(
    table,
    (column) => clips.map((clip, k) => value(clip, k, column)),
    (sorted) => {
      order = sorted;
      show();
    },
  );
  find.addEventListener("input", show);
  only.addEventListener("change", show);
  find.closest(".filter").hidden = false;
  more.addEventListener("click", grow);
  new IntersectionObserver((seen) => {
    if (seen.some((s) => s.isIntersecting)) grow();
  }).observe(more);
  tell();
})();
