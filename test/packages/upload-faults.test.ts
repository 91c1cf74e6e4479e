import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup } from '../support/create.ts'
import { type Reply, useCaller, useWorld } from '../support/world.ts'
import { documentOf } from './npm-document.ts'
import {
  nupkgOf,
  nuspecOf,
  publishNpm,
  pushNuget,
  putGeneric,
  putMaven,
  uploadPypi,
} from './publishing.ts'
import { tarballOf } from './tarball.ts'
import { zipOf } from './zip-file.ts'

const QUOTA = 60_000
let groupId: number
let projectId: number
let at: string

const world = useWorld({ maxProjectPackages: QUOTA }, { background: false })
const ana = useCaller(world, 'ana')
beforeAll(async () => {
  groupId = (await createGroup(ana, 'acme')).id
  projectId = await newProject('p')
  at = `/projects/${projectId}/packages`
})

async function newProject(name: string): Promise<number> {
  return (await ana.post('/projects', { name, namespace_id: groupId })).body.id
}

/** Begins an upload whose last bytes come once it is released. */
function beginUpload(path: string) {
  let release: () => void = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const body = new ReadableStream({
    async start(controller) {
      controller.enqueue(new TextEncoder().encode('first '))
      await held
      controller.enqueue(new TextEncoder().encode('last'))
      controller.close()
    },
  })
  const answer = fetch(`${world.url}/api/v4${path}`, {
    method: 'PUT',
    headers: { 'PRIVATE-TOKEN': ana.token ?? '' },
    body,
    duplex: 'half',
  } as RequestInit)
  return { answer, release }
}

const temporary = () => readdirSync(join(world.folder, 'files', 'tmp'))

async function listedIn(place: string): Promise<number> {
  const { body } = await ana.get(`${place}?include_versionless=true`)
  return body.length
}

interface Upload {
  readonly method: string
  readonly path: string
  readonly type: string
  readonly body: Buffer
}

const BOUNDARY = 'b'.repeat(20)

function formBody(part: string, fileName: string, content: Buffer, fields: readonly string[] = []) {
  const text = fields.map((field) => {
    const [name, value] = field.split('=')
    return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  })
  const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${part}"; filename="${fileName}"\r\nContent-Type: application/octet-stream\r\n\r\n`
  return Buffer.concat([
    Buffer.from(text.join('') + head),
    content,
    Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
  ])
}

const FORM = `multipart/form-data; boundary=${BOUNDARY}`
const bytes = (size: number) => createHash('shake256', { outputLength: size }).update('x').digest()

/** What each client sends for a version of `cut` whose file has so many bytes. */
const uploads: Readonly<Record<string, (size: number) => Promise<Upload>>> = {
  generic: async (size) => ({
    method: 'PUT',
    path: '/generic/cut/1.0.0/f',
    type: 'application/octet-stream',
    body: bytes(size),
  }),
  maven: async (size) => ({
    method: 'PUT',
    path: '/maven/com/x/cut/1.0.0/cut-1.0.0.jar',
    type: 'application/java-archive',
    body: bytes(size),
  }),
  npm: async (size) => {
    const filler = { 'package/filler': bytes(size) }
    const json = JSON.stringify({ name: 'cut', version: '1.0.0' })
    const tarball = await tarballOf({ 'package/package.json': json, ...filler })
    return {
      method: 'PUT',
      path: '/npm/cut',
      type: 'application/json',
      body: Buffer.from(JSON.stringify(await documentOf('cut', '1.0.0', { tarball }))),
    }
  },
  pypi: async (size) => ({
    method: 'POST',
    path: '/pypi',
    type: FORM,
    body: formBody('content', 'cut-1.0.0.tar.gz', bytes(size), ['name=cut', 'version=1.0.0']),
  }),
  nuget: async (size) => {
    const nupkg = await zipOf({ 'Cut.nuspec': nuspecOf('Cut', '1.0.0'), filler: bytes(size) })
    return {
      method: 'PUT',
      path: '/nuget/',
      type: FORM,
      body: formBody('package', 'package.nupkg', nupkg),
    }
  },
}

