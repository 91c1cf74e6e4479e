import { z } from 'zod'
import type { Blob, TreeEntry } from '../../git/types.ts'

export const treeEntryEntity = z.strictObject({
  id: z.string(),
  name: z.string(),
  type: z.enum(['tree', 'blob', 'commit']),
  path: z.string(),
  mode: z.string(),
})

export function presentTreeEntry(entry: TreeEntry): z.input<typeof treeEntryEntity> {
  const { id, name, type, path, mode } = entry
  return { id, name, type, path, mode }
}

export const blobEntity = z.strictObject({
  size: z.int(),
  encoding: z.literal('base64'),
  content: z.string(),
  sha: z.string(),
})

export function presentBlob(blob: Blob): z.input<typeof blobEntity> {
  return {
    size: blob.size,
    encoding: 'base64',
    content: blob.content.toString('base64'),
    sha: blob.id,
  }
}
