import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createProject } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
let milestone: number
let issues: string
let one: string

beforeAll(async () => {
  const { id } = await createProject(ana, 'forms')
  issues = `/projects/${id}/issues`
  await addMember(world, id, ben.id, 30)
  milestone = (await ana.post(`/projects/${id}/milestones`, { title: 'v1' })).body.id
})
beforeEach(async () => {
  const made = await ana.post(issues, {
    title: 'full',
    description: 'd',
    labels: 'a,b',
    assignee_ids: [ana.id],
    milestone_id: milestone,
    weight: 3,
    due_date: '2026-06-01',
    start_date: '2026-05-01',
    discussion_locked: true,
  })
  one = `${issues}/${made.body.iid}`
})

const form = (text: string, method: 'POST' | 'PUT' = 'PUT', path = one) =>
  ana.call(method, path, undefined, {
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    raw: text,
  })

const whole = {
  title: 'full',
  description: 'd',
  labels: ['a', 'b'],
  assignees: [{ username: 'ana' }],
  milestone: { title: 'v1' },
  weight: 3,
  due_date: '2026-06-01',
  start_date: '2026-05-01',
  discussion_locked: true,
  confidential: false,
  state: 'opened',
}

describe('what clears a field, and nothing else', () => {
  test.each<[string, object, object]>([
    ['labels as an empty text', { labels: '' }, { labels: [] }],
    ['labels as an empty list', { labels: [] }, { labels: [] }],
    ['no assignees', { assignee_ids: [] }, { assignees: [] }],
    ['assignee 0', { assignee_id: 0 }, { assignees: [] }],
    ['assignees that are 0', { assignee_ids: [0] }, { assignees: [] }],
    ['assignee null', { assignee_id: null }, { assignees: [] }],
    ['milestone 0', { milestone_id: 0 }, { milestone: null }],
    ['milestone null', { milestone_id: null }, { milestone: null }],
    ['due date null', { due_date: null }, { due_date: null }],
    ['due date as an empty text', { due_date: '' }, { due_date: null }],
    ['start date null', { start_date: null }, { start_date: null }],
    ['weight null', { weight: null }, { weight: null }],
    ['description null', { description: null }, { description: null }],
    ['description as an empty text', { description: '' }, { description: '' }],
    ['discussion unlocked', { discussion_locked: false }, { discussion_locked: false }],
  ])('%s', async (_, body, expected) => {
    const reply = await ana.put(one, body)
    expect([reply.status, reply.body.error ?? null]).toEqual([200, null])
    expect(reply.body).toMatchObject({ ...whole, ...expected })
    expect((await ana.get(one)).body).toMatchObject({ ...whole, ...expected })
  })

  test.each([
    ['labels=', { labels: [] }],
    ['assignee_ids[]=', { assignees: [] }],
    ['assignee_ids=', { assignees: [] }],
    ['assignee_id=', { assignees: [] }],
    ['milestone_id=', { milestone: null }],
    ['due_date=', { due_date: null }],
    ['weight=', { weight: null }],
  ])('a form with %s', async (text, expected) => {
    const reply = await form(text)
    expect([reply.status, reply.body.error ?? null]).toEqual([200, null])
    expect((await ana.get(one)).body).toMatchObject({ ...whole, ...expected })
  })
})

describe('lists in a request', () => {
  test('of labels are texts with commas, arrays or repeated names', async () => {
    for (const body of [{ labels: 'x, y' }, { labels: ['x', 'y'] }, { labels: ['x', 'y', 'x'] }]) {
      expect((await ana.put(one, body)).body.labels).toEqual(['x', 'y'])
      await ana.put(one, { labels: '' })
    }
    for (const text of ['labels=x,y', 'labels[]=x&labels[]=y', 'labels%5B0%5D=x&labels%5B1%5D=y']) {
      expect([text, (await form(text)).body.labels]).toEqual([text, ['x', 'y']])
      await ana.put(one, { labels: '' })
    }
  })

  test('of people too', async () => {
    const names = async () =>
      (await ana.get(one)).body.assignees.map((user: { username: string }) => user.username)
    for (const text of [
      `assignee_ids[]=${ben.id}&assignee_ids[]=${ana.id}`,
      `assignee_ids=${ben.id},${ana.id}`,
    ]) {
      expect((await form(text)).status).toBe(200)
      expect((await names()).sort()).toEqual(['ana', 'ben'])
      await form(`assignee_id=${ben.id}`)
      expect(await names()).toEqual(['ben'])
    }
    await ana.put(one, { assignee_ids: [ana.id], assignee_id: ben.id })
    expect(await names()).toEqual(['ana'])
  })

  test('add and take away at once, over the whole set that is given', async () => {
    await ana.put(one, { add_labels: 'c,d', remove_labels: 'a' })
    expect((await ana.get(one)).body.labels).toEqual(['b', 'c', 'd'])
    await ana.put(one, { labels: 'x,y', add_labels: ['z'], remove_labels: ['y'] })
    expect((await ana.get(one)).body.labels).toEqual(['x', 'z'])
    await ana.put(one, { remove_labels: 'never' })
    expect((await ana.get(one)).body.labels).toEqual(['x', 'z'])
  })

  test('of people without a part in the project leave them out', async () => {
    const stranger = await world.user('stranger')
    const { body } = await ana.put(one, { assignee_ids: [stranger.id, 99_999, ben.id] })
    expect(body.assignees).toMatchObject([{ username: 'ben' }])
  })
})

