(() => {
  const part = (id) => document.getElementById(id);
  const form = part("form"), field = part("answer"), button = part("send"), note = part("note");
  const PAUSED = "The conversation has ended, or it is paused. If it is resumed, open the address that is printed then.";
  let shown = null, sending = false, gone = 0;
  const show = (sheet) => {
    clearTimeout(gone);
    gone = 0;
    if (sheet ? sheet.id === shown : !shown && note.textContent !== PAUSED) return;
    shown = sheet && sheet.id;
    form.hidden = part("text").hidden = !sheet;
    part("given").hidden = !sheet || sheet.reply === null;
    note.textContent = sheet ? "" : "The next message is coming.";
    if (!sheet) return;
    part("at").textContent = sheet.at;
    part("place").textContent = sheet.place;
    part("text").textContent = sheet.text;
    part("reply").textContent = sheet.reply ?? "";
    part("writing").hidden = sheet.reply !== null;
    field.value = "";
    button.textContent = sheet.reply === null ? "Send" : "Next";
    (sheet.reply === null ? field : button).focus({ preventScroll: true });
    scrollTo(0, 0);
  };
  const pause = () => {
    show(null);
    note.textContent = PAUSED;
  };
  const listen = () => {
    const source = new EventSource("sheets");
    source.onmessage = (event) => show(JSON.parse(event.data));
    source.onerror = () => {
      gone ||= setTimeout(pause, 2000);
      if (source.readyState === EventSource.CLOSED) setTimeout(listen, 2000);
    };
  };
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (!shown || sending) return;
    sending = true;
    try {
      const taken = await fetch(`answers/${shown}`, { method: "POST", body: field.value });
      if (!taken.ok) note.textContent = await taken.text();
    } catch {
      note.textContent = "That did not get through. Your answer is still here: send it again.";
    }
    sending = false;
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "PageDown" || event.key === "PageUp") { // a long message is read from the field
      event.preventDefault();
      scrollBy(0, (event.key === "PageDown" ? 0.5 : -0.5) * innerHeight);
    }
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    if (!event.repeat) form.requestSubmit(); // a key held down would pass over the next message
  });
  listen();
})();
