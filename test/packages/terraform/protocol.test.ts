import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { headOf, RawClient } from '../../support/raw-request.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'
import { tarballOf } from '../tarball.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')
let groupId: number
let subId: number
let projectId: number
let archive: Buffer<ArrayBuffer>
const REGISTRY = '/packages/terraform/modules/v1'

beforeAll(async () => {
  groupId = (await createGroup(ana, 'acme')).id
  subId = (await createGroup(ana, 'sub', { parent_id: groupId })).id
  projectId = await newProject('p')
  archive = await tarballOf({ 'main.tf': 'output "answer" {\n  value = 42\n}\n' })
})

async function newProject(name: string, more: object = {}): Promise<number> {
  const made = await ana.post('/projects', { name, namespace_id: groupId, ...more })
  expect(made.status).toBe(201)
  return made.body.id
}

const fileAt = (name: string, version: string, project = projectId) =>
  `/projects/${project}/packages/terraform/modules/${name}/${version}/file`
const publish = (name: string, version: string, project = projectId, who = ana) =>
  who.put(fileAt(name, version, project), undefined, { raw: archive })
async function published(name: string, ...versions: readonly string[]) {
  for (const version of versions) {
    const answer = await publish(name, version)
    expect([answer.status, answer.body]).toEqual([201, { message: '201 Created' }])
  }
}
const at = (name: string, rest = '', root = 'acme') => `${REGISTRY}/${root}/${name}${rest}`
const noVersion = (name: string) => ({ message: { error: `No version found for ${name} module` } })
const bearer = (token: string | null) => ({ headers: { Authorization: `Bearer ${token}` } })

async function bytesAt(path: string, headers: Readonly<Record<string, string>>) {
  const answer = await fetch(`${world.url}/api/v4${path}`, { headers, redirect: 'manual' })
  return {
    status: answer.status,
    headers: answer.headers,
    bytes: Buffer.from(await answer.arrayBuffer()),
  }
}

describe('the registry', () => {
  test('is found by its well-known address, by anybody', async () => {
    const { status, body, headers } = await world.nobody.get('/.well-known/terraform.json', {
      host: true,
    })
    expect([status, body]).toEqual([
      200,
      { 'modules.v1': '/api/v4/packages/terraform/modules/v1/' },
    ])
    expect(headers.get('content-type')).toContain('application/json')
  })

  test('lists versions as Terraform reads them, the highest first', async () => {
    await published('vpc/aws', '1.2.0', '1.10.0', '1.9.0', '2.0.0-rc.1', '1.9.0+build')
    const { body } = await ana.get(at('vpc/aws', '/versions'))
    const version = (text: string) => ({
      version: text,
      submodules: [],
      root: { dependencies: [], providers: [{ name: 'aws', version: '' }] },
    })
    const [module] = body.modules
    expect(body.modules).toHaveLength(1)
    expect(module.source).toBe(`${world.ctx.config.externalUrl}/acme/p`)
    expect(module.versions[0]).toEqual(version('2.0.0-rc.1'))
    const order = module.versions.map((one: { version: string }) => one.version.split('+')[0])
    expect(order).toEqual(['2.0.0-rc.1', '1.10.0', '1.9.0', '1.9.0', '1.2.0'])
  })

  test('shows one version, or the highest', async () => {
    await published('net/aws', '1.0.0', '1.1.0')
    const shown = {
      name: 'net/aws',
      provider: 'aws',
      providers: [],
      root: { dependencies: [] },
      source: `${world.ctx.config.externalUrl}/acme/p`,
      submodules: [],
      version: '1.1.0',
      versions: ['1.1.0', '1.0.0'],
    }
    expect((await ana.get(at('net/aws'))).body).toEqual(shown)
    expect((await ana.get(at('net/aws', '/1.0.0'))).body).toEqual({ ...shown, version: '1.0.0' })
    for (const path of ['/3.0.0', '/1.0', '/latest', '/3.0.0/download', '/3.0.0/file']) {
      const answer = await ana.get(at('net/aws', path))
      expect([path, answer.status, answer.body]).toEqual([path, 404, noVersion('net')])
    }
  })

  test('has an empty list for a module that a readable group has not, and no version of it', async () => {
    const { status, body } = await ana.get(at('none/aws', '/versions'))
    expect([status, body]).toEqual([
      200,
      { modules: [{ versions: [], source: `${world.ctx.config.externalUrl}/acme` }] },
    ])
    for (const path of ['', '/1.0.0', '/download', '/1.0.0/download', '/1.0.0/file']) {
      const answer = await ana.get(at('none/aws', path))
      expect([path, answer.status, answer.body]).toEqual([path, 404, noVersion('none')])
    }
    await published('sys/aws', '1.0.0')
    expect((await ana.get(at('sys/gcp'))).status).toBe(404)
  })

  test('leads to the archive of the highest version, and of each by a short-lived token', async () => {
    await published('down/aws', '1.0.0', '1.2.0')
    const moved = await ana.get(at('down/aws', '/download'))
    expect([moved.status, moved.headers.get('location')]).toEqual([
      302,
      `${world.ctx.config.externalUrl}/api/v4${at('down/aws', '/1.2.0/download')}`,
    ])
    const answer = await world.nobody.get(at('down/aws', '/1.0.0/download'), bearer(ana.token))
    expect([answer.status, answer.body]).toEqual([204, ''])
    const address = answer.headers.get('x-terraform-get') ?? ''
    expect(address).toMatch(
      /^\/api\/v4\/packages\/terraform\/modules\/v1\/acme\/down\/aws\/1\.0\.0\/file\?token=[\w.-]+&archive=tgz$/,
    )
    const path = address.replace('/api/v4', '')
    const got = await bytesAt(path, {})
    expect([got.status, got.bytes.equals(archive)]).toEqual([200, true])
    expect(got.headers.get('content-disposition')).toBe('attachment; filename="down-aws-1.0.0.tgz"')
    // What the token stands for is more than this file; where it is good for is this protocol.
    const token = new URL(address, world.url).searchParams.get('token')
    expect((await world.nobody.get(`/user?private_token=${token}`)).status).toBe(401)
    expect((await world.nobody.get(path.replace(/token=[^&]*/, 'token='))).status).toBe(401)
    expect((await world.nobody.get(path.replace(/token=[^&]*/, `token=${ana.token}`))).status).toBe(
      200,
    )
  })

  test('gives a token that ends with the one that asked for it', async () => {
    await published('ends/aws', '1.0.0')
    const bob = await world.user('ends')
    await addMember(world, projectId, bob.id, 20)
    const asked = await bob.get(at('ends/aws', '/1.0.0/download'))
    const path = (asked.headers.get('x-terraform-get') ?? '').replace('/api/v4', '')
    expect((await world.nobody.get(path)).status).toBe(200)
    await ana.delete(`/projects/${projectId}/members/${bob.id}`)
    expect((await world.nobody.get(path)).status).toBe(403)
  })
})

