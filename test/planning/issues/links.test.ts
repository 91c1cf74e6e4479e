import { beforeAll, expect, test } from 'vitest'
import { addMember } from '../../support/members.ts'
import { addProject, type TestProject } from '../../support/project.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const bea = useCaller(world, 'bea')
let here: TestProject
let there: TestProject

beforeAll(async () => {
  here = await addProject(world, ana, 'empty', { path: 'here' })
  there = await addProject(world, ana, 'empty', { path: 'there' })
  await addMember(world, here.id, bea.id, 15)
})

async function issue(title: string, project = here, more: object = {}) {
  const made = await ana.post(`/projects/${project.id}/issues`, {
    title,
    ...more,
  })
  expect(made.status).toBe(201)
  return made.body as { id: number; iid: number; project_id: number }
}

const linksOf = (of: { project_id: number; iid: number }) =>
  `/projects/${of.project_id}/issues/${of.iid}/links`

function link(
  from: { project_id: number; iid: number },
  to: { project_id: number; iid: number },
  type?: string,
  who = ana,
) {
  const target = { target_project_id: to.project_id, target_issue_iid: to.iid }
  return who.post(linksOf(from), { ...target, link_type: type })
}

const titlesOf = (body: readonly { title: string }[]) => body.map((one) => one.title)

test('links say what they are from either end, also into other projects', async () => {
  const [a, b, c] = [await issue('a'), await issue('b', there), await issue('c')]
  const related = await link(a, b)
  expect([related.status, related.body]).toMatchObject([
    201,
    {
      link_type: 'relates_to',
      source_issue: { title: 'a' },
      target_issue: { title: 'b' },
    },
  ])
  await link(a, c, 'is_blocked_by')
  const listed = await ana.get(linksOf(a))
  expect(listed.body).toMatchObject([
    {
      title: 'b',
      link_type: 'relates_to',
      issue_link_id: related.body.id,
      link_created_at: '2026-05-04T10:00:00.000Z',
      link_updated_at: '2026-05-04T10:00:00.000Z',
      references: { full: `ana/there#${b.iid}` },
    },
    { title: 'c', link_type: 'is_blocked_by' },
  ])
  expect((await ana.get(linksOf(c))).body).toMatchObject([{ title: 'a', link_type: 'blocks' }])
  expect((await ana.get(linksOf(b))).body).toMatchObject([{ title: 'a', link_type: 'relates_to' }])
  const blocking = async () =>
    (await ana.get(`/projects/${here.id}/issues/${c.iid}`)).body.blocking_issues_count
  expect(await blocking()).toBe(1)
  // Whoever may not see the blocked issue is not shown that there is one.
  const reader = await world.user('reader')
  await addMember(world, here.id, reader.id, 10)
  const counted = async (who: Caller) =>
    (await who.get(`/projects/${here.id}/issues/${c.iid}`)).body.blocking_issues_count
  await link(c, await issue('hidden', there), 'blocks')
  await link(c, await issue('secret', here, { confidential: true }), 'blocks')
  expect([await counted(ana), await counted(reader)]).toEqual([3, 1])
  // What is done is blocked no more.
  await ana.put(`/projects/${here.id}/issues/${a.iid}`, {
    state_event: 'close',
  })
  expect(await blocking()).toBe(2)
})

test('the target may be named by the path of its project', async () => {
  const [a, b] = [await issue('by'), await issue('path', there)]
  const target = { target_project_id: 'ana/there', target_issue_iid: b.iid }
  const made = await ana.post(linksOf(a), target)
  expect([made.status, made.body.target_issue.id]).toEqual([201, b.id])
})

test('two issues are linked once, and none with itself', async () => {
  const [a, b] = [await issue('a'), await issue('b')]
  expect((await link(a, b)).status).toBe(201)
  for (const [from, to] of [
    [a, b],
    [b, a],
  ] as const) {
    const again = await link(from, to, 'blocks')
    expect([again.status, again.body]).toEqual([409, { message: 'Issue(s) already assigned' }])
  }
  expect((await link(a, a)).status).toBe(404)
  const wrong = await link(a, b, 'follows')
  expect([wrong.status, wrong.body]).toEqual([
    400,
    { error: 'link_type does not have a valid value' },
  ])
  const missing = await ana.post(linksOf(a), {})
  expect(missing.body).toEqual({
    error: 'target_project_id is missing, target_issue_iid is missing',
  })
  expect((await link(a, { project_id: here.id, iid: 123_456 })).body).toEqual({
    message: '404 Not found',
  })
})

test('a link is read alone and removed from either end, with a note', async () => {
  const [a, b, c] = [await issue('a'), await issue('b'), await issue('c')]
  const { body: made } = await link(a, b, 'blocks')
  const one = `${linksOf(b)}/${made.id}`
  expect((await ana.get(one)).body).toMatchObject({
    id: made.id,
    link_type: 'is_blocked_by',
    source_issue: { title: 'b' },
    target_issue: { title: 'a' },
  })
  // The link is none of another issue's.
  expect((await ana.get(`${linksOf(c)}/${made.id}`)).status).toBe(404)
  expect((await ana.delete(`${linksOf(c)}/${made.id}`)).status).toBe(404)
  expect((await ana.delete(one)).body).toMatchObject({ id: made.id })
  expect((await ana.delete(one)).body).toEqual({ message: '404 Not found' })
  expect((await ana.get(linksOf(a))).body).toEqual([])
  const notes = await ana.get(`/projects/${here.id}/issues/${b.iid}/notes?sort=asc`)
  expect(notes.body.map((note: { body: string }) => note.body)).toContain(
    `removed the relation with ana/here#${a.iid}`,
  )
})

test('nobody sees by a link what they may not see, nor links with it', async () => {
  const [a, hidden, secret] = [
    await issue('open'),
    await issue('hidden', there),
    await issue('secret', here, { confidential: true }),
  ]
  await link(a, hidden)
  await link(a, secret)
  expect(titlesOf((await bea.get(linksOf(a))).body)).toEqual(['secret'])
  const other = await issue('other')
  expect((await link(other, hidden, undefined, bea)).status).toBe(404)
  const guest = await world.user('guest')
  await addMember(world, here.id, guest.id, 10)
  expect(titlesOf((await guest.get(linksOf(a))).body)).toEqual([])
  expect((await link(a, other, undefined, guest)).status).toBe(403)
  expect((await link(other, secret, undefined, guest)).status).toBe(403)
})
