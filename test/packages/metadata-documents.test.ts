import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { readNpmMetadata } from '../../src/packages/npm/metadata.ts'
import { answerDocument } from '../../src/packages/registry/documents.ts'
import { createGroup, createProject } from '../support/create.ts'
import { useCaller, useWorld } from '../support/world.ts'
import { documentOf } from './npm-document.ts'
import { tarballOf } from './tarball.ts'
import { zipOf } from './zip-file.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')
let groupId: number
let projectId: number
let at: string
let group: string

beforeAll(async () => {
  groupId = (await createGroup(ana, 'acme')).id
  projectId = (await createProject(ana, 'p', { namespace_id: groupId })).id
  at = `/projects/${projectId}/packages`
  group = `/groups/${groupId}/-/packages`
  const actions = [
    { action: 'create', file_path: 'composer.json', content: '{"name":"acme/tool"}' },
  ]
  const commit = { branch: 'main', commit_message: 'one', actions }
  await ana.post(`/projects/${projectId}/repository/commits`, commit)
  for (const tag of ['v1.0.0', 'v2.0.0'])
    await ana.post(`/projects/${projectId}/repository/tags?tag_name=${tag}&ref=main`)
})

function formOf(field: string, file: Buffer<ArrayBuffer>, name: string, more = {}) {
  const form = new FormData()
  for (const [key, value] of Object.entries<string>(more)) form.set(key, value)
  form.set(field, new Blob([file]), name)
  return form
}

interface Format {
  publish(version: string): Promise<{ readonly status: number }>
  /** Where clients look for the versions. */
  readonly paths: () => readonly string[]
}

const composerRoot = () => `/group/${groupId}/-/packages/composer/p2/acme/tool.json`

const formats: Readonly<Record<string, Format>> = {
  npm: {
    publish: async (version) => ana.put(`${at}/npm/tool`, await documentOf('tool', version)),
    paths: () => [`${at}/npm/tool`, `${group}/npm/tool`],
  },
  pypi: {
    publish: (version) =>
      ana.post(`${at}/pypi`, undefined, {
        raw: formOf('content', Buffer.from(version), `tool-${version}.tar.gz`, {
          name: 'tool',
          version,
        }),
      }),
    paths: () => [`${at}/pypi/simple/tool`, `${group}/pypi/simple/tool`],
  },
  nuget: {
    async publish(version) {
      const nuspec = `<package><metadata><id>tool</id><version>${version}</version><authors>a</authors><description>d</description></metadata></package>`
      const raw = formOf('package', await zipOf({ 'tool.nuspec': nuspec }), 'p.nupkg')
      return ana.put(`${at}/nuget`, undefined, { raw })
    },
    paths: () => [
      `${at}/nuget/metadata/tool/index.json`,
      `${at}/nuget/download/tool/index.json`,
      `${at}/nuget/query?q=tool`,
      `${group}/nuget/metadata/tool/index.json`,
    ],
  },
  helm: {
    async publish(version) {
      const yaml = `apiVersion: v2\nname: tool\nversion: ${version}\n`
      const raw = formOf('chart', await tarballOf({ 'tool/Chart.yaml': yaml }), 'c.tgz')
      return ana.post(`${at}/helm/api/stable/charts`, undefined, { raw })
    },
    paths: () => [`${at}/helm/stable/index.yaml`],
  },
  composer: {
    publish: (version) => ana.post(`${at}/composer`, { tag: `v${version}` }),
    paths: () => [composerRoot()],
  },
  terraform_module: {
    publish: async (version) =>
      ana.put(`${at}/terraform/modules/tool/local/${version}/file`, undefined, {
        raw: await tarballOf({ 'main.tf': '' }),
      }),
    paths: () => ['/packages/terraform/modules/v1/acme/tool/local/versions'],
  },
}

/** Which of the versions each of the documents names. */
async function versionsIn(format: Format): Promise<string[]> {
  const found: string[] = []
  for (const path of format.paths()) {
    const reply = await ana.get(path)
    const text = reply.status === 404 ? '' : JSON.stringify(reply.body)
    found.push(['1.0.0', '2.0.0'].filter((version) => text.includes(version)).join(' '))
  }
  return found
}

