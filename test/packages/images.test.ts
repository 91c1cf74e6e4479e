import { createHash } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../support/create.ts'
import { newFolder } from '../support/database.ts'
import { client, openReachableWorld } from '../support/package-clients.ts'
import type { Caller, World } from '../support/world.ts'

let world: World
let ana: Caller
let projectId: number
let root: string
const NAME = 'acme/p/app'
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json'

beforeAll(async () => {
  world = await openReachableWorld()
  ana = await world.user('ana')
  const group = await createGroup(ana, 'acme')
  projectId = (await createProject(ana, 'p', { namespace_id: group.id })).id
  root = newFolder()
  mkdirSync(root, { recursive: true })
})
afterAll(async () => {
  await world.close()
  rmSync(root, { recursive: true, force: true })
})

const digestOf = (bytes: string | Buffer) =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`

function v2(
  method: string,
  path: string,
  raw?: string | Uint8Array<ArrayBuffer>,
  headers = {},
  who = ana,
) {
  const authorization = `Basic ${Buffer.from(`any:${who.token}`).toString('base64')}`
  const all = { ...(who.token ? { Authorization: authorization } : {}), ...headers }
  const options = { host: true, headers: all, ...(raw === undefined ? {} : { raw }) }
  return world.nobody.call(method, `/v2/${path}`, undefined, options)
}

async function pushBlob(content: string, name = NAME) {
  const digest = digestOf(content)
  const answer = await v2('POST', `${name}/blobs/uploads/?digest=${digest}`, content)
  expect(answer.status).toBe(201)
  return { digest, size: content.length }
}

async function pushImage(reference: string, content = 'layer', name = NAME, more = {}) {
  const config = {
    mediaType: 'application/vnd.oci.image.config.v1+json',
    ...(await pushBlob('{}', name)),
  }
  const layer = {
    mediaType: 'application/vnd.oci.image.layer.v1.tar',
    ...(await pushBlob(content, name)),
  }
  const manifest = JSON.stringify({
    schemaVersion: 2,
    mediaType: MANIFEST,
    config,
    layers: [layer],
    ...more,
  })
  const path = `${name}/manifests/${reference === '' ? digestOf(manifest) : reference}`
  const answer = await v2('PUT', path, manifest, { 'Content-Type': MANIFEST })
  expect(answer.status).toBe(201)
  return { digest: digestOf(manifest), manifest, size: manifest.length }
}

test('skopeo copies an image in, looks at it, copies it out, and deletes it', async () => {
  const folder = join(root, 'image')
  mkdirSync(folder)
  const tar = Buffer.alloc(1024)
  const layer = gzipSync(tar)
  const config = JSON.stringify({
    architecture: 'amd64',
    os: 'linux',
    config: {},
    rootfs: { type: 'layers', diff_ids: [digestOf(tar)] },
    history: [{ created: '2026-01-01T00:00:00Z' }],
  })
  const manifest = JSON.stringify({
    schemaVersion: 2,
    mediaType: MANIFEST,
    config: {
      mediaType: 'application/vnd.oci.image.config.v1+json',
      digest: digestOf(config),
      size: config.length,
    },
    layers: [
      {
        mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip',
        digest: digestOf(layer),
        size: layer.length,
      },
    ],
  })
  const write = (name: string, content: string | Buffer) =>
    writeFileSync(join(folder, name), content)
  write(digestOf(config).slice(7), config)
  write(digestOf(layer).slice(7), layer)
  write('manifest.json', manifest)
  write('version', 'Directory Transport Version: 1.1\n')
  const policy = join(root, 'policy.json')
  writeFileSync(policy, '{"default":[{"type":"insecureAcceptAnything"}]}')
  const host = new URL(world.url).host
  const image = `docker://${host}/${NAME}:v1`
  const skopeo = (...args: string[]) =>
    client('skopeo', ['--policy', policy, ...args], { cwd: root })
  const creds = `any:${ana.token}`
  await skopeo('copy', '--dest-tls-verify=false', '--dest-creds', creds, `dir:${folder}`, image)
  const said = await skopeo('inspect', '--tls-verify=false', '--creds', creds, image)
  expect(JSON.parse(said)).toMatchObject({ Digest: digestOf(manifest), RepoTags: ['v1'] })
  const out = join(root, 'out')
  await skopeo('copy', '--src-tls-verify=false', '--src-creds', creds, image, `dir:${out}`)
  await expect(skopeo('inspect', '--tls-verify=false', '--no-creds', image)).rejects.toThrow(
    /unauthorized|authentication|denied/i,
  )
  await ana.put(`/projects/${projectId}`, { visibility: 'private' })
  await skopeo('delete', '--tls-verify=false', '--creds', creds, image)
  expect((await v2('GET', `${NAME}/manifests/v1`)).status).toBe(404)
}, 120_000)

