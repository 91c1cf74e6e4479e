import { z } from 'zod'
import { task } from '../../background/task.ts'
import { later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import {
  giveUpImport,
  readRow,
  saveImportState,
} from '../../projects/projects/create/import-state.ts'
import { findReferenced } from '../../store/file-references.ts'
import { inTransaction } from '../../store/transaction.ts'
import { fillGroup, noteFailedGroups } from './fill-group.ts'
import { deleteExport, listExportsBefore, noteFailedExport } from './queries.ts'
import { noteFault, readProjectArchive, showImported } from './read-import.ts'
import { archiveTarget, downloadArchive, sendArchive } from './remote-archive.ts'
import { replacedPlace, takePlace } from './replace.ts'
import { writeExport } from './write-export.ts'

/** Builds an archive, and sends it where it was asked to go. */
export const exportSource = task({
  name: 'exports.write',
  payload: z.object({
    source_type: z.enum(['group', 'project']),
    source_id: z.int(),
    target: archiveTarget.optional(),
  }),
  lane: 'slow',
  attempts: 3,
  async handler(ctx: Ctx, { source_type: type, source_id: id, target }, signal) {
    const file = await writeExport(ctx, { type, id }, signal)
    if (target) await sendArchive(ctx, file, target, signal)
  },
  givenUp: (ctx, { source_type: type, source_id: id }) => noteFailedExport(ctx.db, { type, id }),
})

const filling = {
  project_id: z.int(),
  replaces: replacedPlace.optional(),
  /** How visible the project is to be, where whoever imports said it. */
  visibility: z.enum(['private', 'internal', 'public']).optional(),
}

/** Fills a new project from an archive that was uploaded. */
export const importProject = task({
  name: 'exports.read',
  payload: z.object({ ...filling, file: z.string() }),
  lane: 'slow',
  attempts: 3,
  handler: (ctx: Ctx, { file, ...what }, signal) => fill(ctx, what, async () => file, signal),
  givenUp: (ctx, { project_id: id }, reason) => giveUpImport(ctx, id, reason),
})

/** Fills a new project from an archive that another server has. */
export const importRemote = task({
  name: 'exports.read_remote',
  payload: z.object({ ...filling, sealed_url: z.string() }),
  lane: 'slow',
  attempts: 3,
  handler: (ctx: Ctx, { sealed_url: sealed, ...what }, signal) =>
    fill(ctx, what, () => downloadArchive(ctx, sealed, signal), signal),
  givenUp: (ctx, { project_id: id }, reason) => giveUpImport(ctx, id, reason),
})

/** Makes the groups of an uploaded archive below the first, which is made when it is uploaded. */
export const importGroupsBelow = task({
  name: 'exports.read_groups',
  payload: z.object({ group_id: z.int(), user_id: z.int(), file: z.string() }),
  lane: 'slow',
  attempts: 3,
  handler: (ctx: Ctx, { group_id: groupId, user_id: userId, file }, signal) =>
    fillGroup(ctx, { groupId, userId, file }, signal),
  givenUp: (ctx, { group_id: id }, reason) => noteFailedGroups(ctx, id, reason),
})

async function fill(
  ctx: Ctx,
  { project_id: projectId, replaces, visibility }: z.infer<z.ZodObject<typeof filling>>,
  getFile: () => Promise<string>,
  signal: AbortSignal,
): Promise<void> {
  const row = await readRow(ctx, projectId).catch(() => undefined)
  if (!row || row.import_status === 'finished') return
  await saveImportState(ctx, projectId, 'started', null)
  try {
    const path = ctx.files.pathOf(await getFile())
    const archived = await readProjectArchive(ctx, projectId, path, signal)
    await inTransaction(ctx, async (ctx) => {
      if (replaces) await takePlace(ctx, projectId, replaces)
      await showImported(ctx, projectId, visibility ?? archived)
      await saveImportState(ctx, projectId, 'finished', null)
    })
  } catch (error) {
    await noteFault(ctx, projectId, error)
  }
}

const KEEP_MS = 24 * 3_600_000

/** Every day: forgets archives that were there to be downloaded for a day. */
export const removeOldExports = task({
  name: 'exports.remove_old',
  payload: z.object({}),
  async handler(ctx: Ctx) {
    const before = later(ctx.now(), -KEEP_MS)
    const files: string[] = []
    for (const row of await listExportsBefore(ctx.db, before)) {
      await deleteExport(ctx.db, { type: row.source_type, id: row.source_id }, before)
      if (row.file !== null) files.push(row.file)
    }
    // Whoever kept the archive as a package or an upload has the same file.
    const referenced = await findReferenced(ctx.db, files)
    for (const file of files.filter((file) => !referenced.has(file))) {
      await ctx.files.deleteOlder(file, before)
    }
  },
})
