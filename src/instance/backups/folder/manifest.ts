import { createHash } from 'node:crypto'
import { z } from 'zod'
import { StartError } from '../../../base/start-error.ts'

/** A file of the data folder as a backup has it. */
export interface BackupFile {
  /** Below the data folder, with slashes. */
  readonly path: string
  /** Of its bytes, by which it lies in the store of the backups. */
  readonly sha256: string
  readonly size: number
  /** When it was last changed, in nanoseconds; `0` for what was written from memory. */
  readonly mtime: string
}

const sealedSecrets = z.object({
  /** How the key was made of the passphrase. */
  kdf: z.literal('scrypt'),
  n: z.int().max(2 ** 20),
  r: z.int().max(64),
  p: z.int().max(64),
  cipher: z.literal('aes-256-gcm'),
  salt: z.base64(),
  iv: z.base64(),
  tag: z.base64(),
  data: z.base64(),
})

export type SealedSecrets = z.infer<typeof sealedSecrets>

const manifest = z.object({
  format: z.literal(1),
  name: z.string(),
  /** The moment of which it is: what was acknowledged before is in it. */
  at: z.string(),
  finished_at: z.string(),
  /** The program that made it, and the schema of its database. */
  version: z.string(),
  migrations: z.array(z.string()),
  /** Whether only what had changed was read. */
  incremental: z.boolean(),
  repositories: z.int(),
  refs: z.int(),
  files: z.int(),
  bytes: z.int(),
  /** What was written for it: other files lay there already. */
  new_bytes: z.int(),
  /** What was damaged already where it was copied from, one sentence each. */
  faults: z.array(z.string()),
  secrets: sealedSecrets,
  /** SHA-256 of the list of files. */
  list_sha256: z.string(),
})

export type Manifest = z.infer<typeof manifest>

const stored = z.object({ manifest: z.unknown(), sha256: z.string() })

/** A backup that is not as it was written. */
export class DamagedBackup extends StartError {}

export function writeManifest(given: Manifest): string {
  return `${JSON.stringify({ manifest: given, sha256: sha256Of(JSON.stringify(given)) }, null, 2)}\n`
}

export function readManifest(name: string, text: string): Manifest {
  const parsed = stored.safeParse(parseJson(text))
  if (!parsed.success || sha256Of(JSON.stringify(parsed.data.manifest)) !== parsed.data.sha256) {
    throw new DamagedBackup(`the backup ${name} is damaged: its manifest is not what was written`)
  }
  const read = manifest.safeParse(parsed.data.manifest)
  if (read.success) return read.data
  const { version = 'of another version' } = z
    .object({ version: z.string() })
    .partial()
    .catch({})
    .parse(parsed.data.manifest)
  throw new StartError(`the backup ${name} has a form that this program does not know (${version})`)
}

/** One line for each file, in the order of their paths. */
export function writeList(files: readonly BackupFile[]): string {
  return files
    .map(({ sha256, size, mtime, path }) => `${sha256}\t${size}\t${mtime}\t${path}\n`)
    .join('')
}

export function readList({ name, list_sha256 }: Manifest, text: string): BackupFile[] {
  if (sha256Of(text) !== list_sha256) {
    throw new DamagedBackup(
      `the backup ${name} is damaged: its list of files is not what was written`,
    )
  }
  const lines = text.split('\n')
  lines.pop()
  return lines.map((line) => {
    const [sha256 = '', size = '', mtime = '', path = ''] = line.split('\t')
    return { sha256, size: Number(size), mtime, path }
  })
}

export function sha256Of(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
