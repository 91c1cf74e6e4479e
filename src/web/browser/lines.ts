/** Marks the lines that the address names (`#L10-20`); a click with Shift on a number names all lines up to it. */
export function markLines(): void {
  const box = document.querySelector<HTMLElement>('[data-lines]')
  if (!box) return
  box.addEventListener('click', (event) => {
    const number = (event.target as Element).closest<HTMLElement>('.line-number')?.dataset.number
    const [first] = named()
    if (number === undefined || !event.shiftKey || first === undefined) return
    event.preventDefault()
    const ends = [first, Number(number)].sort((a, b) => a - b)
    location.hash = `L${ends.join('-')}`
  })
  window.addEventListener('hashchange', mark)
  mark()
}

/** The first and the last line of the address. */
function named(): readonly [number?, number?] {
  const [, first, last] = /^#L(\d+)(?:-L?(\d+))?$/.exec(location.hash) ?? []
  return first === undefined ? [] : [Number(first), Number(last ?? first)]
}

function mark(): void {
  for (const line of document.querySelectorAll('.line.marked')) line.classList.remove('marked')
  const [first = 0, last = -1] = named()
  for (let number = first; number <= last; number += 1) {
    const line = document.getElementById(`L${number}`)
    if (!line) break
    line.classList.add('marked')
  }
  if (last > first) document.getElementById(`L${first}`)?.scrollIntoView({ block: 'center' })
  for (const link of document.querySelectorAll<HTMLAnchorElement>('a[data-keeps-hash]')) {
    link.hash = location.hash
  }
}
