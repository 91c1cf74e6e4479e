import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup } from '../support/create.ts'
import { addMember } from '../support/members.ts'
import { addRunner, type GivenJob, type TestRunner } from '../support/runner.ts'
import { Caller, type Reply, useCaller, useWorld } from '../support/world.ts'
import { nupkgOf, publishNpm, pushNuget, putGeneric, putMaven, uploadPypi } from './publishing.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')
let groupId: number
let projectId: number
let at: string
let runner: TestRunner
let job: GivenJob
let nupkg: Buffer<ArrayBuffer>
const projects: Record<string, string> = {}

/** Everything that the clients of a project read, and the publication of what they read. */
const own: Readonly<Record<string, string>> = {
  generic: '/generic/tool/1.0/f',
  'npm metadata': '/npm/@acme%2ftool',
  'npm tarball': '/npm/@acme/tool/-/@acme/tool-1.0.0.tgz',
  'npm tags': '/npm/-/package/@acme%2ftool/dist-tags',
  'npm ping': '/npm/-/ping',
  maven: '/maven/acme/p/1.0/p-1.0.jar',
  'maven checksum': '/maven/acme/p/1.0/p-1.0.jar.sha1',
  'pypi index': '/pypi/simple',
  'pypi page': '/pypi/simple/tool/',
  'nuget search': '/nuget/query?q=tool',
  'nuget registration': '/nuget/metadata/tool/index.json',
  'nuget leaf': '/nuget/metadata/tool/1.0.0.json',
  'nuget versions': '/nuget/download/tool/index.json',
  'nuget file': '/nuget/download/tool/1.0.0/tool.1.0.0.nupkg',
  'nuget feed': "/nuget/v2/FindPackagesById()?id='tool'",
}

/** What they read of a group and of the whole server. */
const wider: Readonly<Record<string, string>> = {
  'npm metadata': '/groups/acme/-/packages/npm/@acme%2ftool',
  'npm tarball': '/groups/acme/-/packages/npm/@acme%2ftool/-/tool-1.0.0.tgz',
  'npm tags': '/groups/acme/-/packages/npm/-/package/@acme%2ftool/dist-tags',
  maven: '/groups/acme/-/packages/maven/acme/p/1.0/p-1.0.jar',
  'pypi index': '/groups/acme/-/packages/pypi/simple',
  'pypi page': '/groups/acme/-/packages/pypi/simple/tool',
  'nuget search': '/groups/acme/-/packages/nuget/query',
  'nuget registration': '/groups/acme/-/packages/nuget/metadata/tool/index.json',
  'nuget leaf': '/groups/acme/-/packages/nuget/metadata/Tool/1.0.json',
  'npm metadata of the server': '/packages/npm/@acme%2ftool',
  'npm tarball of the server': '/packages/npm/@acme/tool/-/tool-1.0.0.tgz',
  'maven of the server': '/packages/maven/acme/p/1.0/p-1.0.jar',
}

/** One address of each format, for what all addresses have in common. */
const few = Object.fromEntries(
  ['generic', 'npm metadata', 'maven', 'pypi page', 'nuget search'].map((name) => [
    name,
    own[name] ?? '',
  ]),
)

const sha1 = (text: string) => createHash('sha1').update(text).digest('hex')

type Publish = (who: Caller, place: string) => Promise<Reply>

const publishing: Readonly<Record<string, Publish>> = {
  generic: (who, place) => putGeneric(who, place, 'tool/1.0/f'),
  maven: (who, place) => putMaven(who, place, 'acme/p/1.0/p-1.0.jar'),
  'maven checksum': (who, place) =>
    putMaven(who, place, 'acme/p/1.0/p-1.0.jar.sha1', sha1('bytes')),
  nuget: (who, place) => pushNuget(who, place, nupkg),
  'nuget of protocol 2': (who, place) => pushNuget(who, place, nupkg, '/nuget/v2/'),
}

