import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
const ids: Record<string, number> = {}

/** Made an hour after one another, from 10:00 on; changed later in another order. */
const made = ['search', 'Researching', 'find', 'searcher', 'other'] as const

beforeAll(async () => {
  for (const [hour, name] of made.entries()) {
    world.setNow(`2026-05-04T1${hour}:00:00.000Z`)
    const description = name === 'find' ? 'does search things' : name
    const more = { path: `${name.toLowerCase()}-1`, visibility: 'public', description }
    ids[name] = (await createProject(ana, name, more)).id
  }
  world.setNow('2026-05-04T20:00:00.000Z')
  await ana.put(`/projects/${ids.find}`, { topics: ['x'] })
  world.setNow('2026-05-04T21:00:00.000Z')
  await ana.post(`/projects/${ids.search}/issues`, { title: 'active' })
  for (const caller of [ana, ben]) await caller.post(`/projects/${ids.searcher}/star`)
  await ben.post(`/projects/${ids.other}/star`)
})

async function names(query: string, caller = ana): Promise<string[]> {
  const { status, body } = await caller.get(`/projects?${query}`)
  expect([status, body.error ?? body.message]).toEqual([200, undefined])
  return body.map((one: { name: string }) => one.name)
}

describe('projects in order of', () => {
  test.each([
    ['nothing that is said', '', ['other', 'searcher', 'find', 'Researching', 'search']],
    ['id', 'order_by=id&sort=asc', ['search', 'Researching', 'find', 'searcher', 'other']],
    ['created_at', 'order_by=created_at&sort=asc', [...made]],
    // Upper and lower case are alike.
    ['name', 'order_by=name&sort=asc', ['find', 'other', 'Researching', 'search', 'searcher']],
    ['path', 'order_by=path&sort=desc', ['searcher', 'search', 'Researching', 'other', 'find']],
    ['star_count', 'order_by=star_count&per_page=2', ['searcher', 'other']],
    ['updated_at', 'order_by=updated_at&per_page=1', ['find']],
    ['updated_at, oldest first', 'order_by=updated_at&sort=asc&per_page=1', ['search']],
    // The whole name, then its beginning, then a part of it, then of the description.
    [
      'similarity',
      'search=search&order_by=similarity',
      ['search', 'searcher', 'Researching', 'find'],
    ],
    [
      'similarity, upside down',
      'search=search&order_by=similarity&sort=asc',
      ['find', 'Researching', 'searcher', 'search'],
    ],
    // Without a search nothing is similar.
    ['similarity without a search', 'order_by=similarity&per_page=2', ['other', 'searcher']],
  ])('%s', async (_, query, expected) => {
    expect(await names(query)).toEqual(expected)
  })

  test('last activity, which an issue is and a change of the settings is not', async () => {
    expect(await names('order_by=last_activity_at&per_page=2')).toEqual(['search', 'other'])
  })
})

describe('projects between', () => {
  test.each([
    ['ids', () => `id_after=${ids.search}&id_before=${ids.searcher}`, ['find', 'Researching']],
    ['no ids', () => `id_after=${ids.other}`, []],
    [
      'times of activity, the ends included',
      () => 'last_activity_after=2026-05-04T12:00:00Z&last_activity_before=2026-05-04T13:00:00Z',
      ['searcher', 'find'],
    ],
    [
      'times in another zone',
      () =>
        'last_activity_after=2026-05-04T15:00:00%2B02:00&last_activity_before=2026-05-04T14:00Z',
      ['other', 'searcher'],
    ],
    [
      'times of change',
      () => 'order_by=updated_at&updated_after=2026-05-04T13:30:00Z',
      ['find', 'other'],
    ],
    [
      'times of change before',
      () => 'order_by=updated_at&updated_before=2026-05-04T11:30:00Z',
      ['Researching', 'search'],
    ],
  ])('%s', async (_, query, expected) => {
    expect(await names(query())).toEqual(expected)
  })

  test.each(['updated_after', 'updated_before'])('%s needs its order', async (filter) => {
    for (const order of ['&order_by=id', '&order_by=last_activity_at'])
      expect((await ana.get(`/projects?${filter}=2026-05-04T13:30:00Z${order}`)).status).toBe(400)
  })

  test('a plus sign that is not encoded is a blank, and no time', async () => {
    const reply = await ana.get('/projects?last_activity_after=2026-05-04T15:00:00+02:00')
    expect([reply.status, reply.body]).toEqual([400, { error: 'last_activity_after is invalid' }])
  })
})

describe('a search of projects', () => {
  test.each([
    ['search', ['searcher', 'find', 'Researching', 'search']],
    ['SEARCH', ['searcher', 'find', 'Researching', 'search']],
    ['r', ['other', 'searcher', 'find', 'Researching', 'search']],
    ['search-1', ['search']],
    // Each word has to be there, wherever it is.
    ['things search', ['find']],
    ['search nothing', []],
    ['%', []],
    ["'", []],
    ['\\', []],
  ])('for %j', async (word, expected) => {
    expect(await names(`search=${encodeURIComponent(word)}`)).toEqual(expected)
  })

  test('in namespaces looks at their names, too', async () => {
    const { id } = await createGroup(ana, 'sought', { name: 'Sought Team', visibility: 'public' })
    await createProject(ana, 'within', { namespace_id: id, visibility: 'public' })
    expect(await names('search=sought')).toEqual([])
    expect(await names('search=sought&search_namespaces=true')).toEqual(['within'])
    expect(await names('search=Sought+Team&search_namespaces=true')).toEqual(['within'])
    await ana.delete(`/groups/${id}`)
  })
})

