// Tables: a click on a column's head sorts by it, a second one turns the order; the batch table can be searched.
(() => {
  "use strict";
  const value = (row, column) => {
    const cell = row.cells[column];
    if (!cell) return "";
    const given = cell.dataset.value;
    if (given === undefined) return cell.textContent.trim();
    return given === "" || Number.isNaN(Number(given)) ? -Infinity : Number(given);
  };
  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number"
      ? a - b || 0
      : String(a).localeCompare(String(b), "en", { numeric: true });

  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    const body = table.tBodies[0];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        if (body.rows.length === 0) return;
        const was = head.getAttribute("aria-sort");
        // Numbers start with the greatest, words with the first.
        const first = typeof value(body.rows[0], column) === "number" ? "descending" : "ascending";
        const order = was === "descending" ? "ascending" : was === "ascending" ? "descending" : first;
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", order);
        const sign = order === "ascending" ? 1 : -1;
        const rows = [...body.rows].map((row) => [value(row, column), row]);
        rows.sort((a, b) => sign * compare(a[0], b[0]));
        body.append(...rows.map((pair) => pair[1]));
      });
    });
  }

  const clips = document.getElementById("clips");
  const find = document.getElementById("find");
  if (clips && find) {
    const only = document.getElementById("only-over");
    const found = document.getElementById("found");
    const show = () => {
      const wanted = find.value.trim().toLowerCase();
      let count = 0;
      for (const row of clips.tBodies[0].rows) {
        const named = row.cells[0].textContent.toLowerCase().includes(wanted);
        const bad = row.classList.contains("failed") || row.classList.contains("over");
        row.hidden = !(named && (bad || !only.checked));
        count += row.hidden ? 0 : 1;
      }
      found.textContent = `${count} of ${clips.tBodies[0].rows.length} shown`;
    };
    find.addEventListener("input", show);
    only.addEventListener("change", show);
    find.closest(".filter").hidden = false;
    show();
  }
})();
