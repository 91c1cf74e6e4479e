import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { addProject } from '../../support/project.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let milestones: string

beforeAll(async () => {
  const project = await addProject(world, ana, 'empty')
  milestones = `/projects/${project.id}/milestones`
})

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

describe.each(['projects', 'groups'] as const)('milestones of %s', (kind) => {
  test('show their issues, merge requests and how the work went down', async () => {
    const group = await createGroup(ana, `g-${kind}`)
    const project = await createProject(ana, 'in', { namespace_id: group.id })
    const owner = kind === 'groups' ? `/groups/${group.id}` : `/projects/${project.id}`
    const { body: milestone } = await ana.post(`${owner}/milestones`, { title: 'soon' })
    const issues = `/projects/${project.id}/issues`
    world.setNow('2026-05-04T10:00:00.000Z')
    await ana.post(issues, { title: 'one', milestone_id: milestone.id, weight: 2 })
    await ana.post(issues, { title: 'other' })
    world.setNow('2026-05-04T11:00:00.000Z')
    await ana.put(`${issues}/1`, { state_event: 'close' })
    const one = `${owner}/milestones/${milestone.id}`
    const listed = await ana.get(`${one}/issues`)
    expect(listed.body.map((issue: { title: string }) => issue.title)).toEqual(['one'])
    expect((await ana.get(`${one}/burndown_events`)).body).toEqual([
      { created_at: '2026-05-04T10:00:00.000Z', weight: 2, action: 'created' },
      { created_at: '2026-05-04T11:00:00.000Z', weight: 2, action: 'closed' },
    ])
    const work = { branch: 'work', commit_message: 'x' }
    const actions = [{ action: 'create', file_path: 'a', content: 'x' }]
    const commits = `/projects/${project.id}/repository/commits`
    await ana.post(commits, { ...work, branch: 'main', actions })
    const more = [{ action: 'create', file_path: 'b', content: 'x' }]
    await ana.post(commits, { ...work, start_branch: 'main', actions: more })
    const request = await ana.post(`/projects/${project.id}/merge_requests`, {
      source_branch: 'work',
      target_branch: 'main',
      title: 'Take',
      milestone_id: milestone.id,
    })
    expect(request.status).toBe(201)
    const requests = await ana.get(`${one}/merge_requests`)
    expect(requests.body.map((one: { title: string }) => one.title)).toEqual(['Take'])
    expect((await ana.get(`${owner}/milestones/123456/issues`)).status).toBe(404)
    const outsider = await world.user(`outsider-${kind}`)
    expect((await outsider.get(`${one}/issues`)).status).toBe(404)
  })
})
