"use strict";
// Sortable tables: a click on a column's header sorts by it, a second one reverses the order. `values` returns those of a
// column, one per row; `put` arranges the rows in the order of these indices.
const sortable = (table, values, put) => {
  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number"
      ? a - b || 0
      : String(a).localeCompare(String(b), "en", { numeric: true });
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const found = values(column);
      if (found.length === 0) return;
      const was = head.getAttribute("aria-sort");
      // Numbers sort descending first, words ascending.
      const first = typeof found[0] === "number" ? "descending" : "ascending";
      const order = was === "descending" ? "ascending" : was === "ascending" ? "descending" : first;
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      put(found.map((_, k) => k).sort((a, b) => sign * compare(found[a], found[b])));
    });
  });
};

for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const value = (row, column) => {
    const cell = row.cells[column];
    if (!cell) return "";
    const given = cell.dataset.value;
    if (given === undefined) return cell.textContent.trim();
    return given === "" || Number.isNaN(Number(given)) ? -Infinity : Number(given);
  };
  const values = (column) => [...body.rows].map((row) => value(row, column));
  sortable(table, values, (order) => {
    const rows = [...body.rows];
    body.append(...order.map((k) => rows[k]));
  });
}
