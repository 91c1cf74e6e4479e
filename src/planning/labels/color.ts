import colorNames from 'color-name'

/** `#RRGGBB` of a colour given as `#RRGGBB`, `#RGB` or by name; null when it is none (docs/contract/D §1.12). */
export function readColor(text: string): string | null {
  if (/^#[0-9a-f]{6}$/i.test(text)) return text
  const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/i.exec(text)
  if (short)
    return `#${short
      .slice(1)
      .map((digit) => digit + digit)
      .join('')}`
  const name = text.toLowerCase()
  return isColorName(name) ? hexOf(colorNames[name]) : null
}

function isColorName(name: string): name is keyof typeof colorNames {
  return Object.hasOwn(colorNames, name)
}

function hexOf(parts: readonly number[]): string {
  return `#${parts.map((part) => part.toString(16).padStart(2, '0').toUpperCase()).join('')}`
}

/** Black or white, whichever reads better on the colour. */
export function textColorOn(color: string): string {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) =>
    Number.parseInt(color.slice(at, at + 2), 16),
  )
  return (red * 299 + green * 587 + blue * 114) / 1000 > 150 ? '#1F1E24' : '#FFFFFF'
}
