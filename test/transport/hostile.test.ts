import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { deflateSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildLongHistory } from '../../fixtures/repositories/long-history.ts'
import { flushPacket, packet } from '../../src/transport/pkt-line.ts'
import {
  type ClientFolders,
  commitFile,
  gitClient,
  makeProject,
  openClientFolders,
  runGitClient,
  type TestProject,
} from '../support/git-client.ts'
import { type Caller, useWorld } from '../support/world.ts'
import { emptyPack, pushBody, sendRaw, splitAddress } from './raw-push.ts'

const world = useWorld({ maxPush: 2_000_000 })
let folders: ClientFolders
let ana: Caller
let project: TestProject
let source: string
let tip: string

beforeAll(async () => {
  folders = openClientFolders()
  ana = await world.user('ana')
  project = await makeProject(world, ana, 'target')
  source = await folders.repository()
  await gitClient(source, ['push', '-q', project.url(ana), 'main'])
  tip = await gitClient(source, ['rev-parse', 'main'])
})

afterAll(() => folders.clear())

const zero = '0'.repeat(40)

/** Nothing of a failed push is left: no ref, no quarantine, no lock, no open row, no process. */
async function expectNothingLeft(): Promise<void> {
  const refs = await gitClient(project.repository, ['for-each-ref', '--format=%(refname)'])
  expect(refs).toBe('refs/heads/main')
  await expect.poll(() => leftovers(project.repository)).toEqual([])
  await expect.poll(() => gitProcesses(project.repository)).toEqual([])
  const open = await world.ctx.db
    .selectFrom('pushes')
    .select('id')
    .where('state', '=', 'open')
    .execute()
  expect(open).toEqual([])
  expect(await gitClient(project.repository, ['fsck', '--full'])).toBe('')
}

function leftovers(repository: string): string[] {
  const names = readdirSync(repository, { recursive: true, encoding: 'utf8' })
  return names.filter((name) => /tmp_objdir|incoming|\.lock$|tmp_pack|tmp_obj/.test(name))
}

/** The command lines of git programs that work on a repository. */
function gitProcesses(repository: string): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid) || !existsSync(`/proc/${pid}/cmdline`)) return []
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
      return line.includes(repository) && !line.includes('for-each-ref') ? [line] : []
    } catch {
      return []
    }
  })
}

/** A number as deltas write it. */
function size(value: number): Buffer {
  const bytes: number[] = []
  for (let rest = value; rest > 0; rest = Math.floor(rest / 128)) {
    bytes.push((rest % 128) | (rest >= 128 ? 0x80 : 0))
  }
  return Buffer.from(bytes)
}

/** A pack of loose pieces: type number and content of each object, and the base of a delta. */
function makePack(objects: readonly (readonly [number, Buffer, Buffer?])[]): Buffer {
  const head = Buffer.alloc(12)
  head.write('PACK')
  head.writeUInt32BE(2, 4)
  head.writeUInt32BE(objects.length, 8)
  const parts = objects.map(([type, content, base = Buffer.alloc(0)]) => {
    const bytes: number[] = []
    let size = content.length >> 4
    let byte = (type << 4) | (content.length & 15)
    while (size > 0) {
      bytes.push(byte | 0x80)
      byte = size & 0x7f
      size >>= 7
    }
    bytes.push(byte)
    return Buffer.concat([Buffer.from(bytes), base, deflateSync(content)])
  })
  const body = Buffer.concat([head, ...parts])
  return Buffer.concat([body, createHash('sha1').update(body).digest()])
}

function idOf(type: string, content: Buffer): string {
  return createHash('sha1').update(`${type} ${content.length}\0`).update(content).digest('hex')
}

const commitOn = (tree: string) =>
  Buffer.from(
    `tree ${tree}\nauthor A <a@example.com> 1 +0000\ncommitter A <a@example.com> 1 +0000\n\nBad\n`,
  )

function entry(mode: string, name: string, id: string): Buffer {
  return Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')])
}

