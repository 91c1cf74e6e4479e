import { beforeAll, describe, expect, test } from 'vitest'
import { type Caller, type Reply, useCaller, useWorld } from '../support/world.ts'

/** Which of several things that are wrong is told: docs/contract/A-resolved §1 and §3, resource by resource. */
const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')
const eve = useCaller(world, 'eve')
/** Signed in, and a stranger to everything. */
let hidden: { readonly project: number; readonly group: number }
let open: { readonly project: number; readonly group: number }

beforeAll(async () => {
  const places = async (path: string, visibility: string) => {
    const named = { name: path, path, visibility }
    const group = (await ana.post('/groups', named)).body.id as number
    const input = { ...named, namespace_id: group }
    const project = (await ana.post('/projects', input)).body.id as number
    return { group, project }
  }
  hidden = await places('hidden-ones', 'private')
  open = await places('open-ones', 'public')
})

const seen = ({ status, body }: Reply) => [status, body.error ?? body.message]

type Place = 'nowhere' | 'hidden' | 'open'
const idOf = (place: Place, kind: 'project' | 'group') =>
  place === 'nowhere' ? 999_999 : (place === 'hidden' ? hidden : open)[kind]

const KINDS = ['project', 'group'] as const
const NOT_FOUND = { project: '404 Project Not Found', group: '404 Group Not Found' } as const

describe.each(KINDS)('members of a %s', (kind) => {
  const path = (place: Place) => `/${kind}s/${idOf(place, kind)}/members`

  test('ask for somebody who is signed in before anything else', async () => {
    for (const place of ['nowhere', 'hidden', 'open'] as const) {
      expect(seen(await world.nobody.get(path(place)))).toEqual([401, '401 Unauthorized'])
      expect(seen(await world.nobody.post(path(place), {}))).toEqual([401, '401 Unauthorized'])
      expect(seen(await world.nobody.delete(`${path(place)}/x`))).toEqual([401, '401 Unauthorized'])
    }
  })

  test('then for good parameters, then whether the place is there, then for the right', async () => {
    const wrong = [400, 'user_id, username are missing, at least one parameter must be provided']
    for (const place of ['nowhere', 'hidden', 'open'] as const) {
      const [status, text] = seen(await eve.post(path(place), {}))
      expect([status, text]).toEqual([400, expect.stringContaining('access_level is missing')])
      expect(seen(await eve.post(path(place), { access_level: 30 }))).toEqual(wrong)
      expect(seen(await eve.delete(`${path(place)}/x`))).toEqual([400, 'user_id is invalid'])
    }
    const good = { user_id: eve.id, access_level: 30 }
    for (const place of ['nowhere', 'hidden'] as const)
      expect(seen(await eve.post(path(place), good))).toEqual([404, NOT_FOUND[kind]])
    expect(seen(await eve.post(path('open'), good))).toEqual([403, '403 Forbidden'])
  })

  test('tell of an unknown user and of a member who is there before the right', async () => {
    const unknown = { user_id: 999_999, access_level: 30 }
    expect(seen(await eve.post(path('open'), unknown))).toEqual([404, '404 User Not Found'])
    const there = kind === 'group' ? ana : (await joined()).caller
    const again = { user_id: there.id, access_level: 30 }
    expect(seen(await eve.post(path('open'), again))).toEqual([409, 'Member already exists'])
  })

  let joiner: { readonly caller: Caller } | undefined
  async function joined() {
    if (joiner) return joiner
    const caller = await world.user(`joiner-of-${kind}`)
    const input = { user_id: caller.id, access_level: 20 }
    expect((await ana.post(path('open'), input)).status).toBe(201)
    joiner = { caller }
    return joiner
  }

  test('are deleted in the order 404, 412, 403', async () => {
    const { caller } = await joined()
    const old = { headers: { 'If-Unmodified-Since': 'Mon, 01 Jan 2001 00:00:00 GMT' } }
    expect((await eve.delete(`${path('open')}/999999`, undefined, old)).status).toBe(404)
    const stale = await eve.delete(`${path('open')}/${caller.id}`, undefined, old)
    expect(seen(stale)).toEqual([412, '412 Precondition Failed'])
    expect(seen(await eve.delete(`${path('open')}/${caller.id}`))).toEqual([403, '403 Forbidden'])
    // The very second of the change, and later, are no older than it.
    const same = { headers: { 'If-Unmodified-Since': 'Mon, 04 May 2026 10:00:00 GMT' } }
    expect((await eve.delete(`${path('open')}/${caller.id}`, undefined, same)).status).toBe(403)
    expect((await ana.delete(`${path('open')}/${caller.id}`, undefined, same)).status).toBe(204)
    joiner = undefined
  })
})

