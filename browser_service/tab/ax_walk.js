// Walks what a page shows and makes rows of it: [depth, what it is, entry for its ref, what follows, kind].
(dom, roles, names, refs) => {
  const UNSEEN = new Set(['script', 'style', 'noscript', 'template', 'head', 'link', 'meta', 'title', 'datalist']);
  const LANDMARKS = new Set(('main navigation banner contentinfo complementary search form region dialog alertdialog ' +
    'tablist menu menubar toolbar radiogroup tree grid group').split(' '));
  const DEEPEST = 400;
  const PACE = 16; // elements between looks at the clock

  return (root, options) => {
    const brief = options.interactive;
    const NAME = brief ? 50 : 150;
    const TEXT = 1000;
    const URL_MOST = brief ? 0 : 80;
    const began = performance.now();
    const entries = [];
    let nodes = 0;
    let rows = 0;
    const most = options.text || options.regex ? Infinity : options.maxRows;
    let stopped = '';
    let deep = false;

    function over() {
      if (stopped) return true;
      if (++nodes > options.maxNodes || rows > most) stopped = nodes > options.maxNodes ? 'nodes' : 'rows';
      else if (nodes % PACE === 0 && performance.now() - began > options.deadlineMs) stopped = 'time';
      return stopped !== '';
    }

    function target(el) {
      const given = dom.get(el, 'href') ?? dom.get(el, 'src') ?? dom.get(el, 'xlink:href');
      if (!given || given.length > 500) return '';
      let url;
      try { url = new URL(given, el.baseURI); } catch { return ''; }
      if (!/^(https?|mailto|tel):$/.test(url.protocol)) return '';
      const here = url.origin === location.origin && url.protocol.startsWith('http');
      const text = (here ? url.pathname + url.search + url.hash : url.href).replace(/[[\]\s"']/g, encodeURIComponent);
      return text.length <= URL_MOST ? text : '';
    }

    function choices(el) {
      const all = el.options;
      if (brief) return ` options=${all.length}`;
      const shown = [];
      let length = 0;
      for (let i = 0; i < all.length && i < 12 && length < 250; i++) {
        const label = dom.quoted(dom.short(dom.line(all[i].label.slice(0, 400)), 60));
        shown.push(label);
        length += label.length;
      }
      return ` options=(${shown.join(', ')}${all.length > shown.length ? ', … ' + all.length + ' in all' : ''})`;
    }

    function text(into, said, el) {
      const last = into.children.at(-1);
      if (last?.role === 'text' && !into.broken) {
        if (last.text.length < TEXT) last.text += said;
      } else if (/\S/.test(said)) {
        into.children.push({ role: 'text', text: said, el, children: [] });
        rows++;
      }
      if (/\S/.test(said)) into.broken = false;
    }

    function walk(node, into, context) {
      const kind = dom.kind(node);
      if (kind === Node.TEXT_NODE) {
        if (!context.covered && !context.invisible && !brief) text(into, dom.data(node), context.el);
        return;
      }
      if (kind !== Node.ELEMENT_NODE || over()) return;
      if (context.depth > DEEPEST) {
        deep = true;
        return;
      }
      const tag = dom.tag(node);
      if (UNSEEN.has(tag) || dom.get(node, 'aria-hidden') === 'true' || dom.has(node, 'inert')) return;
      const style = getComputedStyle(node);
      if (style.display === 'none' || (style.display !== 'contents' && !dom.drawn(node))) return;
      const clear = context.clear || style.opacity === '0';
      const unseen = style.visibility !== 'visible';
      const hand = style.cursor === 'pointer';
      const pointer = hand && !context.hand;
      const role = unseen ? '' : roles.role(node, pointer);
      const active = roles.INTERACTIVE.has(role);
      const inner = { ...context, el: node, hand, clear, invisible: unseen || clear, depth: context.depth + 1 };
      const wanted = role && (active || role === 'iframe' || (!clear && (brief ? LANDMARKS.has(role) : true)));
      let place = into;
      if (wanted) {
        const name = names.name(node, role);
        const told = context.covered && !active && role !== 'iframe' && (role !== 'img' || !name || context.covered.includes(name));
        if (!told) {
          place = { role, name, el: node, active, pointer, children: [], broken: false };
          into.children.push(place);
          into.broken = true;
          rows++;
          if (name && name.length <= NAME && roles.NAMED_BY_CONTENT.has(role)) inner.covered = name;
        }
      } else if (tag === 'label' && node.control) {
        inner.covered = names.content(node, false) || ' ';
      }
      const inline = /^(inline|contents|ruby)/.test(style.display) || tag === 'br';
      if (!inline || tag === 'br') place.broken = place === into;
      if (!/^(select|textarea|svg|canvas|video|audio|object|embed|iframe|frame|progress|meter|math)$/.test(tag)) {
        const closed = tag === 'details' && !node.open;
        for (const child of dom.children(node)) {
          if (closed && !(dom.kind(child) === Node.ELEMENT_NODE && dom.tag(child) === 'summary')) continue;
          walk(child, place, inner);
          if (stopped) break;
        }
      }
      if (!inline && place === into) into.broken = true;
    }

    function tail(item) {
      const { el, role } = item;
      if (role === 'text') return '';
      let said = roles.states(el, role).map((each) => ` [${each}]`).join('');
      const value = roles.FIELDS.has(role) || role === 'file' || role === 'progressbar' || role === 'meter' || role === 'scrollbar'
        ? roles.value(el, role) ?? (dom.html(el) && roles.isEditor(el) ? names.content(el, false) : null) : null;
      if (dom.tag(el) === 'select') said += choices(el);
      if (value) said += ' = ' + dom.quoted(dom.short(dom.line(value), brief ? 40 : 300));
      const url = role === 'link' || role === 'iframe' ? target(el) : '';
      return said + (url ? ' → ' + url : '');
    }

    const flat = [];
    function write(item, depth) {
      const { role } = item;
      if (role === 'text') {
        const said = dom.line(item.text);
        if (said) put([depth, 'text ' + dom.quoted(dom.short(said, TEXT)), null, '', 0], item);
        return;
      }
      if (brief && !item.active && role !== 'iframe' && !item.children.length) return;
      const head = role + (item.name ? ' ' + dom.quoted(dom.short(item.name, NAME)) : '');
      let said = tail(item);
      let { children } = item;
      if (children.length === 1 && children[0].role === 'text') {
        const line = dom.line(children[0].text);
        if (line && line !== item.name) said += ': ' + dom.quoted(dom.short(line, TEXT));
        children = [];
      }
      if (options.depth && depth + 1 >= options.depth && children.length) {
        said += ` (${children.length} inside)`;
        children = [];
      }
      put([depth, head, null, said, role === 'iframe' ? 1 : 0], item);
      for (const child of children) write(child, depth + 1);
    }

    function put(row, item) {
      if (flat.length >= options.maxRows) {
        stopped ||= 'rows';
        return;
      }
      const meant = wanted === null || wanted(row[1] + row[3]);
      if (!meant && !row[4]) return;
      if (!meant) row[4] = 2; // a frame that is not meant, but what is in it may be
      row[2] = entry(item);
      flat.push(row);
      if (row[2]) entries.push(row[2]);
    }

    // Who gets a ref: what can be used, or has a name; of what is looked for, all, a text by the element that holds it.
    function entry({ el, role, name, active, pointer }) {
      if (role !== 'text') {
        return active || name || role === 'iframe' || wanted ? refs.record(el, role, name, pointer) : null;
      }
      if (wanted === null) return null;
      const own = roles.role(el, false);
      return refs.record(el, own, names.name(el, own), false);
    }

    let wanted = null;
    if (options.text) {
      const text = options.text.toLowerCase();
      wanted = (said) => said.toLowerCase().includes(text);
    } else if (options.regex) {
      const pattern = new RegExp(options.regex, 'iu');
      wanted = (said) => pattern.test(said);
    }

    const where = { url: location.href, title: dom.title(document).slice(0, 1000), document: performance.timeOrigin };
    const top = { role: '', name: '', children: [], broken: false };
    const page = dom.kind(root) === Node.DOCUMENT_NODE;
    const modal = page ? dom.query(root, 'dialog:modal').filter(dom.drawn).at(-1) : null;
    const element = modal ?? (page ? dom.top(root) : root);
    if (element) walk(element, top, { covered: '', invisible: false, clear: false, hand: false, depth: 0, el: element });
    for (const item of top.children) write(item, 0);
    const next = refs.number(entries, options.next, wanted !== null || !page);
    const stop = stopped || (deep ? 'depth' : '');
    return { rows: flat.map((row) => [row[0], row[1], row[2]?.number ?? 0, row[3], row[4]]), next, stopped: stop, modal: Boolean(modal), ...where };
  };
}
