import { beforeAll, describe, expect, test } from 'vitest'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
const guest = useCaller(world, 'guest')
let bench: Bench
let sha: string

beforeAll(async () => {
  bench = await openBench(world, ana)
  await ana.put(`/projects/${bench.project.id}`, { visibility: 'public' })
  await addMember(world, bench.project.id, dev.id, 30)
  await addMember(world, bench.project.id, guest.id, 10)
  sha = bench.commit('work', { 'a.txt': 'one\ntwo\n' })
})

interface Note {
  readonly id: number
  readonly body: string
}
const bodiesOf = (notes: readonly Note[]) => notes.map((note) => note.body)

/** Something of each kind that people comment on, by its path. */
async function thingOf(kind: string): Promise<string> {
  const at = `/projects/${bench.project.id}`
  switch (kind) {
    case 'issues':
      return `${at}/issues/${(await ana.post(`${at}/issues`, { title: 'x' })).body.iid}`
    case 'merge_requests': {
      const { body } = await ana.get(`${bench.api}?source_branch=work`)
      const iid = body[0]?.iid ?? (await bench.open('work')).body.iid
      return `${bench.api}/${iid}`
    }
    case 'snippets': {
      const file = { file_name: 'a', content: 'b', visibility: 'public' }
      const made = await ana.post(`${at}/snippets`, { title: 'x', ...file })
      return `${at}/snippets/${made.body.id}`
    }
    default:
      return `${at}/repository/commits/${sha}`
  }
}

describe.each(['issues', 'merge_requests', 'snippets'])('notes on %s', (kind) => {
  let notes: string
  let one: string

  beforeAll(async () => {
    one = await thingOf(kind)
    notes = `${one}/notes`
  })

  test('are said, read, changed by their author and deleted', async () => {
    world.setNow('2026-05-04T10:00:00.000Z')
    const made = await guest.post(notes, { body: 'first', created_at: '2020-01-01T00:00:00Z' })
    expect([made.status, made.body]).toEqual([
      201,
      {
        id: made.body.id,
        type: null,
        body: 'first',
        attachment: null,
        author: expect.objectContaining({ username: 'guest' }),
        created_at: '2026-05-04T10:00:00.000Z',
        updated_at: '2026-05-04T10:00:00.000Z',
        system: false,
        noteable_id: expect.any(Number),
        noteable_type: { issues: 'Issue', merge_requests: 'MergeRequest', snippets: 'Snippet' }[
          kind
        ],
        project_id: bench.project.id,
        resolvable: false,
        confidential: false,
        internal: false,
        imported: false,
        imported_from: 'none',
        noteable_iid: kind === 'snippets' ? null : Number(one.split('/').at(-1)),
        commands_changes: {},
      },
    ])
    const path = `${notes}/${made.body.id}`
    expect((await dev.get(path)).body).toEqual(made.body)
    world.setNow('2026-05-04T11:00:00.000Z')
    const changed = await guest.put(path, { body: 'second' })
    expect(changed.body).toEqual({
      ...made.body,
      body: 'second',
      updated_at: '2026-05-04T11:00:00.000Z',
    })
    const blank = await guest.put(path, { body: ' ' })
    expect([blank.status, blank.body]).toEqual([
      400,
      { message: '400 Bad request - Note {:note=>["can\'t be blank"]}' },
    ])
    for (const refused of [await dev.put(path, { body: 'mine' }), await dev.delete(path)]) {
      expect([refused.status, refused.body]).toEqual([403, { message: '403 Forbidden' }])
    }
    // Maintainers keep order.
    expect((await ana.put(path, { body: 'moderated' })).body.body).toBe('moderated')
    const since = { 'If-Unmodified-Since': 'Mon, 04 May 2026 09:00:00 GMT' }
    expect((await guest.delete(path, undefined, { headers: since })).status).toBe(412)
    expect((await guest.delete(path)).status).toBe(204)
    expect((await guest.delete(path)).body).toEqual({ message: '404 Note Not Found' })
    world.setNow('2026-05-04T10:00:00.000Z')
  })

  test('are listed newest first, or as asked, in pages', async () => {
    for (const [n, body] of ['a', 'b', 'c'].entries()) {
      world.setNow(`2026-05-05T10:00:0${n}.000Z`)
      await ana.post(notes, { body })
    }
    world.setNow('2026-05-05T11:00:00.000Z')
    const { body: all } = await ana.get(`${notes}?activity_filter=only_comments`)
    const [, b] = all as Note[]
    await ana.put(`${notes}/${b?.id}`, { body: 'b changed' })
    world.setNow('2026-05-04T10:00:00.000Z')
    const list = async (query: string) =>
      bodiesOf((await ana.get(`${notes}?activity_filter=only_comments&${query}`)).body)
    expect(await list('')).toEqual(['c', 'b changed', 'a'])
    expect(await list('sort=asc')).toEqual(['a', 'b changed', 'c'])
    expect(await list('order_by=updated_at')).toEqual(['b changed', 'c', 'a'])
    expect(await list('order_by=updated_at&sort=asc')).toEqual(['a', 'c', 'b changed'])
    expect(await list('per_page=2&page=2')).toEqual(['a'])
    const wrong = await ana.get(`${notes}?order_by=body`)
    expect([wrong.status, wrong.body]).toEqual([
      400,
      { error: 'order_by does not have a valid value' },
    ])
  })

  test('that are too long are refused', async () => {
    const reply = await ana.post(notes, { body: 'x'.repeat(1_000_001) })
    expect(reply.status).toBe(400)
    expect((await ana.post(notes, { body: 'x'.repeat(1_000_000) })).status).toBe(201)
  })
})