describe('a module', () => {
  test('of a project in a subgroup is below the group at the top', async () => {
    const id = await newProject('deep', { namespace_id: subId })
    expect((await publish('deep/aws', '1.0.0', id)).status).toBe(201)
    expect((await ana.get(at('deep/aws'))).body.source).toBe(
      `${world.ctx.config.externalUrl}/acme/sub/deep`,
    )
    for (const root of ['sub', 'acme%2fsub', 'none', '..']) {
      expect([root, (await ana.get(at('deep/aws', '/versions', root))).status]).toEqual([root, 404])
    }
  })

  test('of somebody’s own project is below their name', async () => {
    const own = (await createProject(ana, 'own', { visibility: 'public' })).id
    expect((await publish('own/aws', '1.0.0', own)).status).toBe(201)
    expect((await world.nobody.get(at('own/aws', '', 'ana'))).body.version).toBe('1.0.0')
    const download = await world.nobody.get(at('own/aws', '/1.0.0/download', 'ana'))
    const address = download.headers.get('x-terraform-get') ?? ''
    expect(address).toContain('/file?token=&archive=tgz')
    expect((await bytesAt(address.replace('/api/v4', ''), {})).bytes.equals(archive)).toBe(true)
  })

  test.each([
    ['a name in capitals', 'Vpc/aws', '1.0.0', 422, 'Validation failed: Name is invalid'],
    ['a name with a line below', 'my_vpc/aws', '1.0.0', 422, 'Validation failed: Name is invalid'],
    ['a system with a dot', 'vpc/a.b', '1.0.0', 422, 'Validation failed: Name is invalid'],
    [
      'a name that is too long',
      `${'a'.repeat(65)}/aws`,
      '1.0.0',
      422,
      'Validation failed: Name is invalid',
    ],
    ['a step up', '%2e%2e%2f/aws', '1.0.0', 422, 'Validation failed: Name is invalid'],
    ['a version with a letter', 'vpc/aws', 'v1.0.0', 400, '400 Bad request - version is invalid'],
    ['a version of two numbers', 'vpc/aws', '1.0', 400, '400 Bad request - version is invalid'],
    [
      'a version with a zero before',
      'vpc/aws',
      '01.0.0',
      400,
      '400 Bad request - version is invalid',
    ],
    ['a version with a space', 'vpc/aws', '1.0.0%20', 400, '400 Bad request - version is invalid'],
  ])('is refused with %s', async (_what, name, version, status, message) => {
    const answer = await publish(name, version)
    expect([answer.status, answer.body.message]).toEqual([status, message])
  })

  test('has each version once, whoever is first of many', async () => {
    const sent = await Promise.all(Array.from({ length: 6 }, () => publish('raced/aws', '1.0.0')))
    expect(sent.map((one) => one.status).sort()).toEqual([201, ...Array(5).fill(403)])
    const refused = await publish('raced/aws', '1.0.0')
    expect([refused.status, refused.body.message]).toEqual([
      403,
      'A module with the same name & version already exists in the project.',
    ])
  })

  test('has one project in its namespace, also when several want it at once', async () => {
    const ids = await Promise.all([1, 2, 3].map((number) => newProject(`wants${number}`)))
    const sent = await Promise.all(ids.map((id) => publish('wanted/aws', '1.0.0', id)))
    expect(sent.map((one) => one.status).sort()).toEqual([201, 403, 403])
    const loser = ids[sent.findIndex((one) => one.status === 403)] ?? 0
    const refused = await publish('wanted/aws', '2.0.0', loser)
    expect([refused.status, refused.body.message]).toEqual([
      403,
      'A module with the same name already exists in the namespace.',
    ])
    expect((await publish('wanted/gcp', '1.0.0', loser)).status).toBe(201)
    const other = (await createGroup(ana, 'other')).id
    const elsewhere = await newProject('elsewhere', { namespace_id: other })
    expect((await publish('wanted/aws', '1.0.0', elsewhere)).status).toBe(201)
  })

  test('that was deleted may be published again', async () => {
    await published('again/aws', '1.0.0')
    const list = `/projects/${projectId}/packages?package_type=terraform_module&package_name=again`
    const [row] = (await ana.get(list)).body
    expect(row).toMatchObject({
      name: 'again/aws',
      version: '1.0.0',
      package_type: 'terraform_module',
    })
    expect((await ana.delete(`/projects/${projectId}/packages/${row.id}`)).status).toBe(204)
    expect((await ana.get(at('again/aws'))).status).toBe(404)
    await published('again/aws', '1.0.0')
  })

  test('leaves nothing when its upload breaks off, or is too large', async () => {
    const client = await RawClient.open(world.url)
    const headers = { 'PRIVATE-TOKEN': ana.token ?? '', 'Content-Length': 5000 }
    client
      .write(headOf(`PUT /api/v4${fileAt('cut/aws', '1.0.0')}`, headers))
      .write('half')
      .socket.end()
    await client.whole()
    expect((await ana.get(at('cut/aws'))).status).toBe(404)
    const limit = (bytes: number) =>
      world.root.put('/application/plan_limits', {
        plan_name: 'default',
        terraform_module_max_file_size: bytes,
      })
    await limit(10)
    const refused = await publish('cut/aws', '1.0.0')
    expect([refused.status, refused.body.message]).toEqual([
      400,
      '400 Bad request - File is too large',
    ])
    await limit(1024 ** 3)
    await published('cut/aws', '1.0.0')
  })
})

