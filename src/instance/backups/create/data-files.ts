import { linkSync, mkdirSync, readFileSync } from 'node:fs'
import { copyFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Secrets } from '../folder/seal.ts'
import type { Source } from './copy-files.ts'

/** Files of the data folder that only their owner may read: they come into a backup sealed. */
const secretFiles = ['secret.key', 'root-password', 'root-token', 'runner-token', 'gitstead.json']

/** What the server keeps under the hash of its bytes: LFS, packages, images, artifacts, uploads, logs, archives. */
export async function listStoredFiles(data: string): Promise<Source[]> {
  const found: Source[] = []
  for (const first of await namesIn(join(data, 'files'), /^[0-9a-f]{2}$/)) {
    for (const second of await namesIn(join(data, 'files', first), /^[0-9a-f]{2}$/)) {
      const below = `files/${first}/${second}`
      for (const name of await namesIn(join(data, below), /^[0-9a-f]{64}$/)) {
        found.push({ path: `${below}/${name}`, source: join(data, below, name) })
      }
    }
  }
  return found
}

/** Mails that lie there because no mail server is set. */
export async function listOutbox(data: string): Promise<Source[]> {
  const names = await namesIn(join(data, 'outbox'), /^[^\t\n]+\.eml$/)
  return names.map((name) => ({ path: `outbox/${name}`, source: join(data, 'outbox', name) }))
}

/**
 * Gives the logs of jobs that still run other names beside, under which they stay there when they move into the store of
 * files meanwhile.
 */
export async function keepTraces(
  data: string,
  folder: string,
  known: Map<string, Source>,
): Promise<void> {
  for (const shard of await namesIn(join(data, 'traces'), /^\d+$/)) {
    for (const name of await namesIn(join(data, 'traces', shard), /^\d+\.log$/)) {
      const path = `traces/${shard}/${name}`
      if (known.has(path)) continue
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      const source = join(folder, `${shard}-${name}`)
      if (await linkOrCopy(join(data, path), source)) known.set(path, { path, source })
    }
  }
}

/** False when it is gone. */
async function linkOrCopy(from: string, to: string): Promise<boolean> {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
  }
  await copyFile(from, to)
  return true
}

/** The secrets of a data folder; the key that the settings give counts in place of the file. */
export function readSecrets(data: string, key: string | undefined): Secrets {
  const found: Record<string, string> = {}
  for (const name of secretFiles) {
    try {
      found[name] = readFileSync(join(data, name), 'utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
  return key === undefined ? found : { ...found, 'secret.key': `${key}\n` }
}

async function namesIn(folder: string, form: RegExp): Promise<string[]> {
  const names = await readdir(folder).catch(() => [])
  return names.filter((name) => form.test(name)).sort()
}
