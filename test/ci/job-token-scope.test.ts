import { beforeAll, describe, expect, test } from 'vitest'
import { addCiPlace, type CiPlace, startJob } from '../support/ci.ts'
import { createGroup } from '../support/create.ts'
import { addMember } from '../support/members.ts'
import { addProject, type TestProject } from '../support/project.ts'
import { type Caller, useCaller, useWorld } from '../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const mia = useCaller(world, 'mia')
const dev = useCaller(world, 'dev')
let from: CiPlace
let to: TestProject
let scope: string
let job: Caller

beforeAll(async () => {
  from = await addCiPlace(world, ana, 'x: {script: make}')
  to = await addProject(world, ana, 'basic', { path: 'to' })
  await addMember(world, to.id, mia.id, 40)
  await addMember(world, to.id, dev.id, 30)
  scope = `/projects/${to.id}/job_token_scope`
  const started = await startJob(from)
  job = world.withHeader('JOB-TOKEN', started.job.token)
})

const reach = async () => (await job.get(`/projects/${to.id}/environments`)).status
const idsOf = (body: readonly { id: number }[]) => body.map(({ id }) => id)

describe('who reaches a project with job tokens', () => {
  test('is read and set by Maintainers', async () => {
    const calls = (by: Caller) => [
      by.get(scope),
      by.get(`${scope}/allowlist`),
      by.get(`${scope}/groups_allowlist`),
      by.patch(scope, { enabled: true }),
      by.post(`${scope}/allowlist`, { target_project_id: to.id }),
      by.delete(`${scope}/allowlist/999`),
    ]
    const statuses = async (by: Caller) =>
      (await Promise.all(calls(by))).map(({ status }) => status)
    expect(await statuses(mia)).toEqual([200, 200, 200, 204, 400, 404])
    expect(await statuses(dev)).toEqual(Array(6).fill(403))
    expect(await statuses(world.nobody)).toEqual(Array(6).fill(404))
  })

  test('is limited unless a Maintainer switches that off', async () => {
    expect((await mia.get(scope)).body).toEqual({ inbound_enabled: true, outbound_enabled: false })
    for (const body of [{}, { enabled: 'perhaps' }, { enabled: [1] }]) {
      expect((await mia.patch(scope, body)).status).toBe(400)
    }
    for (const enabled of [false, 'false']) {
      const off = await mia.patch(scope, { enabled })
      expect([off.status, off.body]).toEqual([204, ''])
      expect((await mia.get(scope)).body.inbound_enabled).toBe(false)
      expect(await reach()).toBe(200)
      await mia.patch(scope, { enabled: true })
      expect(await reach()).toBe(404)
    }
  })

  test('is audited', async () => {
    await mia.patch(scope, { enabled: true })
    await ana.post(`${scope}/allowlist`, { target_project_id: from.project.id })
    await ana.delete(`${scope}/allowlist/${from.project.id}`)
    const { body } = await ana.get(`/projects/${to.id}/audit_events?per_page=3`)
    const found = (body as { details: Record<string, unknown> }[]).map(({ details }) => details)
    expect(JSON.stringify(found)).toContain(`${from.project.id}`)
    expect(found).toHaveLength(3)
  })
})

