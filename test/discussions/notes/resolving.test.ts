import { beforeAll, describe, expect, test } from 'vitest'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
const reporter = useCaller(world, 'reporter')
const guest = useCaller(world, 'guest')
let bench: Bench
let at: string
let branches = 0

beforeAll(async () => {
  bench = await openBench(world, ana)
  at = `/projects/${bench.project.id}`
  await ana.put(at, { visibility: 'public' })
  for (const [user, level] of [
    [dev, 30],
    [reporter, 20],
    [guest, 10],
  ] as const) {
    await addMember(world, bench.project.id, user.id, level)
  }
})

/** A merge request of its own for each test. */
async function request(): Promise<string> {
  branches += 1
  const branch = `work-${branches}`
  bench.commit(branch, { [`${branch}.txt`]: 'x\n' })
  const { body } = await bench.open(branch)
  return `${bench.api}/${body.iid}`
}

async function issue(author = ana): Promise<string> {
  const { body } = await author.post(`${at}/issues`, { title: 'x' })
  return `${at}/issues/${body.iid}`
}

interface Note {
  readonly id: number
  readonly body: string
  readonly resolved?: boolean
}

async function begin(one: string, who = ana, body = 'Why?') {
  const made = await who.post(`${one}/discussions`, { body })
  expect(made.status).toBe(201)
  return {
    thread: `${one}/discussions/${made.body.id}`,
    first: made.body.notes[0] as Note,
  }
}

const resolvedIn = async (thread: string) =>
  (await ana.get(thread)).body.notes.map((note: Note) => note.resolved)
const systemNotes = async (one: string) =>
  (await ana.get(`${one}/notes?activity_filter=only_activity&sort=asc`)).body.map(
    (note: Note) => note.body,
  )

describe('a thread', () => {
  test('is resolved as a whole, with who did it and when, and opened again', async () => {
    const one = await request()
    const { thread } = await begin(one)
    await guest.post(`${thread}/notes`, { body: 'Because' })
    world.setNow('2026-05-05T10:00:00.000Z')
    const done = await dev.put(thread, { resolved: true })
    world.setNow('2026-05-04T10:00:00.000Z')
    expect(done.status).toBe(200)
    const mark = {
      resolvable: true,
      resolved: true,
      resolved_by: { username: 'dev' },
      resolved_at: '2026-05-05T10:00:00.000Z',
    }
    expect(done.body.notes).toMatchObject([mark, mark])
    // Whoever resolves it a second time changes nothing.
    const twice = await ana.put(thread, { resolved: true })
    expect(twice.body).toEqual(done.body)
    const again = await dev.put(thread, { resolved: false })
    const open = {
      resolvable: true,
      resolved: false,
      resolved_by: null,
      resolved_at: null,
    }
    expect(again.body.notes).toMatchObject([open, open])
  })

  test('is resolved by Developers, by the author of the thing and by whoever began it', async () => {
    const theirs = await request()
    const { thread } = await begin(theirs)
    for (const who of [reporter, guest]) {
      const refused = await who.put(thread, { resolved: true })
      expect([refused.status, refused.body]).toEqual([403, { message: '403 Forbidden' }])
    }
    expect((await world.nobody.put(thread, { resolved: true })).status).toBe(401)
    expect(await resolvedIn(thread)).toEqual([false])
    const { thread: own } = await begin(theirs, guest)
    expect((await guest.put(own, { resolved: true })).status).toBe(200)
    const mine = await issue(reporter)
    const { thread: asked } = await begin(mine, guest)
    expect((await reporter.put(asked, { resolved: true })).status).toBe(200)
  })

  test('waits again when somebody replies to it after it was resolved', async () => {
    const one = await request()
    await ana.put(at, { only_allow_merge_if_all_discussions_are_resolved: true })
    const done = async () => (await ana.get(one)).body.blocking_discussions_resolved
    const { thread } = await begin(one)
    expect(await done()).toBe(false)
    await dev.put(thread, { resolved: true })
    expect(await done()).toBe(true)
    await guest.post(`${thread}/notes`, { body: 'Not so fast' })
    expect(await resolvedIn(thread)).toEqual([true, false])
    expect(await done()).toBe(false)
    await dev.put(thread, { resolved: true })
    expect(await done()).toBe(true)
    await ana.put(at, { only_allow_merge_if_all_discussions_are_resolved: false })
  })

  test('is resolved note by note too', async () => {
    const one = await request()
    const { thread, first } = await begin(one)
    const { body: reply } = await guest.post(`${thread}/notes`, {
      body: 'Because',
    })
    const path = (note: Note) => `${thread}/notes/${note.id}`
    const mine = await guest.put(path(reply), { resolved: true })
    expect([mine.status, mine.body.resolved]).toEqual([200, true])
    expect((await guest.put(path(first), { resolved: true })).status).toBe(403)
    expect(await resolvedIn(thread)).toEqual([false, true])
    expect((await dev.put(path(first), { resolved: true })).body.resolved).toBe(true)
    expect(await systemNotes(one)).toEqual(['resolved all threads'])
  })

  test('says that it was the last one open, once', async () => {
    const one = await request()
    const { thread: a } = await begin(one, ana, 'a')
    const { thread: b } = await begin(one, ana, 'b')
    await dev.put(a, { resolved: true })
    expect(await systemNotes(one)).toEqual([])
    await dev.put(b, { resolved: true })
    await dev.put(b, { resolved: true })
    expect(await systemNotes(one)).toEqual(['resolved all threads'])
  })

  test('of a single comment cannot be resolved', async () => {
    for (const one of [await request(), await issue()]) {
      const { body: note } = await ana.post(`${one}/notes`, {
        body: 'Just saying',
      })
      expect(note.resolvable).toBe(false)
      const [{ id }] = (await ana.get(`${one}/discussions`)).body
      const thread = `${one}/discussions/${id}`
      const refused = await ana.put(`${thread}/notes/${note.id}`, {
        resolved: true,
      })
      expect([refused.status, refused.body]).toEqual([
        400,
        { message: '400 Bad request - Note is not resolvable' },
      ])
      expect((await ana.put(thread, { resolved: true })).status).toBe(400)
    }
  })

  test('holds up the merge no longer when its notes are deleted', async () => {
    const one = await request()
    await ana.put(at, {
      only_allow_merge_if_all_discussions_are_resolved: true,
    })
    const { first } = await begin(one)
    const status = async () => (await bench.read(Number(one.split('/').at(-1)))).body
    expect((await status()).detailed_merge_status).toBe('discussions_not_resolved')
    expect((await ana.put(`${one}/merge`)).status).toBe(405)
    await ana.delete(`${one}/notes/${first.id}`)
    expect((await status()).detailed_merge_status).toBe('mergeable')
    await ana.put(at, {
      only_allow_merge_if_all_discussions_are_resolved: false,
    })
  })

  test('never holds up the merge as a single comment', async () => {
    const one = await request()
    await ana.put(at, { only_allow_merge_if_all_discussions_are_resolved: true })
    await ana.post(`${one}/notes`, { body: 'Just saying' })
    expect((await ana.get(one)).body.blocking_discussions_resolved).toBe(true)
    await ana.put(at, { only_allow_merge_if_all_discussions_are_resolved: false })
  })
})

