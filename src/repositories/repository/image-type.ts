import type { RequestFacts } from '../../http/endpoint.ts'

type Test = (start: Buffer) => boolean

const begins =
  (text: string, at = 0): Test =>
  (start) =>
    start.toString('latin1', at, at + text.length) === text

/** Pictures that browsers draw and never run, by what they begin with. */
const pictures: readonly (readonly [string, Test])[] = [
  ['image/png', begins('\x89PNG\r\n\x1a\n')],
  ['image/jpeg', begins('\xff\xd8\xff')],
  ['image/gif', begins('GIF8')],
  ['image/webp', (start) => begins('RIFF')(start) && begins('WEBP', 8)(start)],
  ['image/avif', (start) => begins('ftypavif', 4)(start) || begins('ftypavis', 4)(start)],
  ['image/bmp', begins('BM')],
  ['image/x-icon', begins('\0\0\x01\0')],
]

/**
 * The type of a picture for whoever shows it by `<img>`; undefined for everything else. An SVG can hold scripts: it is a
 * picture only where the browser says that it draws one, and plain text where somebody opens it.
 */
export function imageType(
  name: string,
  start: Buffer,
  request: Pick<RequestFacts, 'headers'>,
): string | undefined {
  if (!isDrawn(request.headers)) return undefined
  if (/\.svg$/i.test(name) && !start.includes(0)) return 'image/svg+xml'
  return pictures.find(([, fits]) => fits(start))?.[0]
}

function isDrawn(headers: RequestFacts['headers']): boolean {
  const purpose = headers['sec-fetch-dest']
  // Browsers send it to servers with TLS alone; what they accept for a picture begins with that.
  return purpose === undefined ? /^image\//.test(String(headers.accept ?? '')) : purpose === 'image'
}
