import { beforeAll, describe, expect, test } from 'vitest'
import { createProject } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
let bench: Bench
let at: string

beforeAll(async () => {
  bench = await openBench(world, ana)
  at = `/projects/${bench.project.id}`
  await addMember(world, bench.project.id, ben.id, 30)
})

interface Line {
  readonly id: number
  readonly action_name: string
  readonly target_type: string | null
  readonly target_iid: number | null
  readonly target_title: string | null
}
const lines = async (query = '', who = ana): Promise<Line[]> => {
  const { status, body } = await who.get(`${at}/events?${query}`)
  expect(status).toBe(200)
  return body
}
const shown = async (query = '', who = ana) =>
  (await lines(query, who)).map((line) => `${line.action_name} ${line.target_title}`)

describe('a line of the feed', () => {
  test('has every field, and no more', async () => {
    await ben.post(`${at}/issues`, { title: 'First' })
    const { body: issue } = await ana.get(`${at}/issues/1`)
    const [line] = await lines('target_type=issue')
    expect(line).toEqual({
      id: expect.any(Number),
      project_id: bench.project.id,
      action_name: 'opened',
      target_id: issue.id,
      target_iid: 1,
      target_type: 'Issue',
      author_id: ben.id,
      target_title: 'First',
      created_at: '2026-05-04T10:00:00.000Z',
      imported: false,
      imported_from: 'none',
      author: expect.objectContaining({ username: 'ben' }),
      author_username: 'ben',
    })
  })

  test('of a comment has the comment, on an issue, a merge request and a commit', async () => {
    bench.commit('work', { 'a.txt': 'a' })
    const { body: request } = await bench.open('work')
    const sha = bench.project.git('rev-parse', 'main')
    await ana.post(`${at}/issues/1/notes`, { body: 'on the issue' })
    await ana.post(`${bench.api}/${request.iid}/discussions`, { body: 'on the request' })
    await ana.post(`${at}/repository/commits/${sha}/comments`, { note: 'on the commit' })
    const { body } = await ana.get(`${at}/events?action=commented&sort=asc`)
    expect(
      body.map((line: { note: { noteable_type: string; noteable_iid: number; body: string } }) => [
        line.note.noteable_type,
        line.note.noteable_iid ?? null,
        line.note.body,
      ]),
    ).toEqual([
      ['Issue', 1, 'on the issue'],
      ['MergeRequest', request.iid, 'on the request'],
      ['Commit', null, 'on the commit'],
    ])
    expect(await lines('target_type=note')).toHaveLength(3)
  })

  test('keeps the title that a thing had', async () => {
    await ana.post(`${at}/issues`, { title: 'before' })
    const [line] = await lines('target_type=issue')
    await ana.put(`${at}/issues/${line?.target_iid}`, { title: 'after' })
    expect(await shown('target_type=issue&per_page=1')).toEqual(['opened before'])
  })

  test('goes with what it is about', async () => {
    const { body: issue } = await ana.post(`${at}/issues`, { title: 'short-lived' })
    const { body: note } = await ana.post(`${at}/issues/1/notes`, { body: 'withdrawn' })
    expect(await shown('per_page=2')).toEqual(['commented on First', 'opened short-lived'])
    await ana.delete(`${at}/issues/${issue.iid}`)
    await ana.delete(`${at}/issues/1/notes/${note.id}`)
    expect((await shown()).join()).not.toContain('short-lived')
    expect(JSON.stringify(await lines())).not.toContain('withdrawn')
  })

  test('is none for what changes nothing of the state', async () => {
    const before = (await lines()).length
    await ana.put(`${at}/issues/1`, { title: 'First again', labels: 'a' })
    await ana.post(`${at}/labels`, { name: 'silent', color: 'red' })
    await ana.post(`${at}/issues/1/award_emoji`, { name: 'eyes' })
    expect(await lines()).toHaveLength(before)
  })
})

