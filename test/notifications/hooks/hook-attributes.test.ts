import { beforeAll, describe, expect, test } from 'vitest'
import { GROUP_FLAGS, PROJECT_FLAGS } from '../../../src/notifications/hooks/hook-events.ts'
import { createGroup, createProject } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld({ outboundAllow: ['127.0.0.1'] })
const ana = useCaller(world, 'ana')

const url = 'http://127.0.0.1:9/in'

describe.each(['projects', 'groups'] as const)('webhooks of %s', (kind) => {
  const flags: readonly string[] = kind === 'groups' ? GROUP_FLAGS : PROJECT_FLAGS
  let hooks: string
  let owner: number

  beforeAll(async () => {
    const named = { name: 'hooked', path: `hooked-${kind}` }
    owner = (await ana.post(`/${kind}`, named)).body.id
    hooks = `/${kind}/${owner}/hooks`
  })

  const allFlags = (value: boolean) => Object.fromEntries(flags.map((flag) => [flag, value]))

  test('take no regular expression for branches that is none or too large', async () => {
    const large = 'a{1000}'.repeat(36)
    for (const filter of ['(', large]) {
      const regex = { push_events_branch_filter: filter, branch_filter_strategy: 'regex' }
      const made = await ana.post(hooks, { url, ...regex })
      expect([made.status, Object.keys(made.body.message)]).toEqual([
        400,
        ['push_events_branch_filter'],
      ])
      const { body: hook } = await ana.post(hooks, { url, push_events_branch_filter: filter })
      const changed = await ana.put(`${hooks}/${hook.id}`, { branch_filter_strategy: 'regex' })
      expect([changed.status, Object.keys(changed.body.message)]).toEqual([
        400,
        ['push_events_branch_filter'],
      ])
      await ana.delete(`${hooks}/${hook.id}`)
    }
  })

  test('have push events on unless the request says otherwise', async () => {
    const made = await ana.post(hooks, { url })
    expect([made.status, made.body]).toEqual([
      201,
      {
        id: made.body.id,
        url,
        name: null,
        description: null,
        created_at: '2026-05-04T10:00:00.000Z',
        push_events_branch_filter: null,
        branch_filter_strategy: 'wildcard',
        enable_ssl_verification: true,
        alert_status: 'executable',
        disabled_until: null,
        url_variables: [],
        custom_headers: [],
        custom_webhook_template: null,
        ...allFlags(false),
        push_events: true,
        ...(kind === 'groups' ? { group_id: owner } : { project_id: owner }),
      },
    ])
    expect((await ana.get(`${hooks}/${made.body.id}`)).body).toEqual(made.body)
  })

  test('keep every attribute that is given and changed, and show no secret', async () => {
    const given = {
      name: 'Robot',
      description: 'Calls the robot',
      enable_ssl_verification: false,
      push_events_branch_filter: 'release/*',
      branch_filter_strategy: 'regex',
      custom_webhook_template: '{"text": "{{object_kind}}"}',
      ...allFlags(true),
    }
    const secret = {
      token: 'tok3n',
      custom_headers: [{ key: 'X-Mine', value: 'v4lue' }],
      url_variables: [{ key: 'path', value: 'v4riable' }],
    }
    const made = await ana.post(hooks, { url: `${url}/{path}`, ...given, ...secret })
    expect(made.body).toMatchObject({
      url: `${url}/{path}`,
      ...given,
      custom_headers: [{ key: 'X-Mine' }],
      url_variables: [{ key: 'path' }],
    })
    expect(JSON.stringify(made.body)).not.toMatch(/tok3n|v4lue|v4riable/)
    const one = `${hooks}/${made.body.id}`
    for (const flag of flags) {
      const changed = await ana.put(one, { [flag]: false })
      expect(changed.body).toMatchObject({ [flag]: false, name: 'Robot' })
    }
    const cleared = await ana.put(one, {
      url,
      name: null,
      description: null,
      push_events_branch_filter: '',
      branch_filter_strategy: 'all_branches',
      custom_webhook_template: null,
      custom_headers: [],
      enable_ssl_verification: true,
    })
    expect(cleared.body).toMatchObject({
      url,
      name: null,
      description: null,
      push_events_branch_filter: null,
      branch_filter_strategy: 'all_branches',
      custom_webhook_template: null,
      custom_headers: [],
      enable_ssl_verification: true,
      ...allFlags(false),
    })
    expect((await ana.get(one)).body).toEqual(cleared.body)
    expect((await ana.put(`${one}/custom_headers/X-One`, { value: 'v' })).status).toBe(204)
    expect((await ana.get(one)).body.custom_headers).toEqual([{ key: 'X-One' }])
    expect((await ana.delete(`${one}/custom_headers/X-One`)).status).toBe(204)
    expect((await ana.delete(`${one}/custom_headers/X-One`)).status).toBe(404)
    expect((await ana.delete(`${one}/url_variables/path`)).status).toBe(204)
    expect((await ana.delete(one)).status).toBe(204)
    expect((await ana.get(one)).body).toEqual({ message: '404 Not found' })
    expect((await ana.delete(one)).status).toBe(404)
  })

  test('are listed in pages, and are of their owner alone', async () => {
    for (const name of ['a', 'b', 'c']) await ana.post(hooks, { url, name: `page ${name}` })
    const { body: all } = await ana.get(hooks)
    const paged = await ana.get(`${hooks}?per_page=1&page=2`)
    expect(paged.body).toEqual([all[1]])
    expect(paged.headers.get('x-total')).toBe(String(all.length))
    const other = await createProject(ana, `other ${kind}`)
    expect((await ana.get(`/projects/${other.id}/hooks/${all[0].id}`)).status).toBe(404)
    expect((await ana.delete(`/projects/${other.id}/hooks/${all[0].id}`)).status).toBe(404)
  })

  test.each([
    [{}, 400, { error: 'url is missing' }],
    [{ url: '' }, 400, { error: 'url is empty' }],
    [
      { url: 'nothing' },
      422,
      { error: 'Invalid url given: the URL must begin with http:// or https://' },
    ],
    [{ url, push_events: 'maybe' }, 400, { error: 'push_events is invalid' }],
    [
      { url, branch_filter_strategy: 'none' },
      400,
      { error: 'branch_filter_strategy does not have a valid value' },
    ],
    [
      { url, name: 'x'.repeat(256) },
      400,
      { error: 'name is too long (maximum is 255 characters)' },
    ],
    [{ url, token: 'a\nb' }, 400, { message: { token: ['is invalid'] } }],
    [
      { url, custom_headers: [{ key: 'Host', value: 'x' }] },
      400,
      { message: { custom_headers: ['is invalid'] } },
    ],
    [
      { url, url_variables: [{ key: '1', value: 'x' }] },
      400,
      { message: { url_variables: ['is invalid'] } },
    ],
  ])('are not made of %j', async (body, status, answer) => {
    const before = (await ana.get(hooks)).body.length
    const reply = await ana.post(hooks, body)
    expect([reply.status, reply.body]).toEqual([status, answer])
    expect((await ana.get(hooks)).body).toHaveLength(before)
  })
})

