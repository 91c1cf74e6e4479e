import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'
import { filesOfZip } from '../zip-file.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')
let groupId: number
let subId: number
let projectId: number
let at: string
const SECOND = { headers: { 'User-Agent': 'Composer/2.7.1 (Linux; PHP 8.2)' } }
const FIRST = { headers: { 'User-Agent': 'Composer/1.10.27 (Linux; PHP 7.4)' } }

beforeAll(async () => {
  const group = { name: 'acme', path: 'acme', visibility: 'public' }
  groupId = (await ana.post('/groups', group)).body.id
  const sub = { name: 'sub', path: 'sub', parent_id: groupId, visibility: 'public' }
  subId = (await ana.post('/groups', sub)).body.id
  at = `/group/${groupId}/-/packages/composer`
  projectId = await newProject('p', { name: 'acme/tool', require: { php: '>=8' } })
})

async function newProject(path: string, json: object | string, more: object = {}): Promise<number> {
  const made = await ana.post('/projects', {
    name: path,
    namespace_id: groupId,
    visibility: 'private',
    ...more,
  })
  const content = typeof json === 'string' ? json : JSON.stringify(json)
  const file = { branch: 'main', commit_message: 'one', content }
  const { status } = await ana.post(
    `/projects/${made.body.id}/repository/files/composer.json`,
    file,
  )
  expect(status).toBe(201)
  return made.body.id
}

const publish = (ref: object, project = projectId, who = ana) =>
  who.post(`/projects/${project}/packages/composer`, ref)
async function published(ref: object, project = projectId) {
  const answer = await publish(ref, project)
  expect([answer.status, answer.body]).toEqual([201, { message: '201 Created' }])
}
async function tag(name: string, project = projectId) {
  const path = `/projects/${project}/repository/tags?tag_name=${encodeURIComponent(name)}&ref=main`
  expect((await ana.post(path)).status).toBe(201)
}
const headOf = async (project = projectId) =>
  (await ana.get(`/projects/${project}/repository/commits/main`)).body.id as string
const versionsOf = async (name: string, who = ana, group = at) =>
  (await who.get(`${group}/p2/${name}.json`, SECOND)).body.packages?.[name]

