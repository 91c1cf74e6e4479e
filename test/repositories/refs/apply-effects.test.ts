import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
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

async function commit(path: string): Promise<void> {
  const { status } = await ana.post(`/projects/${id}/repository/files/${path}`, {
    branch: 'main',
    content: path,
    commit_message: `Add ${path}`,
  })
  expect(status).toBe(201)
}

async function titles(): Promise<string[]> {
  const { body } = await ana.get(`/projects/${id}/events?per_page=100`)
  const events = body as { push_data?: { commit_title: string } }[]
  return events.flatMap((event) => event.push_data?.commit_title ?? []).reverse()
}

const waiting = () => world.ctx.db.selectFrom('waiting_pushes').select('push_id').execute()

test('pushes that come in a burst are in the feed in their order, each once', async () => {
  const before = await titles()
  const paths = Array.from({ length: 12 }, (_, i) => `f${i}.txt`)
  for (const path of paths) await commit(path)
  await world.runTasks()
  expect(await titles()).toEqual([...before, ...paths.map((path) => `Add ${path}`)])
  expect(await waiting()).toEqual([])
})

test('one push whose event fails holds up no other', async () => {
  const { db } = world.ctx
  const before = await titles()
  await sql`CREATE TRIGGER IF NOT EXISTS refuse BEFORE INSERT ON events WHEN NEW.push_data LIKE '%Add b.txt%'
    BEGIN SELECT RAISE(ABORT, 'not this one'); END`.execute(db)
  await Promise.all(['a.txt', 'b.txt', 'c.txt'].map(commit))
  await world.runTasks()
  const shown = await titles()
  expect(shown.toSorted()).toEqual([...before, 'Add a.txt', 'Add c.txt'].toSorted())
  expect(await waiting()).toEqual([])
  const alone = db.selectFrom('tasks').select('last_error').where('name', '=', 'refs.after_push')
  const [task, ...others] = await alone.execute()
  expect(task?.last_error).toContain('not this one')
  expect(others).toEqual([])
})
