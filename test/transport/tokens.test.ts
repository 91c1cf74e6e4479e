import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createGroup } from '../support/create.ts'
import {
  addMember,
  type ClientFolders,
  commitFile,
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
let project: TestProject
let other: TestProject
let source: string
let at: string

beforeAll(async () => {
  folders = openClientFolders()
  ana = await world.user('ana')
  project = await makeProject(world, ana, 'hidden')
  other = await makeProject(world, ana, 'other')
  source = await folders.repository()
  for (const one of [project, other]) await gitClient(source, ['push', '-q', one.url(ana), 'main'])
  at = `/projects/${project.id}`
})
afterAll(() => folders.clear())

/** The statuses of asking to pull and to push. */
async function asked(user: string, password: string, of = project) {
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  const statuses: number[] = []
  for (const service of ['git-upload-pack', 'git-receive-pack']) {
    const url = `${world.url}/${of.path}.git/info/refs?service=${service}`
    const response = await fetch(url, { headers: { Authorization: authorization } })
    await response.text()
    statuses.push(response.status)
  }
  return statuses
}

function address(user: string, password: string, of = project): string {
  const url = new URL(`${world.url}/${of.path}.git`)
  url.username = user
  url.password = password
  return url.href
}

describe('a deploy token', () => {
  async function deployToken(body: object) {
    const made = await ana.post(`${at}/deploy_tokens`, { name: 'd', ...body })
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    return made.body
  }

  test('reads its project under its own name, and pushes nothing', async () => {
    const { username, token } = await deployToken({ scopes: ['read_repository'] })
    expect(await asked(username, token)).toEqual([200, 403])
    const folder = await folders.folder()
    await gitClient(folder, ['clone', '-q', address(username, token), 'copy'])
    const push = await runGitClient(source, ['push', address(username, token), 'main:by-token'])
    expect(push.code).not.toBe(0)
    expect((await ana.get(`${at}/repository/branches/by-token`)).status).toBe(404)
  })

  test('opens no other project, and nothing under another name', async () => {
    const { username, token } = await deployToken({ scopes: ['read_repository'] })
    // What the token may not do at all is refused before the project is looked at, there or not.
    expect(await asked(username, token, other)).toEqual([404, 403])
    expect(await asked(username, token, { ...other, path: 'ana/none' })).toEqual([404, 403])
    expect(await asked('ana', token)).toEqual([401, 401])
    expect(await asked(username, 'wrong')).toEqual([401, 401])
  })

  test('without the scope to read code is refused', async () => {
    const { username, token } = await deployToken({ scopes: ['read_registry'] })
    const [pull, push] = await asked(username, token)
    expect([401, 403]).toContain(pull)
    expect([401, 403]).toContain(push)
  })

  test('ends with its day, and when it is revoked', async () => {
    const brief = await deployToken({ scopes: ['read_repository'], expires_at: '2026-05-06' })
    expect((await asked(brief.username, brief.token))[0]).toBe(200)
    world.setNow('2026-05-07T10:00:00.000Z')
    expect((await asked(brief.username, brief.token))[0]).toBe(401)
    world.setNow('2026-05-04T10:00:00.000Z')
    const gone = await deployToken({ scopes: ['read_repository'] })
    expect((await ana.delete(`${at}/deploy_tokens/${gone.id}`)).status).toBe(204)
    expect(await asked(gone.username, gone.token)).toEqual([401, 401])
  })

  test('of a group reads the projects below it', async () => {
    const group = (await createGroup(ana, 'g')).id
    const sub = (await createGroup(ana, 's', { parent_id: group })).id
    const fields = { name: 'p', path: 'p', namespace_id: sub, initialize_with_readme: true }
    expect((await ana.post('/projects', fields)).status).toBe(201)
    const made = await ana.post(`/groups/${group}/deploy_tokens`, {
      name: 'd',
      scopes: ['read_repository'],
    })
    const below = { ...project, path: 'g/s/p' }
    expect(await asked(made.body.username, made.body.token, below)).toEqual([200, 403])
    expect(await asked(made.body.username, made.body.token)).toEqual([404, 403])
  })
})

describe('an access token', () => {
  test('of the project pushes as far as its role and scopes go', async () => {
    const cases = [
      [30, ['write_repository'], [200, 200]],
      [30, ['read_repository'], [200, 403]],
      [20, ['write_repository'], [200, 403]],
      [30, ['read_api'], [200, 403]],
    ] as const
    for (const [access_level, scopes, expected] of cases) {
      const body = { name: 't', scopes, access_level, expires_at: '2026-12-31' }
      const made = await ana.post(`${at}/access_tokens`, body)
      expect(made.status).toBe(201)
      expect([access_level, scopes, await asked('t', made.body.token)]).toEqual([
        access_level,
        scopes,
        expected,
      ])
      expect((await asked('t', made.body.token, other))[0]).toBe(404)
      await ana.delete(`${at}/access_tokens/${made.body.id}`)
      expect(await asked('t', made.body.token)).toEqual([401, 401])
    }
  })

  test('of a developer pushes branches, and not to the protected default branch', async () => {
    const body = { name: 'dev', scopes: ['write_repository'], access_level: 30 }
    const made = await ana.post(`${at}/access_tokens`, { ...body, expires_at: '2026-12-31' })
    const url = address('bot', made.body.token)
    await commitFile(source, 'bot.txt', 'x', 'By the bot')
    await gitClient(source, ['push', '-q', url, 'HEAD:bots'])
    const refused = await runGitClient(source, ['push', url, 'HEAD:main'])
    expect(refused.stderr).toContain(
      'You are not allowed to push code to protected branches on this project.',
    )
    expect((await ana.get(`${at}/repository/branches/bots`)).status).toBe(200)
  })

  test('of a person ends when it is revoked, or its day comes', async () => {
    const made = await world.root.post(`/users/${ana.id}/personal_access_tokens`, {
      name: 'short',
      scopes: ['read_repository'],
      expires_at: '2026-05-06',
    })
    expect(made.status).toBe(201)
    expect((await asked('x', made.body.token))[0]).toBe(200)
    world.setNow('2026-05-06T10:00:00.000Z')
    expect((await asked('x', made.body.token))[0]).toBe(401)
    world.setNow('2026-05-04T10:00:00.000Z')
    await ana.delete(`/personal_access_tokens/${made.body.id}`)
    expect((await asked('x', made.body.token))[0]).toBe(401)
  })
})

describe('somebody with a role', () => {
  test('loses what they may do with it, at once', async () => {
    const dev = await world.user('dev')
    const token = dev.token ?? ''
    expect(await asked('dev', token)).toEqual([404, 404])
    await addMember(world, project, dev, 30)
    expect(await asked('dev', token)).toEqual([200, 200])
    const member = `${at}/members/${dev.id}`
    const steps: [number, number[]][] = [
      [20, [200, 403]],
      [10, [403, 403]],
      [40, [200, 200]],
    ]
    for (const [access_level, expected] of steps) {
      expect((await ana.put(member, { access_level })).status).toBe(200)
      expect([access_level, await asked('dev', token)]).toEqual([access_level, expected])
    }
    await ana.put(member, { access_level: 30, expires_at: '2026-05-05' })
    world.setNow('2026-05-06T10:00:00.000Z')
    expect(await asked('dev', token)).toEqual([404, 404])
    world.setNow('2026-05-04T10:00:00.000Z')
    await ana.delete(member)
    expect(await asked('dev', token)).toEqual([404, 404])
  })

  test('finds no code where the repository is switched off', async () => {
    const place = await makeProject(world, ana, 'off')
    await gitClient(source, ['push', '-q', place.url(ana), 'main'])
    const off = { repository_access_level: 'disabled' }
    expect((await ana.put(`/projects/${place.id}`, off)).status).toBe(200)
    expect(await asked('ana', ana.token ?? '', place)).toEqual([403, 403])
    await ana.put(`/projects/${place.id}`, { repository_access_level: 'enabled' })
    expect(await asked('ana', ana.token ?? '', place)).toEqual([200, 200])
  })

  test('reads an archived project and pushes nothing to it', async () => {
    const place = await makeProject(world, ana, 'kept')
    await gitClient(source, ['push', '-q', place.url(ana), 'main'])
    await ana.post(`/projects/${place.id}/archive`)
    const [pull] = await asked('ana', ana.token ?? '', place)
    expect(pull).toBe(200)
    const push = await runGitClient(source, ['push', place.url(ana), 'main:more'])
    expect(push.code).not.toBe(0)
    await ana.post(`/projects/${place.id}/unarchive`)
    await gitClient(source, ['push', '-q', place.url(ana), 'main:more'])
  })

  test('reads code for members only where the repository is theirs', async () => {
    const place = await makeProject(world, ana, 'members', { visibility: 'public' })
    await gitClient(source, ['push', '-q', place.url(ana), 'main'])
    await ana.put(`/projects/${place.id}`, { repository_access_level: 'private' })
    const eve = await world.user('eve')
    expect(await asked('eve', eve.token ?? '', place)).toEqual([403, 403])
    const anonymous = await fetch(
      `${world.url}/${place.path}.git/info/refs?service=git-upload-pack`,
    )
    expect(anonymous.status).toBe(401)
    await addMember(world, place, eve, 20)
    expect(await asked('eve', eve.token ?? '', place)).toEqual([200, 403])
  })
})