describe('the list of projects', () => {
  test('holds the project itself first, and others in the order in which they came', async () => {
    const others = []
    for (let at = 0; at < 4; at += 1) {
      const other = await addProject(world, ana, 'empty', { path: `listed${at}` })
      others.push(other.id)
      const reply = await ana.post(`${scope}/allowlist`, { target_project_id: other.id })
      expect([reply.status, reply.body]).toEqual([
        201,
        { source_project_id: to.id, target_project_id: other.id },
      ])
    }
    const all = [to.id, ...others]
    const whole = await ana.get(`${scope}/allowlist`)
    expect([idsOf(whole.body), whole.headers.get('x-total')]).toEqual([all, '5'])
    const pages = [
      await ana.get(`${scope}/allowlist?per_page=2`),
      await ana.get(`${scope}/allowlist?per_page=2&page=2`),
      await ana.get(`${scope}/allowlist?per_page=2&page=3`),
    ]
    expect(pages.map(({ body }) => idsOf(body))).toEqual([
      all.slice(0, 2),
      all.slice(2, 4),
      all.slice(4),
    ])
    expect(pages[0]?.headers.get('x-total')).toBe('5')
    const one = await ana.get(`${scope}/allowlist/${others[0]}`)
    expect(one.body).toEqual({
      id: others[0],
      name: 'listed0',
      path: 'listed0',
      full_path: 'ana/listed0',
      path_with_namespace: 'ana/listed0',
      web_url: `${world.ctx.config.externalUrl}/ana/listed0`,
    })
    expect((await ana.get(`${scope}/allowlist/${to.id}`)).status).toBe(404)
    // What the reader may not see shows by its id alone.
    const hidden = await mia.get(`${scope}/allowlist`)
    expect(hidden.body.slice(1)).toEqual(
      others.map((id) => ({
        id,
        name: null,
        path: null,
        full_path: null,
        path_with_namespace: null,
        web_url: null,
      })),
    )
    for (const id of others) await ana.delete(`${scope}/allowlist/${id}`)
  })

  test('takes each project that the caller sees once, and never the project itself', async () => {
    const add = async (id: unknown, by = mia) => {
      const { status, body } = await by.post(`${scope}/allowlist`, { target_project_id: id })
      return [status, body]
    }
    expect(await add(from.project.id)).toEqual([404, { message: '404 Not found' }])
    expect(await add(999_999)).toEqual([404, { message: '404 Not found' }])
    expect(await add('x')).toEqual([400, { error: 'target_project_id is invalid' }])
    expect((await add(to.id))[0]).toBe(400)
    const raced = await Promise.all(Array.from({ length: 4 }, () => add(from.project.id, ana)))
    expect(raced.map(([status]) => status).sort()).toEqual([201, 400, 400, 400])
    expect(await reach()).toBe(200)
    // A Maintainer who does not see the project may remove it, too.
    expect((await mia.delete(`${scope}/allowlist/${from.project.id}`)).status).toBe(204)
    expect(await reach()).toBe(404)
  })

  test('loses a project that is deleted', async () => {
    const other = await addProject(world, ana, 'empty', { path: 'going' })
    await ana.post(`${scope}/allowlist`, { target_project_id: other.id })
    await ana.delete(`/projects/${other.id}`)
    await ana.delete(`/projects/${other.id}?permanently_remove=true&full_path=${other.fullPath}`)
    await world.runTasks()
    const { body } = await ana.get(`${scope}/allowlist`)
    const left = (body as { id: number; name: string | null }[]).filter(({ id }) => id === other.id)
    expect(left.every(({ name }) => name === null || name === 'going')).toBe(true)
  })
})

describe('the list of groups', () => {
  test('lets in every project below a group while it is there', async () => {
    const top = await createGroup(ana, 'top')
    const sub = await createGroup(ana, 'sub', { parent_id: top.id })
    const other = await createGroup(ana, 'other')
    const list = `${scope}/groups_allowlist`
    const added = await ana.post(list, { target_group_id: top.id })
    expect(added.body).toEqual({ source_project_id: to.id, target_group_id: top.id })
    expect(await reach()).toBe(404)
    const move = (namespace: number) => ana.put(`${from.path}/transfer`, { namespace })
    await move(sub.id)
    expect(await reach()).toBe(200)
    await move(other.id)
    expect(await reach()).toBe(404)
    await ana.post(list, { target_group_id: other.id })
    expect(await reach()).toBe(200)
    await ana.delete(`${list}/${top.id}`)
    expect(await reach()).toBe(200)
    await ana.delete(`${list}/${other.id}`)
    expect(await reach()).toBe(404)
  })

  test('is the same below each of its two paths', async () => {
    const group = await createGroup(ana, 'both')
    const [one, two] = [`${scope}/groups_allowlist`, `${scope}/allowlist/groups_allowlist`]
    expect((await ana.post(one, { target_group_id: group.id })).status).toBe(201)
    expect((await ana.post(two, { target_group_id: group.id })).body).toEqual({
      message: '400 Bad request - This is already on the job token allowlist',
    })
    for (const path of [one, two]) {
      expect((await ana.get(path)).body).toEqual([
        {
          id: group.id,
          name: 'Both',
          path: 'both',
          full_path: 'both',
          path_with_namespace: 'both',
          web_url: `${world.ctx.config.externalUrl}/groups/both`,
        },
      ])
      expect((await ana.get(`${path}/${group.id}`)).status).toBe(200)
    }
    expect((await ana.post(one, { target_group_id: 999_999 })).status).toBe(404)
    expect((await mia.post(one, { target_group_id: group.id })).status).toBe(404)
    expect((await ana.delete(`${two}/${group.id}`)).status).toBe(204)
    expect((await ana.delete(`${one}/${group.id}`)).status).toBe(404)
    expect((await ana.get(`${one}/${group.id}`)).status).toBe(404)
  })
})
