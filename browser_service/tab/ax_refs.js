// Who is who: gives elements their refs, and says whether a ref still means the same element.
//
// A ref stands for one node with its role, its name, its attributes that tell it from others, and its surroundings: what
// the row, list item or card around it says. A framework that puts other data into the same nodes changes one of these.
(dom, roles, names) => {
  const NAMED = 300;
  const SAID = 200; // characters of what surrounds an element that are compared
  const LOOKED_AT = 3000; // elements, for namesakes of those in a part of a page
  const LARGE = 1000; // elements in what is no item any more, but a part of the page
  const CLIMB = 40; // ancestors that are looked at
  const ITEM = 'li, tr, article, dd, [role=row], [role=listitem], [role=article], [role=option], [role=treeitem]';
  const TELLING = ['id', 'name', 'type', 'href', 'for', 'action', 'src', 'data-id', 'data-key', 'data-testid', 'data-value'];
  const COUNTER = /[\s:]*[([]?\d[\d.,]*[kKmM]?\+?[)\]]$/; // "Cart (3)", "Inbox [12]"
  const records = new Map(); // number -> what it was
  const numbers = new WeakMap(); // element -> number

  // A frame is the same whatever it shows: what is in it has refs of its own document.
  function identity(el, role, name) {
    if (role === 'iframe') return { role, name: '', told: '' };
    const said = name || roles.FIELDS.has(role) ? '' : names.content(el, false, NAMED);
    return { role, name, told: JSON.stringify([dom.tag(el), said, ...TELLING.map((each) => dom.get(el, each))]) };
  }

  // What tells one item of a list from the next: where its links lead, else what it says.
  function surroundings(box, known = new Map()) {
    if (known.has(box)) return known.get(box);
    const links = [];
    for (const each of dom.all(box, 'a')) {
      const href = dom.get(each, 'href');
      if (href && !href.startsWith('#') && !href.startsWith('javascript:')) links.push(href);
      if (links.length === 5) break;
    }
    const said = links.length ? 'to ' + links.join(' ') : names.content(box, false, SAID);
    known.set(box, said);
    return said;
  }

  // For each of several elements with one role and name: the largest element around it that holds none of the others.
  function containers(twins) {
    const held = new Map();
    for (const twin of twins) {
      let up = dom.parent(twin);
      for (let i = 0; up && i < CLIMB; i++, up = dom.parent(up)) held.set(up, (held.get(up) ?? 0) + 1);
    }
    return twins.map((twin) => {
      let box = null;
      let up = dom.parent(twin);
      for (let i = 0; up && i < CLIMB && held.get(up) === 1; i++, up = dom.parent(up)) {
        if (up instanceof Element && dom.all(up, '*').length > LARGE) break;
        if (up instanceof Element) box = up;
      }
      return box;
    });
  }

  function record(el, role, name, pointer) {
    return { el, pointer, role, name, known: numbers.get(el), now: identity(el, role, name), number: 0, box: null };
  }

  // Elements with the role and name of one of these that are not among them: a part of a page was looked at.
  function namesakes(entries, groups) {
    const known = new Set(entries.map((each) => each.el));
    const asked = new Set();
    for (const { el, role } of entries) {
      const root = dom.root(el);
      const tag = dom.tag(el);
      const key = tag + ' ' + (root === document);
      if (!roles.INTERACTIVE.has(role) || asked.has(key)) continue;
      asked.add(key);
      for (const other of dom.query(root, CSS.escape(tag)).slice(0, LOOKED_AT)) {
        if (known.has(other)) continue;
        const its = roles.role(other, role === 'clickable');
        groups.get(its + ' ' + names.name(other, its))?.push({ el: other, role: its, other: true });
      }
    }
  }

  // Numbers for the elements of one snapshot, in their order. What had one, and still means the same, keeps it.
  function number(entries, next, partial) {
    const groups = new Map();
    const add = (key, entry) => (groups.get(key) ?? groups.set(key, []).get(key)).push(entry);
    const families = new Map();
    for (const each of entries) {
      add(each.role + ' ' + each.name, each);
      const family = each.role + ' ' + stem(each.name);
      families.set(family, (families.get(family) ?? 0) + 1);
    }
    if (partial) namesakes(entries, groups);
    for (const twins of groups.values()) {
      const boxes = twins.length > 1 ? containers(twins.map((each) => each.el)) : [null];
      twins.forEach((each, i) => {
        const free = each.role === 'iframe' || (twins.length === 1 && roles.FIELDS.has(each.role));
        each.box = free ? null : boxes[i] ?? dom.near(each.el, ITEM);
      });
    }
    const said = new Map();
    for (const each of entries) {
      const before = each.known === undefined ? undefined : records.get(each.known);
      const box = each.box && new WeakRef(each.box);
      if (before && stale(each.known, each.now, said) === '') {
        before.name = each.now.name;
        if (!before.box && box) Object.assign(before, { box, said: surroundings(each.box, said) });
        each.number = each.known;
        continue;
      }
      const alone = families.get(each.role + ' ' + stem(each.name)) === 1 && stem(each.name) !== '';
      const { pointer, now } = each;
      const around = box ? surroundings(each.box, said) : '';
      records.set(next, { el: new WeakRef(each.el), box, pointer, ...now, said: around, alone });
      numbers.set(each.el, next);
      each.number = next++;
    }
    for (const [key, each] of records) if (!each.el.deref()) records.delete(key);
    return next;
  }

  function fresh(el, pointer) {
    const role = roles.role(el, pointer);
    return identity(el, role, names.name(el, role));
  }

  const stem = (name) => name.replace(COUNTER, '');

  // Why this ref means nothing any more; '' where it does.
  function stale(number, seen = null, said = undefined) {
    const known = records.get(number);
    const el = known?.el.deref();
    if (!known) return 'it is of another document, or was never given';
    if (!el || !dom.connected(el)) return 'its element is gone';
    const now = seen ?? fresh(el, known.pointer);
    if (now.role !== known.role) return `it was a ${known.role || 'plain element'} and is a ${now.role || 'plain element'}`;
    if (now.name !== known.name && !(known.alone && stem(now.name) === stem(known.name))) return 'its element is called otherwise now';
    if (now.told !== known.told) return 'its element is another one now';
    if (known.box) {
      const box = known.box.deref();
      if (!box || !dom.connected(box) || !isAround(box, el)) return 'its element is in another place now';
      if (surroundings(box, said) !== known.said) return 'what stands around it is other content now';
    }
    return '';
  }

  const isAround = (box, el) => {
    for (let up = el, i = 0; up && i <= CLIMB + 1; i++, up = dom.parent(up)) if (up === box) return true;
    return dom.holds(box, el);
  };

  return { record, number, stale, element: (number) => records.get(number)?.el.deref() };
}
