/**
 * Sends forms that say so (`data-quiet`) without leaving the page: what comes back takes the place of the part around them. What
 * is refused is sent once more as any form is, so that the page shows why.
 */
export function sendQuietly(start: (root: ParentNode) => void): void {
  document.addEventListener('submit', (event) => {
    const form = event.target
    if (!(form instanceof HTMLFormElement) || event.defaultPrevented) return
    const address = form.dataset.quiet
    const part = form.closest<HTMLElement>('[data-part]')
    if (address === undefined || !part) return
    event.preventDefault()
    void send(form, event.submitter, { part, address, start })
  })
}

interface Renewal {
  readonly part: HTMLElement
  readonly address: string
  readonly start: (root: ParentNode) => void
}

async function send(form: HTMLFormElement, by: HTMLElement | null, to: Renewal): Promise<void> {
  const sent = new FormData(form, by)
  const base = document.documentElement.dataset.base ?? ''
  sent.set('return_to', to.address.slice(base.length))
  const body = new URLSearchParams([...sent].map(([name, value]) => [name, String(value)]))
  const response = await fetch(form.action, {
    method: 'POST',
    body,
    headers: { Accept: 'text/html', 'X-After-Form': '1' },
  })
  if (!response.ok) {
    delete form.dataset.quiet
    form.requestSubmit(by)
    return
  }
  const made = document.createElement('template')
  made.innerHTML = await response.text()
  const [first] = made.content.children
  if (!(first instanceof HTMLElement)) return
  to.part.replaceWith(first)
  to.start(first)
  first.querySelector('summary')?.focus({ preventScroll: true })
}
