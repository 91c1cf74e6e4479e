import { describe, expect, test } from 'vitest'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
const cleo = useCaller(world, 'cleo')

async function stage() {
  const bench: Bench = await openBench(world, ana)
  for (const user of [ben, cleo]) await addMember(world, bench.project.id, user.id, 30)
  bench.commit('topic', { 'README.md': 'one\n2\nthree\nfour\n' })
  const { body } = await bench.open('topic', { reviewer_ids: [ben.id] })
  const one = `${bench.api}/1`
  return { bench, one, drafts: `${one}/draft_notes`, refs: body.diff_refs }
}

async function comments(one: string): Promise<string[]> {
  const { body } = await ana.get(`${one}/notes?sort=asc&activity_filter=only_comments`)
  return body.map((note: { body: string }) => note.body)
}

const addLabel = (bench: Bench, name: string) =>
  ana.post(`/projects/${bench.project.id}/labels`, { name, color: 'red' })

const notesOf = (body: readonly { note: string }[]) => body.map((draft) => draft.note)

describe('own drafts', () => {
  test('are listed oldest first and in pages, and say whose they are', async () => {
    const { drafts } = await stage()
    for (const note of ['a', 'b', 'c']) await ben.post(drafts, { note })
    await cleo.post(drafts, { note: 'of cleo' })
    const all = await ben.get(drafts)
    expect(notesOf(all.body)).toEqual(['a', 'b', 'c'])
    expect(all.body[0]).toEqual({
      id: all.body[0].id,
      author_id: ben.id,
      merge_request_id: expect.any(Number),
      resolve_discussion: false,
      discussion_id: null,
      note: 'a',
      commit_id: null,
      line_code: null,
      position: null,
    })
    const paged = await ben.get(`${drafts}?per_page=2&page=2`)
    expect([notesOf(paged.body), paged.headers.get('x-total')]).toEqual([['c'], '3'])
    expect(notesOf((await cleo.get(drafts)).body)).toEqual(['of cleo'])
  })

  test('of others cannot be read, changed, published or thrown away', async () => {
    const { one, drafts } = await stage()
    const { body: draft } = await ben.post(drafts, { note: 'mine' })
    const path = `${drafts}/${draft.id}`
    for (const reply of [
      await ana.get(path),
      await ana.put(path, { note: 'yours' }),
      await ana.put(`${path}/publish`),
      await ana.delete(path),
      await world.root.get(path),
    ]) {
      expect(reply.status).toBe(404)
    }
    expect((await ana.post(`${drafts}/bulk_publish`)).status).toBe(204)
    expect(await comments(one)).toEqual([])
    expect((await ben.get(path)).body).toEqual(draft)
  })

  test('keep what a change does not name', async () => {
    const { drafts, refs } = await stage()
    const position = {
      ...refs,
      position_type: 'text',
      new_path: 'README.md',
      new_line: 4,
    }
    const { body: draft } = await ben.post(drafts, { note: 'Four?', position })
    const worded = await ben.put(`${drafts}/${draft.id}`, {
      note: 'Why four?',
    })
    expect(worded.body).toEqual({ ...draft, note: 'Why four?' })
    const nothing = await ben.put(`${drafts}/${draft.id}`, { note: ' ' })
    expect([nothing.status, nothing.body]).toEqual([400, { error: 'note is empty' }])
    const misplaced = await ben.put(`${drafts}/${draft.id}`, {
      position: { ...position, new_line: 99 },
    })
    expect(misplaced.status).toBe(400)
    expect((await ben.get(`${drafts}/${draft.id}`)).body).toEqual(worded.body)
  })

  test('go with the merge request', async () => {
    const { one, drafts } = await stage()
    const { body: draft } = await ben.post(drafts, { note: 'lost' })
    await ana.delete(one)
    expect((await ben.get(`${drafts}/${draft.id}`)).status).toBe(404)
    expect((await ben.get(drafts)).status).toBe(404)
  })
})

