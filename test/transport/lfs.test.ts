import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { storeLfsObject } from '../../src/repositories/lfs/objects.ts'
import { freePort } from '../support/free-port.ts'
import {
  type ClientFolders,
  gitClient,
  makeProject,
  openClientFolders,
  runGitClient,
  type TestProject,
} from '../support/git-client.ts'
import { addMember } from '../support/members.ts'
import { type Caller, openWorld, type World } from '../support/world.ts'

let world: World
let folders: ClientFolders
let ana: Caller
let bob: Caller
let eve: Caller
let project: TestProject
let count = 0

// git-lfs keeps what it learns about a server in the configuration: every client gets a home of its own.
const lfsEnvironment = {
  GIT_CONFIG_COUNT: '4',
  GIT_CONFIG_KEY_0: 'filter.lfs.clean',
  GIT_CONFIG_VALUE_0: 'git-lfs clean -- %f',
  GIT_CONFIG_KEY_1: 'filter.lfs.smudge',
  GIT_CONFIG_VALUE_1: 'git-lfs smudge -- %f',
  GIT_CONFIG_KEY_2: 'filter.lfs.process',
  GIT_CONFIG_VALUE_2: 'git-lfs filter-process',
  GIT_CONFIG_KEY_3: 'filter.lfs.required',
  GIT_CONFIG_VALUE_3: 'true',
}

beforeAll(async () => {
  const port = await freePort()
  // Batch answers tell where to go: the address must be the real one.
  world = await openWorld({ port, externalUrl: `http://127.0.0.1:${port}`, maxLfsObject: 1e6 })
  folders = openClientFolders()
  ana = await world.user('ana')
  bob = await world.user('bob')
  eve = await world.user('eve')
  project = await makeProject(world, ana, 'large')
  await addMember(world, project.id, bob.id, 30)
})
afterAll(async () => {
  await world.close()
  await folders.clear()
})

const lfs = (folder: string, args: readonly string[]) => gitClient(folder, args, lfsEnvironment)
const tryLfs = (folder: string, args: readonly string[]) =>
  runGitClient(folder, args, lfsEnvironment)

/** A clone whose `*.bin` are large files, with the hook that uploads them. */
async function clone(of: TestProject, who: Caller): Promise<string> {
  const folder = join(await folders.folder(), 'clone')
  await lfs(join(folder, '..'), ['clone', '-q', of.url(who), 'clone'])
  await lfs(folder, ['lfs', 'install', '--local', '--force'])
  return folder
}