describe('for callers who are not signed in', () => {
  test.each(['owned=true', 'membership=true', 'starred=true', 'min_access_level=10'])(
    'there are no projects with %s',
    async (query) => {
      expect(await names(query, world.nobody)).toEqual([])
      const head = await world.nobody.head(`/projects?${query}`)
      expect([head.status, head.headers.get('x-total')]).toEqual([200, '0'])
    },
  )

  test.each(['owned=false', 'membership=false', 'starred=false', 'with_custom_attributes=true'])(
    'there are all with %s',
    async (query) => {
      expect(await names(query, world.nobody)).toHaveLength(5)
    },
  )

  test('there are no groups that are theirs', async () => {
    const { id } = await createGroup(ana, 'open', { visibility: 'public' })
    const found = async (query: string) =>
      (await world.nobody.get(`/groups?${query}`)).body.map((one: { path: string }) => one.path)
    expect(await found('owned=true')).toEqual([])
    expect(await found('min_access_level=10')).toEqual([])
    expect(await found('owned=false&all_available=false')).toEqual(['open'])
    await ana.delete(`/groups/${id}`)
  })
})

describe('projects by keys', () => {
  async function walk(query: string): Promise<{ ids: number[]; links: string[] }> {
    const found: number[] = []
    const links: string[] = []
    let path: string | undefined = `/projects?pagination=keyset&${query}`
    while (path !== undefined) {
      const reply = await ana.get(path)
      expect(reply.status).toBe(200)
      for (const header of ['x-total', 'x-total-pages', 'x-page', 'x-next-page'])
        expect(reply.headers.get(header)).toBeNull()
      found.push(...reply.body.map((one: { id: number }) => one.id))
      const link = reply.headers.get('link')
      const next = link === null ? undefined : /^<([^>]+)>; rel="next"$/.exec(link)?.[1]
      if (next) links.push(next)
      path = next?.slice(next.indexOf('/api/v4') + '/api/v4'.length)
    }
    return { ids: found, links }
  }

  test('come each once, in either direction, with every parameter in the links', async () => {
    const all = made.map((name) => ids[name])
    const up = await walk('order_by=id&sort=asc&per_page=2&visibility=public')
    expect(up.ids).toEqual(all)
    const down = await walk('order_by=id&sort=desc&per_page=2&visibility=public')
    expect(down.ids).toEqual(all.toReversed())
    for (const link of [...up.links, ...down.links]) {
      expect(link.startsWith(`${world.app.config.externalUrl}/api/v4/projects?`)).toBe(true)
      for (const part of ['pagination=keyset', 'per_page=2', 'visibility=public', 'cursor='])
        expect(link).toContain(part)
    }
  })

  test('are narrowed by an id that is given beside', async () => {
    const { ids: found } = await walk(`order_by=id&sort=asc&per_page=1&id_before=${ids.searcher}`)
    expect(found).toEqual([ids.search, ids.Researching, ids.find])
  })

  test.each(['name', 'created_at', 'last_activity_at', 'similarity'])(
    'have no order by %s',
    async (order) => {
      const reply = await ana.get(`/projects?pagination=keyset&order_by=${order}`)
      expect([reply.status, reply.body]).toEqual([
        405,
        { error: 'Keyset pagination is not yet available for this type of request' },
      ])
    },
  )

  test('that are made meanwhile move no other to another page', async () => {
    const first = await ana.get('/projects?pagination=keyset&order_by=id&sort=desc&per_page=2')
    const late = await createProject(ana, 'late', { visibility: 'public' })
    const next = /<([^>]+)>/.exec(first.headers.get('link') ?? '')?.[1] ?? ''
    const second = await ana.get(next.slice(next.indexOf('/api/v4') + '/api/v4'.length))
    expect(second.body.map((one: { id: number }) => one.id)).toEqual([ids.find, ids.Researching])
    await ana.delete(`/projects/${late.id}`)
  })
})

describe('projects that are being deleted', () => {
  test('are listed only for administrators who ask', async () => {
    const { id } = await createProject(ana, 'goner', { visibility: 'public' })
    await ana.delete(`/projects/${id}`)
    const found = async (caller: Caller, query: string) =>
      (await caller.get(`/projects?search=goner${query}`)).body.length
    expect(await found(ana, '&include_pending_delete=true')).toBe(0)
    expect(await found(world.root, '')).toBe(0)
    expect(await found(world.root, '&include_hidden=true')).toBe(0)
    expect(await found(world.root, '&include_pending_delete=true')).toBe(1)
    await world.runTasks()
    expect(await found(world.root, '&include_pending_delete=true')).toBe(0)
  })
})
