import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addProject } from '../../support/project.ts'
import { type Caller, openWorld, type World } from '../../support/world.ts'

let world: World
let ana: Caller
let milestones: string

beforeAll(async () => {
  world = await openWorld()
  ana = await world.user('ana')
  const project = await addProject(world, ana, 'empty')
  milestones = `/projects/${project.id}/milestones`
})
afterAll(() => world.close())

describe('milestones of a project', () => {
  test('count their own numbers, take full datetimes as days, and close', async () => {
    const { status, body } = await ana.post(milestones, {
      title: 'one',
      due_date: '2026-05-01T12:00:00Z',
    })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      iid: 1,
      title: 'one',
      state: 'active',
      due_date: '2026-05-01',
      expired: true,
    })
    expect(body.web_url).toBe(`${world.app.config.externalUrl}/ana/empty/-/milestones/1`)
    const closed = await ana.put(`${milestones}/${body.id}`, {
      state_event: 'close',
      due_date: null,
    })
    expect(closed.body).toMatchObject({ state: 'closed', due_date: null, expired: false })
    const listed = await ana.get(`${milestones}?state=closed&title=one&iids[]=1`)
    expect(listed.body).toEqual([closed.body])
    expect((await ana.delete(`${milestones}/${body.id}`)).status).toBe(204)
  })

  test('have a title once', async () => {
    await ana.post(milestones, { title: 'twin' })
    const reply = await ana.post(milestones, { title: 'twin' })
    expect([reply.status, reply.body]).toEqual([
      400,
      { message: { title: ['has already been taken'] } },
    ])
  })

  test('do not end before they start', async () => {
    const reply = await ana.post(milestones, {
      title: 'x',
      start_date: '2026-05-02',
      due_date: '2026-05-01',
    })
    expect(reply.body).toEqual({ message: { due_date: ['must be greater than start date'] } })
  })

  test('a hidden project has none for strangers', async () => {
    const stranger = await world.user('stranger')
    expect((await stranger.get(milestones)).body).toEqual({ message: '404 Project Not Found' })
  })
})
