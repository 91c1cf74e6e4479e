import { beforeEach, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let count = 0

async function group(parent_id?: number): Promise<number> {
  count += 1
  return (await createGroup(ana, `g${count}`, { parent_id })).id
}

const labelled = async (at: string, name: string, more: object = {}) =>
  (await ana.post(`${at}/labels`, { name, color: '#112233', ...more })).body.id
const planned = async (at: string, title: string, more: object = {}) =>
  (await ana.post(`${at}/milestones`, { title, ...more })).body.id
const names = async (path: string) =>
  (await ana.get(path)).body.map((one: { name?: string; title?: string }) => one.name ?? one.title)

let from: number
let to: number
let project: number
let at: string

beforeEach(async () => {
  from = await group()
  to = await group()
  count += 1
  project = (
    await createProject(ana, `p${count}`, { namespace_id: from, initialize_with_readme: true })
  ).id
  at = `/projects/${project}`
})

const transfer = async (namespace: number | string) =>
  expect((await ana.put(`${at}/transfer`, { namespace })).status).toBe(200)

describe('a project that goes to another group', () => {
  test('keeps the labels that its groups lent it, as its own', async () => {
    const lent = await labelled(`/groups/${from}`, 'lent', { description: 'by the group' })
    await labelled(`/groups/${from}`, 'unused')
    await labelled(at, 'own')
    await ana.put(`${at}/labels/lent`, { priority: 3 })
    await ana.post(`${at}/issues`, { title: 'x', labels: 'lent,own' })
    await ana.post(`${at}/repository/branches`, { branch: 'work', ref: 'main' })
    const request = { source_branch: 'work', target_branch: 'main', title: 'x', labels: 'lent' }
    expect((await ana.post(`${at}/merge_requests`, request)).status).toBe(201)
    const { body: board } = await ana.post(`${at}/boards`, { name: 'b' })
    await ana.post(`${at}/boards/${board.id}/lists`, { label_id: lent })
    await ana.put(`${at}/boards/${board.id}`, { labels: 'lent' })
    await transfer(to)
    expect(await names(`${at}/labels`)).toEqual(['lent', 'own'])
    const { body: kept } = await ana.get(`${at}/labels/lent`)
    expect(kept).toMatchObject({
      description: 'by the group',
      color: '#112233',
      is_project_label: true,
      priority: 3,
    })
    expect(kept.id).not.toBe(lent)
    expect((await ana.get(`${at}/issues/1`)).body.labels).toEqual(['lent', 'own'])
    expect((await ana.get(`${at}/merge_requests/1`)).body.labels).toEqual(['lent'])
    expect((await ana.get(`${at}/issues?labels=lent`)).body).toHaveLength(1)
    const shown = await ana.get(`${at}/boards/${board.id}`)
    expect(shown.body).toMatchObject({
      labels: [{ id: kept.id }],
      lists: [{ label: { id: kept.id } }],
    })
    const events = await ana.get(`${at}/issues/1/resource_label_events`)
    expect(events.body.map((event: { label: { id: number } }) => event.label.id)).toContain(kept.id)
    // The group's own labels stay with it.
    expect(await names(`/groups/${from}/labels`)).toEqual(['lent', 'unused'])
  })

  test('uses those of the new group, or its own, that are called the same', async () => {
    await labelled(`/groups/${from}`, 'both')
    const there = await labelled(`/groups/${to}`, 'both')
    await ana.post(`${at}/issues`, { title: 'x', labels: 'both' })
    await transfer(to)
    const { body } = await ana.get(`${at}/issues?with_labels_details=true`)
    expect(body[0].labels).toMatchObject([{ id: there, name: 'both' }])
    expect(await names(`${at}/labels?include_ancestor_groups=false`)).toEqual([])
  })

  test('names a label once where both were on the same issue', async () => {
    // A label of the project may be older than that of the group.
    await labelled(at, 'twice')
    await ana.post(`${at}/issues`, { title: 'x', labels: 'twice' })
    const lent = await labelled(`/groups/${from}`, 'twice')
    const link = { subject_type: 'issue', label_id: lent } as const
    const { body: issue } = await ana.get(`${at}/issues/1`)
    await world.ctx.db
      .insertInto('label_links')
      .values({ ...link, subject_id: issue.id })
      .execute()
    await transfer(to)
    expect((await ana.get(`${at}/issues/1`)).body.labels).toEqual(['twice'])
  })

  test('keeps the milestones of its groups, closed ones closed', async () => {
    const days = { start_date: '2026-05-01', due_date: '2026-06-01', description: 'd' }
    const lent = await planned(`/groups/${from}`, 'v1', days)
    const closed = await planned(`/groups/${from}`, 'v0')
    await planned(`/groups/${from}`, 'unused')
    await planned(at, 'own')
    for (const milestone_id of [lent, closed])
      await ana.post(`${at}/issues`, { title: 'x', milestone_id })
    await ana.put(`/groups/${from}/milestones/${closed}`, { state_event: 'close' })
    await ana.post(`${at}/releases`, { tag_name: 'v1', ref: 'main', milestones: ['v1'] })
    await transfer(to)
    const { body } = await ana.get(`${at}/milestones?state=all`)
    expect(body.map((one: { title: string }) => one.title).sort()).toEqual(['own', 'v0', 'v1'])
    const v1 = body.find((one: { title: string }) => one.title === 'v1')
    expect(v1).toMatchObject({ ...days, state: 'active', project_id: project, iid: 2 })
    const { body: issues } = await ana.get(`${at}/issues?sort=asc`)
    expect(issues.map((issue: { milestone: object }) => issue.milestone)).toMatchObject([
      { id: v1.id },
      { title: 'v0', state: 'closed', project_id: project },
    ])
    expect((await ana.get(`${at}/releases/v1`)).body.milestones).toMatchObject([{ id: v1.id }])
    const events = await ana.get(`${at}/issues/1/resource_milestone_events`)
    expect(events.body).toMatchObject([{ milestone: { id: v1.id } }])
    expect(await names(`/groups/${from}/milestones`)).toHaveLength(3)
  })

  test('takes nothing along when its groups stay above it', async () => {
    const below = await group(from)
    await labelled(`/groups/${from}`, 'lent')
    const milestone_id = await planned(`/groups/${from}`, 'v1')
    await ana.post(`${at}/issues`, { title: 'x', labels: 'lent', milestone_id })
    await transfer(below)
    expect(await names(`${at}/labels?include_ancestor_groups=false`)).toEqual([])
    expect((await ana.get(`${at}/issues/1`)).body).toMatchObject({
      labels: ['lent'],
      milestone: { id: milestone_id, group_id: from },
    })
  })

  test('keeps them in the namespace of a user, too', async () => {
    await labelled(`/groups/${from}`, 'lent')
    await ana.post(`${at}/issues`, { title: 'x', labels: 'lent' })
    await transfer('ana')
    expect(await names(`${at}/labels`)).toEqual(['lent'])
  })

  test('that cannot go there stays as it was', async () => {
    await labelled(`/groups/${from}`, 'lent')
    await ana.post(`${at}/issues`, { title: 'x', labels: 'lent' })
    const { body } = await ana.get(at)
    await createProject(ana, body.name, { namespace_id: to })
    const refused = await ana.put(`${at}/transfer`, { namespace: to })
    expect(refused.status).toBe(400)
    expect(await names(`${at}/labels?include_ancestor_groups=false`)).toEqual([])
  })
})

test('the projects of a group that goes elsewhere keep what was lent from above it', async () => {
  const below = await group(from)
  const id = (await createProject(ana, 'inside', { namespace_id: below })).id
  await labelled(`/groups/${from}`, 'above')
  await labelled(`/groups/${below}`, 'beside')
  const milestone_id = await planned(`/groups/${from}`, 'v1')
  const issues = `/projects/${id}/issues`
  await ana.post(issues, { title: 'x', labels: 'above,beside', milestone_id })
  const moved = await ana.post(`/groups/${below}/transfer`, { group_id: to })
  expect(moved.status).toBe(201)
  expect(await names(`/projects/${id}/labels`)).toEqual(['above', 'beside'])
  expect(await names(`/projects/${id}/labels?include_ancestor_groups=false`)).toEqual(['above'])
  expect((await ana.get(`${issues}/1`)).body).toMatchObject({
    labels: ['above', 'beside'],
    milestone: { title: 'v1', project_id: id },
  })
})
