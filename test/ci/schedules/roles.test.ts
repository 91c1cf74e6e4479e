import { beforeAll, describe, expect, test } from 'vitest'
import { commitFiles } from '../../support/fast-import.ts'
import { addMember as setLevel } from '../../support/members.ts'
import { addProject, type TestProject } from '../../support/project.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let mona: Caller
let dev: Caller
let eve: Caller
let rep: Caller
let guest: Caller
let stranger: Caller
let project: TestProject
let other: TestProject
let path: string

beforeAll(async () => {
  project = await addProject(world, ana, 'basic', { path: 'scheduled' })
  other = await addProject(world, ana, 'basic', { path: 'other' })
  const member = async (name: string, level: number) => {
    const caller = await world.user(name)
    if (level > 0) await setLevel(world, project.id, caller.id, level)
    return caller
  }
  mona = await member('mona', 40)
  dev = await member('dev', 30)
  eve = await member('eve', 30)
  rep = await member('rep', 20)
  guest = await member('guest', 10)
  stranger = await member('stranger', 0)
  commitFiles(project, { files: { '.svc-ci.yml': 'x: {script: make}' }, ref: 'refs/heads/open' })
  for (const name of ['guarded', 'later']) project.git('branch', name, 'open')
  project.git('tag', 'v1', 'open')
  await protect('guarded')
  path = `/projects/${project.id}/pipeline_schedules`
})

async function protect(name: string) {
  const { status } = await ana.post(`/projects/${project.id}/protected_branches`, {
    name,
    push_access_level: 40,
    merge_access_level: 40,
  })
  expect(status).toBe(201)
}

const nightly = { description: 'nightly', ref: 'open', cron: '30 3 * * *' }

async function made(by: Caller, more: object = {}) {
  const reply = await by.post(path, { ...nightly, ...more })
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  const at = `${path}/${reply.body.id}`
  const variable = { key: 'SECRET', value: `of ${by.username}` }
  expect((await by.post(`${at}/variables`, variable)).status).toBe(201)
  return { id: reply.body.id as number, at }
}

/** The statuses of all that somebody may try with a schedule, but to play, take or delete it. */
async function tried(by: Caller, at: string) {
  return {
    read: (await by.get(at)).status,
    pipelines: (await by.get(`${at}/pipelines`)).status,
    change: (await by.put(at, { description: `by ${by.username}` })).status,
    add: (await by.post(`${at}/variables`, { key: `OF_${by.username}`, value: 'x' })).status,
    readVariable: (await by.get(`${at}/variables/SECRET`)).status,
    changeVariable: (await by.put(`${at}/variables/SECRET`, { value: 'y' })).status,
    dropVariable: (await by.delete(`${at}/variables/OF_${by.username}`)).status,
  }
}

const all = {
  read: 200,
  pipelines: 200,
  change: 200,
  add: 201,
  readVariable: 200,
  changeVariable: 200,
  dropVariable: 202,
}
const refused = (status: number) =>
  Object.fromEntries(Object.keys(all).map((name) => [name, status]))

describe('a schedule of a Developer', () => {
  test('is changed by the Developer and by Maintainers, and read by Reporters', async () => {
    const { at } = await made(dev)
    expect(await tried(dev, at)).toEqual(all)
    expect(await tried(mona, at)).toEqual(all)
    expect(await tried(world.root, at)).toEqual(all)
    const seen = { ...refused(403), read: 200, pipelines: 200 }
    // There is no variable of these names, and the answer does not show whether there is one.
    for (const by of [eve, rep]) {
      expect({ ...(await tried(by, at)), dropVariable: 403 }).toEqual(seen)
    }
    expect({ ...(await tried(guest, at)), dropVariable: 403 }).toEqual(refused(403))
    expect(await tried(stranger, at)).toEqual(refused(404))
    expect(await tried(world.nobody, at)).toEqual(refused(404))
    await dev.delete(at)
  })

  test('shows its variables to those who may change it, and to nobody in a list', async () => {
    const { id, at } = await made(dev)
    for (const by of [dev, mona, ana, world.root]) {
      expect((await by.get(at)).body.variables).toEqual([
        { key: 'SECRET', value: 'of dev', variable_type: 'env_var', raw: false },
      ])
    }
    for (const by of [eve, rep]) expect((await by.get(at)).body).not.toHaveProperty('variables')
    for (const by of [dev, mona, eve, rep]) {
      const { body } = await by.get(path)
      expect(body.map((one: { id: number }) => one.id)).toContain(id)
      expect(JSON.stringify(body)).not.toContain('SECRET')
    }
    await dev.delete(at)
  })

  test('is deleted by the Developer and by Maintainers alone', async () => {
    const first = await made(dev)
    for (const by of [eve, rep, guest]) expect((await by.delete(first.at)).status).toBe(403)
    expect((await stranger.delete(first.at)).status).toBe(404)
    expect((await dev.delete(first.at)).status).toBe(204)
    const second = await made(dev)
    expect((await mona.delete(second.at)).status).toBe(204)
    expect((await dev.get(second.at)).status).toBe(404)
  })

  test('is no longer changed by one who is a Reporter now', async () => {
    const kim = await world.user('kim')
    await setLevel(world, project.id, kim.id, 30)
    const { at } = await made(kim)
    await setLevel(world, project.id, kim.id, 20)
    expect((await kim.put(at, { description: 'late' })).status).toBe(403)
    expect((await kim.delete(at)).status).toBe(403)
    expect((await kim.post(`${at}/play`)).status).toBe(403)
    expect((await kim.get(`${at}/variables/SECRET`)).status).toBe(403)
    expect((await kim.get(at)).body).not.toHaveProperty('variables')
    await ana.delete(at)
  })

  test('is not one of another project', async () => {
    const { id, at } = await made(dev)
    const wrong = `/projects/${other.id}/pipeline_schedules/${id}`
    for (const reply of [
      await ana.get(wrong),
      await ana.put(wrong, { description: 'stolen' }),
      await ana.post(`${wrong}/play`),
      await ana.post(`${wrong}/take_ownership`),
      await ana.get(`${wrong}/pipelines`),
      await ana.get(`${wrong}/variables/SECRET`),
      await ana.delete(wrong),
    ]) {
      expect([reply.status, reply.body]).toEqual([
        404,
        { message: '404 Pipeline Schedule Not Found' },
      ])
    }
    expect((await dev.get(at)).body).toMatchObject({ description: 'nightly' })
    await dev.delete(at)
  })
})

