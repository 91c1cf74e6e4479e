import { beforeAll, describe, expect, test } from 'vitest'
import { atOnce } from '../../support/at-once.ts'
import { addCiPlace, type CiPlace, startJob } from '../../support/ci.ts'
import { createGroup } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { TestRunner } from '../../support/runner.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const mia = useCaller(world, 'mia')
const dev = useCaller(world, 'dev')
let place: CiPlace
let group: { id: number }

const atFirst = '2026-05-04T10:00:00.000Z'

beforeAll(async () => {
  place = await addCiPlace(world, ana, 'x: {script: make}', {
    members: [
      [mia, 40],
      [dev, 30],
    ],
  })
  group = await createGroup(ana, 'team')
})

interface Made {
  readonly id: number
  readonly at: string
  readonly token: string
}

async function made(by: Caller, body: object): Promise<Made> {
  const reply = await by.post('/user/runners', body)
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  const { id, token } = reply.body
  return { id, token, at: `/runners/${id}` }
}

const ofProject = (project = place, more: object = {}) =>
  made(ana, { runner_type: 'project_type', project_id: project.project.id, ...more })
const ofGroup = (id = group.id, more: object = {}) =>
  made(ana, { runner_type: 'group_type', group_id: id, ...more })
const ofAll = (more: object = {}) => made(world.root, { runner_type: 'instance_type', ...more })

async function ids(by: Caller, path: string): Promise<number[]> {
  const { status, body } = await by.get(path)
  expect(status, JSON.stringify(body)).toBe(200)
  return (body as { id: number }[]).map((runner) => runner.id)
}