beforeAll(async () => {
  nupkg = await nupkgOf('Tool', '1.0.0')
  groupId = (await createGroup(ana, 'acme', { visibility: 'public' })).id
  for (const visibility of ['private', 'internal', 'public']) {
    const name = visibility === 'private' ? 'p' : visibility
    const made = await ana.post('/projects', { name, namespace_id: groupId, visibility })
    projects[visibility] = `/projects/${made.body.id}/packages`
    if (visibility === 'private') projectId = made.body.id
  }
  at = projects.private ?? ''
  for (const [visibility, place] of Object.entries(projects)) {
    const name = visibility === 'private' ? '@acme/tool' : '@other/tool'
    expect((await publishNpm(ana, place, name, '1.0.0')).status).toBe(200)
    expect((await uploadPypi(ana, place, { name: 'tool', version: '1.0' })).status).toBe(201)
    for (const publish of [publishing.generic, publishing.maven, publishing.nuget])
      expect((await publish?.(ana, place))?.status).toBeLessThan(300)
  }
  const content = 'x: {script: make}'
  const actions = [{ action: 'create', file_path: '.svc-ci.yml', content }]
  const commit = { branch: 'main', commit_message: 'one', actions }
  await ana.post(`/projects/${projectId}/repository/commits`, commit)
  await world.runTasks()
  runner = await addRunner(world, ana, projectId)
  job = await newJob()
})

async function newJob(): Promise<GivenJob> {
  await ana.post(`/projects/${projectId}/pipeline`, { ref: 'main' })
  const given = await runner.request()
  if (!given) throw new Error('no job')
  return given
}

const CHALLENGE = 'Basic realm="svc Packages Registry"'

/** Who brings these headers, and no others. */
function withHeaders(headers: Readonly<Record<string, string>>): Caller {
  const [[name, value] = ['X-Nothing', 'x']] = Object.entries(headers)
  return new Caller(world.url, value, 0, '', name)
}

const basic = (user: string, password: string) => ({
  Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
})
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })

async function statusesOf(
  who: Caller,
  paths: Readonly<Record<string, string>>,
  place = '',
): Promise<Record<string, number>> {
  const found = await Promise.all(
    Object.entries(paths).map(async ([name, path]) => {
      const { status } = await who.get(`${place}${path}`)
      return [name, status] as const
    }),
  )
  return Object.fromEntries(found)
}

const all = (paths: Readonly<Record<string, unknown>>, status: number, but = {}) => ({
  ...Object.fromEntries(Object.keys(paths).map((name) => [name, status])),
  ...but,
})

async function deployToken(scopes: readonly string[], more: object = {}, source = 'projects') {
  const id = source === 'projects' ? projectId : groupId
  const made = await ana.post(`/${source}/${id}/deploy_tokens`, { name: 't', scopes, ...more })
  expect(made.status).toBe(201)
  return made.body as { readonly id: number; readonly token: string; readonly username: string }
}

describe('whoever has not signed in', () => {
  test('is asked to by Basic wherever a client reads what is not public', async () => {
    for (const visibility of ['private', 'internal']) {
      const place = projects[visibility] ?? ''
      expect(await statusesOf(world.nobody, own, place)).toEqual(all(own, 401))
      for (const [name, path] of Object.entries(own)) {
        const { headers } = await world.nobody.get(`${place}${path}`)
        expect([name, headers.get('www-authenticate')]).toEqual([name, CHALLENGE])
      }
    }
    // The group is public, and its public project has these files, too.
    const open = { maven: 200, 'pypi index': 200, 'pypi page': 200 }
    expect(await statusesOf(world.nobody, wider)).toEqual(all(wider, 401, open))
  })

  test('reads a public project, and may publish nothing in any', async () => {
    const open = Object.fromEntries(
      Object.entries(own).map(([name, path]) => [name, path.replaceAll('@acme', '@other')]),
    )
    expect(await statusesOf(world.nobody, open, projects.public)).toEqual(all(open, 200))
    for (const [visibility, place] of Object.entries(projects)) {
      for (const [name, publish] of Object.entries(publishing)) {
        const { status, headers } = await publish(world.nobody, place)
        expect([visibility, name, status, headers.get('www-authenticate')]).toEqual([
          visibility,
          name,
          401,
          CHALLENGE,
        ])
      }
      const npm = await publishNpm(world.nobody, place, 'x', '1.0.0')
      const pypi = await uploadPypi(world.nobody, place, { name: 'x', version: '1' })
      expect([npm.status, pypi.status]).toEqual([401, 401])
      expect(npm.body).toEqual({ error: '401 Unauthorized', message: '401 Unauthorized' })
      expect(pypi.body).toEqual({ message: '401 Unauthorized' })
    }
  })

  test('learns nothing by what is asked for: what is missing is answered as what is hidden', async () => {
    for (const path of [
      `${at}/generic/missing/1/f`,
      '/projects/999999/packages/generic/tool/1.0/f',
      `${at}/npm/missing`,
      `${at}/maven/a/b/1/b-1.jar`,
      `${at}/pypi/simple/missing`,
      `${at}/nuget/metadata/missing/index.json`,
      '/projects/999999/packages/npm/missing',
      '/projects/999999/packages/pypi/simple/x',
      '/groups/999999/-/packages/nuget/query',
      '/packages/npm/@acme%2fmissing',
      '/packages/maven/acme/missing/1/missing-1.jar',
    ]) {
      const { status, headers } = await world.nobody.get(path)
      expect([path, status, headers.get('www-authenticate')]).toEqual([path, 401, CHALLENGE])
    }
  })
})