test('a form makes an issue, with flags in words', async () => {
  const text = 'title=%C3%84+%26+b&description=l1%0D%0Al2&confidential=true&labels=q&weight=2'
  const { status, body } = await form(text, 'POST', issues)
  expect(status).toBe(201)
  expect(body).toMatchObject({
    title: 'Ä & b',
    description: 'l1\r\nl2',
    confidential: true,
    labels: ['q'],
    weight: 2,
  })
})

test('a multipart form does, too', async () => {
  const raw = new FormData()
  raw.set('title', 'in parts')
  raw.append('labels[]', 'p')
  raw.append('labels[]', 'q')
  raw.set('confidential', '1')
  const { status, body } = await ana.call('POST', issues, undefined, { raw })
  expect([status, body.title, body.labels, body.confidential]).toEqual([
    201,
    'in parts',
    ['p', 'q'],
    true,
  ])
})

test('words and signs of every script come back as they were', async () => {
  const title = '大 ß 🚀 — "q" <b> & \\ % #1 ~x ​'.trim()
  const description = `${title}\n\ttab\u00a0nbsp\u2028line \u{1F469}\u200D\u{1F680}`
  const { body } = await ana.post(issues, { title, description })
  expect([body.title, body.description]).toEqual([title, description])
  const found = await ana.get(`${issues}?search=${encodeURIComponent('🚀')}`)
  expect(found.body).toMatchObject([{ iid: body.iid }])
})

describe('limits', () => {
  test('a title has at most 255 characters', async () => {
    expect((await ana.put(one, { title: 'x'.repeat(255) })).body.title).toHaveLength(255)
    expect((await ana.put(one, { title: '  trimmed\t' })).body.title).toBe('trimmed')
    const over = await ana.put(one, { title: 'x'.repeat(256) })
    expect([over.status, over.body]).toEqual([
      400,
      { message: { title: ['is too long (maximum is 255 characters)'] } },
    ])
    expect((await ana.put(one, { title: '\n' })).status).toBe(400)
  })

  test('a character is one, however it is written down', async () => {
    const title = '🚀'.repeat(255)
    expect((await ana.put(one, { title })).body.title).toBe(title)
    expect((await ana.put(one, { title: `${title}!` })).status).toBe(400)
    expect((await ana.put(one, { labels: [title] })).body.labels).toEqual([title])
    expect((await ana.put(one, { labels: [`${title}!`] })).status).toBe(400)
    const goals = issues.replace(/issues$/, 'milestones')
    expect((await ana.post(goals, { title })).status).toBe(201)
    expect((await ana.post(goals, { title: `${title}!` })).status).toBe(400)
  })

  test('weights are whole numbers from 0 on', async () => {
    expect((await ana.put(one, { weight: 0 })).body.weight).toBe(0)
    for (const weight of [-1, 1.5, 'heavy', true])
      expect([weight, (await ana.put(one, { weight })).status]).toEqual([weight, 400])
  })

  test('days are those of the calendar', async () => {
    expect((await ana.put(one, { due_date: '2028-02-29' })).body.due_date).toBe('2028-02-29')
    expect((await ana.put(one, { due_date: '2026-07-01T23:59:59Z' })).body.due_date).toBe(
      '2026-07-01',
    )
    for (const due_date of ['2026-02-29', '2026-13-01', '26-01-01', 'tomorrow', 5])
      expect([due_date, (await ana.put(one, { due_date })).status]).toEqual([due_date, 400])
  })
})