describe('a runner is looked after', () => {
  test('by Maintainers of a project of it, by Owners of its group, and by administrators', async () => {
    const sub = await createGroup(ana, 'sub', { parent_id: group.id })
    for (const [user, level] of [
      [mia, 40],
      [dev, 30],
    ] as const) {
      await ana.post(`/groups/${group.id}/members`, { user_id: user.id, access_level: level })
    }
    const runners = { project: await ofProject(), group: await ofGroup(sub.id), all: await ofAll() }
    const statuses = async (call: (by: Caller, at: string) => Promise<{ status: number }>) => {
      const found: Record<string, number[]> = {}
      for (const [name, { at }] of Object.entries(runners)) {
        found[name] = []
        for (const by of [dev, mia, ana, world.root, world.nobody]) {
          found[name].push((await call(by, at)).status)
        }
      }
      return found
    }
    const expected = (ok: number) => ({
      project: [403, ok, ok, ok, 401],
      group: [403, 403, ok, ok, 401],
      all: [403, 403, 403, ok, 401],
    })
    expect(await statuses((by, at) => by.get(at))).toEqual(expected(200))
    expect(await statuses((by, at) => by.get(`${at}/jobs`))).toEqual(expected(200))
    expect(await statuses((by, at) => by.get(`${at}/managers`))).toEqual(expected(200))
    expect(await statuses((by, at) => by.put(at, { description: 'x' }))).toEqual(expected(200))
    const reset = (by: Caller, at: string) => by.post(`${at}/reset_authentication_token`)
    expect(await statuses(reset)).toEqual(expected(201))
    await ana.put(runners.group.at, { tag_list: ['x'] })
    const changes = [{ tag_list: [] }, { run_untagged: false }]
    const edits = await atOnce(
      world,
      changes.map((change) => () => ana.put(runners.group.at, change)),
    )
    expect(edits.map(({ status }) => status).sort()).toEqual([200, 400])
    const both = () => reset(ana, runners.group.at)
    const resets = await atOnce(world, [both, both])
    expect(resets.map(({ status }) => status).sort()).toEqual([201, 409])
    const { token } = resets.find(({ status }) => status === 201)?.body ?? {}
    expect((await place.runner.call('POST', '/runners/verify', { token })).status).toBe(200)
    for (const { at } of Object.values(runners)) {
      for (const by of [dev, world.nobody]) {
        expect((await by.delete(at)).status).toBe(by === dev ? 403 : 401)
      }
    }
    expect((await mia.delete(runners.project.at)).status).toBe(204)
    expect((await ana.delete(runners.group.at)).status).toBe(204)
    expect((await world.root.delete(runners.all.at)).status).toBe(204)
    expect((await world.root.get(runners.all.at)).body).toEqual({
      message: '404 Runner Not Found',
    })
  })

  test('by whom they know it, in the list of their own', async () => {
    const own = await ofProject()
    const shared = await ofGroup()
    const kim = await world.user('kim')
    const listed = () => ids(kim, '/runners')
    expect(await listed()).toEqual([])
    await addMember(world, place.project.id, kim.id, 30)
    expect(await listed()).toEqual([])
    await addMember(world, place.project.id, kim.id, 40)
    // Those that a new project of the group's was given stay out: its Owners look after them.
    expect(await listed()).toEqual([own.id, await idOfPlaceRunner()])
    const made = (await kim.get('/runners')).body
    expect(made.map((one: { runner_type: string }) => one.runner_type)).not.toContain('group_type')
    await ana.put(`${place.path}/members/${kim.id}`, {
      access_level: 40,
      expires_at: '2026-05-05',
    })
    expect(await listed()).toHaveLength(2)
    world.setNow('2026-05-05T00:00:01.000Z')
    expect(await listed()).toEqual([])
    world.setNow(atFirst)
    await ana.delete(`${place.path}/members/${kim.id}`)
    expect(await listed()).toEqual([])
    // By a group that was invited, as far as it was.
    const guests = await createGroup(ana, 'guests')
    await ana.post(`/groups/${guests.id}/members`, { user_id: kim.id, access_level: 50 })
    const invite = async (group_access: number) => {
      await ana.delete(`${place.path}/share/${guests.id}`)
      await ana.post(`${place.path}/share`, { group_id: guests.id, group_access })
    }
    await invite(30)
    expect(await listed()).toEqual([])
    await invite(40)
    expect(await listed()).toHaveLength(2)
    await ana.post(`/groups/${group.id}/share`, { group_id: guests.id, group_access: 50 })
    expect(await listed()).toContain(shared.id)
    await ana.delete(`/groups/${group.id}/share/${guests.id}`)
    await ana.delete(`${place.path}/share/${guests.id}`)
    for (const { at } of [own, shared]) await ana.delete(at)
  })

  test('no longer by who made it and has left', async () => {
    const { id } = await made(mia, {
      runner_type: 'project_type',
      project_id: place.project.id,
    })
    expect(await ids(mia, '/runners')).toContain(id)
    await addMember(world, place.project.id, mia.id, 20)
    expect(await ids(mia, '/runners')).not.toContain(id)
    expect((await mia.get(`/runners/${id}`)).status).toBe(403)
    await addMember(world, place.project.id, mia.id, 40)
    await ana.delete(`/runners/${id}`)
  })

  test('by a token for that, which does nothing else', async () => {
    const one = await ofProject()
    const further = await addCiPlace(world, ana, 'x: {script: make}')
    const manage = world.as(await world.token(ana.id, ['manage_runner']))
    expect((await manage.put(one.at, { description: 'by token' })).status).toBe(200)
    const list = `${further.path}/runners`
    expect((await manage.post(list, { runner_id: one.id })).status).toBe(201)
    expect((await manage.delete(`${list}/${one.id}`)).status).toBe(204)
    expect((await manage.post(`${one.at}/reset_authentication_token`)).status).toBe(201)
    const body = { runner_type: 'project_type', project_id: place.project.id }
    expect((await manage.post('/user/runners', body)).status).toBe(403)
    expect((await manage.get(place.path)).status).toBe(403)
    expect((await manage.get('/user')).status).toBe(403)
    const read = world.as(await world.token(ana.id, ['read_api']))
    expect((await read.get(one.at)).status).toBe(200)
    expect((await read.put(one.at, { description: 'x' })).status).toBe(403)
    expect((await manage.delete(one.at)).status).toBe(204)
  })
})

/** The runner that the place was opened with. */
async function idOfPlaceRunner(): Promise<number> {
  const verified = await place.runner.call('POST', '/runners/verify', { token: place.runner.token })
  return verified.body.id
}