describe('the role of a user', () => {
  test('decides what they read: members of any role, and of an internal project everybody but externals', async () => {
    const stranger = await world.user('stranger')
    const external = await world.user('external', { external: true })
    const guest = await world.user('guest')
    await addMember(world, projectId, guest.id, 10)
    expect(await statusesOf(guest, own, at)).toEqual(all(own, 200))
    expect(await statusesOf(stranger, own, at)).toEqual(all(own, 404))
    const names = Object.keys(own).filter((name) => !/^npm (m|t)/.test(name))
    const internal = Object.fromEntries(names.map((name) => [name, own[name] ?? '']))
    expect(await statusesOf(stranger, internal, projects.internal)).toEqual(all(internal, 200))
    expect(await statusesOf(external, internal, projects.internal)).toEqual(all(internal, 404))
  })

  test('decides what they publish: Developers, and nobody below', async () => {
    const wanted: readonly (readonly [number, number])[] = [
      [10, 403],
      [20, 403],
      [30, 200],
      [40, 200],
    ]
    for (const [role, status] of wanted) {
      const who = await world.user(`role-${role}`)
      await addMember(world, projectId, who.id, role)
      const statuses = [
        (await putGeneric(who, at, `role/${role}/f`)).status,
        (await publishNpm(who, at, 'role', `1.0.${role}`)).status,
        (await putMaven(who, at, `a/role/${role}/role-${role}.jar`)).status,
        (await uploadPypi(who, at, { name: 'role', version: `1.${role}` })).status,
        (await pushNuget(who, at, await nupkgOf('Role', `1.0.${role}`))).status,
        (await pushNuget(who, at, await nupkgOf('Role', `2.0.${role}`), '/nuget/v2')).status,
      ]
      const made = status === 403 ? [403, 403, 403, 403, 403, 403] : [201, 200, 200, 201, 201, 201]
      expect([role, ...statuses]).toEqual([role, ...made])
    }
    const stranger = await world.user('public-stranger')
    for (const [visibility, status] of [
      ['private', 404],
      ['internal', 403],
      ['public', 403],
    ] as const) {
      const place = projects[visibility] ?? ''
      for (const [name, publish] of Object.entries(publishing))
        expect([visibility, name, (await publish(stranger, place)).status]).toEqual([
          visibility,
          name,
          status,
        ])
      expect((await publishNpm(stranger, place, 'x', '1.0.0')).status).toBe(status)
      expect((await uploadPypi(stranger, place, { name: 'x', version: '1' })).status).toBe(status)
    }
  })

  test('decides what they take away by a client: Maintainers', async () => {
    const developer = await world.user('taking-developer')
    const maintainer = await world.user('taking-maintainer')
    await addMember(world, projectId, developer.id, 30)
    await addMember(world, projectId, maintainer.id, 40)
    await publishNpm(ana, at, 'taken', '1.0.0')
    await pushNuget(ana, at, await nupkgOf('Taken', '1.0.0'))
    const tag = `${at}/npm/-/package/taken/dist-tags/beta`
    expect((await developer.put(tag, undefined, { raw: '"1.0.0"' })).status).toBe(204)
    const deprecate = (who: Caller) =>
      who.put(
        `${at}/npm/taken`,
        { name: 'taken', versions: { '1.0.0': { deprecated: 'old' } } },
        { headers: { 'npm-command': 'deprecate' } },
      )
    const taking = async (who: Caller) => [
      (await deprecate(who)).status,
      (await who.delete(tag)).status,
      (await who.delete(`${at}/nuget/taken/1.0.0`)).status,
    ]
    expect(await taking(developer)).toEqual([403, 403, 403])
    expect((await ana.get(`${at}/npm/taken`)).body).toMatchObject({
      'dist-tags': { beta: '1.0.0' },
    })
    expect(await taking(maintainer)).toEqual([200, 204, 204])
    expect(await taking(world.nobody)).toEqual([401, 401, 401])
  })
})

