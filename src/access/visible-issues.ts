import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Ctx } from '../ctx.ts'
import { isAdmin, userOf } from './actor.ts'
import { Role } from './roles.ts'
import type { Project } from './subjects.ts'
import { countsIn, hasProjectRole, levelOf, seesProject, type Viewer } from './visible-queries.ts'

/**
 * Whether the viewer sees the row of `issues` (joined with its `projects`) that a query is at: issues are on for them,
 * and a confidential one is their own, assigned to them, or in a project where they are Planner or above.
 */
export function seesIssue(viewer: Viewer): RawBuilder<SqlBool> {
  const level = levelOf('issues')
  if (viewer.admin) return sql<SqlBool>`${level} <> 'disabled'`
  if (viewer.userId === null) {
    return sql<SqlBool>`(${seesProject(viewer)} AND ${level} NOT IN ('disabled', 'private') AND issues.confidential = 0)`
  }
  const { userId, today } = viewer
  const counts = countsIn(viewer)
  return sql<SqlBool>`(${seesProject(viewer)}
    AND (${level} NOT IN ('disabled', 'private')
      OR (${level} = 'private' AND ${counts} AND ${hasProjectRole(userId, today)}))
    AND (issues.confidential = 0 OR (${counts} AND (issues.author_id = ${userId}
      OR EXISTS (SELECT 1 FROM assignees a WHERE a.subject_type = 'issue' AND a.subject_id = issues.id
        AND a.user_id = ${userId})
      OR ${hasProjectRole(userId, today, Role.planner)}))))`
}

/** The same for one issue of a project that the caller may read issues of. */
export function maySeeIssue(
  ctx: Ctx,
  project: Project,
  issue: { readonly confidential: 0 | 1; readonly author_id: number | null },
  assigneeIds: readonly number[],
): boolean {
  if (issue.confidential === 0 || isAdmin(ctx.actor) || project.role >= Role.planner) return true
  if (ctx.actor.kind === 'job' && project.role === Role.none) return false
  const user = userOf(ctx.actor)
  return user !== null && (issue.author_id === user.id || assigneeIds.includes(user.id))
}
