import Combobox from '@github/combobox-nav'

/** Opens the list of all places by `Ctrl K`, and filters it while somebody types. */
export function openPalette(): void {
  const dialog = document.querySelector<HTMLDialogElement>('#palette')
  const input = dialog?.querySelector('input')
  const list = dialog?.querySelector<HTMLElement>('[role=listbox]')
  if (!dialog || !input || !list) return
  for (const link of document.querySelectorAll<HTMLAnchorElement>('[data-place]')) {
    list.append(entry(link))
  }
  const combobox = new Combobox(input, list, { firstOptionSelectionMode: 'selected' })
  const onInput = () => {
    filter(list, input.value)
    combobox.resetSelection()
  }
  document.addEventListener('keydown', (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'k') return
    event.preventDefault()
    if (dialog.open) return
    dialog.showModal()
    input.value = ''
    filter(list, '')
    combobox.start()
    // After the combobox's own, which leaves nothing selected for Enter.
    input.addEventListener('input', onInput)
  })
  dialog.addEventListener('close', () => {
    input.removeEventListener('input', onInput)
    combobox.stop()
  })
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close()
  })
}

/** Places of this page, such as those of its project, stand in the list too. */
function entry(link: HTMLAnchorElement): HTMLAnchorElement {
  const copy = document.createElement('a')
  copy.href = link.href
  copy.id = `palette-${crypto.randomUUID()}`
  copy.setAttribute('role', 'option')
  copy.append(...[...link.childNodes].map((node) => node.cloneNode(true)))
  return copy
}

function filter(list: HTMLElement, typed: string): void {
  const words = typed.toLowerCase().split(/\s+/)
  for (const item of list.children as HTMLCollectionOf<HTMLAnchorElement>) {
    if (item.dataset.search !== undefined) searchFor(item, typed)
    const text = item.textContent?.toLowerCase() ?? ''
    item.hidden = !words.every((word) => text.includes(word))
  }
}

/** The entry that searches for what was typed: it is always among those that are shown. */
function searchFor(link: HTMLAnchorElement, typed: string): void {
  const url = new URL(link.href)
  url.searchParams.set(link.dataset.search ?? '', typed)
  link.href = url.href
  const words = link.querySelector('span')
  if (words) words.textContent = typed === '' ? 'everything' : typed
}
