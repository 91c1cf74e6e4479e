import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { flushPacket, PacketReader, packet } from '../../src/transport/pkt-line.ts'
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
import { splitAddress } from './raw-push.ts'

/** docs/contract/D §3.1, §3.4 and §3.5 on the wire: what is advertised, and what odd requests are answered. */
const world = useWorld({}, { background: false })
let folders: ClientFolders
let ana: Caller
let project: TestProject
let empty: TestProject
let ids: string[]

beforeAll(async () => {
  folders = openClientFolders()
  ana = await world.user('ana')
  project = await makeProject(world, ana, 'wire')
  empty = await makeProject(world, ana, 'empty', { defaultBranch: 'trunk' })
  const source = await folders.repository()
  ids = [await gitClient(source, ['rev-parse', 'HEAD'])]
  ids.push(await commitFile(source, 'b', 'b', 'Second'))
  await gitClient(source, ['tag', '-a', 'v1', '-m', 'One', ids[0] ?? ''])
  const refs = ['main', 'main~1:refs/heads/old', 'v1', `main:refs/notes/commits`]
  await gitClient(source, ['push', '-q', project.url(ana), ...refs])
})
afterAll(() => folders.clear())

interface Wire {
  readonly status: number
  readonly type: string | null
  readonly text: string
  readonly lines: readonly string[]
}

