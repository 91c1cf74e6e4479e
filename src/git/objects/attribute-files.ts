import { engineCall } from '../engine/engine-call.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import { openLinkedBlob } from './blob.ts'
import { entryAt } from './tree.ts'

export interface AttributeFilesOptions {
  readonly ref: string
  /** Each of them without a slash at its end; the root is empty. */
  readonly folders: readonly string[]
  /** Larger files are left out. */
  readonly limit: number
}

export interface AttributeFile {
  readonly folder: string
  readonly text: string
}

/** The `.gitattributes` of some folders at a revision, of those that have one, in the order of the folders. */
export const readAttributeFiles = engineCall({
  name: 'readAttributeFiles',
  lane: 'light',
  inProcess: () => true,
  async run({ repository }, options: AttributeFilesOptions): Promise<AttributeFile[]> {
    const found: AttributeFile[] = []
    for (const folder of options.folders) {
      const text = await attributesOf(repository, options, folder)
      if (text !== undefined) found.push({ folder, text })
    }
    return found
  },
})

async function attributesOf(
  repository: OpenRepository,
  { ref, limit }: AttributeFilesOptions,
  folder: string,
): Promise<string | undefined> {
  const path = folder === '' ? '.gitattributes' : `${folder}/.gitattributes`
  const { entry } = await entryAt(repository, { ref, path })
  // Git follows no link to another file here.
  if (entry?.type !== 'blob' || entry.mode === '120000') return undefined
  return (await openLinkedBlob(repository, entry.id, limit)).content?.toString('utf8')
}
