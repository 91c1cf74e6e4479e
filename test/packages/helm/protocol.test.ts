import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { createProject } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { headOf, RawClient } from '../../support/raw-request.ts'
import { useCaller, useWorld } from '../../support/world.ts'
import { tarballOf } from '../tarball.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')
let projectId: number
let at: string

beforeAll(async () => {
  projectId = (await createProject(ana, 'p', { visibility: 'private' })).id
  at = `/projects/${projectId}/packages/helm`
})

const yamlOf = (name: string, version: string, more = '') =>
  `apiVersion: v2\nname: ${name}\nversion: ${version}\n${more}`
const chartOf = (yaml: string, more = {}) => tarballOf({ 'chart/Chart.yaml': yaml, ...more })

function send(channel: string, raw: FormData, who = ana, query = '') {
  return who.post(`${at}/api/${channel}/charts${query}`, undefined, { raw })
}

async function upload(channel: string, yaml: string, who = ana, query = '') {
  const form = new FormData()
  const bytes = await chartOf(yaml)
  form.set('chart', new Blob([bytes]), 'any.tgz')
  return { answer: await send(channel, form, who, query), bytes }
}

async function published(channel: string, yaml: string) {
  const { answer, bytes } = await upload(channel, yaml)
  expect([answer.status, answer.body]).toEqual([201, { message: '201 Created' }])
  return bytes
}

const index = async (channel: string, who = ana) =>
  parse((await who.get(`${at}/${channel}/index.yaml`)).body)
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

describe('the index of a channel', () => {
  test('lists charts with all of their metadata, their digest and their address', async () => {
    const more =
      'appVersion: "1.10"\ndescription: A chart\nkeywords: [a, b]\ndependencies:\n- name: db\n  version: 1.x.x\n  repository: https://example.com\n'
    const bytes = await published('listed', yamlOf('web', '1.0.0', more))
    const answer = await ana.get(`${at}/listed/index.yaml`)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      'text/yaml; charset=utf-8',
    ])
    expect(parse(answer.body)).toEqual({
      apiVersion: 'v1',
      generated: world.ctx.now(),
      serverInfo: { contextPath: `/api/v4/projects/${projectId}/packages/helm` },
      entries: {
        web: [
          {
            apiVersion: 'v2',
            name: 'web',
            version: '1.0.0',
            appVersion: '1.10',
            description: 'A chart',
            keywords: ['a', 'b'],
            dependencies: [{ name: 'db', version: '1.x.x', repository: 'https://example.com' }],
            created: world.ctx.now(),
            digest: sha256(bytes),
            urls: ['charts/web-1.0.0.tgz'],
          },
        ],
      },
    })
    expect(answer.body).toMatch(/"appVersion":\s*"1\.10"/)
  })

  test('says its context by the number of the project, also when asked by its path', async () => {
    const { body } = await ana.get(`/projects/ana%2Fp/packages/helm/listed/index.yaml`)
    expect(parse(body).serverInfo.contextPath).toBe(`/api/v4/projects/${projectId}/packages/helm`)
  })

  test('is of its own charts, the newest first, and empty where nobody published', async () => {
    for (const version of ['1.0.0', '1.2.0', '1.1.0']) await published('own', yamlOf('a', version))
    await published('own', yamlOf('b', '1.0.0'))
    await published('beside', yamlOf('a', '9.0.0'))
    const { entries } = await index('own')
    const versions = (name: string) => entries[name].map((one: { version: string }) => one.version)
    expect([versions('a'), versions('b')]).toEqual([['1.1.0', '1.2.0', '1.0.0'], ['1.0.0']])
    expect(Object.keys((await index('beside')).entries)).toEqual(['a'])
    expect((await index('nobody')).entries).toEqual({})
  })

  test('has a chart once, by its newest file, and leaves nothing out for one that comes often', async () => {
    await published('often', yamlOf('rare', '1.0.0'))
    await published('often', yamlOf('busy', '1.0.0', 'description: old\n'))
    const { db } = world.ctx
    const { id: _, ...row } = await db
      .selectFrom('package_files')
      .selectAll()
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirstOrThrow()
    for (let from = 0; from < 1100; from += 550) {
      await db
        .insertInto('package_files')
        .values(Array.from({ length: 550 }, () => row))
        .execute()
    }
    await published('often', yamlOf('busy', '1.0.0', 'description: new\n'))
    const { entries } = await index('often')
    expect(Object.keys(entries).sort()).toEqual(['busy', 'rare'])
    expect(entries.busy).toMatchObject([{ description: 'new' }])
  })

  test('forgets a chart that was deleted, and one whose last file was', async () => {
    await published('gone', yamlOf('gone', '1.0.0'))
    await published('gone', yamlOf('gone', '1.1.0'))
    const rows = (
      await ana.get(`/projects/${projectId}/packages?package_name=gone&order_by=version`)
    ).body
    expect((await ana.delete(`/projects/${projectId}/packages/${rows[0].id}`)).status).toBe(204)
    expect((await index('gone')).entries.gone).toMatchObject([{ version: '1.1.0' }])
    expect((await ana.get(`${at}/gone/charts/gone-1.0.0.tgz`)).status).toBe(404)
    const files = `/projects/${projectId}/packages/${rows[1].id}/package_files`
    const [file] = (await ana.get(files)).body
    expect((await ana.delete(`${files}/${file.id}`)).status).toBe(204)
    expect((await index('gone')).entries).toEqual({})
  })
})

