import { beforeAll, describe, expect, test } from 'vitest'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const bea = useCaller(world, 'bea')
let bench: Bench

beforeAll(async () => {
  bench = await openBench(world, ana)
  await addMember(world, bench.project.id, bea.id, 20)
  bench.commit('work', { 'a.txt': 'a' })
})

const namesOf = (body: readonly { name: string }[]) => body.map((award) => award.name)

describe.each([
  ['issues', 'Issue'],
  ['merge_requests', 'MergeRequest'],
  ['snippets', 'Snippet'],
] as const)('reactions to %s', (kind, type) => {
  let one: string
  let id: number

  beforeAll(async () => {
    const at = `/projects/${bench.project.id}/${kind}`
    const work = { source_branch: 'work', target_branch: 'main' }
    const file = { file_name: 'a', content: 'b', visibility: 'private' }
    const { body } = await ana.post(at, { title: 'x', ...work, ...file })
    one = `${at}/${kind === 'snippets' ? body.id : body.iid}`
    id = body.id
  })

  test('are given, listed in their order, read and taken back', async () => {
    const awards = `${one}/award_emoji`
    const up = await ana.post(awards, { name: 'thumbsup' })
    expect([up.status, up.body]).toEqual([
      201,
      {
        id: up.body.id,
        name: 'thumbsup',
        user: expect.objectContaining({ username: 'ana' }),
        created_at: '2026-05-04T10:00:00.000Z',
        updated_at: '2026-05-04T10:00:00.000Z',
        awardable_id: id,
        awardable_type: type,
        url: null,
      },
    ])
    await bea.post(awards, { name: ':thumbsup:' })
    await bea.post(awards, { name: 'eyes' })
    const twice = await bea.post(awards, { name: 'eyes' })
    expect([twice.status, twice.body]).toEqual([
      404,
      { message: '404 Award Emoji Name has already been taken Not Found' },
    ])
    expect(namesOf((await ana.get(awards)).body)).toEqual(['thumbsup', 'thumbsup', 'eyes'])
    const paged = await ana.get(`${awards}?per_page=2&page=2`)
    expect([namesOf(paged.body), paged.headers.get('x-total')]).toEqual([['eyes'], '3'])
    if (kind !== 'snippets') expect((await ana.get(one)).body).toMatchObject({ upvotes: 2 })
    expect((await bea.get(`${awards}/${up.body.id}`)).body).toEqual(up.body)
    expect((await bea.delete(`${awards}/${up.body.id}`)).status).toBe(403)
    expect((await ana.delete(`${awards}/${up.body.id}`)).status).toBe(204)
    expect((await ana.delete(`${awards}/${up.body.id}`)).body).toEqual({
      message: '404 Award Emoji Not Found',
    })
    if (kind !== 'snippets') expect((await ana.get(one)).body).toMatchObject({ upvotes: 1 })
    for (const [body, status] of [
      [{}, 400],
      [{ name: '' }, 404],
      [{ name: 'no such name' }, 404],
    ] as const) {
      expect([body, (await ana.post(awards, body)).status]).toEqual([body, status])
    }
  })

  test('to notes are apart from those to the thing, and go with the note', async () => {
    const { body: note } = await ana.post(`${one}/notes`, { body: 'hm' })
    const awards = `${one}/notes/${note.id}/award_emoji`
    const made = await bea.post(awards, { name: 'rocket' })
    expect(made.body).toMatchObject({ awardable_type: 'Note', awardable_id: note.id })
    expect(namesOf((await ana.get(`${one}/award_emoji`)).body)).not.toContain('rocket')
    expect((await ana.get(`${one}/award_emoji/${made.body.id}`)).status).toBe(404)
    expect(namesOf((await ana.get(awards)).body)).toEqual(['rocket'])
    expect((await bea.delete(`${awards}/${made.body.id}`)).status).toBe(204)
    await bea.post(awards, { name: 'tada' })
    expect((await ana.delete(`${one}/notes/${note.id}`)).status).toBe(204)
    expect((await ana.get(awards)).status).toBe(404)
  })
})
