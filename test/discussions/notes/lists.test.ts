import { beforeAll, describe, expect, test } from 'vitest'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
const rita = useCaller(world, 'rita')
let bench: Bench
let at: string
let branches = 0

beforeAll(async () => {
  bench = await openBench(world, ana)
  at = `/projects/${bench.project.id}`
  await addMember(world, bench.project.id, dev.id, 30)
  await addMember(world, bench.project.id, rita.id, 20)
})

const kinds = ['issues', 'merge_requests'] as const

async function thing(kind: (typeof kinds)[number]): Promise<string> {
  if (kind === 'issues') {
    const { body } = await ana.post(`${at}/issues`, { title: 'x' })
    return `${at}/issues/${body.iid}`
  }
  branches += 1
  const branch = `work-${branches}`
  bench.commit(branch, { [`${branch}.txt`]: 'x\n' })
  const { body } = await bench.open(branch)
  return `${bench.api}/${body.iid}`
}

interface Note {
  readonly id: number
  readonly body: string
}
const bodiesOf = (notes: readonly Note[]) => notes.map((note) => note.body)

describe.each(kinds)('on %s', (kind) => {
  test('a reply makes a thread of a single comment', async () => {
    const one = await thing(kind)
    const { body: note } = await rita.post(`${one}/notes`, { body: 'Hm' })
    const [single] = (await ana.get(`${one}/discussions`)).body
    expect(single).toMatchObject({
      individual_note: true,
      notes: [{ id: note.id, type: null }],
    })
    const thread = `${one}/discussions/${single.id}`
    const reply = await dev.post(`${thread}/notes`, { body: 'Ha' })
    expect([reply.status, reply.body]).toMatchObject([
      201,
      { type: 'DiscussionNote', resolvable: true, author: { username: 'dev' } },
    ])
    const { body: after } = await ana.get(thread)
    expect(after).toMatchObject({
      id: single.id,
      individual_note: false,
      notes: [
        {
          id: note.id,
          type: 'DiscussionNote',
          body: 'Hm',
          resolvable: true,
          resolved: false,
        },
        { id: reply.body.id, body: 'Ha' },
      ],
    })
    expect(after.notes[0].updated_at).toBe(note.updated_at)
  })

  test('what the server notes can be read, and nothing else', async () => {
    const one = await thing(kind)
    await ana.put(one, { title: 'y' })
    const [note] = (await ana.get(`${one}/notes`)).body
    expect(note).toMatchObject({
      system: true,
      type: null,
      resolvable: false,
      author: { username: 'ana' },
    })
    const [thread] = (await ana.get(`${one}/discussions`)).body
    expect(thread).toMatchObject({
      individual_note: true,
      notes: [{ id: note.id }],
    })
    const replied = await ana.post(`${one}/discussions/${thread.id}/notes`, {
      body: 'x',
    })
    expect([replied.status, replied.body]).toEqual([
      400,
      { message: '400 Bad request - Discussion can not be replied to.' },
    ])
    for (const who of [ana, world.root]) {
      for (const path of [
        `${one}/notes/${note.id}`,
        `${one}/discussions/${thread.id}/notes/${note.id}`,
      ]) {
        expect((await who.put(path, { body: 'mine' })).status).toBe(403)
        expect((await who.delete(path)).status).toBe(403)
        expect((await who.get(path)).body).toEqual(note)
      }
    }
  })

  test('comments and changes are listed apart', async () => {
    const one = await thing(kind)
    await ana.post(`${one}/notes`, { body: 'before' })
    await ana.put(one, { title: 'y' })
    await ana.post(`${one}/discussions`, { body: 'after' })
    const list = async (filter: string) =>
      bodiesOf((await ana.get(`${one}/notes?sort=asc&activity_filter=${filter}`)).body)
    const changed = expect.stringMatching(/^changed title/)
    expect(await list('all_notes')).toEqual(['before', changed, 'after'])
    expect(await list('only_comments')).toEqual(['before', 'after'])
    expect(await list('only_activity')).toEqual([changed])
    const wrong = await ana.get(`${one}/notes?activity_filter=none`)
    expect([wrong.status, wrong.body]).toEqual([
      400,
      { error: 'activity_filter does not have a valid value' },
    ])
  })

  test('threads come by their first note, in pages of whole threads', async () => {
    const one = await thing(kind)
    const ids: string[] = []
    for (const body of ['a', 'b', 'c']) {
      ids.push((await ana.post(`${one}/discussions`, { body })).body.id)
    }
    for (const [thread, body] of [
      [0, 'a2'],
      [0, 'a3'],
      [2, 'c2'],
    ] as const) {
      await dev.post(`${one}/discussions/${ids[thread]}/notes`, { body })
    }
    const page = async (query: string) => {
      const reply = await ana.get(`${one}/discussions?${query}`)
      const threads = reply.body.map((thread: { notes: Note[] }) => bodiesOf(thread.notes))
      return [threads, reply.headers.get('x-total')]
    }
    expect(await page('')).toEqual([[['a', 'a2', 'a3'], ['b'], ['c', 'c2']], '3'])
    expect(await page('per_page=2')).toEqual([[['a', 'a2', 'a3'], ['b']], '3'])
    expect(await page('per_page=2&page=2')).toEqual([[['c', 'c2']], '3'])
  })

  test('comments are counted, changes and deleted ones are not', async () => {
    const one = await thing(kind)
    const count = async () => (await ana.get(one)).body.user_notes_count
    const { body: note } = await ana.post(`${one}/notes`, { body: 'a' })
    const { body: thread } = await ana.post(`${one}/discussions`, {
      body: 'b',
    })
    await ana.post(`${one}/discussions/${thread.id}/notes`, { body: 'c' })
    await ana.put(one, { title: 'y' })
    expect(await count()).toBe(3)
    await ana.delete(`${one}/notes/${note.id}`)
    expect(await count()).toBe(2)
  })

  test('owners and administrators say when a comment was made, others do not', async () => {
    const one = await thing(kind)
    const old = { body: 'old', created_at: '2020-02-03T04:05:06Z' }
    const then = {
      created_at: '2020-02-03T04:05:06.000Z',
      updated_at: '2020-02-03T04:05:06.000Z',
    }
    const now = {
      created_at: '2026-05-04T10:00:00.000Z',
      updated_at: '2026-05-04T10:00:00.000Z',
    }
    for (const [who, time] of [
      [ana, then],
      [world.root, then],
      [dev, now],
      [rita, now],
    ] as const) {
      expect((await who.post(`${one}/notes`, old)).body).toMatchObject(time)
      const { body: thread } = await who.post(`${one}/discussions`, old)
      expect(thread.notes).toMatchObject([time])
      const reply = await who.post(`${one}/discussions/${thread.id}/notes`, old)
      expect(reply.body).toMatchObject(time)
    }
    const odd = await ana.post(`${one}/notes`, {
      body: 'x',
      created_at: 'yesterday',
    })
    expect([odd.status, odd.body]).toEqual([400, { error: 'created_at is invalid' }])
  })

  test('whatever was written stays as it was, in any script', async () => {
    const one = await thing(kind)
    const texts = [
      'Zeilen\r\nmit\tTab',
      '𝒳 🏳️‍🌈 e\u0301 \u202Eabc',
      '<script>alert(1)</script>',
      "'; DROP TABLE notes; --",
    ]
    for (const body of texts) {
      const { body: note } = await rita.post(`${one}/notes`, { body })
      expect(note.body).toBe(body)
      expect((await dev.get(`${one}/notes/${note.id}`)).body.body).toBe(body)
    }
  })

  test('who loses the right to read loses the own comments too', async () => {
    const one = await thing(kind)
    const gone = await world.user(`gone-from-${kind.replace('_', '-')}`)
    await addMember(world, bench.project.id, gone.id, 30)
    const { body: note } = await gone.post(`${one}/notes`, { body: 'mine' })
    const { body: thread } = await gone.post(`${one}/discussions`, {
      body: 'mine too',
    })
    await ana.delete(`${at}/members/${gone.id}`)
    for (const path of [`${one}/notes/${note.id}`, `${one}/discussions/${thread.id}`]) {
      expect((await gone.get(path)).status).toBe(404)
      expect((await gone.put(path, { body: 'x', resolved: true })).status).toBe(404)
    }
    expect((await gone.delete(`${one}/notes/${note.id}`)).status).toBe(404)
    expect((await ana.get(`${one}/notes/${note.id}`)).body.body).toBe('mine')
  })

  test('five thousand notes are the most', async () => {
    const one = await thing(kind)
    const { body: note } = await ana.post(`${one}/notes`, { body: 'first' })
    await fill(note.id, 4998)
    const last = await ana.post(`${one}/notes`, { body: 'last' })
    expect(last.status).toBe(201)
    for (const path of ['notes', 'discussions']) {
      const refused = await ana.post(`${one}/${path}`, { body: 'one more' })
      expect([refused.status, refused.body]).toEqual([
        400,
        { message: '400 Bad request - Maximum number of comments exceeded' },
      ])
    }
    // What the server notes is not held up by that.
    expect((await ana.put(one, { title: 'still' })).status).toBe(200)
    await ana.delete(`${one}/notes/${last.body.id}`)
  })
})

/** Puts more comments beside one, as if they had been written. */
async function fill(noteId: number, more: number): Promise<void> {
  const { id: _, ...note } = await world.ctx.db
    .selectFrom('notes')
    .selectAll()
    .where('id', '=', noteId)
    .executeTakeFirstOrThrow()
  const rows = Array.from({ length: more }, (_, n) => ({
    ...note,
    discussion_id: n.toString(16).padStart(40, '0'),
  }))
  for (let n = 0; n < rows.length; n += 500) {
    await world.ctx.db
      .insertInto('notes')
      .values(rows.slice(n, n + 500))
      .execute()
  }
}