describe('publishing', () => {
  test('makes a thread of each draft, in their order, on its line', async () => {
    const { one, drafts, refs } = await stage()
    const position = {
      ...refs,
      position_type: 'text',
      new_path: 'README.md',
      new_line: 4,
    }
    await ben.post(drafts, { note: 'In general' })
    await ben.post(drafts, { note: 'On a line', position })
    world.setNow('2026-05-05T09:00:00.000Z')
    expect((await ben.post(`${drafts}/bulk_publish`)).status).toBe(204)
    world.setNow('2026-05-04T10:00:00.000Z')
    const { body: threads } = await ana.get(`${one}/discussions`)
    expect(threads).toMatchObject([
      {
        individual_note: false,
        notes: [{ type: 'DiscussionNote', body: 'In general', resolvable: true }],
      },
      {
        individual_note: false,
        notes: [
          {
            type: 'DiffNote',
            body: 'On a line',
            author: { username: 'ben' },
            created_at: '2026-05-05T09:00:00.000Z',
            position: { new_path: 'README.md', new_line: 4, old_line: null },
          },
        ],
      },
    ])
    expect((await ben.get(drafts)).body).toEqual([])
    // Nothing is left to publish.
    expect((await ben.post(`${drafts}/bulk_publish`)).status).toBe(204)
    expect(await comments(one)).toEqual(['In general', 'On a line'])
  })

  test('of one draft leaves the others', async () => {
    const { one, drafts } = await stage()
    const { body: first } = await ben.post(drafts, { note: 'first' })
    await ben.post(drafts, { note: 'second' })
    expect((await ben.put(`${drafts}/${first.id}/publish`)).status).toBe(204)
    expect((await ben.put(`${drafts}/${first.id}/publish`)).status).toBe(404)
    expect(await comments(one)).toEqual(['first'])
    expect(notesOf((await ben.get(drafts)).body)).toEqual(['second'])
  })

  test('many times at once publishes each draft once', async () => {
    const { one, drafts } = await stage()
    for (const note of ['a', 'b', 'c']) await ben.post(drafts, { note })
    const replies = await Promise.all([1, 2, 3].map(() => ben.post(`${drafts}/bulk_publish`)))
    expect(replies.map((reply) => reply.status)).toEqual([204, 204, 204])
    expect(await comments(one)).toEqual(['a', 'b', 'c'])
  })

  test('answers a thread that is gone in one of its own, and leaves nothing out', async () => {
    const { one, drafts } = await stage()
    const thread = await ana.post(`${one}/discussions`, { body: 'Why?' })
    const reply = { note: 'Because', in_reply_to_discussion_id: thread.body.id }
    await ben.post(drafts, { ...reply, resolve_discussion: true })
    await ben.post(drafts, { note: 'Else' })
    expect((await ana.delete(`${one}/notes/${thread.body.notes[0].id}`)).status).toBe(204)
    expect((await ben.post(`${drafts}/bulk_publish`)).status).toBe(204)
    expect(await comments(one)).toEqual(['Because', 'Else'])
    expect((await ben.get(drafts)).body).toEqual([])
  })

  test('carries out the quick actions of drafts instead of showing them', async () => {
    const { bench, one, drafts } = await stage()
    await addLabel(bench, 'doing')
    await ben.post(drafts, { note: 'Needs work\n/label ~doing' })
    await ben.post(drafts, { note: '/title Better' })
    expect((await ben.post(`${drafts}/bulk_publish`)).status).toBe(204)
    expect(await comments(one)).toEqual(['Needs work'])
    expect((await ana.get(one)).body).toMatchObject({
      labels: ['doing'],
      title: 'Better',
    })
  })

  test('with an approval carries them out as well', async () => {
    const { bench, one, drafts } = await stage()
    await addLabel(bench, 'reviewed')
    await ben.post(drafts, { note: 'Fine by me\n/label ~reviewed' })
    const { body } = await ben.post(`${one}/approve`, { publish_review: true })
    expect(body).toMatchObject({ user_has_approved: true })
    expect(await comments(one)).toEqual(['Fine by me'])
    expect((await ana.get(one)).body.labels).toEqual(['reviewed'])
    const [reviewer] = (await ana.get(`${one}/reviewers`)).body
    expect(reviewer.state).toBe('approved')
  })

  test('by /submit_review carries them out as well', async () => {
    const { bench, one, drafts } = await stage()
    await addLabel(bench, 'doing')
    await ben.post(drafts, { note: 'Needs work\n/label ~doing' })
    const sent = await ben.post(`${one}/notes`, {
      body: 'That is all\n/submit_review',
    })
    expect(sent.status).toBe(201)
    expect(await comments(one)).toEqual(['That is all', 'Needs work'])
    expect((await ana.get(one)).body.labels).toEqual(['doing'])
    expect((await ben.get(drafts)).body).toEqual([])
  })

  test('replies to a thread as it is, resolving it where the draft says so', async () => {
    const { one, drafts } = await stage()
    const begin = async (body: string) => (await ana.post(`${one}/discussions`, { body })).body.id
    const [open, done] = [await begin('Open?'), await begin('Done?')]
    const reply = (thread: string, resolve_discussion: boolean) =>
      ben.post(drafts, {
        note: 'Yes',
        in_reply_to_discussion_id: thread,
        resolve_discussion,
      })
    expect((await reply(open, false)).body).toMatchObject({
      discussion_id: open,
      resolve_discussion: false,
    })
    expect((await reply(done, true)).body).toMatchObject({
      discussion_id: done,
      resolve_discussion: true,
    })
    await ben.post(`${drafts}/bulk_publish`)
    const resolvedOf = async (thread: string) =>
      (await ana.get(`${one}/discussions/${thread}`)).body.notes.map(
        (note: { resolved: boolean }) => note.resolved,
      )
    expect(await resolvedOf(open)).toEqual([false, false])
    expect(await resolvedOf(done)).toEqual([true, true])
  })

  test('is for whoever may still comment', async () => {
    const { bench, one, drafts } = await stage()
    await ana.put(`/projects/${bench.project.id}`, { visibility: 'public' })
    const passer = await world.user(`passer-${bench.project.id}`)
    await passer.post(drafts, { note: 'hello' })
    await ana.put(one, { discussion_locked: true })
    expect((await passer.post(`${drafts}/bulk_publish`)).status).toBe(403)
    expect(await comments(one)).toEqual([])
    await ana.put(one, { discussion_locked: false })
    expect((await passer.post(`${drafts}/bulk_publish`)).status).toBe(204)
    expect(await comments(one)).toEqual(['hello'])
  })

  test('gives those who are mentioned a to-do, and not before', async () => {
    const { bench, drafts } = await stage()
    const todos = async () =>
      (await cleo.get(`/todos?project_id=${bench.project.id}`)).body.map(
        (todo: { action_name: string }) => todo.action_name,
      )
    await ben.post(drafts, { note: 'See @cleo' })
    await world.runTasks()
    expect(await todos()).toEqual([])
    await ben.post(`${drafts}/bulk_publish`)
    await world.runTasks()
    expect(await todos()).toEqual(['mentioned'])
  })
})
