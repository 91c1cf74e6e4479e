import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { readLfsPointer } from '../objects/lfs-pointer.ts'

/** One thing in an archive. Folders come before what is in them, and only if something is. */
export type Item =
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'link'; readonly path: string; readonly target: string }
  | FileItem

export interface FileItem {
  readonly kind: 'file'
  readonly path: string
  readonly executable: boolean
  readonly size: number
  /** Small files are given in one piece, others as a stream that must be read to its end. */
  readonly body: Buffer | AsyncIterable<Buffer>
}

/** The items with large files in the place of their pointers, as far as there are some. */
export async function* withLargeFiles(
  items: AsyncIterable<Item>,
  lfs: ReadonlyMap<string, string>,
): AsyncGenerator<Item> {
  for await (const item of items) yield (await findLarge(item, lfs)) ?? item
}

async function findLarge(
  item: Item,
  lfs: ReadonlyMap<string, string>,
): Promise<FileItem | undefined> {
  const content = item.kind === 'file' && Buffer.isBuffer(item.body) ? item.body : undefined
  const pointer = content && readLfsPointer(content)
  const file = pointer && lfs.get(pointer.oid)
  if (file === undefined || item.kind !== 'file') return undefined
  const found = await stat(file).catch(() => undefined)
  return found && { ...item, size: found.size, body: chunksOf(file) }
}

async function* chunksOf(file: string): AsyncGenerator<Buffer> {
  yield* createReadStream(file, { highWaterMark: 256 * 1024 })
}
