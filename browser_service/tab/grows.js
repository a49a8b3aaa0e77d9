// Whether the page becomes taller than `height` (its max_y) within `limit` milliseconds.
(height, limit) => new Promise((resolve) => {
  const taller = () => {
    const page = document.scrollingElement || document.documentElement;
    return page.scrollHeight - page.clientHeight > height + 1;
  };
  const observer = new MutationObserver(() => { if (taller()) end(true); });
  const timer = setTimeout(() => end(taller()), limit);
  function end(answer) { observer.disconnect(); clearTimeout(timer); resolve(answer); }
  observer.observe(document, { childList: true, subtree: true, attributes: true, characterData: true });
  addEventListener("load", () => { if (taller()) end(true); }, { capture: true, once: true });
  if (taller()) end(true);
})
