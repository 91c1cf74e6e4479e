import { z } from 'zod'
import { task } from '../../background/task.ts'
import { type Instant, later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import type { ProjectChange } from '../../projects/effects.ts'
import { type ImageCleanup, imageCleanupOf } from '../../projects/projects/image-cleanup.ts'
import { inTransaction } from '../../store/transaction.ts'
import { ruledTags } from '../image-protection/conditions.ts'
import { findRepositoryById, listTagAges, type TagAge } from '../images/removal-queries.ts'
import { noteCleanup, removeTags } from '../images/remove-tags.ts'
import { listDueRuns, listRepositoryIds, postponeRun, syncRuns } from './queries.ts'
import { type TagSelection, tagSelector } from './select-tags.ts'

const DAY_MS = 86_400_000
/** Tags that are looked at together. */
const AT_ONCE = 1000
const cadences: Readonly<Record<ImageCleanup['cadence'], number>> = {
  '1d': DAY_MS,
  '7d': 7 * DAY_MS,
  '14d': 14 * DAY_MS,
  '1month': 30 * DAY_MS,
  '3month': 90 * DAY_MS,
}

/** Settings of a project, written by us as a JSON object. */
function policyOf(settings: string): ImageCleanup {
  return imageCleanupOf(JSON.parse(settings) as Record<string, unknown>)
}

function nextRun(now: Instant, policy: ImageCleanup): Instant {
  return later(now, cadences[policy.cadence])
}

/** A policy has its next date as soon as it is turned on. */
export async function dateImageCleanup(ctx: Ctx, { id, change }: ProjectChange): Promise<void> {
  if (change === 'create' || change === 'update') await syncDates(ctx, id)
}

function syncDates(ctx: Ctx, projectId?: number): Promise<void> {
  const now = ctx.now()
  return syncRuns(ctx.db, now, (settings) => nextRun(now, policyOf(settings)), projectId)
}

/** Carries out the cleanup policies for images whose time has come; one that was just turned on waits for its cadence. */
export const cleanUpImages = task({
  name: 'packages.clean_up_images',
  payload: z.object({}),
  lane: 'slow',
  async handler(ctx: Ctx, _payload, signal) {
    const now = ctx.now()
    await inTransaction(ctx, (ctx) => syncDates(ctx))
    for (;;) {
      const due = await listDueRuns(ctx.db, now)
      if (due.length === 0) return
      for (const { id, settings } of due) {
        const policy = policyOf(settings)
        for (const repositoryId of await listRepositoryIds(ctx.db, id)) {
          await noteCleanup(ctx, repositoryId)
          await deleteSelected(ctx, id, repositoryId, policy, signal)
        }
        await postponeRun(ctx.db, id, { due: now, next: nextRun(now, policy) })
      }
    }
  },
})

/** Deletes the tags of a repository that somebody described. */
export const deleteTagsByPattern = task({
  name: 'packages.delete_image_tags',
  payload: z.object({
    repositoryId: z.int(),
    name_regex: z.string(),
    name_regex_keep: z.string().nullable(),
    keep_n: z.int().nullable(),
    older_than: z.string().nullable(),
  }),
  lane: 'slow',
  async handler(ctx: Ctx, { repositoryId, ...selection }, signal) {
    const row = await findRepositoryById(ctx.db, repositoryId)
    if (row && row.status === null) {
      await deleteSelected(ctx, row.project_id, repositoryId, selection, signal)
    }
  },
})

async function deleteSelected(
  ctx: Ctx,
  projectId: number,
  repositoryId: number,
  selection: TagSelection,
  signal: AbortSignal,
): Promise<void> {
  const pushedBy = ctx.now()
  const selectAmong = tagSelector(selection, pushedBy)
  const ruledAmong = await ruledTags(ctx, projectId)
  let after: TagAge | undefined
  for (;;) {
    const tags = await listTagAges(ctx.db, repositoryId, { pushedBy, after, most: AT_ONCE })
    const names = (await selectAmong(tags)).map((tag) => tag.name)
    const ruled = new Set(await ruledAmong?.(names))
    const free = names.filter((name) => !ruled.has(name))
    await removeTags(ctx, repositoryId, free, { signal, pushedBy })
    if (tags.length < AT_ONCE) return
    after = tags.at(-1)
    signal.throwIfAborted()
  }
}
