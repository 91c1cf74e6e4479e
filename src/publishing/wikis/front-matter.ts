import { parseDocument, stringify } from 'yaml'
import { isShallow } from '../../base/yaml/is-shallow.ts'

/** A page's text in its two parts. */
export interface PageText {
  /** What stands before the text between two lines of three hyphens; empty without. */
  readonly frontMatter: Readonly<Record<string, unknown>>
  readonly content: string
}

const block = /^---[ \t]*\r?\n([\s\S]*?)^---[ \t]*(?:\r?\n|$)/m
/** The parser takes time by the square of the keys, whatever they are written in. */
const longest = 4096

/** Takes the front matter off a page. What is no list of keys in YAML belongs to the text. */
export function splitFrontMatter(text: string): PageText {
  const whole: PageText = { frontMatter: {}, content: text }
  if (!text.startsWith('---')) return whole
  const found = block.exec(text.slice(0, longest))
  const yaml = found?.[1]
  if (found?.index !== 0 || yaml === undefined) return whole
  const read = readYaml(yaml)
  if (!read) return whole
  return { frontMatter: read, content: text.slice(found[0].length).replace(/^\r?\n/, '') }
}

function readYaml(text: string): Record<string, unknown> | undefined {
  try {
    if (!isShallow(text)) return undefined
    const document = parseDocument(text, { schema: 'core' })
    if (document.errors.length > 0) return undefined
    // Aliases could make anything of a few lines.
    const read: unknown = document.toJS({ maxAliasCount: 0 })
    if (typeof read !== 'object' || read === null || Array.isArray(read)) return undefined
    // Only what JSON can say goes to the wire.
    return JSON.parse(JSON.stringify(read)) as Record<string, unknown>
  } catch {
    return undefined
  }
}

/** Puts front matter before a text. */
export function joinFrontMatter(
  frontMatter: Readonly<Record<string, unknown>>,
  content: string,
): string {
  if (Object.keys(frontMatter).length === 0) return content
  return `---\n${stringify(frontMatter)}---\n\n${content}`
}
