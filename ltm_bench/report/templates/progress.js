(() => {
  const source = new EventSource("/progress");
  source.onmessage = (event) => {
    const states = JSON.parse(event.data);
    const rows = new Map([...document.querySelectorAll("tr[data-run]")].map((row) => [row.dataset.run, row]));
    if (states.length !== rows.size || states.some((each) => !rows.has(each.name) || (each.report && !rows.get(each.name).querySelector(".pages a"))))
      return location.reload();
    for (const each of states) {
      const row = rows.get(each.name);
      row.querySelector(".state").textContent = each.state;
      row.querySelector(".done").textContent = `${each.done} of ${each.planned}`;
      row.querySelector("progress").value = each.done;
      for (const what of ["score", "interval", "cost"]) row.querySelector(`.${what}`).textContent = each[what];
    }
  };
})();
