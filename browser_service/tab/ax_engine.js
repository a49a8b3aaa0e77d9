// The engine behind `ref=`: finds an element by its ref, or takes a snapshot and hands it over as an element's text.
// Playwright makes one in the world of the page's scripts, too, for selectors of other kinds: nothing runs before it is
// used, which it never is there.
(() => {
  let dom, names, refs, walk;

  function begin() {
    dom = (DOM)();
    const roles = (ROLES)(dom);
    names = (NAMES)(dom, roles);
    refs = (REFS)(dom, roles, names);
    walk = (WALK)(dom, roles, names, refs);
  }

  function snapshot(root, options) {
    let answer;
    try {
      answer = walk(root, options);
    } catch (fault) {
      answer = { fault: String(fault), pattern: fault instanceof SyntaxError };
    }
    return [paper(JSON.stringify(answer))];
  }

  function paper(text) {
    const sheet = dom.implementation(document).createHTMLDocument('').createElement('pre');
    sheet.textContent = text;
    return sheet;
  }

  // A page may change the element between this moment and the press: then the press does nothing, and `blocked` says why.
  const GUARD_MS = 2000;
  const PRESSES = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'auxclick', 'dblclick', 'contextmenu'];
  let blocked = '';
  let unguard = () => {};

  function guard(number) {
    unguard();
    blocked = '';
    let judged = false;
    const until = performance.now() + GUARD_MS;
    const watch = (event) => {
      if (performance.now() > until) return unguard();
      if (!event.isTrusted) return;
      if (!judged) {
        names.forget();
        blocked = refs.stale(number);
      }
      judged = true;
      if (!blocked) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    };
    for (const each of PRESSES) window.addEventListener(each, watch, true);
    unguard = () => PRESSES.forEach((each) => window.removeEventListener(each, watch, true));
  }

  // `12`: element 12, an error where it is stale. `12?`: nothing where it is stale. `12!`: element 12, to be pressed now.
  // `!`: why nothing was pressed.
  function queryAll(root, body) {
    if (!dom) begin();
    names.forget();
    if (body.startsWith('*')) return snapshot(root, JSON.parse(decodeURIComponent(body.slice(1))));
    if (body === '!') {
      unguard();
      return [paper(blocked)];
    }
    const [, number, manner] = /^(\d+)([?!]?)$/.exec(body);
    const why = refs.stale(Number(number));
    if (why && manner === '?') return [];
    if (why) throw new Error(`stale ref: ${why}.`);
    if (manner === '!') guard(Number(number));
    return [refs.element(Number(number))];
  }

  return { queryAll, query: (root, body) => queryAll(root, body)[0] ?? null };
})()