describe.each(['issues', 'merge_requests', 'snippets', 'commits'])('threads on %s', (kind) => {
  let threads: string

  beforeAll(async () => {
    threads = `${await thingOf(kind)}/discussions`
  })

  test('hold replies in their order, each changed and deleted alone', async () => {
    const begun = await dev.post(threads, { body: 'one' })
    expect(begun.status).toBe(201)
    expect(begun.body).toMatchObject({
      individual_note: false,
      notes: [{ type: 'DiscussionNote' }],
    })
    expect(begun.body.id).toMatch(/^[0-9a-f]{40}$/)
    const path = `${threads}/${begun.body.id}`
    const reply = await guest.post(`${path}/notes`, { body: 'two' })
    expect([reply.status, reply.body]).toMatchObject([201, { body: 'two', type: 'DiscussionNote' }])
    await dev.post(`${path}/notes`, { body: 'three' })
    expect(bodiesOf((await ana.get(`${path}/notes`)).body)).toEqual(['one', 'two', 'three'])
    const note = `${path}/notes/${reply.body.id}`
    expect((await guest.put(note, { body: 'two again' })).body.body).toBe('two again')
    expect((await ana.get(note)).body.body).toBe('two again')
    expect((await dev.delete(note)).status).toBe(403)
    // The first note of a thread goes, the thread stays.
    expect((await dev.delete(`${path}/notes/${begun.body.notes[0].id}`)).status).toBe(204)
    expect(bodiesOf((await ana.get(path)).body.notes)).toEqual(['two again', 'three'])
    const listed = (await ana.get(`${threads}?per_page=100`)).body
    expect(listed.map((thread: { id: string }) => thread.id)).toContain(begun.body.id)
  })

  test('are gone with their last note', async () => {
    const { body: begun } = await dev.post(threads, { body: 'alone' })
    const path = `${threads}/${begun.id}`
    await dev.delete(`${path}/notes/${begun.notes[0].id}`)
    expect((await dev.get(path)).body).toEqual({ message: '404 Discussion Not Found' })
    expect((await dev.get(`${path}/notes`)).body).toEqual({ message: '404 Notes Not Found' })
    expect((await dev.post(`${path}/notes`, { body: 'x' })).status).toBe(404)
  })

  test('are resolved where that makes sense', async () => {
    const { body: begun } = await dev.post(threads, { body: 'open question' })
    const path = `${threads}/${begun.id}`
    const [first] = begun.notes
    if (kind === 'snippets' || kind === 'commits') {
      expect(first.resolvable).toBe(false)
      expect((await dev.put(path, { resolved: true })).status).toBe(405)
      const refused = await dev.put(`${path}/notes/${first.id}`, { resolved: true })
      expect([refused.status, refused.body]).toEqual([
        400,
        { message: '400 Bad request - Note is not resolvable' },
      ])
      return
    }
    expect(first).toMatchObject({ resolvable: true, resolved: false, resolved_by: null })
    const refused = await guest.put(path, { resolved: true })
    expect([refused.status, refused.body]).toEqual([403, { message: '403 Forbidden' }])
    const resolved = await dev.put(path, { resolved: true })
    expect(resolved.body.notes[0]).toMatchObject({
      resolved: true,
      resolved_by: { username: 'dev' },
      resolved_at: '2026-05-04T10:00:00.000Z',
    })
    const open = await dev.put(`${path}/notes/${first.id}`, { resolved: false })
    expect(open.body).toMatchObject({ resolved: false, resolved_by: null, resolved_at: null })
    expect((await dev.put(path, {})).body).toEqual({ error: 'resolved is missing' })
  })
})

