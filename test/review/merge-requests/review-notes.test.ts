import { describe, expect, test } from 'vitest'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')

async function stage(settings: Readonly<Record<string, unknown>> = {}) {
  const bench = await openBench(world, ana, settings)
  await addMember(world, bench.project.id, ben.id, 30)
  bench.commit('topic', { 'README.md': 'one\n2\nthree\nfour\n' })
  const { body } = await bench.open('topic', { reviewer_ids: [ben.id] })
  return { bench, at: `${bench.api}/1`, refs: body.diff_refs }
}

const texts = async (bench: Bench) => {
  const { body } = await ana.get(`${bench.api}/1/notes?sort=asc&activity_filter=only_comments`)
  return body.map((note: { body: string }) => note.body)
}

describe('drafts of a review', () => {
  test('are seen by their author only, until they are published', async () => {
    const { bench, at, refs } = await stage()
    const thread = await ana.post(`${at}/discussions`, { body: 'Why?' })
    const position = { ...refs, position_type: 'text', new_path: 'README.md', new_line: 4 }
    const first = await ben.post(`${at}/draft_notes`, { note: 'Four?', position })
    expect([first.status, first.body.position.new_line]).toEqual([201, 4])
    const reply = {
      note: 'Because',
      in_reply_to_discussion_id: thread.body.id,
      resolve_discussion: true,
    }
    const second = await ben.post(`${at}/draft_notes`, reply)
    expect((await ana.get(`${at}/draft_notes`)).body).toEqual([])
    expect((await ana.get(`${at}/draft_notes/${first.body.id}`)).status).toBe(404)
    expect((await ben.put(`${at}/draft_notes/${first.body.id}`, { note: '4?' })).body.note).toBe(
      '4?',
    )
    expect(await texts(bench)).toEqual(['Why?'])
    expect((await ben.put(`${at}/draft_notes/${second.body.id}/publish`)).status).toBe(204)
    const resolved = await ana.get(`${at}/discussions/${thread.body.id}`)
    expect(resolved.body.notes.map((note: { resolved: boolean }) => note.resolved)).toEqual([
      true,
      true,
    ])
    expect((await ben.post(`${at}/draft_notes/bulk_publish`)).status).toBe(204)
    expect(await texts(bench)).toEqual(['Why?', 'Because', '4?'])
    expect((await ben.get(`${at}/draft_notes`)).body).toEqual([])
    expect((await ana.get(`${at}/reviewers`)).body[0].state).toBe('reviewed')
    const gone = await ben.post(`${at}/draft_notes`, { note: 'x' })
    expect((await ben.delete(`${at}/draft_notes/${gone.body.id}`)).status).toBe(204)
  })
})