describe('a version', () => {
  test.each([
    ['v1.0.0', '1.0.0'],
    ['2.0.0-beta.1', '2.0.0-beta.1'],
    ['v3.0.0+build.5', '3.0.0+build.5'],
  ])('of the tag %s is %s', async (name, version) => {
    await tag(name)
    await published({ tag: name })
    expect(Object.keys(await versionsOf('acme/tool'))).toContain(version)
  })

  test.each(['1.0', 'v1', 'release/1.0.0', 'vv1.0.0', 'latest', '1.0.0.0'])(
    'is none for the tag %s',
    async (name) => {
      await tag(name)
      const refused = await publish({ tag: name })
      expect([refused.status, refused.body.message]).toEqual([
        400,
        '400 Bad request - Version is invalid',
      ])
    },
  )

  test.each([
    ['1', '1.x-dev'],
    ['1.x', '1.x-dev'],
    ['v2.x', '2.x-dev'],
    ['1.0', '1.0.x-dev'],
    ['1.2.3', '1.2.3.x-dev'],
    ['feature/one', 'dev-feature/one'],
    ['x', 'dev-x'],
  ])('of the branch %s is %s', async (branch, version) => {
    await ana.post(`/projects/${projectId}/repository/branches`, { branch, ref: 'main' })
    await published({ branch })
    const found = (await versionsOf('acme/tool'))[version]
    expect(found).toMatchObject({ version, require: { php: '>=8' } })
  })

  test('says where it comes from, whatever its own file says', async () => {
    const json = { name: 'acme/liar', version: '9.9.9', dist: 'x', source: 'y', uid: 'z' }
    const id = await newProject('liar', json)
    await tag('v1.0.0', id)
    await published({ tag: 'v1.0.0' }, id)
    const { externalUrl } = world.ctx.config
    const sha = await headOf(id)
    const url = `${externalUrl}/api/v4/projects/${id}/packages/composer/archives/acme/liar.zip?sha=${sha}`
    const git = `git@${new URL(externalUrl).hostname}:acme/liar.git`
    expect(await versionsOf('acme/liar')).toEqual({
      '1.0.0': {
        name: 'acme/liar',
        version: '1.0.0',
        uid: expect.any(Number),
        dist: { type: 'zip', url, reference: sha, shasum: '' },
        source: { type: 'git', url: git, reference: sha },
      },
    })
    await ana.put(`/projects/${id}`, { visibility: 'public' })
    const { source } = (await versionsOf('acme/liar'))['1.0.0']
    expect(source.url).toBe(`${externalUrl}/acme/liar.git`)
  })

  test('is published from a form as from JSON', async () => {
    await tag('v4.0.0')
    const raw = new URLSearchParams({ tag: 'v4.0.0' })
    const answer = await ana.post(`/projects/${projectId}/packages/composer`, undefined, { raw })
    expect(answer.status).toBe(201)
    expect(Object.keys(await versionsOf('acme/tool'))).toContain('4.0.0')
  })

  test('that is published again moves to its new commit and stays one', async () => {
    const id = await newProject('moves', { name: 'acme/moves' })
    await published({ branch: 'main' }, id)
    const file = {
      branch: 'main',
      commit_message: 'two',
      content: '{"name":"acme/moves","type":"library"}',
    }
    await ana.put(`/projects/${id}/repository/files/composer.json`, file)
    await published({ branch: 'main' }, id)
    const versions = await versionsOf('acme/moves')
    expect(Object.keys(versions)).toEqual(['dev-main'])
    expect(versions['dev-main']).toMatchObject({
      type: 'library',
      dist: { reference: await headOf(id) },
    })
    expect((await ana.get(`/projects/${id}/packages`)).body).toMatchObject([
      { name: 'acme/moves', version: 'dev-main', package_type: 'composer', status: 'default' },
    ])
  })

  test('that was deleted is offered no more', async () => {
    const id = await newProject('gone', { name: 'acme/gone' })
    for (const name of ['v1.0.0', 'v1.1.0']) {
      await tag(name, id)
      await published({ tag: name }, id)
    }
    const rows = (await ana.get(`/projects/${id}/packages?order_by=version`)).body
    expect((await ana.delete(`/projects/${id}/packages/${rows[0].id}`)).status).toBe(204)
    expect(Object.keys(await versionsOf('acme/gone'))).toEqual(['1.1.0'])
    await ana.delete(`/projects/${id}/packages/${rows[1].id}`)
    expect((await ana.get(`${at}/p2/acme/gone.json`, SECOND)).status).toBe(404)
    await published({ tag: 'v1.0.0' }, id)
    expect(Object.keys(await versionsOf('acme/gone'))).toEqual(['1.0.0'])
  })
})