describe('the owner of a schedule', () => {
  test('becomes a Maintainer who takes it, and nobody else', async () => {
    const { at } = await made(dev)
    for (const by of [dev, eve, rep, guest]) {
      expect((await by.post(`${at}/take_ownership`)).status).toBe(403)
    }
    expect((await stranger.post(`${at}/take_ownership`)).status).toBe(404)
    const taken = await mona.post(`${at}/take_ownership`)
    expect([taken.status, taken.body.owner.username]).toEqual([201, 'mona'])
    expect(taken.body.variables.length).toBe(1)
    // What was the Developer's is now another's.
    expect((await dev.put(at, { description: 'mine again' })).status).toBe(403)
    expect((await dev.get(at)).body).not.toHaveProperty('variables')
    expect((await dev.delete(at)).status).toBe(403)
    await mona.delete(at)
  })

  test('stays the same when a Maintainer changes it, and is the one as whom the clock runs it', async () => {
    const { at } = await made(dev, { cron: '0 12 * * *' })
    const changed = await mona.put(at, { description: 'changed' })
    expect(changed.body.owner.username).toBe('dev')
    world.setNow('2026-05-04T12:00:00.000Z')
    await world.runTasks()
    const { last_pipeline: last } = (await dev.get(at)).body
    const byClock = await ana.get(`/projects/${project.id}/pipelines/${last.id}`)
    expect(byClock.body).toMatchObject({ source: 'schedule', user: { username: 'dev' } })
    expect((await eve.post(`${at}/play`)).status).toBe(201)
    await world.runTasks()
    const played = (await dev.get(at)).body.last_pipeline
    const byHand = await ana.get(`/projects/${project.id}/pipelines/${played.id}`)
    expect(played.id).not.toBe(last.id)
    expect(byHand.body).toMatchObject({ source: 'schedule', user: { username: 'eve' } })
    const ids = async (sort: string) =>
      (await rep.get(`${at}/pipelines?sort=${sort}`)).body.map((one: { id: number }) => one.id)
    expect(await ids('asc')).toEqual([last.id, played.id])
    expect(await ids('desc')).toEqual([played.id, last.id])
    expect((await rep.get(`${at}/pipelines?sort=up`)).status).toBe(400)
    world.setNow('2026-05-04T10:00:00.000Z')
    await dev.delete(at)
  })
})

describe('to play a schedule', () => {
  test('takes a Developer, and each may once a minute', async () => {
    const { at } = await made(mona)
    for (const by of [rep, guest]) expect((await by.post(`${at}/play`)).status).toBe(403)
    expect((await stranger.post(`${at}/play`)).status).toBe(404)
    expect((await world.nobody.post(`${at}/play`)).status).toBe(404)
    const replies = [await dev.post(`${at}/play`), await dev.post(`${at}/play`)]
    expect(replies.map((reply) => reply.status)).toEqual([201, 429])
    expect((await eve.post(`${at}/play`)).status).toBe(201)
    const another = await made(mona)
    expect((await dev.post(`${another.at}/play`)).status).toBe(201)
    for (const one of [at, another.at]) await mona.delete(one)
    await world.runTasks()
  })

  test('uses up no turn of one who may not', async () => {
    const { at } = await made(mona, { ref: 'guarded' })
    expect((await dev.post(`${at}/play`)).status).toBe(403)
    expect((await dev.post(`${at}/play`)).status).toBe(403)
    expect((await mona.post(`${at}/play`)).status).toBe(201)
    await mona.delete(at)
    await world.runTasks()
  })
})

