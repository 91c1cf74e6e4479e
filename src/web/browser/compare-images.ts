/**
 * Compares two pictures (`data-compared`) in the way that a button names (`data-compare`): beside each other, the new one drawn
 * over the old one as far as the slider says (`data-share`), or shining through it as much.
 */
export function compareImages(): void {
  document.addEventListener('click', ({ target }) => {
    const button = (target as Element | null)?.closest<HTMLElement>('[data-compare]')
    const part = button?.closest<HTMLElement>('[data-compared]')
    if (button && part) choose(part, button.dataset.compare ?? '')
  })
  document.addEventListener('input', ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.dataset.share === undefined) return
    const part = target.closest<HTMLElement>('[data-compared]')
    part?.style.setProperty('--share', `${target.value}%`)
  })
}

function choose(part: HTMLElement, way: string): void {
  part.dataset.compared = way
  for (const button of part.querySelectorAll<HTMLElement>('[data-compare]')) {
    button.ariaPressed = String(button.dataset.compare === way)
  }
  const slider = part.querySelector<HTMLElement>('[data-share]')
  if (slider) slider.hidden = way === 'beside'
}