describe('a file that is no composer.json', () => {
  let bad: number

  beforeAll(async () => {
    bad = await newProject('bad', { name: 'acme/bad' })
  })

  test.each([
    ['a list', '[]', 422, 'The file composer.json is not valid JSON.'],
    ['a text', '"x"', 422, 'The file composer.json is not valid JSON.'],
    ['null', 'null', 422, 'The file composer.json is not valid JSON.'],
    ['broken', '{"name"', 422, 'The file composer.json is not valid JSON.'],
    ['without a name', '{}', 400, 'Validation failed: Name is invalid'],
    ['with a name that is no text', '{"name":{"a":1}}', 400, 'Validation failed: Name is invalid'],
    ['with a name without a vendor', '{"name":"tool"}', 400, 'Validation failed: Name is invalid'],
    ['with a name of three parts', '{"name":"a/b/c"}', 400, 'Validation failed: Name is invalid'],
    [
      'with a name that steps up',
      '{"name":"acme/../x"}',
      400,
      'Validation failed: Name is invalid',
    ],
    [
      'with a name that steps up inside',
      '{"name":"acme/a..b"}',
      400,
      'Validation failed: Name is invalid',
    ],
  ])('(%s) is refused, and nothing is published', async (what, content, status, message) => {
    const branch = what.replaceAll(' ', '-')
    const actions = [{ action: 'update', file_path: 'composer.json', content }]
    const body = { branch, start_branch: 'main', commit_message: what, actions }
    expect((await ana.post(`/projects/${bad}/repository/commits`, body)).status).toBe(201)
    const refused = await publish({ branch }, bad)
    expect([refused.status, refused.body.message]).toEqual([status, message])
    expect((await ana.get(`/projects/${bad}/packages`)).body).toEqual([])
  })

  test('but a folder or nothing is not found', async () => {
    const made = await ana.post('/projects', { name: 'folder', namespace_id: groupId })
    const id = made.body.id
    expect((await publish({ branch: 'main' }, id)).status).toBe(404)
    const file = { branch: 'main', commit_message: 'one', content: '{}' }
    await ana.post(`/projects/${id}/repository/files/composer.json%2Fx`, file)
    const refused = await publish({ branch: 'main' }, id)
    expect([refused.status, refused.body.message]).toEqual([
      422,
      'The file composer.json was not found.',
    ])
  })

  test('in its members of odd names is passed on as it is', async () => {
    const id = await newProject('odd', '{"name":"acme/odd","__proto__":{"x":1},"constructor":"y"}')
    await published({ branch: 'main' }, id)
    const { body } = await ana.get(`${at}/p2/acme/odd.json`, SECOND)
    expect(body.packages['acme/odd']['dev-main'].constructor).toBe('y')
    expect(JSON.stringify(body)).toContain('"__proto__":{"x":1}')
  })
})

describe('the ref to publish', () => {
  test.each([
    ['none', {}, 400],
    ['both', { tag: 'v1.0.0', branch: 'main' }, 400],
    ['a tag that is not there', { tag: 'v9.9.9' }, 404],
    ['a branch that is not there', { branch: 'none' }, 404],
    ['a tag that is a branch', { tag: 'main' }, 404],
    ['a branch that is a tag', { branch: 'v1.0.0' }, 404],
    ['what git reads otherwise', { branch: 'main~1' }, 404],
    ['what git reads as another ref', { branch: '../tags/v1.0.0' }, 404],
    ['a list', { branch: ['main'] }, 400],
  ])('may not be %s', async (_what, ref, status) => {
    expect((await publish(ref)).status).toBe(status)
  })
})

describe('the name of a package', () => {
  test('is compared in small letters, and shown as it was first written', async () => {
    const id = await newProject('cased', { name: 'Acme/Cased' })
    await published({ branch: 'main' }, id)
    const found = await ana.get(`${at}/p2/acme/cased.json`, SECOND)
    expect(Object.keys(found.body.packages)).toEqual(['Acme/Cased'])
    expect((await ana.get(`${at}/p2/ACME/CASED.json`, SECOND)).status).toBe(200)
  })

  test('is one project’s on the whole server, until that has it no more', async () => {
    const mine = await newProject('mine', { name: 'acme/unique' })
    await published({ branch: 'main' }, mine)
    const bob = await world.user('bob')
    const { id } = await createProject(bob, 'other')
    const file = { branch: 'main', commit_message: 'one', content: '{"name":"ACME/unique"}' }
    await bob.post(`/projects/${id}/repository/files/composer.json`, file)
    const refused = await publish({ branch: 'main' }, id, bob)
    expect([refused.status, refused.body]).toEqual([
      400,
      { message: 'Validation failed: Name is already taken by another project' },
    ])
    const [row] = (await ana.get(`/projects/${mine}/packages`)).body
    await ana.delete(`/projects/${mine}/packages/${row.id}`)
    expect((await publish({ branch: 'main' }, id, bob)).status).toBe(201)
    expect((await publish({ branch: 'main' }, mine)).status).toBe(400)
  })

  test('goes to one of those who want it at once', async () => {
    const ids = await Promise.all(
      [1, 2, 3, 4].map((number) => newProject(`race${number}`, { name: 'acme/raced' })),
    )
    const answers = await Promise.all(ids.map((id) => publish({ branch: 'main' }, id)))
    expect(answers.map((one) => one.status).sort()).toEqual([201, 400, 400, 400])
  })
})

