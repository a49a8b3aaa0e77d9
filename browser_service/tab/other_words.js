// Resolves when the document says something else than now; numbers do not count, since a challenge may count down.
async () => {
  const words = () => (document.documentElement?.innerText ?? '').slice(0, 20000).replace(/[\d\s\p{P}]+/gu, '');
  const before = words();
  await new Promise((resolve) => {
    let due = false;
    const observer = new MutationObserver(async () => {
      if (due) return;
      due = true;
      await scheduler.postTask(() => {}, { delay: 100 });
      due = false;
      if (words() === before) return;
      observer.disconnect();
      resolve();
    });
    observer.observe(document, {
      subtree: true, childList: true, characterData: true, attributes: true,
      attributeFilter: ['class', 'style', 'hidden'],
    });
  });
}