test('webhooks are for Maintainers of a project, and owners of a group', async () => {
  const mia = await world.user('mia')
  const group = await createGroup(ana, 'owned')
  const project = await createProject(ana, 'kept', { namespace_id: group.id })
  await addMember(world, project.id, mia.id, 30)
  const hooks = `/projects/${project.id}/hooks`
  expect((await mia.post(hooks, { url })).status).toBe(403)
  await addMember(world, project.id, mia.id, 40)
  expect((await mia.post(hooks, { url })).status).toBe(201)
  await ana.post(`/groups/${group.id}/members`, { user_id: mia.id, access_level: 40 })
  expect((await mia.get(`/groups/${group.id}/hooks`)).status).toBe(403)
})

test('hooks of the instance are for administrators, and keep each attribute', async () => {
  const { root } = world
  expect((await ana.get('/hooks')).status).toBe(403)
  const made = await root.post('/hooks', { url, name: 'All', token: 'tok3n' })
  expect([made.status, made.body]).toMatchObject([
    201,
    { url, name: 'All', repository_update_events: true, push_events: false },
  ])
  const one = `/hooks/${made.body.id}`
  const changed = await root.put(one, {
    push_events: true,
    tag_push_events: true,
    merge_requests_events: true,
    repository_update_events: false,
    push_events_branch_filter: 'main',
    enable_ssl_verification: false,
  })
  expect(changed.body).toMatchObject({
    push_events: true,
    tag_push_events: true,
    merge_requests_events: true,
    repository_update_events: false,
    push_events_branch_filter: 'main',
    enable_ssl_verification: false,
  })
  expect((await root.get(one)).body).toEqual(changed.body)
  expect((await root.get('/hooks')).body).toEqual([changed.body])
  expect((await root.delete(one)).status).toBe(204)
  expect((await root.get(one)).status).toBe(404)
})
