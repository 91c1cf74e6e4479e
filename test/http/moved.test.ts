import { beforeAll, describe, expect, test } from 'vitest'
import { useCaller, useWorld } from '../support/world.ts'

/** docs/contract/A-resolved §4: what the old path of a project answers. */
const world = useWorld()
const ana = useCaller(world, 'ana')
const eve = useCaller(world, 'eve')
let id: number
const NO_WRITE = { message: 'Non GET methods are not allowed for moved projects' }

beforeAll(async () => {
  const input = {
    name: 'First',
    path: 'first',
    initialize_with_readme: true,
    visibility: 'internal',
  }
  id = (await ana.post('/projects', input)).body.id
  expect((await ana.put(`/projects/${id}`, { path: 'second' })).status).toBe(200)
})

const place = (path: string) => `${world.ctx.config.externalUrl}/api/v4${path}`

describe('GET below the old path', () => {
  test.each([
    ['', ''],
    ['', '?statistics=true&license=false'],
    ['/issues', '?labels=a%2Cb&state=opened'],
    ['/repository/tree', '?path=a%2Fb'],
    ['/repository/files/README%2Emd/raw', '?ref=main'],
    ['/repository/branches/feature%2Fx', ''],
    ['/members/all', '?query=x+y'],
  ])('%s%s leads to the same with the number in place of the path', async (rest, query) => {
    for (const caller of [ana, eve, world.root]) {
      for (const old of ['ana%2Ffirst', 'ANA%2FFirst', '%61na%2ffirst']) {
        const reply = await caller.get(`/projects/${old}${rest}${query}`)
        const url = place(`/projects/${id}${rest}${query}`)
        expect([reply.status, reply.headers.get('location')]).toEqual([301, url])
        expect(reply.body).toBe(`This resource has been moved permanently to ${url}`)
        expect(reply.headers.get('content-type')).toBe('text/plain')
      }
    }
  })

  test.each([
    ['/-/raw/main/README.md', '?inline=false'],
    ['/-/archive/main/first.zip', ''],
    ['/-/archive/main/first.tar.gz', '?path=docs'],
  ])('%s%s leads to the same below the new path', async (rest, query) => {
    const { externalUrl } = world.ctx.config
    for (const old of ['ana/first', 'ana%2Ffirst', 'ANA/first']) {
      const reply = await fetch(`${world.url}/${old}${rest}${query}`, {
        headers: { 'private-token': String(eve.token) },
        redirect: 'manual',
      })
      const url = `${externalUrl}/ana/second${rest}${query}`
      expect([reply.status, reply.headers.get('location')]).toEqual([301, url])
    }
  })

  test('leads where the caller gets what the new path gives', async () => {
    const moved = await eve.get('/projects/ana%2Ffirst?simple=true')
    const [, rest = ''] = (moved.headers.get('location') ?? '').split('/api/v4')
    const [followed, direct] = [
      await eve.get(rest),
      await eve.get('/projects/ana%2Fsecond?simple=true'),
    ]
    expect([followed.status, followed.body]).toEqual([200, direct.body])
  })

  test('repeats no token that stood in the query to somebody who shows another', async () => {
    const reply = await world.nobody.get(`/projects/ana%2Ffirst?private_token=${eve.token}&page=2`)
    expect(reply.status).toBe(301)
    expect(reply.headers.get('location')).toContain('page=2')
  })
})

describe('any other method', () => {
  test.each([
    ['HEAD', ''],
    ['PUT', ''],
    ['DELETE', ''],
    ['POST', '/issues'],
    ['POST', '/star'],
    ['PUT', '/packages/generic/a/1/f'],
    ['DELETE', '/repository/branches/main'],
  ])('%s %s is 405 for whoever sees the project', async (method, rest) => {
    for (const caller of [ana, eve]) {
      const reply = await caller.call(method, `/projects/ana%2Ffirst${rest}`)
      expect([reply.status, reply.body]).toEqual([405, method === 'HEAD' ? '' : NO_WRITE])
    }
    expect((await ana.get(`/projects/${id}`)).body.name).toBe('First')
  })
})