describe('a project', () => {
  const own = (rest = '') => `/projects/${projectId}/packages/terraform/modules/${rest}`

  test('serves its modules itself: the highest version, or one', async () => {
    await published('direct/aws', '1.0.0', '1.10.0', '1.9.0')
    for (const path of ['direct/aws', 'direct/aws/1.9.0']) {
      const got = await bytesAt(own(path), { 'PRIVATE-TOKEN': ana.token ?? '' })
      expect([path, got.status, got.bytes.equals(archive)]).toEqual([path, 200, true])
    }
    const head = await ana.head(own('direct/aws'))
    expect([head.status, head.headers.get('content-disposition')]).toEqual([
      200,
      'attachment; filename="direct-aws-1.10.0.tgz"',
    ])
    for (const [path, version] of [
      ['direct/aws', '1.10.0'],
      ['direct/aws/1.0.0', '1.0.0'],
    ]) {
      const answer = await ana.get(own(`${path}?terraform-get=1`))
      expect([answer.status, answer.headers.get('x-terraform-get')]).toEqual([
        204,
        `${world.ctx.config.externalUrl}/api/v4${own(`direct/aws/${version}`)}?archive=tgz`,
      ])
    }
    expect((await ana.get(own('direct/aws?terraform-get=0'))).status).toBe(200)
    for (const path of ['direct/aws/2.0.0', 'direct/gcp', 'none/aws']) {
      expect([path, (await ana.get(own(path))).status]).toEqual([path, 404])
    }
  })

  test('asks who has not signed in to do so, by Basic', async () => {
    for (const path of ['direct/aws', 'direct/aws/1.0.0', 'none/aws']) {
      const answer = await world.nobody.get(own(path))
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
        401,
        'Basic realm="svc Packages Registry"',
      ])
    }
    for (const [name, status] of [
      ['ana', 200],
      ['any', 401],
    ]) {
      const pair = Buffer.from(`${name}:${ana.token}`).toString('base64')
      const basic = { headers: { Authorization: `Basic ${pair}` } }
      expect((await world.nobody.get(own('direct/aws'), basic)).status).toBe(status)
    }
  })
})

