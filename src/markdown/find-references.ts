import { withoutCode } from './without-code.ts'

/** A mention of something in a text; `project` is the full path written before it, or null for the text's own project. */
export type Reference =
  | { readonly kind: 'issue'; readonly project: string | null; readonly iid: number }
  | { readonly kind: 'merge_request'; readonly project: string | null; readonly iid: number }
  | { readonly kind: 'commit'; readonly project: string | null; readonly sha: string }
  | { readonly kind: 'user'; readonly username: string }

/** Most mentions that one text is searched for. */
const MAX_REFERENCES = 200

/** Most issues that one text closes. */
const MAX_CLOSED = 100

const PATH = String.raw`[A-Za-z0-9_][\w.-]{0,254}(?:/[A-Za-z0-9_][\w.-]{0,254}){0,20}`
const MENTION = new RegExp(
  String.raw`(?<![\w/.@#!-])(?:(${PATH})?([#!])(\d{1,9})(?!\w)|(?:(${PATH})@)?([0-9a-f]{7,40})(?!\w)|@([A-Za-z0-9_][\w.-]{0,254}(?:/[A-Za-z0-9_][\w.-]{0,254}){0,20}))`,
  'g',
)

/** The issues, merge requests, commits and users that a text mentions: `#1`, `g/p!2`, `sha`, `g/p@sha`, `@user`. */
export function findReferences(text: string): Reference[] {
  const found = new Map<string, Reference>()
  for (const match of withoutCode(text).matchAll(MENTION)) {
    const reference = readMention(match)
    if (reference) found.set(JSON.stringify(reference), reference)
    if (found.size >= MAX_REFERENCES) break
  }
  return [...found.values()]
}

function readMention(match: RegExpMatchArray): Reference | null {
  const [, project = null, sign, number, commitProject = null, sha, name] = match
  if (sign) {
    const kind = sign === '#' ? 'issue' : 'merge_request'
    return { kind, project, iid: Number(number) }
  }
  if (sha) return { kind: 'commit', project: commitProject, sha }
  return name ? { kind: 'user', username: name.replace(/[.-]+$/, '') } : null
}

/** A text that holds no code, with a project's path before those mentions of its issues and merge requests that are known. */
export function qualifyReferences(plain: string, path: string, known: ReadonlySet<string>): string {
  return plain.replaceAll(MENTION, (mention: string) =>
    known.has(mention) ? path + mention : mention,
  )
}

const CLOSING_WORDS = `(?:clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|implement(?:s|ed|ing)?)`
const ISSUE = String.raw`(?:(?:${PATH})?#\d{1,9}|https?://[^\s<>"]{1,400}/-/issues/\d{1,9})`
const CLOSING = new RegExp(
  String.raw`\b${CLOSING_WORDS}:?\s+(?:issues?\s+)?(${ISSUE}(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+)${ISSUE}){0,50})`,
  'gi',
)

/**
 * The issues that a commit message or merge request description closes (docs/contract/D §1.9). URLs count when they begin with
 * `externalUrl`.
 */
export function findClosedIssues(
  text: string,
  externalUrl: string,
): { readonly project: string | null; readonly iid: number }[] {
  const found = new Map<string, { project: string | null; iid: number }>()
  for (const [, list = ''] of withoutCode(text).matchAll(CLOSING)) {
    for (const [mention] of list.matchAll(new RegExp(ISSUE, 'g'))) {
      const issue = readIssue(mention, externalUrl)
      if (issue) found.set(`${issue.project ?? ''}#${issue.iid}`, issue)
      if (found.size >= MAX_CLOSED) return [...found.values()]
    }
  }
  return [...found.values()]
}

function readIssue(
  mention: string,
  externalUrl: string,
): { project: string | null; iid: number } | null {
  if (!/^https?:/i.test(mention)) {
    const hash = mention.indexOf('#')
    return {
      project: hash > 0 ? mention.slice(0, hash) : null,
      iid: Number(mention.slice(hash + 1)),
    }
  }
  if (!mention.startsWith(`${externalUrl}/`)) return null
  const parts = /^\/(.+)\/-\/issues\/(\d+)$/.exec(mention.slice(externalUrl.length))
  return parts?.[1] ? { project: parts[1], iid: Number(parts[2]) } : null
}
