// Reading the DOM safely: a form's fields hide the form's own properties (<input name="childNodes">), and forms and
// pictures those of the document (<form name="title">), so these come from the prototypes. The tree is the flat one: shadow roots in place of what they replace, slots with what they show.
() => {
  const getter = (type, name) => {
    const { get } = Object.getOwnPropertyDescriptor(type.prototype, name);
    return (thing) => get.call(thing);
  };
  const attribute = Element.prototype.getAttribute;
  const children = getter(Node, 'childNodes');
  const shadow = getter(Element, 'shadowRoot');
  const parentNode = getter(Node, 'parentNode');
  const rootNode = Node.prototype.getRootNode;
  const contains = Node.prototype.contains;
  const visible = Element.prototype.checkVisibility;
  const matches = Element.prototype.matches;
  const closest = Element.prototype.closest;
  const find = Element.prototype.querySelector;
  const tagged = Element.prototype.getElementsByTagName;
  const slot = getter(Element, 'assignedSlot');
  const slotOfText = getter(Text, 'assignedSlot');
  const active = getter(Document, 'activeElement');
  const activeInside = getter(ShadowRoot, 'activeElement');
  const LONGEST = 4000; // characters of one attribute or text node that are looked at

  const kindOf = (root) => (root instanceof Document ? Document : root instanceof DocumentFragment ? DocumentFragment : null);

  return {
    tag: getter(Element, 'localName'),
    connected: getter(Node, 'isConnected'),
    kind: getter(Node, 'nodeType'),
    html: (el) => el instanceof HTMLElement,
    get: (el, name) => {
      const value = attribute.call(el, name);
      return value === null ? null : value.slice(0, LONGEST);
    },
    has: (el, name) => attribute.call(el, name) !== null,
    data: (node) => node.data.slice(0, LONGEST),
    is: (el, selector) => matches.call(el, selector),
    near: (el, selector) => closest.call(el, selector),
    find: (el, selector) => find.call(el, selector),
    all: (el, tag) => tagged.call(el, tag), // found as it is read
    root: (node) => rootNode.call(node),
    holds: (a, b) => contains.call(a, b),
    drawn: (el) => visible.call(el),
    title: getter(Document, 'title'),
    top: getter(Document, 'documentElement'),
    implementation: getter(Document, 'implementation'),
    active: (root) => (root instanceof Document ? active(root) : root instanceof ShadowRoot ? activeInside(root) : null),
    byId: (root, id) => kindOf(root)?.prototype.getElementById.call(root, id) ?? null,
    query: (root, selector) => [...(kindOf(root)?.prototype.querySelectorAll.call(root, selector) ?? [])],
    parent: (node) => {
      const given = node instanceof Element ? slot(node) : node instanceof Text ? slotOfText(node) : null;
      const above = given ?? parentNode(node);
      return above instanceof ShadowRoot ? above.host : above;
    },
    children: (el) => {
      if (el instanceof HTMLSlotElement) {
        const given = el.assignedNodes();
        if (given.length) return given;
      }
      return children(shadow(el) ?? el);
    },
    // One line of text: runs of white space folded, controls and direction marks removed; nothing that looks like a
    // ref of ours.
    line: (text) => text
      .replace(/[\s\u0085\u2028\u2029]+/g, ' ')
      .replace(/[\u0000-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu, '')
      .replace(/\[ref=/gi, '(ref=')
      .trim(),
    short: (text, most) => (text.length > most ? text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '').trimEnd() + '…' : text),
    quoted: (text) => '"' + text.replace(/[\\"]/g, '\\$&').replace(/[\ud800-\udfff]/gu, '\ufffd') + '"',
  };
}
