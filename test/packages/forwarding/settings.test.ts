import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { useCaller, useWorld } from '../../support/world.ts'

let topId: number
let subId: number
let projectId: number
const ROOTS = {
  npm: 'https://npm.example.com/registry',
  pypi: 'https://pypi.example.com',
  maven: 'https://maven.example.com/maven2',
}
const types = ['npm', 'pypi', 'maven'] as const
type Type = (typeof types)[number]

const world = useWorld(
  { npmUrl: `${ROOTS.npm}/`, pypiUrl: ROOTS.pypi, mavenUrl: ROOTS.maven },
  { background: false },
)
const ana = useCaller(world, 'ana')
beforeAll(async () => {
  topId = (await createGroup(ana, 'top')).id
  subId = (await createGroup(ana, 'sub', { parent_id: topId })).id
  projectId = (await createProject(ana, 'p', { namespace_id: subId })).id
})

const nameOf = (type: Type) => `${type}_package_requests_forwarding`
const lockOf = (type: Type) => `lock_${nameOf(type)}`

/** As nobody has said anything of a format. */
async function reset(type: Type) {
  await world.root.put('/application/settings', { [nameOf(type)]: false, [lockOf(type)]: false })
  for (const id of [topId, subId]) {
    const open = { [nameOf(type)]: null, [lockOf(type)]: false }
    await ana.put(`/groups/${id}/packages/settings`, open)
  }
}

/** What is asked for below a project or group, and where clients are sent for it. */
const asked: Readonly<Record<Type, readonly [string, string]>> = {
  npm: ['npm/left-pad', `${ROOTS.npm}/left-pad`],
  pypi: ['pypi/simple/Left_Pad', `${ROOTS.pypi}/simple/left-pad/`],
  maven: ['maven/org/x/a/1.0/a-1.0.jar', `${ROOTS.maven}/org/x/a/1.0/a-1.0.jar`],
}
async function isForwarded(type: Type, place: string, who = ana): Promise<boolean> {
  const [path, target] = asked[type]
  const { status, headers } = await who.get(`${place}/packages/${path}`)
  if (status === 302) expect(headers.get('location')).toBe(target)
  else expect([status, headers.get('location')]).toEqual([404, null])
  return status === 302
}
const project = () => `/projects/${projectId}`
const instance = (values: object) => world.root.put('/application/settings', values)
const group = (id: number, values: object) => ana.put(`/groups/${id}/packages/settings`, values)

describe.each(types)('a request for an unknown package of %s', (type) => {
  beforeEach(() => reset(type))
  afterAll(() => reset(type))

  test('stays here until somebody lets it go on', async () => {
    expect(await isForwarded(type, project())).toBe(false)
    await instance({ [nameOf(type)]: true })
    expect(await isForwarded(type, project())).toBe(true)
    expect(await isForwarded(type, `/groups/${topId}/-`)).toBe(true)
    for (const other of types.filter((one) => one !== type)) {
      expect(await isForwarded(other, project())).toBe(false)
    }
  })

  test('follows the nearest group that says something, and its own group first', async () => {
    await group(topId, { [nameOf(type)]: true })
    expect(await isForwarded(type, project())).toBe(true)
    await group(subId, { [nameOf(type)]: false })
    expect(await isForwarded(type, project())).toBe(false)
    expect(await isForwarded(type, `/groups/${topId}/-`)).toBe(true)
    expect(await isForwarded(type, `/groups/${subId}/-`)).toBe(false)
    await group(subId, { [nameOf(type)]: null })
    expect(await isForwarded(type, project())).toBe(true)
  })

  test('follows the highest group that locks what it says', async () => {
    await group(topId, { [nameOf(type)]: false, [lockOf(type)]: true })
    await group(subId, { [nameOf(type)]: true, [lockOf(type)]: true })
    expect(await isForwarded(type, project())).toBe(false)
    await group(topId, { [lockOf(type)]: false })
    expect(await isForwarded(type, project())).toBe(true)
    await group(topId, { [nameOf(type)]: null, [lockOf(type)]: true })
    expect(await isForwarded(type, project())).toBe(true)
  })

  test('follows the server where that is locked, whatever groups say', async () => {
    await group(topId, { [nameOf(type)]: true, [lockOf(type)]: true })
    await instance({ [lockOf(type)]: true })
    expect(await isForwarded(type, project())).toBe(false)
    await group(topId, { [nameOf(type)]: false })
    await instance({ [nameOf(type)]: true })
    expect(await isForwarded(type, project())).toBe(true)
  })

  test('of a private project goes nowhere for those who may not read it', async () => {
    await instance({ [nameOf(type)]: true })
    const [path] = asked[type]
    const stranger = await world.user(`stranger-${type}`)
    expect((await stranger.get(`${project()}/packages/${path}`)).status).toBe(404)
    expect((await world.nobody.get(`${project()}/packages/${path}`)).status).toBe(401)
    expect((await stranger.get(`/groups/${topId}/-/packages/${path}`)).status).toBe(404)
  })
})

test('what is here is never looked for elsewhere, in any of its versions', async () => {
  await instance({
    maven_package_requests_forwarding: true,
    pypi_package_requests_forwarding: true,
  })
  const jar = `${project()}/packages/maven/com/acme/own/1.0/own-1.0.jar`
  expect((await ana.put(jar, undefined, { raw: 'x' })).status).toBe(200)
  expect((await ana.get(jar)).body).toBe('x')
  const mavens = [`${project()}/packages/maven`, `/groups/${topId}/-/packages/maven`]
  for (const maven of mavens) {
    for (const rest of ['2.0/own-2.0.pom', '1.0/own-1.0.pom.sha1', 'maven-metadata.xml'])
      expect((await ana.get(`${maven}/com/acme/own/${rest}`)).status).toBe(404)
    expect((await ana.get(`${maven}/com/acme/other/1.0/other-1.0.jar`)).status).toBe(302)
  }
  const form = new FormData()
  form.set('name', 'Own.Tool')
  form.set('version', '1.0')
  form.set('content', new Blob(['x']), 'own_tool-1.0.tar.gz')
  expect((await ana.post(`${project()}/packages/pypi`, undefined, { raw: form })).status).toBe(201)
  for (const name of ['own-tool', 'OWN_tool', 'own.tool']) {
    expect((await ana.get(`${project()}/packages/pypi/simple/${name}`)).status).toBe(200)
  }
})

test('audits of npm go on with their method where requests do, and find nothing elsewhere', async () => {
  const audits = ['security/advisories/bulk', 'security/audits/quick']
  for (const audit of audits) {
    const path = `${project()}/packages/npm/-/npm/v1/${audit}`
    expect((await ana.post(path, {})).status).toBe(200)
    await instance({ npm_package_requests_forwarding: true })
    const sent = await ana.post(path, {})
    expect([sent.status, sent.headers.get('location')]).toEqual([
      307,
      `${ROOTS.npm}/-/npm/v1/${audit}`,
    ])
    await instance({ npm_package_requests_forwarding: false })
  }
})