describe('the details of a runner', () => {
  test('names the projects that the caller sees, and no others', async () => {
    const secret = await addCiPlace(world, ana, 'x: {script: make}')
    const open = await addCiPlace(world, ana, 'x: {script: make}', { visibility: 'public' })
    const one = await ofProject()
    for (const { path } of [secret, open]) {
      expect((await ana.post(`${path}/runners`, { runner_id: one.id })).status).toBe(201)
    }
    const named = async (by: Caller) =>
      (await by.get(one.at)).body.projects.map((project: { id: number }) => project.id)
    const all = [place, secret, open].map(({ project }) => project.id)
    expect(await named(ana)).toEqual(all)
    expect(await named(world.root)).toEqual(all)
    expect(await named(mia)).toEqual([place.project.id, open.project.id])
    const { body } = await mia.put(one.at, { description: 'x' })
    expect(JSON.stringify(body)).not.toContain(secret.project.fullPath)
    await ana.delete(one.at)
  })

  test('is whole also of one that nobody has used', async () => {
    const one = await ofGroup(group.id, { description: 'Group' })
    expect((await ana.get(one.at)).body).toEqual({
      id: one.id,
      description: 'Group',
      ip_address: null,
      active: true,
      paused: false,
      is_shared: false,
      runner_type: 'group_type',
      name: null,
      online: null,
      status: 'never_contacted',
      created_by: expect.objectContaining({ username: 'ana' }),
      created_at: atFirst,
      job_execution_status: 'idle',
      tag_list: [],
      run_untagged: true,
      locked: false,
      maximum_timeout: null,
      access_level: 'not_protected',
      version: null,
      revision: null,
      platform: null,
      architecture: null,
      contacted_at: null,
      maintenance_note: null,
      projects: [],
      groups: [{ id: group.id }],
    })
    await ana.delete(one.at)
  })

  test('can be emptied again', async () => {
    const given = { description: 'x', maintenance_note: 'y', maximum_timeout: 700 }
    const one = await ofProject(place, given)
    expect((await ana.get(one.at)).body).toMatchObject(given)
    const none = { description: null, maintenance_note: null, maximum_timeout: null }
    // What is null for a switch says nothing.
    const changed = await ana.put(one.at, { ...none, tag_list: null })
    expect([changed.status, changed.body]).toEqual([200, expect.objectContaining(none)])
    await ana.delete(one.at)
  })
})

describe('a new runner', () => {
  test.each([
    [{ runner_type: 'group_type' }, 400, { error: 'group_id is missing' }],
    [{ runner_type: 'project_type' }, 400, { error: 'project_id is missing' }],
    [{ runner_type: 'any' }, 400, { error: 'runner_type does not have a valid value' }],
    [{}, 400, { error: 'runner_type is missing' }],
    [{ runner_type: 'group_type', group_id: 9999 }, 404, { message: '404 Group Not Found' }],
    [{ runner_type: 'project_type', project_id: 9999 }, 404, { message: '404 Project Not Found' }],
    [{ runner_type: 'instance_type' }, 403, { message: '403 Forbidden' }],
  ])('is refused as %j', async (body, status, answer) => {
    const reply = await mia.post('/user/runners', body)
    expect([reply.status, reply.body]).toEqual([status, answer])
  })

  test('of a group is made by its Owners only', async () => {
    const body = { runner_type: 'group_type', group_id: group.id }
    expect((await mia.post('/user/runners', body)).status).toBe(403)
    const stranger = await world.user('stranger')
    expect((await stranger.post('/user/runners', body)).status).toBe(404)
  })

  test('has each of its tags once, and at most fifty', async () => {
    const one = await ofProject(place, { tag_list: 'b, a,b,,a ' })
    expect((await ana.get(one.at)).body.tag_list).toEqual(['b', 'a'])
    const many = Array.from({ length: 51 }, (_, index) => `t${index}`)
    const refused = await ana.put(one.at, { tag_list: many })
    expect([refused.status, refused.body]).toEqual([
      400,
      {
        message: {
          tags_list: ['Too many tags specified. Please limit the number of tags to 50'],
        },
      },
    ])
    expect((await ana.put(one.at, { tag_list: many.slice(1) })).body.tag_list).toHaveLength(50)
    await ana.delete(one.at)
  })
})

