// What the page does beyond showing: sort, filter, tooltips, copying. Without it everything is there, unsorted.
"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const tables = all("table.cells");

  // Sorting: a header becomes a button, a cell's data-v is what counts.
  for (const table of tables) {
    all("thead th[data-sort]", table).forEach((head) => {
      const column = head.cellIndex;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const falling = head.getAttribute("aria-sort") === "ascending";
        all("th[aria-sort]", table).forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", falling ? "descending" : "ascending");
        const value = (row) => row.cells[column].dataset.v ?? "";
        const numeric = head.dataset.sort === "number";
        const rows = all("tbody tr", table).map((row) => [value(row), row]);
        rows.sort(([left], [right]) => {
          if (left === "" || right === "") return (left === "") - (right === "");  // what is not known comes last
          const order = numeric ? left - right : left.localeCompare(right, "en", { numeric: true });
          return falling ? -order : order;
        });
        table.tBodies[0].append(...rows.map(([, row]) => row));
      });
    });
  }

  // Filtering: name, verdict and layer together.
  const form = document.getElementById("filter");
  if (form) {
    const [name, verdict, layer] = ["name", "verdict", "layer"].map((field) => form.elements[field]);
    const said = document.getElementById("shown");
    const filter = () => {
      const wanted = name.value.trim().toLowerCase();
      let shown = 0, count = 0;
      for (const row of tables.flatMap((table) => all("tbody tr", table))) {
        row.hidden = !(
          row.dataset.name.toLowerCase().includes(wanted) &&
          (!verdict || !verdict.value || row.dataset.verdict === verdict.value) &&
          (!layer || !layer.value || row.dataset.layer === layer.value)
        );
        count += 1;
        shown += !row.hidden;
      }
      said.textContent = shown === count ? `${count} cells` : `${shown} of ${count} cells`;
    };
    form.hidden = false;
    form.addEventListener("input", filter);
    form.addEventListener("reset", () => setTimeout(filter));
    form.addEventListener("submit", (event) => event.preventDefault());
    filter();
  }

  // Tooltips of the charts: what a mark says, beside the pointer.
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  tip.setAttribute("aria-hidden", "true");
  document.body.append(tip);
  document.addEventListener("pointerover", (event) => {
    const mark = event.target.closest?.("[data-tip]");
    tip.hidden = !mark;
    if (!mark) return;
    tip.textContent = mark.dataset.tip;
    const box = mark.getBoundingClientRect();
    const left = Math.min(box.right + 8, document.documentElement.clientWidth - tip.offsetWidth - 8);
    tip.style.left = `${Math.max(8, left) + scrollX}px`;
    tip.style.top = `${Math.max(8, box.top - tip.offsetHeight - 6) + scrollY}px`;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") tip.hidden = true;
  });

  // A link to a cell opens its details.
  const open = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    const details = target && target.closest("details");
    if (details) details.open = true;
  };
  addEventListener("hashchange", open);
  open();

  // On paper everything is open.
  const opened = new Set();
  addEventListener("beforeprint", () => {
    for (const details of all("details:not([open])")) {
      opened.add(details);
      details.open = true;
    }
  });
  addEventListener("afterprint", () => {
    opened.forEach((details) => (details.open = false));
    opened.clear();
  });

  // Copying: where the browser lets a page do so.
  for (const code of navigator.clipboard ? all("code.command") : []) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 1500);
    });
    code.after(button);
  }
})();
