import { beforeAll, describe, expect, test } from 'vitest'
import { createProject } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const guest = useCaller(world, 'guest')

async function project(name: string, more: object = {}): Promise<number> {
  return (await createProject(ana, name, more)).id
}

describe('issues of archived projects', () => {
  let archived: number
  const titles = async (path: string) =>
    (await ana.get(path)).body.map((issue: { title: string }) => issue.title)

  beforeAll(async () => {
    archived = await project('archived')
    const kept = await project('kept')
    await ana.post(`/projects/${archived}/issues`, { title: 'old' })
    await ana.post(`/projects/${kept}/issues`, { title: 'new' })
    expect((await ana.post(`/projects/${archived}/archive`)).status).toBe(201)
  })

  test('are left out of the list of everything, unless they are asked for', async () => {
    expect(await titles('/issues')).toEqual(['new'])
    expect(await titles('/issues?scope=all')).toEqual(['new'])
    expect(await titles('/issues?non_archived=true')).toEqual(['new'])
    expect(await titles('/issues?non_archived=false&sort=asc')).toEqual(['old', 'new'])
  })

  test('are listed and read where they are, and not changed', async () => {
    const issues = `/projects/${archived}/issues`
    expect(await titles(issues)).toEqual(['old'])
    expect((await ana.get(`${issues}/1`)).body.title).toBe('old')
    for (const reply of [
      await ana.post(issues, { title: 'more' }),
      await ana.put(`${issues}/1`, { title: 'other' }),
      await ana.post(`${issues}/1/notes`, { body: 'hm' }),
      await ana.post(`${issues}/1/add_spent_time`, { duration: '1h' }),
      await ana.delete(`${issues}/1`),
    ]) {
      expect(reply.status).toBe(403)
    }
    await ana.post(`/projects/${archived}/unarchive`)
    expect((await ana.put(`${issues}/1`, { title: 'other' })).body.title).toBe('other')
    await ana.post(`/projects/${archived}/archive`)
  })
})

describe('an issue that is a duplicate', () => {
  let open: number
  let hidden: number

  beforeAll(async () => {
    open = await project('open')
    hidden = await project('hidden')
    for (const user of [guest]) await addMember(world, open, user.id, 10)
    await ana.post(`/projects/${open}/issues`, { title: 'said twice' })
    await ana.post(`/projects/${hidden}/issues`, { title: 'the first' })
    const note = { body: '/duplicate ana/hidden#1' }
    expect((await ana.post(`/projects/${open}/issues/1/notes`, note)).status).toBe(202)
  })

  const original = async (who: Caller, path = `/projects/${open}/issues/1`) => {
    const { body } = await who.get(path)
    return (Array.isArray(body) ? body[0] : body)._links.closed_as_duplicate_of
  }

  test('is closed, and leads to the other by an address that answers', async () => {
    const address = await original(ana)
    expect(address).toBe(`${world.ctx.config.externalUrl}/api/v4/projects/${hidden}/issues/1`)
    const path = new URL(address).pathname.replace('/api/v4', '')
    expect((await ana.get(path)).body.title).toBe('the first')
    expect(await original(ana, `/projects/${open}/issues`)).toBe(address)
    expect((await ana.get(`/projects/${open}/issues/1`)).body.state).toBe('closed')
  })

  test('leaves out one that the reader may not see', async () => {
    expect(await original(guest)).toBeNull()
    expect(await original(guest, `/projects/${open}/issues`)).toBeNull()
  })

  test('leads nowhere when the other is gone', async () => {
    await ana.delete(`/projects/${hidden}/issues/1`)
    expect(await original(ana)).toBeNull()
  })
})
