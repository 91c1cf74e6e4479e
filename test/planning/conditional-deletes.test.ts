import { beforeAll, describe, expect, test } from 'vitest'
import { createProject } from '../support/create.ts'
import { useCaller, useWorld } from '../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')

const before = { 'If-Unmodified-Since': 'Mon, 04 May 2026 09:59:59 GMT' }
const since = { 'If-Unmodified-Since': 'Mon, 04 May 2026 10:00:00 GMT' }

describe.each(['projects', 'groups'] as const)('a delete in %s', (kind) => {
  let at: string

  beforeAll(async () => {
    const { body } = await ana.post(`/${kind}`, { name: kind, path: `c-${kind}` })
    at = `/${kind}/${body.id}`
  })

  const make = async (path: string, body: object) => (await ana.post(`${at}${path}`, body)).body.id

  test.each<[string, () => Promise<string>]>([
    ['a label', async () => `/labels/${await make('/labels', { name: 'l', color: 'red' })}`],
    [
      'a label that the query names',
      async () => `/labels?label_id=${await make('/labels', { name: 'q', color: 'red' })}`,
    ],
    ['a milestone', async () => `/milestones/${await make('/milestones', { title: 'm' })}`],
    ['a board', async () => `/boards/${await make('/boards', { name: 'b' })}`],
    [
      'a list of a board',
      async () => {
        const label_id = await make('/labels', { name: 'of-list', color: 'red' })
        const lists = `/boards/${await make('/boards', { name: 'b' })}/lists`
        return `${lists}/${await make(lists, { label_id })}`
      },
    ],
  ])('of %s is refused when it changed since the caller looked', async (_, made) => {
    const one = `${at}${await made()}`
    const refused = await ana.delete(one, undefined, { headers: before })
    expect([refused.status, refused.body]).toEqual([412, { message: '412 Precondition Failed' }])
    const nonsense = { 'If-Unmodified-Since': 'yesterday' }
    const done = await ana.delete(one, undefined, { headers: since })
    expect(done.status).toBe(204)
    expect((await ana.delete(one, undefined, { headers: nonsense })).status).toBe(404)
  })
})

test('a reaction is taken back as it was seen', async () => {
  const project = await createProject(ana, 'reactions')
  const issues = `/projects/${project.id}/issues`
  await ana.post(issues, { title: 'x' })
  const { body } = await ana.post(`${issues}/1/award_emoji`, { name: 'eyes' })
  const one = `${issues}/1/award_emoji/${body.id}`
  expect((await ana.delete(one, undefined, { headers: before })).status).toBe(412)
  expect((await ana.delete(one, undefined, { headers: since })).status).toBe(204)
})
