/**
 * Walks through things of one kind by buttons with keys: `data-move` goes to the next or previous of those that `data-among`
 * means; `data-press` clicks something within the current one.
 */
export function walk(): void {
  document.addEventListener('click', ({ target }) => {
    const button = (target as Element | null)?.closest<HTMLElement>('[data-among]')
    if (!button) return
    const { among = '', move, press } = button.dataset
    const all = [...document.querySelectorAll<HTMLElement>(among)].filter((one) =>
      one.checkVisibility(),
    )
    if (move !== undefined) go(all, move === 'next' ? 1 : -1)
    else
      current(all)
        ?.querySelector<HTMLElement>(press ?? '')
        ?.click()
  })
}

/** The one that the keyboard is in, or else the first that is seen. */
function current(all: readonly HTMLElement[]): HTMLElement | undefined {
  const focused = all.find((one) => one.contains(document.activeElement))
  return focused ?? all.find((one) => one.getBoundingClientRect().bottom > 1) ?? all.at(-1)
}

function go(all: readonly HTMLElement[], step: 1 | -1): void {
  const focused = all.findIndex((one) => one.contains(document.activeElement))
  const seen = all.findIndex((one) => one.getBoundingClientRect().top > 1)
  const from = focused >= 0 ? focused + step : step > 0 ? seen : (seen < 0 ? all.length : seen) - 1
  const next = all[from]
  if (!next) return
  next.scrollIntoView({ block: 'start' })
  next.querySelector('summary')?.focus({ preventScroll: true })
}