describe('packs made to do harm', () => {
  const blob = Buffer.from('harmless\n')
  const blobId = idOf('blob', blob)
  const other = idOf('blob', Buffer.from('missing\n'))
  const modules = Buffer.from('[submodule "x"]\n\tpath = x\n\turl = --upload-pack=touch /tmp/p\n')

  test.each([
    ['a zero-padded mode', [entry('0100644', 'a', blobId)], [blob]],
    ['an entry called .git', [entry('100644', '.git', blobId)], [blob]],
    ['an entry called ..', [entry('100644', '..', blobId)], [blob]],
    ['a name with a slash', [entry('100644', 'a/b', blobId)], [blob]],
    ['an entry twice', [entry('100644', 'a', blobId), entry('100644', 'a', blobId)], [blob]],
    ['entries out of order', [entry('100644', 'b', blobId), entry('100644', 'a', blobId)], [blob]],
    ['a blob that is missing', [entry('100644', 'a', other)], []],
    [
      'a submodule address that is an option',
      [entry('100644', '.gitmodules', idOf('blob', modules))],
      [modules],
    ],
    ['.gitmodules as a link', [entry('120000', '.gitmodules', blobId)], [blob]],
  ])('%s is refused', async (_, entries, blobs) => {
    const tree = Buffer.concat(entries)
    const commit = commitOn(idOf('tree', tree))
    const pack = makePack([
      ...blobs.map((content) => [3, content] as const),
      [2, tree],
      [1, commit],
    ])
    const answer = await sendRaw(
      project.url(ana),
      pushBody([['refs/heads/bad', idOf('commit', commit)]], { pack }),
    )
    expect(answer.text).toMatch(/ng refs\/heads\/bad/)
    await expectNothingLeft()
  })

  test('a truncated pack, a wrong checksum and no pack at all are refused', async () => {
    const commit = commitOn('4b825dc642cb6eb9a060e54bf8d69288fbee4904')
    const pack = makePack([[1, commit]])
    const wrong = Buffer.from(pack)
    wrong[wrong.length - 1] = (wrong.at(-1) ?? 0) ^ 1
    for (const broken of [pack.subarray(0, 30), wrong, Buffer.from('PACKjunk'), Buffer.alloc(0)]) {
      const body = pushBody([['refs/heads/bad', idOf('commit', commit)]], { pack: broken })
      const answer = await sendRaw(project.url(ana), body)
      expect(answer.text).toMatch(/ng refs\/heads\/bad|unpack/)
      await expectNothingLeft()
    }
  })

  test('a ref to an object that nobody has is refused', async () => {
    const body = pushBody([['refs/heads/bad', 'd'.repeat(40)]])
    expect((await sendRaw(project.url(ana), body)).text).toContain('ng refs/heads/bad')
    await expectNothingLeft()
  })

  test('a small pack that unfolds into gigabytes is refused before memory goes', async () => {
    const base = Buffer.alloc(0xffffff)
    const copies = Array.from({ length: 256 }, () => Buffer.from([0xf0, 0xff, 0xff, 0xff]))
    const delta = Buffer.concat([size(base.length), size(base.length * 256), ...copies])
    const pack = makePack([
      [3, base],
      [7, delta, Buffer.from(idOf('blob', base), 'hex')],
    ])
    expect(pack.length).toBeLessThan(100_000)
    const start = performance.now()
    const answer = await sendRaw(project.url(ana), pushBody([['refs/heads/bad', tip]], { pack }))
    expect(answer.text).toMatch(/ng refs\/heads\/bad/)
    expect(performance.now() - start).toBeLessThan(15_000)
    await expectNothingLeft()
  })

  test('a push above the limit is refused with the reason', async () => {
    const clone = join(await folders.folder(), 'clone')
    await gitClient(source, ['clone', '-q', source, clone])
    const noise = createHash('sha512').update('x').digest('hex')
    const content = Array.from({ length: 160_000 }, (_, i) =>
      createHash('sha1')
        .update(noise + i)
        .digest('base64'),
    )
    await commitFile(clone, 'big', content.join(''), 'Too big')
    const run = await runGitClient(clone, ['push', project.url(ana), 'HEAD:big'])
    expect(run.code).toBe(1)
    expect(run.stderr).toContain('exceeds maximum allowed size')
    await expectNothingLeft()
  })
})

