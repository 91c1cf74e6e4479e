import { readdirSync } from 'node:fs'
import { request as ask } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { createGzip } from 'node:zlib'
import archiver from 'archiver'
import { pack } from 'tar-stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createProject } from '../support/create.ts'
import {
  type ClientFolders,
  commitFile,
  makeProject,
  openClientFolders,
} from '../support/git-client.ts'
import { useCaller, useWorld } from '../support/world.ts'
import { zipOf } from './zip-file.ts'

const MEGABYTES = 100
const mebibyte = 1024 * 1024
/** Less than the document. */
const MOST_GROWTH = 64 * mebibyte
const piece = Buffer.alloc(mebibyte, 'x')

const world = useWorld()
const ana = useCaller(world, 'ana')
let at: string
let folders: ClientFolders

beforeAll(async () => {
  const project = await createProject(ana, 'p')
  at = `/projects/${project.id}/packages`
  folders = openClientFolders()
})
afterAll(() => folders.clear())

type Pieces = Iterable<Buffer> | AsyncIterable<Buffer>

function* between(start: string, end = ''): Generator<Buffer> {
  yield Buffer.from(start)
  for (let n = 0; n < MEGABYTES; n += 1) yield piece
  yield Buffer.from(end)
}

interface Sent {
  readonly method?: 'POST' | 'PUT'
  readonly path: string
  readonly type?: string
  readonly body: Pieces
}

/** Sends a body in pieces; gives the answer and by how much the process, which is server and client, grew meanwhile. */
async function send({ method = 'PUT', path, type = 'application/octet-stream', body }: Sent) {
  const before = process.memoryUsage.rss()
  let most = before
  const watched = async function* () {
    for await (const chunk of body) {
      most = Math.max(most, process.memoryUsage.rss())
      yield chunk
    }
  }
  const headers = { 'PRIVATE-TOKEN': ana.token ?? '', 'Content-Type': type }
  const request = ask(`${world.url}/api/v4${at}${path}`, { method, headers, agent: false })
  const answer = await new Promise<{ status: number; text: string }>((resolve, reject) => {
    request.on('response', (reply) => {
      const status = reply.statusCode ?? 0
      buffer(reply).then((bytes) => resolve({ status, text: bytes.toString() }), reject)
    })
    request.on('error', reject)
    Readable.from(watched()).pipe(request)
  })
  return { ...answer, growth: Math.max(most, process.memoryUsage.rss()) - before }
}

const BOUNDARY = 'a-boundary-of-the-test'
const FORM = `multipart/form-data; boundary=${BOUNDARY}`

