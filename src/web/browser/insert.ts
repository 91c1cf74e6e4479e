/** Puts a form below what it is about (`data-insert` on its link) instead of going to its page; a second click takes it away. */
export function insertForms(start: (root: ParentNode) => void): void {
  document.addEventListener('click', (event) => {
    const link = (event.target as Element | null)?.closest<HTMLAnchorElement>('a[data-insert]')
    if (!link || event.ctrlKey || event.metaKey || event.button !== 0) return
    event.preventDefault()
    if (event.shiftKey && beginAt(link)) return
    const place = link.closest('tr') ?? link.parentElement
    const below = place?.nextElementSibling
    if (below?.matches('.inserted')) below.remove()
    else if (place) void insert(place, link.dataset.insert ?? '', start)
  })
}

async function insert(place: Element, address: string, start: (root: ParentNode) => void) {
  const response = await fetch(address, { headers: { Accept: 'text/html' } })
  if (!response.ok) return
  const isRow = place.matches('tr')
  const made = document.createElement(isRow ? 'tr' : 'div')
  made.className = isRow ? 'below inserted' : 'box-body inserted'
  const inner = isRow ? made.appendChild(document.createElement('td')) : made
  if (inner instanceof HTMLTableCellElement) inner.colSpan = 4
  inner.innerHTML = await response.text()
  place.after(made)
  start(made)
  made.querySelector('textarea')?.focus()
}

/** With Shift: the line at which the form that is open in this table begins. */
function beginAt(link: HTMLAnchorElement): boolean {
  const select = link
    .closest('table')
    ?.querySelector<HTMLSelectElement>('.inserted select[name=from]')
  const number = link.dataset.line
  const option = [...(select?.options ?? [])].find(({ text }) => text === number)
  if (!select || !option) return false
  select.value = option.value
  select.dispatchEvent(new Event('change', { bubbles: true }))
  return true
}

/** Keeps the lines of a suggestion those that were chosen, as long as nobody has typed other ones. */
export function followLines(): void {
  document.addEventListener('change', ({ target }) => {
    if (!(target instanceof HTMLSelectElement) || target.name !== 'from') return
    const area = target.form?.querySelector<HTMLTextAreaElement>('[data-lines]')
    const last = target.form?.querySelector<HTMLInputElement>('[name=original]')?.value ?? ''
    if (!area || (area.dataset.typed ?? last) !== area.value) return
    const chosen = [...target.options].slice(1, target.selectedIndex + 1).reverse()
    area.value = [...chosen.map(({ dataset }) => dataset.text ?? ''), last].join('\n')
    area.dataset.typed = area.value
    area.rows = chosen.length + 3
  })
}
