import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createGroup, createProject } from '../support/create.ts'
import { newFolder } from '../support/database.ts'
import { addMember } from '../support/members.ts'
import { client, openReachableWorld } from '../support/package-clients.ts'
import type { Caller, World } from '../support/world.ts'

let world: World
let ana: Caller
let groupId: number
let projectId: number
let at: string
let root: string

beforeAll(async () => {
  world = await openReachableWorld()
  ana = await world.user('ana')
  groupId = (await createGroup(ana, 'acme')).id
  projectId = (await createProject(ana, 'p', { namespace_id: groupId })).id
  at = `/group/${groupId}/-/packages/composer`
  root = newFolder()
  mkdirSync(root, { recursive: true })
  await commit(projectId, 'composer.json', '{"name":"acme/tool","description":"One"}')
  await commit(projectId, 'src.php', '<?php\n')
  await ana.post(`/projects/${projectId}/repository/tags?tag_name=v1.0.0&ref=main`)
})
afterAll(async () => {
  await world.close()
  rmSync(root, { recursive: true, force: true })
})

async function commit(
  project: number,
  path: string,
  content: string,
  verb: 'post' | 'put' = 'post',
) {
  const body = { branch: 'main', commit_message: 'one', content }
  const answer = await ana[verb](`/projects/${project}/repository/files/${path}`, body)
  expect(answer.status).toBeLessThan(300)
}

const publish = (body: object, project = projectId, who = ana) =>
  who.post(`/projects/${project}/packages/composer`, body)
const second = { headers: { 'User-Agent': 'Composer/2.5.5 (Linux)' } }

test('composer requires a package that was published from a tag, for a Guest of its project', async () => {
  expect((await publish({ tag: 'v1.0.0' })).status).toBe(201)
  const guest = await world.user('guest')
  await addMember(world, projectId, guest.id, 10)
  const folder = join(root, 'app')
  mkdirSync(folder)
  const repositories = [
    { type: 'composer', url: `${world.url}/api/v4${at}/packages.json` },
    { packagist: false },
  ]
  const host = new URL(world.url).host
  const config = { 'secure-http': false }
  writeFileSync(join(folder, 'composer.json'), JSON.stringify({ repositories, config }))
  const auth = { 'http-basic': { [host]: { username: 'any', password: guest.token } } }
  writeFileSync(join(folder, 'auth.json'), JSON.stringify(auth))
  const env = { COMPOSER_ALLOW_SUPERUSER: '1', COMPOSER_HOME: join(root, 'home') }
  await client('composer', ['require', '--no-interaction', '--prefer-dist', 'acme/tool:1.0.0'], {
    cwd: folder,
    env,
  })
  expect(existsSync(join(folder, 'vendor', 'acme', 'tool', 'src.php'))).toBe(true)
}, 120_000)

test('branches are development versions, and move when they are published again', async () => {
  await commit(projectId, 'more.php', '<?php\n')
  await publish({ branch: 'main' })
  const before = (await ana.get(`${at}/p2/acme/tool.json`, second)).body.packages['acme/tool']
  expect(Object.keys(before).sort()).toEqual(['1.0.0', 'dev-main'])
  await commit(projectId, 'src.php', '<?php // two\n', 'put')
  await publish({ branch: 'main' })
  const after = (await ana.get(`${at}/p2/acme/tool.json`, second)).body.packages['acme/tool']
  expect(after['dev-main'].dist.reference).not.toBe(before['dev-main'].dist.reference)
  expect(after['1.0.0'].dist.reference).toBe(before['1.0.0'].dist.reference)
  const gone = before['dev-main'].dist.url.replace(/^.*\/api\/v4/, '')
  expect((await ana.get(gone)).status).toBe(404)
})

test('Composer 1 finds packages by hashes, and Composer 2 by names', async () => {
  const first = (await ana.get(`${at}/packages.json`)).body
  const hash = first['provider-includes']['p/%hash%.json'].sha256
  const { providers } = (await ana.get(`${at}/p/${hash}.json`)).body
  const { sha256 } = providers['acme/tool']
  const metadata = await ana.get(`${at}/acme/tool$${sha256}.json`)
  expect(metadata.body.packages['acme/tool']['1.0.0']).toMatchObject({ description: 'One' })
  expect((await ana.get(`${at}/acme/tool%24${sha256}.json`)).status).toBe(200)
  expect((await ana.get(`${at}/acme/tool$${'0'.repeat(64)}.json`)).status).toBe(404)
  expect((await ana.get(`${at}/acme/tool.json`)).status).toBe(404)
  const root = (await ana.get(`${at}/packages.json`, second)).body
  expect(root).not.toHaveProperty('providers-url')
  const { headers } = await ana.get(`${at}/packages.json`)
  expect(headers.get('vary')).toBe('Origin, Accept-Encoding, User-Agent')
  expect((await ana.get(`${at}/p2/acme/tool~dev.json`, second)).status).toBe(404)
})

test('what is refused', async () => {
  expect((await publish({})).status).toBe(400)
  expect((await publish({ tag: 'v1.0.0', branch: 'main' })).status).toBe(400)
  expect((await publish({ tag: 'v9' })).status).toBe(404)
  expect((await publish({ branch: 'a..b' })).status).toBe(404)
  await ana.post(`/projects/${projectId}/repository/tags?tag_name=word&ref=main`)
  expect((await publish({ tag: 'word' })).status).toBe(400)
  const other = (await createProject(ana, 'q', { namespace_id: groupId })).id
  await commit(other, 'a.txt', 'a')
  const missing = await publish({ branch: 'main' }, other)
  expect([missing.status, missing.body.message]).toEqual([
    422,
    'The file composer.json was not found.',
  ])
  await commit(other, 'composer.json', '{"name":')
  expect((await publish({ branch: 'main' }, other)).status).toBe(422)
  await commit(other, 'composer.json', '{"name":"acme/tool"}', 'put')
  const taken = await publish({ branch: 'main' }, other)
  expect([taken.status, taken.body.message]).toEqual([
    400,
    'Validation failed: Name is already taken by another project',
  ])
  await commit(other, 'composer.json', '{"name":"../x"}', 'put')
  expect((await publish({ branch: 'main' }, other)).status).toBe(400)
  expect((await world.nobody.get(`${at}/packages.json`)).status).toBe(401)
  const bob = await world.user('bob')
  expect((await publish({ branch: 'main' }, projectId, bob)).status).toBe(404)
})
