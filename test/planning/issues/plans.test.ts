import { expect, test } from 'vitest'
import type { Viewer } from '../../../src/access/visible-queries.ts'
import { listIssueRows } from '../../../src/planning/issues/list/queries.ts'
import { fillPositions } from '../../../src/planning/issues/position-queries.ts'
import { plansOf } from '../../support/plans.ts'
import { useWorld } from '../../support/world.ts'

const world = useWorld()

const admin = { userId: 1, admin: true, external: false, today: '2026-05-04' } as const
const member = { ...admin, userId: 2, admin: false }
const page = { kind: 'offset', number: 3, perPage: 20, offset: 40 } as const
const project = { kind: 'project', projectId: 1 } as const
type Scope = Parameters<typeof listIssueRows>[2]
type Query = Parameters<typeof listIssueRows>[3]

async function planOf(viewer: Viewer, scope: Scope, query: Query): Promise<string> {
  const plans = await plansOf(world.ctx.db, (db) => listIssueRows(db, viewer, scope, query, page))
  return plans.join('\n')
}

test.each<[string, Query]>([
  ['issues_by_age (project_id=?)', {}],
  ['issues_by_created (project_id=? AND state=?)', { state: 'opened' }],
  ['issues_by_updated (project_id=?)', { order_by: 'updated_at' }],
])('issues of a project are listed and counted in %s alone', async (index, query) => {
  expect(await planOf(member, project, query)).toContain(
    `SEARCH issues USING COVERING INDEX ${index}`,
  )
  expect(await planOf(admin, project, query)).not.toContain('ORDER BY')
})

test.each<[string, Query]>([
  ['issues_of_all', { state: 'opened' }],
  ['issues_of_all_by_change', { state: 'opened', order_by: 'updated_at' }],
])('issues of the whole instance are listed in the order of %s', async (index, query) => {
  expect(await planOf(member, { kind: 'all' }, query)).toContain(`SCAN issues USING INDEX ${index}`)
})

test.each<[string, Query]>([
  ['label_links_by_label', { labels: ['bug'] }],
  ['assignees_by_user', { assignee_id: 3 }],
  ['issues_by_milestone', { milestone: '1.0' }],
])('issues are filtered by what %s finds', async (index, query) => {
  expect(await planOf(member, project, query)).toContain(index)
})

test('issues without a place are found without those that have one', async () => {
  const plan = (await plansOf(world.ctx.db, (db) => fillPositions(db, 1, 1024))).join('\n')
  expect(plan).toContain('issues_without_position (project_id=?)')
  expect(plan).toContain('issues_by_position (project_id=? AND relative_position>?)')
})
