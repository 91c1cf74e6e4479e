import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { createProject } from '../support/create.ts'
import { type Caller, type Reply, useCaller, useWorld } from '../support/world.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')
let projectId: number

beforeAll(async () => {
  projectId = (await createProject(ana, 'p')).id
})

/** Packages enough that nobody wants to publish them one by one. */
async function addPackages(from: number, most: number) {
  await sql`
    INSERT INTO packages (project_id, package_type, name, name_key, version, version_key, status, created_at, updated_at)
    WITH RECURSIVE n(i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i < ${most})
    SELECT ${projectId}, 'generic', printf('p%05d', i), printf('p%05d', i), '1', '1', 'default',
      '2026-05-04T10:00:00.000Z', '2026-05-04T10:00:00.000Z' FROM n`.execute(world.ctx.db)
}

/** The targets of a `Link`, in their order. */
function linksOf({ headers }: Reply): [string, URL][] {
  const links = (headers.get('link') ?? '').split(', ')
  return links.map((link) => {
    const [, url = '', rel = ''] = /^<(.+)>; rel="(\w+)"$/.exec(link) ?? []
    return [rel, new URL(url)]
  })
}

const rels = (reply: Reply) => linksOf(reply).map(([rel]) => rel)

describe('a list of more than people page through', () => {
  const path = () => `/projects/${projectId}/packages`

  test('is counted up to ten thousand, and not beyond', async () => {
    await addPackages(1, 10_000)
    const counted = await ana.get(`${path()}?per_page=100&page=100`)
    expect([counted.headers.get('x-total'), counted.headers.get('x-total-pages')]).toEqual([
      '10000',
      '100',
    ])
    expect(rels(counted)).toEqual(['prev', 'first', 'last'])
    await addPackages(10_001, 10_001)
    const beyond = await ana.get(`${path()}?per_page=100&page=100&order_by=name`)
    expect([beyond.headers.get('x-total'), beyond.headers.get('x-total-pages')]).toEqual([
      null,
      null,
    ])
    expect(rels(beyond)).toEqual(['prev', 'next', 'first'])
    expect(beyond.headers.get('x-next-page')).toBe('101')
    const last = await ana.get(`${path()}?per_page=100&page=101&order_by=name`)
    expect(last.body.map((one: { name: string }) => one.name)).toEqual(['p10001'])
    expect([last.headers.get('x-next-page'), rels(last)]).toEqual(['', ['prev', 'first']])
    const after = await ana.get(`${path()}?per_page=100&page=102`)
    expect([after.status, after.body, after.headers.get('x-next-page')]).toEqual([200, [], ''])
  })

  test('links with all that was asked, in the order of the alphabet, below the external address', async () => {
    const reply = await ana.get(
      `${path()}?sort=desc&per_page=2&package_name=p0000&odd[]=1&odd[]=2`,
      {
        headers: { Host: 'evil.example' },
      },
    )
    const [[rel, url] = ['', new URL('http://none')]] = linksOf(reply)
    expect(rel).toBe('next')
    expect(url.href.startsWith(`${world.ctx.config.externalUrl}/api/v4${path()}?`)).toBe(true)
    expect([...url.searchParams]).toEqual([
      ['id', String(projectId)],
      ['odd[]', '1'],
      ['odd[]', '2'],
      ['package_name', 'p0000'],
      ['page', '2'],
      ['per_page', '2'],
      ['sort', 'desc'],
    ])
  })

  test.each([
    ['per_page=500', ['100', '500']],
    ['page=1', ['20', '20']],
  ])(
    'asked for by %s links with what was asked, however much a page holds',
    async (query, held) => {
      const reply = await ana.get(`${path()}?${query}`)
      const asked = linksOf(reply).map(([, url]) => url.searchParams.get('per_page'))
      expect([reply.headers.get('x-per-page'), ...new Set(asked)]).toEqual(held)
    },
  )

  test('never repeats a secret in its links', async () => {
    const token = await world.token(ana.id, ['read_api'])
    const reply = await world.nobody.get(`${path()}?private_token=${token}`)
    expect([reply.status, reply.headers.get('link')?.includes(token)]).toEqual([200, false])
  })
})