async function commitLarge(folder: string, name: string, content: Buffer, message = 'Add') {
  writeFileSync(join(folder, '.gitattributes'), '*.bin filter=lfs diff=lfs merge=lfs -text\n')
  mkdirSync(join(folder, name, '..'), { recursive: true })
  writeFileSync(join(folder, name), content)
  await lfs(folder, ['add', '.'])
  await lfs(folder, ['commit', '-q', '-m', message])
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const basic = (who: Caller) =>
  `Basic ${Buffer.from(`${who.username}:${who.token}`).toString('base64')}`

async function ask(
  rest: string,
  more: {
    who?: Caller
    method?: string
    body?: unknown
    raw?: string | Buffer
    headers?: Record<string, string>
    of?: TestProject
  } = {},
) {
  const { who, method = 'POST', of = project } = more
  const headers = {
    'Content-Type': 'application/vnd.git-lfs+json',
    ...(who ? { Authorization: basic(who) } : {}),
    ...more.headers,
  }
  const body = more.raw ?? (more.body === undefined ? null : JSON.stringify(more.body))
  const response = await fetch(`${world.url}/${of.path}.git/${rest}`, {
    method,
    headers,
    body: typeof body === 'string' || body === null ? body : new Uint8Array(body),
    redirect: 'manual',
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  const text = bytes.toString('utf8')
  // Random bytes may begin as an object does.
  const isJson = /json/.test(response.headers.get('content-type') ?? '')
  const parsed = isJson && text !== '' ? JSON.parse(text) : text
  return { status: response.status, headers: response.headers, body: parsed, bytes }
}

const batch = (operation: string, objects: readonly unknown[], who?: Caller, of = project) =>
  ask('info/lfs/objects/batch', {
    ...(who ? { who } : {}),
    of,
    body: { operation, transfers: ['basic'], objects, ref: { name: 'refs/heads/main' } },
  })

async function upload(content: Buffer, who: Caller, of = project) {
  const path = `svc-lfs/objects/${sha256(content)}/${content.length}`
  const headers = { 'Content-Type': 'application/octet-stream' }
  return await ask(path, { who, method: 'PUT', raw: content, headers, of })
}

describe('git-lfs itself', { timeout: 120_000 }, () => {
  test('pushes, clones, and finds large files through the API', async () => {
    const folder = await clone(project, ana)
    const content = randomBytes(300_000)
    await commitLarge(folder, 'a folder/größe.bin', content)
    await lfs(folder, ['push', '-q', 'origin', 'HEAD:main'])
    const other = await clone(project, bob)
    expect(readFileSync(join(other, 'a folder/größe.bin')).equals(content)).toBe(true)
    expect(await lfs(other, ['lfs', 'fsck'])).toContain('OK')

    const at = `/projects/${project.id}/repository/files/${encodeURIComponent('a folder/größe.bin')}/raw`
    const pointer = await ana.get(`${at}?ref=main`)
    expect(pointer.body).toContain(`oid sha256:${sha256(content)}`)
    const url = `${world.url}/api/v4${at}?ref=main&lfs=true`
    const headers = { 'PRIVATE-TOKEN': ana.token ?? '' }
    const whole = await fetch(url, { headers })
    expect(whole.headers.get('content-type')).toBe('application/octet-stream')
    expect(Buffer.from(await whole.arrayBuffer()).equals(content)).toBe(true)
    const part = await fetch(url, { headers: { ...headers, Range: 'bytes=10-19' } })
    expect(part.status).toBe(206)
    expect(Buffer.from(await part.arrayBuffer()).equals(content.subarray(10, 20))).toBe(true)
    const small = await ana.get(
      `/projects/${project.id}/repository/files/.gitattributes/raw?ref=main&lfs=true`,
    )
    expect(small.body).toContain('filter=lfs')
    const { body } = await ana.get(`/projects/${project.id}?statistics=true`)
    expect(body.statistics.lfs_objects_size).toBe(300_000)
  })

  test('archives hold the files or, when asked, their pointers', async () => {
    const folder = await folders.folder()
    const unpack = async (query: string, name: string) => {
      const url = `${world.url}/api/v4/projects/${project.id}/repository/archive.tar.gz?${query}`
      const answer = await fetch(url, { headers: { 'PRIVATE-TOKEN': ana.token ?? '' } })
      const file = join(folder, `${name}.tar.gz`)
      writeFileSync(file, Buffer.from(await answer.arrayBuffer()))
      return execFileSync('tar', ['-xzOf', file, '--wildcards', '*.bin'])
    }
    expect((await unpack('sha=main', 'large')).length).toBe(300_000)
    const pointers = await unpack('sha=main&include_lfs_blobs=false', 'small')
    expect(pointers.toString()).toContain('version https://git-lfs.github.com/spec/v1')
  })

  test('a push whose files were not brought along is refused as a whole', async () => {
    const folder = await clone(project, ana)
    await commitLarge(folder, 'missing.bin', randomBytes(2000))
    // Without the hook nothing uploads.
    const run = await tryLfs(folder, ['push', '--no-verify', 'origin', 'HEAD:missing'])
    expect(run.code).not.toBe(0)
    expect(run.stderr).toContain('LFS objects are missing')
    expect((await ana.get(`/projects/${project.id}/repository/branches/missing`)).status).toBe(404)
    await lfs(folder, ['lfs', 'push', '--all', 'origin'])
    await lfs(folder, ['push', '-q', '--no-verify', 'origin', 'HEAD:missing'])
  })

  test('locks hold back the pushes of others', async () => {
    const folder = await clone(project, ana)
    await commitLarge(folder, 'locked.bin', randomBytes(1000))
    await lfs(folder, ['push', '-q', 'origin', 'HEAD:main'])
    await lfs(folder, ['lfs', 'lock', 'locked.bin'])
    const other = await clone(project, bob)
    expect(await lfs(other, ['lfs', 'locks'])).toMatch(/locked\.bin\s+ana/)
    const again = await tryLfs(other, ['lfs', 'lock', 'locked.bin'])
    expect(again.code).not.toBe(0)
    await commitLarge(other, 'locked.bin', randomBytes(900), 'Change what is locked')
    const refused = await tryLfs(other, ['push', '--no-verify', 'origin', 'HEAD:work'])
    expect(refused.stderr).toMatch(/LFS objects are missing|is locked/)
    await lfs(other, ['lfs', 'push', '--all', 'origin'])
    const held = await tryLfs(other, ['push', '--no-verify', 'origin', 'HEAD:work'])
    expect(held.stderr).toContain("'locked.bin' is locked in work by ana")
    await lfs(other, ['rm', '-q', 'locked.bin'])
    await lfs(other, ['commit', '-q', '-m', 'Remove'])
    const removed = await tryLfs(other, ['push', '--no-verify', 'origin', 'HEAD:work'])
    expect(removed.stderr).toContain("'locked.bin' is locked in work by ana")
    const forced = await tryLfs(other, ['lfs', 'unlock', '--force', 'locked.bin'])
    expect(forced.code).not.toBe(0)
    await lfs(folder, ['lfs', 'unlock', 'locked.bin'])
    await lfs(other, ['push', '-q', '--no-verify', 'origin', 'HEAD:work'])
  })

  test('a fork has the objects of its parent, and the parent not those of a private fork', async () => {
    const fork = await forkOf(project, bob)
    const folder = await clone(fork, bob)
    expect(readFileSync(join(folder, 'a folder/größe.bin')).length).toBe(300_000)
    const content = randomBytes(5000)
    await commitLarge(folder, 'new.bin', content)
    await lfs(folder, ['push', '-q', 'origin', 'HEAD:main'])
    const object = { oid: sha256(content), size: content.length }
    const { body } = await batch('download', [object], ana)
    expect(body.objects[0].error.code).toBe(404)
  })
})

/** A fork of a project that anybody or nobody may read, with its repository. */
async function forkOf(parent: TestProject, who: Caller, visibility = 'private') {
  const change = { empty_repo: 0 as const }
  await world.ctx.db.updateTable('projects').set(change).where('id', '=', parent.id).execute()
  const forked = await who.post(`/projects/${parent.id}/fork`, { visibility })
  expect(forked.status).toBe(201)
  await world.runTasks()
  const path: string = forked.body.path_with_namespace
  const address = (caller?: Caller) => parent.url(caller).replace(`/${parent.path}.`, `/${path}.`)
  return { ...parent, id: forked.body.id as number, path, url: address }
}

describe('a network of forks shares bytes, not the right to read them', {
  timeout: 120_000,
}, () => {
  let parent: TestProject
  let fork: TestProject
  let secret: Buffer
  const read = (content: Buffer, of: TestProject, who?: Caller) =>
    ask(`svc-lfs/objects/${sha256(content)}`, { ...(who ? { who } : {}), method: 'GET', of })
  const has = async (of: TestProject, content: Buffer) => {
    const query = world.ctx.db.selectFrom('lfs_objects').select('oid')
    const rows = query.where('project_id', '=', of.id).where('oid', '=', sha256(content)).execute()
    return (await rows).length === 1
  }

  beforeAll(async () => {
    parent = await makeProject(world, ana, 'network', { visibility: 'public' })
    const folder = await clone(parent, ana)
    await commitLarge(folder, 'first.bin', randomBytes(400))
    await lfs(folder, ['push', '-q', 'origin', 'HEAD:main'])
    fork = await forkOf(parent, bob)
    secret = randomBytes(600)
    expect((await upload(secret, bob, fork)).status).toBe(200)
  })

  test('an object of a private fork is not to be had through its public parent', async () => {
    const named = { oid: sha256(secret), size: secret.length }
    for (const who of [undefined, eve, ana]) {
      expect((await read(secret, parent, who)).status).toBe(404)
      const { body } = await batch('download', [named], who, parent)
      expect(body.objects[0].error.code).toBe(404)
    }
    // Whoever may push to the parent is told to bring it all, as for an object that is nowhere.
    const asked = await batch('upload', [named], ana, parent)
    expect(asked.body.objects[0].actions.upload).toBeDefined()
    expect(await has(parent, secret)).toBe(false)
    expect((await read(secret, fork, bob)).bytes.equals(secret)).toBe(true)
  })

  test('nor by a pointer that somebody commits to the parent', async () => {
    const folder = join(await folders.folder(), 'clone')
    await lfs(join(folder, '..'), ['clone', '-q', parent.url(ana), 'clone'])
    const oid = sha256(secret)
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${secret.length}\n`
    writeFileSync(join(folder, 'guess.txt'), pointer)
    await lfs(folder, ['add', 'guess.txt'])
    await lfs(folder, ['commit', '-q', '-m', 'Guess'])
    const push = await tryLfs(folder, ['push', '--no-verify', 'origin', 'HEAD:guess'])
    expect(push.stderr).toContain('LFS objects are missing')
    const file = {
      branch: 'guess',
      content: pointer,
      commit_message: 'Guess',
      start_branch: 'main',
    }
    expect((await ana.post(`/projects/${parent.id}/repository/files/g.txt`, file)).status).toBe(201)
    const raw = await world.nobody.get(
      `/projects/${parent.id}/repository/files/g.txt/raw?ref=guess&lfs=true`,
    )
    expect(raw.body).toBe(pointer)
  })

  test('a fork takes what its owner may read in the parent without sending it again', async () => {
    const content = randomBytes(700)
    const folder = await clone(parent, ana)
    await commitLarge(folder, 'later.bin', content)
    await lfs(folder, ['push', '-q', 'origin', 'HEAD:later'])
    expect(await has(fork, content)).toBe(false)
    await lfs(folder, ['fetch', '-q', parent.url(bob), 'later'])
    await lfs(folder, ['push', '-q', '--no-verify', fork.url(bob), 'HEAD:later'])
    expect(await has(fork, content)).toBe(true)
    const again = await batch('upload', [{ oid: sha256(content), size: 700 }], bob, fork)
    expect(again.body.objects).toEqual([{ oid: sha256(content), size: 700 }])
  })

  test('a merge request brings the objects of its commits to the parent, and no others', async () => {
    const content = randomBytes(800)
    const folder = await clone(fork, bob)
    await commitLarge(folder, 'offered.bin', content)
    await lfs(folder, ['push', '-q', 'origin', 'HEAD:offer'])
    expect((await read(content, parent)).status).toBe(404)
    const made = await bob.post(`/projects/${fork.id}/merge_requests`, {
      title: 'Offer',
      source_branch: 'offer',
      target_branch: 'main',
      target_project_id: parent.id,
    })
    expect(made.status).toBe(201)
    await world.runTasks()
    expect((await read(content, parent)).bytes.equals(content)).toBe(true)
    expect((await read(secret, parent)).status).toBe(404)
  })

  test('a commit that starts in the parent brings its objects to the fork', async () => {
    const content = randomBytes(900)
    const folder = await clone(parent, ana)
    await commitLarge(folder, 'start.bin', content)
    await lfs(folder, ['push', '-q', 'origin', 'HEAD:start'])
    const made = await bob.post(`/projects/${fork.id}/repository/commits`, {
      branch: 'started',
      start_branch: 'start',
      start_project: parent.id,
      commit_message: 'Start',
      actions: [{ action: 'create', file_path: 'more.txt', content: 'more' }],
    })
    expect(made.status).toBe(201)
    expect(await has(fork, content)).toBe(true)
  })
})

describe('the batch', () => {
  test('tells what to upload and what is there', async () => {
    const content = randomBytes(100)
    const object = { oid: sha256(content), size: content.length }
    const first = await batch('upload', [object], ana)
    expect(first.status).toBe(200)
    expect(first.headers.get('content-type')).toBe('application/vnd.git-lfs+json')
    expect(first.body).toEqual({
      transfer: 'basic',
      hash_algo: 'sha256',
      objects: [
        {
          ...object,
          authenticated: true,
          actions: {
            upload: {
              href: `${world.url}/ana/large.git/svc-lfs/objects/${object.oid}/100`,
              header: {
                Authorization: basic(ana),
                'Content-Type': 'application/octet-stream',
                'Transfer-Encoding': 'chunked',
              },
            },
          },
        },
      ],
    })
    const missing = await batch('download', [object], ana)
    expect(missing.body.objects[0].error.code).toBe(404)
    expect((await upload(content, ana)).status).toBe(200)
    const second = await batch('upload', [object], ana)
    expect(second.body.objects).toEqual([object])
    const down = await batch('download', [object], bob)
    expect(down.body.objects[0].actions.download.href).toBe(
      `${world.url}/ana/large.git/svc-lfs/objects/${object.oid}`,
    )
    const lying = await batch('upload', [{ ...object, size: 7 }], ana)
    expect(lying.body.objects[0].error.code).toBe(422)
    // Clients that know the reference vendor's word ask there.
    const word = await ask(`gitlab-lfs/objects/${object.oid}`, { who: ana, method: 'GET' })
    expect(word.bytes.equals(content)).toBe(true)
  })

  test('asks strangers to sign in, and tells others apart by what they may', async () => {
    const object = { oid: sha256(Buffer.from('x')), size: 1 }
    const nobody = await batch('download', [object])
    expect(nobody.status).toBe(401)
    expect(nobody.headers.get('lfs-authenticate')).toBe('Basic realm="svc"')
    expect(nobody.headers.get('www-authenticate')).toBe('Basic realm="svc"')
    expect((await batch('download', [object], eve)).status).toBe(404)
    const open = await makeProject(world, ana, `open${count++}`, { visibility: 'public' })
    expect((await batch('download', [object], undefined, open)).status).toBe(200)
    expect((await batch('upload', [object], undefined, open)).status).toBe(401)
    expect((await batch('upload', [object], eve, open)).status).toBe(403)
    const reader = world.as(await world.token(ana.id, ['read_repository']))
    const weak = Object.assign(reader, { username: 'ana' })
    expect((await batch('download', [object], weak)).status).toBe(200)
    expect((await batch('upload', [object], weak)).status).toBe(403)
    await ana.put(`/projects/${open.id}`, { lfs_enabled: false })
    expect((await batch('download', [object], ana, open)).status).toBe(501)
    const old = await ask('info/lfs/objects', { who: ana, body: {} })
    expect(old.status).toBe(501)
    expect(old.body.message).toContain('batch API')
    const older = await ask(`info/lfs/objects/${object.oid}`, { who: ana, method: 'GET' })
    expect(older.status).toBe(501)
  })

  test('bad input is refused without harm', async () => {
    const at = 'info/lfs/objects/batch'
    const who = ana
    const status = async (more: Parameters<typeof ask>[1]) =>
      (await ask(at, { who, ...more })).status
    expect(await status({ raw: '{' })).toBe(400)
    expect(await status({ raw: 'null' })).toBe(422)
    expect(await status({ body: {} })).toBe(422)
    expect(await status({ body: { operation: 'verify', objects: [] } })).toBe(422)
    expect(await status({ body: { operation: 'download', objects: 'all' } })).toBe(422)
    const many = Array.from({ length: 1001 }, () => ({ oid: 'a', size: 1 }))
    expect(await status({ body: { operation: 'download', objects: many } })).toBe(422)
    expect(await status({ raw: 'x'.repeat(1_100_000) })).toBe(413)
    const other = { operation: 'download', objects: [], transfers: ['tus'] }
    expect(await status({ body: other })).toBe(422)
    const hash = { operation: 'download', objects: [], hash_algo: 'sha512' }
    expect(await status({ body: hash })).toBe(409)
    expect(await status({ headers: { 'Content-Type': 'text/plain' }, raw: '{}' })).toBe(415)
    expect((await ask(at, { who, method: 'GET' })).status).toBe(405)
    const odd = ['../../etc/passwd', 'A'.repeat(64), 5, null, { a: 1 }, `${'a'.repeat(63)}\n`]
    const found = await batch(
      'upload',
      [...odd.map((oid) => ({ oid, size: 1 })), { oid: 'a'.repeat(64), size: -1 }],
      ana,
    )
    expect(found.status).toBe(200)
    for (const one of found.body.objects) {
      expect(one.actions).toBeUndefined()
      expect(one.error.code).toBe(422)
    }
    const large = await batch('upload', [{ oid: 'a'.repeat(64), size: 2e6 }], ana)
    expect(large.body.objects[0].error.code).toBe(413)
  })
})

describe('transfers', () => {
  const put = (oid: string, size: number | string, raw: Buffer, who?: Caller) =>
    ask(`svc-lfs/objects/${oid}/${size}`, {
      ...(who ? { who } : {}),
      method: 'PUT',
      raw,
      headers: { 'Content-Type': 'application/octet-stream' },
    })

  test('bytes that are not what their name says are not kept', async () => {
    const content = randomBytes(500)
    const oid = sha256(content)
    const forged = Buffer.from(content)
    forged[0] = (forged[0] ?? 0) ^ 1
    expect((await put(oid, 500, forged, ana)).status).toBe(422)
    expect((await put(oid, 501, content, ana)).status).toBe(422)
    expect((await put(oid, 499, content, ana)).status).toBe(422)
    expect((await put(oid, 2_000_000, content, ana)).status).toBe(413)
    const { body } = await batch('download', [{ oid, size: 500 }], ana)
    expect(body.objects[0].error.code).toBe(404)
    expect(await world.ctx.files.sizeOf(sha256(forged))).toBeUndefined()
    expect(await world.ctx.files.sizeOf(oid)).toBeUndefined()
  })

  test('a body in chunks that is too long or too short is not kept either', async () => {
    const content = randomBytes(50_000)
    const oid = sha256(content)
    const send = async (body: Buffer) => {
      const stream = new ReadableStream({
        start(controller) {
          controller.enqueue(new Uint8Array(body))
          controller.close()
        },
      })
      const response = await fetch(`${world.url}/ana/large.git/svc-lfs/objects/${oid}/50000`, {
        method: 'PUT',
        headers: { Authorization: basic(ana) },
        body: stream,
        duplex: 'half',
      } as RequestInit)
      return response.status
    }
    expect(await send(Buffer.concat([content, Buffer.from('more')]))).toBe(422)
    expect(await send(content.subarray(1))).toBe(422)
    expect(await send(content)).toBe(200)
  })

  test('nobody gets at an object of others by naming it', async () => {
    const secret = randomBytes(700)
    const oid = sha256(secret)
    expect((await upload(secret, ana)).status).toBe(200)
    const own = await makeProject(world, eve, `own${count++}`)
    const named = { oid, size: secret.length }
    // The answer is the same as for what does not exist: all of it must be sent.
    const asked = await batch('upload', [named], eve, own)
    expect(asked.body.objects[0].actions.upload).toBeDefined()
    expect((await batch('download', [named], eve, own)).body.objects[0].error.code).toBe(404)
    const direct = await ask(`svc-lfs/objects/${oid}`, { who: eve, method: 'GET', of: own })
    expect(direct.status).toBe(404)
    const guess = await ask(`svc-lfs/objects/${oid}/${secret.length}`, {
      who: eve,
      method: 'PUT',
      raw: randomBytes(secret.length),
      of: own,
    })
    expect(guess.status).toBe(422)
    const after = await ask(`svc-lfs/objects/${oid}`, { who: eve, method: 'GET', of: own })
    expect(after.status).toBe(404)
    const foreign = await ask(`svc-lfs/objects/${oid}`, { who: eve, method: 'GET' })
    expect(foreign.status).toBe(404)
  })

  test('paths that are no object lead nowhere', async () => {
    for (const rest of [
      `svc-lfs/objects/${'a'.repeat(63)}`,
      `svc-lfs/objects/${'A'.repeat(64)}`,
      'svc-lfs/objects/..%2f..%2fetc%2fpasswd',
      `svc-lfs/objects/${'a'.repeat(64)}/1/2`,
      `other-lfs/objects/${'a'.repeat(64)}`,
      'info/lfs/locks/x/unlock',
    ]) {
      expect((await ask(rest, { who: ana, method: 'GET' })).status, rest).toBe(404)
    }
    const missing = await ask(`svc-lfs/objects/${'a'.repeat(64)}`, { who: ana, method: 'GET' })
    expect(missing.status).toBe(404)
  })

  test('a download goes on where it broke off', async () => {
    const content = randomBytes(5000)
    await upload(content, ana)
    const at = `svc-lfs/objects/${sha256(content)}`
    const rest = await ask(at, { who: bob, method: 'GET', headers: { Range: 'bytes=4000-' } })
    expect(rest.status).toBe(206)
    expect(rest.headers.get('content-range')).toBe('bytes 4000-4999/5000')
    expect(rest.bytes.equals(content.subarray(4000))).toBe(true)
    const head = await ask(at, { who: bob, method: 'HEAD' })
    expect(head.headers.get('content-length')).toBe('5000')
    expect(
      (await ask(at, { who: bob, method: 'GET', headers: { Range: 'bytes=9000-' } })).status,
    ).toBe(416)
  })

  test('a proxy may ask before it sends', async () => {
    const asks = (who: Caller) =>
      ask(`svc-lfs/objects/${'b'.repeat(64)}/10/authorize`, { who, method: 'PUT' })
    expect((await asks(ana)).body).toEqual({ LfsOid: 'b'.repeat(64), LfsSize: 10 })
    expect((await asks(eve)).status).toBe(404)
  })

  test('an upload for a project that went meanwhile is not found', async () => {
    const content = randomBytes(20)
    const object = { oid: sha256(content), size: 20 }
    const stored = storeLfsObject(world.ctx, { id: 999_999 }, object, Readable.from([content]))
    await expect(stored).rejects.toMatchObject({ status: 404 })
  })

  test('an upload that is cut off leaves nothing', async () => {
    const content = randomBytes(100_000)
    const oid = sha256(content)
    const gone = new AbortController()
    const stream = new ReadableStream({
      start(controller) {
        controller.enqueue(new Uint8Array(content.subarray(0, 50_000)))
        setTimeout(() => gone.abort(), 50)
      },
    })
    const request = fetch(`${world.url}/ana/large.git/svc-lfs/objects/${oid}/100000`, {
      method: 'PUT',
      headers: { Authorization: basic(ana) },
      body: stream,
      duplex: 'half',
      signal: gone.signal,
    } as RequestInit)
    await expect(request).rejects.toThrow()
    const { body } = await batch('download', [{ oid, size: 100_000 }], ana)
    expect(body.objects[0].error.code).toBe(404)
    expect((await upload(content, ana)).status).toBe(200)
  })
})

describe('locks', () => {
  const lock = (path: unknown, who: Caller) => ask('info/lfs/locks', { who, body: { path } })

  test('are one person’s, in their project alone', async () => {
    const made = await lock('docs/plan.psd', ana)
    expect(made.status).toBe(201)
    expect(made.body.lock).toEqual({
      id: expect.stringMatching(/^\d+$/),
      path: 'docs/plan.psd',
      locked_at: '2026-05-04T10:00:00.000Z',
      owner: { name: 'ana' },
    })
    const taken = await lock('docs/plan.psd', bob)
    expect(taken.status).toBe(409)
    expect(taken.body.lock).toEqual(made.body.lock)
    const verify = await ask('info/lfs/locks/verify', { who: bob, body: {} })
    expect(verify.body).toMatchObject({ ours: [], theirs: [{ path: 'docs/plan.psd' }] })
    const listed = await ask('info/lfs/locks?path=docs%2Fplan.psd', { who: bob, method: 'GET' })
    expect(listed.body.locks).toEqual([made.body.lock])
    const { id } = made.body.lock
    const unlock = (who: Caller, body: unknown, of = project) =>
      ask(`info/lfs/locks/${id}/unlock`, { who, body, of })
    const foreign = await makeProject(world, eve, `foreign${count++}`)
    expect((await unlock(eve, { force: true }, foreign)).status).toBe(404)
    expect((await unlock(bob, {})).status).toBe(403)
    expect((await unlock(bob, { force: true })).status).toBe(403)
    await addMember(world, project.id, bob.id, 40)
    expect((await unlock(bob, {})).status).toBe(403)
    expect((await unlock(bob, { force: true })).body.lock.path).toBe('docs/plan.psd')
    expect((await unlock(bob, { force: true })).status).toBe(404)
  })

  test('are told in pages as one’s own and those of others', async () => {
    const place = await makeProject(world, ana, `locked${count++}`)
    await addMember(world, place.id, bob.id, 30)
    const at = (rest: string, who: Caller, body: unknown) =>
      ask(`info/lfs/locks${rest}`, { who, body, of: place })
    for (const [path, who] of [
      ['a', ana],
      ['b', bob],
      ['c', ana],
    ] as const) {
      expect((await at('', who, { path })).status).toBe(201)
    }
    const paths = (list: { path: string }[]) => list.map((one) => one.path)
    const { body: whole } = await at('/verify', ana, { ref: { name: 'refs/heads/main' } })
    expect([paths(whole.ours), paths(whole.theirs)]).toEqual([['a', 'c'], ['b']])
    const { body: first } = await at('/verify', ana, { limit: 2 })
    expect([paths(first.ours), paths(first.theirs)]).toEqual([['a'], ['b']])
    const { body: second } = await at('/verify', ana, { limit: 2, cursor: first.next_cursor })
    expect([paths(second.ours), paths(second.theirs)]).toEqual([['c'], []])
    expect(second.next_cursor).toBeUndefined()
    expect((await at(`/${whole.ours[0].id}/unlock`, ana, {})).status).toBe(200)
    expect((await at('', bob, { path: 'a' })).status).toBe(201)
  })

  test('come in pages and refuse what is no path', async () => {
    for (const name of ['a', 'b', 'c']) await lock(`page/${name}`, ana)
    const first = await ask('info/lfs/locks?limit=2', { who: ana, method: 'GET' })
    expect(first.body.locks.map((one: { path: string }) => one.path)).toEqual(['page/a', 'page/b'])
    const next = `info/lfs/locks?limit=2&cursor=${first.body.next_cursor}`
    const second = await ask(next, { who: ana, method: 'GET' })
    expect(second.body.locks.map((one: { path: string }) => one.path)).toEqual(['page/c'])
    expect(second.body.next_cursor).toBeUndefined()
    for (const path of ['', '/a', 'a/../b', 'a//b', 'x'.repeat(5000), 5, null]) {
      expect((await lock(path, ana)).status).toBe(422)
    }
    const reporter = await world.user('rita')
    await addMember(world, project.id, reporter.id, 20)
    expect((await lock('mine', reporter)).status).toBe(403)
    expect((await ask('info/lfs/locks', { who: reporter, method: 'GET' })).status).toBe(200)
    expect((await ask('info/lfs/locks?cursor=x', { who: ana, method: 'GET' })).status).toBe(422)
  })
})
