/** Sends a search while somebody types, and shows what that part of the page holds then; Enter in the field opens the first. */
export function searchAsTyped(): void {
  for (const form of document.querySelectorAll<HTMLFormElement>('form[data-search-as-typed]')) {
    const id = form.dataset.searchAsTyped ?? ''
    let asked = new AbortController()
    let isNew = true
    form.addEventListener('input', () => {
      asked.abort()
      asked = new AbortController()
      const { signal } = asked
      isNew = false
      void renew(form, id, signal).then(() => {
        if (!signal.aborted) isNew = true
      })
    })
    form.addEventListener('submit', (event) => {
      const first = document.getElementById(id)?.querySelector('a')
      // What was typed last is not shown yet: then the page is asked for as without script.
      if (!first || !isNew) return
      event.preventDefault()
      first.click()
    })
  }
}

async function renew(form: HTMLFormElement, id: string, signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 120))
  if (signal.aborted) return
  const pairs = [...new FormData(form)].map(([name, value]) => [name, String(value)])
  const address = `${form.action}?${new URLSearchParams(pairs)}`
  const response = await fetch(address, { signal }).catch(() => undefined)
  if (!response?.ok) return
  const found = new DOMParser().parseFromString(await response.text(), 'text/html')
  const part = found.getElementById(id)
  if (part && !signal.aborted) document.getElementById(id)?.replaceChildren(...part.childNodes)
}
