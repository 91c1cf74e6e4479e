import { beforeEach, describe, expect, test } from 'vitest'
import { createProject } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
let from: number
let to: number
let count = 0
let issues: string
let there: string

beforeEach(async () => {
  count += 1
  from = (await createProject(ana, `from${count}`)).id
  to = (await createProject(ana, `to${count}`)).id
  issues = `/projects/${from}/issues`
  there = `/projects/${to}/issues`
  for (const id of [from, to]) await addMember(world, id, ben.id, 30)
})

const open = async (more: object = {}) =>
  (await ana.post(issues, { title: 'travels', ...more })).body
const move = async (iid: number, who = ana) =>
  who.post(`${issues}/${iid}/move`, { to_project_id: to })
const bodies = async (path: string) =>
  (await ana.get(`${path}/notes?sort=asc`)).body.map((note: { body: string }) => note.body)

describe('an issue that is moved', () => {
  test('keeps what was settled in its threads, and the reactions to its comments', async () => {
    const { iid } = await open()
    const at = `${issues}/${iid}`
    const { body: settled } = await ana.post(`${at}/discussions`, { body: 'Why?' })
    await ana.post(`${at}/discussions`, { body: 'And how?' })
    await ben.post(`${at}/notes/${settled.notes[0].id}/award_emoji`, { name: 'tada' })
    expect((await ben.put(`${at}/discussions/${settled.id}`, { resolved: true })).status).toBe(200)
    const { body: moved } = await move(iid)
    const { body: threads } = await ana.get(`${there}/${moved.iid}/discussions`)
    const [first, second] = threads.map((one: { notes: readonly object[] }) => one.notes[0])
    expect(first).toMatchObject({ body: 'Why?', resolved: true, resolved_by: { username: 'ben' } })
    expect(second).toMatchObject({ body: 'And how?', resolved: false })
    const awards = await ana.get(`${there}/${moved.iid}/notes/${first.id}/award_emoji`)
    expect(awards.body).toMatchObject([{ name: 'tada', user: { username: 'ben' } }])
  })

  test('has all that it was', async () => {
    const { iid } = await open({
      description: 'as written',
      due_date: '2026-06-01',
      weight: 4,
      confidential: true,
      labels: 'kept',
      assignee_ids: [ben.id],
      issue_type: 'task',
    })
    const moved = await move(iid)
    expect(moved.status).toBe(201)
    expect(moved.body).toMatchObject({
      title: 'travels',
      description: 'as written',
      due_date: '2026-06-01',
      weight: 4,
      confidential: true,
      labels: ['kept'],
      assignees: [{ username: 'ben' }],
      issue_type: 'task',
      state: 'opened',
      project_id: to,
      iid: 1,
      moved_to_id: null,
    })
  })

  test('leaves a closed one that is not moved again', async () => {
    const { iid } = await open()
    const moved = await move(iid)
    const { body: old } = await ana.get(`${issues}/${iid}`)
    expect(old).toMatchObject({ state: 'closed', moved_to_id: moved.body.id })
    const again = await move(iid)
    expect([again.status, again.body.message]).toEqual([
      400,
      '400 Bad request - Cannot move issue due to insufficient permissions!',
    ])
    expect((await ana.get(there)).body).toHaveLength(1)
  })

  test('goes to another project where the caller may plan', async () => {
    const { iid } = await open()
    const same = await ana.post(`${issues}/${iid}/move`, { to_project_id: from })
    expect([same.status, same.body.message]).toEqual([
      400,
      '400 Bad request - Cannot move issue to project it originates from!',
    ])
    const guest = await world.user(`guest${count}`)
    await addMember(world, from, guest.id, 20)
    expect((await move(iid, guest)).status).toBe(404)
    await addMember(world, to, guest.id, 10)
    expect((await move(iid, guest)).status).toBe(400)
    await addMember(world, to, guest.id, 20)
    expect((await move(iid, guest)).status).toBe(201)
    expect((await ana.get(`${there}/1`)).body.author.username).toBe('ana')
  })

  test('names the same things as before, by the path of where it was', async () => {
    await open({ title: 'other' })
    const path = `ana/from${count}`
    const { iid } = await open({ description: 'See #1, not `#1`, nor x#1; and ana/else#1 by @ben' })
    await ana.post(`${issues}/${iid}/notes`, { body: 'like #1\n\n```\n#1\n```' })
    const { body } = await move(iid)
    expect(body.description).toBe(`See ${path}#1, not \`#1\`, nor x#1; and ana/else#1 by @ben`)
    expect((await bodies(`${there}/${body.iid}`))[0]).toBe(`like ${path}#1\n\n\`\`\`\n#1\n\`\`\``)
    // What it was stays as it was written.
    expect((await ana.get(`${issues}/${iid}`)).body.description).toContain('See #1,')
  })

  test('names what there is not as before, and shows its pictures', async () => {
    const upload = `/uploads/${'ab'.repeat(16)}/x.png`
    const description = `#77 and !1 ![x](${upload}) \`${upload}\``
    const { body } = await move((await open({ description })).iid)
    const host = world.ctx.config.externalUrl
    expect(body.description).toBe(
      `#77 and !1 ![x](${host}/-/project/${from}${upload}) \`${upload}\``,
    )
  })

  test('takes its threads along, internal notes internal', async () => {
    const { iid } = await open()
    const { body: thread } = await ana.post(`${issues}/${iid}/discussions`, { body: 'one' })
    await ben.post(`${issues}/${iid}/discussions/${thread.id}/notes`, { body: 'two' })
    await ana.post(`${issues}/${iid}/notes`, { body: 'quiet', internal: true })
    const { body } = await move(iid)
    const threads = await ana.get(`${there}/${body.iid}/discussions`)
    const said = threads.body
      .map((one: { notes: { body: string; system: boolean; internal: boolean }[] }) =>
        one.notes.filter((note) => !note.system).map((note) => [note.body, note.internal]),
      )
      .filter((notes: unknown[]) => notes.length > 0)
    expect(said).toEqual([
      [
        ['one', false],
        ['two', false],
      ],
      [['quiet', true]],
    ])
    const { body: notes } = await ana.get(
      `${there}/${body.iid}/notes?activity_filter=only_comments`,
    )
    const authors = notes.map((note: { author: { username: string } }) => note.author.username)
    expect(authors.sort()).toEqual(['ana', 'ana', 'ben'])
  })

  test('says at both ends where it went and came from', async () => {
    const { iid } = await open()
    const { body } = await move(iid)
    expect(await bodies(`${issues}/${iid}`)).toEqual([
      `moved to ana/to${count}#${body.iid}`,
      'closed',
    ])
    expect(await bodies(`${there}/${body.iid}`)).toEqual([`moved from ana/from${count}#${iid}`])
  })

  test('has the milestone of the same title there, if there is one', async () => {
    const make = async (id: number, title: string) =>
      (await ana.post(`/projects/${id}/milestones`, { title })).body.id
    const milestone_id = await make(from, 'v1')
    const lost = await make(from, 'v2')
    const same = await make(to, 'v1')
    const first = await open({ milestone_id })
    expect((await move(first.iid)).body.milestone.id).toBe(same)
    const second = await open({ milestone_id: lost })
    expect((await move(second.iid)).body.milestone).toBeNull()
  })
})

test('a clone has the milestone of the same title, and names the same things', async () => {
  const make = async (id: number) =>
    (await ana.post(`/projects/${id}/milestones`, { title: 'v1' })).body.id
  const milestone_id = await make(from)
  const same = await make(to)
  const { iid } = await open({ milestone_id, description: 'after #1' })
  const { body } = await ana.post(`${issues}/${iid}/clone`, { to_project_id: to })
  expect(body).toMatchObject({
    milestone: { id: same },
    description: `after ana/from${count}#1`,
  })
  const inside = await ana.post(`${issues}/${iid}/clone`, { to_project_id: from })
  expect(inside.body).toMatchObject({ milestone: { id: milestone_id }, description: 'after #1' })
})
