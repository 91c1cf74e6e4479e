/** CSS colour names that label colours may be given by, with their values. */
const NAMED: Readonly<Record<string, string>> = {
  aqua: '#00FFFF',
  black: '#000000',
  blue: '#0000FF',
  brown: '#A52A2A',
  coral: '#FF7F50',
  crimson: '#DC143C',
  cyan: '#00FFFF',
  darkblue: '#00008B',
  darkgreen: '#006400',
  darkorange: '#FF8C00',
  darkred: '#8B0000',
  fuchsia: '#FF00FF',
  gold: '#FFD700',
  gray: '#808080',
  green: '#008000',
  grey: '#808080',
  indigo: '#4B0082',
  khaki: '#F0E68C',
  lavender: '#E6E6FA',
  lime: '#00FF00',
  magenta: '#FF00FF',
  maroon: '#800000',
  navy: '#000080',
  olive: '#808000',
  orange: '#FFA500',
  orchid: '#DA70D6',
  pink: '#FFC0CB',
  plum: '#DDA0DD',
  purple: '#800080',
  red: '#FF0000',
  salmon: '#FA8072',
  silver: '#C0C0C0',
  tan: '#D2B48C',
  teal: '#008080',
  tomato: '#FF6347',
  turquoise: '#40E0D0',
  violet: '#EE82EE',
  white: '#FFFFFF',
  yellow: '#FFFF00',
}

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
  return Object.hasOwn(NAMED, name) ? (NAMED[name] ?? null) : null
}

/** Black or white, whichever reads better on the colour. */
export function textColorOn(color: string): string {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) =>
    Number.parseInt(color.slice(at, at + 2), 16),
  )
  return (red * 299 + green * 587 + blue * 114) / 1000 > 150 ? '#1F1E24' : '#FFFFFF'
}
