import { z } from 'zod'
import type { Project } from '../../../access/subjects.ts'
import { findProjectWithRole } from '../../../access/subjects.ts'
import { task } from '../../../background/task.ts'
import { dayOf, later } from '../../../base/clock.ts'
import type { Ctx } from '../../../ctx.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { fireHooks, type HookPayload } from '../fire.ts'
import { findHookGroup, hookProject } from './payload-parts.ts'
import { findNewestToken, listExpiringOn } from './token-queries.ts'

/** How long before a token expires the hooks of its project or group are notified. */
const aheadMs = 7 * 86_400_000

/** Every day: notifies hooks of the tokens of projects and groups that will end in a week (docs/contract/D §1.25). */
export const notifyOfExpiringTokens = task({
  name: 'access_tokens.tell_expiring',
  payload: z.object({}),
  async handler(ctx: Ctx) {
    const rows = await listExpiringOn(ctx.db, dayOf(later(ctx.now(), aheadMs)))
    await inTransaction(ctx, async (ctx) => {
      for (const row of rows) await notify(ctx, row)
    })
  },
})

type TokenRow = Awaited<ReturnType<typeof listExpiringOn>>[number]

async function notify(ctx: Ctx, row: TokenRow): Promise<void> {
  const sourceId = row.source_id ?? 0
  const project =
    row.source_type === 'project' ? await findProjectWithRole(ctx, sourceId) : undefined
  if (row.source_type === 'project' && !project) return
  const place = project ?? { id: null, namespace_id: sourceId }
  await fireHooks(ctx, place, 'access_token', async () => ({
    ...(project
      ? { project: hookProject(ctx, project) }
      : { group: await findHookGroup(ctx, sourceId) }),
    ...tokenPart(row),
  }))
}

function tokenPart({ id, user_id, name, created_at, expires_at }: TokenRow): HookPayload {
  return {
    object_kind: 'access_token',
    event_name: 'expiring_access_token',
    object_attributes: { id, user_id, name, created_at, expires_at },
  }
}

/** The newest token of a project as a payload, for trying a hook out. */
export async function newestTokenPayload(
  ctx: Ctx,
  project: Project,
): Promise<HookPayload | undefined> {
  const row = await findNewestToken(ctx.db, project.id)
  return row && { project: hookProject(ctx, project), ...tokenPart(row) }
}
