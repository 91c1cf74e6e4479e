import { beforeAll, expect, test } from 'vitest'
import { createProject } from '../../support/create.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let issues: string

beforeAll(async () => {
  const { id } = await createProject(ana, 'reactions')
  issues = `/projects/${id}/issues`
})

async function issue(): Promise<string> {
  const { body } = await ana.post(issues, { title: 'x' })
  return `${issues}/${body.iid}`
}

test('a reaction is an emoji: names of none are refused, and nothing is kept', async () => {
  const one = await issue()
  for (const name of ['no_such_emoji', '', 'thumbs up', '👍', '__proto__', 'x'.repeat(200)]) {
    const reply = await ana.post(`${one}/award_emoji`, { name })
    expect([name, reply.status]).toEqual([name, 404])
    expect(reply.body.message).toContain('is not a valid emoji name')
  }
  expect((await ana.get(`${one}/award_emoji`)).body).toEqual([])
  expect((await ana.post(`${one}/notes`, { body: '/award :no_such_emoji:' })).status).toBe(400)
})

test('what bots mark comments with is known', async () => {
  const one = await issue()
  const names = 'eyes white_check_mark x tractor 100 rocket thumbsup_tone3 arrow_forward'.split(' ')
  for (const name of names) {
    const reply = await ana.post(`${one}/award_emoji`, { name })
    expect([reply.status, reply.body.name]).toEqual([201, name])
  }
})

test('both names of a vote count, once for each user', async () => {
  const one = await issue()
  const up = await ana.post(`${one}/award_emoji`, { name: '+1' })
  expect([up.status, up.body.name]).toEqual([201, 'thumbsup'])
  expect((await ana.post(`${one}/award_emoji`, { name: 'thumbsup' })).status).toBe(404)
  await ana.post(`${one}/award_emoji`, { name: ':-1:' })
  expect((await ana.get(one)).body).toMatchObject({ upvotes: 1, downvotes: 1 })
})
