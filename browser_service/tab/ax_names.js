// What an element is called (Accessible Name and Description Computation 1.2), bounded in length, depth and work.
(dom, roles) => {
  const MOST = 300; // characters of a name
  const DEEPEST = 60;
  const NODES = 2000; // looked at for one name
  const UNSAID = new Set(['script', 'style', 'noscript', 'template', 'select', 'textarea', 'datalist', 'iframe', 'object']);

  const hidden = (el) => dom.get(el, 'aria-hidden') === 'true' || (!dom.drawn(el) && getComputedStyle(el).display !== 'contents');

  // The text in a node; `labels`: what replaces text (alt, aria-label) counts. `unseen`: hidden parts count, too.
  function content(node, unseen, limit = MOST) {
    const parts = [];
    let length = 0;
    let nodes = 0;
    const walk = (each, depth) => {
      if (length > limit || ++nodes > NODES || depth > DEEPEST) return;
      if (dom.kind(each) === Node.TEXT_NODE) {
        const text = dom.data(each);
        parts.push(text);
        length += text.trim().length;
        return;
      }
      if (dom.kind(each) !== Node.ELEMENT_NODE) return;
      const tag = dom.tag(each);
      if (UNSAID.has(tag) || (!unseen && hidden(each))) return;
      const label = dom.get(each, 'aria-label') || (tag === 'img' || tag === 'input' ? dom.get(each, 'alt') : null);
      if (label && each !== node) {
        parts.push(' ' + label + ' ');
        length += label.length;
        return;
      }
      const inline = /^(a|abbr|b|bdi|bdo|cite|code|data|em|i|kbd|mark|q|s|small|span|strong|sub|sup|time|u|font|slot)$/.test(tag);
      if (!inline) parts.push(' ');
      for (const child of dom.children(each)) walk(child, depth + 1);
      if (!inline) parts.push(' ');
    };
    walk(node, 0);
    return dom.short(dom.line(parts.join('').slice(0, limit * 4)), limit);
  }

  function byIds(el, ids) {
    const root = dom.root(el);
    const found = ids.trim().split(/\s+/).slice(0, 8).map((id) => dom.byId(root, id)).filter(Boolean);
    return found.map((each) => dom.get(each, 'aria-label') || content(each, true)).filter(Boolean).join(' ');
  }

  // `el.labels` looks through the whole document for each element; this does once for all of one call of the engine.
  let indexes = new Map(); // root -> control -> labels

  function labels(el) {
    const root = dom.root(el);
    if (!indexes.has(root)) {
      const index = new Map();
      for (const label of dom.query(root, 'label')) {
        if (label.control) (index.get(label.control) ?? index.set(label.control, []).get(label.control)).push(label);
      }
      indexes.set(root, index);
    }
    return indexes.get(root).get(el) ?? [];
  }

  const first = (el, selector) => {
    const child = dom.find(el, ':scope > ' + selector);
    return child ? content(child, false) : '';
  };

  function native(el) {
    const tag = dom.tag(el);
    switch (tag) {
      case 'input':
        if (/^(button|submit|reset)$/.test(el.type)) return el.value.slice(0, MOST) || { submit: 'Submit', reset: 'Reset' }[el.type] || '';
        if (el.type === 'image') return dom.get(el, 'alt') || 'Submit';
      case 'select': case 'textarea': case 'meter': case 'output': case 'progress': case 'button':
        return labels(el).slice(0, 4).map((each) => content(each, false)).filter(Boolean).join(' ');
      case 'img': case 'area': return dom.get(el, 'alt') ?? '';
      case 'fieldset': return first(el, 'legend');
      case 'figure': return first(el, 'figcaption');
      case 'table': return first(el, 'caption');
      case 'optgroup': return dom.get(el, 'label') ?? '';
      case 'option': return el.label.slice(0, MOST);
      case 'svg': return first(el, 'title');
    }
    return '';
  }

  function whole(el, role) {
    const ids = dom.get(el, 'aria-labelledby');
    const by = ids ? byIds(el, ids) : '';
    if (by.trim()) return by;
    const label = dom.get(el, 'aria-label');
    if (label?.trim()) return label;
    const own = native(el);
    if (own.trim()) return own;
    if (roles.NAMED_BY_CONTENT.has(role)) {
      const text = content(el, false);
      if (text) return text;
      const svg = dom.find(el, 'svg > title');
      if (svg) return content(svg, true);
    }
    return dom.get(el, 'title') || dom.get(el, 'placeholder') || dom.get(el, 'aria-placeholder') || '';
  }

  return { name: (el, role) => dom.short(dom.line(whole(el, role)), MOST), content, forget: () => { indexes = new Map() } };
}
