/** On a narrow window a row of tabs is wider than it: the current one is brought into sight. */
export function showCurrent(): void {
  for (const tab of document.querySelectorAll<HTMLElement>(
    '.tabs > [aria-current], .side-nav > [aria-current]',
  )) {
    const row = tab.parentElement
    if (row) row.scrollLeft = tab.offsetLeft - (row.clientWidth - tab.offsetWidth) / 2
  }
}