describe('whoever does not see the project', () => {
  test('is told 404, as of a path that never was one', async () => {
    for (const method of ['GET', 'PUT', 'POST', 'DELETE']) {
      const rest = method === 'POST' ? '/issues' : ''
      const old = await world.nobody.call(method, `/projects/ana%2Ffirst${rest}`)
      const never = await world.nobody.call(method, `/projects/ana%2Fnever${rest}`)
      expect([method, old.status, old.body]).toEqual([method, never.status, never.body])
      expect(old.status).toBe(404)
    }
    await ana.put(`/projects/${id}`, { visibility: 'private' })
    expect((await eve.get('/projects/ana%2Ffirst')).status).toBe(404)
    await ana.put(`/projects/${id}`, { visibility: 'internal' })
    expect((await eve.get('/projects/ana%2Ffirst')).status).toBe(301)
  })
})

describe('old paths', () => {
  test('of one project all lead to it, and one that it takes again is its own', async () => {
    await ana.put(`/projects/${id}`, { path: 'third' })
    for (const old of ['first', 'second']) {
      const reply = await ana.get(`/projects/ana%2F${old}`)
      expect(reply.headers.get('location')).toBe(place(`/projects/${id}`))
    }
    await ana.put(`/projects/${id}`, { path: 'second' })
    expect((await ana.get('/projects/ana%2Fsecond')).status).toBe(200)
    expect((await ana.get('/projects/ana%2Fthird')).status).toBe(301)
  })

  test('that somebody takes are theirs, and lead there no more', async () => {
    const { body: other } = await ana.post('/projects', { name: 'Third', path: 'third' })
    expect((await ana.get('/projects/ana%2Fthird')).body.id).toBe(other.id)
    // Nor do they come back when the newcomer goes.
    await ana.delete(`/projects/${other.id}`)
    await ana.delete(`/projects/${other.id}?permanently_remove=true&full_path=ana/third`)
    await world.runTasks()
    expect((await ana.get('/projects/ana%2Fthird')).status).toBe(404)
  })

  test('go with their project', async () => {
    const { body } = await ana.post('/projects', { name: 'Short', path: 'short' })
    await ana.put(`/projects/${body.id}`, { path: 'shorter' })
    expect((await ana.get('/projects/ana%2Fshort')).status).toBe(301)
    await ana.delete(`/projects/${body.id}`)
    await ana.delete(`/projects/${body.id}?permanently_remove=true&full_path=ana/shorter`)
    await world.runTasks()
    expect((await ana.get('/projects/ana%2Fshort')).status).toBe(404)
  })

  test('are left by a transfer, and by a group that is renamed, for each project in it', async () => {
    const { body: group } = await ana.post('/groups', { name: 'Old', path: 'old' })
    const sub = { name: 'Sub', path: 'sub', parent_id: group.id }
    const { body: subgroup } = await ana.post('/groups', sub)
    const inner = { name: 'Inner', path: 'inner', namespace_id: subgroup.id }
    const { body: project } = await ana.post('/projects', inner)
    expect((await ana.put(`/groups/${group.id}`, { path: 'new' })).status).toBe(200)
    const renamed = await ana.get('/projects/old%2Fsub%2Finner')
    expect([renamed.status, renamed.headers.get('location')]).toEqual([
      301,
      place(`/projects/${project.id}`),
    ])
    expect((await ana.put(`/projects/${project.id}/transfer`, { namespace: 'ana' })).status).toBe(
      200,
    )
    for (const old of ['old%2Fsub%2Finner', 'new%2Fsub%2Finner'])
      expect((await ana.get(`/projects/${old}`)).status).toBe(301)
    expect((await ana.put('/projects/new%2Fsub%2Finner', { name: 'x' })).body).toEqual(NO_WRITE)
  })

  test('of groups lead nowhere', async () => {
    const { body: group } = await ana.post('/groups', { name: 'G', path: 'before' })
    await ana.put(`/groups/${group.id}`, { path: 'after' })
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const reply = await ana.call(method, '/groups/before', method === 'GET' ? undefined : {})
      expect([reply.status, reply.body]).toEqual([404, { message: '404 Group Not Found' }])
    }
    expect((await ana.get('/groups/after')).body.id).toBe(group.id)
  })
})
