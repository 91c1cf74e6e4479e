import { existsSync } from 'node:fs'
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { unpackZip, writeGzip, writeZip } from './archives.ts'
import { cacheFile, type Workspace } from './folder/workspace.ts'
import { type FoundFile, findFiles } from './globs.ts'
import type { Job, JobArtifacts, JobCache } from './job.ts'
import type { Server } from './server.ts'
import { type UnpackLimits, UnpackRoom } from './unpack-room.ts'
import type { Variables } from './variables.ts'

/** What archives of a job need of it. */
export interface Transfer {
  readonly job: Job
  readonly server: Server
  readonly variables: Variables
  readonly workspace: Workspace
  readonly unpack: UnpackLimits
  readonly say: (line: string) => void
  /** Aborts when the scripts of the job are to end. */
  readonly signal: AbortSignal
  /** Files that git does not know, by their paths. */
  readonly untracked: () => Promise<readonly string[]>
}

type Outcome = 'success' | 'failure'

function isWanted(when: string | undefined, outcome: Outcome): boolean {
  if (when === 'always') return true
  return (when ?? 'on_success') === `on_${outcome}`
}

async function filesOf(
  transfer: Transfer,
  given: Pick<JobArtifacts, 'paths' | 'exclude' | 'untracked'>,
): Promise<FoundFile[]> {
  const expand = (path: string) => transfer.variables.expand(path)
  const paths = (given.paths ?? []).map(expand)
  const more = given.untracked ? await transfer.untracked() : []
  const exclude = (given.exclude ?? []).map(expand)
  const found = await findFiles(transfer.workspace.project, { paths, exclude })
  const known = new Set(found.map((file) => file.path))
  const own = await findFiles(transfer.workspace.project, {
    paths: more.length > 0 ? ['**'] : [],
    exclude,
  })
  const wanted = new Set(more)
  return [...found, ...own.filter((file) => wanted.has(file.path) && !known.has(file.path))]
}

/** Unpacks the first cache that is there: that of a key, or of one to fall back to. */
export async function restoreCaches(transfer: Transfer): Promise<void> {
  const room = new UnpackRoom(transfer.unpack)
  for (const cache of transfer.job.cache ?? []) {
    if (cache.policy === 'push') continue
    const keys = keysOf(transfer, cache)
    const key = keys.find((one) => existsSync(cacheFile(transfer.workspace, one)))
    transfer.say(key === undefined ? `No cache of ${keys[0]}` : `Restoring cache of ${key}`)
    if (key === undefined) continue
    try {
      await unpackZip(cacheFile(transfer.workspace, key), transfer.workspace.project, room)
    } catch (error) {
      transfer.say(`WARNING: cache of ${key} cannot be used: ${textOf(error)}`)
      await rm(cacheFile(transfer.workspace, key), { recursive: true, force: true })
    }
  }
}

function keysOf({ variables }: Transfer, cache: JobCache): string[] {
  return [cache.key, ...(cache.fallback_keys ?? [])].map((key) => variables.expand(key))
}

/** Keeps the caches of a job for later ones; a cache is whole or not there. */
export async function saveCaches(transfer: Transfer, outcome: Outcome): Promise<void> {
  for (const cache of transfer.job.cache ?? []) {
    if (cache.policy === 'pull' || !isWanted(cache.when, outcome)) continue
    const [key = ''] = keysOf(transfer, cache)
    const files = await filesOf(transfer, cache)
    const target = cacheFile(transfer.workspace, key)
    const partial = `${target}.${transfer.job.id}.part`
    transfer.say(`Saving cache of ${key}: ${files.length} files`)
    try {
      await mkdir(dirname(target), { recursive: true })
      await writeZip(transfer.workspace.project, files, partial)
      await rename(partial, target)
    } catch (error) {
      // A job does not depend on its cache.
      transfer.say(`WARNING: cache of ${key} cannot be saved: ${textOf(error)}`)
      await rm(partial, { recursive: true, force: true })
    }
  }
}

/** Brings in what earlier jobs made; false when the server has it no more. */
export async function downloadArtifacts(transfer: Transfer): Promise<boolean> {
  const { server, signal, unpack, workspace } = transfer
  const room = new UnpackRoom(unpack)
  for (const from of transfer.job.dependencies ?? []) {
    if (!from.artifacts_file) continue
    const path = join(workspace.temporary, `artifacts-${from.id}.zip`)
    transfer.say(`Downloading artifacts of ${from.name} (${from.id})`)
    if (!(await server.download(from, path, { signal, most: unpack.bytes }))) return false
    await unpackZip(path, workspace.project, room)
    await rm(path)
  }
  return true
}

/** Sends what a job made; false when the server will not have something of it. */
export async function uploadArtifacts(transfer: Transfer, outcome: Outcome): Promise<boolean> {
  let isDone = true
  for (const [index, artifacts] of (transfer.job.artifacts ?? []).entries()) {
    if (!isWanted(artifacts.when, outcome)) continue
    const files = await sendableOf(transfer, artifacts)
    if (files.length === 0) {
      transfer.say(`WARNING: ${(artifacts.paths ?? []).join(', ')}: no matching files`)
      continue
    }
    isDone = (await uploadOne(transfer, artifacts, { files, index })) && isDone
  }
  return isDone
}

/** Only an archive takes links as what they are. Of others that follow them a job could have any file of this machine sent. */
async function sendableOf(transfer: Transfer, artifacts: JobArtifacts): Promise<FoundFile[]> {
  const files = await filesOf(transfer, artifacts)
  if (artifacts.artifact_format === 'zip') return files
  for (const { path } of files.filter(({ isLink }) => isLink)) {
    transfer.say(`WARNING: ${path} is a link, and not sent as ${artifacts.artifact_type}`)
  }
  return files.filter(({ isLink }) => !isLink)
}

async function uploadOne(
  transfer: Transfer,
  artifacts: JobArtifacts,
  { files, index }: { readonly files: readonly FoundFile[]; readonly index: number },
): Promise<boolean> {
  const { artifact_format: format, artifact_type: type, expire_in } = artifacts
  const { project, temporary } = transfer.workspace
  const [first] = files
  const isRaw = format === 'raw' && first !== undefined
  const path = isRaw ? join(project, first.path) : join(temporary, `upload-${index}`)
  if (format === 'gzip') await writeGzip(project, files, path)
  else if (!isRaw) await writeZip(project, files, path)
  const { size } = await stat(path)
  transfer.say(`Uploading ${type} (${files.length} files, ${size} bytes)`)
  const name = transfer.variables.expand(artifacts.name || 'artifacts').replaceAll(/[/\\]/g, '_')
  const ending = { zip: '.zip', gzip: '.gz' }[format] ?? ''
  const query = {
    artifact_type: type,
    artifact_format: format,
    ...(expire_in ? { expire_in } : {}),
  }
  const isKept = await transfer.server.upload(
    transfer.job,
    { path, name: `${name}${ending}` },
    query,
  )
  if (!isKept) transfer.say(`ERROR: the server does not take ${type}`)
  return isKept
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
