import { beforeAll, describe, expect, test } from 'vitest'
import { commitFiles } from '../../support/fast-import.ts'
import { addMember as setLevel } from '../../support/members.ts'
import { addProject, type TestProject } from '../../support/project.ts'
import { addRunner, type TestRunner } from '../../support/runner.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const mona = useCaller(world, 'mona')
const dev = useCaller(world, 'dev')
let project: TestProject
let other: TestProject
let runner: TestRunner
let path: string
let token: string

const config = `
spec:
  inputs:
    where: {default: nowhere}
    times: {type: number, default: 1}
---
"go $[[ inputs.where ]]":
  script: make
  parallel: $[[ inputs.times ]]
`

beforeAll(async () => {
  project = await addProject(world, ana, 'basic', { path: 'triggered' })
  other = await addProject(world, ana, 'basic', { path: 'other' })
  await setLevel(world, project.id, mona.id, 40)
  await setLevel(world, project.id, dev.id, 30)
  commitFiles(project, { files: { '.svc-ci.yml': config } })
  commitFiles(project, { files: { '.svc-ci.yml': 'x: [' }, ref: 'refs/heads/broken' })
  commitFiles(project, {
    files: { '.svc-ci.yml': 'x: {script: y, rules: [{if: $CI_COMMIT_TAG}]}' },
    ref: 'refs/heads/without-jobs',
  })
  path = `/projects/${project.id}`
  runner = await addRunner(world, ana, project.id)
  token = (await ana.post(`${path}/triggers`, { description: 'standing' })).body.token
})

async function make(by = ana, more: object = {}) {
  const { status, body } = await by.post(`${path}/triggers`, { description: 'made', ...more })
  expect(status).toBe(201)
  return { id: body.id as number, token: body.token as string, at: `${path}/triggers/${body.id}` }
}

function call(given: string, more: object = {}, id: number | string = project.id) {
  const body = { token: given, ref: 'main', ...more }
  return world.nobody.post(`/projects/${id}/trigger/pipeline`, body)
}

async function pipelines(): Promise<number> {
  const { headers } = await ana.get(`${path}/pipelines?per_page=1`)
  return Number(headers.get('x-total'))
}

