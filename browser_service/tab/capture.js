// Makes the page ready for a picture and puts it back as it was. It runs in our own world: the page sees what changes in
// its document (adopted style sheets, animations at their end, scrolling), not who does it.
// ask.step: "remember" (where the page is scrolled to), "prepare", "relayout" (after a setting that does not do it by
// itself), "restore". For prepare also:
//   still: animations off   hide: CSS selectors   style: CSS   full: the whole page, else the viewport is wanted, or
//   area: a part, in the page's coordinates, or with inView in the viewport's
async (ask) => {
  "use strict";
  const FONTS_MS = 3000; // a web font or picture that does not arrive is not waited for longer, and not a second time
  const IMAGES_MS = 3000;
  const WALK_MS = 6000;
  const FRAME_MS = 100;
  const TALLEST = 130_000; // CSS pixels: two device pixels each make the tallest picture
  const memory = (globalThis.camera ??= { undo: [], hung: new WeakSet(), walked: 0 });
  const root = () => document.documentElement; // none yet in a document of which nothing has arrived

  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const within = (ms, work) => Promise.race([work, pause(ms)]);
  // Observers of the page are told in the same step of the frame, so what they load has then been asked for.
  const nextFrame = () => within(FRAME_MS, new Promise((resolve) => {
    const sight = new IntersectionObserver(() => { sight.disconnect(); resolve(); });
    sight.observe(root());
  }));

  const trees = () => {
    const found = [];
    const enter = (tree) => {
      found.push(tree);
      for (const element of tree.querySelectorAll("*")) {
        if (element.shadowRoot) enter(element.shadowRoot);
        else if (element.localName === "iframe" || element.localName === "frame") {
          const inner = element.contentDocument; // null across origins
          if (inner?.documentElement) enter(inner);
        }
      }
    };
    enter(document);
    return found;
  };
  const documentOf = (tree) => tree.ownerDocument ?? tree;

  const dress = (tree, css) => {
    const sheet = new (documentOf(tree).defaultView.CSSStyleSheet)(); // not a <style>: no policy forbids it
    sheet.replaceSync(css);
    tree.adoptedStyleSheets.push(sheet);
    memory.undo.push(() => {
      const at = tree.adoptedStyleSheets.indexOf(sheet);
      if (at >= 0) tree.adoptedStyleSheets.splice(at, 1);
    });
  };

  // As Playwright does: what ends is shown at its end, what never ends as if it did not run.
  const stop = (tree) => {
    for (const animation of tree.getAnimations()) {
      const { timeline, effect, playState, currentTime } = animation;
      if (!effect || playState !== "running" || timeline !== documentOf(tree).timeline) continue;
      try {
        if (Number.isFinite(effect.getComputedTiming().endTime)) {
          animation.finish();
        } else {
          animation.cancel();
          memory.undo.push(() => { animation.play(); animation.currentTime = currentTime; });
        }
      } catch {
        // played backwards without an end: it has no state to be shown in
      }
    }
  };
  const keepStopped = (tree) => {
    const again = () => stop(tree);
    again();
    for (const event of ["transitionrun", "animationstart"]) {
      tree.addEventListener(event, again);
      memory.undo.push(() => tree.removeEventListener(event, again));
    }
  };

  const go = (left, top) => scrollTo({ left, top, behavior: "instant" });
  const remember = (x = scrollX, y = scrollY) => memory.undo.push(() => go(x, y));
  const boxes = () => [root(), document.body].filter(Boolean);
  const height = () => Math.max(0, ...boxes().flatMap((each) => [each.scrollHeight, each.offsetHeight ?? 0]));
  const width = () => Math.max(0, ...boxes().flatMap((each) => [each.scrollWidth, each.offsetWidth ?? 0]));

  // Show every part once, for what loads when it is seen. A page that grows by being scrolled is followed to twice its
  // height.
  const walk = async (from, to) => {
    const unloaded = () => [...document.images].some((each) =>
      each.loading === "lazy" && !each.complete && !memory.hung.has(each) && each.getClientRects().length > 0);
    if (to <= memory.walked && !unloaded()) return false;
    const late = performance.now() + WALK_MS;
    const end = () => Math.min(Math.max(to, Math.min(height(), 2 * to)), TALLEST);
    for (let y = from; y < end() && performance.now() < late; y += innerHeight) {
      go(0, y);
      await nextFrame();
    }
    memory.walked = Math.max(to, height());
    return true;
  };

  const holds = (outer, inner) => inner.x >= outer.x && inner.y >= outer.y &&
    inner.x + inner.width <= outer.x + outer.width && inner.y + inner.height <= outer.y + outer.height;
  const meets = (element, area) => {
    if (element.getClientRects().length === 0) return false;
    const box = element.getBoundingClientRect();
    return box.bottom > area.y - scrollY && box.top < area.y - scrollY + area.height &&
      box.right > area.x - scrollX && box.left < area.x - scrollX + area.width;
  };
  const arrived = async (image) => {
    await new Promise((resolve) => {
      image.addEventListener("load", resolve, { once: true });
      image.addEventListener("error", resolve, { once: true });
      if (image.complete) resolve();
    });
    await image.decode().catch(() => {}); // drawn in parts otherwise, or not at all in the next frame
  };
  let waited = false;
  const waitFor = async (things, ms, until) => {
    const waiting = new Set(things.filter((each) => !memory.hung.has(each)));
    waited ||= waiting.size > 0;
    await within(ms, Promise.all([...waiting].map(async (each) => { await until(each); waiting.delete(each); })));
    for (const each of waiting) memory.hung.add(each);
    return waiting.size;
  };
  const fonts = async () => {
    let hung = 0;
    root()?.getBoundingClientRect(); // fonts are asked for when text is laid out
    for (const late = performance.now() + FONTS_MS; document.fonts.status === "loading" && performance.now() < late;) {
      const loading = [...document.fonts].filter((each) => each.status === "loading" && !memory.hung.has(each));
      if (loading.length === 0) break;
      hung += await waitFor(loading, late - performance.now(), (each) => each.loaded.catch(() => {}));
    }
    return hung;
  };
  const images = (area) => {
    const loading = [...document.images ?? []].filter((each) => !each.complete && (!area || meets(each, area)));
    return waitFor(loading, IMAGES_MS, arrived);
  };

  const measure = () => ({
    x: scrollX,
    y: scrollY,
    width: width(),
    height: height(),
    view: { width: innerWidth, height: innerHeight },
    screen: { width: screen.width, height: screen.height },
    zoom: visualViewport.scale,
    ratio: devicePixelRatio,
    scrollbars: Boolean(root()) && (innerWidth > root().clientWidth || innerHeight > root().clientHeight),
  });

  const restore = () => {
    for (const undo of memory.undo.splice(0).reverse()) {
      try {
        undo();
      } catch {
        // what it would put right has left the document
      }
    }
  };

  const stylesheet = () => {
    const editing = document.activeElement && document.activeElement !== document.body;
    const unseen = "visibility: hidden !important; opacity: 0 !important; transition: none !important";
    const caret = ask.still && editing ? ["* { caret-color: transparent !important; }"] : [];
    return [...caret, ...ask.hide.map((each) => `${each} { ${unseen}; }`), ask.style].join("\n").trim();
  };
  const prepare = async () => {
    const unparsable = ask.hide.find((each) => {
      try {
        document.createDocumentFragment().querySelector(each);
        return false;
      } catch {
        return true;
      }
    });
    if (unparsable !== undefined) return { unparsable };
    const all = trees();
    const css = stylesheet();
    if (css) all.forEach((tree) => dress(tree, css));
    const origin = { x: scrollX, y: scrollY };
    const view = { ...origin, width: innerWidth, height: innerHeight };
    const area = ask.area && ask.inView ? { ...ask.area, x: ask.area.x + scrollX, y: ask.area.y + scrollY } : ask.area;
    const walks = ask.full ? height() > innerHeight : area && !holds(view, area);
    if (walks) {
      remember();
      waited = await walk(area ? Math.max(0, area.y) : 0, area ? area.y + area.height : height());
      go(area ? origin.x : 0, area ? origin.y : 0);
      if (waited || (!area && origin.y > 0)) await nextFrame(); // headers that follow the scrolling are back in place
    }
    const hung = { fonts: await fonts(), images: await images(area ?? (ask.full ? null : view)) };
    if (ask.still) all.forEach(keepStopped);
    const drawn = performance.getEntriesByType("paint").length > 0;
    return { ...measure(), hung, drawn, moved: waited };
  };

  switch (ask.step) {
    case "remember":
      restore(); // of a call that was cut off
      remember();
      return undefined;
    case "prepare":
      if (!ask.inView) restore();
      return prepare();
    case "relayout": {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(":root { padding-left: 1px !important; }");
      document.adoptedStyleSheets.push(sheet);
      root()?.getBoundingClientRect();
      document.adoptedStyleSheets.pop();
      return measure();
    }
    default:
      return restore();
  }
}
