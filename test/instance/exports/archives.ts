import { gzipSync } from 'node:zlib'
import { type Header, pack } from 'tar-stream'

/** An entry of an archive: its text or bytes, or a header of another kind. */
export type Entry = readonly [name: string, content: string | Uint8Array, header?: Partial<Header>]

/** A gzipped tar of these entries, in their order. */
export async function archiveOf(entries: readonly Entry[]): Promise<Uint8Array<ArrayBuffer>> {
  const archive = pack()
  for (const [name, content, header] of entries) {
    const bytes = Buffer.from(content as string)
    archive.entry({ name, ...header }, header?.type && header.type !== 'file' ? '' : bytes)
  }
  archive.finalize()
  const chunks: Buffer[] = []
  for await (const chunk of archive) chunks.push(chunk as Buffer)
  return new Uint8Array(gzipSync(Buffer.concat(chunks)))
}

/** What an archive says of a project that is nothing special. */
export function projectFile(more: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({
    form: 'gitstead-export-1',
    name: 'x',
    description: null,
    visibility: 'private',
    default_branch: 'main',
    topics: [],
    settings: {},
    labels: [],
    milestones: [],
    ...more,
  })
}

/** The form in which an archive is uploaded. */
export function upload(
  archive: Uint8Array<ArrayBuffer>,
  fields: Readonly<Record<string, string>>,
): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  form.set('file', new Blob([archive]), 'export.tar.gz')
  return form
}