test('podman pushes an image and pulls it again, with its labels', async () => {
  const policy = join(root, '.config', 'containers')
  mkdirSync(policy, { recursive: true })
  writeFileSync(join(policy, 'policy.json'), '{"default":[{"type":"insecureAcceptAnything"}]}')
  const storage = ['--root', join(root, 'podman'), '--runroot', join(root, 'podman-run')]
  const podman = (...args: string[]) =>
    client('podman', [...storage, '--storage-driver', 'vfs', ...args], { cwd: root })
  const layer = join(root, 'layer.tar')
  writeFileSync(layer, Buffer.alloc(1024))
  const image = `${new URL(world.url).host}/acme/p/pod:v1`
  const signIn = ['--tls-verify=false', '--creds', `any:${ana.token}`]
  await podman('import', '--change', 'LABEL made=here', layer, image)
  await podman('push', ...signIn, image)
  expect((await v2('GET', 'acme/p/pod/tags/list')).body.tags).toEqual(['v1'])
  await podman('rmi', image)
  await podman('pull', ...signIn, image)
  const [pulled] = JSON.parse(await podman('inspect', image))
  expect(pulled.Config.Labels).toEqual({ made: 'here' })
  await expect(podman('push', '--tls-verify=false', '--creds', 'any:none', image)).rejects.toThrow(
    /unauthorized|authentication|denied/i,
  )
}, 120_000)

test('a client is sent for a token, and gets one without an account too', async () => {
  const first = await v2('GET', '', undefined, {}, world.nobody)
  expect([first.status, first.headers.get('www-authenticate')]).toEqual([
    401,
    `Bearer realm="${world.url}/jwt/auth",service="container_registry"`,
  ])
  const anonymous = (await world.nobody.get('/jwt/auth?service=container_registry', { host: true }))
    .body
  const bearer = { Authorization: `Bearer ${anonymous.token}` }
  expect((await v2('GET', '', undefined, bearer, world.nobody)).status).toBe(200)
  expect((await v2('GET', `${NAME}/tags/list`, undefined, bearer, world.nobody)).status).toBe(401)
  const wrong = { host: true, headers: { Authorization: `Basic ${btoa('any:wrong')}` } }
  expect((await world.nobody.get('/jwt/auth', wrong)).status).toBe(401)
})

