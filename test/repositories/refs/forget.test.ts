import { afterEach, beforeEach, expect, test } from 'vitest'
import { forgetPushes } from '../../../src/repositories/refs/journal/forget.ts'
import { createProject } from '../../support/create.ts'
import { type Caller, openWorld, type World } from '../../support/world.ts'

let world: World
let ana: Caller
let id = 0
beforeEach(async () => {
  world = await openWorld()
  ana = await world.user('ana')
  id = (await createProject(ana, 'demo', { initialize_with_readme: true })).id
  await world.runTasks()
})
afterEach(() => world.close())

async function commit(path: string, tasks = true) {
  const { status } = await ana.post(`/projects/${id}/repository/files/${path}`, {
    branch: 'main',
    content: path,
    commit_message: `Add ${path}`,
  })
  expect(status).toBe(201)
  if (tasks) await world.runTasks()
}

async function counts() {
  const { db } = world.ctx
  const [pushes, moves, effects] = await Promise.all([
    db.selectFrom('pushes').select('id').execute(),
    db.selectFrom('ref_moves').select('id').execute(),
    db.selectFrom('push_effects').select('push_id').execute(),
  ])
  return { pushes: pushes.length, moves: moves.length, effects: effects.length }
}

test('what was recorded of pushes goes a month after they were settled, and the feed stays', async () => {
  await commit('a.txt')
  await commit('b.txt')
  const before = await counts()
  expect(before.pushes).toBeGreaterThanOrEqual(2)
  const feed = (await ana.get(`/projects/${id}/events`)).body
  expect(await forgetPushes(world.ctx)).toBe(0)
  world.setNow('2026-06-01T10:00:00.000Z')
  await commit('c.txt', false)
  world.setNow('2026-06-10T10:00:00.000Z')
  expect(await forgetPushes(world.ctx)).toBe(before.pushes)
  expect((await counts()).pushes).toBe(1)
  expect((await counts()).effects).toBeLessThanOrEqual(before.effects)
  expect((await ana.get(`/projects/${id}/events`)).body).toEqual(feed)
})

test('nothing goes that an open push of the same project may be settled by', async () => {
  await world.ctx.db.updateTable('pushes').set({ state: 'open', closed_at: null }).execute()
  await commit('a.txt')
  world.setNow('2026-07-10T10:00:00.000Z')
  expect(await forgetPushes(world.ctx)).toBe(0)
  await world.ctx.db
    .updateTable('pushes')
    .set({ state: 'closed', closed_at: '2026-05-04T10:00:00.000Z' })
    .execute()
  expect(await forgetPushes(world.ctx)).toBeGreaterThan(0)
  // The last move of a ref stays.
  expect(await counts()).toMatchObject({ pushes: 1, moves: 1 })
})

test('the last move of each ref stays, that of a deleted one until nothing before it is there', async () => {
  const branch = `/projects/${id}/repository/branches`
  expect((await ana.post(`${branch}?branch=old&ref=main`)).status).toBe(201)
  expect((await ana.post(`${branch}?branch=kept&ref=main`)).status).toBe(201)
  await world.runTasks()
  expect((await ana.delete(`${branch}/old`)).status).toBe(204)
  await world.runTasks()
  world.setNow('2026-07-10T10:00:00.000Z')
  const refs = async () => {
    const { db } = world.ctx
    const rows = await db.selectFrom('ref_moves').select(['ref', 'new_id']).orderBy('id').execute()
    return rows.map(({ ref, new_id }) => `${ref} ${/^0+$/.test(new_id) ? 'deleted' : 'made'}`)
  }
  await forgetPushes(world.ctx)
  await forgetPushes(world.ctx)
  expect(await refs()).toEqual(['refs/heads/main made', 'refs/heads/kept made'])
})