describe('a trigger', () => {
  test('is made, read, changed and removed with each of its attributes', async () => {
    const made = await ana.post(`${path}/triggers`, {
      description: 'whole life',
      expires_at: '2026-06-01T00:00:00Z',
    })
    expect([made.status, made.body]).toEqual([
      201,
      {
        id: expect.any(Number),
        token: expect.stringMatching(/.{32,}/),
        description: 'whole life',
        created_at: world.ctx.now(),
        updated_at: world.ctx.now(),
        last_used: null,
        expires_at: '2026-06-01T00:00:00.000Z',
        owner: expect.objectContaining({ id: ana.id, username: 'ana' }),
      },
    ])
    const at = `${path}/triggers/${made.body.id}`
    expect((await ana.get(at)).body).toEqual(made.body)
    const described = await ana.put(at, { description: 'described anew' })
    expect(described.body).toEqual({ ...made.body, description: 'described anew' })
    const endless = await ana.put(at, { expires_at: null })
    expect(endless.body).toEqual({ ...described.body, expires_at: null })
    expect((await ana.delete(at)).status).toBe(204)
    const gone = await ana.get(at)
    expect([gone.status, gone.body]).toEqual([404, { message: '404 Trigger Not Found' }])
    expect((await ana.put(at, { description: 'x' })).status).toBe(404)
    expect((await ana.delete(at)).status).toBe(404)
    expect((await call(made.body.token)).status).toBe(404)
  })

  test.each([
    [{}, { error: 'description is missing' }],
    [{ description: ' ' }, { message: { description: ["can't be blank"] } }],
    [{ description: 'x', expires_at: 'soon' }, { error: 'expires_at is invalid' }],
  ])('is not made of %j', async (body, answer) => {
    const reply = await ana.post(`${path}/triggers`, body)
    expect([reply.status, reply.body]).toEqual([400, answer])
  })

  test('shows its token to its owner in each answer, and four characters to all others', async () => {
    const own = await make(mona)
    const seen = async (by: Caller) => [
      (await by.get(own.at)).body.token,
      (await by.put(own.at, { description: `changed by ${by.username}` })).body.token,
      (await by.get(`${path}/triggers?per_page=100`)).body.find(
        (one: { id: number }) => one.id === own.id,
      ).token,
    ]
    expect(await seen(mona)).toEqual([own.token, own.token, own.token])
    for (const by of [ana, world.root]) {
      const shown = await seen(by)
      expect(shown.map((one) => one.length)).toEqual([4, 4, 4])
      expect(own.token).toContain(shown[0])
    }
    expect((await mona.get(own.at)).body).toMatchObject({
      description: 'changed by root',
      owner: { username: 'mona' },
    })
    await ana.delete(own.at)
  })

  test('is not that of another project', async () => {
    const { id, at } = await make()
    const wrong = `/projects/${other.id}/triggers/${id}`
    expect((await ana.get(wrong)).status).toBe(404)
    expect((await ana.put(wrong, { description: 'stolen' })).status).toBe(404)
    expect((await ana.delete(wrong)).status).toBe(404)
    expect((await ana.get(at)).body.description).toBe('made')
    await ana.delete(at)
  })

  test('is hidden from Developers, whether there or not', async () => {
    const { id, at } = await make()
    for (const one of [at, `${path}/triggers/${id + 1000}`]) {
      expect((await dev.get(one)).status).toBe(403)
      expect((await dev.put(one, { description: 'x' })).status).toBe(403)
      expect((await dev.delete(one)).status).toBe(403)
    }
    expect((await dev.get(`${path}/triggers`)).status).toBe(403)
    await ana.delete(at)
  })

  test('is listed in pages, oldest first', async () => {
    const made = [await make(), await make(), await make()]
    const ids = async (query: string) =>
      ((await ana.get(`${path}/triggers?${query}`)).body as { id: number }[]).map((one) => one.id)
    expect((await ids('per_page=100')).slice(-3)).toEqual(made.map((one) => one.id))
    const reply = await ana.get(`${path}/triggers?per_page=1&page=2`)
    expect(reply.headers.get('x-total')).toBe('4')
    expect(reply.body[0].id).toBe(made[0]?.id)
    for (const { at } of made) await ana.delete(at)
  })

  test('is on the audit trail when it comes and goes, without its token', async () => {
    const made = await make()
    await ana.delete(made.at)
    const { body } = await ana.get(`${path}/audit_events?per_page=100`)
    const events = body
      .filter((one: { details: { trigger_id?: number } }) => one.details.trigger_id === made.id)
      .map((one: { event_name: string }) => one.event_name)
    expect(events).toEqual(['ci_trigger_deleted', 'ci_trigger_created'])
    expect(JSON.stringify(body)).not.toContain(made.token)
  })

  test('is no key to anything else', async () => {
    for (const caller of [world.as(token), world.withHeader('JOB-TOKEN', token)]) {
      expect((await caller.get(path)).status).toBe(401)
      expect((await caller.get('/user')).status).toBe(401)
    }
  })
})

