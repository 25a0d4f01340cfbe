"use strict";
// The page is whole without this: it adds sorting to the table of rubrics and a filter to the groups.
const table = document.getElementById("rubrics");
const value = (row, column) => {
  const cell = row.cells[column];
  return cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v);
};
for (const [column, head] of [...table.tHead.rows[0].cells].entries()) {
  const button = document.createElement("button");
  button.textContent = head.textContent;
  head.replaceChildren(button);
  button.addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") !== "descending";
    for (const other of table.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const rows = [...table.tBodies[0].rows].sort((one, other) => {
      const [a, b] = [value(one, column), value(other, column)];
      const order = typeof a === "number" ? a - b : a.localeCompare(b);
      return down ? -order : order;
    });
    table.tBodies[0].append(...rows);
  });
}
const groups = [...document.querySelectorAll("details.group")].map((node) => ({
  node,
  text: node.querySelector("summary").textContent.toLowerCase(),
}));
const find = document.getElementById("find");
const flagged = document.getElementById("flagged");
const filter = () => {
  const wanted = find.value.toLowerCase();
  let shown = 0;
  for (const { node, text } of groups) {
    node.hidden = !text.includes(wanted) || (flagged.checked && !("flagged" in node.dataset));
    shown += !node.hidden;
  }
  document.getElementById("shown").textContent = `${shown} of ${groups.length} groups`;
};
find.addEventListener("input", filter);
flagged.addEventListener("change", filter);
document.querySelector(".filter").hidden = groups.length < 2;
