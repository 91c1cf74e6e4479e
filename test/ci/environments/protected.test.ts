import { beforeAll, describe, expect, test } from 'vitest'
import {
  addCiPlace,
  type CiPlace,
  jobsByName,
  startPipeline,
  takeJob,
  variablesOf,
} from '../../support/ci.ts'
import { createGroup } from '../../support/create.ts'
import { commitFiles } from '../../support/fast-import.ts'
import { addMember } from '../../support/members.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const mia = useCaller(world, 'mia')
const dev = useCaller(world, 'dev')
const rep = useCaller(world, 'rep')
let top: { id: number }
let sub: { id: number }
let place: CiPlace
let sha: string

const yaml = `
ship: {script: make, when: manual, environment: production}
`

beforeAll(async () => {
  top = await createGroup(ana, 'top')
  sub = await createGroup(ana, 'sub', { parent_id: top.id })
  place = await newPlace(yaml)
  sha = place.project.git('rev-parse', 'main')
})

async function newPlace(config: string): Promise<CiPlace> {
  const made = await addCiPlace(world, ana, config, {
    members: [
      [mia, 40],
      [dev, 30],
      [rep, 20],
    ],
  })
  await ana.put(`${made.path}/transfer`, { namespace: sub.id })
  return made
}

/** Protects an environment of a project, or a tier of a group. */
async function protect(where: string, body: object, by = ana): Promise<void> {
  const reply = await by.post(`${where}/protected_environments`, { name: 'production', ...body })
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
}

async function unprotect(where: string): Promise<void> {
  const { status } = await ana.delete(`${where}/protected_environments/production`)
  expect(status).toBe(where.startsWith('/groups') ? 200 : 204)
}

const noted = { environment: 'production', ref: 'main', tag: false, status: 'success' }

/** Who of several people may note a deployment to production. */
async function deployers(people: readonly Caller[] = [rep, dev, mia, ana]): Promise<string[]> {
  const found: string[] = []
  for (const by of people) {
    const { status } = await by.post(`${place.path}/deployments`, { ...noted, sha })
    expect([201, 403]).toContain(status)
    if (status === 201) found.push(by.username)
  }
  return found
}

