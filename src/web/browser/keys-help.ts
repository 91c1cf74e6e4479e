/** Shows the keys of this page by `?`: those of its marked elements, in their words. */
export function listKeys(): void {
  document.addEventListener('keydown', (event) => {
    const typing = (event.target as Element | null)?.closest(
      'input, textarea, select, [contenteditable]',
    )
    if (event.key !== '?' || typing) return
    const dialog = document.createElement('dialog')
    dialog.className = 'keys'
    dialog.setAttribute('aria-label', 'Keys')
    const heading = document.createElement('h2')
    heading.textContent = 'Keys of this page'
    const list = document.createElement('dl')
    const keys = [['Control+k', 'Jump to'], ['?', 'This list'], ...marked()] as const
    for (const [key, words] of keys) list.append(make('dt', key), make('dd', words))
    dialog.append(heading, list)
    document.body.append(dialog)
    dialog.addEventListener('close', () => dialog.remove())
    dialog.showModal()
  })
}

function marked(): [string, string][] {
  return [...document.querySelectorAll<HTMLElement>('[data-hotkey]')].map((element) => [
    element.dataset.hotkey ?? '',
    element.getAttribute('aria-label') ?? element.title ?? element.textContent?.trim() ?? '',
  ])
}

function make(name: 'dt' | 'dd', text: string): HTMLElement {
  const element = document.createElement(name)
  if (name === 'dt') {
    const key = document.createElement('kbd')
    key.textContent = text.replace('Control+', 'Ctrl ')
    element.append(key)
  } else element.textContent = text
  return element
}