describe.each(KINDS)('access requests to a %s', (kind) => {
  const path = (place: Place) => `/${kind}s/${idOf(place, kind)}/access_requests`

  test('ask for a user, then for the place, then for the right', async () => {
    for (const place of ['nowhere', 'hidden', 'open'] as const) {
      expect(seen(await world.nobody.get(path(place)))).toEqual([401, '401 Unauthorized'])
      expect(seen(await world.nobody.post(path(place)))).toEqual([401, '401 Unauthorized'])
    }
    for (const place of ['nowhere', 'hidden'] as const) {
      expect(seen(await eve.get(path(place)))).toEqual([404, NOT_FOUND[kind]])
      expect(seen(await eve.post(path(place)))).toEqual([404, NOT_FOUND[kind]])
    }
    expect(seen(await eve.get(path('open')))).toEqual([403, '403 Forbidden'])
    expect(seen(await eve.put(`${path('open')}/x/approve`))).toEqual([400, 'user_id is invalid'])
  })

  test('are withdrawn in the order 404, 412, 403', async () => {
    const old = { headers: { 'If-Unmodified-Since': 'Mon, 01 Jan 2001 00:00:00 GMT' } }
    const asker = await world.user(`asker-of-${kind}`)
    expect((await asker.post(path('open'))).status).toBe(201)
    const at = `${path('open')}/${asker.id}`
    expect((await eve.delete(`${path('open')}/${eve.id}`, undefined, old)).status).toBe(404)
    expect((await eve.delete(at, undefined, old)).status).toBe(412)
    expect((await eve.delete(at)).status).toBe(403)
    expect((await asker.delete(at, undefined, old)).status).toBe(412)
    const broken = { headers: { 'If-Unmodified-Since': 'last Tuesday, or so' } }
    expect((await asker.delete(at, undefined, broken)).status).toBe(204)
  })
})

describe.each(KINDS)('deploy tokens of a %s', (kind) => {
  const path = (place: Place) => `/${kind}s/${idOf(place, kind)}/deploy_tokens`
  const good = { name: 'd', scopes: ['read_repository'] }

  test('tell of parameters first, and strangers that they may not, never to sign in', async () => {
    for (const caller of [world.nobody, eve]) {
      for (const place of ['nowhere', 'hidden', 'open'] as const) {
        expect(seen(await caller.post(path(place), {}))).toEqual([
          400,
          'name is missing, scopes is missing',
        ])
        expect(seen(await caller.get(`${path(place)}/x`))).toEqual([400, 'token_id is invalid'])
      }
      for (const place of ['nowhere', 'hidden'] as const)
        expect(seen(await caller.post(path(place), good))).toEqual([404, NOT_FOUND[kind]])
      expect(seen(await caller.post(path('open'), good))).toEqual([403, '403 Forbidden'])
      expect(seen(await caller.get(path('open')))).toEqual([403, '403 Forbidden'])
      expect(seen(await caller.delete(`${path('open')}/999999`))).toEqual([403, '403 Forbidden'])
    }
    expect(seen(await ana.delete(`${path('open')}/999999`))).toEqual([404, '404 Not found'])
  })

  test('are not deleted on a condition: their header is passed over', async () => {
    const made = (await ana.post(path('open'), good)).body
    const old = { headers: { 'If-Unmodified-Since': 'Mon, 01 Jan 2001 00:00:00 GMT' } }
    expect((await ana.delete(`${path('open')}/${made.id}`, undefined, old)).status).toBe(204)
    expect((await ana.get(path('open'))).body).toEqual([])
  })
})

describe('broadcast messages', () => {
  test('tell of parameters, then 401 or 403, then 404, then 412', async () => {
    const message = { message: 'x' }
    const { id } = (await world.root.post('/broadcast_messages', message)).body
    const old = { headers: { 'If-Unmodified-Since': 'Mon, 01 Jan 2001 00:00:00 GMT' } }
    for (const [caller, status] of [
      [world.nobody, 401],
      [eve, 403],
    ] as const) {
      expect(seen(await caller.post('/broadcast_messages', {}))).toEqual([
        400,
        'message is missing',
      ])
      expect((await caller.post('/broadcast_messages', message)).status).toBe(status)
      const wrong = await caller.put(`/broadcast_messages/${id}`, { theme: 'plaid' })
      expect(seen(wrong)).toEqual([400, 'theme does not have a valid value'])
      expect(seen(await caller.delete('/broadcast_messages/x'))).toEqual([400, 'id is invalid'])
      expect((await caller.delete('/broadcast_messages/999999')).status).toBe(status)
      expect((await caller.delete(`/broadcast_messages/${id}`, undefined, old)).status).toBe(status)
    }
    const gone = await world.root.delete('/broadcast_messages/999999', undefined, old)
    expect(seen(gone)).toEqual([404, '404 Not found'])
    const stale = await world.root.delete(`/broadcast_messages/${id}`, undefined, old)
    expect(seen(stale)).toEqual([412, '412 Precondition Failed'])
    expect((await world.root.delete(`/broadcast_messages/${id}`)).status).toBe(204)
  })
})

