// Reading the DOM safely: a form's fields hide the form's own properties (<input name="childNodes">), so these come from
// the prototypes. The tree is the flat one: shadow roots in place of what they replace, slots with what they show.
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
  const LONGEST = 4000; // characters of one attribute or text node that are looked at

  const dom = {
    tag: getter(Element, 'localName'),
    owner: getter(Node, 'ownerDocument'),
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
    root: (node) => rootNode.call(node),
    holds: (a, b) => contains.call(a, b),
    drawn: (el) => visible.call(el),
    parent: (node) => node.assignedSlot ?? (parentNode(node) instanceof ShadowRoot ? parentNode(node).host : parentNode(node)),
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
  return dom;
}
