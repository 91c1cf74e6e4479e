import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
beforeAll(async () => {
  const group = await createGroup(ana, 'g', { visibility: 'public' })
  const made: [string, Record<string, unknown>][] = [
    ['alpha', { visibility: 'public', topics: ['Red', 'blue'], description: 'first 100%' }],
    ['beta', { visibility: 'internal', topics: ['red'] }],
    ['gamma', { visibility: 'private', issues_enabled: false }],
    ['delta', { visibility: 'public', namespace_id: group.id }],
    ['epsilon', { visibility: 'private', namespace_id: group.id }],
  ]
  for (const [index, [name, more]] of made.entries()) {
    world.setNow(`2026-05-04T1${index}:00:00.000Z`)
    await createProject(ana, name, more)
  }
})

async function names(caller: Caller, query = '', path = '/projects'): Promise<string[]> {
  const { status, body } = await caller.get(`${path}?${query}`)
  expect([status, body.error ?? body.message]).toEqual([200, undefined])
  return body.map((one: { name: string }) => one.name)
}

describe('listing projects', () => {
  test('shows what the caller sees, newest first', async () => {
    expect(await names(ana)).toEqual(['epsilon', 'delta', 'gamma', 'beta', 'alpha'])
    expect(await names(ben)).toEqual(['delta', 'beta', 'alpha'])
    expect(await names(world.nobody)).toEqual(['delta', 'alpha'])
    expect(await names(world.root)).toHaveLength(5)
    const guest = await world.user('external', { external: true })
    expect(await names(guest)).toEqual(['delta', 'alpha'])
  })

  test('anonymous callers and simple lists get the basic block', async () => {
    for (const [caller, query] of [
      [world.nobody, ''],
      [ana, 'simple=true'],
    ] as const) {
      const { body } = await caller.get(`/projects?${query}`)
      expect(body[0].merge_method).toBeUndefined()
      expect(body[0].namespace.kind).toBeDefined()
    }
  })

  test.each([
    ['visibility=private', ['epsilon', 'gamma']],
    ['search=LPH', ['alpha']],
    ['search=100%25', ['alpha']],
    ['search=_', []],
    ['search=g%2Fdelta&search_namespaces=true', ['delta']],
    ['topic=red', ['beta', 'alpha']],
    ['topic=red,blue', ['alpha']],
    ['with_issues_enabled=true&order_by=name&sort=asc', ['alpha', 'beta', 'delta', 'epsilon']],
    ['order_by=name', ['gamma', 'epsilon', 'delta', 'beta', 'alpha']],
    ['order_by=id&sort=asc&per_page=2', ['alpha', 'beta']],
    ['owned=true&visibility=public', ['delta', 'alpha']],
    ['membership=true&min_access_level=50&visibility=internal', ['beta']],
    ['updated_after=2026-05-04T12:30:00Z&order_by=updated_at', ['epsilon', 'delta']],
    ['last_activity_before=2026-05-04T10:00:00Z', ['alpha']],
    ['search=eta&order_by=similarity', ['beta']],
    ['archived=true', []],
    ['active=true&search=alpha', ['alpha']],
    ['starred=true', []],
    ['imported=true', []],
  ])('is narrowed and ordered by %s', async (query, expected) => {
    expect(await names(ana, query)).toEqual(expected)
  })

  test('a filter by update time needs the order by update time', async () => {
    const { status } = await ana.get('/projects?updated_after=2026-05-04&order_by=name')
    expect(status).toBe(400)
  })

  test('every project comes exactly once, whatever the page size, order and kind of paging', async () => {
    const all = (await names(ana)).toSorted()
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 7 }),
        fc.constantFrom('id', 'name', 'created_at', 'last_activity_at', 'star_count'),
        fc.constantFrom('asc', 'desc'),
        fc.boolean(),
        async (perPage, order, sort, keyset) => {
          const kind = keyset ? 'pagination=keyset&order_by=id' : `order_by=${order}`
          let next: string | undefined = `/projects?${kind}&sort=${sort}&per_page=${perPage}`
          const found: string[] = []
          while (next !== undefined) {
            const reply = await ana.get(next)
            found.push(...reply.body.map((one: { name: string }) => one.name))
            const link = /<([^>]+)>; rel="next"/.exec(reply.headers.get('link') ?? '')?.[1]
            next = link?.slice(link.indexOf('/api/v4') + '/api/v4'.length)
          }
          expect(found.toSorted()).toEqual(all)
        },
      ),
      { numRuns: 25 },
    )
  })

  test('a project of a group shows what the caller has by the group, and no owner', async () => {
    const { body } = await ana.get('/projects/g%2Fepsilon')
    expect(body.permissions).toEqual({
      project_access: null,
      group_access: { access_level: 50, notification_level: 3 },
    })
    expect(body.owner).toBeUndefined()
    const seen = await ben.get('/projects/g%2Fdelta')
    expect(seen.body.permissions).toEqual({ project_access: null, group_access: null })
  })
})