describe('a registration token', () => {
  const register = (token: string, more: object = {}) =>
    world.nobody.post('/runners', { token, ...more })

  test('makes runners of its own place only, and is good until it is put anew', async () => {
    const places = [
      ['/runners/reset_registration_token', 'instance_type', world.root],
      [`/groups/${group.id}/runners/reset_registration_token`, 'group_type', ana],
      [`${place.path}/runners/reset_registration_token`, 'project_type', mia],
    ] as const
    for (const [path, type, by] of places) {
      const first = await by.post(path)
      expect(first.status).toBe(201)
      const { body } = await register(first.body.token)
      const shown = (await world.root.get(`/runners/${body.id}`)).body
      expect([shown.runner_type, shown.created_by]).toEqual([type, null])
      expect(shown.groups).toEqual(type === 'group_type' ? [{ id: group.id }] : [])
      expect(shown.projects.map((one: { id: number }) => one.id)).toEqual(
        type === 'project_type' ? [place.project.id] : [],
      )
      const second = await by.post(path)
      expect((await register(first.body.token)).status).toBe(403)
      expect((await register(second.body.token)).status).toBe(201)
      expect((await dev.post(path)).status).toBe(403)
      expect((await world.nobody.post(path)).status).not.toBe(201)
    }
    for (const id of await ids(world.root, '/runners/all?per_page=100')) {
      const { body } = await world.root.get(`/runners/${id}`)
      if (body.created_by === null) await world.root.delete(`/runners/${id}`)
    }
  })

  test('registers with all that a program says of its runner', async () => {
    const { token } = (await mia.post(`${place.path}/runners/reset_registration_token`)).body
    const { body } = await register(token, {
      description: 'by program',
      info: { name: 'gitlab-runner', version: '15.0.0', features: { image: true } },
      tag_list: 'a,b',
      run_untagged: 'false',
      locked: 'true',
      maximum_timeout: '900',
      active: false,
      access_level: 'ref_protected',
      maintenance_note: 'note',
    })
    expect((await ana.get(`/runners/${body.id}`)).body).toMatchObject({
      description: 'by program',
      tag_list: ['a', 'b'],
      run_untagged: false,
      locked: true,
      maximum_timeout: 900,
      paused: true,
      access_level: 'ref_protected',
      maintenance_note: 'note',
    })
    // A program that brings the token which it was given keeps its runner.
    expect((await register(body.token)).body).toEqual({
      id: body.id,
      token: body.token,
      token_expires_at: null,
    })
    for (const wrong of [
      { run_untagged: false },
      { maximum_timeout: 599 },
      { access_level: 'all' },
      { paused: true, active: true },
    ]) {
      expect((await register(token, wrong)).status).toBe(400)
    }
    await ana.delete(`/runners/${body.id}`)
  })

  test('is switched off with all others, and what was registered stays', async () => {
    const { token } = (await mia.post(`${place.path}/runners/reset_registration_token`)).body
    const { body } = await register(token)
    await world.root.put('/application/settings', { allow_runner_registration_token: false })
    for (const given of [token, 'wrong']) {
      expect((await register(given)).status).toBe(410)
    }
    const runner = new TestRunner(world.url, body.token)
    expect((await runner.call('POST', '/runners/verify', { token: body.token })).status).toBe(200)
    await world.root.put('/application/settings', { allow_runner_registration_token: true })
    await ana.delete(`/runners/${body.id}`)
  })

  test('is found in no list, and lies in the database as a digest and sealed', async () => {
    const { token } = (await mia.post(`${place.path}/runners/reset_registration_token`)).body
    const rows = await world.ctx.db.selectFrom('ci_registration_tokens').selectAll().execute()
    expect(rows.length).toBeGreaterThan(0)
    expect(JSON.stringify(rows)).not.toContain(token)
    const one = await ofProject()
    const runners = await world.ctx.db.selectFrom('ci_runners').selectAll().execute()
    expect(JSON.stringify(runners)).not.toContain(one.token)
    for (const path of [`${place.path}/runners`, one.at, '/projects?membership=true']) {
      const text = JSON.stringify((await ana.get(path)).body)
      expect(text.includes(one.token) || text.includes(token)).toBe(false)
    }
    await ana.delete(one.at)
  })
})

