import { audit } from '../../access/audit.ts'
import type { Ctx } from '../../ctx.ts'
import { recordEvent } from '../../notifications/events/record.ts'
import { tellOfProject } from '../../notifications/hooks/system-events.ts'

type Details = Readonly<Record<string, string | number | boolean | null>>

/** Puts what was done to a project on the audit trail. */
export async function auditProject(
  ctx: Ctx,
  id: number,
  action: string,
  details: Details = {},
): Promise<void> {
  await audit(ctx, { entity: { type: 'Project', id }, action, details })
}

/** Puts the making of a project on the audit trail and into its feed. */
export async function recordProject(
  ctx: Ctx,
  id: number,
  action: 'created',
  authorId: number | undefined,
): Promise<void> {
  await auditProject(ctx, id, 'project_created')
  await tellOfProject(ctx, id, 'project_create')
  await recordEvent(ctx, { projectId: id, action, authorId })
}
