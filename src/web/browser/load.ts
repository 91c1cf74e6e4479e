/**
 * Loads parts of the page that come later: `data-load` holds their address, `data-lazy` that they wait until they are seen. What
 * stands there until then is read meanwhile; of it `data-waiting` goes and `data-failed` is shown where nothing came. (The element of others for this brings an inline style, which the policy of our
 * pages refuses.)
 */
export function loadParts(root: ParentNode, start: (root: ParentNode) => void): void {
  const look = (entries: IntersectionObserverEntry[], observer: IntersectionObserver) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue
      observer.unobserve(target)
      void load(target as HTMLElement, start)
    }
  }
  // A little before somebody comes there.
  const seen = new IntersectionObserver(look, { rootMargin: '400px' })
  for (const part of root.querySelectorAll<HTMLElement>('[data-load]')) {
    if ('lazy' in part.dataset) seen.observe(part)
    else void load(part, start)
  }
}

async function load(part: HTMLElement, start: (root: ParentNode) => void): Promise<void> {
  const address = part.dataset.load
  delete part.dataset.load
  if (address === undefined) return
  const response = await fetch(address, { headers: { Accept: 'text/html' } }).catch(() => undefined)
  if (!response?.ok) {
    const isFailure = (note: HTMLElement) => 'failed' in note.dataset
    const notes = part.querySelectorAll<HTMLElement>('[data-waiting], [data-failed]')
    for (const note of notes) note.hidden = !isFailure(note)
    return
  }
  const html = await response.text()
  // Who is at one of its links stays there, and who was sent to a place in it comes there.
  const links: (Element | null)[] = [...part.querySelectorAll('a')]
  const at = links.indexOf(document.activeElement)
  const place = document.activeElement?.closest('[id]')?.id ?? ''
  part.innerHTML = html
  if (at >= 0) (summaryOf(part, place) ?? part.querySelectorAll('a')[at])?.focus()
  const target = document.getElementById(location.hash.slice(1))
  if (target && part.contains(target)) target.scrollIntoView()
  start(part)
}

function summaryOf(part: HTMLElement, id: string): HTMLElement | null {
  const found = document.getElementById(id)
  return found && part.contains(found) && found !== part ? found.querySelector('summary') : null
}
