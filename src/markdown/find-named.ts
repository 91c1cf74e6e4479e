import { withoutCode } from './without-code.ts'

/** A mention by name or number: `~bug`, `~"two words"`, `%v1`, `%12`, `$3`; `text` is as it was written. */
export interface NamedMention {
  readonly kind: 'label' | 'milestone' | 'snippet'
  readonly text: string
  /** The title, or the number as text. */
  readonly name: string
}

/** Most mentions that one text is searched for. */
const MAX_NAMED = 100

const kinds = { '~': 'label', '%': 'milestone', $: 'snippet' } as const
const NAMED =
  /(?<![\w/.@#!~%$-])(?:([~%])(?:"([^"\n]{1,255})"|([\p{L}\p{N}_][\p{L}\p{N}_\-:?.&]{0,254}))|(\$)(\d{1,15})(?!\w))/gu

/** The labels, milestones and snippets that a text mentions. */
export function findNamed(text: string): NamedMention[] {
  const found = new Map<string, NamedMention>()
  for (const match of withoutCode(text).matchAll(NAMED)) {
    const [whole, sign, quoted, plain, dollar, number] = match
    const name = quoted ?? plain?.replace(/[.?:&-]+$/, '') ?? number ?? ''
    const mark = (sign ?? dollar) as keyof typeof kinds // one of the pattern's signs
    const written = quoted === undefined ? `${mark}${name}` : whole
    found.set(written, { kind: kinds[mark], text: written, name })
    if (found.size >= MAX_NAMED) break
  }
  return [...found.values()]
}

/** The issues and merge requests of this server that a text gives the address of. */
export function findAddresses(
  text: string,
  externalUrl: string,
): {
  readonly url: string
  readonly path: string
  readonly kind: 'issue' | 'merge_request'
  readonly iid: number
}[] {
  const found = new Map<string, ReturnType<typeof findAddresses>[number]>()
  const base = `${externalUrl}/`
  for (
    let at = text.indexOf(base);
    at >= 0 && found.size < MAX_NAMED;
    at = text.indexOf(base, at + 1)
  ) {
    const rest = text.slice(at + base.length, at + base.length + 1000)
    const match = /^([\w./-]{3,800}?)\/-\/(issues|merge_requests)\/(\d{1,9})(?![\w/?#-])/.exec(rest)
    if (!match?.[1]) continue
    const url = base + match[0]
    const kind = match[2] === 'issues' ? 'issue' : 'merge_request'
    found.set(url, { url, path: match[1], kind, iid: Number(match[3]) })
  }
  return [...found.values()]
}
