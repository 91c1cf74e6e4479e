import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createGroup, createProject } from '../support/create.ts'
import { newFolder } from '../support/database.ts'
import { client, openReachableWorld } from '../support/package-clients.ts'
import type { Caller, World } from '../support/world.ts'
import { tarballOf } from './tarball.ts'

let world: World
let ana: Caller
let projectId: number
let groupId: number
let root: string
const REGISTRY = '/packages/terraform/modules/v1/acme/vpc/local'

beforeAll(async () => {
  world = await openReachableWorld()
  ana = await world.user('ana')
  const group = await createGroup(ana, 'acme')
  groupId = group.id
  projectId = (await createProject(ana, 'p', { namespace_id: group.id })).id
  root = newFolder()
  mkdirSync(root, { recursive: true })
  for (const version of ['1.0.0', '1.1.0', '2.0.0-rc.1']) {
    expect((await publish(version)).status).toBe(201)
  }
})
afterAll(async () => {
  await world.close()
  rmSync(root, { recursive: true, force: true })
})

async function publish(version: string, at = projectId, who = ana, name = 'vpc') {
  const raw = await tarballOf({ 'main.tf': 'output "answer" {\n  value = 42\n}\n' })
  const path = `/projects/${at}/packages/terraform/modules/${name}/local/${version}/file`
  return await who.put(path, undefined, { raw })
}

test('terraform init gets a module from the registry, with a token', async () => {
  const folder = join(root, 'infra')
  mkdirSync(folder)
  const module =
    'module "vpc" {\n  source  = "svc.example.com/acme/vpc/local"\n  version = "~> 1.0"\n}\n'
  writeFileSync(join(folder, 'main.tf'), module)
  // Over plain http there is no discovery, so the file says where the service is.
  const rc = `host "svc.example.com" {\n  services = { "modules.v1" = "${world.url}/api/v4/packages/terraform/modules/v1/" }\n}
credentials "svc.example.com" {\n  token = "${ana.token}"\n}\n`
  writeFileSync(join(folder, 'rc'), rc)
  const env = { TF_CLI_CONFIG_FILE: join(folder, 'rc'), CHECKPOINT_DISABLE: '1' }
  const said = await client('terraform', ['init', '-no-color'], { cwd: folder, env })
  expect(said).toContain('1.1.0')
  expect(existsSync(join(folder, '.terraform', 'modules', 'vpc', 'main.tf'))).toBe(true)
  const services = await world.nobody.get('/.well-known/terraform.json', { host: true })
  expect(services.body).toEqual({ 'modules.v1': '/api/v4/packages/terraform/modules/v1/' })
}, 120_000)

test('the registry lists versions, the newest one, and the address of the archive', async () => {
  const { body } = await ana.get(`${REGISTRY}/versions`)
  const versions = body.modules[0].versions.map((one: { version: string }) => one.version)
  expect(versions).toEqual(['2.0.0-rc.1', '1.1.0', '1.0.0'])
  expect((await ana.get(`${REGISTRY}/1.0.0`)).body).toMatchObject({
    name: 'vpc/local',
    version: '1.0.0',
  })
  const missing = await ana.get(`${REGISTRY}/9.0.0`)
  expect([missing.status, missing.body]).toEqual([
    404,
    { message: { error: 'No version found for vpc module' } },
  ])
  const moved = await ana.get(`${REGISTRY}/download`)
  expect([moved.status, moved.headers.get('location')]).toEqual([
    302,
    `${world.url}/api/v4${REGISTRY}/2.0.0-rc.1/download`,
  ])
  const answer = await ana.get(`${REGISTRY}/1.0.0/download`)
  const file = answer.headers.get('x-terraform-get') ?? ''
  expect([answer.status, file]).toEqual([204, expect.stringContaining('&archive=tgz')])
  const path = file.replace('/api/v4', '')
  expect((await world.nobody.get(path)).status).toBe(200)
  // The token is for this protocol and ends soon.
  const token = new URL(file, world.url).searchParams.get('token') ?? ''
  expect((await world.as(token).get(`/projects/${projectId}/packages/pypi/simple`)).status).toBe(
    401,
  )
  world.setNow('2026-05-04T10:05:01.000Z')
  expect((await world.nobody.get(path)).status).toBe(401)
  world.setNow('2026-05-04T10:00:00.000Z')
  expect((await world.nobody.get(path.replace(/token=svct-..../, 'token=svct-AAAA'))).status).toBe(
    401,
  )
})

test('a project serves its own modules to the downloader', async () => {
  const at = `/projects/${projectId}/packages/terraform/modules/vpc/local`
  expect((await ana.get(at)).status).toBe(200)
  const answer = await ana.get(`${at}/1.0.0?terraform-get=1`)
  expect([answer.status, answer.headers.get('x-terraform-get')]).toEqual([
    204,
    `${world.url}/api/v4${at}/1.0.0?archive=tgz`,
  ])
  expect((await ana.get(`${at}/9.0.0`)).status).toBe(404)
})

test('a version is published once, and a name in one project of the namespace', async () => {
  expect((await publish('1.0.0')).body.message).toMatch(/already exists in the project/)
  const other = await createProject(ana, 'q', { namespace_id: groupId })
  const refused = await publish('1.0.0', other.id)
  expect([refused.status, refused.body.message]).toEqual([
    403,
    'A module with the same name already exists in the namespace.',
  ])
  await ana.put(`/groups/${groupId}/packages/settings`, {
    terraform_module_duplicates_allowed: true,
  })
  expect((await publish('1.0.0', other.id)).status).toBe(201)
  expect((await publish('one')).status).toBe(400)
  expect((await publish('3.0.0', projectId, ana, 'Bad_Name')).status).toBe(422)
  expect((await publish('3.0.0', projectId, ana, 'a%2f..')).status).toBe(422)
})

test('strangers are asked to sign in, and those who are none of the group are refused', async () => {
  expect((await world.nobody.get(`${REGISTRY}/versions`)).status).toBe(401)
  const bob = await world.user('bob')
  expect((await bob.get(`${REGISTRY}/versions`)).status).toBe(403)
  expect((await publish('4.0.0', projectId, bob)).status).toBe(404)
  expect((await ana.get('/packages/terraform/modules/v1/none/vpc/local/versions')).status).toBe(404)
})
