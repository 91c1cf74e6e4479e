/** Formats of pages, by the extension that new files get (docs/contract/D §1.2 wikis). */
export const FORMATS = ['markdown', 'rdoc', 'asciidoc', 'org'] as const
export type WikiFormat = (typeof FORMATS)[number]

const extensions: Readonly<Record<WikiFormat, readonly [string, ...string[]]>> = {
  markdown: ['md', 'markdown', 'mkd', 'mkdn', 'mdown'],
  rdoc: ['rdoc'],
  asciidoc: ['asciidoc', 'adoc', 'asc'],
  org: ['org'],
}

const formats = new Map(
  FORMATS.flatMap((format) => extensions[format].map((extension) => [extension, format] as const)),
)

/** A file of a wiki as a page. */
export interface PageName {
  /** Where the file is, as the repository has it. */
  readonly path: string
  /** The path without extension, spaces as hyphens: what addresses name it by. */
  readonly slug: string
  /** The last part of it, hyphens as spaces. */
  readonly title: string
  readonly format: WikiFormat
}

/** Attachments may be called like pages. */
const attachment = /^uploads\/[0-9a-f]{32}\//

/** The page that a file is, or undefined for any other file. */
export function pageOf(path: string): PageName | undefined {
  const dot = path.lastIndexOf('.')
  const name = path.slice(path.lastIndexOf('/') + 1)
  const format = formats.get(path.slice(dot + 1).toLowerCase())
  if (!format || dot < 0 || name.lastIndexOf('.') < 1 || attachment.test(path)) return undefined
  const bare = path.slice(0, dot)
  return { path, slug: hyphened(bare), title: titleOf(bare), format }
}

/** Spaces of a name as hyphens, as in slugs. */
export function hyphened(text: string): string {
  return text.replaceAll(' ', '-')
}

function titleOf(bare: string): string {
  return bare.slice(bare.lastIndexOf('/') + 1).replaceAll('-', ' ')
}

/** The folder of a slug or path, with its slash; empty at the top. */
export function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1)
}

/** The file that a title is kept in: `Guides/First steps` in `Guides/First-steps.md`. */
export function pathOfTitle(title: string, format: WikiFormat): string {
  return `${hyphened(partsOf(title).join('/'))}.${extensions[format][0]}`
}

/**
 * The whole title of a page that is given a new one: a bare name stays in its folder, `/name` goes to the top, any other
 * is a path of its own.
 */
export function movedTitle(slug: string, title: string): string {
  if (!title.includes('/')) return `${folderOf(slug)}${title}`
  return title
}

/** Without extension, which takes up to ten bytes. */
const longestName = 245
const longestFolder = 255

/** What is wrong with a title, as sentences. */
export function titleFaults(title: string): string[] {
  const parts = partsOf(title)
  const name = parts.at(-1)
  if (name === undefined) return ["can't be blank"]
  if (parts.some((part) => part === '..' || part === '.')) return ['must not leave the wiki']
  if (Buffer.byteLength(name) > longestName) {
    return [`exceeds the limit of ${longestName} bytes for page titles`]
  }
  const long = parts.slice(0, -1).some((part) => Buffer.byteLength(part) > longestFolder)
  return long ? [`exceeds the limit of ${longestFolder} bytes for directory names`] : []
}

function partsOf(title: string): string[] {
  return title
    .split('/')
    .map((part) => part.trim().replaceAll(/\s+/g, ' '))
    .filter((part) => part !== '')
}
