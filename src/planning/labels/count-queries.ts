import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { Role } from '../../access/roles.ts'
import { seesIssue } from '../../access/visible-issues.ts'
import { seesFeature, type Viewer } from '../../access/visible-queries.ts'
import { namespacesBelow } from '../../store/hierarchy.ts'
import type { Db } from '../../store/schema.ts'
import type { Place } from '../place.ts'
import type { LabelCounts } from './entity.ts'

/** Projects that counts of a place look at: itself, or those of the group and below it. */
function isInPlace(place: Place): RawBuilder<SqlBool> {
  if (place.projectId !== undefined) return sql<SqlBool>`projects.id = ${place.projectId}`
  return sql<SqlBool>`projects.namespace_id IN ${namespacesBelow(place.namespaceId)}`
}

/** What hangs on labels, as far as the viewer sees it (`with_counts`). */
export async function countsByLabel(
  db: Db,
  viewer: Viewer,
  place: Place,
  labelIds: readonly number[],
): Promise<ReadonlyMap<number, LabelCounts>> {
  if (labelIds.length === 0) return new Map()
  const issues = await db
    .selectFrom('label_links')
    .innerJoin('issues', 'issues.id', 'label_links.subject_id')
    .innerJoin('projects', 'projects.id', 'issues.project_id')
    .select(['label_links.label_id', 'issues.state'])
    .select((is) => is.fn.countAll<number>().as('count'))
    .where('label_links.subject_type', '=', 'issue')
    .where('label_links.label_id', 'in', labelIds)
    .where(isInPlace(place))
    .where(seesIssue(viewer))
    .groupBy(['label_links.label_id', 'issues.state'])
    .execute()
  const requests = await db
    .selectFrom('label_links')
    .innerJoin('merge_requests', 'merge_requests.id', 'label_links.subject_id')
    .innerJoin('projects', 'projects.id', 'merge_requests.target_project_id')
    .select('label_links.label_id')
    .select((is) => is.fn.countAll<number>().as('count'))
    .where('label_links.subject_type', '=', 'merge_request')
    .where('label_links.label_id', 'in', labelIds)
    .where('merge_requests.state', '=', 'opened')
    .where(isInPlace(place))
    .where(seesFeature(viewer, 'merge_requests', Role.planner))
    .groupBy('label_links.label_id')
    .execute()
  const countOf = (id: number, state: string) =>
    issues.find((row) => row.label_id === id && row.state === state)?.count ?? 0
  return new Map(
    labelIds.map((id) => [
      id,
      {
        open_issues_count: countOf(id, 'opened'),
        closed_issues_count: countOf(id, 'closed'),
        open_merge_requests_count: requests.find((row) => row.label_id === id)?.count ?? 0,
      },
    ]),
  )
}
