// A sink for cleaned HTML: what is shown, without scripts, styles, handlers and comments, with absolute addresses. Shadow
// roots, slots and frames are part of it as if they were plain elements; formulas are kept as TeX where the page has it.
({ fold, isBlank, attribute, absolute, isWeb, FRAMES }, drops) => {
  const VOID = new Set(['img', 'br', 'hr', 'wbr', 'input', 'col']);
  const KEPT =
    ('alt title id class lang dir colspan rowspan headers scope start reversed open datetime cite role aria-label name for ' +
     'placeholder type data-lang data-language display encoding kind label').split(' ');
  const LAZY = ['data-src', 'data-original', 'data-lazy-src', 'data-url'];
  const TYPED = new Set(['text', 'search', 'url', 'tel', 'email', 'number', 'date', 'time', 'month', 'week',
    'datetime-local', 'submit', 'reset', 'button']);
  const TEX = 'annotation[encoding="application/x-tex"]';

  const out = [];
  let size = 0;
  let inPre = 0;
  const put = (text) => {
    out.push(text);
    size += text.length;
  };
  const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const pair = (name, value) => ` ${name}="${escape(value).replaceAll('"', '&quot;')}"`;

  const webAddress = (el, value) => {
    const url = value ? absolute(el, value) : null;
    return isWeb(url) ? url.href : '';
  };
  const linkAddress = (el, value) => {
    const url = absolute(el, value);
    return url === null || ['javascript:', 'vbscript:', 'data:', 'blob:'].includes(url.protocol) ? '' : url.href;
  };
  const imageAddress = (el) => {
    const candidates = [el.currentSrc, attribute(el, 'src'), ...LAZY.map((name) => attribute(el, name))];
    return candidates.map((value) => webAddress(el, value)).find(Boolean) ?? '';
  };
  const addresses = ({ el, tag }) => {
    const found = {};
    if (tag === 'a' || tag === 'area') found.href = linkAddress(el, attribute(el, 'href') ?? 'javascript:');
    else if (tag === 'img') found.src = imageAddress(el);
    else if (tag === 'video' || tag === 'audio') {
      found.src = webAddress(el, el.currentSrc || attribute(el, 'src'));
      found.poster = webAddress(el, attribute(el, 'poster'));
    }
    return found;
  };
  const state = ({ el, tag }) => {
    if (tag === 'li') return { value: attribute(el, 'value') };
    if (tag !== 'input') return {};
    if (el.type === 'checkbox' || el.type === 'radio') return el.checked ? { checked: '' } : {};
    return TYPED.has(el.type) ? { value: el.value } : {};
  };
  const attributes = (frame) => {
    let text = '';
    for (const name of KEPT) {
      const value = attribute(frame.el, name);
      if (value !== null) text += pair(name, value);
    }
    for (const [name, value] of Object.entries({ ...addresses(frame), ...state(frame) })) {
      if (value || name === 'checked') text += pair(name, value);
    }
    return text;
  };
  // The element's name in the output: one that stands for itself in any reader's eyes.
  const nameOf = ({ tag, inline, display }) => {
    if (tag === 'slot') return inline ? '' : 'div';
    if (tag === 'body') return '';
    if (FRAMES.has(tag)) return 'div';
    if (tag === 'span' || tag.includes('-')) return inline || display.startsWith('table') ? 'span' : 'div';
    return tag;
  };

  const formula = (frame) => {
    const { el, tag } = frame;
    if (tag !== 'math' && tag !== 'mjx-container' && !el.classList.contains('katex')) return false;
    const tex = el.querySelector(TEX)?.textContent;
    if (tex === undefined && tag !== 'mjx-container') return false;
    const math = tag === 'math' ? el : el.querySelector('math');
    const block = attribute(math ?? el, 'display') === 'block' || attribute(el, 'display') === 'true' || el.closest('.katex-display') !== null;
    const inner = tex === undefined ? escape(math?.textContent ?? '') : `<annotation encoding="application/x-tex">${escape(tex)}</annotation>`;
    put(`<math display="${block ? 'block' : 'inline'}">${inner}</math>`);
    return true;
  };
  const leaf = (frame) => {
    const { el, tag } = frame;
    if (tag === 'input' && (el.type === 'hidden' || !frame.shown)) return;
    if (tag === 'img' && (!frame.shown || el.offsetWidth <= 1 || el.offsetHeight <= 1)) return;
    put(`<${tag}${attributes(frame)}>`);
    if (tag === 'textarea' && frame.shown) put(`\n${escape(el.value)}`);
    if (tag === 'select' && frame.shown) {
      for (const option of el.selectedOptions) put(`<option selected>${escape(option.label)}</option>`);
    }
    if (!VOID.has(tag)) put(`</${tag}>`);
  };

  return {
    get size() { return size; },
    content: () => out.join('').trim(),
    enter(frame) {
      if (drops?.(frame) || formula(frame)) return false;
      if (frame.leaf) {
        leaf(frame);
        return true;
      }
      frame.name = nameOf(frame);
      if (frame.name) put(`<${frame.name}${attributes(frame)}>`);
      if (frame.tag === 'pre') inPre += 1;
      return true;
    },
    leave(frame) {
      if (frame.leaf) return;
      if (frame.tag === 'pre') inPre -= 1;
      if (frame.name) put(`</${frame.name}>`);
    },
    text(data, frame) {
      if (inPre > 0) put(escape(data));
      else if (frame.space === 'collapse') put(isBlank(data) && data.includes('\n') ? '\n' : escape(fold(data)));
      else put(escape(data).replace(/\r\n?|\n/g, '<br>'));
    },
  };
}