describe('a draft', () => {
  test('is refused where it could not be published', async () => {
    const { at } = await stage()
    const guest = await world.user('guest')
    await ana.put(at.replace(/\/merge_requests.*/, ''), { visibility: 'public' })
    const { body: thread } = await ana.post(`${at}/discussions`, { body: 'Why?' })
    const reply = { note: 'x', in_reply_to_discussion_id: thread.id }
    const refusals = [
      await ben.post(`${at}/draft_notes`, { ...reply, in_reply_to_discussion_id: 'a'.repeat(40) }),
      await ben.post(`${at}/draft_notes`, { note: 'x', commit_id: 'a'.repeat(40) }),
      await guest.post(`${at}/draft_notes`, { ...reply, resolve_discussion: true }),
      await ben.post(`${at}/draft_notes`, { note: ' ' }),
    ]
    expect(refusals.map((reply) => [reply.status, reply.body])).toEqual([
      [404, { message: '404 Discussion Not Found' }],
      [404, { message: '404 Commit Not Found' }],
      [403, { message: '403 Forbidden' }],
      [400, { error: 'note is empty' }],
    ])
    expect((await guest.post(`${at}/draft_notes`, reply)).status).toBe(201)
    expect((await guest.post(`${at}/draft_notes/bulk_publish`)).status).toBe(204)
  })

  test('says where in the diff it is', async () => {
    const { at, refs } = await stage()
    const place = (new_line: number) => ({
      position: { ...refs, position_type: 'text', new_path: 'README.md', new_line },
    })
    const { body: plain } = await ben.post(`${at}/draft_notes`, { note: 'All of it' })
    expect(plain).toMatchObject({ line_code: null, position: null })
    const { body: draft } = await ben.post(`${at}/draft_notes`, { note: 'Four?', ...place(4) })
    // The added line stands behind the third of the old side.
    expect(draft.line_code).toMatch(/^[0-9a-f]{40}_4_4$/)
    const moved = await ben.put(`${at}/draft_notes/${draft.id}`, place(2))
    expect(moved.body.line_code).toMatch(/^[0-9a-f]{40}_3_2$/)
    expect((await ben.get(`${at}/draft_notes/${draft.id}`)).body).toEqual(moved.body)
    const { body: same } = await ben.post(`${at}/draft_notes`, { note: 'Two?', ...place(2) })
    expect(same.line_code).toBe(moved.body.line_code)
  })

  test('keeps the commit that it is about when it is published', async () => {
    const { at } = await stage()
    const commit_id = (await ana.get(at)).body.sha
    const { body: draft } = await ben.post(`${at}/draft_notes`, { note: 'There', commit_id })
    expect(draft).toMatchObject({ commit_id, discussion_id: null, resolve_discussion: false })
    await ben.put(`${at}/draft_notes/${draft.id}/publish`)
    const { body: threads } = await ana.get(`${at}/discussions`)
    expect(threads.at(-1).notes).toMatchObject([{ body: 'There', commit_id }])
  })
})

describe('a thread on a line', () => {
  test('must fit the diff, and holds up the merge where the project says so', async () => {
    const { at, refs } = await stage({ only_allow_merge_if_all_discussions_are_resolved: true })
    const place = (more: object) =>
      ben.post(`${at}/discussions`, {
        body: 'Here',
        position: { ...refs, position_type: 'text', ...more },
      })
    expect((await place({ new_path: 'README.md', new_line: 1 })).status).toBe(400)
    expect((await place({ new_path: 'nowhere', new_line: 1 })).status).toBe(400)
    expect((await place({ new_path: 'README.md', old_line: 2 })).status).toBe(201)
    expect((await place({ new_path: 'README.md', old_line: 3, new_line: 3 })).status).toBe(201)
    const added = await place({ new_path: 'README.md', new_line: 2 })
    expect(added.body.notes[0]).toMatchObject({
      type: 'DiffNote',
      resolvable: true,
      position: { new_line: 2, old_line: null, head_sha: refs.head_sha },
    })
    expect((await ana.get(at)).body).toMatchObject({
      detailed_merge_status: 'discussions_not_resolved',
      blocking_discussions_resolved: false,
    })
    const threads = await ana.get(`${at}/discussions`)
    for (const { id } of threads.body) {
      expect((await ana.put(`${at}/discussions/${id}`, { resolved: true })).status).toBe(200)
    }
    expect((await ana.get(at)).body.detailed_merge_status).toBe('mergeable')
  })

  test('moves with its line through later versions, and stays where it was when the line goes', async () => {
    const { bench, at, refs } = await stage()
    const place = (line: number) =>
      ben.post(`${at}/discussions`, {
        body: `Line ${line}`,
        position: { ...refs, position_type: 'text', new_path: 'README.md', new_line: line },
      })
    const kept = await place(4)
    const lost = await place(2)
    const content = Buffer.from('zero\none\ntwo\nthree\nfour\n').toString('base64')
    const file = { branch: 'topic', commit_message: 'Again', content, encoding: 'base64' }
    await ana.put(`/projects/${bench.project.id}/repository/files/README.md`, file)
    const { body } = await bench.read(1)
    const read = async (id: string) => (await ana.get(`${at}/discussions/${id}`)).body.notes
    const [moved] = await read(kept.body.id)
    expect(moved.position).toMatchObject({
      new_line: 5,
      head_sha: body.diff_refs.head_sha,
      base_sha: body.diff_refs.base_sha,
    })
    const [stayed] = await read(lost.body.id)
    expect(stayed.position).toMatchObject({ new_line: 2, head_sha: refs.head_sha })
  })
})