describe('a chart', () => {
  test('is downloaded as it was uploaded, from its channel alone', async () => {
    const bytes = await published('down', yamlOf('web', '2.0.0'))
    const file = `${at}/down/charts/web-2.0.0.tgz`
    const got = await fetch(`${world.url}/api/v4${file}`, {
      headers: { 'PRIVATE-TOKEN': ana.token ?? '' },
    })
    expect(Buffer.from(await got.arrayBuffer()).equals(bytes)).toBe(true)
    expect(Object.fromEntries(got.headers)).toMatchObject({
      'content-type': 'application/gzip',
      'content-disposition': 'attachment; filename="web-2.0.0.tgz"',
    })
    const head = await ana.head(file)
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(bytes.length)])
    for (const path of [
      'up/charts/web-2.0.0.tgz',
      'down/charts/web-2.0.1.tgz',
      'down/charts/any.tgz',
      'down/charts/web-2.0.0',
    ]) {
      expect([path, (await ana.get(`${at}/${path}`)).status]).toEqual([path, 404])
    }
  })

  test('in two channels is one package with two files, each of its own channel', async () => {
    const first = await published('left', yamlOf('twin', '1.0.0', 'description: left\n'))
    const second = await published('right', yamlOf('twin', '1.0.0', 'description: right\n'))
    expect((await index('left')).entries.twin).toMatchObject([
      { description: 'left', digest: sha256(first) },
    ])
    expect((await index('right')).entries.twin).toMatchObject([
      { description: 'right', digest: sha256(second) },
    ])
    const { body } = await ana.get(`/projects/${projectId}/packages?package_name=twin`)
    expect(body).toHaveLength(1)
    expect(body[0]).toMatchObject({ package_type: 'helm', name: 'twin', version: '1.0.0' })
  })

  test.each([
    ['1.0.0', 'x-1.0.0.tgz'],
    ['v1.0.0', 'x-v1.0.0.tgz'],
    ['1.0.0-rc.1', 'x-1.0.0-rc.1.tgz'],
    ['1.0.0+build.5', 'x-1.0.0+build.5.tgz'],
  ])('of the version %s is in %s', async (version, file) => {
    const channel = `v${version.length}`
    await published(channel, yamlOf('x', version))
    const [entry] = (await index(channel)).entries.x
    expect(entry.urls).toEqual([`charts/${file}`])
    expect((await ana.get(`${at}/${channel}/charts/${file}`)).status).toBe(200)
  })

  test.each(['1.0', '1', 'latest', 'vv1.0.0', '1.0.0 beta', '01.0.0', '"1.0.0/../x"', '1.10'])(
    'of the version %s is refused',
    async (version) => {
      const { answer } = await upload('badversion', yamlOf('x', version))
      const message = '400 Bad request - Chart.yaml has no valid version'
      expect([answer.status, answer.body]).toEqual([400, { error: message, message }])
    },
  )

  test.each(['a..b', '-a', 'a-', 'a/b', 'a b', '__proto__', '""', '[a]', 'ä', 'a'.repeat(256)])(
    'of the name %s is refused',
    async (name) => {
      const { answer } = await upload('badname', yamlOf(name, '1.0.0'))
      expect([answer.status, answer.body.error]).toEqual([
        400,
        '400 Bad request - Chart.yaml has no valid name',
      ])
    },
  )

  test.each(['constructor', 'toString', 'a.b_c-D9', 'a'.repeat(255)])(
    'may be called %s',
    async (name) => {
      await published('names', yamlOf(name, '1.0.0'))
      const { entries } = await index('names')
      expect(Object.hasOwn(entries, name)).toBe(true)
      expect(entries[name]).toHaveLength(1)
    },
  )

  test('is what its own Chart.yaml says, not those of the charts in it', async () => {
    const form = new FormData()
    const inner = { 'chart/charts/db/Chart.yaml': yamlOf('db', '5.0.0') }
    const bytes = await tarballOf({ ...inner, 'chart/Chart.yaml': yamlOf('outer', '1.0.0') })
    form.set('chart', new Blob([bytes]), 'c.tgz')
    expect((await send('nested', form)).status).toBe(201)
    expect(Object.keys((await index('nested')).entries)).toEqual(['outer'])
  })

  test('may be sent with its provenance, and with force, as plugins do', async () => {
    const form = new FormData()
    form.set('prov', new Blob(['signed']), 'x.tgz.prov')
    form.set('chart', new Blob([await chartOf(yamlOf('signed', '1.0.0'))]), 'x.tgz')
    expect((await send('plugin', form, ana, '?force')).status).toBe(201)
    expect((await send('plugin', form, ana, '?force=true')).status).toBe(201)
    expect((await index('plugin')).entries.signed).toHaveLength(1)
  })
})