describe('runners are listed', () => {
  test('by the older word scope too', async () => {
    const project = await ofProject(place, { paused: true, description: 'project' })
    const shared = await ofAll({ description: 'all' })
    const team = await ofGroup(group.id, { description: 'group' })
    const runner = new TestRunner(world.url, shared.token)
    await runner.ask()
    const listed = async (query: string) =>
      (await ids(world.root, `/runners/all?per_page=100&${query}`)).filter((id) =>
        [project.id, shared.id, team.id].includes(id),
      )
    expect(await listed('scope=active')).toEqual([team.id, shared.id])
    expect(await listed('scope=paused')).toEqual([project.id])
    expect(await listed('scope=online')).toEqual([shared.id])
    expect(await listed('scope=never_contacted')).toEqual([team.id, project.id])
    expect(await listed('scope=shared')).toEqual([shared.id])
    expect(await listed('scope=specific')).toEqual([team.id, project.id])
    expect(await listed('scope=specific&type=project_type')).toEqual([project.id])
    expect(await listed('scope=active&status=never_contacted')).toEqual([team.id])
    world.setNow('2026-05-04T12:00:01.000Z')
    expect(await listed('scope=offline')).toEqual([shared.id])
    world.setNow(atFirst)
    const refused = await world.root.get('/runners/all?scope=some')
    expect([refused.status, refused.body]).toEqual([
      400,
      { error: 'scope does not have a valid value' },
    ])
    await world.root.delete(shared.at)
    for (const { at } of [project, team]) await ana.delete(at)
  })

  test('in pages with their count', async () => {
    const several = [await ofProject(), await ofProject(), await ofProject()]
    const reply = await ana.get(`${place.path}/runners?type=project_type&per_page=2`)
    expect(reply.headers.get('x-total')).toBe('4')
    expect(reply.body).toHaveLength(2)
    expect(reply.headers.get('link')).toContain('type=project_type')
    for (const { at } of several) await ana.delete(at)
  })

  test('in a project and in a group to those who may see them', async () => {
    const lists = [`${place.path}/runners`, `/groups/${group.id}/runners`]
    const callers = [dev, mia, ana, world.root]
    for (const list of lists) {
      const statuses = await Promise.all(callers.map(async (by) => (await by.get(list)).status))
      expect(statuses).toEqual([403, 200, 200, 200])
    }
    expect((await mia.get('/runners/all')).status).toBe(403)
    expect((await world.nobody.get('/runners')).status).toBe(401)
  })
})

describe('a runner of one project', () => {
  test('serves another when the same person looks after both', async () => {
    const other = await addCiPlace(world, dev, 'x: {script: make}')
    const one = await ofProject()
    const list = `${other.path}/runners`
    const refused = await dev.post(list, { runner_id: one.id })
    expect([refused.status, refused.body]).toEqual([
      403,
      { message: '403 Forbidden - No access granted' },
    ])
    expect((await dev.post(list, { runner_id: 9999 })).status).toBe(404)
    expect((await mia.post(list, { runner_id: one.id })).status).toBe(404)
    await addMember(world, other.project.id, mia.id, 40)
    const served = await mia.post(list, { runner_id: one.id })
    expect([served.status, served.body.id]).toEqual([201, one.id])
    const again = await mia.post(list, { runner_id: one.id })
    expect(again.body).toEqual({
      message: '400 Bad request - Runner has already been assigned to the project',
    })
    // Whoever maintains a project that it serves looks after it as well.
    expect((await dev.get(one.at)).status).toBe(200)
    expect((await dev.delete(`${list}/${one.id}`)).status).toBe(204)
    expect((await dev.get(one.at)).status).toBe(403)
    await ana.delete(one.at)
  })

  test('goes to no other when it is one of a group or of the instance', async () => {
    const wrong = { message: '403 Forbidden - Runner is not a project runner' }
    const team = await ofGroup()
    const shared = await ofAll()
    for (const [by, { id, at }] of [
      [ana, team],
      [world.root, shared],
    ] as const) {
      const refused = await by.post(`${place.path}/runners`, { runner_id: id })
      expect([refused.status, refused.body]).toEqual([403, wrong])
      expect((await by.delete(`${place.path}/runners/${id}`)).status).toBe(404)
      await by.delete(at)
    }
  })

  test('goes with its project, unless others have it too', async () => {
    const first = await addCiPlace(world, ana, 'x: {script: make}')
    const second = await addCiPlace(world, ana, 'x: {script: make}')
    const one = await made(ana, { runner_type: 'project_type', project_id: first.project.id })
    await ana.post(`${second.path}/runners`, { runner_id: one.id })
    await ana.delete(first.path)
    await ana.delete(`${first.path}?permanently_remove=true&full_path=${first.project.fullPath}`)
    await world.runTasks()
    const left = await ana.get(one.at)
    expect(left.status).toBe(200)
    expect(left.body.projects.map((each: { id: number }) => each.id)).toContain(second.project.id)
    const { job } = await startJob({ ...second, runner: new TestRunner(world.url, one.token) })
    expect(job.job_info.project_id).toBe(second.project.id)
  })
})
