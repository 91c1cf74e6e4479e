import { workerTask } from '../../base/workers/worker-task.ts'
import { type PageForm, page } from './page.ts'

/*
 * Runs in a worker: the page of a name may list thousands of files. What is no such page gives nothing.
 */

type Fields = Readonly<Record<string, unknown>>

interface Distribution extends Fields {
  readonly filename: string
  readonly url: string
  readonly sha256: string | undefined
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function read(text: string, base: string): { document: Fields; files: Distribution[] } | undefined {
  try {
    const document: unknown = JSON.parse(text)
    if (!isFields(document) || !Array.isArray(document.files)) return undefined
    return { document, files: document.files.flatMap((file) => distribution(file, base)) }
  } catch {}
  return undefined
}

function distribution(file: unknown, base: string): Distribution[] {
  if (!isFields(file)) return []
  const { filename, url, hashes } = file
  if (typeof filename !== 'string' || typeof url !== 'string' || !URL.canParse(url, base)) return []
  return [{ ...file, filename, url: new URL(url, base).href, sha256: sha256Of(hashes) }]
}

function sha256Of(hashes: unknown): string | undefined {
  const given = isFields(hashes) ? hashes.sha256 : undefined
  return typeof given === 'string' && /^[0-9a-f]{64}$/i.test(given)
    ? given.toLowerCase()
    : undefined
}

interface Rewrite {
  readonly text: string
  readonly nameKey: string
  /** The address below which the files are. */
  readonly root: string
  readonly base: string
  readonly form: PageForm
}

/** The page with links to this server; files without a hash stay where they are. */
export const rewritePage = workerTask((given: Rewrite): string | undefined => {
  const { text, nameKey, root, base, form } = given
  const found = read(text, base)
  if (!found) return undefined
  const files = found.files.map(({ sha256, 'gpg-sig': _signature, ...file }) => {
    const name = encodeURIComponent(file.filename)
    const own = `${root}/files/${sha256}/${name}`
    return { ...file, url: sha256 === undefined ? file.url : own, sha256 }
  })
  if (form === 'html') return page(nameKey, files.map(linkTo))
  const plain = files.map(({ sha256: _sha256, ...file }) => file)
  return JSON.stringify({ ...found.document, files: plain })
})

function linkTo(file: Distribution) {
  const { 'requires-python': python, yanked, 'core-metadata': metadata } = file
  const sha256 = isFields(metadata) ? sha256Of(metadata) : undefined
  return {
    href: file.sha256 === undefined ? file.url : `${file.url}#sha256=${file.sha256}`,
    text: file.filename,
    ...(typeof python === 'string' ? { requiresPython: python } : {}),
    ...(yanked ? { yanked: typeof yanked === 'string' ? yanked : '' } : {}),
    ...(sha256 === undefined ? {} : { metadata: `sha256=${sha256}` }),
  }
}

/** Where a file is, and what its bytes hash to. */
export interface ForwardedLocation {
  readonly url: string
  readonly sum?: { readonly kind: 'sha256'; readonly hex: string }
}

interface Locate {
  readonly text: string
  readonly base: string
  readonly sha256: string
  readonly fileName: string
}

/** What the page says of a file; `….metadata` is what PEP 658 keeps beside it. */
export const locateFile = workerTask(({ text, base, sha256, fileName }: Locate) => {
  const found = read(text, base)
  if (!found) return undefined
  const [, of] = /^(.+)\.metadata$/.exec(fileName) ?? []
  const file = found.files.find((one) => one.sha256 === sha256 && one.filename === (of ?? fileName))
  if (!file || !/^https?:/.test(file.url)) return 'none'
  if (of === undefined) {
    return { url: file.url, sum: { kind: 'sha256', hex: sha256 } } satisfies ForwardedLocation
  }
  const hex = sha256Of(file['core-metadata'] ?? file['dist-info-metadata'])
  const url = new URL(file.url)
  url.pathname += '.metadata'
  return {
    url: url.href,
    ...(hex === undefined ? {} : { sum: { kind: 'sha256', hex } }),
  } satisfies ForwardedLocation
})