describe('bodies made to do harm', () => {
  test.each([
    ['nothing', Buffer.alloc(0)],
    ['nonsense', Buffer.from('nonsense')],
    ['a length beyond all packets', Buffer.from('ffff')],
    ['a packet cut short', Buffer.from('00ff0000')],
    ['a command that is none', Buffer.concat([packet('make it so\0report-status'), flushPacket])],
    ['a certificate', Buffer.concat([packet('push-cert\0report-status'), flushPacket])],
    [
      'one ref twice',
      Buffer.concat([packet(`${zero} ${zero} r\0`), packet(`${zero} ${zero} r`), flushPacket]),
    ],
  ])('%s as a push is 400', async (_, body) => {
    expect((await sendRaw(project.url(ana), body)).status).toBe(400)
    await expectNothingLeft()
  })

  test('broken gzip is 400, good gzip is a push', async () => {
    const body = pushBody([['refs/heads/zipped', tip]])
    const zipped = gzipSync(body)
    const headers = { 'Content-Encoding': 'gzip' }
    expect((await sendRaw(project.url(ana), body, headers)).status).toBe(400)
    expect((await sendRaw(project.url(ana), zipped.subarray(0, 40), headers)).status).toBe(400)
    expect((await sendRaw(project.url(ana), zipped, { 'Content-Encoding': 'br' })).status).toBe(415)
    await expectNothingLeft()
    expect((await sendRaw(project.url(ana), zipped, headers)).text).toContain(
      'ok refs/heads/zipped',
    )
    await gitClient(project.repository, ['update-ref', '-d', 'refs/heads/zipped'])
  })

  test('a small body that inflates without end is stopped, and memory stays flat', async () => {
    const bomb = gzipSync(
      Buffer.concat([pushBody([['refs/heads/bad', tip]]), Buffer.alloc(300_000_000)]),
    )
    const before = process.memoryUsage().rss
    const answer = await sendRaw(project.url(ana), bomb, { 'Content-Encoding': 'gzip' })
    expect(answer.status === 413 || answer.text.includes('ng refs/heads/bad')).toBe(true)
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024)
    await gitClient(project.repository, ['update-ref', '-d', 'refs/heads/bad'])
    await expectNothingLeft()
  })

  test('a fetch request without end is 413', async () => {
    const { url, authorization } = splitAddress(project.url(ana))
    const response = await fetch(`${url}/git-upload-pack`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/x-git-upload-pack-request',
        'Content-Encoding': 'gzip',
        Authorization: authorization,
      },
      body: new Uint8Array(gzipSync(Buffer.alloc(50_000_000, packet(`want ${tip}`)))),
    })
    expect(response.status).toBe(413)
  })

  test.each([
    ['nonsense', 'nonsense', undefined],
    ['a want that is no id', `${packet('want nothing')}00000009done\n`, undefined],
    ['an unknown command', `${packet('command=format-disk')}0000`, 'version=2'],
    ['a want of nothing here', `${packet(`want ${'e'.repeat(40)}`)}00000009done\n`, undefined],
    ['an absurd protocol', `${packet('command=ls-refs')}0000`, 'version=2:version=99'],
  ])('%s as a fetch ends without harm', async (_, body, protocol) => {
    const { url, authorization } = splitAddress(project.url(ana))
    const response = await fetch(`${url}/git-upload-pack`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/x-git-upload-pack-request',
        Authorization: authorization,
        ...(protocol === undefined ? {} : { 'Git-Protocol': protocol }),
      },
      body,
    })
    expect([200, 400]).toContain(response.status)
    await expect.poll(() => gitProcesses(project.repository)).toEqual([])
  })
})

describe('clients that go away or hang', () => {
  /** Opens a connection and sends the beginning of a request. */
  function begin(path: string, headers: readonly string[], body: Buffer): Socket {
    const { hostname, port } = new URL(world.url)
    const { authorization } = splitAddress(project.url(ana))
    const socket = connect(Number(port), hostname)
    const lines = [
      `POST ${path} HTTP/1.1`,
      'Host: x',
      `Authorization: ${authorization}`,
      ...headers,
    ]
    socket.on('error', () => {})
    socket.write(`${lines.join('\r\n')}\r\n\r\n`)
    socket.write(body)
    return socket
  }

  test('a pusher that vanishes within its small pack leaves nothing behind', async () => {
    const body = pushBody([['refs/heads/bad', 'd'.repeat(40)]], { pack: emptyPack.subarray(0, 8) })
    const socket = begin(
      `/${project.path}.git/git-receive-pack`,
      ['Content-Type: application/x-git-receive-pack-request', 'Content-Length: 1000000'],
      body,
    )
    await sleep(500)
    socket.destroy()
    await sleep(500)
    await expectNothingLeft()
  })

  test('a pusher that vanishes while git reads its pack leaves nothing behind', async () => {
    const refs = ['bad', 'worse'].map((name) => [`refs/heads/${name}`, 'd'.repeat(40)] as const)
    const body = pushBody(refs, { pack: emptyPack.subarray(0, 8) })
    const socket = begin(
      `/${project.path}.git/git-receive-pack`,
      ['Content-Type: application/x-git-receive-pack-request', 'Content-Length: 1000000'],
      body,
    )
    await expect.poll(() => gitProcesses(project.repository).length).toBeGreaterThan(0)
    socket.destroy()
    await expect.poll(() => gitProcesses(project.repository)).toEqual([])
    await expectNothingLeft()
  })

  test('when a client disconnects from a clone git is gone within a second', async () => {
    const large = join(await folders.folder(), 'large.git')
    await buildLongHistory(large, { commits: 4000 })
    // No bitmap and no reuse: git has to think before it sends.
    execFileSync('git', [
      '-C',
      large,
      'repack',
      '-adfq',
      '--depth=1',
      '--window=1',
      '--no-write-bitmap-index',
    ])
    const clone = await makeProject(world, ana, 'large', { from: large })
    const want = await gitClient(clone.repository, ['rev-parse', 'main'])
    const body = Buffer.concat([
      packet(`want ${want} side-band-64k no-progress\n`),
      flushPacket,
      packet('done\n'),
    ])
    const socket = begin(
      `/${clone.path}.git/git-upload-pack`,
      ['Content-Type: application/x-git-upload-pack-request', `Content-Length: ${body.length}`],
      body,
    )
    socket.pause()
    await expect
      .poll(() => gitProcesses(clone.repository).length, { interval: 5 })
      .toBeGreaterThan(0)
    socket.destroy()
    await expect.poll(() => gitProcesses(clone.repository)).toEqual([])
  })
})
