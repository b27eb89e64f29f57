(() => {
  const body = document.querySelector(".runs tbody");
  const rows = () => [...document.querySelectorAll("tr[data-run]")];
  const filter = document.getElementById("filter"), shown = document.getElementById("shown");
  const count = document.getElementById("count"), button = document.getElementById("compare"), none = document.getElementById("none");
  const heads = [...document.querySelectorAll("th[data-key]")];
  const asked = new URLSearchParams(location.search);
  // Where not all runs fit on one page, the server sorts and filters them.
  const table = document.querySelector(".runs"), all = Number(table?.dataset.all ?? 0);
  const onServer = table !== null && all !== rows().length;
  let by = asked.get("sort") ?? "started", falling = asked.get("down") !== "0";

  const sort = () => {
    const column = heads.findIndex((head) => head.dataset.key === by) + 1;
    if (!column) return;
    for (const head of heads) {
      if (head.dataset.key === by) head.setAttribute("aria-sort", falling ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
    if (onServer) return;
    const numbers = ["span", "score", "cost"].includes(by);
    const value = (row) => row.cells[column].dataset.value;
    const compared = (a, b) => numbers ? value(a) - value(b) : value(a).localeCompare(value(b), "en", { numeric: true });
    const before = rows(), after = before.toSorted(
      (a, b) => (falling ? -1 : 1) * compared(a, b) || a.dataset.run.localeCompare(b.dataset.run, "en", { numeric: true }));
    if (after.some((row, i) => row !== before[i])) {
      const focused = document.activeElement;
      body.append(...after);
      if (body.contains(focused)) focused.focus();
    }
  };
  const show = () => {
    const words = filter.elements.words.value.trim().toLowerCase(), state = filter.elements.state.value;
    let left = 0;
    if (onServer) { shown.textContent = `${table.dataset.found} of ${all} found`; return; }
    for (const row of rows()) {
      row.hidden = (state && row.dataset.state !== state) || (words && !row.textContent.toLowerCase().includes(words));
      left += !row.hidden;
    }
    shown.textContent = `${left} of ${rows().length} shown`;
  };
  // The choice outlives a change of page: what is chosen on other pages is sent by hidden fields.
  const form = document.getElementById("chosen"), boxes = () => [...document.querySelectorAll("input[type=checkbox][name=run]")];
  const kept = new Set(JSON.parse(sessionStorage.getItem("chosen") ?? "[]"));
  const choose = () => {
    const here = boxes();
    for (const box of here) if (box.checked) kept.add(box.value); else kept.delete(box.value);
    const values = new Set(here.map((box) => box.value));
    const elsewhere = [...kept].filter((name) => !values.has(name));
    if (!onServer) elsewhere.splice(0).forEach((name) => kept.delete(name));
    for (const field of form.querySelectorAll("input[type=hidden]")) field.remove();
    for (const name of elsewhere) form.append(Object.assign(document.createElement("input"), { type: "hidden", name: "run", value: name }));
    sessionStorage.setItem("chosen", JSON.stringify([...kept]));
    button.disabled = kept.size < 2;
    none.hidden = !kept.size;
    count.textContent = kept.size ? `${kept.size} chosen${elsewhere.length ? `, ${elsewhere.length} of them on other pages` : ""}` : "";
  };
  const remember = () => {
    const now = new URLSearchParams({ sort: by, down: falling ? "1" : "0" });
    for (const name of ["words", "state"]) if (filter.elements[name].value) now.set(name, filter.elements[name].value);
    if (onServer) location.search = now;
    else history.replaceState(null, "", `?${now}`);
  };
  const take = async () => {
    const page = new DOMParser().parseFromString(await (await fetch(location.href)).text(), "text/html");
    const old = new Map(rows().map((row) => [row.dataset.run, row]));
    const news = [...page.querySelectorAll("tr[data-run]")];
    if (!body && news.length) return location.reload();
    for (const row of news) {
      const mine = old.get(row.dataset.run);
      old.delete(row.dataset.run);
      if (!mine) { body.append(row); continue; }
      mine.dataset.state = row.dataset.state;
      [...row.cells].slice(1).forEach((cell, i) => {
        if (mine.cells[i + 1].outerHTML !== cell.outerHTML) mine.cells[i + 1].replaceWith(cell);
      });
    }
    for (const gone of old.values()) gone.remove();
    if (body) { sort(); show(); choose(); }
  };

  if (body) {
    for (const head of heads) {
      const press = document.createElement("button");
      press.type = "button";
      press.textContent = head.textContent;
      press.addEventListener("click", () => {
        falling = by === head.dataset.key ? !falling : ["score", "cost", "span", "started"].includes(head.dataset.key);
        by = head.dataset.key;
        sort();
        remember();
      });
      head.replaceChildren(press);
    }
    for (const name of ["words", "state"]) filter.elements[name].value = asked.get(name) ?? "";
    filter.hidden = false;
    filter.addEventListener(onServer ? "change" : "input", () => { show(); remember(); });
    filter.addEventListener("submit", (event) => { event.preventDefault(); if (onServer) remember(); });
    body.addEventListener("change", choose);
    form.addEventListener("reset", () => { kept.clear(); setTimeout(choose); });
    for (const box of boxes()) box.checked = kept.has(box.value) && !box.disabled;
    sort();
    show();
    choose();
  }
  let first = true, taking = false, again = false;
  new EventSource(`/progress${location.search}`).onmessage = async () => {
    if (first) { first = false; return; }
    if (taking) { again = true; return; }
    taking = true;
    try { do { again = false; await take(); } while (again); } finally { taking = false; }
  };
})();