describe('a registry', () => {
  test('that is switched off answers 403 to members and 401 to nobody, whatever is asked', async () => {
    const id = (projects.public ?? '').split('/')[2]
    await ana.put(`/projects/${id}`, { package_registry_access_level: 'disabled' })
    expect(await statusesOf(ana, own, projects.public)).toEqual(all(own, 403))
    expect(await statusesOf(world.nobody, own, projects.public)).toEqual(all(own, 401))
    for (const publish of Object.values(publishing))
      expect((await publish(ana, projects.public ?? '')).status).toBe(403)
    await ana.put(`/projects/${id}`, { package_registry_access_level: 'private' })
    const stranger = await world.user('feature-stranger')
    expect((await stranger.get(`${projects.public}${own.generic}`)).status).toBe(403)
    expect((await world.nobody.get(`${projects.public}${own.generic}`)).status).toBe(401)
    expect((await ana.get(`${projects.public}${own.generic}`)).status).toBe(200)
    await ana.put(`/projects/${id}`, { package_registry_access_level: 'enabled' })
    expect((await world.nobody.get(`${projects.public}${own.generic}`)).status).toBe(200)
  })

  test('that anybody may pull from is read by everybody, though its project is private', async () => {
    const made = await ana.post('/projects', { name: 'pulled', namespace_id: groupId })
    const path = `/projects/${made.body.id}`
    const place = `${path}/packages`
    await publishNpm(ana, place, '@other/tool', '1.0.0')
    await uploadPypi(ana, place, { name: 'tool', version: '1.0' })
    for (const publish of [publishing.generic, publishing.maven, publishing.nuget])
      await publish?.(ana, place)
    const open = Object.fromEntries(
      Object.entries(own).map(([name, one]) => [name, one.replaceAll('@acme', '@other')]),
    )
    const stranger = await world.user('pulling-stranger')
    const set = (level: string) => ana.put(path, { package_registry_access_level: level })
    expect((await set('public')).body.package_registry_access_level).toBe('public')
    for (const who of [world.nobody, stranger, withHeaders({ 'JOB-TOKEN': job.token })])
      expect(await statusesOf(who, open, place)).toEqual(all(open, 200))
    const [row] = (await world.nobody.get(place)).body
    expect([row._links, row.pipelines]).toEqual([{}, undefined])
    expect((await world.nobody.get(`${place}/${row.id}/package_files`)).status).toBe(200)
    const inGroup = `/groups/acme/packages?package_name=other/tool&package_type=npm`
    const ids = async (who: Caller) =>
      (await who.get(inGroup)).body.map((one: { project_id?: number }) => one.project_id)
    expect(await ids(ana)).toContain(made.body.id)
    expect(await ids(world.nobody)).toContain(undefined)
    for (const hidden of ['', '/repository/tree', '/registry/repositories', '/pipelines'])
      expect([hidden, (await stranger.get(path + hidden)).status]).toEqual([hidden, 404])
    expect((await putMaven(stranger, place, 'a/b/1/b-1.jar')).status).toBe(404)
    expect((await putMaven(world.nobody, place, 'a/b/1/b-1.jar')).status).toBe(401)
    expect((await stranger.delete(`${place}/${row.id}`)).status).toBe(403)
    expect((await world.nobody.delete(`${place}/nuget/tool/1.0.0`)).status).toBe(401)
    await set('enabled')
    expect(await statusesOf(stranger, open, place)).toEqual(all(open, 404))
    expect(await ids(world.nobody)).not.toContain(undefined)
  })

  test('of an archived project is read as before, and takes nothing', async () => {
    const made = await ana.post('/projects', { name: 'archived', namespace_id: groupId })
    const place = `/projects/${made.body.id}/packages`
    await publishNpm(ana, place, 'kept', '1.0.0')
    await pushNuget(ana, place, nupkg)
    await ana.post(`/projects/${made.body.id}/archive`)
    for (const [name, publish] of Object.entries(publishing))
      expect([name, (await publish(ana, place)).status]).toEqual([name, 403])
    expect((await publishNpm(ana, place, 'kept', '2.0.0')).status).toBe(403)
    expect((await uploadPypi(ana, place, { name: 'x', version: '1' })).status).toBe(403)
    expect((await ana.delete(`${place}/nuget/tool/1.0.0`)).status).toBe(403)
    const tag = `${place}/npm/-/package/kept/dist-tags/beta`
    expect((await ana.put(tag, undefined, { raw: '"1.0.0"' })).status).toBe(403)
    const [row] = (await ana.get(place)).body
    expect((await ana.delete(`${place}/${row.id}`)).status).toBe(403)
    expect((await ana.get(`${place}/npm/kept`)).status).toBe(200)
    expect((await ana.get(`${place}${own['nuget file']}`)).status).toBe(200)
  })
})