describe('a protected environment takes deployments', () => {
  test.each([
    [30, ['dev', 'mia', 'ana']],
    [40, ['mia', 'ana']],
    [60, []],
  ])('of the access level %i and above', async (access_level, expected) => {
    await protect(place.path, { deploy_access_levels: [{ access_level }] })
    expect(await deployers()).toEqual(expected)
    const root = await world.root.post(`${place.path}/deployments`, { ...noted, sha })
    expect(root.status).toBe(201)
    await unprotect(place.path)
    expect(await deployers()).toEqual(['dev', 'mia', 'ana'])
  })

  test('of a single user, and of nobody above them', async () => {
    await protect(place.path, { deploy_access_levels: [{ user_id: dev.id }] })
    expect(await deployers()).toEqual(['dev'])
    // A name alone gives no right that the role does not give.
    await protect(place.path, { name: 'other', deploy_access_levels: [{ user_id: rep.id }] })
    const refused = await rep.post(`${place.path}/deployments`, {
      ...noted,
      environment: 'other',
      sha,
    })
    expect(refused.status).toBe(403)
    await unprotect(place.path)
    await ana.delete(`${place.path}/protected_environments/other`)
  })

  test('of the members of a group, and of inherited ones where that is said', async () => {
    const above = await createGroup(ana, 'above')
    const team = await createGroup(ana, 'team', { parent_id: above.id })
    await ana.post(`/groups/${team.id}/members`, { user_id: dev.id, access_level: 30 })
    await ana.post(`/groups/${above.id}/members`, { user_id: mia.id, access_level: 30 })
    await ana.post(`${place.path}/share`, { group_id: team.id, group_access: 30 })
    const levels = (group_inheritance_type?: number) => [
      { group_id: team.id, ...(group_inheritance_type ? { group_inheritance_type } : {}) },
    ]
    await protect(place.path, { deploy_access_levels: levels() })
    expect(await deployers([dev, mia])).toEqual(['dev'])
    await unprotect(place.path)
    await protect(place.path, { deploy_access_levels: levels(1) })
    expect(await deployers([dev, mia])).toEqual(['dev', 'mia'])
    await ana.delete(`/groups/${team.id}/members/${dev.id}`)
    expect(await deployers([dev, mia])).toEqual(['mia'])
    await unprotect(place.path)
  })

  test('of whom any one of its levels names', async () => {
    const deploy_access_levels = [{ user_id: dev.id }, { access_level: 60 }]
    await protect(place.path, { deploy_access_levels })
    expect(await deployers()).toEqual(['dev'])
    await unprotect(place.path)
  })

  test('of those alone whom both the project and the groups above name', async () => {
    await addMember(world, place.project.id, dev.id, 40)
    const inGroup = `/groups/${top.id}`
    await protect(inGroup, { deploy_access_levels: [{ access_level: 40 }] })
    expect(await deployers()).toEqual(['dev', 'mia', 'ana'])
    await protect(place.path, { deploy_access_levels: [{ user_id: dev.id }] })
    expect(await deployers()).toEqual(['dev'])
    await addMember(world, place.project.id, dev.id, 30)
    expect(await deployers()).toEqual([])
    await unprotect(inGroup)
    expect(await deployers()).toEqual(['dev'])
    await unprotect(place.path)
  })

  test('by its tier, whatever it is called', async () => {
    const other = await newPlace(yaml)
    const tip = other.project.git('rev-parse', 'main')
    const made = await dev.post(`${other.path}/environments`, { name: 'blue', tier: 'production' })
    await protect(`/groups/${sub.id}`, { deploy_access_levels: [{ access_level: 40 }] })
    const deploy = (by: Caller, environment: string) =>
      by.post(`${other.path}/deployments`, { ...noted, environment, sha: tip })
    expect((await deploy(dev, 'blue')).status).toBe(403)
    expect((await deploy(dev, 'prod-eu')).status).toBe(403)
    expect((await deploy(dev, 'staging')).status).toBe(201)
    expect((await deploy(mia, 'blue')).status).toBe(201)
    // Nobody frees it from its tier who may not deploy to it.
    const at = `${other.path}/environments/${made.body.id}`
    expect((await dev.put(at, { tier: 'other' })).status).toBe(403)
    expect((await mia.put(at, { tier: 'other' })).status).toBe(200)
    expect((await deploy(dev, 'blue')).status).toBe(201)
    await unprotect(`/groups/${sub.id}`)
  })
})

test('a protected environment is changed, stopped and deleted by whom it names', async () => {
  const other = await newPlace(yaml)
  const { body } = await dev.post(`${other.path}/environments`, { name: 'production' })
  const at = `${other.path}/environments/${body.id}`
  await protect(other.path, { deploy_access_levels: [{ user_id: mia.id }] })
  expect((await dev.get(at)).status).toBe(200)
  for (const by of [dev, ana]) {
    expect((await by.put(at, { description: 'x' })).status).toBe(403)
    expect((await by.post(`${at}/stop`)).status).toBe(403)
    expect((await by.post(`${at}/stop`, { force: true })).status).toBe(403)
    expect((await by.delete(at)).status).toBe(403)
  }
  expect((await mia.put(at, { description: 'x' })).status).toBe(200)
  expect((await mia.post(`${at}/stop`)).status).toBe(200)
  expect((await dev.delete(at)).status).toBe(403)
  expect((await mia.delete(at)).status).toBe(204)
})

describe('a job that deploys to a protected environment', () => {
  test('is started and run again by those alone whom it names', async () => {
    const other = await newPlace(yaml)
    await protect(other.path, { deploy_access_levels: [{ access_level: 40 }] })
    const pipeline = await startPipeline(other, { by: dev })
    const { ship } = await jobsByName(other, pipeline)
    const at = `${other.path}/jobs/${ship?.id}`
    expect((await dev.post(`${at}/play`)).status).toBe(403)
    expect((await dev.get(at)).body.status).toBe('manual')
    expect((await mia.post(`${at}/play`)).body.status).toBe('pending')
    const job = await takeJob(other)
    await other.runner.update(job, 'failed')
    expect((await dev.post(`${at}/retry`)).status).toBe(403)
    expect((await mia.post(`${at}/retry`)).status).toBe(201)
    // The one who started it lost the right before a runner took it.
    await addMember(world, other.project.id, mia.id, 30)
    expect(await other.runner.request()).toBeUndefined()
    const { ship: last } = await jobsByName(other, pipeline)
    expect(last?.failure_reason).toBe('protected_environment_failure')
  })

  test('is one of the environment that the variables of its run name', async () => {
    const other = await newPlace(
      'variables: {WHERE: staging}\nship: {script: make, environment: $WHERE}',
    )
    await protect(other.path, { deploy_access_levels: [{ access_level: 40 }] })
    const variables = [{ key: 'WHERE', value: 'production' }]
    const started = await startPipeline(other, { by: dev, variables })
    expect(await other.runner.request()).toBeUndefined()
    const { ship } = await jobsByName(other, started)
    expect(ship?.failure_reason).toBe('protected_environment_failure')
    await startPipeline(other, { by: mia, variables })
    const sent = variablesOf(await takeJob(other))
    expect([sent.get('WHERE'), sent.get('CI_ENVIRONMENT_NAME')]).toEqual([
      'production',
      'production',
    ])
    const { body } = await ana.get(`${other.path}/environments`)
    expect(body.map(({ name }: { name: string }) => name)).toEqual(['production'])
  })
})

