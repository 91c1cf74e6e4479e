import type { Project } from '../../../access/subjects.ts'
import { findProjectWithRole } from '../../../access/subjects.ts'
import type { Ctx } from '../../../ctx.ts'
import type { ChangedMilestone } from '../../../planning/effects.ts'
import type { MilestoneRow } from '../../../planning/milestones/entity.ts'
import { findNewestMilestone } from '../../../planning/milestones/queries.ts'
import { fireHooks, type HookPayload } from '../fire.ts'
import { findHookGroup, hookProject } from './payload-parts.ts'

/** Notifies the hooks of a milestone, in the caller's transaction (docs/contract/D §1.25). */
export async function fireMilestoneHooks(
  ctx: Ctx,
  { place, row, action }: ChangedMilestone,
): Promise<void> {
  const where = { id: place.projectId ?? null, namespace_id: place.namespaceId }
  await fireHooks(ctx, where, 'milestone', async () => ({
    ...(await ownerPart(ctx, row)),
    ...milestonePart(row, action),
  }))
}

async function ownerPart(ctx: Ctx, row: MilestoneRow): Promise<HookPayload> {
  if (row.project_id === null) return { group: await findHookGroup(ctx, row.group_id ?? 0) }
  const project = await findProjectWithRole(ctx, row.project_id)
  return { project: project ? hookProject(ctx, project) : null }
}

function milestonePart(row: MilestoneRow, action: ChangedMilestone['action']): HookPayload {
  return {
    object_kind: 'milestone',
    event_type: 'milestone',
    object_attributes: {
      id: row.id,
      iid: row.iid,
      title: row.title,
      description: row.description,
      state: row.state,
      created_at: row.created_at,
      updated_at: row.updated_at,
      due_date: row.due_date,
      start_date: row.start_date,
      project_id: row.project_id,
      group_id: row.group_id,
    },
    action,
  }
}

/** The newest milestone as a payload, for trying a hook out. */
export async function newestMilestonePayload(
  ctx: Ctx,
  project: Project,
): Promise<HookPayload | undefined> {
  const row = await findNewestMilestone(ctx.db, project.id)
  return row && { project: hookProject(ctx, project), ...milestonePart(row, 'create') }
}