describe('a token', () => {
  const reading = (who: Caller) => statusesOf(who, few, at)
  /** NuGet wants the name of the user beside their token. */
  const otherName = (headers: Record<string, string>) => {
    const [, pair] = /^Basic (.+)$/.exec(headers.Authorization ?? '') ?? []
    const isOwn = pair === undefined || Buffer.from(pair, 'base64').toString().startsWith('ana:')
    return isOwn ? {} : { 'nuget search': 401 }
  }

  test('of a user is taken in every place where a client may put it', async () => {
    const token = ana.token ?? ''
    for (const headers of [
      { 'PRIVATE-TOKEN': token },
      bearer(token),
      { Authorization: `bearer ${token}` },
      basic('ana', token),
      basic('whoever', token),
      basic(token, ''),
      basic('svc-ci-token', token),
    ]) {
      const who = withHeaders(headers)
      expect(await reading(who)).toEqual(all(few, 200, otherName(headers)))
    }
    expect(await statusesOf(withHeaders(basic('Ana', token)), own, at)).toEqual(all(own, 200))
    expect(await statusesOf(withHeaders(bearer(token)), wider)).toEqual(all(wider, 200))
    const inQuery = await world.nobody.get(`${at}/npm/@acme%2ftool?private_token=${token}`)
    expect(inQuery.status).toBe(200)
  })

  test('that only reads publishes nothing, and says which scope is wanted', async () => {
    const reader = world.as(await world.token(ana.id, ['read_api']))
    expect(await reading(reader)).toEqual(all(few, 200))
    const refused = await putGeneric(reader, at, 'x/1/f')
    expect([refused.status, refused.body]).toMatchObject([403, { error: 'insufficient_scope' }])
    const npm = await publishNpm(reader, at, 'x', '1.0.0')
    expect([npm.status, npm.body.error]).toEqual([
      403,
      'The request requires higher privileges than provided by the access token.',
    ])
    for (const scopes of [['read_user'], ['read_repository'], ['read_registry']]) {
      const who = world.as(await world.token(ana.id, scopes))
      expect(await reading(who)).toEqual(all(few, 403))
    }
  })

  test('of an administrator acts as whom it names, and nobody else’s does', async () => {
    const other = await world.user('acted-as')
    await addMember(world, projectId, other.id, 30)
    const who = (name: string, token: string | null) => ({
      put: (path: string) =>
        world.nobody.put(`${at}/generic/sudo/${path}`, undefined, {
          raw: 'x',
          headers: { 'PRIVATE-TOKEN': token ?? '', Sudo: name },
        }),
    })
    expect((await who('acted-as', world.root.token).put('1/f')).status).toBe(201)
    const { creator_id } = await world.ctx.db
      .selectFrom('packages')
      .select('creator_id')
      .where('name', '=', 'sudo')
      .executeTakeFirstOrThrow()
    expect(creator_id).toBe(other.id)
    const guest = await world.user('acted-guest')
    await addMember(world, projectId, guest.id, 10)
    expect((await who(String(guest.id), world.root.token).put('2/f')).status).toBe(403)
    expect((await who('nobody-there', world.root.token).put('2/f')).status).toBe(404)
    expect((await who('ana', other.token).put('2/f')).status).toBe(403)
    expect((await who('ana', job.token).put('2/f')).status).toBe(403)
  })

  test('of a project or group acts with the role that it was given', async () => {
    const made = await ana.post(`/projects/${projectId}/access_tokens`, {
      name: 'bot',
      scopes: ['api'],
      access_level: 30,
      expires_at: '2026-06-01',
    })
    const bot = withHeaders(basic('bot', made.body.token))
    expect((await publishNpm(bot, at, 'by-bot', '1.0.0')).status).toBe(200)
    expect((await bot.delete(`${at}/npm/-/package/by-bot/dist-tags/latest`)).status).toBe(403)
    const reporter = await ana.post(`/groups/${groupId}/access_tokens`, {
      name: 'group-bot',
      scopes: ['api'],
      access_level: 20,
      expires_at: '2026-06-01',
    })
    const groupBot = withHeaders(bearer(reporter.body.token))
    expect(await statusesOf(groupBot, wider)).toEqual(all(wider, 200))
    expect((await publishNpm(groupBot, at, 'by-bot', '2.0.0')).status).toBe(403)
  })

  test('that is wrong, revoked or over is 401 with a challenge, also where anybody may read', async () => {
    const over = await world.token(ana.id, ['api'])
    await world.ctx.db
      .updateTable('access_tokens')
      .set({ expires_at: '2026-05-03' })
      .where('id', '=', (await lastToken()).id)
      .execute()
    const revoked = await world.token(ana.id, ['api'])
    await world.ctx.db
      .updateTable('access_tokens')
      .set({ revoked: true })
      .where('id', '=', (await lastToken()).id)
      .execute()
    for (const headers of [
      { 'PRIVATE-TOKEN': 'wrong' },
      { 'JOB-TOKEN': 'wrong' },
      { 'DEPLOY-TOKEN': 'wrong' },
      bearer('wrong'),
      basic('ana', 'wrong'),
      basic('wrong', ''),
      { 'PRIVATE-TOKEN': over },
      bearer(over),
      basic('ana', revoked),
      bearer(revoked),
    ]) {
      for (const path of [
        `${projects.public}/generic/tool/1.0/f`,
        `${projects.public}/npm/@other%2ftool`,
        `${projects.public}/maven/acme/p/1.0/p-1.0.jar`,
        `${projects.public}/pypi/simple/tool`,
        `${projects.public}/nuget/query`,
      ]) {
        const { status, headers: answered } = await withHeaders(headers).get(path)
        expect([path, status, answered.get('www-authenticate')]).toEqual([path, 401, CHALLENGE])
      }
      expect((await putMaven(withHeaders(headers), at, 'a/b/1/b-1.jar')).status).toBe(401)
    }
  })

  async function lastToken(): Promise<{ readonly id: number }> {
    return await world.ctx.db
      .selectFrom('access_tokens')
      .select('id')
      .orderBy('id', 'desc')
      .executeTakeFirstOrThrow()
  }

  test('of somebody who was blocked is refused with the reason', async () => {
    const gone = await world.user('gone')
    await addMember(world, projectId, gone.id, 30)
    expect((await gone.get(`${at}${own.generic}`)).status).toBe(200)
    await world.root.post(`/users/${gone.id}/block`)
    for (const path of Object.values(own)) {
      const { status, body } = await gone.get(`${at}${path}`)
      expect([status, body.message]).toEqual([
        403,
        '403 Forbidden - Your account has been blocked.',
      ])
    }
    expect((await publishNpm(gone, at, 'x', '1.0.0')).body.error).toBe(
      'Your account has been blocked.',
    )
  })

  test('is wanted, and no password', async () => {
    const password = 'correct horse battery'
    const made = await world.root.post('/users', {
      username: 'typist',
      name: 'typist',
      email: 'typist@example.com',
      password,
      skip_confirmation: true,
    })
    await addMember(world, projectId, made.body.id, 40)
    const who = withHeaders(basic('typist', password))
    expect(await reading(who)).toEqual(all(few, 401))
  })
})

