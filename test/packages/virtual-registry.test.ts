import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pipeline, Readable } from 'node:stream'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createGroup } from '../support/create.ts'
import { newFolder } from '../support/database.ts'
import { type MailServer, openMailServer } from '../support/mail-server.ts'
import { client, openReachableWorld } from '../support/package-clients.ts'
import type { Caller, World } from '../support/world.ts'

let world: World
let smtp: MailServer
let ana: Caller
let groupId: number
let upstream: Server
let address: string
let answer: (request: IncomingMessage, response: ServerResponse) => void
let seen: string[] = []
const ROOT = '/virtual_registries/packages/maven'
const JAR = 'org/x/tool/1.0/tool-1.0.jar'

beforeAll(async () => {
  upstream = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`)
    answer(request, response)
  })
  await new Promise<void>((done) => upstream.listen(0, '127.0.0.1', done))
  const { port } = upstream.address() as AddressInfo
  address = `http://127.0.0.1:${port}`
  smtp = await openMailServer()
  world = await openReachableWorld({
    smtpUrl: smtp.url,
    mailFrom: 'git@example.com',
    // Where tests run, the name may lead to a mirror at a private address.
    outboundAllow: ['127.0.0.1', 'repo1.maven.org'],
    outboundTimeout: 5000,
  })
  ana = await world.user('ana')
  groupId = (await createGroup(ana, 'acme')).id
})
afterAll(async () => {
  await world.close()
  await smtp.close()
  upstream.closeAllConnections()
  upstream.close()
})
beforeEach(() => {
  seen = []
  answer = serving({ [JAR]: 'the jar' })
})

