(() => {
  const facts = document.getElementById("facts"), turns = document.getElementById("turns");
  const follow = document.getElementById("follow"), box = follow.querySelector("input");
  let before = facts.innerHTML;
  follow.hidden = false;
  const made = (html) => {
    const holder = document.createElement("template");
    holder.innerHTML = html;
    return holder.content.querySelector("article");
  };
  const source = new EventSource(`${location.pathname}/progress`);
  source.onmessage = (event) => {
    const news = JSON.parse(event.data);
    if (news.facts !== before) facts.innerHTML = before = news.facts;
    let grown = false;
    for (const { id, html } of news.turns) {
      const now = made(html), old = document.getElementById(id);
      if (!old) { turns.append(now); grown = true; }
      else if (old.outerHTML !== now.outerHTML) { old.replaceWith(now); grown = true; }
    }
    if (grown) document.getElementById("nothing")?.remove();
    if (grown && box.checked && turns.lastElementChild) turns.lastElementChild.scrollIntoView({ block: "end" });
    if (news.finished) source.close();
  };
})();