describe('a deploy token', () => {
  test('reads or publishes as its scopes say, in every place where a client may put it', async () => {
    const reader = await deployToken(['read_package_registry'])
    const writer = await deployToken(['write_package_registry'])
    const other = await deployToken(['read_repository', 'read_registry', 'write_registry'])
    const forms = (given: { token: string; username: string }) => [
      { 'DEPLOY-TOKEN': given.token },
      basic(given.username, given.token),
      bearer(given.token),
      { 'PRIVATE-TOKEN': given.token },
    ]
    for (const headers of [...forms(reader), ...forms(writer)]) {
      expect(await statusesOf(withHeaders(headers), few, at)).toEqual(all(few, 200))
    }
    for (const user of ['ana', writer.username, 'svc-ci-token'])
      expect(await statusesOf(withHeaders(basic(user, reader.token)), few, at)).toEqual(
        all(few, 401),
      )
    const asPassword = withHeaders(basic(reader.username, reader.token))
    expect(await statusesOf(asPassword, own, at)).toEqual(all(own, 200))
    for (const headers of forms(other)) {
      expect(await statusesOf(withHeaders(headers), few, at)).toEqual(all(few, 401))
    }
    for (const headers of forms(reader)) {
      const refused = await publishNpm(withHeaders(headers), at, 'x', '1.0.0')
      expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, CHALLENGE])
    }
    for (const [index, headers] of forms(writer).entries()) {
      const who = withHeaders(headers)
      expect((await publishNpm(who, at, 'by-deploy', `1.0.${index}`)).status).toBe(200)
      expect((await putGeneric(who, at, `by-deploy/${index}/f`)).status).toBe(201)
      expect((await putMaven(who, at, `x/d/${index}/d-${index}.jar`)).status).toBe(200)
    }
  })

  test('of a group reaches all projects below it, and the addresses of the group', async () => {
    const token = await deployToken(['read_package_registry'], {}, 'groups')
    const who = withHeaders({ 'DEPLOY-TOKEN': token.token })
    expect(await statusesOf(who, own, at)).toEqual(all(own, 200))
    expect(await statusesOf(who, wider)).toEqual(all(wider, 200))
  })

  test('of one project reads nothing of another, nor of its group, but what is public', async () => {
    const id = (projects.internal ?? '').split('/')[2]
    const made = await ana.post(`/projects/${id}/deploy_tokens`, {
      name: 't',
      scopes: ['read_package_registry', 'write_package_registry'],
    })
    const who = withHeaders({ 'DEPLOY-TOKEN': made.body.token })
    expect(await statusesOf(who, own, at)).toEqual(all(own, 404))
    expect((await who.get(`${projects.internal}${own.generic}`)).status).toBe(200)
    expect((await who.get(`${projects.public}${own.generic}`)).status).toBe(200)
    expect((await putGeneric(who, projects.public ?? '', 'x/1/f')).status).toBe(403)
    expect((await putGeneric(who, at, 'x/1/f')).status).toBe(404)
    const inGroup = await who.get('/groups/acme/-/packages/npm/@acme%2ftool')
    expect(inGroup.status).toBe(404)
  })

  test('that is over or revoked is 401', async () => {
    const scopes = ['read_package_registry']
    const over = await deployToken(scopes, { expires_at: '2026-05-05T00:00:00.000Z' })
    const revoked = await deployToken(scopes)
    const statuses = async () => [
      (await withHeaders({ 'DEPLOY-TOKEN': over.token }).get(`${at}/npm/@acme%2ftool`)).status,
      (await withHeaders({ 'DEPLOY-TOKEN': revoked.token }).get(`${at}/npm/@acme%2ftool`)).status,
    ]
    expect(await statuses()).toEqual([200, 200])
    await ana.delete(`/projects/${projectId}/deploy_tokens/${revoked.id}`)
    world.setNow('2026-05-06T10:00:00.000Z')
    expect(await statuses()).toEqual([401, 401])
    world.setNow('2026-05-04T10:00:00.000Z')
  })

  test('is for clients alone: lists and files by number refuse it', async () => {
    const { token } = await deployToken(['write_package_registry'])
    const who = withHeaders({ 'DEPLOY-TOKEN': token })
    const [row] = (await ana.get(at)).body
    for (const path of ['', `/${row.id}`, `/${row.id}/package_files`, `/${row.id}/pipelines`])
      expect((await who.get(`${at}${path}`)).status).toBe(401)
    expect((await who.delete(`${at}/${row.id}`)).status).toBe(401)
    expect((await who.get('/groups/acme/packages')).status).toBe(401)
  })
})

