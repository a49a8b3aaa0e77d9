// The elements that match plain CSS, inspected, and whether the chosen one is ready for what is intended; null where
// another engine must look: in a document with open shadow roots, in a very large one, for a selector that is none.
(selector, intent, inspect, ready) => {
  const all = document.querySelectorAll("*");
  if (all.length > 20000) return null;
  for (const each of all) if (each.shadowRoot) return null;
  let found;
  try { found = [...document.querySelectorAll(selector)]; } catch { return null; }
  const seen = inspect(found);
  const suits = intent === "click" ? !seen.label : ["text", "editable"].includes(seen.kind);
  seen.ready = intent && seen.visible && suits ? ready(found[seen.first], intent) : null;
  return seen;
}