describe('permissions', () => {
  test.each([
    [0, 403, 404],
    [10, 200, 403],
    [20, 200, 403],
    [30, 200, 201],
    [40, 200, 201],
  ])('of the level %d: reading answers %d, publishing %d', async (level, read, write) => {
    if (level === 0) await published('ruled/aws', '1.0.0')
    const who = await world.user(`tf${level}`)
    if (level > 0) await addMember(world, projectId, who.id, level)
    for (const path of ['/versions', '', '/1.0.0']) {
      expect([path, (await who.get(at('ruled/aws', path))).status]).toEqual([path, read])
    }
    const download = await who.get(at('ruled/aws', '/1.0.0/download'))
    expect(download.status).toBe(read === 200 ? 204 : read)
    expect((await publish('ruled/aws', `2.0.${level}`, projectId, who)).status).toBe(write)
  })

  test('of who has not signed in: a challenge for a private group, whatever is asked for', async () => {
    for (const path of ['/versions', '', '/1.0.0', '/download', '/1.0.0/download', '/1.0.0/file']) {
      for (const name of ['ruled/aws', 'none/aws']) {
        expect([path, (await world.nobody.get(at(name, path))).status]).toEqual([path, 401])
      }
    }
    expect((await publish('ruled/aws', '9.0.0', projectId, world.nobody)).status).toBe(401)
  })

  test('of a public group: what is public is read by everybody, and the rest by its members', async () => {
    const group = { name: 'open', path: 'open', visibility: 'public' }
    const { id: openId } = (await ana.post('/groups', group)).body
    const shown = await newProject('shown', { namespace_id: openId, visibility: 'public' })
    const hidden = await newProject('hidden', { namespace_id: openId, visibility: 'private' })
    await publish('shown/aws', '1.0.0', shown)
    await publish('hidden/aws', '1.0.0', hidden)
    const versions = async (name: string, who: Caller) => {
      const { body } = await who.get(at(name, '/versions', 'open'))
      return body.modules[0].versions.length
    }
    const bob = await world.user('openbob')
    for (const who of [world.nobody, bob]) {
      expect([await versions('shown/aws', who), await versions('hidden/aws', who)]).toEqual([1, 0])
      expect((await who.get(at('hidden/aws', '/1.0.0', 'open'))).status).toBe(404)
    }
    expect(await versions('hidden/aws', ana)).toBe(1)
    await ana.put(`/projects/${shown}`, { package_registry_access_level: 'disabled' })
    expect(await versions('shown/aws', ana)).toBe(0)
    expect((await publish('shown/aws', '2.0.0', shown)).status).toBe(403)
  })

  test('of tokens: those that read packages read, and those that write publish', async () => {
    const deploy = async (scopes: readonly string[]) =>
      (await ana.post(`/projects/${projectId}/deploy_tokens`, { name: 'd', scopes })).body.token
    const reader = await deploy(['read_package_registry'])
    const writer = await deploy(['write_package_registry'])
    const other = await deploy(['read_repository'])
    const put = (header: string, token: string, version: string) =>
      publish('tokens/aws', version, projectId, world.withHeader(header, token))
    expect((await put('DEPLOY-TOKEN', reader, '1.0.0')).status).toBe(401)
    expect((await put('DEPLOY-TOKEN', writer, '1.0.0')).status).toBe(201)
    expect(
      (await put('PRIVATE-TOKEN', await world.token(ana.id, ['read_api']), '1.1.0')).status,
    ).toBe(403)
    const list = at('tokens/aws', '/versions')
    expect((await world.nobody.get(list, bearer(reader))).body.modules[0].versions).toHaveLength(1)
    expect((await world.nobody.get(list, bearer(other))).status).toBe(401)
    expect((await world.nobody.get(list, bearer('wrong'))).status).toBe(401)
  })
})
