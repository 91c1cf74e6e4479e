import { beforeAll, describe, expect, test } from 'vitest'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const bea = useCaller(world, 'bea')
let bench: Bench
let at: string

beforeAll(async () => {
  bench = await openBench(world, ana)
  at = `/projects/${bench.project.id}`
  await addMember(world, bench.project.id, bea.id, 10)
})

async function issue(more: object = {}): Promise<string> {
  const { body } = await ana.post(`${at}/issues`, { title: 'x', ...more })
  return `${at}/issues/${body.iid}`
}

const namesOf = (awards: readonly { name: string }[]) => awards.map((award) => award.name)

describe('a reaction', () => {
  test('counts as a vote by its name, for whoever looks', async () => {
    const one = await issue()
    const votes = async () => {
      const { upvotes, downvotes } = (await ana.get(one)).body
      return [upvotes, downvotes]
    }
    const { body: up } = await ana.post(`${one}/award_emoji`, {
      name: 'thumbsup',
    })
    await bea.post(`${one}/award_emoji`, { name: 'thumbsup' })
    await bea.post(`${one}/award_emoji`, { name: 'thumbsdown' })
    await bea.post(`${one}/award_emoji`, { name: 'rocket' })
    expect(await votes()).toEqual([2, 1])
    await ana.delete(`${one}/award_emoji/${up.id}`)
    expect(await votes()).toEqual([1, 1])
    const { body: note } = await ana.post(`${one}/notes`, { body: 'x' })
    await ana.post(`${one}/notes/${note.id}/award_emoji`, { name: 'thumbsup' })
    expect(await votes()).toEqual([1, 1])
  })

  test('asked for many times at once is given once', async () => {
    const one = await issue()
    const replies = await Promise.all(
      [1, 2, 3, 4].map(() => bea.post(`${one}/award_emoji`, { name: 'eyes' })),
    )
    expect(replies.map((reply) => reply.status).sort()).toEqual([201, 404, 404, 404])
    expect(namesOf((await ana.get(`${one}/award_emoji`)).body)).toEqual(['eyes'])
  })

  test('is taken back by whoever gave it, or an administrator', async () => {
    const one = await issue()
    const { body: first } = await bea.post(`${one}/award_emoji`, {
      name: 'eyes',
    })
    const { body: second } = await bea.post(`${one}/award_emoji`, {
      name: 'tada',
    })
    expect((await ana.delete(`${one}/award_emoji/${first.id}`)).status).toBe(403)
    expect((await world.nobody.delete(`${one}/award_emoji/${first.id}`)).status).toBe(401)
    expect((await world.root.delete(`${one}/award_emoji/${first.id}`)).status).toBe(204)
    expect((await bea.delete(`${one}/award_emoji/${second.id}`)).status).toBe(204)
    expect((await bea.get(`${one}/award_emoji`)).body).toEqual([])
    // And may be given again.
    expect((await bea.post(`${one}/award_emoji`, { name: 'tada' })).status).toBe(201)
  })

  test('belongs to one thing, and is not found through another', async () => {
    const [one, other] = [await issue(), await issue()]
    const { body: award } = await ana.post(`${one}/award_emoji`, {
      name: 'eyes',
    })
    const missing = { message: '404 Award Emoji Not Found' }
    expect((await ana.get(`${other}/award_emoji/${award.id}`)).body).toEqual(missing)
    expect((await ana.delete(`${other}/award_emoji/${award.id}`)).body).toEqual(missing)
    const { body: note } = await ana.post(`${one}/notes`, { body: 'x' })
    const onNote = `${one}/notes/${note.id}/award_emoji`
    const { body: beside } = await ana.post(onNote, { name: 'eyes' })
    expect((await ana.get(`${one}/award_emoji/${beside.id}`)).body).toEqual(missing)
    expect((await ana.get(`${other}/notes/${note.id}/award_emoji`)).status).toBe(404)
    expect((await ana.get(`${onNote}/${beside.id}`)).body).toEqual(beside)
  })

  test('on a reply in a thread is one on the note', async () => {
    const one = await issue()
    const { body: thread } = await ana.post(`${one}/discussions`, {
      body: 'a',
    })
    const { body: reply } = await bea.post(`${one}/discussions/${thread.id}/notes`, { body: 'b' })
    const made = await ana.post(`${one}/notes/${reply.id}/award_emoji`, {
      name: 'heart',
    })
    expect([made.status, made.body]).toMatchObject([
      201,
      {
        awardable_type: 'Note',
        awardable_id: reply.id,
        user: { username: 'ana' },
      },
    ])
    expect((await ana.get(`${one}/notes/${thread.notes[0].id}/award_emoji`)).body).toEqual([])
  })

  test('is not given to what the server notes', async () => {
    const one = await issue()
    await ana.put(one, { title: 'y' })
    const [note] = (await ana.get(`${one}/notes`)).body
    const awards = `${one}/notes/${note.id}/award_emoji`
    const refused = await ana.post(awards, { name: 'eyes' })
    expect([refused.status, refused.body]).toEqual([404, { message: '404 Award Emoji Not Found' }])
    expect((await ana.get(awards)).body).toEqual([])
  })

  test('on what is confidential is for those who may read it', async () => {
    const one = await issue({ confidential: true })
    expect((await bea.post(`${one}/award_emoji`, { name: 'eyes' })).status).toBe(404)
    expect((await bea.get(`${one}/award_emoji`)).status).toBe(404)
    expect((await ana.post(`${one}/award_emoji`, { name: 'eyes' })).status).toBe(201)
  })

  test('goes with the thing, and with the account that gave it', async () => {
    const one = await issue()
    const short = await world.user('short')
    await addMember(world, bench.project.id, short.id, 10)
    await ana.post(`${one}/award_emoji`, { name: 'eyes' })
    await short.post(`${one}/award_emoji`, { name: 'thumbsup' })
    await world.root.delete(`/users/${short.id}?hard_delete=true`)
    await world.runTasks()
    expect(namesOf((await ana.get(`${one}/award_emoji`)).body)).toEqual(['eyes'])
    expect((await ana.get(one)).body.upvotes).toBe(0)
    expect((await ana.delete(one)).status).toBe(204)
    const left = await world.ctx.db
      .selectFrom('award_emoji')
      .select('name')
      .where('awardable_type', '=', 'Issue')
      .where('awardable_id', 'not in', world.ctx.db.selectFrom('issues').select('id'))
      .execute()
    expect(left).toEqual([])
  })

  test('finds what the caller reacted to, on issues and merge requests', async () => {
    const one = await issue({ title: 'found' })
    await issue({ title: 'not found' })
    await ana.post(`${one}/award_emoji`, { name: 'star' })
    const titles = async (who: Caller) =>
      (await who.get(`${at}/issues?my_reaction_emoji=star`)).body.map(
        (each: { title: string }) => each.title,
      )
    expect(await titles(ana)).toEqual(['found'])
    expect(await titles(bea)).toEqual([])
  })

  test('is no longer given in an archived project, but still read', async () => {
    const own = await openBench(world, ana)
    const { body } = await ana.post(`/projects/${own.project.id}/issues`, {
      title: 'x',
    })
    const awards = `/projects/${own.project.id}/issues/${body.iid}/award_emoji`
    await ana.post(awards, { name: 'eyes' })
    await ana.post(`/projects/${own.project.id}/archive`)
    expect((await ana.post(awards, { name: 'tada' })).status).toBe(403)
    expect(namesOf((await ana.get(awards)).body)).toEqual(['eyes'])
  })
})
