/**
 * Shows what a text becomes: `data-preview` around its field holds the address that renders it, and the buttons with
 * `data-show` switch between the text and the place for what comes back (`data-shown`).
 */
export function previewMarkdown(): void {
  document.addEventListener('click', ({ target }) => {
    const button = (target as Element | null)?.closest<HTMLElement>('[data-show]')
    const part = button?.closest<HTMLElement>('[data-preview]')
    if (button && part) void show(part, button.dataset.show === 'preview')
  })
  // A browser says what is wrong with a field only where it can be seen.
  document.addEventListener(
    'invalid',
    ({ target }) => {
      const part = (target as Element | null)?.closest<HTMLElement>('[data-preview]')
      if (part) void show(part, false)
    },
    true,
  )
}

async function show(part: HTMLElement, asPreview: boolean): Promise<void> {
  const area = part.querySelector('textarea')
  const place = part.querySelector<HTMLElement>('[data-shown]')
  if (!area || !place) return
  for (const button of part.querySelectorAll<HTMLElement>('[data-show]')) {
    button.ariaPressed = String((button.dataset.show === 'preview') === asPreview)
  }
  // As high as the field, so that nothing moves.
  if (asPreview && !area.hidden) place.style.minHeight = `${area.offsetHeight}px`
  area.hidden = asPreview
  place.hidden = !asPreview
  if (!asPreview) return area.focus()
  if (area.value.trim() === '') place.textContent = 'There is nothing to show yet.'
  else place.innerHTML = await rendered(area, part.dataset.preview ?? '')
}

async function rendered(area: HTMLTextAreaElement, address: string): Promise<string> {
  const token = area.form?.querySelector<HTMLInputElement>('[name=authenticity_token]')?.value ?? ''
  const body = new URLSearchParams({ authenticity_token: token, text: area.value })
  const headers = { Accept: 'text/html', 'X-After-Form': '1' }
  const response = await fetch(address, { method: 'POST', body, headers }).catch(() => undefined)
  return response?.ok ? await response.text() : 'The server gave no preview. Try again in a moment.'
}