test.each(Object.keys(formats))(
  'the metadata of %s follows each publication and deletion, in project and group',
  async (type) => {
    const format = formats[type] as Format
    const all = (versions: string) => format.paths().map(() => versions)
    expect((await format.publish('1.0.0')).status).toBeLessThan(300)
    expect(await versionsIn(format)).toEqual(all('1.0.0'))
    expect((await format.publish('2.0.0')).status).toBeLessThan(300)
    expect(await versionsIn(format)).toEqual(all('1.0.0 2.0.0'))
    const rows = (await ana.get(`${at}?package_type=${type}&order_by=version`)).body
    expect((await ana.delete(`${at}/${rows[0].id}`)).status).toBe(204)
    expect(await versionsIn(format)).toEqual(all('2.0.0'))
    expect((await format.publish('1.0.0')).status).toBeLessThan(300)
    expect(await versionsIn(format)).toEqual(all('1.0.0 2.0.0'))
    for (const row of (await ana.get(`${at}?package_type=${type}`)).body)
      expect((await ana.delete(`${at}/${row.id}`)).status).toBe(204)
    expect(await versionsIn(format)).toEqual(all(''))
  },
)

test.each(['npm', 'pypi', 'helm', 'nuget'])(
  'a file of %s that was deleted is in no metadata, and the version is free again',
  async (type) => {
    const format = formats[type] as Format
    await format.publish('1.0.0')
    const [row] = (await ana.get(`${at}?package_type=${type}`)).body
    const [file] = (await ana.get(`${at}/${row.id}/package_files`)).body
    expect((await ana.delete(`${at}/${row.id}/package_files/${file.id}`)).status).toBe(204)
    const [first] = await versionsIn(format)
    // NuGet lists versions, not files.
    expect(first).toBe(type === 'nuget' ? '1.0.0' : '')
    expect((await ana.delete(`${at}/${row.id}`)).status).toBe(204)
    expect((await format.publish('1.0.0')).status).toBeLessThan(300)
    expect((await versionsIn(format))[0]).toBe('1.0.0')
  },
)

test('sources of Composer are where their project is, whatever it was called before', async () => {
  await formats.composer?.publish('1.0.0')
  const source = async () =>
    (await ana.get(composerRoot())).body.packages['acme/tool']['1.0.0'].source.url
  expect(await source()).toBe('git@127.0.0.1:acme/p.git')
  expect((await ana.put(`/projects/${projectId}`, { path: 'renamed' })).status).toBe(200)
  expect(await source()).toBe('git@127.0.0.1:acme/renamed.git')
  await ana.put(`/groups/${groupId}`, { visibility: 'public' })
  await ana.put(`/projects/${projectId}`, { visibility: 'public' })
  expect(await source()).toBe(`${world.ctx.config.externalUrl}/acme/renamed.git`)
})

test('addresses in metadata are those of the server, also after it was given another', async () => {
  await ana.put(`${at}/npm/moved`, await documentOf('moved', '1.0.0'))
  const tarball = async (externalUrl: string) => {
    const ctx = { ...world.ctx, config: { ...world.ctx.config, externalUrl } }
    const found = await readNpmMetadata(ctx, { name: 'moved', projectIds: [projectId] }, 'full')
    const text = gunzipSync(found?.content ?? Buffer.alloc(0)).toString()
    return JSON.parse(text).versions['1.0.0'].dist.tarball as string
  }
  for (const url of ['https://old.example', 'https://new.example/git', 'https://old.example'])
    expect((await tarball(url)).startsWith(`${url}/api/v4/projects/${projectId}/`)).toBe(true)
})

test('what nobody published is answered without writing anything, whatever name is asked for', async () => {
  const refuse = sql`CREATE TRIGGER no_documents BEFORE INSERT ON package_documents
    BEGIN SELECT raise(ABORT, 'written'); END`
  await refuse.execute(world.ctx.db)
  try {
    const paths = ['npm/nobodys', 'pypi/simple/nobodys', 'nuget/metadata/nobodys/index.json']
    for (const path of paths) expect((await ana.get(`${at}/${path}`)).status).toBe(404)
    const index = await ana.get(`${at}/helm/nobodys/index.yaml`)
    expect([index.status, parse(index.body).entries]).toEqual([200, {}])
  } finally {
    await sql`DROP TRIGGER no_documents`.execute(world.ctx.db)
  }
})

test('a document whose bytes are damaged breaks off alone, also before anybody reads it', async () => {
  const document = { etag: 'W/"x"', content: Buffer.from('no gzip') }
  const { body } = answerDocument({ method: 'GET', headers: {} }, document, 'application/json')
  const stream = body as Readable // for a client that takes no gzip
  await new Promise((resolve) => stream.once('close', resolve))
  await expect(buffer(stream)).rejects.toThrow('incorrect header check')
})
