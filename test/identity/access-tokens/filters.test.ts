import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { type Caller, useWorld } from '../../support/world.ts'

const world = useWorld()
let root: Caller
let ana: Caller
let robot: Caller
/** Where tokens of each kind are listed and made, and by whom. */
const places: Record<string, { list: string; make: string; by: Caller; more?: object }> = {}

beforeAll(async () => {
  root = world.root
  ana = await world.user('ana')
  robot = await world.user('robot')
  const project = await createProject(ana, 'p')
  const group = await createGroup(ana, 'g')
  const sources = [`/projects/${project.id}`, `/groups/${group.id}`] as const
  const [ofProject, ofGroup] = await Promise.all(
    sources.map((one) => ana.post(`${one}/service_accounts`, {})),
  )
  const both = (path: string) => ({ list: path, make: path, by: ana })
  // The tokens that tests sign in with are there as well: their own user keeps them out.
  places['a user'] = {
    list: `/personal_access_tokens?user_id=${robot.id}&search=t-`,
    make: `/users/${robot.id}/personal_access_tokens`,
    by: root,
  }
  places['a project'] = both(`/projects/${project.id}/access_tokens`)
  places['a group'] = both(`/groups/${group.id}/access_tokens`)
  const ofAccount = (at: number, account: { id: number } | undefined) =>
    both(`${sources[at]}/service_accounts/${account?.id}/personal_access_tokens`)
  places['an account of a project'] = ofAccount(0, ofProject?.body)
  places['an account of a group'] = ofAccount(1, ofGroup?.body)
  for (const place of Object.values(places)) await makeThree(place)
})

/** `t-old` was used, `t-new` is revoked, `t-mid` ends soon. */
async function makeThree({ make, by }: { make: string; by: Caller }): Promise<void> {
  const days = { 't-old': '2026-05-01', 't-mid': '2026-05-02', 't-new': '2026-05-03' }
  const ends = { 't-old': '2027-01-01', 't-mid': '2026-05-20', 't-new': '2026-12-24' }
  for (const [name, day] of Object.entries(days)) {
    world.setNow(`${day}T08:00:00.000Z`)
    const expires_at = ends[name as keyof typeof ends]
    const reply = await by.post(make, { name, scopes: ['api'], expires_at })
    expect([reply.status, reply.body.message]).toEqual([201, undefined])
    if (name === 't-old') expect((await world.as(reply.body.token).get('/user')).status).toBe(200)
    if (name === 't-new') {
      const gone = make.startsWith('/users')
        ? `/personal_access_tokens/${reply.body.id}`
        : undefined
      expect((await by.delete(gone ?? `${make}/${reply.body.id}`)).status).toBe(204)
    }
  }
  world.setNow('2026-05-04T10:00:00.000Z')
}

const kinds = [
  'a user',
  'a project',
  'a group',
  'an account of a project',
  'an account of a group',
] as const

const filters: readonly (readonly [query: string, names: readonly string[]])[] = [
  ['', ['t-old', 't-mid', 't-new']],
  ['sort=created_desc', ['t-new', 't-mid', 't-old']],
  ['sort=expires_asc', ['t-mid', 't-new', 't-old']],
  ['sort=expires_desc', ['t-old', 't-new', 't-mid']],
  ['sort=name_asc', ['t-mid', 't-new', 't-old']],
  ['sort=name_desc', ['t-old', 't-new', 't-mid']],
  ['sort=last_used_desc&last_used_after=2026-05-01', ['t-old']],
  ['last_used_before=2026-05-01T08:00:00Z', ['t-old']],
  ['last_used_after=2026-05-02', []],
  ['created_after=2026-05-02T08:00:00Z', ['t-mid', 't-new']],
  ['created_before=2026-05-02T08:00:00Z', ['t-old', 't-mid']],
  // On the day itself: `after` holds it, `before` does not.
  ['expires_after=2026-12-24', ['t-old', 't-new']],
  ['expires_before=2026-12-24', ['t-mid']],
  ['revoked=true', ['t-new']],
  ['revoked=false', ['t-old', 't-mid']],
  ['state=active', ['t-old', 't-mid']],
  ['state=inactive', ['t-new']],
  ['search=T-M', ['t-mid']],
  ['search=%25', []],
  ['per_page=1&page=2', ['t-mid']],
]

