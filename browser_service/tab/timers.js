// Counts what a page has put off: timers that may still bring content, and elements whose sight it waits for. Runs in
// the page's own world before its scripts. HOOKED is true where the debugger reports calls, so that nothing which a
// page can look at is changed; otherwise the functions are wrapped. Only own copies of built-in functions are called:
// the page may have replaced the others. SECRET and EVENT are random names; a top-level const is no property of window.
const SECRET = window === top && (document.readyState === 'loading' || location.href === 'about:blank') && (() => {
  const KEPT = 200
  const HORIZON_MS = 2500 // what is put off for longer is not waited for
  const SHORT_MS = 60
  const STEP_MS = 500 // text may come in steps of so much
  const DEPTH = 3 // a chain of timers beyond it is a loop
  const NESTED_MS = 30 // a timer set so soon after another fired is its child
  const apply = Reflect.apply
  const page = document
  const clock = performance
  const read = clock.now
  const listen = page.addEventListener
  const send = page.dispatchEvent
  const Reply = CustomEvent
  const find = page.querySelector
  const HANDLERS = '[onclick],[onsubmit],[onchange],[oninput],[onkeydown],[onkeyup],[onmousedown],[onload],[onerror]'
  const box = Element.prototype.getBoundingClientRect
  const text = Object.getOwnPropertyDescriptor(Node.prototype, 'textContent').get
  const tag = Object.getOwnPropertyDescriptor(Element.prototype, 'localName').get
  const number = Number
  const now = () => apply(read, clock, [])
  const timers = [] // { due, ms, depth, repeat, id }
  const seen = [] // elements
  let size = 0
  let sights = 0
  let calls = 0

  function delay(value) {
    const ms = typeof value === 'number' || typeof value === 'string' ? number(value) : 0
    return ms > 0 ? ms : 0
  }

  function drop(time) {
    let kept = 0
    for (let i = 0; i < size; i++) if (timers[i].repeat || timers[i].due > time - NESTED_MS) timers[kept++] = timers[i]
    size = kept
  }

  function depth(time) {
    let least = -1
    for (let i = 0; i < size; i++) {
      const each = timers[i]
      if (each.repeat || each.due > time + 1 || each.due < time - NESTED_MS) continue
      if (least < 0 || each.depth < least) least = each.depth
    }
    return least < DEPTH ? least + 1 : DEPTH
  }

  // what: 0 a timer, 1 an interval, 2 an element is watched
  function note(what, value, id) {
    calls++
    if (what === 2) {
      if (sights < KEPT) seen[sights++] = value
      return false
    }
    const time = now()
    const ms = delay(value)
    if (size === KEPT) drop(time)
    if (ms > HORIZON_MS || size === KEPT) return false
    const timer = { due: time + ms, ms, depth: what ? 0 : depth(time), repeat: what === 1, id }
    timers[size++] = timer
    return false
  }

  function forget(id) {
    let kept = 0
    for (let i = 0; i < size; i++) if (timers[i].id !== id) timers[kept++] = timers[i]
    size = kept
  }

  // An empty element below the first screen that the page waits to see: more is loaded there.
  function promising(element) {
    try {
      if (apply(tag, element, []) === 'img' || apply(text, element, []).length > 20) return false
      return apply(box, element, []).top > innerHeight
    } catch {
      return false
    }
  }

  function answer() {
    const time = now()
    let latest = 0
    let soon = 0
    let next = 0
    for (let i = 0; i < size; i++) {
      const each = timers[i]
      const left = each.due - time
      if (each.repeat || each.depth >= DEPTH) { // a loop: it may go on for ever
        const step = each.repeat && left <= 0 ? each.ms - (-left % each.ms) : left
        if (each.ms <= STEP_MS && step > next) next = step
        if (each.depth >= DEPTH || each.ms > 1000) continue
      }
      const counted = each.repeat && each.ms <= STEP_MS ? left + each.ms : left // an interval until it has fired twice
      if (counted > latest) latest = counted
      if (each.ms <= SHORT_MS && !each.repeat && left > soon) soon = left
    }
    let lazy = 0
    for (let i = 0; i < sights; i++) if (promising(seen[i])) lazy++
    apply(send, clock, [new Reply(EVENT + 'd', { __proto__: null, detail: `${latest} ${soon} ${next} ${lazy} ${calls}` })])
  }

  function wrap(owner, name, after) {
    owner[name] = new Proxy(owner[name], {
      apply(target, self, args) {
        const result = apply(target, self, args)
        after(result, args)
        return result
      },
    })
  }

  // Each breakpoint takes a walk through the heap, so they are set when the first script is there, or when the document
  // is and has handlers. The script has not run then: before the parser runs one, it lets observers do their work.
  function hook(scripts, set) {
    const begin = () => {
      watch.disconnect()
      set(setTimeout, 'SECRET(0,arguments[1])')
      set(setInterval, 'SECRET(1,arguments[1])')
      set(IntersectionObserver.prototype.observe, 'SECRET(2,arguments[0])')
    }
    const watch = new MutationObserver(() => { if (scripts.length > 0) begin() })
    if (page.readyState !== 'loading') return begin() // blank: what is written into it may hold scripts
    watch.observe(page, { childList: true, subtree: true })
    const parsed = () => { if (scripts.length === 0 && apply(find, page, [HANDLERS])) begin() }
    apply(listen, page, ['DOMContentLoaded', parsed, { once: true }])
  }

  if (HOOKED) {
    if (typeof debug !== 'function') return false // then nothing answers, and the count is unknown
    hook(page.scripts, debug)
  } else {
    wrap(window, 'setTimeout', (id, args) => note(0, args[1], id))
    wrap(window, 'setInterval', (id, args) => note(1, args[1], id))
    wrap(window, 'clearTimeout', (_, args) => forget(args[0]))
    wrap(window, 'clearInterval', (_, args) => forget(args[0]))
    wrap(IntersectionObserver.prototype, 'observe', (_, args) => note(2, args[0]))
  }
  apply(listen, clock, [EVENT, answer]) // not on the document or window: document.open() takes their listeners away
  return note
})()
