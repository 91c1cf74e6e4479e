import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const bea = useCaller(world, 'bea')
let bench: Bench
let count = 0

beforeAll(async () => {
  bench = await openBench(world, ana)
  await addMember(world, bench.project.id, bea.id, 30)
})

describe.each(['issues', 'merge_requests'] as const)('following %s', (kind) => {
  let one: string
  const subscribed = async (who: Caller) => (await who.get(one)).body.subscribed
  const people = async () =>
    (await ana.get(`${one}/participants`)).body.map((user: { username: string }) => user.username)

  beforeEach(async () => {
    count += 1
    const at = `/projects/${bench.project.id}/${kind}`
    bench.commit(`work-${count}`, { [`${count}.txt`]: 'a' })
    const work = { source_branch: `work-${count}`, target_branch: 'main' }
    const { body } = await ana.post(at, { title: `t${count}`, ...work })
    one = `${at}/${body.iid}`
  })

  test('is for authors and assignees until they say otherwise', async () => {
    expect([await subscribed(ana), await subscribed(bea)]).toEqual([true, false])
    await ana.put(one, { assignee_ids: [bea.id] })
    expect(await subscribed(bea)).toBe(true)
    expect((await bea.post(`${one}/subscribe`)).status).toBe(304)
    expect((await bea.post(`${one}/unsubscribe`)).status).toBe(201)
    expect((await bea.post(`${one}/unsubscribe`)).status).toBe(304)
    expect(await subscribed(bea)).toBe(false)
    // Being assigned again does not change what was said.
    await ana.put(one, { assignee_ids: [] })
    await ana.put(one, { assignee_ids: [bea.id] })
    expect(await subscribed(bea)).toBe(false)
  })

  test('is begun and ended by hand, each answering the thing', async () => {
    const begun = await bea.post(`${one}/subscribe`)
    expect([begun.status, begun.body.title, begun.body.subscribed]).toEqual([
      201,
      `t${count}`,
      true,
    ])
    expect(await subscribed(bea)).toBe(true)
    const ended = await bea.post(`${one}/unsubscribe`)
    expect([ended.status, ended.body.subscribed]).toEqual([201, false])
    expect(await subscribed(ana)).toBe(true)
  })

  test('is not shown in lists, nor to others', async () => {
    const listed = await ana.get(one.slice(0, one.lastIndexOf('/')))
    expect(listed.body[0]).not.toHaveProperty('subscribed')
    expect((await world.root.get(one)).body.subscribed).toBe(false)
  })

  test('has participants by what they did, each once', async () => {
    expect(await people()).toEqual(['ana'])
    const cat = await world.user(`cat${count}`)
    await addMember(world, bench.project.id, cat.id, 30)
    await bea.post(`${one}/notes`, { body: `@${cat.username} and @bea` })
    await bea.post(`${one}/notes`, { body: 'again' })
    await ana.put(one, { assignee_ids: [ana.id] })
    expect((await people()).sort()).toEqual(['ana', 'bea', cat.username])
    await bea.post(`${one}/award_emoji`, { name: 'eyes' })
    expect(await people()).toHaveLength(3)
    // Where everybody reads the thing, everybody reads who takes part.
    expect((await world.nobody.get(`${one}/participants`)).status).toBe(404)
    await ana.put(`/projects/${bench.project.id}`, { visibility: 'public' })
    expect((await world.nobody.get(`${one}/participants`)).body).toHaveLength(3)
    await ana.put(`/projects/${bench.project.id}`, { visibility: 'private' })
  })
})