describe('the token of a job', () => {
  test('is taken in every place where a client may put it, while the job runs', async () => {
    const forms = [
      { 'JOB-TOKEN': job.token },
      basic('svc-ci-token', job.token),
      bearer(job.token),
      { 'PRIVATE-TOKEN': job.token },
    ]
    for (const headers of forms) {
      expect(await statusesOf(withHeaders(headers), few, at)).toEqual(all(few, 200))
    }
    const asPassword = withHeaders(basic('svc-ci-token', job.token))
    expect(await statusesOf(asPassword, own, at)).toEqual(all(own, 200))
    expect(await statusesOf(asPassword, wider)).toEqual(all(wider, 200))
    const inQuery = await world.nobody.get(`${at}/generic/tool/1.0/f?job_token=${job.token}`)
    expect(inQuery.status).toBe(200)
    for (const user of ['ana', 'any', ''])
      expect(await statusesOf(withHeaders(basic(user, job.token)), few, at)).toEqual(all(few, 401))
    await runner.finish(job, 'success')
    for (const headers of forms)
      expect(await statusesOf(withHeaders(headers), few, at)).toEqual(all(few, 401))
    job = await newJob()
  })

  test('reads the lists of its project, and never those of a group', async () => {
    const who = withHeaders({ 'JOB-TOKEN': job.token })
    const [row] = (await who.get(at)).body
    for (const path of [`/${row.id}`, `/${row.id}/package_files`, `/${row.id}/pipelines`])
      expect((await who.get(`${at}${path}`)).status).toBe(200)
    expect((await who.get('/groups/acme/packages')).status).toBe(401)
  })

  test('publishes in another project where that lets the job in, and its user may', async () => {
    const who = withHeaders({ 'JOB-TOKEN': job.token })
    const made = await ana.post('/projects', { name: 'target', namespace_id: groupId })
    const place = `/projects/${made.body.id}/packages`
    const publish = async () => [
      (await publishNpm(who, place, 'by-job', '1.0.0')).status,
      (await putGeneric(who, place, 'by-job/1/f')).status,
      (await putMaven(who, place, 'x/j/1/j-1.jar')).status,
      (await uploadPypi(who, place, { name: 'x', version: '1.0' })).status,
      (await pushNuget(who, place, nupkg)).status,
    ]
    expect(await publish()).toEqual([404, 404, 404, 404, 404])
    const allowlist = `/projects/${made.body.id}/job_token_scope/allowlist`
    expect((await ana.post(allowlist, { target_project_id: projectId })).status).toBe(201)
    expect(await publish()).toEqual([200, 201, 200, 201, 201])
    const listed = (await ana.get(`${place}?package_type=generic`)).body
    // The pipeline is that of the other project.
    expect(listed[0].pipeline).toMatchObject({ project_id: projectId, ref: 'main' })
    expect(await statusesOf(who, { f: '/generic/by-job/1/f' }, place)).toEqual({ f: 200 })
    await ana.delete(`${allowlist}/${projectId}`)
    expect((await who.get(`${place}/generic/by-job/1/f`)).status).toBe(404)
  })
})