describe('service accounts', () => {
  test('of the instance ask for a user, then for an administrator, then for parameters', async () => {
    const wrong = '/service_accounts?order_by=age'
    expect(seen(await world.nobody.get(wrong))).toEqual([401, '401 Unauthorized'])
    expect(seen(await eve.get(wrong))).toEqual([403, '403 Forbidden'])
    expect(seen(await world.root.get(wrong))).toEqual([400, 'order_by does not have a valid value'])
  })

  test.each(KINDS)(
    'of a %s ask for a user, the place, the right, and only then for parameters',
    async (kind) => {
      const path = (place: Place) => `/${kind}s/${idOf(place, kind)}/service_accounts?order_by=age`
      for (const place of ['nowhere', 'hidden', 'open'] as const)
        expect(seen(await world.nobody.get(path(place)))).toEqual([401, '401 Unauthorized'])
      for (const place of ['nowhere', 'hidden'] as const)
        expect(seen(await eve.get(path(place)))).toEqual([404, NOT_FOUND[kind]])
      expect((await eve.get(path('open'))).status).toBe(403)
      expect(seen(await ana.get(path('open')))).toEqual([
        400,
        'order_by does not have a valid value',
      ])
    },
  )

  test('of a group are deleted in the order 403, 404, 412', async () => {
    const path = `/groups/${open.group}/service_accounts`
    const { id } = (await ana.post(path, {})).body
    const old = { headers: { 'If-Unmodified-Since': 'Mon, 01 Jan 2001 00:00:00 GMT' } }
    expect((await eve.delete(`${path}/999999`, undefined, old)).status).toBe(403)
    expect((await eve.delete(`${path}/${id}`, undefined, old)).status).toBe(403)
    expect(seen(await ana.delete(`${path}/999999`, undefined, old))).toEqual([
      404,
      '404 User Not Found',
    ])
    expect((await ana.delete(`${path}/${id}`, undefined, old)).status).toBe(412)
    expect((await ana.delete(`${path}/${id}`)).status).toBe(204)
  })
})

describe('tokens', () => {
  test.each(KINDS)(
    'of a %s hide themselves behind 401 and 400, once the place is seen',
    async (kind) => {
      const path = (place: Place) => `/${kind}s/${idOf(place, kind)}/access_tokens`
      expect(seen(await world.nobody.get(path('open')))).toEqual([401, '401 Unauthorized'])
      for (const place of ['nowhere', 'hidden'] as const)
        expect(seen(await eve.get(path(place)))).toEqual([404, NOT_FOUND[kind]])
      expect(seen(await eve.get(path('open')))).toEqual([401, '401 Unauthorized'])
      expect(seen(await eve.get(`${path('open')}/999999`))).toEqual([401, '401 Unauthorized'])
      const made = await eve.post(path('open'), { name: 'x', scopes: ['api'] })
      expect(seen(made)).toEqual([
        400,
        `400 Bad request - User does not have permission to create ${kind} access token`,
      ])
      expect(seen(await ana.get(`${path('open')}/999999`))).toEqual([
        404,
        `404 ${kind} Access Token Not Found`,
      ])
    },
  )

  test('of people tell only administrators that there is none', async () => {
    expect(seen(await eve.get('/personal_access_tokens/999999'))).toEqual([401, '401 Unauthorized'])
    const own = (await ana.get('/personal_access_tokens/self')).body.id
    expect(seen(await eve.get(`/personal_access_tokens/${own}`))).toEqual([401, '401 Unauthorized'])
    expect(seen(await world.root.get('/personal_access_tokens/999999'))).toEqual([
      404,
      '404 Not Found',
    ])
    expect((await eve.get(`/personal_access_tokens?user_id=${ana.id}`)).status).toBe(401)
    expect((await world.root.get('/personal_access_tokens?user_id=999999')).status).toBe(404)
  })
})

describe('everywhere else', () => {
  test('the place is looked for before the parameters, and the right before them too', async () => {
    for (const [path, body] of [
      ['labels', {}],
      ['milestones', {}],
      ['issues', {}],
      ['merge_requests', {}],
      ['protected_branches', {}],
      ['hooks', {}],
      ['variables', {}],
    ] as const) {
      const at = (id: number) => `/projects/${id}/${path}`
      expect([path, ...seen(await eve.post(at(hidden.project), body))]).toEqual([
        path,
        404,
        '404 Project Not Found',
      ])
      expect([path, ...seen(await world.nobody.post(at(hidden.project), body))]).toEqual([
        path,
        404,
        '404 Project Not Found',
      ])
      const anonymous = await world.nobody.post(at(open.project), body)
      expect([path, ...seen(anonymous)]).toEqual([path, 401, '401 Unauthorized'])
      expect([path, (await ana.post(at(open.project), body)).status]).toEqual([path, 400])
    }
    for (const path of ['labels', 'protected_branches', 'hooks', 'variables'])
      expect([path, (await eve.post(`/projects/${open.project}/${path}`, {})).status]).toEqual([
        path,
        403,
      ])
  })
})
