import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup } from '../../support/create.ts'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const mona = useCaller(world, 'mona')
const dev = useCaller(world, 'dev')
let project: TestProject
let other: TestProject
let groupId: number
let subgroupId: number
const paths = new Map<string, string>()

beforeAll(async () => {
  groupId = (await createGroup(ana, 'team')).id
  subgroupId = (await createGroup(ana, 'sub', { parent_id: groupId })).id
  project = await addProject(world, ana, 'basic', { path: 'vars' })
  other = await addProject(world, ana, 'basic', { path: 'other' })
  await addMember(world, project, mona, 40)
  await addMember(world, project, dev, 30)
  paths.set('project', `/projects/${project.id}/variables`)
  paths.set('group', `/groups/${groupId}/variables`)
  paths.set('instance', '/admin/ci/variables')
})

function at(place: string): { path: string; by: Caller } {
  return { path: paths.get(place) ?? '', by: place === 'instance' ? world.root : ana }
}

interface Variable {
  readonly key: string
  readonly value: string | null
  readonly environment_scope: string
}

/** Names, scopes and values of what is listed, in its order. */
async function listed(path: string, by: Caller) {
  const { body } = await by.get(`${path}?per_page=100`)
  return (body as Variable[]).map((one) => [one.key, one.environment_scope, one.value])
}

describe.each(['project', 'group', 'instance'])('a variable of the %s', (place) => {
  test('needs a key and a value, which may be empty', async () => {
    const { path, by } = at(place)
    const noKey = await by.post(path, { value: 'x' })
    expect([noKey.status, noKey.body]).toEqual([400, { error: 'key is missing' }])
    const noValue = await by.post(path, { key: 'NO_VALUE' })
    expect([noValue.status, noValue.body]).toEqual([400, { error: 'value is missing' }])
    const empty = await by.post(path, { key: 'EMPTY', value: '' })
    expect([empty.status, empty.body.value]).toEqual([201, ''])
    expect((await by.delete(`${path}/EMPTY`)).status).toBe(204)
  })

  test('has keys that differ in upper and lower case', async () => {
    const { path, by } = at(place)
    await by.post(path, { key: 'CASE', value: 'upper' })
    await by.post(path, { key: 'case', value: 'lower' })
    expect((await by.get(`${path}/CASE`)).body.value).toBe('upper')
    expect((await by.get(`${path}/case`)).body.value).toBe('lower')
    expect((await by.get(`${path}/Case`)).status).toBe(404)
    await by.delete(`${path}/CASE`)
    expect((await by.get(`${path}/case`)).body.value).toBe('lower')
    await by.delete(`${path}/case`)
  })

  test('that is masked stays raw while its value needs that', async () => {
    const { path, by } = at(place)
    await by.post(path, { key: 'RAW', value: '$only_raw', raw: true, masked: true })
    const reply = await by.put(`${path}/RAW`, { raw: false })
    expect([reply.status, reply.body]).toEqual([400, { message: { value: ['is invalid'] } }])
    const both = await by.put(`${path}/RAW`, { raw: false, value: 'plain-value' })
    expect([both.status, both.body.raw, both.body.value]).toEqual([200, false, 'plain-value'])
    await by.delete(`${path}/RAW`)
  })

  test('is refused with all mistakes at once', async () => {
    const { path, by } = at(place)
    const body = { key: 'a-b', value: 'x'.repeat(10_001), description: 'd'.repeat(256) }
    const reply = await by.post(path, body)
    expect(reply.status).toBe(400)
    expect(Object.keys(reply.body.message).sort()).toEqual(['description', 'key', 'value'])
    const longest = { key: 'LONGEST', value: 'x'.repeat(10_000), description: 'd'.repeat(255) }
    expect((await by.post(path, longest)).status).toBe(201)
    await by.delete(`${path}/LONGEST`)
  })

  test('goes onto the audit trail without its value', async () => {
    const { path, by } = at(place)
    const key = `AUDITED_${place.toUpperCase()}`
    await by.post(path, { key, value: 'not-for-the-trail' })
    await by.put(`${path}/${key}`, { value: 'nor-is-this-one' })
    await by.delete(`${path}/${key}`)
    const trail = place === 'instance' ? '/audit_events' : path.replace('variables', 'audit_events')
    const { body } = await by.get(`${trail}?per_page=100`)
    const events = (body as { event_name: string; author_id: number; details: { key?: string } }[])
      .filter((one) => one.details.key === key)
      .map((one) => [one.event_name, one.author_id])
    expect(events).toEqual([
      ['ci_variable_deleted', by.id],
      ['ci_variable_updated', by.id],
      ['ci_variable_created', by.id],
    ])
    expect(JSON.stringify(body)).not.toMatch(/not-for-the-trail|nor-is-this-one/)
  })

  test('that was refused leaves nothing on the audit trail', async () => {
    const { path, by } = at(place)
    const key = `ONCE_${place.toUpperCase()}`
    await by.post(path, { key, value: 'x' })
    const twice = await by.post(path, { key, value: 'y' })
    expect([twice.status, twice.body]).toEqual([
      400,
      { message: { key: [`(${key}) has already been taken`] } },
    ])
    const trail = place === 'instance' ? '/audit_events' : path.replace('variables', 'audit_events')
    const { body } = await by.get(`${trail}?per_page=100`)
    const events = (body as { details: { key?: string } }[]).filter(
      (one) => one.details.key === key,
    )
    expect(events.length).toBe(1)
    await by.delete(`${path}/${key}`)
  })

  test('is made once when two make it at the same time', async () => {
    const { path, by } = at(place)
    const replies = await Promise.all(
      ['one', 'two', 'three'].map((value) => by.post(path, { key: 'RACE', value })),
    )
    expect(replies.map((reply) => reply.status).sort()).toEqual([201, 400, 400])
    const won = replies.find((reply) => reply.status === 201)
    expect((await by.get(`${path}/RACE`)).body).toEqual(won?.body)
    await by.delete(`${path}/RACE`)
  })

  test('keeps what two change in it at the same time', async () => {
    const { path, by } = at(place)
    await by.post(path, { key: 'BOTH', value: 'first' })
    const replies = await Promise.all([
      by.put(`${path}/BOTH`, { value: 'second' }),
      by.put(`${path}/BOTH`, { description: 'described' }),
      by.put(`${path}/BOTH`, { protected: true }),
      by.put(`${path}/BOTH`, { variable_type: 'file' }),
    ])
    expect(replies.map((reply) => reply.status)).toEqual([200, 200, 200, 200])
    expect((await by.get(`${path}/BOTH`)).body).toMatchObject({
      value: 'second',
      description: 'described',
      protected: true,
      variable_type: 'file',
    })
    await by.delete(`${path}/BOTH`)
  })

  test('is never masked with a value that cannot be, whoever comes first', async () => {
    const { path, by } = at(place)
    await by.post(path, { key: 'MASK_RACE', value: 'long-enough' })
    const replies = await Promise.all([
      by.put(`${path}/MASK_RACE`, { value: 'short' }),
      by.put(`${path}/MASK_RACE`, { masked: true }),
    ])
    expect(replies.map((reply) => reply.status).sort()).toEqual([200, 400])
    const { body } = await by.get(`${path}/MASK_RACE`)
    expect([
      ['short', false],
      ['long-enough', true],
    ]).toContainEqual([body.value, body.masked])
    await by.delete(`${path}/MASK_RACE`)
  })
})

