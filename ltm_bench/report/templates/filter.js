(() => {
  const form = document.getElementById("filter"), count = document.getElementById("shown");
  const examples = [...document.querySelectorAll("#examples details")];
  const texts = new Map();
  const text = (each) => texts.get(each) ?? (texts.set(each, each.textContent.toLowerCase()), texts.get(each));
  const apply = () => {
    const { scenario, outcome, words } = form.elements, wanted = words.value.trim().toLowerCase();
    let shown = 0;
    for (const each of examples) {
      each.hidden = (scenario.value && each.dataset.scenario !== scenario.value) ||
        (outcome.value && !each.dataset.outcomes.split(" ").includes(outcome.value)) ||
        (wanted && !text(each).includes(wanted));
      shown += !each.hidden;
    }
    for (const group of document.querySelectorAll("#examples .group"))
      group.hidden = !group.querySelector("details:not([hidden])");
    count.textContent = `${shown} of ${examples.length} shown`;
  };
  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const example = target?.closest("#examples details");
    if (!example) return;
    if (example.hidden) { form.reset(); apply(); }
    example.open = true;
    target.scrollIntoView();
  };
  form.hidden = false;
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(apply));
  addEventListener("hashchange", reveal);
  apply();
})();
