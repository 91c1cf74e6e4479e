import { describe, expect, test } from 'vitest'
import { addMember } from '../../support/members.ts'
import { openBench } from '../../support/review.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
const cleo = useCaller(world, 'cleo')

/** A merge request of ana's that ben and cleo shall review. */
async function stage() {
  const bench = await openBench(world, ana)
  for (const user of [ben, cleo]) await addMember(world, bench.project.id, user.id, 30)
  bench.commit('topic', { 'a.txt': 'a\n' })
  await bench.open('topic', { reviewer_ids: [ben.id, cleo.id] })
  const at = `${bench.api}/1`
  const states = async () => {
    const { body } = await ana.get(`${at}/reviewers`)
    return Object.fromEntries(
      body.map((one: { user: { username: string }; state: string }) => [
        one.user.username,
        one.state,
      ]),
    )
  }
  return { bench, at, states }
}

describe('the state of a reviewer', () => {
  test('is what they did last, and says nothing of the others', async () => {
    const { at, states } = await stage()
    expect(await states()).toEqual({ ben: 'unreviewed', cleo: 'unreviewed' })
    await ben.post(`${at}/notes`, { body: 'I will look' })
    expect(await states()).toEqual({ ben: 'unreviewed', cleo: 'unreviewed' })
    await ben.post(`${at}/draft_notes`, { note: 'Why?' })
    expect(await states()).toEqual({ ben: 'review_started', cleo: 'unreviewed' })
    await ben.post(`${at}/draft_notes/bulk_publish`)
    expect(await states()).toEqual({ ben: 'reviewed', cleo: 'unreviewed' })
    await ben.post(`${at}/approve`)
    expect(await states()).toEqual({ ben: 'approved', cleo: 'unreviewed' })
    await ben.post(`${at}/unapprove`)
    expect(await states()).toEqual({ ben: 'unapproved', cleo: 'unreviewed' })
  })

  test('goes back when all drafts are thrown away', async () => {
    const { at, states } = await stage()
    const first = await ben.post(`${at}/draft_notes`, { note: 'one' })
    const second = await ben.post(`${at}/draft_notes`, { note: 'two' })
    await ben.delete(`${at}/draft_notes/${first.body.id}`)
    expect((await states()).ben).toBe('review_started')
    await ben.delete(`${at}/draft_notes/${second.body.id}`)
    expect((await states()).ben).toBe('unreviewed')
  })

  test('stays an approval through comments', async () => {
    const { at, states } = await stage()
    await ben.post(`${at}/approve`)
    await ben.post(`${at}/draft_notes`, { note: 'And one thing more' })
    expect((await states()).ben).toBe('approved')
    await ben.post(`${at}/draft_notes/bulk_publish`)
    expect((await states()).ben).toBe('approved')
  })

  test('begins anew when the reviewer is asked again', async () => {
    const { at, states } = await stage()
    await ben.post(`${at}/approve`)
    await ana.put(at, { reviewer_ids: [ben.id] })
    expect(await states()).toEqual({ ben: 'approved' })
    await ana.put(at, { reviewer_ids: [] })
    await ana.put(at, { reviewer_ids: [ben.id, cleo.id] })
    expect(await states()).toEqual({ ben: 'unreviewed', cleo: 'unreviewed' })
  })
})

describe('changes that a reviewer wants', () => {
  test('hold up the merge through comments, until the same one approves', async () => {
    const { bench, at, states } = await stage()
    const said = await ben.post(`${at}/notes`, { body: '/request_changes' })
    expect(said.status).toBe(202)
    await ben.post(`${at}/draft_notes`, { note: 'This too' })
    await ben.post(`${at}/draft_notes/bulk_publish`)
    await cleo.post(`${at}/approve`)
    expect(await states()).toEqual({ ben: 'requested_changes', cleo: 'approved' })
    expect((await bench.read(1)).body.detailed_merge_status).toBe('requested_changes')
    expect((await ana.put(`${at}/merge`)).status).toBe(405)
    await ben.post(`${at}/approve`)
    expect((await bench.read(1)).body.detailed_merge_status).toBe('mergeable')
  })

  test('take their approval back, with a note', async () => {
    const { at } = await stage()
    await ben.post(`${at}/approve`)
    await ben.post(`${at}/notes`, { body: '/request_changes' })
    const { body } = await ana.get(`${at}/approvals`)
    expect(body.approved_by).toEqual([])
    const notes = await ana.get(`${at}/notes?sort=asc`)
    expect(notes.body.at(-1)).toMatchObject({ body: 'requested changes', system: true })
  })

  test('are for reviewers to ask for', async () => {
    const { bench, at } = await stage()
    const dan = await world.user('dan')
    await addMember(world, bench.project.id, dan.id, 30)
    expect((await dan.post(`${at}/notes`, { body: '/request_changes' })).status).toBe(400)
    expect((await bench.read(1)).body.detailed_merge_status).toBe('mergeable')
  })
})
