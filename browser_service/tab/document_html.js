// The document as it stands, as HTML of its own: shadow roots as declarative templates, documents of frames in their
// place, what nobody sees marked `hidden`; without styles and drawings, and of scripts only the beginning. Frames of
// other origins are gaps, which are filled by asking them: `frames` tells the place of each by its path in
// window.frames. `copying` keeps, between calls, the closed shadow roots that were found and the elements that may have
// one.
({ maxNodes, maxChars, styleMs, deadlineMs, wanted }, isHidden) => {
  const began = performance.now();
  const DEPTH = 500; // nested deeper, only the text is kept: readers need not be as patient as browsers
  const HOSTS = 50;
  const VALUE = 4096; // characters of an attribute that is no address
  const ADDRESS = 8192;
  const SCRIPT = 2000; // characters of a script's own code, which tell what kind of page it is …
  const SCRIPTS = 65536; // … and of all of them
  const set = (words) => new Set(words.split(' '));
  const DROPPED = set('style noscript template svg canvas noembed noframes datalist track param base');
  const VOID = set('area br col embed hr img input link meta source wbr');
  const UNSTYLED = set('area br col link meta source wbr');
  const PLAYERS = set('video audio');
  const FRAMES = set('iframe frame object');
  const OUTER = set('html head body frameset');
  const VERBATIM = set('xmp plaintext listing');
  const HEAVY = set('stylesheet preload modulepreload prefetch preconnect dns-prefetch');
  const ADDRESSES = set('href src data-src data-original data-lazy-src data-url poster cite action');
  const ROOMY = set('div section article main aside'); // may hold a closed shadow root and look empty
  const PLACE = {
    tr: set('table tbody thead tfoot template'), td: set('tr template'), th: set('tr template'),
    tbody: set('table template'), thead: set('table template'), tfoot: set('table template'),
    caption: set('table template'), colgroup: set('table template'), col: set('colgroup table template'),
  };

  // A form's fields and a document's images hide properties of their owners, so these come from the prototypes.
  const getter = (type, name) => {
    const { get } = Object.getOwnPropertyDescriptor(type.prototype, name);
    return (thing) => get.call(thing);
  };
  const firstChild = getter(Node, 'firstChild');
  const nextSibling = getter(Node, 'nextSibling');
  const nodeType = getter(Node, 'nodeType');
  const content = getter(Node, 'textContent');
  const base = getter(Node, 'baseURI');
  const owner = getter(Node, 'ownerDocument');
  const localName = getter(Element, 'localName');
  const shadowRoot = getter(Element, 'shadowRoot');
  const attributes = getter(Element, 'attributes');
  const namespace = getter(Element, 'namespaceURI');
  const width = getter(HTMLElement, 'offsetWidth');
  const height = getter(HTMLElement, 'offsetHeight');
  const bodyOf = getter(Document, 'body');
  const viewOf = getter(Document, 'defaultView');
  const about = (name) => getter(Document, name)(document);
  const innerOf = { iframe: HTMLIFrameElement, frame: HTMLFrameElement, object: HTMLObjectElement };
  const attribute = (el, name) => Element.prototype.getAttribute.call(el, name);
  const matches = (el, selector) => Element.prototype.matches.call(el, selector);

  const kept = (globalThis.copying ??= { roots: new WeakMap(), hosts: [] });
  kept.hosts = [];
  const out = [];
  const gaps = [];
  let size = 0;
  let nodes = 0;
  let coded = 0;
  let stopped = '';
  let styled = styleMs > 0;

  const put = (text) => {
    size += text.length;
    return out.push(text) - 1;
  };
  const isHtml = (el) => namespace(el) === 'http://www.w3.org/1999/xhtml';
  const isBlank = (text) => !/[^ \t\n\r\f]/.test(text);
  const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const pair = (name, value) => ` ${name}="${value.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"`;
  const absolute = (value, from) => {
    try {
      return new URL(value, from).href;
    } catch {
      return value;
    }
  };

  // --- frames -----------------------------------------------------------------------------------------------------

  const indexIn = (view, child) => {
    const count = Math.min(view.length, 1000);
    for (let i = 0; i < count; i += 1) if (view[i] === child) return i;
    return -1;
  };
  // Where this document is: the indexes in window.frames from the top down; null within a shadow root.
  const ownPath = () => {
    const path = [];
    for (let view = window; view !== view.top; view = view.parent) {
      const index = indexIn(view.parent, view);
      if (index < 0) return null;
      path.unshift(index);
    }
    return path;
  };
  const innerDocument = (el, tag) => {
    const { get } = Object.getOwnPropertyDescriptor(innerOf[tag].prototype, 'contentDocument');
    try {
      return get.call(el);
    } catch {
      return null;
    }
  };
  const leaveGap = (frame, address) => {
    const { get } = Object.getOwnPropertyDescriptor(innerOf[frame.tag].prototype, 'contentWindow');
    const view = viewOf(owner(frame.el));
    const index = frame.doc.path === null || view === null ? -1 : indexIn(view, get.call(frame.el));
    if (index < 0 || frame.hidden) return;
    gaps.push({ at: out.length, path: [...frame.doc.path, index].join('.'), url: address });
  };
  // The frame's own element stays, empty, since its address tells what it is; after it comes what the frame shows.
  const enterFrame = (frame) => {
    const { el, tag } = frame;
    if (tag === 'iframe') put(`${startTag({ ...frame, name: tag })}</iframe>`);
    const small = frame.style !== null && tag !== 'object' && (width(el) <= 1 || height(el) <= 1);
    if (frame.hidden || small || frame.depth > DEPTH) return null;
    const address = absolute(attribute(el, tag === 'object' ? 'data' : 'src') ?? 'about:srcdoc', base(el));
    frame.slot = put(`<div data-frame="${escape(address.slice(0, ADDRESS)).replaceAll('"', '&quot;')}">`);
    frame.name = 'div';
    const inner = innerDocument(el, tag);
    if (inner === null && tag === 'object') return firstChild(el);
    if (inner === null) return leaveGap(frame, address), null;
    const view = viewOf(owner(el));
    const index = frame.doc.path === null || view === null ? -1 : indexIn(view, viewOf(inner));
    frame.doc = { path: index < 0 ? null : [...frame.doc.path, index], base: base(inner), inner: true };
    const body = bodyOf(inner);
    return body === null ? null : firstChild(body);
  };

  // --- elements ---------------------------------------------------------------------------------------------------

  const nameOf = (tag, above) => {
    if (VERBATIM.has(tag)) return 'pre';
    if (OUTER.has(tag) || (PLACE[tag] && !PLACE[tag].has(above.name))) return 'div';
    if (tag === 'p' && above.hidden) return 'div'; // a block in it would end it, and with it what hides
    return /^[a-z][a-z0-9._-]*$/.test(tag) ? tag : 'span';
  };
  const written = (frame, name, value) => {
    if (name === 'srcdoc' || name.startsWith('on') || !/^[^\s"'<>/=]+$/.test(name)) return '';
    if (name === 'hidden' && frame.style !== null) return '';
    if (name === 'style') {
      if (frame.style === null) return pair(name, value.slice(0, VALUE));
      const align = /text-align\s*:\s*(left|right|center)/i.exec(value);
      return align ? ` style="${align[0]}"` : '';
    }
    if (ADDRESSES.has(name)) {
      if (value.length > ADDRESS) return '';
      return pair(name, frame.doc.inner && value !== '' ? absolute(value, frame.doc.base) : value);
    }
    if (name.endsWith('srcset')) return frame.doc.inner || value.length > ADDRESS ? '' : pair(name, value);
    return value.length > VALUE && name.startsWith('data-') ? '' : pair(name, value.slice(0, VALUE));
  };
  const startTag = (frame) => {
    let text = `<${frame.name}`;
    for (const { name, value } of attributes(frame.el)) text += written(frame, name, value);
    return text + (frame.hidden && !frame.above.hidden ? ' hidden>' : '>');
  };

  const shadowOf = (el, tag) => {
    const open = shadowRoot(el) ?? kept.roots.get(el);
    if (open || kept.hosts.length >= HOSTS) return open ?? null;
    const maybe = tag.includes('-') ? matches(el, ':defined')
      : ROOMY.has(tag) && firstChild(el) === null && isHtml(el) && height(el) > 8 && width(el) > 40;
    if (maybe) kept.hosts.push(el);
    return null;
  };
  const takesText = (root) => root.querySelector('slot:not([name]),slot[name=""]') !== null;

  const judge = (frame) => {
    const { el, above, tag } = frame;
    const style = (frame.style = getComputedStyle(el));
    const display = style.display;
    frame.clips = above.clips || (above.style !== null && above.tag !== 'body' && above.style.overflowX !== 'visible');
    frame.shown = style.visibility === 'visible' || above.unveiled;
    const unslotted = above.host && display !== 'contents' && !Element.prototype.checkVisibility.call(el);
    frame.hidden = unslotted || isHidden(el, style, display, frame.clips);
    if (tag === 'option' || tag === 'optgroup') frame.hidden = false;
  };
  const script = (el) => {
    const type = attribute(el, 'type') ?? '';
    const text = content(el);
    const data = /json|math\/tex/i.test(type);
    const address = attribute(el, 'src');
    put(`<script${type ? pair('type', type) : ''}${address === null ? '' : pair('src', address.slice(0, ADDRESS))}>`);
    const code = data ? text : text.slice(0, Math.min(SCRIPT, SCRIPTS - coded));
    if (!data) coded += code.length;
    put(code.replace(/<(?=\/script|!--|script)/gi, '\\u003c'));
    put('</script>');
  };
  const isLightLink = (el) => !(attribute(el, 'rel') ?? '').toLowerCase().split(/\s+/).some((each) => HEAVY.has(each));

  const startsWithLine = (node) => node !== null && nodeType(node) === Node.TEXT_NODE && node.data.startsWith('\n');
  // Puts the element's start tag and gives its frame, or null where nothing of it is kept.
  const open = (el, above) => {
    const tag = localName(el);
    if (DROPPED.has(tag)) return null;
    if (tag === 'script') return script(el), null;
    if (tag === 'link' && !isLightLink(el)) return null;
    const frame = { el, tag, above, doc: above.doc, depth: above.depth + 1, pre: above.pre, name: '', slot: -1,
      next: null, style: null, hidden: above.hidden, shown: true, clips: false, veiled: above.veiled, seen: false,
      texts: null, unseen: null, host: false, bare: true, unveiled: above.unveiled, closing: '' };
    if (styled && above.judged && !above.hidden && !UNSTYLED.has(tag)) judge(frame);
    frame.judged = above.judged && tag !== 'math'; // in a formula, its source is not drawn
    frame.veiled = above.veiled || !frame.shown;
    if (FRAMES.has(tag)) return Object.assign(frame, { next: enterFrame(frame) });
    if (frame.depth > DEPTH) return frame.hidden ? null : Object.assign(frame, { next: firstChild(el) });
    frame.name = nameOf(tag, above);
    frame.slot = put(startTag(frame));
    if (VOID.has(frame.name)) return frame;
    if (frame.name === 'pre' || tag === 'textarea') frame.pre = true;
    frame.next = tag === 'slot' && el.assignedNodes?.().length > 0 ? null : firstChild(el);
    if (PLAYERS.has(tag) || (tag === 'select' && frame.hidden)) frame.next = null;
    if (frame.pre && !above.pre && startsWithLine(frame.next)) put('\n'); // a parser drops the first one
    return frame;
  };
  const openShadow = (frame) => {
    const root = VOID.has(frame.name) || frame.slot < 0 ? null : shadowOf(frame.el, frame.tag);
    if (root === null) return null;
    frame.host = true;
    frame.bare = takesText(root);
    put('<template shadowrootmode="open">');
    return { ...frame, above: frame, name: 'template', tag: 'template', slot: -1, next: firstChild(root), host: false,
      bare: true, texts: (frame.texts ??= []), closing: '</template>' };
  };
  const close = (frame) => {
    if (frame.closing) return put(frame.closing);
    if (frame.slot >= 0 && frame.style !== null && !frame.hidden && !frame.shown) {
      if (!frame.seen) out[frame.slot] = `${out[frame.slot].slice(0, -1)} hidden>`;
      else for (const at of frame.texts ?? []) out[at] = `<span hidden>${out[at]}</span>`;
    }
    if (frame.name && !VOID.has(frame.name)) put(`</${frame.name}>`);
    else if (!frame.name) put(' ');
  };

  // --- text -------------------------------------------------------------------------------------------------------

  const isUnseen = (frame) => {
    frame.unseen ??= frame.style.fontSize === '0px' || parseFloat(frame.style.textIndent) < -999;
    return frame.unseen;
  };
  const lines = (data, frame) => {
    if (frame.pre) return escape(data);
    if (isBlank(data)) return data.includes('\n') ? '\n' : ' ';
    const text = escape(data);
    return frame.style !== null && frame.style.whiteSpaceCollapse.startsWith('preserve')
      ? text.replace(/\r\n?|\n/g, '<br>') : text;
  };
  const text = (whole, frame) => {
    if (frame.host && !frame.bare) return;
    const data = whole.slice(0, Math.max(0, maxChars - size));
    if (data.length < whole.length) stopped = 'size';
    if (frame.style === null || isBlank(data) || frame.tag === 'option' || frame.tag === 'textarea') {
      put(lines(data, frame));
    } else if (isUnseen(frame)) {
      put(`<span hidden>${lines(data, frame)}</span>`);
    } else if (frame.shown) {
      put(lines(data, frame));
      for (let each = frame; each.veiled && !each.seen; each = each.above) each.seen = true;
    } else {
      (frame.texts ??= []).push(put(lines(data, frame)));
    }
  };

  // --- the walk ---------------------------------------------------------------------------------------------------

  const enough = () => {
    nodes += 1;
    if (nodes > maxNodes) stopped = 'nodes';
    else if (size > maxChars) stopped = 'size';
    else if ((nodes & 127) === 0) {
      const spent = performance.now() - began;
      if (spent > deadlineMs) stopped = 'time';
      else if (spent > styleMs) styled = false;
    }
    return stopped !== '';
  };
  const walk = (first, top) => {
    const frames = [{ ...top, next: first }];
    while (frames.length > 0) {
      const frame = frames.at(-1);
      const node = stopped ? null : frame.next;
      if (node === null) {
        frames.pop();
        if (frames.length > 0) close(frame);
        continue;
      }
      frame.next = nextSibling(node);
      if (enough()) continue;
      const type = nodeType(node);
      if (type === Node.TEXT_NODE || type === Node.CDATA_SECTION_NODE) text(node.data, frame);
      if (type !== Node.ELEMENT_NODE) continue;
      const inner = open(node, frame);
      if (inner === null) continue;
      frames.push(inner);
      const shadow = inner.doc === frame.doc ? openShadow(inner) : null;
      if (shadow !== null) frames.push(shadow);
    }
  };
  // A page that is held back as a whole, until some script or font has come, is not thereby hidden.
  const topFrame = (doc, body) => ({
    el: body, tag: 'body', name: 'body', above: null, doc, depth: 0, pre: false, slot: -1, next: null, hidden: false,
    style: styled && body !== null ? getComputedStyle(body) : null, shown: true, clips: false, veiled: false,
    seen: false, texts: null, unseen: null, host: false, bare: true, closing: '', judged: true,
    unveiled: styled && body !== null && getComputedStyle(body).visibility !== 'visible',
  });

  const path = window === top ? [] : ownPath();
  if (wanted && (path === null || !wanted.includes(path.join('.')))) return { skipped: true };
  const type = about('contentType');
  const title = about('title').slice(0, 1000).toWellFormed().replace(/\s+/g, ' ').trim();
  const page = { type, url: about('URL'), title };
  if (type !== 'text/html' && type !== 'application/xhtml+xml') return page;

  const body = about('body');
  const head = about('head');
  const doc = { path, base: base(document), inner: window !== top };
  const start = (el, name) => (el === null ? `<${name}>` : startTag({ el, name, doc, style: true, hidden: false }));
  if (!doc.inner) {
    put(`${about('doctype') ? '<!doctype html>' : ''}${start(about('documentElement'), 'html')}${start(head, 'head')}`);
    put(`<meta charset="utf-8"><base href="${escape(doc.base).replaceAll('"', '&quot;')}">`);
    if (head !== null) walk(firstChild(head), { ...topFrame(doc, null), judged: false });
    put(`</head>${start(body, 'body')}`);
  }
  if (body !== null) {
    walk(localName(body) === 'frameset' ? body : firstChild(body), topFrame(doc, body));
    if (localName(body) === 'body') walk(nextSibling(body), topFrame(doc, body)); // what scripts put behind it
  }
  if (!doc.inner) put('</body></html>');

  const parts = [];
  let from = 0;
  for (const gap of gaps) {
    parts.push(out.slice(from, gap.at).join('').toWellFormed());
    from = gap.at;
  }
  parts.push(out.slice(from).join('').toWellFormed());
  const frames = gaps.map((gap) => ({ path: gap.path, url: gap.url }));
  const unstyled = styleMs > 0 && !styled;
  return { ...page, path: path?.join('.'), parts, frames, hosts: kept.hosts.length, nodes, stopped, unstyled };
}
