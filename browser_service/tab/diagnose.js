// Why a person could not use this element now.
(e) => {
  const name = (x) => {
    let text = "<" + x.localName;
    if (x.id) text += ` id="${x.id}"`;
    const classes = typeof x.className === "string" ? x.className.trim() : "";
    if (classes) text += ` class="${classes.slice(0, 80)}"`;
    const words = (x.innerText || x.value || "").trim().replace(/\s+/g, " ").slice(0, 40);
    return text + ">" + (words ? ` "${words}"` : "");
  };
  const answer = (problem, more) => ({ problem, element: name(e), ...more });
  const style = getComputedStyle(e);
  const box = e.getBoundingClientRect();
  if (!e.checkVisibility()) return answer("hidden", { why: "display: none, or inside something that is not shown" });
  if (style.visibility !== "visible") return answer("hidden", { why: "visibility: " + style.visibility });
  if (!box.width || !box.height) return answer("hidden", { why: `its size is ${Math.round(box.width)} × ${Math.round(box.height)}` });
  if (e.matches(":disabled") || e.closest("[aria-disabled=true]")) return answer("disabled");
  e.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  const at = e.getBoundingClientRect();
  const x = at.left + at.width / 2, y = at.top + at.height / 2;
  let top = document.elementFromPoint(x, y);
  while (top && top.shadowRoot && top.shadowRoot.elementFromPoint(x, y) && top !== top.shadowRoot.elementFromPoint(x, y)) top = top.shadowRoot.elementFromPoint(x, y);
  let inside = top;
  while (inside && inside !== e) inside = inside.parentNode || inside.host || inside.assignedSlot;
  if (top && !inside && !(e.labels && [...e.labels].some((l) => l.contains(top)))) return answer("covered", { cover: name(top) });
  if (e.readOnly) return answer("readonly");
  return answer("moving");
}