function field(name: string, fileName?: string): string {
  const file = fileName === undefined ? '' : `; filename="${fileName}"`
  return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n`
}
const END = `\r\n--${BOUNDARY}--\r\n`

function* fileForm(name: string, fileName: string, content: Buffer): Generator<Buffer> {
  yield Buffer.from(field(name, fileName))
  yield content
  yield Buffer.from(END)
}

function pypiForm(more: Iterable<Buffer>): Iterable<Buffer> {
  const pair = (name: string, value: string) => Buffer.from(`${field(name)}${value}\r\n`)
  return [
    pair('name', 'big'),
    pair('version', '1.0'),
    ...more,
    Buffer.from(`\r\n${field('content', 'big-1.0.tar.gz')}bytes${END}`),
  ]
}

/** A tarball with one file of so many bytes, which takes a hundredth of that. */
async function tarballOf(name: string): Promise<Buffer> {
  const tar = pack()
  const entry = tar.entry({ name, size: MEGABYTES * mebibyte }, () => tar.finalize())
  Readable.from(between('')).pipe(entry)
  return await buffer(tar.pipe(createGzip({ level: 1 })))
}

async function zipFileOf(name: string): Promise<Buffer> {
  const zip = archiver('zip')
  zip.append(Readable.from(between('<package>', '</package>')), { name })
  void zip.finalize()
  return await buffer(zip)
}

const MAVEN = '/maven/org/big/tool'
const CONAN = '/conan/v2/conans/big/1.0/_/_/revisions'
const INFO = `${CONAN}/${'a'.repeat(32)}/packages/${'b'.repeat(40)}/revisions/${'c'.repeat(32)}/files/conaninfo.txt`

describe('a metadata document of a hundred megabytes is refused in little memory', () => {
  test.each<[string, string, () => Promise<Sent> | Sent]>([
    [
      'the fields of a Python package',
      'The form is too large',
      () => {
        const fields = Array.from({ length: MEGABYTES }, (_, n) => [
          Buffer.from(field(`field${n}`)),
          piece,
          Buffer.from('\r\n'),
        ])
        return { method: 'POST', path: '/pypi', type: FORM, body: pypiForm(fields.flat()) }
      },
    ],
    [
      'the nuspec of a NuGet package',
      'Big.nuspec is too large',
      async () => {
        const body = fileForm('package', 'big.nupkg', await zipFileOf('Big.nuspec'))
        return { path: '/nuget', type: FORM, body }
      },
    ],
    [
      'the Chart.yaml of a Helm chart',
      'Chart.yaml in the tarball is too large',
      async () => {
        const body = fileForm('chart', 'big.tgz', await tarballOf('big/Chart.yaml'))
        return { method: 'POST', path: '/helm/api/stable/charts', type: FORM, body }
      },
    ],
    [
      'the metadata of a Maven artifact',
      'maven-metadata.xml is too large',
      () => ({
        path: `${MAVEN}/maven-metadata.xml`,
        body: between('<metadata><a>', '</a></metadata>'),
      }),
    ],
    [
      'the pom of a Maven artifact',
      'The pom is too large',
      () => ({
        path: `${MAVEN}/1/tool-1.pom`,
        body: between('<project><a>', '</a></project>'),
      }),
    ],
    [
      'the checksum of a Maven artifact',
      'The body is too large',
      () => ({ path: `${MAVEN}/1/tool-1.jar.sha1`, body: between('') }),
    ],
    [
      'what a Conan package says of itself',
      'conaninfo.txt is too large',
      () => ({ path: INFO, body: between('[settings]\n') }),
    ],
    [
      'the list of files of a Conan recipe',
      'The body is too large',
      () => ({
        method: 'POST',
        path: '/conan/v1/conans/big/1.0/org/stable/upload_urls',
        body: between('{"', '":1}'),
      }),
    ],
  ])(
    '%s',
    async (_what, words, make) => {
      const { status, text, growth } = await send(await make())
      expect([status, text]).toEqual([400, expect.stringContaining(words)])
      expect(growth).toBeLessThan(MOST_GROWTH)
      const listed = await ana.get(`${at}?include_versionless=true`)
      expect(listed.body).toEqual([])
      expect(readdirSync(join(world.folder, 'files', 'tmp'))).toEqual([])
    },
    60_000,
  )

  test('the composer.json of a commit', async () => {
    const from = await folders.repository()
    const text = `{"name":"acme/big","a":"${'x'.repeat(8 * mebibyte)}"}`
    await commitFile(from, 'composer.json', text, 'Big')
    const { id } = await makeProject(world, ana, 'composer', { from })
    const refused = await ana.post(`/projects/${id}/packages/composer`, { branch: 'main' })
    expect([refused.status, refused.body.message]).toEqual([
      422,
      'The file composer.json is too large.',
    ])
  }, 60_000)
})

test('metadata of a million elements is refused in no time', async () => {
  const elements = '<a/>'.repeat(1_000_000)
  const metadata = [Buffer.from(`<metadata>${elements}</metadata>`)]
  const nuspec = await zipOf({ 'Big.nuspec': `<package>${elements.slice(0, 4_000_000)}</package>` })
  const begun = performance.now()
  const put = await send({ path: `${MAVEN}/maven-metadata.xml`, body: metadata })
  expect([put.status, put.text]).toEqual([400, expect.stringContaining('no valid XML')])
  const body = fileForm('package', 'big.nupkg', nuspec)
  const pushed = await send({ path: '/nuget', type: FORM, body })
  expect([pushed.status, pushed.text]).toEqual([400, expect.stringContaining('no valid XML')])
  expect(performance.now() - begun).toBeLessThan(1500)
})

test('the description of a Python package is cut, however long it is', async () => {
  const description = [Buffer.from(field('description')), ...between('', '')]
  const body = pypiForm(description)
  const { status, growth } = await send({ method: 'POST', path: '/pypi', type: FORM, body })
  expect(status).toBe(201)
  expect(growth).toBeLessThan(MOST_GROWTH)
})

test('files that no server reads are stored, whatever their size', async () => {
  const manifest = `${CONAN}/${'a'.repeat(32)}/files/conanmanifest.txt`
  for (const path of [manifest, '/terraform/modules/big/aws/1.0.0/file']) {
    const { status, growth } = await send({ path, body: between('') })
    expect(status).toBeLessThan(300)
    expect(growth).toBeLessThan(MOST_GROWTH)
  }
})