describe('a variable', () => {
  test.each(['A', '0_starts_with_a_digit', '_', 'k'.repeat(255)])(
    'may be called %s',
    async (key) => {
      const { path, by } = at('project')
      expect((await by.post(path, { key, value: 'x' })).status).toBe(201)
      expect((await by.get(`${path}/${key}`)).body.key).toBe(key)
      expect((await by.delete(`${path}/${key}`)).status).toBe(204)
    },
  )

  test.each(['', ' ', 'A B', 'a.b', 'é', 'A\n', '$A'])('may not be called %j', async (key) => {
    const { path, by } = at('project')
    const reply = await by.post(path, { key, value: 'x' })
    expect([reply.status, reply.body]).toEqual([
      400,
      { message: { key: ["can contain only letters, digits and '_'."] } },
    ])
  })

  test.each([
    ['eight888', false],
    ['aB0_+=/@:.~-', false],
    ['$dollar_is_raw', true],
    ['<>"\'{}[]#%!?', true],
  ])('can be masked with the value %s, raw: %s', async (value, raw) => {
    const { path, by } = at('project')
    const made = await by.post(path, { key: 'MASK', value, raw, masked: true })
    expect([made.status, made.body.masked, made.body.value]).toEqual([201, true, value])
    await by.delete(`${path}/MASK`)
  })

  test.each([
    ['seven77', true],
    ['', true],
    ['with space', true],
    ['tab\tinside', true],
    ['line\nfeed-here', true],
    ['ends-with-one\n', false],
    ['hash#is-outside', false],
    ['ümlaut-value', false],
  ])('cannot be masked with the value %j, raw: %s', async (value, raw) => {
    const { path, by } = at('project')
    const reply = await by.post(path, { key: 'MASK', value, raw, masked: true })
    expect([reply.status, reply.body]).toEqual([400, { message: { value: ['is invalid'] } }])
    expect((await by.get(`${path}/MASK`)).status).toBe(404)
  })
})

