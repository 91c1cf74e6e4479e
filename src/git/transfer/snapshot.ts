import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Pack, pack } from 'tar-stream'
import type { Repo } from '../repo.ts'

/** Files of a repository that make it what it is; refs before the objects that they need. */
const PARTS = ['HEAD', 'packed-refs', 'refs', 'shallow', 'objects'] as const

/**
 * A tar of a bare repository as it lies on disk, while others read and write. Refs are copied first: what they need is
 * there already, and stays for longer than a copy takes.
 */
export function streamSnapshot(repo: Repo): Readable {
  const archive = pack()
  const body = new PassThrough()
  // Whoever reads gets errors by reading; one that comes before must not end the process.
  body.on('error', () => {})
  pipeline(archive, body).catch(() => {})
  addAll(archive, repo.path).then(
    () => archive.finalize(),
    (error: Error) => archive.destroy(error),
  )
  return body
}

async function addAll(archive: Pack, root: string): Promise<void> {
  for (const part of PARTS) {
    for (const name of await filesBelow(root, part)) {
      // A folder that may hold no file by now, and without which git sees no repository.
      if (name.endsWith('/')) archive.entry({ name, type: 'directory', mode: 0o755 })
      else await addFile(archive, root, name)
    }
  }
}

async function filesBelow(root: string, part: string): Promise<string[]> {
  try {
    const entries = await readdir(join(root, part), { recursive: true, withFileTypes: true })
    const files = entries
      .filter((entry) => entry.isFile() && !isTemporary(entry.name))
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    return [`${part}/`, ...files.toSorted()]
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOTDIR') return [part]
    if (code === 'ENOENT') return []
    throw error
  }
}

/** Objects that are being written, and locks. */
function isTemporary(name: string): boolean {
  return /^(tmp_|\.tmp-|incoming-)|\.lock$/.test(name)
}

async function addFile(archive: Pack, root: string, name: string): Promise<void> {
  // A repack may take a file away; what was in it is then in another that is listed later or was copied.
  const file = await open(join(root, name), 'r').catch(() => undefined)
  if (!file) return
  try {
    const { size, mtime } = await file.stat()
    const entry = archive.entry({ name, size, mtime, mode: 0o644 })
    const range = { start: 0, end: size - 1, autoClose: false }
    if (size === 0) entry.end(Buffer.alloc(0))
    else await pipeline(file.createReadStream(range), entry)
  } finally {
    await file.close()
  }
}