async function send(place: string, upload: Upload, chunked = false): Promise<Reply> {
  const headers = { 'Content-Type': upload.type, 'PRIVATE-TOKEN': ana.token ?? '' }
  const pieces = () =>
    new ReadableStream({
      start(controller) {
        for (let from = 0; from < upload.body.length; from += 1000)
          controller.enqueue(upload.body.subarray(from, from + 1000))
        controller.close()
      },
    })
  const answer = await fetch(`${world.url}/api/v4${place}${upload.path}`, {
    method: upload.method,
    headers,
    body: chunked ? pieces() : new Uint8Array(upload.body),
    ...(chunked ? { duplex: 'half' } : {}),
  } as RequestInit)
  return { status: answer.status, headers: answer.headers, body: await answer.json() }
}

describe.each(Object.keys(uploads))('an upload of %s', (format) => {
  const make = (size: number) => (uploads[format] as (size: number) => Promise<Upload>)(size)

  test('that breaks off leaves nothing, and the same is taken afterwards', async () => {
    const place = `/projects/${await newProject(`cut-${format}`)}/packages`
    const upload = await make(4000)
    const half = upload.body.subarray(0, upload.body.length - 1500)
    const { port, hostname } = new URL(world.url)
    const begin = (length: string) =>
      [
        `${upload.method} /api/v4${place}${upload.path} HTTP/1.1`,
        'Host: x',
        `PRIVATE-TOKEN: ${ana.token}`,
        `Content-Type: ${upload.type}`,
        length,
        '',
        '',
      ].join('\r\n')
    const known = begin(`Content-Length: ${upload.body.length}`)
    const chunked = `${begin('Transfer-Encoding: chunked')}${upload.body.length.toString(16)}\r\n`
    for (const head of [known, chunked]) {
      for (const end of ['politely', 'at once'] as const) {
        const socket = connect(Number(port), hostname)
        await once(socket, 'connect')
        socket.on('error', () => {})
        socket.resume()
        socket.write(head)
        await new Promise<void>((resolve) => socket.write(half, () => resolve()))
        // The server has begun to store what came.
        if (format === 'generic') await expect.poll(() => temporary().length).toBeGreaterThan(0)
        const closed = once(socket, 'close')
        if (end === 'politely') socket.end()
        else socket.resetAndDestroy()
        await closed
      }
    }
    await expect.poll(temporary).toEqual([])
    expect(await listedIn(place)).toBe(0)
    expect((await send(place, upload)).status).toBeLessThan(300)
    expect(await listedIn(place)).toBe(1)
  })

  test('is bounded by the plan, whether or not its size is announced, and leaves nothing', async () => {
    const place = `/projects/${await newProject(`limit-${format}`)}/packages`
    const limit =
      format === 'generic' ? 'generic_packages_max_file_size' : `${format}_max_file_size`
    const set = (value: number) =>
      world.root.put('/application/plan_limits', { plan_name: 'default', [limit]: value })
    await set(2000)
    for (const chunked of [false, true]) {
      const { status, body } = await send(place, await make(4000), chunked)
      const message = '400 Bad request - File is too large'
      expect([status, body]).toEqual([
        400,
        format === 'npm' ? { error: 'File is too large', message } : { message },
      ])
    }
    await expect.poll(temporary).toEqual([])
    expect(await listedIn(place)).toBe(0)
    expect((await send(place, await make(10))).status).toBeLessThan(300)
    await set(0)
    expect(await listedIn(place)).toBe(1)
  })

  test('is bounded by what a project may have in all', async () => {
    const place = `/projects/${await newProject(`quota-${format}`)}/packages`
    const filler = await putGeneric(
      ana,
      place,
      'filler/1/f?select=package_file',
      'x'.repeat(QUOTA - 500),
    )
    expect(filler.status).toBe(200)
    const { status, body } = await send(place, await make(4000))
    const text = 'The packages of this project have reached their size limit'
    expect([status, body.message]).toEqual([403, `403 Forbidden - ${text}`])
    if (format === 'npm') expect(body.error).toBe(text)
    expect(await listedIn(place)).toBe(1)
    expect(temporary()).toEqual([])
    // Its rows go in the background, and with them what they count.
    expect((await ana.delete(`${place}/${filler.body.package_id}`)).status).toBe(204)
    await world.runTasks()
    expect((await send(place, await make(4000))).status).toBeLessThan(300)
  })
})

