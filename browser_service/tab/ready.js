// Whether an element can be used this very moment, as it stands: in sight, enabled, still, and not covered. Gives where
// to press it, or puts the cursor into it; null where it must be waited for. For a document without open shadow roots.
(e, intent) => {
  const STILL_MS = 100 // nothing has changed or been scrolled for so long
  const GUARD_MS = 2000
  const GUARDED = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'auxclick', 'dblclick', 'contextmenu'];
  const style = getComputedStyle(e);
  if (!e.isConnected || !e.checkVisibility() || style.visibility !== "visible") return null;
  if (e.matches(":disabled") || e.closest("[aria-disabled=true]")) return null;
  if (intent === "type") {
    if (e.readOnly || e.closest("[aria-readonly=true]")) return null;
    if (e.isContentEditable) getSelection().selectAllChildren(e);
    else e.select();
    e.focus();
    return document.activeElement === e ? { focused: true } : null;
  }
  if (!globalThis.settling || settling.still() < STILL_MS) return null;
  const moving = (a) => a.playState === "running" && a.effect?.target?.contains(e);
  if (document.getAnimations().some(moving)) return null;
  const box = [...e.getClientRects()].find((each) => each.width > 1 && each.height > 1);
  if (!box) return null;
  const left = Math.max(0, box.left), right = Math.min(innerWidth, box.right);
  const top = Math.max(0, box.top), bottom = Math.min(innerHeight, box.bottom);
  if (right - left < 1 || bottom - top < 1) return null;
  const x = (left + right) / 2, y = (top + bottom) / 2;
  const belongs = (node) => node === e || (node.localName === "label" && node.control === e);
  let hit = document.elementFromPoint(x, y);
  if (!hit || /^(iframe|frame|object|embed)$/.test(hit.localName)) return null;
  while (hit && !belongs(hit)) hit = hit.parentElement;
  if (!hit) return null;

  // A page may put something else under the pointer as it comes near: then nothing is pressed.
  globalThis.guard?.end();
  const until = performance.now() + GUARD_MS;
  const watch = (event) => {
    if (performance.now() > until) return guard.end();
    if (!event.isTrusted) return;
    guard.hit ??= event.composedPath().some(belongs);
    if (!guard.hit) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  };
  globalThis.guard = {
    hit: null,
    end() { for (const each of GUARDED) removeEventListener(each, watch, true); },
  };
  for (const each of GUARDED) addEventListener(each, watch, true);
  return { x, y };
}
