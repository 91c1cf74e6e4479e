/** Closes an open menu by Escape, and when something else is clicked. */
export function closeMenus(): void {
  const close = (except?: Node | null) => {
    for (const menu of document.querySelectorAll<HTMLDetailsElement>('details.menu[open]')) {
      if (except && menu.contains(except)) continue
      menu.open = false
    }
  }
  document.addEventListener('click', (event) => close(event.target as Node | null))
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return
    const open = document.querySelector<HTMLElement>('details.menu[open] > summary')
    close()
    open?.focus()
  })
}