describe('a job that only names a protected environment', () => {
  const secret = { key: 'KEY', value: 'of-production', environment_scope: 'production' }

  test.each(['access', 'prepare', 'verify', 'stop', 'start'])(
    'gets its variables for those alone whom it names, with the action %s',
    async (action) => {
      const config = (when: string) =>
        `look: {script: make, when: ${when}, environment: {name: $WHERE, action: ${action}}}`
      const other = await newPlace(`variables: {WHERE: production}\n${config('on_success')}`)
      await ana.post(`${other.path}/variables`, secret)
      await protect(other.path, { deploy_access_levels: [{ access_level: 40 }] })
      const started = await startPipeline(other, { by: dev })
      expect(await other.runner.request()).toBeUndefined()
      const { look } = await jobsByName(other, started)
      expect(look?.failure_reason).toBe('protected_environment_failure')
      expect((await dev.post(`${other.path}/jobs/${look?.id}/retry`)).status).toBe(403)
      // Run again as a whole, it is still the developer's.
      expect((await dev.post(`${other.path}/pipelines/${started}/retry`)).status).toBe(201)
      expect(await other.runner.request()).toBeUndefined()
      expect((await mia.post(`${other.path}/jobs/${look?.id}/retry`)).status).toBe(403)
      const { look: last } = await jobsByName(other, started)
      expect((await mia.post(`${other.path}/jobs/${last?.id}/retry`)).status).toBe(201)
      expect(variablesOf(await takeJob(other)).get('KEY')).toBe('of-production')
    },
  )

  test('is not played by others, nor run in a child pipeline or by a trigger of theirs', async () => {
    const child = 'look: {script: make, environment: {name: production, action: access}}'
    const other = await newPlace(
      `
look: {script: make, when: manual, environment: {name: production, action: access}}
down: {trigger: {include: child.yml}}
`,
    )
    commitFiles(other.project, { files: { 'child.yml': child } })
    await ana.post(`${other.path}/variables`, secret)
    await protect(other.path, { deploy_access_levels: [{ access_level: 40 }] })
    const started = await startPipeline(other, { by: dev })
    const { look } = await jobsByName(other, started)
    expect((await dev.post(`${other.path}/jobs/${look?.id}/play`)).status).toBe(403)
    await world.runTasks()
    expect(await other.runner.request()).toBeUndefined()
    const { body: pipelines } = await ana.get(`${other.path}/pipelines?source=parent_pipeline`)
    const { look: inChild } = await jobsByName(other, pipelines[0].id)
    expect(inChild?.failure_reason).toBe('protected_environment_failure')
    expect((await mia.post(`${other.path}/jobs/${look?.id}/play`)).status).toBe(200)
    expect(variablesOf(await takeJob(other)).get('KEY')).toBe('of-production')
  })

  test('starts no other pipeline with its variables', async () => {
    const down = await newPlace('x: {script: make}')
    const { body } = await ana.get(down.path)
    const other = await newPlace(
      `
far:
  environment: {name: production, action: access}
  variables: {GIVEN: $KEY}
  trigger: {project: ${body.path_with_namespace}}
`,
    )
    await ana.post(`${other.path}/variables`, secret)
    await protect(other.path, { deploy_access_levels: [{ access_level: 40 }] })
    const refused = await startPipeline(other, { by: dev })
    await world.runTasks()
    const [bridge] = (await ana.get(`${other.path}/pipelines/${refused}/bridges`)).body
    expect([bridge.failure_reason, bridge.downstream_pipeline]).toEqual([
      'protected_environment_failure',
      null,
    ])
    await startPipeline(other, { by: mia })
    await world.runTasks()
    expect(variablesOf(await takeJob(down)).get('GIVEN')).toBe('of-production')
  })
})

