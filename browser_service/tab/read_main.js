// A sink that looks for the main part of a page: `main`, the only `article`, or the smallest container that holds most of
// the sentences. Text in short pieces (menus, buttons) and in links does not count.
({ fold, attribute }) => {
  const SENTENCE = 25; // width from which a block's own text counts; wide characters count twice
  const MARKED_SHARE = 0.15; // of all sentences, that a part marked up as main must hold to be believed
  const DENSE_SHARE = 0.6; // that a container must hold to be taken for the whole
  const ASIDE_TAGS = new Set(['nav', 'aside', 'footer', 'dialog']);
  const ASIDE_ROLES = new Set(['navigation', 'banner', 'contentinfo', 'complementary', 'search', 'dialog', 'alertdialog']);
  const CONTAINERS = new Set(['body', 'div', 'section', 'main', 'article', 'td', 'tr', 'tbody', 'table', 'center', 'form']);
  const CONSENT = /cookie|consent|gdpr|onetrust|didomi|usercentrics/i;

  const parts = [];
  let top = null;

  const isConsent = ({ el, style }) =>
    (style.position === 'fixed' || style.position === 'sticky') &&
    CONSENT.test(`${attribute(el, 'id') ?? ''} ${attribute(el, 'class') ?? ''}`);
  const isWithinMain = (frame) => {
    for (let up = frame.above; up !== null; up = up.above) if (up.tag === 'main' || up.tag === 'article') return true;
    return false;
  };
  const drops = (frame) => {
    const { el, tag, above } = frame;
    if (above === null || tag === 'main' || tag === 'article') return false;
    if (ASIDE_TAGS.has(tag) || ASIDE_ROLES.has(attribute(el, 'role'))) return true;
    if (tag === 'header') return !isWithinMain(frame) && el.querySelector('h1') === null;
    return attribute(el, 'aria-modal') === 'true' || isConsent(frame);
  };
  const width = (text) => text.length + (text.match(/[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uff60]/g)?.length ?? 0);
  const densest = () => {
    let part = top;
    for (;;) {
      const inner = part.kids.find((kid) =>
        kid.mass >= DENSE_SHARE * top.mass && (CONTAINERS.has(kid.tag) || kid.tag.includes('-')) && (kid.title || !part.title));
      if (inner === undefined) return part.el;
      part = inner;
    }
  };

  return {
    size: 0,
    drops,
    region() {
      if (top === null) return null;
      const marked = (test) => parts.filter((part) => test(part) && part.mass > 0 && part.mass >= MARKED_SHARE * top.mass);
      const mains = marked(({ tag, el }) => tag === 'main' || attribute(el, 'role') === 'main');
      if (mains.length > 0) return mains.reduce((one, other) => (other.mass > one.mass ? other : one)).el;
      const articles = marked(({ tag }) => tag === 'article');
      if (articles.length === 1) return articles[0].el;
      return top.mass > 0 ? densest() : null;
    },
    enter(frame) {
      if (drops(frame)) return false;
      frame.part = { el: frame.el, tag: frame.tag, own: 0, mass: 0, title: frame.tag === 'h1', kids: [] };
      frame.linked = frame.tag === 'a' || (frame.above?.linked ?? false);
      return true;
    },
    leave({ part, above, inline }) {
      if (!inline && part.own >= SENTENCE) part.mass += part.own;
      if (above === null) {
        top = part;
        return;
      }
      above.part.mass += part.mass;
      above.part.title ||= part.title;
      if (inline) above.part.own += part.own;
      if (part.mass > 0) above.part.kids.push(part);
      if (part.tag === 'main' || part.tag === 'article' || attribute(part.el, 'role') === 'main') parts.push(part);
    },
    text(data, frame) {
      if (!frame.linked) frame.part.own += width(fold(data).trim());
    },
  };
}
