// The engine behind `ref=`: finds an element by its ref, or takes a snapshot and hands it over as an element's text.
(() => {
  const dom = (DOM)();
  const roles = (ROLES)(dom);
  const names = (NAMES)(dom, roles);
  const refs = (REFS)(dom, roles, names);
  const walk = (WALK)(dom, roles, names, refs);

  function snapshot(root, options) {
    let answer;
    try {
      answer = walk(root, options);
    } catch (fault) {
      answer = { fault: String(fault), pattern: fault instanceof SyntaxError };
    }
    const paper = document.implementation.createHTMLDocument('').createElement('pre');
    paper.textContent = JSON.stringify(answer);
    return [paper];
  }

  // `12`: element 12, an error where it is stale. `12?`: nothing where it is stale.
  function queryAll(root, body) {
    if (body.startsWith('*')) return snapshot(root, JSON.parse(decodeURIComponent(body.slice(1))));
    const [, number, lenient] = /^(\d+)(\??)$/.exec(body);
    const why = refs.stale(Number(number));
    if (!why) return [refs.element(Number(number))];
    if (lenient) return [];
    throw new Error(`stale ref: ${why}.`);
  }

  return { queryAll, query: (root, body) => queryAll(root, body)[0] ?? null };
})()
