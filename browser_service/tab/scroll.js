// Scroll the page, or `box`, and tell where it stands. Where the page itself does not scroll, what fills it does.
(direction, amount, box) => {
  const page = document.scrollingElement || document.documentElement;
  if (!page) return { x: 0, y: 0, max_y: 0, at_end: true };
  const scrolls = (e) => e.scrollHeight > e.clientHeight + 1 && /auto|scroll|overlay/.test(getComputedStyle(e).overflowY);
  let target = box || page;
  if (!box && page.scrollHeight <= innerHeight + 1) {
    let e = document.elementFromPoint(innerWidth / 2, innerHeight / 2);
    while (e && !scrolls(e)) e = e.parentElement || (e.getRootNode() && e.getRootNode().host);
    target = e || page;
  }
  const top = { down: target.scrollTop + amount, up: target.scrollTop - amount, top: 0, bottom: target.scrollHeight }[direction];
  target.scrollTo({ top, behavior: "instant" });
  const max = Math.max(0, target.scrollHeight - target.clientHeight);
  return { x: target.scrollLeft, y: target.scrollTop, max_y: max, at_end: target.scrollTop >= max - 2 };
}
