import { z } from 'zod'
import { postponeWhileHeld } from '../../background/postponed.ts'
import { task } from '../../background/task.ts'
import type { Ctx } from '../../ctx.ts'
import { maintainRepository } from '../../git/maintenance/maintenance.ts'
import { giveUpImport } from './create/import-state.ts'
import { measureSize, refreshContent, refreshFacts } from './facts/measure.ts'
import { pointHead } from './pushed.ts'
import { isHidden, updateProjectRow } from './queries.ts'
import { eraseProject } from './removal/empty-project.ts'

const projectOnly = z.object({ project_id: z.int() })

/** Removes what is left of a project that was deleted, or that a crash kept from being shown. */
export const removeProject = task({
  name: 'projects.remove',
  payload: projectOnly,
  lane: 'slow',
  async handler(ctx: Ctx, { project_id: id }, signal) {
    // Without a row nothing says whose the repository of this id is.
    if (await isHidden(ctx.db, id)) await eraseProject(ctx, id, signal)
  },
})

/** Makes HEAD follow a new default branch, should the server not live to do so at once. */
export const pointHeadTask = task({
  name: 'projects.point_head',
  payload: projectOnly,
  async handler(ctx: Ctx, { project_id: id }) {
    if (await ctx.git.exists(id)) await pointHead(ctx, id)
  },
})

/** Measures a new fork, and marks it as ready. */
export const finishFork = task({
  name: 'projects.finish_fork',
  payload: projectOnly,
  async handler(ctx: Ctx, { project_id: id }) {
    await refreshFacts(ctx, id)
    await updateProjectRow(ctx.db, id, { import_status: 'finished' })
  },
  givenUp: (ctx, { project_id: id }, reason) => giveUpImport(ctx, id, reason),
})

/** Brings languages, readme and the like up to date after a push. */
export const measureProject = task({
  name: 'projects.measure',
  payload: projectOnly,
  attempts: 3,
  handler: (ctx: Ctx, { project_id: id }) => refreshContent(ctx, id),
})

/** Measures the repository, once pushes have come to rest for a moment. */
export const measureProjectSize = task({
  name: 'projects.measure_size',
  payload: projectOnly,
  attempts: 3,
  handler: (ctx: Ctx, { project_id: id }) => measureSize(ctx, id),
})

/** Packs a repository anew; `prune` also drops what nothing has reached for a while. */
export const tidyRepository = task({
  name: 'projects.tidy',
  payload: z.object({ project_id: z.int(), how: z.enum(['eager', 'prune']) }),
  lane: 'slow',
  attempts: 2,
  async handler(ctx: Ctx, { project_id: id }, signal) {
    if (!(await ctx.git.exists(id))) return
    postponeWhileHeld(ctx.git.deletions)
    await maintainRepository(ctx.git.open(id), { full: true, now: ctx.now(), signal })
    await refreshFacts(ctx, id)
  },
})