describe('what a project may have in all', () => {
  test('is reached to the byte, counts every file that is kept, and is that of each project', async () => {
    const place = `/projects/${await newProject('quota-bytes')}/packages`
    const put = async (path: string, size: number) =>
      (await putGeneric(ana, place, path, 'x'.repeat(size))).status
    expect(await put('a/1/f', QUOTA - 100)).toBe(201)
    expect(await put('a/1/f', 101)).toBe(403)
    expect(await put('a/1/f', 100)).toBe(201)
    expect(await put('a/1/g', 1)).toBe(403)
    expect(await put('a/1/g', 0)).toBe(201)
    expect(await put('b/1/f?status=hidden', 1)).toBe(403)
    expect((await ana.get(`${place}/generic/a/1/f`)).headers.get('content-length')).toBe('100')
    expect((await putGeneric(ana, at, 'elsewhere/1/f')).status).toBe(201)
  })

  test('is kept by several who upload at once what fits but once', async () => {
    const place = `/projects/${await newProject('quota-race')}/packages`
    const text = 'x'.repeat(QUOTA / 2 + 1)
    const replies = await Promise.all(
      ['a', 'b', 'c', 'd'].map((name) => putGeneric(ana, place, `${name}/1/f`, text)),
    )
    expect(replies.map((reply) => reply.status).sort()).toEqual([201, 403, 403, 403])
    expect(await listedIn(place)).toBe(1)
  })
})