describe('a protected ref', () => {
  test('is not scheduled by a Developer, neither at first nor later, in whatever form it is named', async () => {
    for (const ref of ['guarded', 'refs/heads/guarded']) {
      expect((await dev.post(path, { ...nightly, ref })).status).toBe(403)
      expect((await mona.post(path, { ...nightly, ref })).status).toBe(201)
    }
    const { at } = await made(dev)
    for (const ref of ['guarded', 'refs/heads/guarded']) {
      expect((await dev.put(at, { ref })).status).toBe(403)
    }
    expect((await dev.get(at)).body.ref).toBe('refs/heads/open')
    await dev.delete(at)
  })

  test('of a tag is not scheduled either', async () => {
    const open = await made(dev, { ref: 'v1' })
    expect((await dev.get(open.at)).body.ref).toBe('refs/tags/v1')
    await dev.delete(open.at)
    const tags = `/projects/${project.id}/protected_tags`
    expect((await ana.post(tags, { name: 'v*', create_access_level: 40 })).status).toBe(201)
    expect((await dev.post(path, { ...nightly, ref: 'v1' })).status).toBe(403)
    expect((await dev.post(path, { ...nightly, ref: 'refs/tags/v1' })).status).toBe(403)
    const kept = await made(mona, { ref: 'v1' })
    expect((await dev.post(`${kept.at}/play`)).status).toBe(403)
    await mona.delete(kept.at)
  })

  test('that became one later stops the schedule of its Developer', async () => {
    const { at } = await made(dev, { ref: 'later', cron: '0 13 * * *' })
    await protect('later')
    expect((await dev.post(`${at}/play`)).status).toBe(403)
    world.setNow('2026-05-04T13:00:00.000Z')
    await world.runTasks()
    expect((await dev.get(at)).body).toMatchObject({ active: false, last_pipeline: null })
    expect((await mona.post(`${at}/take_ownership`)).status).toBe(201)
    await mona.put(at, { active: true })
    world.setNow('2026-05-05T13:00:00.000Z')
    await world.runTasks()
    expect((await dev.get(at)).body).toMatchObject({
      active: true,
      last_pipeline: { ref: 'later' },
    })
    world.setNow('2026-05-04T10:00:00.000Z')
    await mona.delete(at)
  })
})

describe('bounds of a schedule', () => {
  test.each([
    [{ description: undefined }, { error: 'description is missing' }],
    [{ ref: undefined }, { error: 'ref is missing' }],
    [{ cron: undefined }, { error: 'cron is missing' }],
    [{ cron: '' }, { message: { cron: ['syntax is invalid'] } }],
    [{ active: 'perhaps' }, { error: 'active is invalid' }],
    [{ inputs: 'x' }, { error: 'inputs is invalid' }],
    [{ inputs: [{ value: 1 }] }, { error: 'inputs is invalid' }],
  ])('refuse %j', async (more, answer) => {
    const reply = await dev.post(path, { ...nightly, ...more })
    expect([reply.status, reply.body]).toEqual([400, answer])
  })

  test('are twenty inputs, whether at once or one by one', async () => {
    const inputs = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, at) => ({ name: `i${from + at}`, value: at }))
    expect((await dev.post(path, { ...nightly, inputs: inputs(0, 21) })).status).toBe(400)
    const { at } = await made(dev, { inputs: inputs(0, 20) })
    const more = await dev.put(at, { inputs: inputs(20, 21) })
    expect([more.status, more.body]).toEqual([
      400,
      { message: { inputs: ['exceed the limit of 20'] } },
    ])
    const swapped = await dev.put(at, {
      inputs: [{ name: 'i0', destroy: true }, ...inputs(20, 21)],
    })
    expect([swapped.status, swapped.body.inputs.length]).toEqual([200, 20])
    await dev.delete(at)
  })

  test('keep variables of one schedule from another', async () => {
    const [mine, theirs] = [await made(dev), await made(eve)]
    expect((await dev.post(`${mine.at}/variables`, { key: 'MINE', value: 'x' })).status).toBe(201)
    expect((await eve.get(`${theirs.at}/variables/MINE`)).status).toBe(404)
    expect((await eve.delete(`${theirs.at}/variables/MINE`)).status).toBe(404)
    await eve.put(`${theirs.at}/variables/SECRET`, { value: 'changed' })
    expect((await dev.get(`${mine.at}/variables/SECRET`)).body.value).toBe('of dev')
    for (const [by, { at }] of [
      [dev, mine],
      [eve, theirs],
    ] as const) {
      await by.delete(at)
    }
  })

  test('are those of the project: none is made or run in an archived one', async () => {
    const { at } = await made(dev)
    await ana.post(`/projects/${project.id}/archive`)
    for (const reply of [
      await ana.post(path, nightly),
      await ana.put(at, { description: 'x' }),
      await ana.post(`${at}/play`),
      await ana.post(`${at}/take_ownership`),
      await ana.delete(at),
    ]) {
      expect(reply.status).toBe(403)
    }
    expect((await ana.get(at)).status).toBe(200)
    await ana.post(`/projects/${project.id}/unarchive`)
    await dev.delete(at)
  })
})
