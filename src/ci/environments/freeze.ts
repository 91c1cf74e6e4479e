import type { Ctx } from '../../ctx.ts'
import { cachedQuery } from '../../store/cached-query.ts'
import { isBetween } from '../config/cron.ts'
import { selectFreezes } from './freeze-queries.ts'

/** Whether deployments of a project are frozen now: jobs see `CI_DEPLOY_FREEZE`, and may keep still. */
export async function isFrozen(ctx: Pick<Ctx, 'db' | 'now'>, projectId: number): Promise<boolean> {
  const rows = await cachedQuery(ctx.db, `freeze periods of ${projectId}`, (db) =>
    selectFreezes(db, projectId).execute(),
  )
  return rows.some((row) =>
    isBetween(ctx.now(), {
      start: row.freeze_start,
      end: row.freeze_end,
      timezone: row.cron_timezone,
    }),
  )
}