describe('a pipeline by trigger', () => {
  test('starts until the moment at which the token ends, and again when that is put off', async () => {
    const made = await make(ana, { expires_at: '2026-05-04T10:30:00Z' })
    world.setNow('2026-05-04T10:29:59.000Z')
    expect((await call(made.token)).status).toBe(201)
    world.setNow('2026-05-04T10:30:00.000Z')
    const over = await call(made.token)
    expect([over.status, over.body]).toEqual([404, { message: '404 Not found' }])
    await ana.put(made.at, { expires_at: '2026-05-05T00:00:00Z' })
    expect((await call(made.token)).status).toBe(201)
    expect((await ana.get(made.at)).body.last_used).toBe('2026-05-04T10:30:00.000Z')
    world.setNow('2026-05-04T10:00:00.000Z')
    await ana.delete(made.at)
  })

  test.each([
    ['no token', { token: undefined }, { error: 'token is missing' }],
    ['an empty token', { token: '' }, { error: 'token is empty' }],
    ['no ref', { ref: undefined }, { error: 'ref is missing' }],
    ['a blank ref', { ref: ' ' }, { error: 'ref is empty' }],
    [
      'a number as a variable',
      { variables: { A: 1 } },
      { error: 'variables needs to be a map of key-valued strings' },
    ],
    [
      'a key of 256 characters',
      { variables: { ['k'.repeat(256)]: 'x' } },
      { error: 'variables needs to be a map of key-valued strings' },
    ],
    [
      'a value that is too long',
      { variables: { A: 'x'.repeat(10_001) } },
      { error: 'variables needs to be a map of key-valued strings' },
    ],
    ['inputs that are a list', { inputs: ['a'] }, { error: 'inputs is invalid' }],
  ])('does not start with %s', async (_, more, answer) => {
    const before = await pipelines()
    const reply = await call(token, more)
    expect([reply.status, reply.body]).toEqual([400, answer])
    expect(await pipelines()).toBe(before)
  })

  test.each([
    ['broken', {}],
    ['without-jobs', {}],
    ['no-such-branch', {}],
    ['refs/merge-requests/1/head', {}],
    ['main', { inputs: { times: 'many' } }],
    ['main', { inputs: { unknown: 'x' } }],
  ])('does not start on %s with %j', async (ref, more) => {
    const reply = await call(token, { ref, ...more })
    expect(reply.status).toBe(400)
    expect(Object.keys(reply.body.message)).toEqual(['base'])
  })

  test('gets its inputs from JSON and, as texts, from a form', async () => {
    const names = async (id: number) => {
      const { body } = await ana.get(`${path}/pipelines/${id}/jobs`)
      return (body as { name: string }[]).map((job) => job.name).sort()
    }
    const json = await call(token, { inputs: { where: 'north', times: 2 } })
    expect(await names(json.body.id)).toEqual(['go north 1/2', 'go north 2/2'])
    const form = new URLSearchParams({ token, ref: 'main', 'inputs[where]': 'south' })
    const sent = await world.nobody.post(`${path}/trigger/pipeline`, undefined, { raw: form })
    expect([sent.status, await names(sent.body.id)]).toEqual([201, ['go south 1/1']])
  })

  test('of a path of the project, and of a ref with a slash, is one as well', async () => {
    project.git('branch', 'topic/slash', 'main')
    const byPath = await call(token, {}, encodeURIComponent(project.fullPath))
    expect(byPath.status).toBe(201)
    const url = `${path}/ref/${encodeURIComponent('topic/slash')}/trigger/pipeline`
    const bySlash = await world.nobody.post(url, { token })
    expect([bySlash.status, bySlash.body.ref]).toEqual([201, 'topic/slash'])
    const wrong = await world.nobody.post(`${path}/ref/gone/trigger/pipeline`, { token })
    expect(wrong.status).toBe(400)
  })

  test('gives its jobs the trigger, its token, and variables that take precedence over all others', async () => {
    await ana.post(`${path}/variables`, { key: 'LEVEL', value: 'project' })
    for (let old = await runner.request(); old; old = await runner.request()) {
      await runner.finish(old, 'success')
    }
    const made = await call(token, { variables: { LEVEL: 'trigger', EMPTY: '' } })
    const job = await runner.request()
    if (!job) throw new Error('no job')
    expect(job.job_info.pipeline_id ?? made.body.id).toBe(made.body.id)
    const all = job.variables as { key: string; value: string }[]
    const seen = Object.fromEntries(all.map(({ key, value }) => [key, value]))
    expect(seen).toMatchObject({
      CI_PIPELINE_SOURCE: 'trigger',
      CI_PIPELINE_TRIGGERED: 'true',
      LEVEL: 'trigger',
      EMPTY: '',
    })
    expect(seen.CI_TRIGGER_SHORT_TOKEN).toHaveLength(4)
    expect(token).toContain(seen.CI_TRIGGER_SHORT_TOKEN)
    expect(JSON.stringify(job)).not.toContain(token)
    await runner.finish(job, 'success')
  })

  test('of a token in the body of a hook keeps the token to itself', async () => {
    const made = await call(token, { object_kind: 'push', total: 2 })
    const { body } = await ana.get(`${path}/pipelines/${made.body.id}/variables`)
    expect(body.map((one: { key: string }) => one.key)).toEqual(['TRIGGER_PAYLOAD'])
    expect(JSON.parse(body[0].value)).toEqual({ ref: 'main', object_kind: 'push', total: 2 })
    const plain = await call(token)
    const none = await ana.get(`${path}/pipelines/${plain.body.id}/variables`)
    expect(none.body).toEqual([])
  })

  test('runs as the owner of the token, with the rights that the owner has now', async () => {
    const { token: ofMona, at } = await make(mona)
    const first = await call(ofMona)
    expect([first.status, first.body.user.username]).toEqual([201, 'mona'])
    await ana.post(`${path}/protected_branches`, {
      name: 'main',
      push_access_level: 40,
      merge_access_level: 40,
    })
    await setLevel(world, project.id, mona.id, 30)
    expect((await call(ofMona)).status).toBe(403)
    await ana.delete(`${path}/protected_branches/main`)
    expect((await call(ofMona)).status).toBe(201)
    await setLevel(world, project.id, mona.id, 20)
    const reporter = await call(ofMona)
    expect([reporter.status, reporter.body.message.base]).toEqual([
      400,
      ['Insufficient permissions to trigger this pipeline'],
    ])
    await setLevel(world, project.id, mona.id, 40)
    await world.root.post(`/users/${mona.id}/block`)
    expect((await call(ofMona)).status).toBe(404)
    await world.root.post(`/users/${mona.id}/unblock`)
    expect((await call(ofMona)).status).toBe(201)
    await ana.delete(at)
  })

  test('sets variables only where the owner of the token may', async () => {
    const set = (role: string) =>
      ana.put(path, { ci_pipeline_variables_minimum_override_role: role })
    const { token: ofMona, at } = await make(mona)
    await set('owner')
    const refused = await call(ofMona, { variables: { A: '1' } })
    expect([refused.status, refused.body.message.base]).toEqual([
      400,
      ['Insufficient permissions to set pipeline variables'],
    ])
    expect((await call(ofMona)).status).toBe(201)
    expect((await call(token, { variables: { A: '1' } })).status).toBe(201)
    await set('developer')
    expect((await call(ofMona, { variables: { A: '1' } })).status).toBe(201)
    await ana.delete(at)
  })

  test('does not start in a project that is archived or has no CI', async () => {
    await ana.post(`${path}/archive`)
    expect((await call(token)).status).toBe(400)
    await ana.post(`${path}/unarchive`)
    await ana.put(path, { builds_access_level: 'disabled' })
    expect((await call(token)).status).toBe(400)
    await ana.put(path, { builds_access_level: 'enabled' })
    expect((await call(token)).status).toBe(201)
  })
})

