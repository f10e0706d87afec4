"use strict";
/* The switch of colours: the system's scheme until the reader selects one. Charts use it too. */
const colours = (() => {
  const system = window.matchMedia("(prefers-color-scheme: dark)"), paper = window.matchMedia("print");
  const root = document.documentElement;
  const listeners = [];
  const changed = () => listeners.forEach((listener) => listener());
  for (const query of [system, paper]) query.addEventListener("change", changed);
  const SCHEMES = ["system", "light", "dark"];
  const choice = document.getElementById("scheme");
  function remembered(scheme) {
    try { return scheme === undefined ? localStorage.getItem("psap.perf scheme") : localStorage.setItem("psap.perf scheme", scheme); }
    catch { return null; /* a browser may forbid it to pages from disk; then the choice is for this view */ }
  }
  function choose(scheme) {
    if (scheme === "system") delete root.dataset.scheme;
    else root.dataset.scheme = scheme;
    choice.textContent = `Colours: ${scheme}`;
    choice.setAttribute("aria-label", `Colours: ${scheme}. Change them`);
    changed();
  }
  choice.hidden = false;
  choice.addEventListener("click", () => {
    const next = SCHEMES[(SCHEMES.indexOf(root.dataset.scheme ?? "system") + 1) % SCHEMES.length];
    remembered(next);
    choose(next);
  });
  const before = remembered();
  choose(SCHEMES.includes(before) ? before : "system");
  return {
    dark: () => !paper.matches && (root.dataset.scheme ? root.dataset.scheme === "dark" : system.matches),
    onChange: (listener) => listeners.push(listener),
  };
})();

/* Rows in the order of a column: by number where its cells have one, missing values last. */
(() => {
  const FACTORS = { "µs": 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, B: 1, kB: 1e3, MB: 1e6, GB: 1e9 };
  const QUANTITY = /^([+\u2212-]?[\d\s]*\.?\d+)\s*([^\s\d]*)$/u;
  function valueOf(cell) {
    if (cell.querySelector(".missing")) return null;
    const text = cell.dataset.sort ?? (cell.classList.contains("number") ? cell.firstChild?.textContent ?? "" : cell.textContent).trim();
    const found = QUANTITY.exec(text);
    if (!found) return text === "" ? null : text;
    return Number(found[1].replace(/\s/gu, "").replace("\u2212", "-")) * (FACTORS[found[2]] ?? 1);
  }
  function compare(one, other) {
    if (one === null || other === null) return (one === null) - (other === null);
    return typeof one === "number" && typeof other === "number" ? one - other : String(one).localeCompare(String(other), "en", { numeric: true });
  }
  for (const table of document.querySelectorAll("table.sortable")) {
    const headings = [...table.querySelectorAll("thead th")];
    headings.forEach((heading, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      heading.append(button);
      button.addEventListener("click", () => {
        const down = heading.ariaSort === "ascending";
        headings.forEach((other) => other.removeAttribute("aria-sort"));
        heading.ariaSort = down ? "descending" : "ascending";
        const rows = [...table.tBodies[0].rows].map((row) => ({ row, value: valueOf(row.cells[column]) }));
        rows.sort((one, other) => (one.value === null || other.value === null || !down ? 1 : -1) * compare(one.value, other.value));
        table.tBodies[0].append(...rows.map((entry) => entry.row));
      });
    });
  }

  for (const field of document.querySelectorAll("input[type=search]")) {
    const rows = field.closest(".card").querySelectorAll("tbody tr");
    field.addEventListener("input", () => {
      const words = field.value.toLowerCase().split(/\s+/);
      for (const row of rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
    });
  }
})();
