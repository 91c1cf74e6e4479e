import { existsSync } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ownerOf } from '../../../base/process-mark.ts'
import type { Ctx } from '../../../ctx.ts'
import { listUnfinished } from '../../../git/maintenance/left-over-all.ts'
import { repositoryKey } from '../../../git/repo-name.ts'
import { findUnknownRepositories } from '../../../projects/unknown-repositories/pass-over.ts'
import { listLeftTemporary } from '../../../store/temporary.ts'
import { type Finding, finding, type Manner } from './finding.ts'

const LEFTOVER_MS = 24 * 60 * 60 * 1000

/** Uploads, imports and repositories whose process is gone before they were done. */
export async function leftoverFinding(
  { now, config: { data } }: Pick<Ctx, 'now' | 'config'>,
  { mend }: Manner,
): Promise<Finding> {
  const before = Date.parse(now()) - LEFTOVER_MS
  const paths = [
    ...(await leftIn(join(data, 'tmp'), before)),
    ...(await leftIn(join(data, 'files', 'tmp'), before)),
    ...(await listUnfinished(join(data, 'repositories'))),
  ]
  if (mend) for (const path of paths) await rm(path, { recursive: true, force: true })
  const old = paths.length
  if (old === 0) return finding('temporary files', 'ok', 'none left over')
  if (mend) return finding('temporary files', 'ok', `removed ${old} left over by a crash`)
  return finding('temporary files', 'warning', `${old} left over by a crash, see --mend`)
}

/** What names no process may be of a program that runs: it counts once it is old. */
async function leftIn(folder: string, before: number): Promise<string[]> {
  const left: string[] = []
  for (const name of await listLeftTemporary(folder)) {
    const found = await stat(join(folder, name)).catch(() => undefined)
    const isLeft = ownerOf(name) !== undefined || (found?.mtimeMs ?? before) < before
    if (isLeft) left.push(join(folder, name))
  }
  return left
}

/** Repositories of a time that a restored database knows nothing of, and folders that are none of ours. */
export async function unknownFindings(ctx: Pick<Ctx, 'db' | 'git' | 'config'>): Promise<Finding[]> {
  const unknown = (await findUnknownRepositories(ctx)).map((name) => {
    const { path } = ctx.git.open(name)
    return finding(
      `repository ${repositoryKey(name)}`,
      'warning',
      `the database does not know it: gitstead project import ${path} makes a project of it`,
    )
  })
  const strangers = (await listStrangers(ctx)).map((path) =>
    finding('repositories', 'warning', `${path} is no repository of this server: move it away`),
  )
  return [...unknown, ...strangers]
}

/** What lies among the repositories and is none of them, nor one that is being made or removed. */
async function listStrangers({ git, config }: Pick<Ctx, 'git' | 'config'>): Promise<string[]> {
  const root = join(config.data, 'repositories')
  const ours = new Set((await git.list()).map((name) => git.open(name).path))
  const strangers: string[] = []
  for (const shard of existsSync(root) ? await readdir(root, { withFileTypes: true }) : []) {
    const path = join(root, shard.name)
    const isShard = shard.isDirectory() && /^[0-9a-f]{2}$/.test(shard.name)
    const names = isShard ? await readdir(path) : []
    if (!isShard) strangers.push(path)
    strangers.push(
      ...names
        .filter((name) => !/\.(?:new|gone)$/.test(name))
        .map((name) => join(path, name))
        .filter((found) => !ours.has(found)),
    )
  }
  return strangers
}
