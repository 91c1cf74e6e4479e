import { join } from 'node:path'
import { runGit } from '../command.ts'
import { type NativeRepository, nodegit, type Oid, oid } from '../engine/native.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import { persistently, writingHandle } from '../engine/writing-handles.ts'
import { formatIn } from '../objects/packs/object-format.ts'
import { syncFolder } from '../repo-layout.ts'
import { emptyTrees, type ObjectId, objectTypes } from '../types.ts'

interface NativeTreebuilder {
  insert(name: string, id: Oid, mode: number): Promise<unknown>
  remove(name: string): Promise<number>
  write(): Promise<Oid>
}

interface Nodegit {
  readonly Blob: {
    createFromBuffer(to: NativeRepository, data: Buffer, length: number): Promise<Oid>
  }
  readonly Tree: { lookup(repository: NativeRepository, id: Oid): Promise<object> }
  readonly Treebuilder: {
    create(to: NativeRepository, before: object | null): Promise<NativeTreebuilder>
  }
}

// A cast as in every file that declares its part of nodegit.
const native = () => nodegit() as unknown as Nodegit

/** What stands in a folder under a name. */
export interface StoredEntry {
  readonly mode: number
  readonly id: ObjectId
}

/** Stores the content of a file; it is on the disk when this returns, and its name with the end of `syncNames`. */
export function storeBlob(repository: OpenRepository, content: Buffer): Promise<ObjectId> {
  return persistently(async () => {
    const handle = await writingHandle(repository)
    return (await native().Blob.createFromBuffer(handle, content, content.length)).tostrS()
  })
}

/** Stores a tree: the one before with entries put in place, or taken away where there is none. */
export function storeTree(
  repository: OpenRepository,
  before: ObjectId | undefined,
  changes: ReadonlyMap<string, StoredEntry | undefined>,
): Promise<ObjectId> {
  return persistently(async () => {
    const { Tree, Treebuilder } = native()
    const handle = await writingHandle(repository)
    const isNew = before === undefined || emptyTrees.has(before)
    const builder = await Treebuilder.create(
      handle,
      isNew ? null : await Tree.lookup(handle, oid(before)),
    )
    for (const [name, entry] of changes) {
      if (entry) await builder.insert(name, oid(entry.id), entry.mode)
      else await builder.remove(name)
    }
    return (await builder.write()).tostrS()
  })
}

/** Stores a commit or an annotated tag by its bytes, on the disk with its name when this returns. */
export async function storeText(
  repository: OpenRepository,
  type: 'commit' | 'tag',
  text: string,
): Promise<ObjectId> {
  const id =
    formatIn(repository.path) === 'sha1'
      ? await persistently(async () => {
          const odb = await repository.odb()
          return (
            await odb.write(text, Buffer.byteLength(text), objectTypes.indexOf(type))
          ).tostrS()
        })
      : await hashByGit(repository, type, text)
  await syncNames(repository)
  return id
}

/** As libgit2 knows SHA-1 only. */
async function hashByGit(
  { path }: OpenRepository,
  type: 'commit' | 'tag',
  text: string,
): Promise<ObjectId> {
  const { stdout } = await runGit({
    repo: path,
    args: ['hash-object', '-t', type, '-w', '--stdin'],
    config: { 'core.fsync': 'loose-object' },
    stdin: text,
  })
  const id = stdout.toString('latin1').trim()
  await syncFolder(join(path, 'objects', id.slice(0, 2)))
  return id
}

/** Brings the names of new folders of objects onto the disk. */
export function syncNames({ path }: OpenRepository): Promise<void> {
  return syncFolder(join(path, 'objects'))
}
