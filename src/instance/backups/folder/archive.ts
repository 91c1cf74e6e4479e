import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { extract, pack } from 'tar-stream'
import { ownedName } from '../../../base/process-mark.ts'
import { reasonOf, StartError } from '../../../base/start-error.ts'
import { BackupFolder } from './backup-folder.ts'

const names =
  /^(?:README\.txt|backups\/[\w.-]+\/(?:manifest\.json|files\.tsv)|store\/[0-9a-f]{2}\/[0-9a-f]{64})$/

/**
 * Has a backup written to a folder beside the file that it is to become, and makes one file of that. Once it has its name
 * it is whole.
 */
export async function intoArchive<T>(
  file: string,
  write: (folder: BackupFolder) => Promise<T>,
): Promise<T> {
  const folder = new BackupFolder(`${ownedName(`${file}.`)}.part`)
  const draft = `${folder.path}.tar`
  try {
    await folder.make()
    const written = await write(folder)
    await packFolder(folder.path, draft)
    await rename(draft, file)
    return written
  } finally {
    await rm(draft, { force: true })
    await rm(folder.path, { recursive: true, force: true })
  }
}

/** Uses the backups of a folder, or of a file, which is unpacked beside `near` meanwhile. */
export async function withBackups<T>(
  from: string,
  near: string,
  use: (folder: BackupFolder) => Promise<T>,
): Promise<T> {
  const found = await stat(from).catch(() => undefined)
  if (!found) throw new StartError(`${from} is not there`)
  if (found.isDirectory()) {
    const folder = new BackupFolder(from)
    folder.assertThere()
    return await use(folder)
  }
  const folder = new BackupFolder(`${ownedName(`${near}.`)}.part`)
  try {
    await folder.make()
    await unpackArchive(from, folder.path)
    return await use(folder)
  } finally {
    await rm(folder.path, { recursive: true, force: true })
  }
}

async function packFolder(folder: string, file: string): Promise<void> {
  const tar = pack()
  const fill = async () => {
    for await (const path of filesBelow(folder, '')) {
      if (!names.test(path)) continue
      const { size } = await stat(join(folder, path))
      const entry = tar.entry({ name: path, size, mode: 0o600 })
      await pipeline(createReadStream(join(folder, path)), entry)
    }
    tar.finalize()
  }
  await Promise.all([
    pipeline(tar, createWriteStream(file, { mode: 0o600, flush: true })),
    fill().catch((error: unknown) => void tar.destroy(error as Error)),
  ])
}

async function* filesBelow(folder: string, below: string): AsyncGenerator<string> {
  for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`
    if (entry.isDirectory()) yield* filesBelow(folder, path)
    else yield path
  }
}

async function unpackArchive(file: string, folder: string): Promise<void> {
  const tar = extract()
  const reading = pipeline(createReadStream(file), tar)
  reading.catch(() => {})
  try {
    for await (const entry of tar) {
      const { name } = entry.header
      if (!names.test(name))
        throw new StartError(`${file} is no backup: it holds ${name.slice(0, 100)}`)
      const path = join(folder, name)
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      await pipeline(entry, createWriteStream(path, { mode: 0o600 }))
    }
    await reading
  } catch (error) {
    if (error instanceof StartError) throw error
    throw new StartError(`${file} is no whole backup (${reasonOf(error)}): take another one`)
  }
}

/** Whether a name given for a backup means one file rather than a folder of backups. */
export function meansArchive(path: string): boolean {
  return path.endsWith('.tar')
}

/** Refuses to replace a file. */
export async function assertFree(path: string): Promise<void> {
  const file = await open(path, 'r').catch(() => undefined)
  await file?.close()
  if (file) throw new StartError(`${path} is there already`)
}
