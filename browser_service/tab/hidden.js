// Makes the judge of what nobody sees, by computed style: not drawn, transparent, clipped away, or out of reach of any
// scrolling. `clips`: some element around it clips or scrolls what it holds. Visibility is left to the caller, since
// what is inside may be visible again. A form's fields hide the form's own properties (<input name="offsetWidth">), so
// these come from the prototypes.
() => {
  const getter = (type, name) => {
    const { get } = Object.getOwnPropertyDescriptor(type.prototype, name);
    return (thing) => get.call(thing);
  };
  const width = getter(HTMLElement, 'offsetWidth');
  const height = getter(HTMLElement, 'offsetHeight');
  const namespace = getter(Element, 'namespaceURI');
  const owner = getter(Node, 'ownerDocument');
  const view = getter(Document, 'defaultView');
  const top = getter(Document, 'documentElement');
  const attribute = Element.prototype.getAttribute;
  const find = Element.prototype.querySelector;
  const bounds = Element.prototype.getBoundingClientRect;

  const isSmall = (el) => namespace(el) === 'http://www.w3.org/1999/xhtml' && (width(el) <= 1 || height(el) <= 1);
  const isClippedAway = (style) => {
    const inset = /^inset\(([\d.]+)%/.exec(style.clipPath);
    return (inset !== null && Number(inset[1]) >= 50) || style.clipPath.startsWith('circle(0') ||
      /^rect\(([01](px)?,? ?){4}\)$/.test(style.clip);
  };
  // Wholly left of or above where scrolling ends (right of it where lines run from the right), or a fixed box outside
  // the window. What lies below the window, or in a box of its own that scrolls, can be reached.
  const isOutOfReach = (el, style) => {
    const box = bounds.call(el);
    if (box.width === 0 && box.height === 0) return false;
    const window = view(owner(el));
    if (style.position === 'fixed') {
      return box.right <= 0 || box.bottom <= 0 || box.left >= window.innerWidth || box.top >= window.innerHeight;
    }
    const fromRight = window.getComputedStyle(top(owner(el))).direction === 'rtl';
    const left = box.left + window.scrollX;
    return (fromRight ? left >= window.innerWidth : left + box.width <= 0) || box.bottom + window.scrollY <= 0;
  };
  // In the flow, with a transition, animation or transform: it fades in when it is scrolled to.
  const isRevealedLater = (style) =>
    (style.position === 'static' || style.position === 'relative') &&
    (/[1-9]/.test(style.transitionDuration) || style.animationName !== 'none' || style.transform !== 'none' ||
     style.willChange !== 'auto');
  // The source of a formula is clipped away for screen readers; whoever reads wants it.
  const isFormula = (el) => find.call(el, 'math') !== null;

  return (el, style, display, clips) => {
    if (display === 'none') return true;
    if (display === 'contents') return false;
    if (style.opacity === '0' && !isRevealedLater(style)) return true;
    if (style.contentVisibility === 'hidden' && attribute.call(el, 'hidden') !== 'until-found') return true;
    if (style.overflowX !== 'visible' && display !== 'inline' && isSmall(el)) return !isFormula(el);
    if (style.clipPath !== 'none' && isClippedAway(style)) return !isFormula(el);
    if (style.position === 'static') return false;
    return ((style.clip !== 'auto' && isClippedAway(style)) || (!clips && isOutOfReach(el, style))) && !isFormula(el);
  };
}