describe.each(kinds)('tokens of %s', (kind) => {
  const get = async (query: string) => {
    const { list = '', by = root } = places[kind] ?? {}
    // A query of its own is never said twice, as the last one would win.
    const wanted = query.startsWith('search=') ? list.replace('&search=t-', '') : list
    return await by.get(`${wanted}${wanted.includes('?') ? '&' : '?'}${query}`)
  }

  test.each(filters)('are narrowed and ordered by %j', async (query, names) => {
    const { status, body } = await get(query)
    expect([status, body.error ?? body.message]).toEqual([200, undefined])
    expect(body.map((one: { name: string }) => one.name)).toEqual(names)
  })

  test('are inactive from the start of their last day on', async () => {
    world.setNow('2026-05-20T00:00:00.000Z')
    const inactive = (await get('state=inactive&sort=name_asc')).body
    expect(inactive.map((one: { name: string }) => one.name)).toEqual(['t-mid', 't-new'])
    expect(inactive.map((one: { active: boolean }) => one.active)).toEqual([false, false])
    world.setNow('2026-05-04T10:00:00.000Z')
  })

  test.each([
    ['state=asleep', 'state does not have a valid value'],
    ['revoked=perhaps', 'revoked is invalid'],
    ['created_after=then', 'created_after is invalid'],
    ['expires_before=2026-13-01', 'expires_before is invalid'],
  ])('are not narrowed by %s', async (query, error) => {
    const reply = await get(query)
    expect([reply.status, reply.body]).toEqual([400, { error }])
  })

  test('never show their secret again', async () => {
    for (const one of (await get('')).body) {
      expect(Object.keys(one)).not.toContain('token')
      expect(one).toMatchObject({ scopes: ['api'], description: null })
    }
  })
})

describe('how long a token lives', () => {
  const make = (expires_at?: unknown) =>
    root.post(`/users/${robot.id}/personal_access_tokens`, {
      name: 'timed',
      scopes: ['api'],
      ...(expires_at === undefined ? {} : { expires_at }),
    })

  test('is a year at most, and if nothing is said', async () => {
    expect((await make()).body.expires_at).toBe('2027-05-04')
    expect((await make(null)).body.expires_at).toBe('2027-05-04')
    expect((await make('2027-05-04')).status).toBe(201)
    const longer = await make('2027-05-05')
    expect([longer.status, longer.body.message]).toMatchObject([
      expect.any(Number),
      expect.stringContaining('Expires at must be before 2027-05-04'),
    ])
    expect(longer.status).toBeGreaterThanOrEqual(400)
    expect((await make('2026-05-03')).status).toBeGreaterThanOrEqual(400)
    expect((await make('soon')).body).toEqual({ error: 'expires_at is invalid' })
  })

  test('is as administrators want it', async () => {
    await root.put('/application/settings', { max_personal_access_token_lifetime: 10 })
    expect((await make()).body.expires_at).toBe('2026-05-14')
    expect((await make('2026-05-15')).status).toBeGreaterThanOrEqual(400)
    await root.put('/application/settings', {
      max_personal_access_token_lifetime: null,
      require_personal_access_token_expiry: false,
    })
    expect((await make()).body.expires_at).toBeNull()
    expect((await make('2036-01-01')).status).toBe(201)
    const { id } = (await make()).body
    const rotated = await root.post(`/personal_access_tokens/${id}/rotate`)
    expect([rotated.status, rotated.body.expires_at]).toEqual([200, null])
    await root.put('/application/settings', { require_personal_access_token_expiry: true })
    const again = await root.post(`/personal_access_tokens/${rotated.body.id}/rotate`)
    expect(again.body.expires_at).toBe('2026-05-11')
  })
})