describe.each(['project', 'group'])('a hidden variable of the %s', (place) => {
  test('shows its value to nobody in any answer, and still takes a new one', async () => {
    const { path, by } = at(place)
    const made = await by.post(path, { key: 'HIDDEN', value: 'hide-me-1', masked_and_hidden: true })
    expect([made.status, made.body.hidden, made.body.masked]).toEqual([201, true, true])
    const answers = [
      made,
      await by.get(path),
      await by.get(`${path}/HIDDEN`),
      await world.root.get(`${path}/HIDDEN`),
      await by.put(`${path}/HIDDEN`, { value: 'hide-me-2' }),
      await by.put(`${path}/HIDDEN`, { raw: true }),
    ]
    for (const answer of answers) {
      expect(answer.status).toBeLessThan(300)
      expect(JSON.stringify(answer.body)).not.toContain('hide-me')
    }
    const short = await by.put(`${path}/HIDDEN`, { value: 'short' })
    expect([short.status, short.body]).toEqual([400, { message: { value: ['is invalid'] } }])
    expect((await by.delete(`${path}/HIDDEN`)).status).toBe(204)
  })

  test('is one from the start, and must be maskable', async () => {
    const { path, by } = at(place)
    const short = await by.post(path, { key: 'HIDDEN', value: 'short', masked_and_hidden: true })
    expect([short.status, short.body]).toEqual([400, { message: { value: ['is invalid'] } }])
    await by.post(path, { key: 'SHOWN', value: 'shown-value', masked: true })
    await by.put(`${path}/SHOWN`, { masked_and_hidden: true })
    expect((await by.get(`${path}/SHOWN`)).body).toMatchObject({
      hidden: false,
      value: 'shown-value',
    })
    await by.delete(`${path}/SHOWN`)
  })
})

describe.each(['project', 'group'])('the scopes of a variable of the %s', (place) => {
  test('hold one value each, and are listed in the order in which they came', async () => {
    const { path, by } = at(place)
    for (const scope of ['staging', '*', 'review/*']) {
      const body = { key: 'SCOPES', value: `of ${scope}`, environment_scope: scope }
      expect((await by.post(path, body)).status).toBe(201)
      expect((await by.post(path, body)).body).toEqual({
        message: { key: ['(SCOPES) has already been taken'] },
      })
    }
    expect((await listed(path, by)).filter(([key]) => key === 'SCOPES')).toEqual([
      ['SCOPES', 'staging', 'of staging'],
      ['SCOPES', '*', 'of *'],
      ['SCOPES', 'review/*', 'of review/*'],
    ])
  })

  test('are asked for by the filter, or the answer names the filter', async () => {
    const { path, by } = at(place)
    for (const reply of [
      await by.get(`${path}/SCOPES`),
      await by.put(`${path}/SCOPES`, { value: 'x' }),
      await by.delete(`${path}/SCOPES`),
    ]) {
      expect(reply.status).toBe(409)
      expect(JSON.stringify(reply.body)).toContain('filter[environment_scope]')
    }
    const of = (scope: string) => `filter[environment_scope]=${encodeURIComponent(scope)}`
    expect((await by.get(`${path}/SCOPES?${of('staging')}`)).body.value).toBe('of staging')
    // A scope is meant as it is written, not as a pattern.
    expect((await by.get(`${path}/SCOPES?${of('review/one')}`)).status).toBe(404)
    expect((await by.get(`${path}/SCOPES?${of('')}`)).status).toBe(404)
    expect((await by.delete(`${path}/SCOPES?${of('gone')}`)).status).toBe(404)
    expect((await by.get(`${path}/SCOPES?filter=staging`)).status).toBe(400)
  })

  test('are moved one by one, never onto another', async () => {
    const { path, by } = at(place)
    const filter = { environment_scope: 'staging' }
    const moved = await by.put(`${path}/SCOPES`, { environment_scope: 'live', filter })
    expect([moved.status, moved.body.environment_scope]).toEqual([200, 'live'])
    const onto = await by.put(`${path}/SCOPES`, {
      environment_scope: '*',
      filter: { environment_scope: 'live' },
    })
    expect(onto.status).toBe(400)
    expect((await by.put(`${path}/SCOPES`, { value: 'x', filter })).status).toBe(404)
    for (const scope of ['live', '*', 'review/*']) {
      const query = `filter[environment_scope]=${encodeURIComponent(scope)}`
      expect((await by.delete(`${path}/SCOPES?${query}`)).status).toBe(204)
    }
    expect((await by.get(`${path}/SCOPES`)).status).toBe(404)
  })

  test.each(['', 'a,b', 'x'.repeat(256), 'line\nfeed', 'ünder'])('are never %j', async (scope) => {
    const { path, by } = at(place)
    const reply = await by.post(path, { key: 'BAD', value: 'x', environment_scope: scope })
    expect(reply.status).toBe(400)
    expect(Object.keys(reply.body.message)).toEqual(['environment_scope'])
  })
})

