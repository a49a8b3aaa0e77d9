// Scrolls an element into view, if it is not there already, in all that scrolls around it, and gives its box: an empty one
// where it has none, null in a frame, where its place in the page is not known. An element larger than the view
// stays where it is, if nothing but the view cuts it off.
async (element) => {
  const parentOf = (node) => node.assignedSlot ?? node.parentElement ?? node.getRootNode().host;
  const cutOff = (holds) => {
    for (let around = parentOf(element); around && around !== document.body; around = parentOf(around)) {
      if (getComputedStyle(around).overflow !== "visible" && !holds(around.getBoundingClientRect())) return true;
    }
    return false;
  };
  const inView = () => {
    const box = element.getBoundingClientRect();
    const holds = (outer) =>
      box.left >= outer.left && box.top >= outer.top && box.right <= outer.right && box.bottom <= outer.bottom;
    const larger = box.width > innerWidth || box.height > innerHeight;
    return (larger || holds({ left: 0, top: 0, right: innerWidth, bottom: innerHeight })) && !cutOff(holds);
  };
  const show = (done) => {
    const block = element.clientHeight > innerHeight ? "start" : "center";
    const inline = element.clientWidth > innerWidth ? "start" : "center";
    element.scrollIntoView({ block, inline, behavior: "instant" });
    requestAnimationFrame(done); // frames around it, in other processes, scroll a moment later
  };
  const framed = window !== window.top;
  if (framed || !inView()) {
    await new Promise((resolve) => {
      const sight = new IntersectionObserver(([seen]) => {
        sight.disconnect();
        if (seen.intersectionRatio < 0.999) show(resolve);
        else resolve();
      });
      sight.observe(element);
      setTimeout(resolve, 300); // no frames are made of a page that is not shown
    });
  }
  if (framed) return null;
  const { x, y, width, height } = element.getBoundingClientRect();
  return { x, y, width, height, hidden: element.getClientRects().length === 0 };
}