describe('an offset too far', () => {
  test.each([
    ['/projects', 'Project'],
    ['/groups', 'Group'],
    ['/users', 'User'],
  ])('is refused by %s, which knows another way', async (path, type) => {
    expect((await ana.get(`${path}?per_page=100&page=500`)).status).toBe(200)
    for (const query of [
      'per_page=100&page=501',
      'per_page=20&page=2501',
      'per_page=500&page=501',
    ]) {
      const refused = await ana.get(`${path}?${query}`)
      expect([refused.status, refused.body]).toEqual([
        405,
        {
          error: `Offset pagination has a maximum allowed offset of 50000 for requests that return objects of type ${type}. Remaining records can be retrieved using keyset pagination.`,
        },
      ])
    }
  })

  test('is an empty page elsewhere', async () => {
    const reply = await ana.get(`/projects/${projectId}/issues?per_page=100&page=1000`)
    expect([reply.status, reply.body, reply.headers.get('x-total')]).toEqual([200, [], '0'])
  })
})

describe('keyset pages', () => {
  beforeAll(async () => {
    for (const name of ['delta', 'alpha', 'charlie', 'bravo']) {
      await world.user(`user-${name}`)
      await ana.post('/groups', { name, path: name, visibility: 'public' })
    }
  })

  /** All items by the links of the pages. */
  async function walk(first: string, who: Caller): Promise<{ id: number; name: string }[]> {
    const items: { id: number; name: string }[] = []
    for (let path: string | undefined = first; path !== undefined; ) {
      const reply: Reply = await who.get(path)
      expect([path, reply.status]).toEqual([path, 200])
      for (const name of ['x-total', 'x-page', 'x-next-page', 'x-per-page'])
        expect(reply.headers.get(name)).toBeNull()
      items.push(...reply.body)
      const link = reply.headers.get('link')
      const url: URL | undefined = link === null ? undefined : linksOf(reply)[0]?.[1]
      path = url && url.pathname.replace('/api/v4', '') + url.search
    }
    return items
  }

  test.each(['id', 'name', 'username', 'created_at', 'updated_at'])(
    'go through people by %s, either way',
    async (order) => {
      const asked = `/users?pagination=keyset&per_page=2&order_by=${order}`
      const rising = await walk(`${asked}&sort=asc`, world.root)
      const falling = await walk(`${asked}&sort=desc`, world.root)
      expect(rising.length).toBeGreaterThan(4)
      expect(new Set(rising.map((one) => one.id)).size).toBe(rising.length)
      expect(falling).toEqual([...rising].reverse())
      if (order !== 'name') return
      const names = rising.map((one) => one.name)
      expect(names).toEqual([...names].sort())
    },
  )

  test('go through groups by name, also for strangers', async () => {
    const groups = await walk('/groups?pagination=keyset&per_page=1&order_by=name', world.nobody)
    expect(groups.map((one) => one.name)).toEqual(['alpha', 'bravo', 'charlie', 'delta'])
  })

  test('go through projects by id, either way', async () => {
    for (const name of ['q', 'r']) await ana.post('/projects', { name })
    const asked = '/projects?pagination=keyset&per_page=1&order_by=id&membership=true'
    const rising = (await walk(`${asked}&sort=asc`, ana)).map((one) => one.name)
    expect(rising).toEqual(['p', 'q', 'r'])
    const falling = (await walk(`${asked}&sort=desc`, ana)).map((one) => one.name)
    expect(falling).toEqual(['r', 'q', 'p'])
  })

  test('in an order that a list does not know are refused, and of a list without any passed over', async () => {
    const refused = await ana.get('/projects?pagination=keyset&order_by=name')
    expect([refused.status, refused.body]).toEqual([
      405,
      { error: 'Keyset pagination is not yet available for this type of request' },
    ])
    const labels = await ana.get(`/projects/${projectId}/labels?pagination=keyset`)
    expect([labels.status, labels.headers.get('x-total')]).toEqual([200, '0'])
  })

  test('begin nowhere but where a cursor of the same list and order says', async () => {
    const first = await ana.get('/users?pagination=keyset&per_page=1&order_by=id&sort=asc')
    const cursor = linksOf(first)[0]?.[1].searchParams.get('cursor')
    for (const query of [
      `order_by=name&sort=asc&cursor=${cursor}`,
      `order_by=id&sort=desc&cursor=${cursor}`,
      'order_by=id&sort=asc&cursor=bm90aGluZw',
      'order_by=id&sort=asc&cursor[]=a',
    ]) {
      const refused = await ana.get(`/users?pagination=keyset&${query}`)
      expect([query, refused.status, refused.body]).toEqual([
        query,
        400,
        { error: 'cursor is invalid' },
      ])
    }
  })
})