describe('variables are', () => {
  test('those of one place: neither read, changed nor removed from another', async () => {
    await ana.post(at('project').path, { key: 'MINE', value: 'x' })
    await ana.post(at('group').path, { key: 'OURS', value: 'x' })
    const wrong = [
      [`/projects/${other.id}/variables/MINE`, ana],
      [`/groups/${groupId}/variables/MINE`, ana],
      [`/groups/${subgroupId}/variables/OURS`, ana],
      [`/projects/${project.id}/variables/OURS`, ana],
      ['/admin/ci/variables/MINE', world.root],
    ] as const
    for (const [path, by] of wrong) {
      expect((await by.get(path)).status).toBe(404)
      expect((await by.put(path, { value: 'stolen' })).status).toBe(404)
      expect((await by.delete(path)).status).toBe(404)
    }
    expect((await ana.get(`${at('project').path}/MINE`)).body.value).toBe('x')
    expect((await ana.get(`${at('group').path}/OURS`)).body.value).toBe('x')
    expect(await listed(`/groups/${subgroupId}/variables`, ana)).toEqual([])
    expect(await listed(`/projects/${other.id}/variables`, ana)).toEqual([])
  })

  test('hidden from Developers, strangers and callers who are nobody, whether there or not', async () => {
    const stranger = await world.user('stranger')
    const { path } = at('project')
    const callers: [Caller, number][] = [
      [dev, 403],
      [stranger, 404],
      [world.nobody, 404],
    ]
    for (const [caller, status] of callers) {
      for (const key of ['MINE', 'NONE']) {
        expect((await caller.get(`${path}/${key}`)).status).toBe(status)
        expect((await caller.put(`${path}/${key}`, { value: 'y' })).status).toBe(status)
        expect((await caller.delete(`${path}/${key}`)).status).toBe(status)
      }
      const reply = await caller.post(path, { key: 'a-b', value: 'y' })
      expect(reply.status).toBe(status)
    }
    expect((await ana.get(`${path}/MINE`)).body.value).toBe('x')
  })

  test('only read, not written, with a token that only reads', async () => {
    const reader = world.as(await world.token(mona.id, ['read_api']))
    const { path } = at('project')
    expect((await reader.get(`${path}/MINE`)).body.value).toBe('x')
    expect((await reader.put(`${path}/MINE`, { value: 'y' })).status).toBe(403)
    expect((await reader.post(path, { key: 'NEW', value: 'y' })).status).toBe(403)
    expect((await mona.put(`${path}/MINE`, { value: 'z' })).body.value).toBe('z')
  })

  test('out of reach while the project has no CI', async () => {
    const { path } = at('project')
    const set = (builds_access_level: string) =>
      ana.put(`/projects/${project.id}`, { builds_access_level })
    await set('disabled')
    expect((await ana.get(path)).status).toBe(403)
    expect((await ana.post(path, { key: 'NEW', value: 'x' })).status).toBe(403)
    await set('enabled')
    expect((await ana.get(`${path}/MINE`)).body.value).toBe('z')
  })

  test('read but no longer changed in an archived project', async () => {
    const { path } = at('project')
    await ana.post(`/projects/${project.id}/archive`)
    expect((await ana.get(`${path}/MINE`)).body.value).toBe('z')
    expect((await ana.put(`${path}/MINE`, { value: 'late' })).status).toBe(403)
    expect((await ana.delete(`${path}/MINE`)).status).toBe(403)
    await ana.post(`/projects/${project.id}/unarchive`)
    expect((await ana.get(`${path}/MINE`)).body.value).toBe('z')
  })
})