describe('the packages of a group', () => {
  test('are listed for Composer 2 by a pattern of addresses, and for Composer 1 by hashes, too', async () => {
    const root = `/api/v4${at}`
    const second = await ana.get(`${at}/packages.json`, SECOND)
    expect(second.headers.get('content-type')).toContain('application/json')
    expect(second.body).toEqual({ packages: [], 'metadata-url': `${root}/p2/%package%.json` })
    const first = (await ana.get(`${at}/packages.json`, FIRST)).body
    expect(first).toEqual({
      ...second.body,
      'provider-includes': { 'p/%hash%.json': { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) } },
      'providers-url': `${root}/%package%$%hash%.json`,
    })
    const byPath = await ana.get('/group/acme/-/packages/composer/packages.json', SECOND)
    expect(byPath.body).toEqual(second.body)
  })

  test('are named with their hashes, under which Composer 1 gets the same metadata', async () => {
    const root = (await ana.get(`${at}/packages.json`, FIRST)).body
    const { sha256 } = root['provider-includes']['p/%hash%.json']
    const { providers } = (await ana.get(`${at}/p/${sha256}.json`)).body
    expect(Object.keys(providers)).toContain('acme/tool')
    const hash = providers['acme/tool'].sha256
    const old = await ana.get(`${at}/acme/tool$${hash}.json`)
    expect(old.body).toEqual((await ana.get(`${at}/p2/acme/tool.json`, SECOND)).body)
    expect((await ana.get(`${at}/p/${'0'.repeat(64)}.json`)).status).toBe(404)
    await tag('v5.0.0')
    await published({ tag: 'v5.0.0' })
    expect((await ana.get(`${at}/acme/tool$${hash}.json`)).status).toBe(404)
    expect((await ana.get(`${at}/p/${sha256}.json`)).status).toBe(404)
  })

  test('are those of the groups below too, and of no group beside', async () => {
    const below = await newProject('below', { name: 'acme/below' }, { namespace_id: subId })
    await published({ branch: 'main' }, below)
    const ofSub = `/group/${subId}/-/packages/composer`
    for (const place of [at, ofSub])
      expect(await versionsOf('acme/below', ana, place)).toBeDefined()
    expect((await ana.get(`${ofSub}/p2/acme/tool.json`, SECOND)).status).toBe(404)
    expect((await ana.get('/groups/1/-/packages/composer/packages.json')).status).toBe(404)
  })

  test('are those alone that their reader may read', async () => {
    const open = await newProject('open', { name: 'acme/open' }, { visibility: 'public' })
    await published({ branch: 'main' }, open)
    const guest = await world.user('guest')
    await addMember(world, projectId, guest.id, 20)
    const names = async (who: Caller) => {
      const root = (await who.get(`${at}/packages.json`, FIRST)).body
      const { sha256 } = root['provider-includes']['p/%hash%.json']
      return Object.keys((await who.get(`${at}/p/${sha256}.json`)).body.providers)
    }
    expect(await names(world.nobody)).toContain('acme/open')
    expect(await names(world.nobody)).not.toContain('acme/tool')
    expect(await names(guest)).toEqual(expect.arrayContaining(['acme/open', 'acme/tool']))
    expect(await names(guest)).not.toContain('acme/below')
    expect((await world.nobody.get(`${at}/p2/acme/tool.json`, SECOND)).status).toBe(404)
    expect((await guest.get(`${at}/p2/acme/below.json`, SECOND)).status).toBe(404)
    expect(await versionsOf('acme/open', world.nobody)).toBeDefined()
    await ana.put(`/projects/${open}`, { package_registry_access_level: 'disabled' })
    expect((await guest.get(`${at}/p2/acme/open.json`, SECOND)).status).toBe(404)
    expect((await publish({ branch: 'main' }, open)).status).toBe(403)
  })

  test('of a private group are asked for by those who signed in alone', async () => {
    const hidden = (await createGroup(ana, 'hidden')).id
    const path = `/group/${hidden}/-/packages/composer/packages.json`
    const nobody = await world.nobody.get(path)
    expect([nobody.status, nobody.headers.get('www-authenticate')]).toEqual([
      401,
      'Basic realm="svc Packages Registry"',
    ])
    expect((await (await world.user('outside')).get(path)).status).toBe(404)
    expect((await world.nobody.get('/group/none/-/packages/composer/packages.json')).status).toBe(
      401,
    )
  })
})