describe('at the same time', () => {
  test('many versions of npm are all in the document, with the tag on one of them', async () => {
    const versions = Array.from({ length: 12 }, (_, minor) => `1.${minor}.0`)
    const reading = Promise.all(
      versions.map(async () => {
        const { status, body } = await ana.get(`${at}/npm/together`)
        if (status === 404) return true
        const tagged: string[] = Object.values(body['dist-tags'])
        return tagged.every((version) => version in body.versions)
      }),
    )
    const replies = await Promise.all(
      versions.map((version) => publishNpm(ana, at, 'together', version)),
    )
    expect(replies.map((reply) => reply.status)).toEqual(versions.map(() => 200))
    expect(new Set(await reading)).toEqual(new Set([true]))
    const { body } = await ana.get(`${at}/npm/together`)
    expect(Object.keys(body.versions).sort()).toEqual([...versions].sort())
    const [row] = (await ana.get(`${at}?package_name=together&order_by=created_at&sort=desc`)).body
    expect(body['dist-tags']).toEqual({ latest: row.version })
    for (const version of versions) {
      const { tarball, shasum } = body.versions[version].dist
      const answer = await fetch(`${world.url}${new URL(tarball).pathname}`, {
        headers: { 'PRIVATE-TOKEN': ana.token ?? '' },
      })
      const hash = createHash('sha1').update(Buffer.from(await answer.arrayBuffer()))
      expect(hash.digest('hex')).toBe(shasum)
    }
  })

  test('files of one Python version are all on the page', async () => {
    const names = Array.from({ length: 10 }, (_, index) => `wide-1.0-${index}-py3-none-any.whl`)
    const replies = await Promise.all(
      names.map((name) => uploadPypi(ana, at, { name: 'wide', version: '1.0' }, name)),
    )
    expect(replies.map((reply) => reply.status)).toEqual(names.map(() => 201))
    const accept = { headers: { Accept: 'application/vnd.pypi.simple.v1+json' } }
    const { files } = (await ana.get(`${at}/pypi/simple/wide`, accept)).body
    expect(files.map((one: { filename: string }) => one.filename).sort()).toEqual(names)
    expect((await ana.get(`${at}?package_name=wide`)).body).toHaveLength(1)
  })

  test('metadata of Maven is one of those that were sent, with its own checksum', async () => {
    const texts = Array.from({ length: 8 }, (_, index) => `<metadata><v>${index}</v></metadata>`)
    const path = 'com/x/meta/maven-metadata.xml'
    const replies = await Promise.all(texts.map((text) => putMaven(ana, at, path, text)))
    expect(replies.map((reply) => reply.status)).toEqual(texts.map(() => 200))
    const { body } = await ana.get(`${at}/maven/${path}`)
    expect(texts).toContain(body)
    const sum = await ana.get(`${at}/maven/${path}.sha1`)
    expect(sum.body).toBe(createHash('sha1').update(body).digest('hex'))
  })

  test('a tag is put on a version and the version deleted: the tag goes with it, or never was', async () => {
    for (const turn of [1, 2, 3]) {
      const name = `tag-race-${turn}`
      await publishNpm(ana, at, name, '1.0.0')
      await publishNpm(ana, at, name, '2.0.0', { tag: 'next' })
      const rows = (await ana.get(`${at}?package_name=${name}&order_by=version`)).body
      const [put, gone] = await Promise.all([
        ana.put(`${at}/npm/-/package/${name}/dist-tags/beta`, undefined, { raw: '"2.0.0"' }),
        ana.delete(`${at}/${rows[1].id}`),
      ])
      expect([gone.status, [204, 404].includes(put.status)]).toEqual([204, true])
      const { body } = await ana.get(`${at}/npm/${name}`)
      expect([body['dist-tags'], Object.keys(body.versions)]).toEqual([
        { latest: '1.0.0' },
        ['1.0.0'],
      ])
    }
  })

  test('a version is published and deleted over and over: it is there once, or not at all', async () => {
    const nupkg = await nupkgOf('Churn', '1.0.0')
    await Promise.all([
      ...[1, 2, 3, 4].map(() => pushNuget(ana, at, nupkg)),
      ...[1, 2, 3, 4].map(() => ana.delete(`${at}/nuget/churn/1.0.0`)),
    ])
    await pushNuget(ana, at, nupkg)
    await world.runTasks()
    expect((await ana.get(`${at}?package_name=churn`)).body).toHaveLength(1)
    const { versions } = (await ana.get(`${at}/nuget/download/churn/index.json`)).body
    expect(versions).toEqual(['1.0.0'])
    expect((await ana.get(`${at}/nuget/download/churn/1.0.0/churn.1.0.0.nupkg`)).status).toBe(200)
  })

  test('a project is deleted while a file is on its way to it: nothing of it stays', async () => {
    const id = await newProject('leaving')
    const place = `/projects/${id}/packages`
    const sending = beginUpload(`${place}/maven/a/b/1/b-1.jar`)
    await expect.poll(() => temporary().length).toBeGreaterThan(0)
    expect((await ana.delete(`/projects/${id}`)).status).toBe(202)
    await world.runTasks()
    sending.release()
    expect((await sending.answer).status).toBe(404)
    const rows = await world.ctx.db
      .selectFrom('package_files')
      .select('id')
      .where('project_id', '=', id)
      .execute()
    expect([rows, temporary()]).toEqual([[], []])
  })

  test('a rule comes while a file is on its way: it counts', async () => {
    const place = `/projects/${await newProject('ruled')}/packages`
    const sending = beginUpload(`${place}/generic/tool/1/f`)
    await expect.poll(() => temporary().length).toBeGreaterThan(0)
    const rule = await ana.post(`${place}/protection/rules`, {
      package_name_pattern: 'tool',
      package_type: 'generic',
      minimum_access_level_for_push: 'admin',
    })
    expect(rule.status).toBe(201)
    sending.release()
    const answer = await sending.answer
    expect([answer.status, await answer.json()]).toEqual([403, { message: 'Package protected.' }])
    expect(await listedIn(place)).toBe(0)
  })
})
