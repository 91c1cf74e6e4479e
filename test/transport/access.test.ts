import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hashPassword } from '../../src/access/authentication/password.ts'
import {
  addMember,
  type ClientFolders,
  gitClient,
  makeProject,
  openClientFolders,
  runGitClient,
  type TestProject,
} from '../support/git-client.ts'
import { type Caller, useWorld } from '../support/world.ts'

const world = useWorld()
let folders: ClientFolders
let ana: Caller
let eve: Caller
let hidden: TestProject
let open: TestProject
let source: string

beforeAll(async () => {
  folders = openClientFolders()
  ana = await world.user('ana')
  eve = await world.user('eve')
  hidden = await makeProject(world, ana, 'hidden')
  open = await makeProject(world, ana, 'open', { visibility: 'public' })
  source = await folders.repository()
  for (const project of [hidden, open]) {
    await gitClient(source, ['push', '-q', project.url(ana), 'main'])
  }
})

afterAll(() => folders.clear())

const basic = (user: string, password: string) =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`

function ask(path: string, more: { method?: string; authorization?: string; type?: string } = {}) {
  const headers: Record<string, string> = {}
  if (more.authorization) headers.Authorization = more.authorization
  if (more.type) headers['Content-Type'] = more.type
  return fetch(`${world.url}/${path}`, {
    method: more.method ?? 'GET',
    headers,
    redirect: 'manual',
  })
}

const info = (path: string, service = 'git-upload-pack') =>
  `${path}.git/info/refs?service=${service}`

describe('who may', () => {
  test('anybody may clone a public project, and is asked to sign in for everything else', async () => {
    const folder = await folders.folder()
    await gitClient(folder, ['clone', '-q', open.url(), 'copy'])
    const bodies = new Set<string>()
    for (const path of [
      info(hidden.path),
      info('ana/missing'),
      info('nobody/nothing'),
      info(open.path, 'git-receive-pack'),
    ]) {
      const response = await ask(path)
      expect(response.status, path).toBe(401)
      expect(response.headers.get('www-authenticate')).toBe('Basic realm="svc"')
      bodies.add(await response.text())
    }
    expect(bodies.size).toBe(1)
  })

  test('a private project of others looks the same as one that does not exist', async () => {
    const authorization = basic('eve', eve.token ?? '')
    for (const service of ['git-upload-pack', 'git-receive-pack']) {
      const [one, other] = await Promise.all(
        [hidden.path, 'ana/missing'].map((path) => ask(info(path, service), { authorization })),
      )
      expect(one?.status).toBe(404)
      expect(other?.status).toBe(404)
      expect(await one?.text()).toBe(await other?.text())
    }
  })

  test('tokens sign in as password, as user name and as Bearer, passwords by name and e-mail', async () => {
    const hash = await hashPassword('correct horse')
    await world.ctx.db
      .updateTable('users')
      .set({ password_hash: hash })
      .where('id', '=', ana.id)
      .execute()
    const token = ana.token ?? ''
    const good = [
      basic('oauth2', token),
      basic('ana', token),
      basic('anything', token),
      basic('svc-ci-token', token),
      basic(token, ''),
      basic(token, 'x-oauth-basic'),
      `Bearer ${token}`,
      basic('ana', 'correct horse'),
      basic('ana@example.com', 'correct horse'),
    ]
    for (const authorization of good) {
      expect((await ask(info(hidden.path), { authorization })).status, authorization).toBe(200)
    }
    const bad = [
      basic('ana', 'wrong'),
      basic('ana', ''),
      basic('svc-ci-token', 'wrong'),
      basic('', ''),
      'Bearer nonsense',
      'Digest x',
      'Basic %%%',
    ]
    for (const authorization of bad) {
      const response = await ask(info(hidden.path), { authorization })
      expect(response.status, authorization).toBe(401)
      expect(response.headers.get('www-authenticate')).toContain('Basic')
    }
  })

  test('scopes of a token are asked for pulling and for pushing', async () => {
    const cases = [
      ['api', 200, 200],
      ['read_api', 200, 403],
      ['read_repository', 200, 403],
      ['write_repository', 200, 200],
      ['read_user', 403, 403],
    ] as const
    for (const [scope, pull, push] of cases) {
      const authorization = basic('ana', await world.token(ana.id, [scope]))
      expect((await ask(info(hidden.path), { authorization })).status, scope).toBe(pull)
      const pushing = await ask(info(hidden.path, 'git-receive-pack'), { authorization })
      expect(pushing.status, scope).toBe(push)
    }
  })

  test('a guest of a private project sees that it exists and may not clone it', async () => {
    const gus = await world.user('gus')
    await addMember(world, hidden, gus, 10)
    const response = await ask(info(hidden.path), { authorization: basic('gus', gus.token ?? '') })
    expect(response.status).toBe(403)
    expect(await response.text()).toContain('not allowed to download code')
  })

  test('a blocked user is refused with the reason', async () => {
    const bob = await world.user('bob')
    await world.ctx.db
      .updateTable('users')
      .set({ state: 'blocked' })
      .where('id', '=', bob.id)
      .execute()
    const response = await ask(info(open.path), { authorization: basic('bob', bob.token ?? '') })
    expect(response.status).toBe(403)
    expect(await response.text()).toContain('blocked')
  })

  test('the transfer itself asks again, whatever info/refs said before', async () => {
    for (const service of ['git-upload-pack', 'git-receive-pack']) {
      const type = `application/x-${service}-request`
      expect((await ask(`${hidden.path}.git/${service}`, { method: 'POST', type })).status).toBe(
        401,
      )
      const authorization = basic('eve', eve.token ?? '')
      const response = await ask(`${hidden.path}.git/${service}`, {
        method: 'POST',
        type,
        authorization,
      })
      expect(response.status).toBe(404)
    }
  })
})

describe('addresses', () => {
  test('without .git the client is sent on, and git follows', async () => {
    const response = await ask(`${open.path}/info/refs?service=git-upload-pack`)
    expect(response.status).toBe(301)
    expect(response.headers.get('location')).toBe(`/${info(open.path)}`)
    const folder = await folders.folder()
    const address = open.url(ana).replace(/\.git$/, '')
    await gitClient(folder, ['clone', '-q', address, 'copy'])
    await gitClient(join(folder, 'copy'), ['push', '-q', 'origin', 'HEAD:without'])
  })

  test.each([
    ['HEAD', 'open.git/info/refs?service=git-upload-pack', 405],
    ['POST', 'open.git/info/refs?service=git-upload-pack', 405],
    ['GET', 'open.git/git-upload-pack', 405],
    ['DELETE', 'open.git/git-receive-pack', 405],
    ['GET', 'open.git/info/refs', 403],
    ['GET', 'open.git/info/refs?service=git-upload-archive', 403],
    ['GET', 'open.git/info/refs?service=/bin/sh', 403],
    ['GET', 'open.git/HEAD', 403],
    ['GET', 'open.git/objects/info/packs', 403],
    ['GET', 'open.git/objects/../../config', 404],
    ['GET', 'open%2F..%2Fhidden.git/info/refs?service=git-upload-pack', 403],
    ['GET', 'open.git%00/info/refs?service=git-upload-pack', 404],
  ])('%s %s is %i', async (method, path, status) => {
    const response = await ask(`ana/${path}`, { method })
    expect(response.status).toBe(status)
  })

  test('in a browser the address of the repository leads to the project', async () => {
    const response = await ask('ana/open.git')
    expect(response.headers.get('location')).toBe('/ana/open')
  })

  test('a body of the wrong type is refused', async () => {
    const authorization = basic('ana', ana.token ?? '')
    for (const type of [
      'text/plain',
      'application/x-git-receive-pack-request',
      'application/json',
    ]) {
      const response = await ask(`${open.path}.git/git-upload-pack`, {
        method: 'POST',
        type,
        authorization,
      })
      expect(response.status).toBe(415)
    }
  })

  test('answers are not to be kept by caches', async () => {
    const response = await ask(info(open.path))
    expect(response.headers.get('cache-control')).toContain('no-cache')
    expect(response.headers.get('content-type')).toBe('application/x-git-upload-pack-advertisement')
  })

  test('a project that was renamed is found at its old path, and the user is told the new one', async () => {
    const project = await makeProject(world, ana, 'before', { visibility: 'public' })
    await gitClient(source, ['push', '-q', project.url(ana), 'main'])
    const old = project.url(ana)
    await world.ctx.db
      .updateTable('projects')
      .set({ path: 'after', full_path: 'ana/after' })
      .where('id', '=', project.id)
      .execute()
    const folder = await folders.folder()
    const cloned = await runGitClient(folder, ['clone', old, 'copy'])
    expect(cloned.code).toBe(0)
    expect(cloned.stderr).toContain('redirecting to')
    expect(cloned.stderr).toContain('/ana/after.git')
    // A clone that began before asks on where it began.
    const asked = await fetch(`${world.url}/ana/before.git/git-upload-pack`, {
      method: 'POST',
      body: '0014command=ls-refs\n0000',
      headers: {
        'content-type': 'application/x-git-upload-pack-request',
        'git-protocol': 'version=2',
      },
      redirect: 'manual',
    })
    expect([asked.status, await asked.text()]).toEqual([200, expect.stringContaining('main')])
    const pushed = await runGitClient(source, ['push', old, 'main:topic'])
    expect(pushed.code).toBe(0)
    expect(pushed.stderr).toContain("Project 'ana/before' was moved to 'ana/after'.")
    expect(pushed.stderr).toMatch(/git remote set-url origin \S+\/ana\/after\.git/)
    expect((await ask(info('ana/before'), { authorization: basic('eve', 'x') })).status).toBe(401)
  })
})

describe('a push to a path without a project', () => {
  test('makes it, private, where the user may make projects, and says so', async () => {
    const run = await runGitClient(source, [
      'push',
      open.url(ana).replace('/open.git', '/fresh.git'),
      'main',
    ])
    expect(run.code).toBe(0)
    expect(run.stderr).toContain('The private project ana/fresh was successfully created.')
    expect(run.stderr).toMatch(/git remote add origin \S+\/ana\/fresh\.git/)
    const row = await world.ctx.db
      .selectFrom('projects')
      .selectAll()
      .where('full_path', '=', 'ana/fresh')
      .executeTakeFirstOrThrow()
    expect(row).toMatchObject({ visibility: 'private', empty_repo: 0, creator_id: ana.id })
    const again = await runGitClient(source, [
      'push',
      open.url(ana).replace('/open.git', '/fresh.git'),
      'main:b',
    ])
    expect(again.stderr).not.toContain('successfully created')
  })

  test('is not found elsewhere, for invalid names, or when only fetching', async () => {
    const authorization = basic('eve', eve.token ?? '')
    for (const path of ['ana/other', 'eve/-bad-', 'eve/a b', 'eve/x/y', 'nobody/x', 'eve/x.git']) {
      const response = await ask(info(path, 'git-receive-pack'), { authorization })
      expect(response.status, path).toBe(404)
    }
    expect((await ask(info('eve/mine'), { authorization })).status).toBe(404)
    const names = await world.ctx.db
      .selectFrom('projects')
      .select('id')
      .where('creator_id', '=', eve.id)
      .execute()
    expect(names).toEqual([])
  })

  test('needs a token that may write', async () => {
    const authorization = basic('eve', await world.token(eve.id, ['read_repository']))
    const response = await ask(info('eve/mine', 'git-receive-pack'), { authorization })
    expect(response.status).toBe(403)
  })
})
