import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { type Reply, useCaller, useWorld } from '../../support/world.ts'

const ROUNDS = 6

const world = useWorld()
const ana = useCaller(world, 'ana')
let count = 0

async function group(parentId?: number): Promise<{ id: number; path: string }> {
  count += 1
  return createGroup(ana, `g${count}`, { parent_id: parentId })
}

async function project(namespaceId: number): Promise<{ id: number; path: string }> {
  count += 1
  return createProject(ana, `p${count}`, { namespace_id: namespaceId })
}

/** What lies elsewhere than its path says, is not found at its path, or lives in a group that is being removed. */
async function misplaced() {
  const { rows } = await sql<Record<string, unknown>>`
    SELECT n.id, n.full_path, n.path, above.full_path AS above, r.path AS route
      FROM namespaces n LEFT JOIN namespaces above ON above.id = n.parent_id
      LEFT JOIN routes r ON r.namespace_id = n.id
      WHERE n.full_path IS NOT coalesce(above.full_path || '/', '') || n.path
        OR r.path IS NOT n.full_path OR above.pending_delete > n.pending_delete
        OR n.full_name IS NOT coalesce(above.full_name || ' / ', '') || n.name
    UNION ALL
    SELECT p.id, p.full_path, p.path, n.full_path, r.path
      FROM projects p JOIN namespaces n ON n.id = p.namespace_id
      LEFT JOIN routes r ON r.project_id = p.id
      WHERE p.full_path IS NOT n.full_path || '/' || p.path
        OR r.path IS NOT p.full_path OR n.pending_delete > p.pending_delete`.execute(world.ctx.db)
  return rows
}

async function none(asked: readonly Promise<Reply>[]) {
  const failed = (await Promise.all(asked)).filter((reply) => reply.status >= 500)
  return failed.map(({ status, body }) => [status, body])
}

test('a group that is renamed by many at once has one of the names, and all below follow it', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const top = await group()
    const below = await group(top.id)
    await project(below.id)
    const failed = await none([
      ana.put(`/groups/${top.id}`, { path: `longer-${round}` }),
      ana.put(`/groups/${top.id}`, { path: `s${round}` }),
      ana.put(`/groups/${top.id}`, { description: 'Us' }),
      ana.put(`/groups/${top.id}`, { name: `Other ${round}` }),
      ana.put(`/groups/${below.id}`, { path: 'inside' }),
      ana.put(`/groups/${below.id}`, { name: 'Inside' }),
    ])
    expect(failed).toEqual([])
    expect(await misplaced()).toEqual([])
    const { body } = await ana.get(`/groups/${top.id}`)
    expect([`longer-${round}`, `s${round}`]).toContain(body.path)
    expect(body).toMatchObject({ description: 'Us', name: `Other ${round}` })
  }
}, 60_000)

test('groups that move below each other, and are renamed meanwhile, stay a tree', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const [one, two, child] = [await group(), await group(), await group()]
    await project(child.id)
    const failed = await none([
      ana.post(`/groups/${one.id}/transfer`, { group_id: two.id }),
      ana.put(`/groups/${two.id}`, { path: `renamed-${round}` }),
      ana.post(`/groups/${two.id}/transfer`, { group_id: one.id }),
      ana.post(`/groups/${child.id}/transfer`, { group_id: one.id }),
      ana.put(`/groups/${child.id}`, { path: `child-${round}` }),
      ana.post('/groups', { name: 'new', path: 'new', parent_id: two.id }),
    ])
    expect(failed).toEqual([])
    expect(await misplaced()).toEqual([])
  }
}, 60_000)

test('a project that is moved, renamed and made while its groups are renamed is where they are', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const [from, to] = [await group(), await group()]
    const { id } = await project(from.id)
    const failed = await none([
      ana.put(`/projects/${id}`, { path: `moved-${round}` }),
      ana.put(`/projects/${id}/transfer`, { namespace: to.id }),
      ana.put(`/projects/${id}`, { description: 'Here' }),
      ana.put(`/groups/${from.id}`, { path: `from-${round}` }),
      ana.put(`/groups/${to.id}`, { path: `to-${round}` }),
      ana.post('/projects', { name: 'new', namespace_id: to.id }),
      ana.put(`/projects/${id}`, { name: 'Named' }),
    ])
    expect(failed).toEqual([])
    expect(await misplaced()).toEqual([])
    const { body } = await ana.get(`/projects/${id}`)
    expect(body).toMatchObject({ path: `moved-${round}`, name: 'Named', description: 'Here' })
    expect(body.namespace.id).toBe(to.id)
  }
}, 60_000)

test('what is made in or moved into a group while that is deleted goes with it, or is refused', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const [doomed, other] = [await group(), await group()]
    const { id } = await project(other.id)
    const parent = await project(other.id)
    const asked = [
      ana.post('/projects', { name: 'one', namespace_id: doomed.id }),
      ana.post(`/projects/${parent.id}/fork`, { namespace_id: doomed.id }),
      ana.post('/groups', { name: 'two', path: 'two', parent_id: doomed.id }),
    ]
    const deleted = ana.delete(`/groups/${doomed.id}`)
    const late = [
      ana.put(`/projects/${id}/transfer`, { namespace: doomed.id }),
      ana.post(`/groups/${other.id}/transfer`, { group_id: doomed.id }),
      ana.post('/projects', { name: 'three', namespace_id: doomed.id }),
      ana.delete(`/groups/${doomed.id}`),
    ]
    expect(await none([...asked, deleted, ...late])).toEqual([])
    expect(await misplaced()).toEqual([])
    await world.runTasks()
    const left = await world.ctx.db
      .selectFrom('namespaces')
      .select('id')
      .where('id', '=', doomed.id)
      .execute()
    expect(left).toEqual([])
  }
}, 60_000)