describe('a push', () => {
  const pushes = async () =>
    (await ana.get(`${at}/events?action=pushed&sort=asc`)).body.map(
      (line: { action_name: string; push_data: Record<string, unknown> }) => [
        line.action_name,
        line.push_data.ref_type,
        line.push_data.ref,
        line.push_data.action,
        line.push_data.commit_count,
        line.push_data.commit_title,
      ],
    )

  test('shows branches and tags, made, moved and removed', async () => {
    const file = { branch: 'topic', commit_message: `${'long '.repeat(20)}\n\nbody`, content: 'x' }
    await ana.post(`${at}/repository/branches?branch=topic&ref=main`)
    await ana.post(`${at}/repository/files/x.txt`, file)
    await ana.post(`${at}/repository/tags?tag_name=v1&ref=main`)
    await ana.delete(`${at}/repository/tags/v1`)
    await ana.delete(`${at}/repository/branches/topic`)
    await world.runTasks()
    const title = 'long '.repeat(14)
    const shown = (await pushes()).map((line: unknown[]) => [
      ...line.slice(0, 4),
      line[0] === 'pushed to' ? [line[4], String(line[5]).trim()] : null,
    ])
    expect(shown).toEqual([
      ['pushed new', 'branch', 'topic', 'created', null],
      ['pushed to', 'branch', 'topic', 'pushed', [1, title.trim()]],
      ['pushed new', 'tag', 'v1', 'created', null],
      ['deleted', 'tag', 'v1', 'removed', null],
      ['deleted', 'branch', 'topic', 'removed', null],
    ])
  })

  test('names what it moved from and to', async () => {
    const { body } = await ana.get(`${at}/events?action=pushed&sort=asc`)
    const [made, moved, , , gone] = body.map(
      (line: { push_data: { commit_from: string | null; commit_to: string | null } }) =>
        line.push_data,
    )
    expect([made.commit_from, gone.commit_to]).toEqual([null, null])
    expect(made.commit_to).toBe(bench.project.git('rev-parse', 'main'))
    expect(moved.commit_from).toBe(made.commit_to)
    expect(gone.commit_from).toBe(moved.commit_to)
  })
})

describe('lists', () => {
  test('come in pages, newest first or oldest first', async () => {
    const all = await lines('per_page=100')
    const oldest = await lines('per_page=100&sort=asc')
    expect(oldest.map((line) => line.id)).toEqual(all.map((line) => line.id).reverse())
    const second = await lines('per_page=3&page=2')
    expect(second.map((line) => line.id)).toEqual(all.slice(3, 6).map((line) => line.id))
    const { headers } = await ana.get(`${at}/events?per_page=3`)
    expect(headers.get('x-total')).toBe(String(all.length))
    expect((await ana.get(`${at}/events?sort=up`)).status).toBe(400)
    expect((await ana.get(`${at}/events?before=soon`)).status).toBe(400)
  })

  test('narrow by kind and by action, both at once', async () => {
    await ana.put(`${at}/issues/1`, { state_event: 'close' })
    await ana.put(`${at}/issues/1`, { state_event: 'reopen' })
    const { body: milestone } = await ana.post(`${at}/milestones`, { title: 'goal' })
    await ana.put(`${at}/milestones/${milestone.id}`, { state_event: 'close' })
    expect(await shown('action=closed')).toEqual(['closed goal', 'closed First again'])
    expect(await shown('action=closed&target_type=issue')).toEqual(['closed First again'])
    expect(await shown('action=reopened')).toEqual(['reopened First again'])
    expect(await shown('target_type=milestone')).toEqual(['closed goal', 'opened goal'])
    expect(await shown('action=created&target_type=milestone')).toEqual(['opened goal'])
    expect(await shown('target_type=epic')).toEqual([])
    expect((await ana.get(`${at}/events?target_type=pipeline`)).status).toBe(400)
  })

  test('of somebody are the same by number and by name', async () => {
    const byId = await ana.get(`/users/${ben.id}/events`)
    expect(byId.body).toMatchObject([{ action_name: 'opened', author_username: 'ben' }])
    expect((await ana.get('/users/ben/events')).body).toEqual(byId.body)
    expect((await ben.get('/events')).body).toEqual(byId.body)
    expect((await ana.get('/users/99999/events')).status).toBe(404)
  })

  test('of all projects are of those that one belongs to', async () => {
    const other = await world.user('other')
    const elsewhere = await createProject(other, 'open', { visibility: 'public' })
    await other.post(`/projects/${elsewhere.id}/issues`, { title: 'elsewhere' })
    const all = await ben.get('/events?scope=all&per_page=100')
    expect(JSON.stringify(all.body)).not.toContain('elsewhere')
    expect(all.body.length).toBeGreaterThan(1)
    // Whoever looks there directly finds it.
    expect((await ben.get(`/projects/${elsewhere.id}/events`)).body).toHaveLength(2)
    expect((await world.nobody.get(`/projects/${elsewhere.id}/events`)).body).toHaveLength(2)
    expect((await ben.get('/events?scope=some')).status).toBe(400)
  })

  test('are read with a token that may only read its user', async () => {
    const reader = world.as(await world.token(ben.id, ['read_user']))
    expect((await reader.get('/events')).status).toBe(200)
    expect((await reader.get('/users/ben/events')).status).toBe(200)
    expect((await reader.get(`${at}/events`)).status).toBe(403)
  })
})
