// The document as it stands, to be judged: no styles are looked at, which is what makes reading one slow. A page longer
// than `most` characters is no wall; its beginning is enough.
(most) => {
  const roots = []
  const collect = (root) => {
    for (const element of root.querySelectorAll('*')) {
      if (element.shadowRoot && roots.length < 100) {
        roots.push(element.shadowRoot)
        collect(element.shadowRoot)
      }
    }
  }
  if (!document.documentElement) return null
  collect(document)
  const html = document.documentElement.getHTML
    ? document.documentElement.getHTML({ shadowRoots: roots })
    : document.documentElement.innerHTML
  return { type: document.contentType, html: html.slice(0, most) }
}