describe('what is no upload', () => {
  test.each<[string, () => FormData]>([
    ['nothing', () => new FormData()],
    [
      'a chart that is a text',
      () => {
        const form = new FormData()
        form.set('chart', 'text')
        return form
      },
    ],
    [
      'a file in another part',
      () => {
        const form = new FormData()
        form.set('file', new Blob(['x']), 'c.tgz')
        return form
      },
    ],
    [
      'an empty file',
      () => {
        const form = new FormData()
        form.set('chart', new Blob([]), 'c.tgz')
        return form
      },
    ],
  ])('(%s) is refused in words that plugins read', async (_what, make) => {
    const answer = await send('refused', make())
    const message = '400 Bad request - chart is missing'
    expect([answer.status, answer.body]).toEqual([400, { error: message, message }])
  })

  test('(a body that is no form) is refused', async () => {
    const path = `${at}/api/refused/charts`
    for (const type of ['application/octet-stream', 'multipart/form-data', '']) {
      const headers = { 'Content-Type': type }
      const answer = await ana.post(path, undefined, { raw: 'bytes', headers })
      expect([type, answer.status, typeof answer.body.error]).toEqual([type, 400, 'string'])
    }
  })

  test('(a Chart.yaml of very many keys) is refused, and keeps nobody waiting', async () => {
    const keys = Array.from({ length: 60_000 }, (_, number) => `k${number}:`).join('\n')
    const waits: number[] = []
    const asking = setInterval(async () => {
      const begun = performance.now()
      await ana.get('/version')
      waits.push(performance.now() - begun)
    }, 200)
    const { answer } = await upload('stable', yamlOf('keys', '1.0.0', keys))
    clearInterval(asking)
    expect([answer.status, answer.body.error]).toEqual([
      400,
      '400 Bad request - Chart.yaml takes too long to read',
    ])
    expect(Math.max(...waits)).toBeLessThan(2000)
    const long = `description: ${'x'.repeat(100_000)}`
    await published('long', yamlOf('long', '1.0.0', long))
    expect((await index('long')).entries.long[0].description).toHaveLength(100_000)
  })

  test('(one that breaks off) leaves nothing', async () => {
    const client = await RawClient.open(world.url)
    const headers = {
      'PRIVATE-TOKEN': ana.token ?? '',
      'Content-Type': 'multipart/form-data; boundary=x',
      'Content-Length': 5000,
    }
    client.write(headOf(`POST /api/v4${at}/api/cut/charts`, headers))
    client.write(
      '--x\r\nContent-Disposition: form-data; name="chart"; filename="c.tgz"\r\n\r\nhalf',
    )
    client.socket.end()
    await client.whole()
    expect((await index('cut')).entries).toEqual({})
    await published('cut', yamlOf('whole', '1.0.0'))
  })

  test('(a file over the limit of the plan) is refused, and what is within it is taken', async () => {
    const set = (value: number) =>
      world.root.put('/application/plan_limits', {
        plan_name: 'default',
        helm_max_file_size: value,
      })
    const { bytes } = await upload('limit', yamlOf('small', '1.0.0'))
    await set(bytes.length - 1)
    const { answer } = await upload('limit', yamlOf('small', '1.0.0'))
    expect([answer.status, answer.body.error]).toEqual([400, '400 Bad request - File is too large'])
    await set(bytes.length)
    expect((await upload('limit', yamlOf('small', '1.0.0'))).answer.status).toBe(201)
    await set(5 * 1024 * 1024)
  })

  test.each(['a..b', '-a', 'a-', 'a b', '%2e%2e', 'a%2fb', 'ä', 'a'.repeat(256)])(
    '(one to the channel %s) is refused, and there is nothing to read',
    async (channel) => {
      const { answer } = await upload(channel, yamlOf('x', '1.0.0'))
      expect([400, 404]).toContain(answer.status)
      expect([400, 404]).toContain((await ana.get(`${at}/${channel}/index.yaml`)).status)
    },
  )
})