describe('a deployment that needs approvals', () => {
  const rules = (...approval_rules: object[]) => ({
    deploy_access_levels: [{ access_level: 30 }],
    approval_rules,
  })

  /** A place whose job waits for approvals, started by the developer. */
  async function waiting(protection: object) {
    const other = await newPlace('ship: {script: make, environment: production}')
    await protect(other.path, protection)
    const pipeline = await startPipeline(other, { by: dev })
    const [deployment] = (await ana.get(`${other.path}/deployments`)).body
    const at = `${other.path}/deployments/${deployment.id}`
    const decide = async (by: Caller, status = 'approved', more: object = {}) =>
      (await by.post(`${at}/approval`, { status, ...more })).status
    const state = async () => {
      const { body } = await ana.get(at)
      const { ship } = await jobsByName(other, pipeline)
      return [body.status, body.pending_approval_count, ship?.status]
    }
    return { other, pipeline, at, decide, state }
  }

  test('begins when every rule has as many as it asks for, each person counting once', async () => {
    const { other, at, decide, state } = await waiting(
      rules({ access_level: 40, required_approvals: 2 }, { user_id: rep.id }),
    )
    const kim = await world.user('kim')
    await addMember(world, other.project.id, kim.id, 40)
    expect(await state()).toEqual(['blocked', 3, 'manual'])
    expect(await decide(mia)).toBe(200)
    expect(await decide(mia, 'approved', { comment: 'again' })).toBe(200)
    expect(await state()).toEqual(['blocked', 2, 'manual'])
    expect(await decide(rep)).toBe(200)
    expect(await state()).toEqual(['blocked', 1, 'manual'])
    expect(await decide(kim)).toBe(200)
    expect(await state()).toEqual(['created', 0, 'pending'])
    const shown = (await ana.get(at)).body.approvals.map(
      (one: { user: { username: string }; comment: string | null }) => [
        one.user.username,
        one.comment,
      ],
    )
    expect(shown).toEqual([
      ['mia', 'again'],
      ['rep', null],
      ['kim', null],
    ])
    expect(await decide(ana)).toBe(400)
    const job = await takeJob(other)
    await other.runner.update(job, 'success')
    expect(await state()).toEqual(['success', 0, 'success'])
  })

  test('takes none of those whom no rule names, of who started it, and of strangers', async () => {
    const { at, decide, state } = await waiting(rules({ user_id: mia.id }, { user_id: dev.id }))
    expect(await decide(ana)).toBe(403)
    expect(await decide(rep)).toBe(403)
    const own = await dev.post(`${at}/approval`, { status: 'approved' })
    expect([own.status, own.body]).toEqual([
      400,
      { message: '400 Bad request - You cannot approve your own deployment.' },
    ])
    const stranger = await world.user('strange')
    expect(await decide(stranger)).toBe(404)
    expect(await decide(world.nobody)).toBe(404)
    for (const status of ['maybe', '']) expect(await decide(mia, status)).toBe(400)
    expect(await decide(mia, 'approved', { comment: 'x'.repeat(256) })).toBe(400)
    expect(await state()).toEqual(['blocked', 2, 'manual'])
  })

  test('takes none of whoever has played its job since: it would run as them', async () => {
    const { other, pipeline, at, decide, state } = await waiting(rules({ user_id: mia.id }))
    const { ship } = await jobsByName(other, pipeline)
    const variables = [{ key: 'WHERE', value: 'elsewhere' }]
    await mia.post(`${other.path}/jobs/${ship?.id}/play`, { job_variables_attributes: variables })
    const own = await mia.post(`${at}/approval`, { status: 'approved' })
    expect([own.status, own.body.message]).toEqual([
      400,
      '400 Bad request - You cannot approve your own deployment.',
    ])
    expect(await decide(mia, 'rejected')).toBe(400)
    expect(await state()).toEqual(['blocked', 1, 'manual'])
  })

  test('begins when all have approved of the job as it was played last', async () => {
    const { other, pipeline, at, decide, state } = await waiting(
      rules({ access_level: 40, required_approvals: 2 }),
    )
    const { ship } = await jobsByName(other, pipeline)
    const play = async (by: Caller, body: object = {}) =>
      (await by.post(`${other.path}/jobs/${ship?.id}/play`, body)).status
    expect(await decide(mia)).toBe(200)
    expect(await state()).toEqual(['blocked', 1, 'manual'])
    // Played again as it was, it is still what was approved of.
    expect(await play(dev)).toBe(200)
    expect(await state()).toEqual(['blocked', 1, 'manual'])
    const job_variables_attributes = [{ key: 'WHERE', value: 'elsewhere' }]
    expect(await play(dev, { job_variables_attributes })).toBe(200)
    expect(await state()).toEqual(['blocked', 2, 'manual'])
    expect((await ana.get(at)).body.approvals).toEqual([])
    expect(await decide(mia)).toBe(200)
    expect(await decide(ana)).toBe(200)
    expect(await state()).toEqual(['created', 0, 'pending'])
    const job = await takeJob(other)
    expect(job.variables).toContainEqual(
      expect.objectContaining({ key: 'WHERE', value: 'elsewhere' }),
    )
  })

  test('waits anew for all when somebody else plays its job', async () => {
    const { other, pipeline, decide, state } = await waiting(
      rules({ access_level: 40, required_approvals: 2 }),
    )
    const kim = await world.user('kim2')
    await addMember(world, other.project.id, kim.id, 30)
    const { ship } = await jobsByName(other, pipeline)
    expect(await decide(mia)).toBe(200)
    expect((await kim.post(`${other.path}/jobs/${ship?.id}/play`)).status).toBe(200)
    expect(await state()).toEqual(['blocked', 2, 'manual'])
  })

  test('asks those who may deploy when only their number is said', async () => {
    const { decide, state } = await waiting({
      deploy_access_levels: [{ access_level: 30 }],
      required_approval_count: 2,
    })
    expect(await state()).toEqual(['blocked', 2, 'manual'])
    expect(await decide(rep)).toBe(403)
    expect(await decide(mia)).toBe(200)
    expect(await decide(ana)).toBe(200)
    expect(await state()).toEqual(['created', 0, 'pending'])
  })

  test('ends with one rejection, and waits anew when the job is run again', async () => {
    const { other, pipeline, decide, state } = await waiting(
      rules({ access_level: 40, required_approvals: 2 }),
    )
    expect(await decide(mia)).toBe(200)
    expect(await decide(ana, 'rejected')).toBe(200)
    expect(await state()).toEqual(['failed', expect.any(Number), 'failed'])
    expect(await decide(mia)).toBe(400)
    const { ship } = await jobsByName(other, pipeline)
    expect(ship?.failure_reason).toBe('deployment_rejected')
    const again = await dev.post(`${other.path}/jobs/${ship?.id}/retry`)
    expect([again.status, again.body.status]).toEqual([201, 'manual'])
    const { body } = await ana.get(`${other.path}/deployments?status=blocked`)
    expect(body).toMatchObject([{ deployable: { id: again.body.id } }])
    expect((await ana.get(`${other.path}/deployments/${body[0].id}`)).body.approvals).toEqual([])
  })

  test('is decided once by two who come at the same time', async () => {
    const { decide, state } = await waiting(rules({ access_level: 40 }))
    const both = await Promise.all([decide(mia), decide(ana)])
    expect(both.sort()).toEqual([200, 400])
    expect(await state()).toEqual(['created', 0, 'pending'])
  })

  test('is asked for by the tier that a group protects, beside the project itself', async () => {
    await protect(`/groups/${top.id}`, rules({ user_id: ana.id }))
    const { decide, state } = await waiting(rules({ user_id: mia.id }))
    expect(await state()).toEqual(['blocked', 2, 'manual'])
    expect(await decide(mia)).toBe(200)
    expect(await state()).toEqual(['blocked', 1, 'manual'])
    expect(await decide(ana)).toBe(200)
    expect(await state()).toEqual(['created', 0, 'pending'])
    await unprotect(`/groups/${top.id}`)
  })

  test('is canceled with its job', async () => {
    const { other, pipeline, decide, state } = await waiting(rules({ access_level: 40 }))
    expect((await dev.post(`${other.path}/pipelines/${pipeline}/cancel`)).status).toBe(200)
    expect((await state())[0]).toBe('canceled')
    expect(await decide(mia)).toBe(400)
  })
})
