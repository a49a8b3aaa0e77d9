// What an element is to assistive technology (WAI-ARIA 1.2, HTML-AAM), and in which state.
(dom) => {
  const INPUTS = {
    button: 'button', submit: 'button', reset: 'button', image: 'button', checkbox: 'checkbox', radio: 'radio',
    range: 'slider', number: 'spinbutton', search: 'searchbox', file: 'file', color: 'color', date: 'date',
    'datetime-local': 'date', month: 'date', week: 'date', time: 'date', hidden: '',
  };
  const TAGS = {
    article: 'article', aside: 'complementary', blockquote: 'blockquote', button: 'button', caption: 'caption',
    canvas: 'canvas', code: 'code', datalist: 'listbox', dd: 'definition', details: 'group', dialog: 'dialog', dt: 'term',
    embed: 'embed', fieldset: 'group', figure: 'figure', frame: 'iframe', h1: 'heading', h2: 'heading', h3: 'heading',
    h4: 'heading', h5: 'heading', h6: 'heading', hr: 'separator', iframe: 'iframe', li: 'listitem', main: 'main',
    math: 'math', menu: 'list', meter: 'meter', nav: 'navigation', object: 'object', ol: 'list', optgroup: 'group',
    option: 'option', output: 'status', p: 'paragraph', pre: 'code', progress: 'progressbar', search: 'search',
    summary: 'button', table: 'table', td: 'cell', textarea: 'textbox', tr: 'row', ul: 'list', video: 'video', audio: 'audio',
  };
  const KNOWN = new Set(('alert alertdialog application article banner blockquote button caption cell checkbox code ' +
    'columnheader combobox complementary contentinfo definition dialog directory document feed figure form generic grid ' +
    'gridcell group heading img image link list listbox listitem log main marquee math menu menubar menuitem ' +
    'menuitemcheckbox menuitemradio meter navigation none note option paragraph presentation progressbar radio radiogroup ' +
    'region row rowgroup rowheader scrollbar search searchbox separator slider spinbutton status switch tab table tablist ' +
    'tabpanel term textbox timer toolbar tooltip tree treegrid treeitem').split(' '));
  const INTERACTIVE = new Set(('button link textbox searchbox combobox listbox option checkbox radio switch slider ' +
    'spinbutton tab menuitem menuitemcheckbox menuitemradio treeitem scrollbar file color date video audio clickable').split(' '));
  const FIELDS = new Set(['textbox', 'searchbox', 'combobox', 'spinbutton', 'slider', 'date', 'color', 'listbox']);
  const NAMED_BY_CONTENT = new Set(('button link heading option checkbox radio switch tab menuitem menuitemcheckbox ' +
    'menuitemradio treeitem columnheader rowheader tooltip clickable').split(' '));
  const SECRET = /password|cc-|one-time-code/;
  const SECTIONING = 'article, aside, main, nav, section, [role=article], [role=main], [role=region], [role=navigation]';

  const labelled = (el) => dom.has(el, 'aria-label') || dom.has(el, 'aria-labelledby') || dom.has(el, 'title');

  function native(el) {
    const tag = dom.tag(el);
    if (Object.hasOwn(TAGS, tag)) return TAGS[tag];
    switch (tag) {
      case 'a': case 'area': return dom.has(el, 'href') || el.namespaceURI.endsWith('svg') ? 'link' : '';
      case 'input': {
        const role = Object.hasOwn(INPUTS, el.type) ? INPUTS[el.type] : 'textbox';
        return dom.has(el, 'list') && (role === 'textbox' || role === 'searchbox') ? 'combobox' : role;
      }
      case 'select': return el.multiple || el.size > 1 ? 'listbox' : 'combobox';
      case 'img': return dom.get(el, 'alt') === '' && !labelled(el) ? '' : 'img';
      case 'svg': return labelled(el) || dom.find(el, ':scope > title') ? 'img' : '';
      case 'th': return dom.get(el, 'scope') === 'row' ? 'rowheader' : 'columnheader';
      case 'header': return dom.near(el, SECTIONING) ? '' : 'banner';
      case 'footer': return dom.near(el, SECTIONING) ? '' : 'contentinfo';
      case 'section': return labelled(el) ? 'region' : '';
      case 'form': return 'form';
    }
    return '';
  }

  // The role; '' for what has none of its own. `pointer`: the pointer becomes a hand over it, and not around it.
  function role(el, pointer) {
    const given = dom.get(el, 'role');
    if (given) {
      for (const each of given.toLowerCase().split(/\s+/)) {
        if (!KNOWN.has(each)) continue;
        if (each === 'none' || each === 'presentation') {
          const own = native(el); // what can be focused keeps its role
          return INTERACTIVE.has(own) ? own : '';
        }
        if (each !== 'generic') return each === 'image' ? 'img' : each;
        break;
      }
    }
    const own = native(el);
    if (own) return own;
    if (dom.html(el) && isEditor(el)) return 'textbox';
    const tag = dom.tag(el);
    if (tag === 'label') return el.control && !dom.drawn(el.control) ? 'clickable' : ''; // it stands for a hidden control
    if (tag === 'body' || tag === 'html') return '';
    if (dom.has(el, 'onclick') || pointer) return 'clickable';
    const index = dom.get(el, 'tabindex');
    return index !== null && parseInt(index) >= 0 ? 'clickable' : '';
  }

  const isEditor = (el) => {
    const editable = dom.get(el, 'contenteditable');
    return editable !== null && /^(true|plaintext-only|)$/i.test(editable);
  };

  const isSecret = (el) => dom.tag(el) === 'input' &&
    (el.type === 'password' || SECRET.test(dom.get(el, 'autocomplete') ?? '') || getComputedStyle(el).webkitTextSecurity !== 'none');

  const flag = (el, name) => dom.get(el, 'aria-' + name);

  function states(el, role) {
    const found = [];
    const tag = dom.tag(el);
    const control = /^(input|select|textarea|button|option|optgroup|fieldset)$/.test(tag);
    const input = tag === 'label' ? el.control : el;
    const box = input && dom.tag(input) === 'input' && /^(checkbox|radio)$/.test(input.type);
    if (box ? input.indeterminate : flag(el, 'checked') === 'mixed') found.push('mixed');
    else if (box ? input.checked : flag(el, 'checked') === 'true') found.push('checked');
    if ((control && dom.is(el, ':disabled')) || flag(el, 'disabled') === 'true') found.push('disabled');
    if (tag === 'summary') found.push(dom.parent(el)?.open ? 'expanded' : 'collapsed');
    else if (flag(el, 'expanded') === 'true') found.push('expanded');
    else if (flag(el, 'expanded') === 'false') found.push('collapsed');
    if (tag === 'option' ? el.selected : flag(el, 'selected') === 'true') found.push('selected');
    if (flag(el, 'pressed') === 'true') found.push('pressed');
    if ((control && el.required) || flag(el, 'required') === 'true') found.push('required');
    if ((control && el.readOnly) || flag(el, 'readonly') === 'true') found.push('readonly');
    if (flag(el, 'invalid') && flag(el, 'invalid') !== 'false') found.push('invalid');
    if (flag(el, 'current') && flag(el, 'current') !== 'false') found.push('current');
    if (flag(el, 'busy') === 'true') found.push('busy');
    if (dom.active(dom.root(el)) === el && tag !== 'body') found.push('focused');
    if (role === 'heading') found.push('level=' + (parseInt(flag(el, 'level')) || Number(tag[1]) || 2));
    if (isSecret(el) && el.value) found.push('filled');
    return found;
  }

  // What a field holds; null where it is no field, or a secret one.
  function value(el, role) {
    const tag = dom.tag(el);
    if (isSecret(el)) return null;
    if (tag === 'select') return [...el.selectedOptions].slice(0, 20).map((each) => each.label).join(', ');
    if (tag === 'textarea') return el.value.slice(0, 2000);
    if (tag === 'input') return FIELDS.has(role) || role === 'file' ? el.value.slice(0, 2000) : null;
    if (tag === 'progress' || tag === 'meter') return dom.has(el, 'value') ? String(el.value) : null;
    return flag(el, 'valuetext') ?? flag(el, 'valuenow');
  }

  return { role, states, value, isEditor, isSecret, INTERACTIVE, FIELDS, NAMED_BY_CONTENT };
}
