// What a person sees of a document, as text or as cleaned HTML, with its links. One walk over the composed tree (open
// shadow roots, slots, same-origin frames) feeds a sink: read_text.js, read_html.js, and read_main.js, which looks for
// the main part. Without an element, the first match of the CSS selector is read, or the whole document.
(element, { selector, html, main, maxNodes, maxChars, deadlineMs }, { textSink, htmlSink, mainSink }) => {
  const began = performance.now();
  const MAX_LINKS = 50;
  const SKIPPED = new Set(
    ('script style noscript template svg canvas head title meta link base source track param datalist option optgroup ' +
     'noframes noembed map embed annotation annotation-xml rp').split(' '));
  const FRAMES = new Set(['iframe', 'frame', 'object']);
  const LEAVES = new Set(['img', 'br', 'hr', 'wbr', 'input', 'textarea', 'select', 'video', 'audio', 'mjx-container']);
  const LETTERS = new Set(['span', 'b', 'strong', 'i', 'em', 'big', 'font']);
  const PARAGRAPHS = new Set('p h1 h2 h3 h4 h5 h6 pre ul ol dl blockquote table figure hr details'.split(' '));

  // A form's fields hide the form's own properties (<input name="firstChild">), so these come from the prototypes.
  const getter = (type, name) => {
    const { get } = Object.getOwnPropertyDescriptor(type.prototype, name);
    return (node) => get.call(node);
  };
  const firstChild = getter(Node, 'firstChild');
  const nextSibling = getter(Node, 'nextSibling');
  const nodeType = getter(Node, 'nodeType');
  const localName = getter(Element, 'localName');
  const shadowRoot = getter(Element, 'shadowRoot');
  const attribute = (el, name) => Element.prototype.getAttribute.call(el, name);

  const fold = (text) => text.replace(/[ \t\n\r\f\u00a0]+/g, ' ');
  const isBlank = (text) => !/[^ \t\n\r\f\u00a0]/.test(text);
  const isInline = (display, tag) =>
    /^(inline|ruby|contents)/.test(display) || (display.endsWith('math') && !(tag === 'math' && display.startsWith('block')));

  // Characters that show nothing but can carry orders to a reader of the text: controls, bidi controls, tags, and
  // joiners and selectors where no script or emoji needs them (Unicode 16: 23.2, 23.4, 23.9).
  const UNSEEN = new RegExp(
    '[\\0-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\xad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180e\\u200b\\u200e\\u200f' +
    '\\u202a-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}]' +
    '|(?<![\\u0600-\\u109f\\u1780-\\u18af\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f])[\\u200c\\u200d]' +
    '|(?<![\\p{L}\\p{S}\\p{P}\\p{N}])[\\ufe00-\\ufe0f]|(?<!\\p{Script=Han})[\\u{e0100}-\\u{e01ef}]', 'gu');
  let unseen = 0;
  const clean = (text) => text.toWellFormed().replace(UNSEEN, () => { unseen += 1; return ''; });

  const absolute = (el, value) => {
    try {
      return new URL(value, el.baseURI);
    } catch {
      return null;
    }
  };
  const isWeb = (url) => url !== null && (url.protocol === 'http:' || url.protocol === 'https:');

  const isDropCap = (el, style) => style.float !== 'none' && el.textContent.trim().length === 1;

  // --- what is hidden ---------------------------------------------------------------------------------------------

  const speaks = (el) => {
    const texts = document.createTreeWalker(el, NodeFilter.SHOW_TEXT);
    for (let looked = 0; looked < 200 && texts.nextNode(); looked += 1) {
      const parent = texts.currentNode.parentElement;
      if (!isBlank(texts.currentNode.data) && !SKIPPED.has(localName(parent)) && !parent.closest('math')) return true;
    }
    return false;
  };
  const isClippedAway = (style) => {
    const inset = /^inset\(([\d.]+)%/.exec(style.clipPath);
    return (inset !== null && Number(inset[1]) >= 50) || /^circle\(0/.test(style.clipPath) ||
      /^rect\((0|1)(px)?,? (0|1)(px)?,? (0|1)(px)?,? (0|1)(px)?\)$/.test(style.clip);
  };
  // Wholly left of or above where scrolling ends (right of it where lines run from the right), or a fixed box outside
  // the window. What merely lies below or beside the window stays, as does what a box of its own could scroll to.
  const isOutOfReach = (el, style) => {
    const box = el.getBoundingClientRect();
    const view = el.ownerDocument.defaultView;
    if (style.position === 'fixed') {
      return box.right <= 0 || box.bottom <= 0 || box.left >= view.innerWidth || box.top >= view.innerHeight;
    }
    const fromRight = view.getComputedStyle(el.ownerDocument.documentElement).direction === 'rtl';
    const sideways = fromRight ? box.left + view.scrollX >= view.innerWidth : box.right + view.scrollX <= 0;
    return sideways || box.bottom + view.scrollY <= 0;
  };
  // In the flow, with a transition, animation or transform: a fade-in that scrolling has not started yet.
  const isRevealedLater = (style) =>
    (style.position === 'static' || style.position === 'relative') &&
    (/[1-9]/.test(style.transitionDuration) || style.animationName !== 'none' || style.transform !== 'none' ||
     style.willChange !== 'auto');
  const isHidden = (el, tag, style, display, clips) => {
    if (display === 'none') return true;
    if (display === 'contents') return false;
    if (style.opacity === '0' && !isRevealedLater(style)) return true;
    if (style.contentVisibility === 'hidden' && attribute(el, 'hidden') !== 'until-found') return true;
    if (tag === 'body' || tag === 'html') return false;
    if (style.overflow !== 'visible' && display !== 'inline' && (el.offsetWidth <= 1 || el.offsetHeight <= 1)) return true;
    if (style.clipPath !== 'none' && isClippedAway(style)) return true;
    if (style.position === 'static') return false;
    const box = el.getBoundingClientRect();
    return (box.width > 0 || box.height > 0) && ((style.clip !== 'auto' && isClippedAway(style)) ||
      (!clips && isOutOfReach(el, style)));
  };

  // --- the walk ---------------------------------------------------------------------------------------------------

  let ends = 0;
  let nodes = 0;
  let hidden = 0;
  let stopped = '';
  let links = new Map();

  const enough = () => {
    nodes += 1;
    if (nodes > maxNodes) stopped = 'nodes';
    else if ((nodes & 127) === 0 && performance.now() > ends) stopped = 'time';
    return stopped !== '';
  };
  const childrenOf = (el, tag) => {
    const shadow = shadowRoot(el);
    if (shadow) return { next: firstChild(shadow), list: null };
    if (tag === 'slot') {
      const list = el.assignedNodes();
      if (list.length) return { next: null, list };
    }
    if (FRAMES.has(tag)) {
      const inner = el.contentDocument;
      if (inner) return { next: null, list: inner.body ? [inner.body] : [] };
      if (tag !== 'object') return { next: null, list: [] };
    }
    return { next: firstChild(el), list: null };
  };
  const openFrame = (el, above) => {
    const tag = localName(el);
    if (SKIPPED.has(tag)) return null;
    const style = getComputedStyle(el);
    const display = style.display;
    const clips = above !== null && (above.clips || (above.style.overflow !== 'visible' && above.tag !== 'body'));
    if (isHidden(el, tag, style, display, clips)) {
      if (speaks(el)) hidden += 1;
      return null;
    }
    const shown = style.visibility === 'visible';
    if (!shown && (above === null || above.shown) && speaks(el)) hidden += 1;
    if (FRAMES.has(tag) && (el.offsetWidth <= 1 || el.offsetHeight <= 1)) return null;
    const inline = isInline(display, tag) || (LETTERS.has(tag) && isDropCap(el, style));
    return { el, tag, style, display, shown, inline, clips, above, ...childrenOf(el, tag), at: 0, space: null, link: null,
      leaf: LEAVES.has(tag) };
  };
  // How text directly in this element treats white space; 'unseen' where the text is drawn with no size or off-screen.
  const spaceIn = (frame) => {
    if (frame.space === null) {
      const { style } = frame;
      const out = style.fontSize === '0px' || parseFloat(style.textIndent) < -999;
      frame.space = out ? 'unseen' : style.whiteSpaceCollapse;
    }
    return frame.space;
  };
  const nextChild = (frame) => {
    if (frame.list !== null) return frame.list[frame.at++] ?? null;
    const node = frame.next;
    if (node !== null) frame.next = nextSibling(node);
    return node;
  };
  const openLink = (frame) => {
    if (frame.tag !== 'a' || !frame.shown || links.size >= MAX_LINKS) return;
    const href = attribute(frame.el, 'href');
    const url = href === null ? null : absolute(frame.el, href);
    if (isWeb(url)) frame.link = { url: url.href, words: '', label: attribute(frame.el, 'aria-label') ?? '' };
  };
  const closeLink = ({ url, words, label }) => {
    const text = fold(words).trim() || fold(label).trim();
    if (text && links.size < MAX_LINKS && !links.has(url)) links.set(url, clean(Array.from(text.slice(0, 400)).slice(0, 200).join('')));
  };
  const walk = (root, sink, until) => {
    ends = until;
    nodes = hidden = unseen = 0;
    stopped = '';
    links = new Map();
    const frames = [];
    let link = null;
    const enter = (el) => {
      const above = frames.at(-1) ?? null;
      const frame = openFrame(el, above);
      if (frame === null || !sink.enter(frame)) return;
      openLink(frame);
      if (frame.link) link = frame.link;
      if (link && !frame.inline) link.words += ' ';
      if (link && frame.tag === 'img' && frame.shown) link.label ||= attribute(el, 'alt') ?? '';
      if (frame.leaf) sink.leave(frame);
      else frames.push(frame);
    };
    const text = (data, frame) => {
      if (spaceIn(frame) === 'unseen') {
        if (!frame.counted && !isBlank(data)) hidden += 1;
        frame.counted ||= !isBlank(data);
        return;
      }
      sink.text(data, frame);
      if (link && link.words.length < 1000) link.words += data;
    };
    enter(root);
    while (frames.length > 0) {
      const frame = frames.at(-1);
      const node = stopped ? null : nextChild(frame);
      if (node === null) {
        frames.pop();
        if (frame.link) {
          closeLink(frame.link);
          link = null;
        } else if (link && !frame.inline) link.words += ' ';
        sink.leave(frame);
      } else if (!enough()) {
        const type = nodeType(node);
        if (type === Node.ELEMENT_NODE) enter(node);
        else if (type === Node.TEXT_NODE && frame.shown) text(node.data, frame);
      }
      if (sink.size > maxChars) stopped = 'size';
    }
  };

  // --- the answer -------------------------------------------------------------------------------------------------

  const find = () => {
    const within = (root) => {
      const match = root.querySelector(selector);
      if (match) return match;
      for (const el of root.querySelectorAll('*')) {
        const shadow = shadowRoot(el);
        const inner = shadow && within(shadow);
        if (inner) return inner;
      }
      return null;
    };
    return within(document);
  };
  const about = element ? element.ownerDocument : document;
  let root = element ?? about.body ?? about.documentElement;
  if (!element && selector !== null) {
    try {
      root = find();
    } catch (fault) {
      return { fault: 'selector', detail: fault.message };
    }
  }
  if (root === about.documentElement) root = about.body ?? root;
  if (!root) return { fault: 'missing', begun: selector === null && document.readyState === 'loading' };
  const tools = { fold, isBlank, attribute, absolute, isWeb, localName, PARAGRAPHS, FRAMES };
  const read = (from, drops) => {
    const sink = (html ? htmlSink : textSink)(tools, drops);
    walk(from, sink, began + deadlineMs);
    const found = { hidden, stopped, links: [...links].map(([url, text]) => ({ url, text })) };
    unseen = 0;
    return { ...found, content: clean(sink.content()), unseen };
  };
  let answer = null;
  if (main) {
    const sink = mainSink(tools);
    walk(root, sink, began + deadlineMs / 2);
    answer = read((stopped === '' && sink.region()) || root, sink.drops);
    if (isBlank(answer.content)) answer = null;
  }
  answer ??= read(root, null);
  return { ...answer, title: clean(fold(about.title.slice(0, 1000))).trim(), url: about.URL };
}