function serving(files: Readonly<Record<string, string>>, etag = '"1"') {
  return (request: IncomingMessage, response: ServerResponse) => {
    const content = files[(request.url ?? '').replace(/^\/maven\//, '')]
    if (content === undefined) {
      response.writeHead(404).end()
      return
    }
    response.writeHead(200, { ETag: etag, 'Content-Length': Buffer.byteLength(content) })
    response.end(request.method === 'HEAD' ? undefined : content)
  }
}

let count = 0
async function registry(more: object = {}, path = '/maven') {
  count += 1
  const made = await ana.post(`/groups/${groupId}/-${ROOT}/registries`, { name: `r${count}` })
  expect(made.status).toBe(201)
  const url = `${address}${path}${count}`.replace(/maven\d+$/, 'maven')
  const body = { url, username: `u${count}`, password: 'secret', ...more }
  const added = await ana.post(`${ROOT}/registries/${made.body.id}/upstreams`, body)
  expect([added.status, added.body]).toMatchObject([201, { url }])
  return { id: made.body.id as number, upstreamId: added.body.id as number }
}

const get = (id: number, path = JAR, who = ana) => who.get(`${ROOT}/${id}/${path}`)

/** Until what goes on in the background is there. */
async function until(check: () => Promise<boolean>) {
  for (let tries = 0; tries < 200; tries++) {
    if (await check()) return
    await new Promise((done) => setTimeout(done, 20))
  }
  throw new Error('it did not come')
}

test('a file is fetched once, kept, and shown with its hashes', async () => {
  const { id, upstreamId } = await registry()
  expect(await get(id)).toMatchObject({ status: 200, body: 'the jar' })
  const entries = () => ana.get(`${ROOT}/upstreams/${upstreamId}/cache_entries`)
  await until(async () => (await entries()).body.length === 1)
  const again = await get(id)
  expect([again.status, again.body, again.headers.get('x-checksum-sha1')]).toEqual([
    200,
    'the jar',
    expect.stringMatching(/^[0-9a-f]{40}$/),
  ])
  expect(seen).toEqual([`HEAD /maven/${JAR}`, `GET /maven/${JAR}`])
  const sha1 = await get(id, `${JAR}.sha1`)
  expect(sha1.body).toBe(again.headers.get('x-checksum-sha1'))
  const [entry] = (await entries()).body
  expect(entry).toMatchObject({ relative_path: JAR, size: 7, upstream_etag: '"1"' })
  expect(entry.downloads_count).toBeGreaterThan(0)
  expect((await ana.delete(`${ROOT}/cache_entries/${entry.id}`)).status).toBe(204)
  expect((await entries()).body).toEqual([])
})

test('a hundred who ask for one missing file cause one request', async () => {
  const { id } = await registry()
  answer = (request, response) => {
    response.writeHead(200, { 'Content-Length': 200_000 })
    if (request.method === 'HEAD') response.end()
    else setTimeout(() => response.end(Buffer.alloc(200_000, 'x')), 100)
  }
  const answers = await Promise.all(Array.from({ length: 100 }, () => get(id)))
  expect(answers.every((one) => one.status === 200 && one.body.length === 200_000)).toBe(true)
  expect(seen.filter((one) => one.startsWith('GET'))).toHaveLength(1)
})

test('what is stale is asked about, kept by its tag, and served while the upstream is away', async () => {
  const { id, upstreamId } = await registry({ cache_validity_hours: 1 })
  await get(id)
  const path = `${ROOT}/upstreams/${upstreamId}/cache_entries`
  await until(async () => (await ana.get(path)).body.length === 1)
  world.setNow('2026-05-04T12:00:00.000Z')
  seen = []
  expect((await get(id)).body).toBe('the jar')
  expect(seen).toEqual([`HEAD /maven/${JAR}`])
  world.setNow('2026-05-04T14:00:00.000Z')
  answer = serving({ [JAR]: 'another' }, '"2"')
  expect((await get(id)).body).toBe('another')
  world.setNow('2026-05-04T16:00:00.000Z')
  answer = (_request, response) => response.destroy()
  expect((await get(id)).body).toBe('another')
  world.setNow('2026-05-04T10:00:00.000Z')
})

test('the sums of metadata follow it, whichever kind a client wants', async () => {
  const { id } = await registry({ cache_validity_hours: 0, metadata_cache_validity_hours: 1 })
  const path = 'org/x/tool/maven-metadata.xml'
  const sum = (kind: string, text: string) => createHash(kind).update(text).digest('hex')
  const publish = (text: string) => {
    const kinds = ['sha1', 'md5', 'sha256', 'sha512']
    const sums = kinds.map((kind) => [`${path}.${kind}`, sum(kind, text)] as const)
    answer = serving({ [path]: text, ...Object.fromEntries(sums) }, `"${text}"`)
  }
  const read = async () => {
    const { body: text } = await get(id, path)
    const said: string[] = []
    for (const kind of ['sha1', 'md5', 'sha256', 'sha512']) {
      const { body } = await get(id, `${path}.${kind}`)
      if (body === sum(kind, text)) said.push(kind)
    }
    return [text, ...said]
  }
  publish('first')
  expect(await read()).toEqual(['first', 'sha1', 'md5', 'sha256', 'sha512'])
  publish('second')
  // Metadata is still fresh, and its sums are of what is served.
  expect(await read()).toEqual(['first', 'sha1', 'md5', 'sha256', 'sha512'])
  world.setNow('2026-05-04T12:00:00.000Z')
  expect(await read()).toEqual(['second', 'sha1', 'md5', 'sha256', 'sha512'])
  world.setNow('2026-05-04T10:00:00.000Z')
})

test('the first upstream in order that has a file serves it, and the order can be changed', async () => {
  const { id } = await registry({}, '/none')
  const second = { url: `${address}/maven`, username: `second${id}`, password: 'x' }
  const added = await ana.post(`${ROOT}/registries/${id}/upstreams`, second)
  expect(added.body.registry_upstream.position).toBe(2)
  expect((await get(id)).body).toBe('the jar')
  const link = added.body.registry_upstream.id
  expect((await ana.patch(`${ROOT}/registry_upstreams/${link}`, { position: 1 })).status).toBe(200)
  const order = (await ana.get(`${ROOT}/registries/${id}`)).body.registry_upstreams
  expect(order.map((one: { upstream_id: number }) => one.upstream_id)[0]).toBe(added.body.id)
  const other = await registry()
  const linked = { registry_id: other.id, upstream_id: added.body.id }
  expect((await ana.post(`${ROOT}/registry_upstreams`, linked)).body.position).toBe(2)
  expect((await ana.post(`${ROOT}/registry_upstreams`, linked)).status).toBe(400)
  const bob = await world.user('linker')
  expect((await bob.post(`${ROOT}/registry_upstreams`, linked)).status).toBe(404)
  expect((await ana.delete(`${ROOT}/registry_upstreams/${link}`)).status).toBe(204)
  expect((await ana.get(`${ROOT}/registries/${id}`)).body.registry_upstreams).toMatchObject([
    { position: 1 },
  ])
})

describe('an upstream that is not what it says', () => {
  test('breaks off: the client gets an error, and nothing is kept', async () => {
    const { id, upstreamId } = await registry()
    answer = (request, response) => {
      response.writeHead(200, { 'Content-Length': 100 })
      if (request.method === 'HEAD') response.end()
      else response.write('half', () => response.destroy())
    }
    expect((await get(id)).status).toBe(502)
    expect((await ana.get(`${ROOT}/upstreams/${upstreamId}/cache_entries`)).body).toEqual([])
  })

  test('breaks off in a large file that is passed on as it comes: so does the answer', async () => {
    const { id, upstreamId } = await registry()
    const sums = { 'X-Checksum-Sha1': 'a'.repeat(40), 'X-Checksum-Md5': 'b'.repeat(32) }
    answer = (request, response) => {
      response.writeHead(200, { 'Content-Length': 10_000_000, ...sums })
      if (request.method === 'HEAD') response.end()
      else response.write('half', () => response.destroy())
    }
    await expect(get(id)).rejects.toThrow()
    expect((await ana.get(`${ROOT}/upstreams/${upstreamId}/cache_entries`)).body).toEqual([])
  })

  test('says ten gigabytes, and is not read', async () => {
    const { id, upstreamId } = await registry()
    answer = (request, response) => {
      const isHead = request.method === 'HEAD'
      response.writeHead(200, { 'Content-Length': isHead ? 7 : 10 * 1024 ** 3 })
      if (isHead) response.end()
      else response.write('x')
    }
    expect((await get(id)).status).toBe(502)
    expect((await ana.get(`${ROOT}/upstreams/${upstreamId}/cache_entries`)).body).toEqual([])
  })

  test('sends a digest without end, of which no more is read than a digest has', async () => {
    const { id } = await registry()
    let sent = 0
    const body = Readable.from(
      (function* () {
        for (; sent < 300; sent++) yield Buffer.alloc(1024 * 1024, '0')
      })(),
    )
    answer = (request, response) => {
      response.writeHead(200)
      if (request.method === 'HEAD') response.end()
      else pipeline(body, response, () => {})
    }
    expect((await get(id, `${JAR}.sha1`)).status).toBe(502)
    expect(sent).toBeLessThan(100)
  })

  test('has another file for the second request than it said for the first', async () => {
    const { id, upstreamId } = await registry()
    let version = 0
    answer = (request, response) => {
      version += 1
      return serving({ [JAR]: `version ${version}` }, `"${version}"`)(request, response)
    }
    expect((await get(id)).body).toBe('version 2')
    const entries = () => ana.get(`${ROOT}/upstreams/${upstreamId}/cache_entries`)
    await until(async () => (await entries()).body.length === 1)
    expect((await entries()).body).toMatchObject([{ upstream_etag: '"2"', size: 9 }])
    expect((await get(id)).body).toBe('version 2')
  })

  test('leads to a private address', async () => {
    const { id } = await registry()
    answer = (_request, response) => {
      response.writeHead(302, { Location: 'http://169.254.169.254/latest' }).end()
    }
    expect((await get(id)).status).toBe(400)
  })

  test('is away, has nothing, or is not set', async () => {
    const { id, upstreamId } = await registry()
    expect((await get(id, 'org/none/1/none-1.jar')).status).toBe(404)
    answer = (_request, response) => response.destroy()
    const away = await get(id)
    expect([away.status, away.body.message]).toEqual([
      400,
      '400 Bad request - Upstream not available',
    ])
    await ana.delete(`${ROOT}/upstreams/${upstreamId}`)
    expect((await get(id)).body.message).toBe('400 Bad request - No upstreams set')
    expect((await get(id, 'org/x/%2e%2e%2fsecret')).status).toBe(400)
  })
})

test('credentials are sent to the upstream, never shown, and forgotten when its address changes', async () => {
  const { id, upstreamId } = await registry()
  let authorization: string | undefined
  const plain = answer
  answer = (request, response) => {
    authorization = request.headers.authorization
    plain(request, response)
  }
  await get(id)
  expect(Buffer.from(String(authorization).slice(6), 'base64').toString()).toMatch(/^u\d+:secret$/)
  const { body } = await ana.get(`${ROOT}/upstreams/${upstreamId}`)
  expect([body.username, 'password' in body]).toEqual([expect.stringMatching(/^u\d+$/), false])
  await ana.patch(`${ROOT}/upstreams/${upstreamId}`, { url: `${address}/other` })
  expect((await ana.get(`${ROOT}/upstreams/${upstreamId}`)).body.username).toBeNull()
  const twice = { url: `${address}/other/` }
  const refused = await ana.post(`${ROOT}/registries/${id}/upstreams`, twice)
  expect([refused.status, refused.body.message.group]).toEqual([
    400,
    ['already has a remote upstream with the same url and credentials'],
  ])
})

test('an upstream can be tried, before and after it is there', async () => {
  const { upstreamId } = await registry()
  expect((await ana.get(`${ROOT}/upstreams/${upstreamId}/test`)).body).toEqual({ success: true })
  answer = (_request, response) => response.writeHead(401).end()
  expect((await ana.post(`${ROOT}/upstreams/${upstreamId}/test`, {})).body).toEqual({
    success: false,
    result: 'Error: 401 - Unauthorized',
  })
  const path = `/groups/${groupId}/-${ROOT}/upstreams/test`
  expect((await ana.post(path, { url: `${address}/x` })).body.success).toBe(false)
  expect((await ana.post(path, { url: 'http://10.0.0.1/x' })).status).toBe(400)
})

test('members read, Maintainers change, others learn nothing, and deploy tokens manage nothing', async () => {
  const { id } = await registry()
  const bob = await world.user('bob')
  expect((await bob.get(`${ROOT}/registries/${id}`)).status).toBe(404)
  expect((await get(id, JAR, bob)).status).toBe(401)
  await ana.post(`/groups/${groupId}/members`, { user_id: bob.id, access_level: 10 })
  expect((await bob.get(`${ROOT}/registries/${id}`)).status).toBe(200)
  expect((await get(id, JAR, bob)).status).toBe(200)
  expect((await bob.patch(`${ROOT}/registries/${id}`, { name: 'mine' })).status).toBe(403)
  const nobody = await world.nobody.get(`${ROOT}/${id}/${JAR}`)
  expect([nobody.status, nobody.headers.get('www-authenticate')]).toEqual([
    401,
    'Basic realm="svc Virtual Registry"',
  ])
  for (const [name, status] of [
    ['bob', 200],
    ['any', 401],
  ]) {
    const headers = { Authorization: `Basic ${btoa(`${name}:${bob.token}`)}` }
    expect((await world.nobody.get(`${ROOT}/${id}/${JAR}`, { headers })).status).toBe(status)
  }
  const sub = { name: 's', path: 's', parent_id: groupId }
  const below = (await ana.post('/groups', sub)).body.id
  expect((await ana.get(`/groups/${below}/-${ROOT}/registries`)).status).toBe(403)
  expect((await ana.get(`/groups/${below}/-${ROOT}/upstreams`)).status).toBe(400)
  expect((await ana.post(`${ROOT}/${id}/${JAR}/upload`, {})).status).toBe(403)
})

test('what nobody downloads for long is forgotten by the policy', async () => {
  const { id, upstreamId } = await registry()
  await get(id)
  const entries = () => ana.get(`${ROOT}/upstreams/${upstreamId}/cache_entries`)
  await until(async () => (await entries()).body.length === 1)
  const path = `/groups/${groupId}/-/virtual_registries/cleanup/policy`
  const policy = { enabled: true, cadence: 1, keep_n_days_after_download: 2 }
  expect((await ana.post(path, policy)).status).toBe(201)
  expect((await ana.patch(path, { cadence: 3 })).status).toBe(400)
  expect((await ana.patch(path, { notify_on_success: true })).status).toBe(200)
  smtp.clear()
  world.setNow('2026-05-08T10:00:00.000Z')
  await world.runTasks()
  expect((await entries()).body).toEqual([])
  expect((await ana.get(path)).body.last_run_at).toBe('2026-05-08T10:00:00.000Z')
  const mail = await smtp.wait('ana@example.com', 'acme | Virtual registry cleanup done')
  expect(mail).toMatch(/Files that were removed: [1-9]/)
  expect((await ana.delete(path)).status).toBe(204)
  expect((await ana.get(path)).status).toBe(404)
  world.setNow('2026-05-04T10:00:00.000Z')
})

test('the feature can be switched off by either of its names', async () => {
  const { id } = await registry()
  for (const name of ['virtual_registry_maven', 'maven_virtual_registry']) {
    await world.root.post(`/features/${name}`, { value: false })
    expect((await ana.get(`${ROOT}/registries/${id}`)).status).toBe(401)
    await world.root.delete(`/features/${name}`)
    expect((await ana.get(`${ROOT}/registries/${id}`)).status).toBe(200)
  }
})

test('mvn builds with an empty local repository, all through the registry', async () => {
  const made = await ana.post(`/groups/${groupId}/-${ROOT}/registries`, { name: 'central' })
  const central = process.env.MAVEN_CENTRAL ?? 'https://repo1.maven.org/maven2'
  const added = await ana.post(`${ROOT}/registries/${made.body.id}/upstreams`, { url: central })
  expect(added.body.cache_validity_hours).toBe(0)
  const root = newFolder()
  mkdirSync(join(root, 'src', 'main', 'resources'), { recursive: true })
  const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
    <groupId>acme</groupId><artifactId>app</artifactId><version>1</version><packaging>jar</packaging>
    <dependencies><dependency><groupId>commons-codec</groupId><artifactId>commons-codec</artifactId>
    <version>1.15</version></dependency></dependencies></project>`
  writeFileSync(join(root, 'src', 'main', 'resources', 'app.txt'), 'hello')
  writeFileSync(join(root, 'pom.xml'), pom)
  const url = `${world.url}/api/v4${ROOT}/${made.body.id}`
  const settings = `<settings><localRepository>${join(root, 'local')}</localRepository>
    <mirrors><mirror><id>svc</id><mirrorOf>*</mirrorOf><url>${url}</url></mirror></mirrors>
    <servers><server><id>svc</id><username>ana</username><password>${ana.token}</password></server></servers></settings>`
  writeFileSync(join(root, 'settings.xml'), settings)
  // What makes a jar: the compiler and the tests of others would be as much again, in the same way.
  const args = ['-B', '-s', 'settings.xml', 'resources:resources', 'jar:jar']
  const said = await client('mvn', args, { cwd: root, timeout: 220_000 })
  expect(said).toContain('BUILD SUCCESS')
  expect(readdirSync(join(root, 'local'))).toContain('org')
  expect(readdirSync(join(root, 'target'))).toContain('app-1.jar')
  rmSync(root, { recursive: true, force: true })
}, 240_000)
