import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createGroup, createProject } from '../support/create.ts'
import { newFolder } from '../support/database.ts'
import { client, openReachableWorld } from '../support/package-clients.ts'
import type { Caller, World } from '../support/world.ts'
import { documentOf } from './npm-document.ts'

let upstream: Server
let root: string
let world: World
let ana: Caller
let groupId: number
let at: string
let publicId: number

/** Stands for the public registries; what it has is in a public project. */
beforeAll(async () => {
  upstream = createServer((request, response) => {
    const target = `${world.url}/api/v4/projects/${publicId}/packages${request.url}`
    response.writeHead(302, { Location: target }).end()
  })
  await new Promise<void>((done) => upstream.listen(0, '127.0.0.1', done))
  root = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  world = await openReachableWorld({
    npmUrl: `${root}/npm/`,
    // The password is for the server alone.
    pypiUrl: `${root.replace('//', '//mirror:secret@')}/pypi`,
    mavenUrl: `${root}/maven`,
  })
  ana = await world.user('ana')
  groupId = (await createGroup(ana, 'acme')).id
  const project = await createProject(ana, 'p', { namespace_id: groupId })
  at = `/projects/${project.id}/packages`
  publicId = (await createProject(ana, 'open', { visibility: 'public' })).id
})
afterAll(async () => {
  await world.close()
  upstream.close()
})

/** Where each format looks for a package that is not here, and where it may be sent. */
const asked: readonly (readonly [string, string, string])[] = [
  ['npm', '/npm/left-pad', '/npm/left-pad'],
  ['npm', '/npm/@types%2fnode', '/npm/@types%2fnode'],
  ['pypi', '/pypi/simple/Left.Pad', '/pypi/simple/left-pad/'],
  ['maven', '/maven/org/x/a/1.0/a-1.0.jar', '/maven/org/x/a/1.0/a-1.0.jar'],
]

const change = (settings: object) => world.root.put('/application/settings', settings)
const setting = (type: string) => `${type}_package_requests_forwarding`

test.each(asked)(
  '%s is not sent elsewhere until an administrator allows it: %s',
  async (type, path, target) => {
    const group = `/groups/${groupId}/-/packages`
    for (const place of [at, group]) expect((await ana.get(place + path)).status).toBe(404)
    expect((await change({ [setting(type)]: true })).body[setting(type)]).toBe(true)
    for (const place of [at, group]) {
      const sent = await ana.get(place + path)
      expect([sent.status, sent.headers.get('location')]).toEqual([302, root + target])
      expect((await world.nobody.get(place + path)).status).toBe(401)
    }
    await change({ [setting(type)]: false })
  },
)

test('a group decides for itself and those below, unless a lock above decides', async () => {
  const name = setting('npm')
  const ask = async () => (await ana.get(`${at}/npm/left-pad`)).status
  const settings = `/groups/${groupId}/packages/settings`
  expect((await ana.put(settings, { [name]: true })).body[name]).toBe(true)
  expect(await ask()).toBe(302)
  await change({ [`lock_${name}`]: true })
  expect(await ask()).toBe(404)
  await change({ [`lock_${name}`]: false, [name]: true })
  await ana.put(settings, { [name]: false })
  expect(await ask()).toBe(404)
  await ana.put(settings, { [name]: null })
  expect(await ask()).toBe(302)
  const audit = `${at}/npm/-/npm/v1/security/advisories/bulk`
  const sent = await ana.post(audit, {})
  expect([sent.status, sent.headers.get('location')]).toEqual([
    307,
    `${root}/npm/-/npm/v1/security/advisories/bulk`,
  ])
  expect((await ana.get('/packages/npm/left-pad')).status).toBe(302)
  await change({ [name]: false })
  expect((await ana.post(audit, {})).status).toBe(200)
})

test('npm installs what is here from here, and the rest from elsewhere', async () => {
  await change({ [setting('npm')]: true })
  const own = await documentOf('own', '1.0.0', { manifest: { dependencies: { far: '^1' } } })
  expect((await ana.put(`${at}/npm/own`, own)).status).toBe(200)
  const far = await documentOf('far', '1.2.0')
  expect((await ana.put(`/projects/${publicId}/packages/npm/far`, far)).status).toBe(200)
  const folder = newFolder()
  mkdirSync(folder, { recursive: true })
  const registry = `${world.url}/api/v4${at}/npm/`
  const npmrc = `registry=${registry}\n${registry.slice('http:'.length)}:_authToken=${ana.token}\n`
  writeFileSync(join(folder, '.npmrc'), npmrc)
  writeFileSync(join(folder, 'package.json'), '{"name":"app","version":"1.0.0"}')
  await client('npm', ['install', '--no-audit', 'own'], { cwd: folder })
  const tree = await client('npm', ['ls', '--all', '--json'], { cwd: folder })
  expect(tree).toContain('"version": "1.2.0"')
  rmSync(folder, { recursive: true, force: true })
  await change({ [setting('npm')]: false })
}, 120_000)