describe('the archive of a version', () => {
  const archive = (sha: string, name = 'acme/tool', project = projectId) =>
    `/projects/${project}/packages/composer/archives/${name}.zip?sha=${sha}`

  test('holds the files of its commit, and counts as a download of the package', async () => {
    const id = await newProject('packed', { name: 'acme/packed' })
    await tag('v1.0.0', id)
    await published({ tag: 'v1.0.0' }, id)
    const sha = await headOf(id)
    const [row] = (await ana.get(`/projects/${id}/packages`)).body
    const last = async () =>
      (await ana.get(`/projects/${id}/packages/${row.id}`)).body.last_downloaded_at
    const path = archive(sha, 'acme/packed', id)
    expect((await ana.head(path)).status).toBe(200)
    expect(await last()).toBeNull()
    const answer = await fetch(`${world.url}/api/v4${path}`, {
      headers: { 'PRIVATE-TOKEN': ana.token ?? '' },
    })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/zip'])
    const files = await filesOfZip(Buffer.from(await answer.arrayBuffer()))
    const [name] = Object.keys(files).filter((one) => one.endsWith('composer.json'))
    expect(files[name ?? '']).toBe('{"name":"acme/packed"}')
    expect(await last()).toBe(world.ctx.now())
  })

  test('is that of a commit that was published, of this package in this project', async () => {
    const sha = await headOf()
    expect((await ana.get(archive(sha))).status).toBe(200)
    const file = { branch: 'main', commit_message: 'unpublished', content: 'x' }
    await ana.post(`/projects/${projectId}/repository/files/secret`, file)
    const later = await headOf()
    for (const path of [
      archive(later),
      archive('main'),
      archive(sha.slice(0, 12)),
      archive(sha, 'acme/open'),
      archive('0'.repeat(40)),
    ]) {
      expect([path, (await ana.get(path)).status]).toEqual([path, 404])
    }
    expect((await ana.get(archive(sha).replace(/\?.*/, ''))).status).toBe(400)
  })

  test('is given to those who may read the packages, Guests among them', async () => {
    const sha = await headOf()
    await published({ branch: 'main' })
    const guest = await world.user('codeguest')
    expect((await guest.get(archive(sha))).status).toBe(404)
    await addMember(world, projectId, guest.id, 10)
    expect((await guest.get(archive(sha))).status).toBe(200)
    const code = await guest.get(`/projects/${projectId}/repository/tree`)
    expect(code.status).toBe(403)
    expect((await world.nobody.get(archive(sha))).status).toBe(401)
    const scopes = ['read_package_registry']
    const { token, username } = (
      await ana.post(`/projects/${projectId}/deploy_tokens`, { name: 'd', scopes })
    ).body
    const pair = Buffer.from(`${username}:${token}`).toString('base64')
    const basic = { headers: { Authorization: `Basic ${pair}` } }
    expect((await world.nobody.get(archive(sha), basic)).status).toBe(200)
    const refused = await world.nobody.post(
      `/projects/${projectId}/packages/composer`,
      { branch: 'main' },
      basic,
    )
    expect(refused.status).toBe(401)
  })
})

test.each([
  [0, 404],
  [10, 403],
  [20, 403],
  [30, 201],
  [40, 201],
])('a member of the level %d who publishes is answered %d', async (level, status) => {
  const who = await world.user(`publisher${level}`)
  if (level > 0) await addMember(world, projectId, who.id, level)
  expect((await publish({ branch: 'main' }, projectId, who)).status).toBe(status)
})

test('an archived project publishes nothing, and is installed from all the same', async () => {
  const id = await newProject('archived', { name: 'acme/archived' })
  await published({ branch: 'main' }, id)
  await ana.post(`/projects/${id}/archive`)
  expect((await publish({ branch: 'main' }, id)).status).toBe(403)
  expect(await versionsOf('acme/archived')).toBeDefined()
})
