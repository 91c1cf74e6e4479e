import type { Ctx } from '../../ctx.ts'
import { findPushedRow, savePushed } from './pushed-queries.ts'

/** A project as a push meets it, read inside the push's own transaction. */
export interface PushedProject {
  readonly id: number
  readonly namespaceId: number
  readonly empty: boolean
  readonly defaultBranch: string | null
}

/** The project that refs moved in, or undefined when it is gone. */
export async function findPushedProject(
  ctx: Ctx,
  projectId: number,
): Promise<PushedProject | undefined> {
  const row = await findPushedRow(ctx.db, projectId)
  if (!row) return undefined
  return {
    id: row.id,
    namespaceId: row.namespace_id,
    empty: row.empty_repo === 1,
    defaultBranch: row.default_branch,
  }
}

/** Notes that refs moved: activity, and what the first push decides. */
export async function recordPushed(ctx: Ctx, project: PushedProject): Promise<void> {
  const { id, empty, defaultBranch } = project
  await savePushed(ctx.db, id, { at: ctx.now(), empty, defaultBranch })
}