test('the description and the end of a trigger change, and its token ends with it', async () => {
  const triggers = `${path}/triggers`
  const made = await ana.post(triggers, { description: 'one', expires_at: '2026-05-05T00:00:00Z' })
  expect(made.body).toMatchObject({
    description: 'one',
    last_used: null,
    owner: { username: 'ana' },
  })
  const at = `${triggers}/${made.body.id}`
  const start = () =>
    world.nobody.post(`${path}/trigger/pipeline`, { token: made.body.token, ref: 'main' })
  world.setNow('2026-05-05T00:00:01.000Z')
  expect((await start()).status).toBe(404)
  const later = await ana.put(at, { expires_at: '2026-06-01T00:00:00Z' })
  expect(later.body).toMatchObject({
    description: 'one',
    expires_at: '2026-06-01T00:00:00.000Z',
  })
  expect((await ana.put(at, { description: 'two' })).body.expires_at).toBe(later.body.expires_at)
  expect((await ana.put(at, { description: ' ' })).body).toEqual({
    message: { description: ["can't be blank"] },
  })
  const started = await start()
  expect([started.status, started.body.source]).toEqual([201, 'trigger'])
  expect((await ana.get(at)).body).toMatchObject({
    description: 'two',
    last_used: '2026-05-05T00:00:01.000Z',
  })
  expect((await ana.put(at, { expires_at: null })).body.expires_at).toBeNull()
  expect((await dev.get(triggers)).status).toBe(403)
  const listed = (await ana.get(`${triggers}?per_page=100`)).body
  expect(listed.map((one: { id: number }) => one.id)).toContain(made.body.id)
  expect((await ana.delete(at)).status).toBe(204)
  expect((await start()).status).toBe(404)
  expect((await ana.get(at)).status).toBe(404)
  world.setNow('2026-05-04T10:00:00.000Z')
})
