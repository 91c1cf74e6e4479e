import { readLfsPointer } from '../../git/objects/lfs-pointer.ts'
import { call } from '../../http/call/call.ts'
import { highlightLines } from '../../markdown/highlight.ts'
import { getRepositoryFile, headRepositoryFile } from '../../repositories/files/endpoints.ts'
import type { PageCtx } from '../page-ctx.ts'
import type { ProjectData } from '../project/frame.tsx'
import { readTable, type Table } from './formats/csv.ts'
import { type Cell, readNotebook } from './formats/notebook.ts'
import type { Place } from './place.ts'
import { renderedIn } from './readme.tsx'

export interface CodeLines {
  readonly lines: readonly string[]
  readonly html: readonly string[] | undefined
}

/** A cell of a notebook, with its Markdown as HTML. */
export type ShownCell = Cell & { readonly html: string | undefined }

/** A file as it can be shown. */
export type ShownBlob =
  | ({ readonly kind: 'code' } & CodeLines)
  | { readonly kind: 'markdown'; readonly html: string }
  | { readonly kind: 'table'; readonly table: Table }
  | { readonly kind: 'notebook'; readonly cells: readonly ShownCell[] }
  | { readonly kind: 'lfs'; readonly oid: string; readonly size: number }
  | { readonly kind: 'image' | 'binary' | 'large' }

export interface BlobFacts {
  readonly size: number
  readonly commit: string
  readonly lastCommit: string
  readonly isExecutable: boolean
}

/** Files above this are shown by their facts alone, and downloaded. */
const largest = 2_000_000
/** Cells of Markdown that are rendered; those after them are shown as they were written. */
const renderedCells = 50

/** What a file is, without its contents. */
export async function readFacts(
  ctx: PageCtx,
  project: ProjectData,
  place: Place,
): Promise<BlobFacts> {
  const path = { id: project.id, file_path: place.path }
  const { headers = {} } = await call(headRepositoryFile, ctx, { path, query: { ref: place.ref } })
  const value = (name: string) => {
    const [known = ''] = Object.keys(ctx.config.vendor.headers({ [name]: '' }))
    return String(headers[known] ?? '')
  }
  return {
    size: Number(value('Size')),
    commit: value('Commit-Id'),
    lastCommit: value('Last-Commit-Id'),
    isExecutable: value('Execute-Filemode') === 'true',
  }
}

/** A file's bytes and the id of its blob; nothing of one that is too large for a page. */
export async function readContent(
  ctx: PageCtx,
  project: ProjectData,
  place: Place,
  facts: BlobFacts,
) {
  if (facts.size > largest) return undefined
  const path = { id: project.id, file_path: place.path }
  const file = await call(getRepositoryFile, ctx, { path, query: { ref: facts.commit } })
  return { bytes: Buffer.from(file.content, 'base64'), blob: file.blob_id }
}

export function isText(bytes: Buffer): boolean {
  return !bytes.subarray(0, 8000).includes(0)
}

/** The lines of a text, highlighted where its language is known. */
export async function codeLines(
  ctx: PageCtx,
  { text, name, blob }: { readonly text: string; readonly name: string; readonly blob: string },
): Promise<CodeLines> {
  const html = await highlightLines(blob, { text, name }, ctx.ip)
  const lines = text.split('\n')
  return { lines: lines.at(-1) === '' ? lines.slice(0, -1) : lines, html }
}

/** A file as a page shows it; `plain` asks for the source of what could be rendered. */
export async function readBlob(
  ctx: PageCtx,
  project: ProjectData,
  place: Place,
  plain: boolean,
): Promise<{ readonly facts: BlobFacts; readonly shown: ShownBlob }> {
  const facts = await readFacts(ctx, project, place)
  const isPicture = /\.(png|jpe?g|gif|webp|avif|bmp|ico)$/i.test(place.path)
  const content = await readContent(ctx, project, place, facts)
  const pointer = content && readLfsPointer(content.bytes)
  if (pointer) return { facts, shown: { kind: 'lfs', ...pointer } }
  if (isPicture || (!plain && /\.svg$/i.test(place.path)))
    return { facts, shown: { kind: 'image' } }
  if (!content) return { facts, shown: { kind: 'large' } }
  if (!isText(content.bytes)) return { facts, shown: { kind: 'binary' } }
  const text = content.bytes.toString('utf8')
  const rendered = plain ? undefined : await render(ctx, project, place.path, text)
  if (rendered) return { facts, shown: rendered }
  const code = await codeLines(ctx, { text, name: place.path, blob: content.blob })
  return { facts, shown: { kind: 'code', ...code } }
}

async function render(
  ctx: PageCtx,
  project: ProjectData,
  path: string,
  text: string,
): Promise<ShownBlob | undefined> {
  if (/\.(md|markdown|mkd)$/i.test(path)) {
    return { kind: 'markdown', html: await renderedIn(ctx, project, text) }
  }
  const [, table] = /\.(csv|tsv)$/i.exec(path) ?? []
  if (table) return { kind: 'table', table: readTable(text, /csv/i.test(table) ? ',' : '\t') }
  const cells = /\.ipynb$/i.test(path) ? readNotebook(text) : undefined
  if (!cells) return undefined
  const shown = await Promise.all(
    cells.map(async (cell, index) => {
      const isRendered = cell.kind === 'markdown' && index < renderedCells
      return { ...cell, html: isRendered ? await renderedIn(ctx, project, cell.text) : undefined }
    }),
  )
  return { kind: 'notebook', cells: shown }
}

/** Whether a file can be shown rendered, and as its source. */
export function isRendered({ kind }: ShownBlob, path: string): boolean {
  const both = kind === 'markdown' || kind === 'table' || kind === 'notebook'
  return both || (kind === 'image' && /\.svg$/i.test(path))
}
