import { mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { actAs } from '../../access/act-as.ts'
import { levelsUpTo, type Visibility } from '../../access/roles.ts'
import { type Project, withProjectRole } from '../../access/subjects.ts'
import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { GitError } from '../../git/error.ts'
import { fetchWhole } from '../../git/transfer/fetch-whole.ts'
import { withinInstance } from '../../projects/namespaces/artifact-limit.ts'
import { visibilityFaults } from '../../projects/projects/create/create-project.ts'
import { readRow, saveImportState } from '../../projects/projects/create/import-state.ts'
import { knownSettings } from '../../projects/projects/settings.ts'
import { updateProject } from '../../projects/projects/update-project.ts'
import { fillWiki } from '../../publishing/wikis/fill-wiki.ts'
import { fillRepository } from '../../repositories/imports/fill-repository.ts'
import { storeLfsObject } from '../../repositories/lfs/objects.ts'
import { assertFits } from '../../repositories/size-limit/fetch.ts'
import { findRoom, findSideRoom } from '../../repositories/size-limit/limit.ts'
import {
  BUNDLE_FILE,
  GROUP_FILE,
  type GroupRecord,
  groupRecord,
  LFS_FOLDER,
  PROJECT_FILE,
  type ProjectRecord,
  projectRecord,
  WIKI_FILE,
} from './archive-form.ts'
import { leftOutNames, saveImportLeftOut } from './queries.ts'
import { withScratch } from './scratch.ts'
import { takePlanning } from './take-planning.ts'
import { readArchive } from './tar.ts'

/** An archive may unpack to this much, where pushes have no limit. */
const LARGEST = 10 * 1024 ** 3

function parsed<T>(
  text: string | undefined,
  schema: { safeParse(value: unknown): { success: boolean; data?: T | undefined } },
): T {
  try {
    const read = schema.safeParse(JSON.parse(text ?? ''))
    if (read.success && read.data !== undefined) return read.data
  } catch {
    // Said below: the file is not what it should be.
  }
  throw new GitError('invalid', 'the archive is not an export of this program')
}

/** Fills a project that was made for it from an archive, and gives how visible the archived one was. */
export async function readProjectArchive(
  ctx: Ctx,
  projectId: number,
  path: string,
  signal: AbortSignal,
): Promise<Visibility> {
  return await withScratch(ctx, async (folder) => {
    try {
      return await takeArchive(ctx, projectId, { path, folder }, signal)
    } catch (error) {
      if (!(error instanceof GitError)) throw error
      // Whoever imports sees what is wrong with a file, and not where the server keeps it.
      throw new GitError(error.code, error.message.replaceAll(`${folder}/`, ''), error.detail)
    }
  })
}

async function takeArchive(
  ctx: Ctx,
  projectId: number,
  { path, folder }: { readonly path: string; readonly folder: string },
  signal: AbortSignal,
): Promise<Visibility> {
  const take = largeFiles(ctx, projectId)
  const files = [BUNDLE_FILE, WIKI_FILE]
  const wanted = { texts: [PROJECT_FILE], files, take }
  const parts = await readArchive(path, wanted, folder, ctx.config.maxPush || LARGEST)
  const record = parsed(parts.get(PROJECT_FILE), projectRecord)
  await takeRecord(ctx, projectId, record)
  await noteLeftOut(ctx, projectId, record)
  const wiki = parts.get(WIKI_FILE)
  if (wiki !== undefined) await takeWiki(ctx, projectId, { bundle: wiki, folder }, signal)
  const bundle = parts.get(BUNDLE_FILE)
  if (bundle === undefined) return record.visibility
  assertFits(await roomOf(ctx, projectId), (await stat(bundle)).size)
  const scratch = join(folder, 'fetch')
  await mkdir(scratch, { mode: 0o700 })
  const objectFormat = record.settings.repository_object_format === 'sha256' ? 'sha256' : 'sha1'
  const head = { objectFormat, branch: record.default_branch ?? undefined } as const
  const fetched = await fetchWhole(bundle, head, { scratch, signal })
  await fillRepository(ctx, projectId, fetched, head.branch)
  return record.visibility
}

async function roomOf(ctx: Ctx, projectId: number) {
  const project = await withProjectRole(ctx, await readRow(ctx, projectId))
  return await findRoom(ctx, project, { now: true })
}

/** Large files go into the store as they come: only bytes that are what their name says. */
function largeFiles(ctx: Ctx, projectId: number) {
  const form = new RegExp(`^${LFS_FOLDER}/([0-9a-f]{64})$`)
  const { maxLfsObject } = ctx.config
  return {
    mostBytes: LARGEST,
    isWanted: (name: string) => form.test(name),
    async keep(name: string, size: number, bytes: AsyncIterable<Uint8Array>): Promise<void> {
      if (maxLfsObject > 0 && size > maxLfsObject) {
        throw new GitError('too_large', `a large file has more than ${maxLfsObject} bytes`)
      }
      assertFits(await roomOf(ctx, projectId), size)
      const oid = form.exec(name)?.[1] ?? ''
      await storeLfsObject(ctx, { id: projectId }, { oid, size }, bytes)
    },
  }
}

/** What the archive does not hold is listed with the import; older programs said nothing of it. */
async function noteLeftOut(ctx: Ctx, projectId: number, record: ProjectRecord): Promise<void> {
  const unsaid = [...leftOutNames, 'lfs_objects'].map((name) => ({
    relation_name: name,
    count: null,
  }))
  await saveImportLeftOut(ctx.db, {
    project_id: projectId,
    relations: JSON.stringify(record.left_out ?? unsaid),
    created_at: ctx.now(),
  })
}

async function takeWiki(
  ctx: Ctx,
  projectId: number,
  at: { readonly bundle: string; readonly folder: string },
  signal: AbortSignal,
): Promise<void> {
  const room = await findSideRoom(ctx, { kind: 'project_wiki', id: projectId })
  assertFits(room, (await stat(at.bundle)).size)
  const scratch = join(at.folder, 'fetch-wiki')
  await mkdir(scratch, { mode: 0o700 })
  const head = { objectFormat: 'sha1', branch: undefined } as const
  await fillWiki(ctx, projectId, await fetchWhole(at.bundle, head, { scratch, signal }))
}

async function takeRecord(ctx: Ctx, projectId: number, record: ProjectRecord): Promise<void> {
  const row = await readRow(ctx, projectId)
  const project = await withProjectRole(ctx, row)
  const settings = withinInstance(ctx, knownSettings(record.settings))
  // Which runners it may use is said by where it is now.
  if (settings.shared_runners_enabled === true) delete settings.shared_runners_enabled
  await updateProject(ctx, project, {
    description: project.description ?? record.description,
    topics: record.topics,
    settings,
  })
  const place = { projectId, namespaceId: row.namespace_id }
  await takePlanning(ctx, place, record, unlessThere)
}

/**
 * Shows a project that was private while it was filled: no more visible than its place, the instance and the rights of
 * whoever imports allow.
 */
export async function showImported(ctx: Ctx, projectId: number, wanted: Visibility): Promise<void> {
  const project = await withProjectRole(ctx, await readRow(ctx, projectId))
  await updateProject(ctx, project, { visibility: await lowered(ctx, project, wanted) })
}

async function lowered(given: Ctx, project: Project, wanted: Visibility): Promise<Visibility> {
  const ctx = await actAs(given, project.creator_id)
  // Nobody's rights are left where the one who imports is gone.
  if (ctx.actor.kind !== 'user') return project.visibility
  const place = { kind: project.namespace_kind, visibility: project.namespace_visibility }
  const allowed = levelsUpTo(wanted).find(
    (level) => visibilityFaults(ctx, level, place).length === 0,
  )
  return allowed ?? project.visibility
}

/** A second run finds what the first one made. */
async function unlessThere(act: () => Promise<unknown>): Promise<void> {
  try {
    await act()
  } catch (error) {
    if (!(error instanceof Problem)) throw error
  }
}

/** What an archive says of a group. */
export async function readGroupArchive(ctx: Ctx, path: string): Promise<GroupRecord> {
  return await withScratch(ctx, async (folder) => {
    const wanted = { texts: [GROUP_FILE], files: [] }
    const parts = await readArchive(path, wanted, folder, ctx.config.maxPush || LARGEST)
    return parsed(parts.get(GROUP_FILE), groupRecord)
  })
}

/** Notes that an import failed; what was wrong with the file is shown, a fault of ours is tried again. */
export async function noteFault(ctx: Ctx, projectId: number, error: unknown): Promise<void> {
  if (!(error instanceof GitError) && !(error instanceof Problem)) throw error
  await saveImportState(ctx, projectId, 'failed', error.message.slice(0, 1000))
}