async function send(
  of: TestProject,
  rest: string,
  more: { body?: Buffer; headers?: Record<string, string>; method?: string } = {},
): Promise<Wire> {
  const { url, authorization } = splitAddress(of.url(ana))
  const response = await fetch(`${url}/${rest}`, {
    method: more.method ?? (more.body ? 'POST' : 'GET'),
    headers: { Authorization: authorization, ...more.headers },
    body: more.body ? new Uint8Array(more.body) : null,
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  const type = response.headers.get('content-type')
  const text = bytes.toString()
  const isLines = response.status === 200 && !text.includes('PACK')
  return { status: response.status, type, text, lines: isLines ? linesOf(bytes) : [] }
}

function linesOf(bytes: Buffer): string[] {
  const reader = new PacketReader()
  reader.push(bytes)
  const lines: string[] = []
  for (let next = reader.next(); next; next = reader.next())
    lines.push(next.kind === 'data' ? next.bytes.toString().replace(/\n$/, '') : `<${next.kind}>`)
  return lines
}

const info = (of: TestProject, service: string, version = 0) =>
  send(of, `info/refs?service=git-${service}`, {
    headers: version === 0 ? {} : { 'Git-Protocol': `version=${version}` },
  })

const requestType = { 'Content-Type': 'application/x-git-upload-pack-request' }

/** A request of protocol 2. */
function command(name: string, ...args: readonly string[]): Buffer {
  const parts = [packet(`command=${name}\n`), packet('object-format=sha1\n'), Buffer.from('0001')]
  return Buffer.concat([...parts, ...args.map((arg) => packet(`${arg}\n`)), flushPacket])
}

const lsRefs = (of: TestProject, ...args: readonly string[]) =>
  send(of, 'git-upload-pack', {
    body: command('ls-refs', ...args),
    headers: { ...requestType, 'Git-Protocol': 'version=2' },
  })

/** Capabilities behind the first ref. */
const capabilitiesOf = ({ text }: Wire) =>
  new Set(
    (text.split('\0')[1] ?? '')
      .split('\n')[0]
      ?.split(' ')
      .filter((word) => word !== ''),
  )

const refsOf = ({ lines }: Wire) =>
  lines
    .map((line) => /^([0-9a-f]{40}) (\S+)/.exec(line.split('\0')[0] ?? ''))
    .flatMap((found) => (found ? [`${found[1]} ${found[2]}`] : []))

describe('what is advertised', () => {
  test('to pulling clients is all that the contract names', async () => {
    const capabilities = capabilitiesOf(await info(project, 'upload-pack'))
    for (const one of [
      'multi_ack_detailed',
      'side-band-64k',
      'ofs-delta',
      'shallow',
      'deepen-since',
      'deepen-not',
      'include-tag',
      'no-progress',
      'allow-tip-sha1-in-want',
      'allow-reachable-sha1-in-want',
      'filter',
      'symref=HEAD:refs/heads/main',
      'object-format=sha1',
    ])
      expect([one, capabilities.has(one)]).toEqual([one, true])
  })

  test('to pushing clients is what they need to push atomically, with options, and to hear why not', async () => {
    const first = capabilitiesOf(await info(project, 'receive-pack'))
    for (const one of [
      'report-status',
      'report-status-v2',
      'delete-refs',
      'quiet',
      'atomic',
      'ofs-delta',
      'side-band-64k',
      'push-options',
      'object-format=sha1',
    ])
      expect([one, first.has(one)]).toEqual([one, true])
    // The second answer is our own: it says the same.
    expect(capabilitiesOf(await info(project, 'receive-pack'))).toEqual(first)
  })

  test('in protocol 2 is the commands, and neither bundles nor packs from elsewhere', async () => {
    const { lines, type } = await info(project, 'upload-pack', 2)
    expect(type).toBe('application/x-git-upload-pack-advertisement')
    const rest = lines.slice(lines.indexOf('version 2'))
    expect(rest).toContainEqual(expect.stringMatching(/^ls-refs=.*unborn/))
    expect(rest).toContainEqual(expect.stringMatching(/^fetch=.*shallow.*filter/))
    expect(rest).toContain('object-format=sha1')
    expect(rest.join(' ')).not.toMatch(/bundle-uri|packfile-uris/)
  })

  test('hides what is the server’s own, and lists what people may fetch', async () => {
    const own = ['refs/keep-around/x', 'refs/tmp/y', 'refs/remotes/origin/z']
    const shown = ['refs/merge-requests/1/head', 'refs/pipelines/1']
    for (const ref of [...own, ...shown])
      await gitClient(project.repository, ['update-ref', ref, ids[0] ?? ''])
    const pulls = refsOf(await info(project, 'upload-pack')).map((line) => line.split(' ')[1])
    for (const ref of own) expect(pulls).not.toContain(ref)
    expect(pulls).toContain('refs/merge-requests/1/head')
    const pushes = refsOf(await info(project, 'receive-pack')).map((line) => line.split(' ')[1])
    expect(pushes).toEqual([
      'refs/heads/main',
      'refs/heads/old',
      'refs/notes/commits',
      'refs/tags/v1',
    ])
    for (const ref of [...own, ...shown])
      await gitClient(project.repository, ['update-ref', '-d', ref])
  })

  test('is never old: each change by the API is in the next list, of every protocol', async () => {
    const branches = `/projects/${project.id}/repository/branches`
    const tags = `/projects/${project.id}/repository/tags`
    const changes: (() => Promise<{ status: number }>)[] = [
      () => ana.post(branches, { branch: 'one', ref: 'main' }),
      () => ana.post(tags, { tag_name: 'v2', ref: 'old' }),
      () => ana.put(`/projects/${project.id}`, { default_branch: 'old' }),
      () => ana.delete(`${branches}/one`),
      () =>
        ana.post(`/projects/${project.id}/repository/commits`, {
          branch: 'old',
          commit_message: 'x',
          actions: [{ action: 'create', file_path: 'x', content: 'x' }],
        }),
      () => ana.delete(`${tags}/v2`),
      () => ana.put(`/projects/${project.id}`, { default_branch: 'main' }),
    ]
    for (const [step, change] of changes.entries()) {
      const { status } = await change()
      expect([step, status < 300]).toEqual([step, true])
      const listed = await gitClient(project.repository, [
        'for-each-ref',
        '--format=%(objectname) %(refname)',
        'refs/heads',
        'refs/tags',
        'refs/notes',
      ])
      const expected = listed.split('\n')
      const head = await gitClient(project.repository, ['symbolic-ref', 'HEAD'])
      const named = (lines: readonly string[]) =>
        lines.filter((line) => !/ HEAD$|\^\{\}$| refs\/(merge-requests|pipelines)/.test(line))
      const pull = await info(project, 'upload-pack')
      expect([step, named(refsOf(pull))]).toEqual([step, expected])
      expect([step, capabilitiesOf(pull).has(`symref=HEAD:${head}`)]).toEqual([step, true])
      expect([step, named(refsOf(await info(project, 'receive-pack')))]).toEqual([step, expected])
      const second = await lsRefs(project, 'peel', 'symrefs')
      expect([step, named(refsOf(second))]).toEqual([step, expected])
      expect(second.lines[0]).toContain(`HEAD symref-target:${head}`)
    }
  })

  test('of an empty repository is nothing but where it will begin', async () => {
    expect(refsOf(await info(empty, 'upload-pack'))).toEqual([])
    const { lines } = await lsRefs(empty, 'peel', 'symrefs', 'unborn')
    expect(lines).toEqual(['unborn HEAD symref-target:refs/heads/trunk', '<flush>'])
    const push = await info(empty, 'receive-pack')
    expect(push.text).toContain('capabilities^{}')
  })
})

describe('ls-refs', () => {
  test.each([
    [['refs/heads/'], ['refs/heads/main', 'refs/heads/old']],
    [['refs/heads/ma'], ['refs/heads/main']],
    [
      ['refs/tags/', 'refs/heads/old'],
      ['refs/heads/old', 'refs/tags/v1'],
    ],
    [['HEAD'], ['HEAD']],
    [['refs/none/'], []],
  ])('with the prefixes %j lists %j', async (prefixes, expected) => {
    const { status, lines } = await lsRefs(project, ...prefixes.map((one) => `ref-prefix ${one}`))
    expect(status).toBe(200)
    expect(refsOf({ lines } as Wire).map((line) => line.split(' ')[1])).toEqual(expected)
  })

  test('names what an annotated tag stands for', async () => {
    const { lines } = await lsRefs(project, 'peel', 'ref-prefix refs/tags/')
    expect(lines[0]).toMatch(new RegExp(`^[0-9a-f]{40} refs/tags/v1 peeled:${ids[0]}$`))
  })
})

describe('the version that a client asks for', () => {
  const first = async (header: string) => {
    const headers = { 'Git-Protocol': header }
    const { status, lines } = await send(project, 'info/refs?service=git-upload-pack', { headers })
    // Behind the name of the service and a flush.
    return [status, lines[2] ?? '']
  }
  test.each([
    ['version=2', /^version 2$/],
    ['version=1', /^version 1$/],
    ['version=0', /^[0-9a-f]{40} HEAD/],
    ['version=2:version=99', /^version 2$/],
    ['version=99:version=2', /^version 2$/],
    ['version=99', /^[0-9a-f]{40} HEAD/],
    ['version=1:version=2', /^version 2$/],
    ['key=value:version=2', /^version 2$/],
    ['version=02', /^[0-9a-f]{40} HEAD/],
    ['', /^[0-9a-f]{40} HEAD/],
    [`version=2:${'x'.repeat(5000)}`, /^[0-9a-f]{40} HEAD/],
    ['version=2;--upload-pack=touch', /^[0-9a-f]{40} HEAD/],
  ])('as %j', async (header, line) => {
    expect(await first(header)).toEqual([200, expect.stringMatching(line)])
  })
})

describe('the body of a fetch', () => {
  const wants = () =>
    Buffer.concat([packet(`want ${ids[1]} ofs-delta\n`), flushPacket, packet('done\n')])
  const fetchWith = (body: Buffer, headers: Record<string, string> = {}) =>
    send(project, 'git-upload-pack', { body, headers: { ...requestType, ...headers } })

  test('may be packed by gzip, under either of its names', async () => {
    const plain = await fetchWith(wants())
    expect(plain.text).toContain('PACK')
    for (const encoding of ['gzip', 'x-gzip', 'GZIP']) {
      const packed = await fetchWith(gzipSync(wants()), { 'Content-Encoding': encoding })
      expect([encoding, packed.status, packed.text.includes('PACK')]).toEqual([encoding, 200, true])
    }
  })

  test.each(['deflate', 'br', 'zstd', 'gzip, gzip', 'chunked'])(
    'in the encoding %s is refused',
    async (encoding) => {
      const { status, text } = await fetchWith(wants(), { 'Content-Encoding': encoding })
      expect([status, text]).toEqual([415, 'The content type must be plain or gzip.\n'])
    },
  )

  test.each([
    ['no packet', Buffer.from('hello world')],
    ['a length below four', Buffer.from('0003')],
    ['a length that is cut off', Buffer.from('00')],
    ['a packet that is cut off', Buffer.from('0032want')],
    ['letters that are no length', Buffer.from('zzzz')],
    ['a want of nothing', packet('want \n')],
    ['a want of no id', Buffer.concat([packet('want zzzz\n'), flushPacket, packet('done\n')])],
    ['NUL bytes', Buffer.alloc(1000)],
  ])('of %s is no fault of the server', async (_, body) => {
    const { status, text } = await fetchWith(body)
    expect([200, 400]).toContain(status)
    // Where git itself answers, it says what is wrong.
    if (status === 200) expect(text).toMatch(/ERR |not our ref|^$/)
    else expect(text.length).toBeGreaterThan(5)
  })

  test.each([
    ['a command that there is not', command('steal')],
    [
      'an object format that is another',
      Buffer.concat([packet('command=ls-refs\n'), packet('object-format=sha256\n'), flushPacket]),
    ],
    ['no command', Buffer.concat([packet('object-format=sha1\n'), flushPacket])],
    ['options of a server', command('ls-refs', 'server-option=x', 'ref-prefix refs/heads/')],
  ])('of protocol 2 with %s is none either', async (_, body) => {
    const { status } = await fetchWith(body, { 'Git-Protocol': 'version=2' })
    expect([200, 400]).toContain(status)
  })

  test('that wants what is not there is told so by git in a whole answer, and again until it is there', async () => {
    const missing = 'd'.repeat(40)
    const v0 = Buffer.concat([packet(`want ${missing}\n`), flushPacket, packet('done\n')])
    const v2 = command('fetch', `want ${missing}`, 'done')
    for (let time = 0; time < 2; time += 1) {
      const old = await fetchWith(v0)
      expect([old.status, old.text]).toEqual([
        200,
        expect.stringMatching(/^[0-9a-f]{4}ERR .*not our ref d{40}/),
      ])
      const now = await fetchWith(v2, { 'Git-Protocol': 'version=2' })
      expect([now.status, now.text]).toEqual([
        200,
        expect.stringMatching(/^[0-9a-f]{4}ERR .*not our ref d{40}/),
      ])
    }
    const folder = await folders.folder()
    await gitClient(folder, ['init', '-q', '.'])
    const run = await runGitClient(folder, ['fetch', '-q', project.url(ana), missing])
    expect(run.code).not.toBe(0)
    expect(run.stderr).toMatch(/not our ref d{40}/)
    expect(run.stderr).not.toMatch(/RPC failed|unexpected disconnect|early EOF/)
  })

  test('goes on beside others that are wrong: the next good one is answered', async () => {
    await Promise.all(Array.from({ length: 10 }, () => fetchWith(Buffer.from('0003'))))
    expect((await fetchWith(wants())).text).toContain('PACK')
  })
})

describe('any other method', () => {
  test.each([
    ['OPTIONS', 'info/refs?service=git-upload-pack', 'GET'],
    ['PUT', 'info/refs?service=git-receive-pack', 'GET'],
    ['PATCH', 'git-upload-pack', 'POST'],
    ['PUT', 'git-receive-pack', 'POST'],
    ['GET', 'git-receive-pack', 'POST'],
    ['HEAD', 'git-upload-pack', 'POST'],
  ])('%s %s is 405, and %s is told', async (method, rest, allow) => {
    const { url, authorization } = splitAddress(project.url(ana))
    const reply = await fetch(`${url}/${rest}`, {
      method,
      headers: { Authorization: authorization },
    })
    await reply.arrayBuffer()
    expect([reply.status, reply.headers.get('allow')]).toEqual([405, allow])
  })
})
