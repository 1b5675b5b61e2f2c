// Sorting, filtering and panels. Everything on the page can be read without this script.
(() => {
  "use strict";
  const table = document.getElementById("ranked");
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const heads = Array.from(table.tHead.rows[0].cells);
  const ranks = new Map(rows.map((row, rank) => [row, rank]));
  const features = Number(table.dataset.features);
  const atOnce = 20;
  const filter = document.getElementById("filter");
  const all = document.getElementById("all");
  const shown = document.getElementById("shown");
  let showAll = rows.length <= atOnce;

  const few = 5;  // so few features need no filter
  for (const controls of document.querySelectorAll(".controls")) {
    controls.hidden = "table" in controls.dataset && rows.length <= few;
  }
  all.hidden = showAll;
  const more = rows.length < features ? "Show the best " + rows.length : "Show all " + features + " features";
  all.textContent = more;

  const update = () => {
    const wanted = filter.value.trim().toLowerCase();
    let matching = 0;
    let visible = 0;
    for (const row of Array.from(body.rows)) {
      const matches = (row.cells[1].textContent + " " + row.cells[row.cells.length - 1].textContent).toLowerCase().includes(wanted);
      matching += matches;
      row.hidden = !matches || (!showAll && !wanted && visible >= atOnce);
      visible += !row.hidden;
    }
    shown.textContent = visible < features ? visible + " of " + features + " features shown" : "";
  };
  filter.addEventListener("input", update);
  all.addEventListener("click", () => {
    showAll = !showAll;
    all.setAttribute("aria-expanded", String(showAll));
    all.textContent = showAll ? "Show the best " + atOnce : more;
    update();
  });

  const sortBy = (head) => {
    const place = heads.indexOf(head);
    const isText = head.classList.contains("text");
    const text = (row) => row.cells[place].textContent.trim();
    const size = (row) => text(row).startsWith("<") ? 0 : parseFloat(text(row).replace(/[^-.\d ]/g, ""));
    const first = isText || /^(#|p adj)/.test(head.textContent) ? "ascending" : "descending";
    const now = head.getAttribute("aria-sort");
    const next = now === null ? first : now === "ascending" ? "descending" : "ascending";
    for (const other of heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", next);
    const sign = next === "ascending" ? 1 : -1;
    const known = (row) => text(row) !== "-";
    rows.sort((a, b) => {
      if (known(a) !== known(b)) return known(a) ? -1 : 1;
      const order = isText ? text(a).localeCompare(text(b)) : size(a) - size(b);
      return sign * order || ranks.get(a) - ranks.get(b);
    });
    body.append(...rows);
    update();
  };
  for (const head of heads) {
    if (head.classList.contains("chart")) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => sortBy(head));
  }

  const panels = Array.from(document.querySelectorAll("main details"));
  const setAll = (open) => panels.forEach((panel) => { panel.open = open; });
  const open = document.getElementById("open");
  if (open) {
    open.addEventListener("click", () => setAll(true));
    document.getElementById("close").addEventListener("click", () => setAll(false));
  }
  const openTarget = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    const panel = target && target.querySelector("details");
    if (panel) panel.open = true;
  };
  addEventListener("hashchange", openTarget);
  openTarget();

  let before = [];
  addEventListener("beforeprint", () => {
    before = panels.filter((panel) => !panel.open);
    setAll(true);
  });
  addEventListener("afterprint", () => before.forEach((panel) => { panel.open = false; }));
  update();
})();
