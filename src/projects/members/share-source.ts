import { findGroupById } from '../../access/find-queries.ts'
import { MEMBER_LEVELS } from '../../access/roles.ts'
import type { Source } from '../../access/sources.ts'
import { getVisibleGroup, getVisibleProject } from '../../access/subjects.ts'
import { type Day, dayOf } from '../../base/clock.ts'
import { badRequest, conflict, forbidden, invalid, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { uniquely } from '../../store/unique.ts'
import {
  deleteEndedLink,
  deleteLink,
  findTopGroup,
  insertLink,
  isAtOrAbove,
  isSharingLocked,
} from './link-queries.ts'
import { recordShare } from './record.ts'
import { assertExpiry } from './rules.ts'

/** An invitation of a group. */
export interface Share {
  readonly group_id: number
  readonly group_access: number
  readonly expires_at?: Day | null | undefined
  readonly member_role_id?: number | null | undefined
}

/**
 * Shares a project or group with a group that the caller sees; gives the link's id. 404 for an unknown group, 409 when
 * it is shared already (docs/contract/D §1.2, §1.3).
 */
export async function shareSource(ctx: Ctx, source: Source, share: Share): Promise<number> {
  const levels: readonly number[] = MEMBER_LEVELS
  if (!levels.includes(share.group_access)) {
    throw invalid({ group_access: ['is not included in the list'] })
  }
  assertExpiry(ctx, share.expires_at)
  return await uniquely(
    {
      'group_links.source_type, group_links.source_id, group_links.group_id': () =>
        conflict('Already shared with this group'),
    },
    () =>
      inTransaction(ctx, async (ctx) => {
        // Read inside: either may have been moved, hidden or locked a moment ago.
        const invited = await getVisibleGroup(ctx, String(share.group_id))
        await assertShareable(ctx, source, invited.id)
        await deleteEndedLink(ctx.db, source, invited.id, dayOf(ctx.now()))
        await recordShare(ctx, source, 'shared_with_group', invited.id)
        return await insertLink(ctx.db, {
          source_type: source.type,
          source_id: source.id,
          group_id: invited.id,
          access_level: share.group_access,
          expires_at: share.expires_at ?? null,
          member_role_id: share.member_role_id ?? null,
          created_at: ctx.now(),
        })
      }),
  )
}

async function assertShareable(ctx: Ctx, source: Source, invitedId: number): Promise<void> {
  if (source.type === 'group') return await assertWithinHierarchy(ctx, source.id, invitedId)
  const { namespace_id: namespaceId } = await getVisibleProject(ctx, String(source.id))
  if (await isSharingLocked(ctx.db, namespaceId)) {
    throw badRequest('The project sharing with group is disabled')
  }
  if (await isAtOrAbove(ctx.db, invitedId, namespaceId)) {
    const text = 'Project cannot be shared with the group it is in or one of its ancestors.'
    throw invalid({ base: [text] })
  }
  await assertWithinHierarchy(ctx, namespaceId, invitedId)
}

/** The top group may keep sharing inside its own hierarchy. */
async function assertWithinHierarchy(
  ctx: Ctx,
  namespaceId: number,
  invitedId: number,
): Promise<void> {
  const topId = await findTopGroup(ctx.db, namespaceId)
  const top = await findGroupById(ctx.db, topId)
  if (!top || !keepsInside(top.settings)) return
  if ((await findTopGroup(ctx.db, invitedId)) !== topId) {
    throw forbidden('Sharing with groups outside of the hierarchy is not allowed')
  }
}

function keepsInside(settings: string): boolean {
  const values = JSON.parse(settings) as Record<string, unknown> // written by us as a JSON object
  return values.prevent_sharing_groups_outside_hierarchy === true
}

/** Ends sharing with a group; 404 when it is not shared. */
export async function unshareSource(ctx: Ctx, source: Source, groupId: number): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    if (!(await deleteLink(ctx.db, source, groupId))) throw notFound()
    await recordShare(ctx, source, 'unshared_with_group', groupId)
  })
}
