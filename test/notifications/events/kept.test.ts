import { beforeAll, expect, test } from 'vitest'
import { forgetEvents } from '../../../src/notifications/events/forget-task.ts'
import { createProject } from '../../support/create.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let at: string

beforeAll(async () => {
  world.setNow('2023-05-05T10:00:00.000Z')
  const { id } = await createProject(ana, 'old')
  at = `/projects/${id}`
})

const titles = async () =>
  (await ana.get(`${at}/events?sort=asc`)).body.map(
    (line: { target_title: string | null }) => line.target_title,
  )

async function forget(): Promise<void> {
  await world.ctx.work.enqueue(world.ctx.db, forgetEvents, {})
  await world.runTasks()
}

test('the feed is kept for three years, and the records that it shows stay', async () => {
  await ana.post(`${at}/issues`, { title: 'first' })
  world.setNow('2024-01-01T10:00:00.000Z')
  await ana.post(`${at}/issues`, { title: 'second' })
  world.setNow('2026-05-04T09:00:00.000Z')
  await forget()
  expect(await titles()).toEqual([null, 'first', 'second'])
  world.setNow('2026-05-05T10:00:00.000Z')
  await forget()
  expect(await titles()).toEqual(['second'])
  expect((await ana.get(`${at}/issues`)).body).toHaveLength(2)
  world.setNow('2027-05-05T10:00:00.000Z')
  await forget()
  expect(await titles()).toEqual([])
})

test('also when there is much to forget', async () => {
  const { body: user } = await ana.get('/user')
  const id = Number(at.split('/')[2])
  const line = { project_id: id, author_id: user.id, action_name: 'opened' }
  const old = { ...line, created_at: '2020-01-01T00:00:00.000Z' }
  for (let n = 0; n < 11; n++) {
    const batch = Array.from({ length: 1000 }, () => old)
    await world.ctx.db.insertInto('events').values(batch).execute()
  }
  await ana.post(`${at}/issues`, { title: 'new' })
  await forget()
  const left = await world.ctx.db.selectFrom('events').select('target_title').execute()
  expect(left).toEqual([{ target_title: 'new' }])
})
