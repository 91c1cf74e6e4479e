import { afterAll, beforeAll, expect, test } from 'vitest'
import { createProject } from '../../support/create.ts'
import { openReachableWorld } from '../../support/package-clients.ts'
import type { Caller, World } from '../../support/world.ts'
import { openPublicRegistry, type PublicRegistry } from '../public-registry.ts'
import { publishNpm, putMaven, uploadPypi } from '../publishing.ts'

let upstream: PublicRegistry
let world: World
let ana: Caller
let ben: Caller
let group: string
let project: string
let wheel: string

/** A public group with a private project: ben sees the one and not the other. */
beforeAll(async () => {
  upstream = await openPublicRegistry()
  world = await openReachableWorld({
    npmUrl: `${upstream.url}/npm`,
    pypiUrl: `${upstream.url}/pypi`,
    mavenUrl: `${upstream.url}/maven`,
    outboundAllow: ['127.0.0.1'],
    packageCache: 100_000,
  })
  ana = await world.user('ana')
  ben = await world.user('ben')
  const made = await ana.post('/groups', { name: 'acme', path: 'acme', visibility: 'public' })
  const own = await ana.post('/projects', { name: 'p', namespace_id: made.body.id })
  group = `/groups/${made.body.id}/-/packages`
  project = `/projects/${own.body.id}/packages`
  for (const type of ['npm', 'pypi', 'maven']) {
    await world.root.put('/application/settings', { [`${type}_package_requests_forwarding`]: true })
  }
  const page = await ben.get(`${group}/pypi/simple/far-tool`)
  const [, sha256] = /#sha256=([0-9a-f]{64})/.exec(page.body) ?? []
  wheel = `/pypi/files/${sha256}/far_tool-1.0-py3-none-any.whl`
})
afterAll(async () => {
  await world.close()
  await upstream.stop()
})

/** What the public registry has of each name, and how a private package takes the name. */
const names: readonly (readonly [string, () => readonly string[], () => Promise<unknown>])[] = [
  [
    'npm',
    () => ['/npm/far', '/npm/far/-/far-1.2.0.tgz'],
    () => publishNpm(ana, project, 'far', '1.0.0'),
  ],
  [
    'Python',
    () => ['/pypi/simple/Far.Tool', wheel, `${wheel}.metadata`],
    () => uploadPypi(ana, project, { name: 'far_tool', version: '0.1' }, 'far_tool-0.1.tar.gz'),
  ],
  [
    'Maven',
    () => ['/maven/org/x/a/1.0/a-1.0.jar', '/maven/org/x/a/maven-metadata.xml'],
    () => putMaven(ana, project, 'org/x/a/0.1/a-0.1.jar'),
  ],
]

test.each(names)(
  'a name of a private %s package is looked for nowhere else, whoever asks',
  async (format, paths, publish) => {
    const answers = async (who: Caller) => {
      const found: number[] = []
      for (const path of paths()) found.push((await who.get(group + path)).status)
      return new Set(found)
    }
    expect(await answers(ben)).toEqual(new Set([200]))
    await publish()
    upstream.seen.length = 0
    // As for a name that is nowhere: what was fetched for others before is not shown either.
    expect(await answers(ben)).toEqual(new Set([404]))
    // Most clients sign in only when they are asked to.
    expect(await answers(world.nobody)).toEqual(new Set([format === 'Python' ? 404 : 401]))
    expect(upstream.seen).toEqual([])
  },
)

test('a name with a scope is looked for nowhere else by the whole server', async () => {
  const path = '/packages/npm/@acme%2ftool'
  await ben.get(path)
  expect(upstream.seen).toContain('GET /npm/@acme%2ftool')
  await publishNpm(ana, project, '@acme/tool', '1.0.0')
  upstream.seen.length = 0
  expect((await ben.get(path)).status).toBe(404)
  expect((await ben.get(`${path}/-/tool-1.0.0.tgz`)).status).toBe(404)
  expect((await world.nobody.get(path)).status).toBe(401)
  expect(upstream.seen).toEqual([])
})

test('a name is looked for nowhere else while no version of it may be installed', async () => {
  await publishNpm(ana, project, 'shown-later', '1.0.0')
  const hide = world.ctx.db.updateTable('packages').set({ status: 'hidden' })
  await hide.where('name', '=', 'shown-later').execute()
  upstream.seen.length = 0
  for (const place of [project, group]) {
    expect((await ana.get(`${place}/npm/shown-later`)).status).toBe(404)
  }
  expect(upstream.seen).toEqual([])
})

test('a name that was deleted here, or published elsewhere alone, is nobody’s', async () => {
  await publishNpm(ana, project, 'left', '1.0.0')
  const [row] = (await ana.get(`${project}?package_name=left`)).body
  expect((await ana.delete(`${project}/${row.id}`)).status).toBe(204)
  const other = await createProject(ana, 'other')
  await publishNpm(ana, `/projects/${other.id}/packages`, 'left', '1.0.0')
  upstream.seen.length = 0
  expect((await ana.get(`${group}/npm/left`)).status).toBe(404)
  expect(upstream.seen).toEqual(['GET /npm/left'])
})