test('a blob comes in pieces, in order, and is what its digest says', async () => {
  const start = await v2('POST', `${NAME}/blobs/uploads/`, '')
  expect(start.status).toBe(202)
  const at = new URL(start.headers.get('location') ?? '').pathname.replace(/^\/v2\//, '')
  const piece = (from: number, text: string) =>
    v2('PATCH', at, text, { 'Content-Range': `${from}-${from + text.length - 1}` })
  expect((await piece(0, 'one ')).headers.get('range')).toBe('0-3')
  expect((await piece(0, 'one ')).status).toBe(416)
  expect((await piece(4, 'two ')).status).toBe(202)
  expect((await v2('GET', at)).headers.get('range')).toBe('0-7')
  expect((await v2('PUT', `${at}?digest=${digestOf('other')}`, 'three')).body.errors[0].code).toBe(
    'DIGEST_INVALID',
  )
  const second = await v2('POST', `${NAME}/blobs/uploads/`, '')
  const next = new URL(second.headers.get('location') ?? '').pathname.replace(/^\/v2\//, '')
  await v2('PATCH', next, 'one ')
  const digest = digestOf('one two')
  expect((await v2('PUT', `${next}?digest=${digest}`, 'two')).status).toBe(201)
  const part = await v2('GET', `${NAME}/blobs/${digest}`, undefined, { Range: 'bytes=4-6' })
  expect([part.status, part.body]).toEqual([206, 'two'])
  expect((await v2('PUT', `${next}?digest=${digest}`, '')).status).toBe(404)
  expect((await v2('DELETE', at)).status).toBe(204)
  expect((await v2('GET', at)).status).toBe(404)
  expect((await v2('DELETE', `${NAME}/blobs/${digest}`)).status).toBe(202)
  expect((await v2('GET', `${NAME}/blobs/${digest}`)).status).toBe(404)
})

test('a blob is taken from a repository that the caller may read, and from no other', async () => {
  const { digest } = await pushBlob('shared')
  const mount = (from: string, who = ana) =>
    v2('POST', `acme/p/other/blobs/uploads/?mount=${digest}&from=${from}`, '', {}, who)
  expect((await mount('acme/p/none')).status).toBe(202)
  expect((await mount(NAME)).status).toBe(201)
  const bob = await world.user('bob')
  const own = await createProject(bob, 'own')
  const stolen = await v2(
    'POST',
    `bob/own/blobs/uploads/?mount=${digest}&from=${NAME}`,
    '',
    {},
    bob,
  )
  expect([stolen.status, own.path]).toEqual([202, 'own'])
})

test('tags are listed in pages, and move; manifests stay under their digest', async () => {
  const first = await pushImage('a', 'first', 'acme/p/tags')
  const second = await pushImage('b', 'second', 'acme/p/tags')
  await pushImage('c', 'second', 'acme/p/tags')
  const page = await v2('GET', 'acme/p/tags/tags/list?n=2')
  expect(page.body).toEqual({ name: 'acme/p/tags', tags: ['a', 'b'] })
  expect(page.headers.get('link')).toBe('</v2/acme/p/tags/tags/list?last=b&n=2>; rel="next"')
  expect((await v2('GET', 'acme/p/tags/tags/list?n=2&last=b')).body.tags).toEqual(['c'])
  await v2('PUT', 'acme/p/tags/manifests/a', second.manifest, { 'Content-Type': MANIFEST })
  const head = await v2('HEAD', 'acme/p/tags/manifests/a')
  expect(head.headers.get('docker-content-digest')).toBe(second.digest)
  expect((await v2('GET', `acme/p/tags/manifests/${first.digest}`)).status).toBe(200)
  expect((await v2('DELETE', 'acme/p/tags/manifests/a')).status).toBe(202)
  expect((await v2('DELETE', `acme/p/tags/manifests/${second.digest}`)).status).toBe(202)
  expect((await v2('GET', 'acme/p/tags/tags/list')).body.tags).toEqual([])
})

test('what belongs to a manifest is found from it, and an index names what is there', async () => {
  const image = await pushImage('signed', 'signed')
  const subject = { mediaType: MANIFEST, digest: image.digest, size: image.size }
  const signature = await pushImage('', 'signature', NAME, { subject, artifactType: 'a/signature' })
  const { body } = await v2('GET', `${NAME}/referrers/${image.digest}?artifactType=a/signature`)
  expect(body.manifests).toMatchObject([{ digest: signature.digest, artifactType: 'a/signature' }])
  expect(
    (await v2('GET', `${NAME}/referrers/${image.digest}?artifactType=b`)).body.manifests,
  ).toEqual([])
  const type = 'application/vnd.oci.image.index.v1+json'
  const index = (digest: string) =>
    JSON.stringify({
      schemaVersion: 2,
      mediaType: type,
      manifests: [{ mediaType: MANIFEST, digest, size: 1 }],
    })
  const put = (text: string) => v2('PUT', `${NAME}/manifests/multi`, text, { 'Content-Type': type })
  expect((await put(index(image.digest))).status).toBe(201)
  expect((await put(index(digestOf('none')))).body.errors[0].code).toBe('MANIFEST_BLOB_UNKNOWN')
})

describe('what is refused', () => {
  test.each([
    ['no JSON', '{', 'MANIFEST_INVALID'],
    ['deep nesting', '['.repeat(100_000), 'MANIFEST_INVALID'],
    ['schema 1', JSON.stringify({ schemaVersion: 1 }), 'MANIFEST_INVALID'],
    [
      'a digest of another kind',
      JSON.stringify({
        schemaVersion: 2,
        mediaType: MANIFEST,
        config: { digest: 'md5:x', size: 1 },
        layers: [],
      }),
      'MANIFEST_INVALID',
    ],
    [
      'layers that are not here',
      JSON.stringify({
        schemaVersion: 2,
        mediaType: MANIFEST,
        config: { digest: digestOf('nowhere'), size: 1 },
        layers: [],
      }),
      'MANIFEST_BLOB_UNKNOWN',
    ],
  ])('%s', async (_what, manifest, code) => {
    const answer = await v2('PUT', `${NAME}/manifests/bad`, manifest, { 'Content-Type': MANIFEST })
    expect(answer.body.errors[0].code).toBe(code)
    expect((await v2('GET', `${NAME}/manifests/bad`)).status).toBe(404)
  })

  test('names with a step up, in upper case, and of hidden projects', async () => {
    for (const name of ['acme/p/a%2f..', 'acme/p/App', 'acme/none/app', 'app']) {
      expect((await v2('POST', `${name}/blobs/uploads/`, '')).status).toBe(404)
    }
    const bob = await world.user('bobby')
    expect((await v2('GET', `${NAME}/tags/list`, undefined, {}, bob)).status).toBe(404)
    await ana.post(`/projects/${projectId}/members`, { user_id: bob.id, access_level: 20 })
    expect((await v2('GET', `${NAME}/tags/list`, undefined, {}, bob)).status).toBe(200)
    const denied = await v2('POST', `${NAME}/blobs/uploads/`, '', {}, bob)
    expect([denied.status, denied.body.errors[0].code]).toEqual([403, 'DENIED'])
  })
})

test('blobs that nothing names are forgotten after a day, and uploads that nobody finished', async () => {
  const { digest } = await pushBlob('unnamed')
  const kept = await pushImage('kept', 'kept layer')
  world.setNow('2026-05-06T10:00:00.000Z')
  await world.runTasks()
  expect((await v2('GET', `${NAME}/blobs/${digest}`)).status).toBe(404)
  expect((await v2('GET', `${NAME}/blobs/${digestOf('kept layer')}`)).status).toBe(200)
  expect((await v2('GET', `${NAME}/manifests/${kept.digest}`)).status).toBe(200)
  world.setNow('2026-05-04T10:00:00.000Z')
})

test('a manifest that no tag names any more goes a day later, with what belongs to it', async () => {
  const name = 'acme/p/left'
  const left = await pushImage('left', 'left layer', name)
  const subject = { mediaType: MANIFEST, digest: left.digest, size: left.size }
  const signature = await pushImage('', 'left signature', name, { subject })
  const moved = await pushImage('moves', 'before', name)
  const child = await pushImage('', 'for one machine', name)
  const type = 'application/vnd.oci.image.index.v1+json'
  const manifests = [{ mediaType: MANIFEST, digest: child.digest, size: child.size }]
  const index = JSON.stringify({ schemaVersion: 2, mediaType: type, manifests })
  const put = await v2('PUT', `${name}/manifests/index`, index, { 'Content-Type': type })
  expect(put.status).toBe(201)
  const statuses = async () => {
    const all = [left, signature, moved, child].map((one) => `manifests/${one.digest}`)
    const paths = [...all, `blobs/${digestOf('left layer')}`, `blobs/${digestOf('before')}`]
    const answers = await Promise.all(paths.map((path) => v2('GET', `${name}/${path}`)))
    return answers.map((one) => one.status)
  }
  world.setNow('2026-05-10T00:00:00.000Z')
  expect((await v2('DELETE', `${name}/manifests/left`)).status).toBe(202)
  await pushImage('moves', 'after', name)
  await world.runTasks()
  expect(await statuses()).toEqual([200, 200, 200, 200, 200, 200])
  world.setNow('2026-05-11T12:00:00.000Z')
  await world.runTasks()
  expect(await statuses()).toEqual([404, 404, 404, 200, 404, 404])
  expect((await v2('GET', `${name}/manifests/moves`)).status).toBe(200)
  world.setNow('2026-05-04T10:00:00.000Z')
})