test.each(['snippets', 'commits'])('a single comment on %s takes no reply', async (kind) => {
  const one = await thingOf(kind)
  const at = `${one}/${kind === 'commits' ? 'comments' : 'notes'}`
  await ana.post(at, { body: 'single', note: 'single' })
  const { body } = await ana.get(`${one}/discussions?per_page=100`)
  const thread = body.find((each: { individual_note: boolean }) => each.individual_note)
  const reply = await ana.post(`${one}/discussions/${thread.id}/notes`, { body: 'x' })
  expect([reply.status, reply.body]).toEqual([
    400,
    { message: '400 Bad request - Discussion can not be replied to.' },
  ])
})

describe('an internal note', () => {
  test('keeps the whole thread from those who may not read it', async () => {
    const one = await thingOf('issues')
    const { body: note } = await dev.post(`${one}/notes`, { body: 'psst', internal: true })
    expect(note).toMatchObject({ internal: true, confidential: true })
    const { body: threads } = await dev.get(`${one}/discussions`)
    const path = `${one}/discussions/${threads[0].id}`
    const reply = await dev.post(`${path}/notes`, { body: 'and more' })
    expect(reply.body).toMatchObject({ internal: true, confidential: true })
    expect(bodiesOf((await dev.get(`${one}/notes`)).body)).toEqual(['and more', 'psst'])
    for (const who of [guest, await world.user('passer')]) {
      expect((await who.get(`${one}/notes`)).body).toEqual([])
      expect((await who.get(`${one}/discussions`)).body).toEqual([])
      expect((await who.get(path)).body).toEqual({ message: '404 Discussion Not Found' })
      expect((await who.post(`${path}/notes`, { body: 'x' })).status).toBe(404)
      expect((await who.get(`${one}/notes/${reply.body.id}/award_emoji`)).status).toBe(404)
    }
    // It stays internal, whatever a change says.
    const changed = await dev.put(`${one}/notes/${note.id}`, { body: 'new', confidential: false })
    expect(changed.body).toMatchObject({ body: 'new', internal: true })
  })
})

describe('a place in an image', () => {
  const png =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

  test('is kept with its point, on merge requests and on commits', async () => {
    const file = { branch: 'picture', start_branch: 'main', commit_message: 'Draw' }
    const path = `/projects/${bench.project.id}/repository/files/dot.png`
    await ana.post(path, { ...file, content: png, encoding: 'base64' })
    const { body: request } = await bench.open('picture')
    const { diff_refs: refs, sha: head } = request
    const point = { position_type: 'image', width: 1, height: 1, x: 0, y: 0 }
    const position = { ...refs, ...point, old_path: 'dot.png', new_path: 'dot.png' }
    const commit = `/projects/${bench.project.id}/repository/commits/${head}`
    for (const one of [`${bench.api}/${request.iid}`, commit]) {
      const made = await ana.post(`${one}/discussions`, { body: 'Here', position })
      expect([one, made.status]).toEqual([one, 201])
      expect(made.body.notes[0]).toMatchObject({ type: 'DiffNote', position: point })
    }
  })
})

describe('a thread about one commit of a merge request', () => {
  test('keeps which, and is refused for a commit of another', async () => {
    const first = bench.commit('steps', { 's.txt': '1\n' })
    const second = bench.commit('steps', { 's.txt': '2\n' })
    const { body: request } = await bench.open('steps')
    const threads = `${bench.api}/${request.iid}/discussions`
    const made = await ana.post(threads, { body: 'In the first', commit_id: first })
    expect([made.status, made.body.notes[0].commit_id]).toEqual([201, first])
    const read = await ana.get(`${threads}/${made.body.id}`)
    expect(read.body.notes[0].commit_id).toBe(first)
    const { diff_refs: refs } = request
    const position = { ...refs, position_type: 'text', new_path: 's.txt', new_line: 1 }
    const placed = await ana.post(threads, { body: 'Here', commit_id: second, position })
    expect(placed.body.notes[0]).toMatchObject({ commit_id: second, type: 'DiffNote' })
    const foreign = await ana.post(threads, { body: 'x', commit_id: sha })
    expect([foreign.status, foreign.body]).toEqual([404, { message: '404 Commit Not Found' }])
  })
})
