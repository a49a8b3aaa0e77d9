// Watches how a document grows, in our own world: the page's scripts do not see it. Tells "growth" (the text got
// longer), "change" (other words) and "calm" (the loading indicator went), each with its age in milliseconds, the length
// of the text that is not links, and whether a place for content is still empty.
// No setTimeout and no requestAnimationFrame here: their ids are counted per document, so the page would see gaps.
(() => {
  if (window !== top || globalThis.settling) return
  const OBSERVED = {
    subtree: true, childList: true, characterData: true,
    attributes: true, attributeFilter: ['class', 'style', 'hidden', 'open', 'aria-busy'],
  }
  const PAUSE_MS = 80 // between measurements at least; 10 times what one costs, so that animations stay cheap
  const PAUSE_LIMIT_MS = 1000
  const UNWATCHED_MS = 10000 // nobody asked for so long: mutations are only dated, no longer measured
  const UNPARSED_MS = 500 // observing begins with the whole document, or then
  const TASK_MS = 150
  const FRAME_MS = 300 // none for so long: the page is not being drawn
  const STEPS = 25
  const TRANSIT_MS = 25 // a question is so old, at most, when it is read
  const SAMPLE = 20000
  const LINKS = 500
  const SCRIPT = /^$|^module$|^(text|application)\/(x-)?(java|ecma)script/i
  const MARKERS = '[aria-busy=true],[role=progressbar],[class*=skeleton i],[class*=shimmer i],[class*=spinner i],' +
    '[class*=placeholder i],[class*=loading i],[class*=loader i]'
  const MARKER = /(^|[^a-z])(is)?(skeleton|shimmer|spinner|placeholder|loading|loader)([^a-z]|$)/i
  const NO_MARKERS = new Set(['HTML', 'BODY', 'IMG', 'INPUT', 'TEXTAREA', 'SCRIPT', 'LINK', 'STYLE'])
  const PLACES = 'main:empty,article:empty,section:empty,aside:empty,div[id]:empty,ul:empty,ol:empty,tbody:empty'
  const NO_PLACE = /(^|[^a-z])(ads?|advert\w*|banner|modal|dialog|toast|popup|portal|overlay|backdrop|tooltip|sentinel)([^a-z]|$)/i
  const WAITING = /^\W*(loading|please wait|one moment|just a moment|加载中|正在加载|载入中|请稍候|请稍等)/i

  let observer = null
  let mutated = 0 // when something last changed
  let scrolled = 0
  let dirty = true // changed since the last measurement
  let due = false // a measurement is
  let watchedUntil = performance.now() + UNWATCHED_MS
  let cost = 0
  let lag = 0 // how late our own tasks run: the machine or the page is busy, and gaps in the growth are longer
  let length = 0
  let high = -1 // the longest text so far, short growths not counted; -1 before the first measurement
  let words = 0 // their hash
  let prose = 0
  let opening = ''
  let empty = true
  let busy = false
  let lively = false // something in the document may change it; remains so when scripts take themselves out

  const now = () => performance.now()
  const pause = (ms, priority = 'user-visible') => scheduler.postTask(() => {}, { delay: ms, priority })
  const content = (frame) => {
    try { return frame.contentDocument } catch { return null }
  }
  const dynamic = (root) => {
    if (!root) return true
    for (const each of root.scripts) if (SCRIPT.test(each.type)) return true
    if (root.querySelector('object,embed,[onload],[onerror]')) return true
    return Array.prototype.some.call(root.querySelectorAll('iframe,frame'), (each) => dynamic(content(each)))
  }

  function observe(root) {
    observer ??= new MutationObserver((records) => {
      mutated = now()
      dirty = true
      for (const record of records)
        for (const node of record.addedNodes) if (node.shadowRoot) observe(node.shadowRoot)
      plan()
    })
    observer.observe(root, OBSERVED)
  }

  async function plan() {
    if (due || now() > watchedUntil) return
    due = true
    const ms = Math.min(PAUSE_LIMIT_MS, Math.max(PAUSE_MS, cost * 10))
    const began = now()
    await pause(ms)
    lag = Math.max(lag / 2, now() - began - ms)
    due = false
    if (dirty) report(measure())
    if (busy && !(busy = waiting())) report('calm')
  }

  function report(kind) {
    if (kind) tell(`${kind} ${Math.round(now() - mutated)} ${prose} ${empty ? 1 : 0}`)
  }

  // The text that a reader sees, open shadow roots and frames of the same origin included.
  function read(root, parts) {
    if (root.body) parts.push(root.body.innerText || '')
    else for (const child of root.children) if (child.localName !== 'style') parts.push(child.innerText || '')
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT)
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const inner = node.shadowRoot || (node.localName === 'iframe' || node.localName === 'frame' ? content(node) : null)
      if (!inner) continue
      observe(inner)
      read(inner, parts)
    }
    return parts
  }

  function hash(text) {
    const step = Math.max(1, Math.floor(text.length / SAMPLE))
    let sum = 0
    for (let i = 0; i < text.length; i += step) sum = (Math.imul(sum, 31) + text.charCodeAt(i)) | 0
    return sum
  }

  function linked() {
    let sum = 0
    for (const each of Array.prototype.slice.call(document.links, 0, LINKS)) sum += each.textContent.trim().length
    return sum
  }

  // What is new since the last measurement: "growth", "change" or nothing. Clocks and counters are nothing.
  function measure() {
    const began = now()
    const text = read(document, []).join('\n')
    const known = words
    words = hash(text.replace(/[\d\s\p{P}]+/gu, ''))
    length = text.trim().length
    opening = text.trimStart().slice(0, 200)
    prose = length - linked()
    empty = unfilled()
    dirty = false
    cost = now() - began
    if (high < 0) {
      high = length
      return mutated && length ? 'growth' : ''
    }
    if (length > high * 1.01 + 20) {
      high = length
      return 'growth'
    }
    return words === known ? '' : 'change'
  }

  // Whether a script has yet to fill some part of the page.
  function unfilled() {
    const candidates = Array.prototype.slice.call(document.querySelectorAll(PLACES), 0, 100)
    return candidates.some((each) => !NO_PLACE.test(`${each.id} ${each.className}`) && each.checkVisibility() &&
      !/absolute|fixed/.test(getComputedStyle(each).position))
  }

  // Whether something near the top says that the page is still loading.
  function waiting() {
    if (length < 200 && WAITING.test(opening)) return true
    const candidates = Array.prototype.slice.call(document.querySelectorAll(MARKERS), 0, 200)
    return candidates.some((each) => {
      if (NO_MARKERS.has(each.tagName)) return false
      if (!each.matches('[aria-busy=true],[role=progressbar]') && !MARKER.test(each.getAttribute('class'))) return false
      if (each.matches('[role=progressbar][aria-valuenow]')) return false
      const box = each.getBoundingClientRect()
      return box.width * box.height > 0 && box.bottom > 0 && box.top < 2 * innerHeight &&
        each.checkVisibility({ opacityProperty: true, visibilityProperty: true })
    })
  }

  // What the main world's timer count answers: see timers.js. Nothing where it does not run.
  function timers(event) {
    let answer = null
    const take = (reply) => { answer = reply.detail }
    performance.addEventListener(event + 'd', take)
    performance.dispatchEvent(new Event(event))
    performance.removeEventListener(event + 'd', take)
    if (typeof answer !== 'string') return null
    const [latest, soon, next, lazy, calls] = answer.split(' ').map(Number)
    return { latest, soon, next, lazy: lazy > 0, calls }
  }

  // Our turn comes when all that is due has run, and the main thread has nothing better to do.
  async function idle() {
    const began = now()
    await pause(0)
    lag = Math.max(lag / 2, now() - began)
    await pause(0)
    await Promise.race([pause(0, 'background'), pause(TASK_MS)])
  }

  const frame = () => Promise.race([
    new Promise((resolve) => {
      const sight = new IntersectionObserver(() => { sight.disconnect(); resolve(true) })
      sight.observe(document.documentElement)
    }),
    pause(FRAME_MS),
  ])

  function scroller() {
    const root = document.scrollingElement || document.documentElement
    if (root.scrollHeight > innerHeight * 1.2) return root
    let node = document.elementFromPoint(innerWidth / 2, innerHeight / 2)
    for (; node && node !== root; node = node.parentElement)
      if (node.scrollHeight > node.clientHeight * 1.2 && /auto|scroll/.test(getComputedStyle(node).overflowY)) return node
    return root
  }

  globalThis.settling = {
    async check(event) {
      watchedUntil = now() + UNWATCHED_MS
      lively ||= mutated > 0 || dynamic(document) || (timers(event)?.calls ?? 0) > 0
      if (!lively) return { still: true }
      await idle()
      if (!observer) observe(document)
      const kind = dirty ? measure() : ''
      busy = waiting()
      const blank = length === 0 && !document.querySelector('img,svg,canvas,video,embed,object')
      return { kind, ago: now() - mutated, prose, empty, blank, busy, lag, timers: timers(event) }
    },

    // For how many milliseconds nothing has changed or been scrolled; 0 while nobody looks.
    still: () => observer ? now() - Math.max(mutated, scrolled) : 0,

    // After an input: what it started has begun when the tasks queued before this one have run.
    async effects(event, ms) {
      const since = now() - ms - TRANSIT_MS
      await pause(0)
      await pause(0)
      return { changed: mutated > since, ago: now() - mutated, timers: timers(event) }
    },

    // Show every part of the page once, for what loads only when it is seen.
    async sweep() {
      const root = scroller()
      const start = root.scrollTop
      const step = root.clientHeight || innerHeight
      for (let i = 1; i <= STEPS && i * step < root.scrollHeight; i++) {
        root.scrollTo({ top: i * step, behavior: 'instant' })
        if (!await frame()) break
      }
      root.scrollTo({ top: start, behavior: 'instant' })
      await frame()
    },

    // Take out stylesheets that do not arrive, so that scripts and the parser no longer wait for them.
    release() {
      for (const each of document.querySelectorAll('link[rel~=stylesheet i]')) if (!each.sheet) each.remove()
    },
  }

  document.addEventListener('scroll', () => { scrolled = now() }, { capture: true, passive: true })
  const begin = () => { if (!observer) observe(document) }
  if (document.readyState === 'loading') {
    document.addEventListener('DOMContentLoaded', begin, { once: true })
    pause(UNPARSED_MS).then(begin)
  } else begin()
})()