describe('a change of a note in a thread', () => {
  test('names its text or its resolution, not both and not neither', async () => {
    const { thread, first } = await begin(await request())
    const path = `${thread}/notes/${first.id}`
    const both = await ana.put(path, { body: 'x', resolved: true })
    const neither = await ana.put(path, {})
    expect([both.status, neither.status]).toEqual([400, 400])
    expect(both.body).toEqual({
      error: 'body, resolved are mutually exclusive',
    })
    expect((await ana.get(path)).body).toMatchObject({
      body: 'Why?',
      resolved: false,
    })
  })

  test('of its text leaves its resolution, and the other way round', async () => {
    const { thread, first } = await begin(await request())
    const path = `${thread}/notes/${first.id}`
    await ana.put(path, { resolved: true })
    world.setNow('2026-05-05T10:00:00.000Z')
    const worded = await ana.put(path, { body: 'How?' })
    expect(worded.body).toMatchObject({
      body: 'How?',
      resolved: true,
      resolved_at: '2026-05-04T10:00:00.000Z',
      updated_at: '2026-05-05T10:00:00.000Z',
    })
    const opened = await ana.put(path, { resolved: false })
    world.setNow('2026-05-04T10:00:00.000Z')
    expect(opened.body).toMatchObject({
      body: 'How?',
      resolved: false,
      resolved_at: null,
    })
  })

  test('is not possible through another thread', async () => {
    const one = await request()
    const { thread: a } = await begin(one)
    const { first: b } = await begin(one)
    for (const reply of [
      await ana.get(`${a}/notes/${b.id}`),
      await ana.put(`${a}/notes/${b.id}`, { body: 'x' }),
      await ana.delete(`${a}/notes/${b.id}`),
    ]) {
      expect([reply.status, reply.body]).toEqual([404, { message: '404 Note Not Found' }])
    }
    const { thread: elsewhere } = await begin(await request())
    const id = elsewhere.split('/').at(-1)
    expect((await ana.get(`${one}/discussions/${id}`)).status).toBe(404)
    expect((await ana.post(`${one}/discussions/${id}/notes`, { body: 'x' })).status).toBe(404)
  })
})
