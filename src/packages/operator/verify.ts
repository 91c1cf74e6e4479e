import { createHash } from 'node:crypto'
import type { Ctx } from '../../ctx.ts'
import { listFilesAfter, listSizes, type NamedFile } from './queries.ts'

export interface Damage {
  /** `project package version file`. */
  readonly file: string
  readonly sha256: string
  readonly what: 'missing' | 'size' | 'content'
}

const atOnce = 200

/** Reads every file that a package names and compares it with its hash; bytes that many packages share are read once. */
export async function verifyPackageFiles(
  ctx: Pick<Ctx, 'db' | 'files'>,
  options: { readonly signal: AbortSignal; readonly onFile: (count: number) => void },
): Promise<{ readonly files: number; readonly damages: readonly Damage[] }> {
  const damages: Damage[] = []
  let files = 0
  let after = ''
  for (;;) {
    const rows = await listFilesAfter(ctx.db, after, atOnce)
    for (const row of rows) {
      options.signal.throwIfAborted()
      const what = await damageOf(ctx, row)
      const file = `${row.full_path} ${row.name} ${row.version ?? ''} ${row.file_name}`
      if (what) damages.push({ file, sha256: row.file_sha256, what })
      files += 1
      options.onFile(files)
      after = row.file_sha256
    }
    if (rows.length < atOnce) return { files, damages }
  }
}

async function damageOf(
  ctx: Pick<Ctx, 'files'>,
  row: NamedFile,
): Promise<Damage['what'] | undefined> {
  const size = await ctx.files.sizeOf(row.file_sha256)
  if (size === undefined) return 'missing'
  if (size !== row.size) return 'size'
  const hash = createHash('sha256')
  const { body } = await ctx.files.open(row.file_sha256)
  for await (const chunk of body) hash.update(chunk)
  return hash.digest('hex') === row.file_sha256 ? undefined : 'content'
}

/** What the packages of each project take, the largest first. */
export function packageSizesByProject(ctx: Pick<Ctx, 'db'>) {
  return listSizes(ctx.db)
}
