import { expect, test } from 'vitest'
import { listProjectRows } from '../../../src/projects/projects/list/queries.ts'
import { listAccess } from '../../../src/projects/projects/queries.ts'
import { createGroup, createProject } from '../../support/create.ts'
import { plansOf } from '../../support/plans.ts'
import { useWorld } from '../../support/world.ts'

const world = useWorld()

const viewer = { userId: 1, admin: false, external: false, today: '2026-05-04' } as const

test('projects are counted by the indexes of the ways to see them', async () => {
  const page = { kind: 'offset', number: 1, perPage: 20, offset: 0 } as const
  const plans = await plansOf(world.ctx.db, (db) =>
    listProjectRows(db, viewer, { kind: 'all' }, {}, page),
  )
  // With nothing to show nothing is counted: a second page asks for both.
  const second = { ...page, number: 2, offset: 20 }
  const more = await plansOf(world.ctx.db, (db) =>
    listProjectRows(db, viewer, { kind: 'all' }, {}, second),
  )
  expect(plans).not.toContain('MULTI-INDEX OR')
  expect(more).toContain('MULTI-INDEX OR')
})

test('roles in the projects of a page are found from the projects, not from all memberships', async () => {
  const plans = await plansOf(world.ctx.db, (db) => listAccess(db, 1, [1, 2], '2026-05-04'))
  const members = plans.filter((step) => /^(SEARCH|SCAN) m\b/.test(step))
  expect(members).toHaveLength(4)
  for (const step of members) {
    expect(step).toContain('(source_type=? AND source_id=? AND user_id=?)')
  }
})

test('what is counted is what is shown, by each way to see a project', async () => {
  const [ana, ben] = [await world.user('ana'), await world.user('ben')]
  const group = await createGroup(ana, 'team')
  const invited = await createGroup(ana, 'invited')
  const below = await createGroup(ana, 'below', { parent_id: group.id })
  const make = async (name: string, more: object = {}) =>
    (await createProject(ana, name, { visibility: 'private', ...more })).id
  await make('hidden')
  const open = await make('open', { visibility: 'internal' })
  const inGroup = await make('in-group', { namespace_id: below.id })
  const direct = await make('direct')
  const shared = await make('shared')
  const own = (await createProject(ben, 'own', { visibility: 'private' })).id
  const member = { user_id: ben.id, access_level: 20 }
  await ana.post(`/groups/${group.id}/members`, member)
  await ana.post(`/groups/${invited.id}/members`, member)
  await ana.post(`/projects/${direct}/members`, member)
  await ana.post(`/projects/${shared}/share`, { group_id: invited.id, group_access: 10 })

  const list = await ben.get('/projects?per_page=3&order_by=id&sort=asc')
  const rest = await ben.get('/projects?per_page=3&order_by=id&sort=asc&page=2')
  const ids = [...list.body, ...rest.body].map(({ id }: { id: number }) => id)
  expect(ids).toEqual([open, inGroup, direct, shared, own])
  expect(list.headers.get('x-total')).toBe('5')
  const levels = list.body.map(({ permissions }: { permissions: object }) => permissions)
  expect(levels).toMatchObject([
    { project_access: null, group_access: null },
    { project_access: null, group_access: { access_level: 20 } },
    { project_access: { access_level: 20 }, group_access: null },
  ])
  expect(rest.body[0].permissions).toMatchObject({ project_access: { access_level: 10 } })
})
