/** What a browser would run, or read from the user's machine, instead of going there. */
const FORBIDDEN = new Set(['javascript:', 'data:', 'vbscript:', 'file:', 'blob:', 'about:'])

/** Shows the code on a page instead of sending it somewhere. */
export const OUT_OF_BAND = 'urn:ietf:wg:oauth:2.0:oob'

/** What is wrong with the redirect URIs of an application, one on each line; nothing when they are good. */
export function redirectFaults(text: string): string[] {
  const lines = linesOf(text)
  if (lines.length === 0) return ["can't be blank"]
  const faults = lines.map(faultOf).filter((fault) => fault !== null)
  return [...new Set(faults)]
}

export function linesOf(text: string): string[] {
  return text.split(/\s+/).filter((line) => line !== '')
}

function faultOf(line: string): string | null {
  if (line === OUT_OF_BAND) return null
  if (!URL.canParse(line)) return 'must be an absolute URI.'
  const url = new URL(line)
  if (FORBIDDEN.has(url.protocol)) return 'is forbidden by the server.'
  return line.includes('#') ? 'cannot contain a fragment.' : null
}

/** Whether a request may be answered at `uri`: one that was registered, on this machine at any port (RFC 8252 §7.3). */
export function isRegistered(registered: string, uri: string): boolean {
  return linesOf(registered).some((one) => one === uri || sameButPort(one, uri))
}

const LOOPBACK = new Set(['127.0.0.1', '[::1]'])

function sameButPort(one: string, other: string): boolean {
  if (!URL.canParse(one) || !URL.canParse(other)) return false
  const [a, b] = [new URL(one), new URL(other)]
  if (a.protocol !== 'http:' || !LOOPBACK.has(a.hostname)) return false
  if (b.username !== '' || b.password !== '' || b.hash !== '') return false
  b.port = a.port
  return a.href === b.href
}

/** The URI with an answer in its query. */
export function withAnswer(
  uri: string,
  answer: Readonly<Record<string, string | undefined>>,
): string {
  const url = new URL(uri)
  for (const [name, value] of Object.entries(answer)) {
    if (value !== undefined) url.searchParams.set(name, value)
  }
  return url.href
}

/** What a page's policy has to name, so that its form may be answered by a redirect there. */
export function policySource(uri: string): string {
  const url = new URL(uri)
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.origin : url.protocol
}