describe('permissions', () => {
  test.each([
    [0, 404, 404],
    [10, 200, 403],
    [20, 200, 403],
    [30, 200, 201],
    [40, 200, 201],
  ])('of the level %d: reading answers %d, publishing %d', async (level, read, write) => {
    await published('ruled', yamlOf('ruled', '1.0.0'))
    const who = await world.user(`helm${level}`)
    if (level > 0) await addMember(world, projectId, who.id, level)
    expect((await who.get(`${at}/ruled/index.yaml`)).status).toBe(read)
    expect((await who.get(`${at}/ruled/charts/ruled-1.0.0.tgz`)).status).toBe(read)
    const { answer } = await upload('ruled', yamlOf('by', `1.0.${level}`), who)
    expect(answer.status).toBe(write)
    if (write !== 201) expect(typeof answer.body.error).toBe('string')
  })

  test('of who has not signed in: a challenge, which shows nothing of what is there', async () => {
    for (const path of [
      `${at}/ruled/index.yaml`,
      `${at}/none/index.yaml`,
      '/projects/0/packages/helm/x/index.yaml',
      `${at}/ruled/charts/ruled-1.0.0.tgz`,
    ]) {
      const answer = await world.nobody.get(path)
      expect([path, answer.status, answer.headers.get('www-authenticate'), answer.body]).toEqual([
        path,
        401,
        'Basic realm="svc Packages Registry"',
        { error: '401 Unauthorized', message: '401 Unauthorized' },
      ])
    }
    expect((await upload('ruled', yamlOf('x', '1.0.0'), world.nobody)).answer.status).toBe(401)
  })

  test('by Basic with each kind of token, whatever the user name', async () => {
    const scopes = ['read_package_registry']
    const made = (await ana.post(`/projects/${projectId}/deploy_tokens`, { name: 'd', scopes }))
      .body
    for (const secret of [ana.token, made.token, await world.token(ana.id, ['read_api'])]) {
      const pair = Buffer.from(`whoever:${secret}`).toString('base64')
      const basic = { headers: { Authorization: `Basic ${pair}` } }
      expect((await world.nobody.get(`${at}/ruled/index.yaml`, basic)).status).toBe(200)
    }
    const pair = Buffer.from('ana:wrong').toString('base64')
    const wrong = await world.nobody.get(`${at}/ruled/index.yaml`, {
      headers: { Authorization: `Basic ${pair}` },
    })
    expect([wrong.status, wrong.headers.get('www-authenticate')]).toEqual([
      401,
      'Basic realm="svc Packages Registry"',
    ])
  })

  test('of a public project: everybody installs, nobody else publishes', async () => {
    const { id } = await createProject(ana, 'open', { visibility: 'public' })
    const root = `/projects/${id}/packages/helm`
    const form = new FormData()
    form.set('chart', new Blob([await chartOf(yamlOf('open', '1.0.0'))]), 'c.tgz')
    expect((await ana.post(`${root}/api/stable/charts`, undefined, { raw: form })).status).toBe(201)
    expect((await world.nobody.get(`${root}/stable/charts/open-1.0.0.tgz`)).status).toBe(200)
    const stranger = await world.user('helmstranger')
    expect(
      (await stranger.post(`${root}/api/stable/charts`, undefined, { raw: form })).status,
    ).toBe(403)
    await ana.put(`/projects/${id}`, { package_registry_access_level: 'disabled' })
    expect((await ana.get(`${root}/stable/index.yaml`)).status).toBe(403)
    expect((await world.nobody.get(`${root}/stable/index.yaml`)).status).toBe(401)
  })
})

test('of many who publish one version at once all succeed, and one file is served', async () => {
  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, number) =>
      upload('raced', yamlOf('raced', '1.0.0', `description: n${number}\n`)),
    ),
  )
  expect(answers.map(({ answer }) => answer.status)).toEqual(Array(6).fill(201))
  const [entry] = (await index('raced')).entries.raced
  const served = await fetch(`${world.url}/api/v4${at}/raced/charts/raced-1.0.0.tgz`, {
    headers: { 'PRIVATE-TOKEN': ana.token ?? '' },
  })
  expect(sha256(Buffer.from(await served.arrayBuffer()))).toBe(entry.digest)
})
