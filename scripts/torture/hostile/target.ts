import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { flushPacket, packet } from '../../../src/transport/pkt-line.ts'
import { gitBytes, gitText } from '../place/git.ts'
import { rootToken, type TortureServer } from '../place/server.ts'
import type { Random } from '../random.ts'

/** One good request of some kind, as bytes. */
export interface WholeRequest {
  /** `multipart with files, POST /api/v4/markdown`. */
  readonly name: string
  readonly bytes: Buffer
}

/** Good requests with bodies of every kind, as strangers and as somebody with a token. */
export async function makeRequests(
  server: TortureServer,
  folder: string,
  random: Random,
): Promise<WholeRequest[]> {
  const project = await server.root.must('POST', '/projects', {
    name: 'target',
    visibility: 'public',
    initialize_with_readme: true,
  })
  const push = await makePush(server, folder)
  const api = `/api/v4/projects/${project.id}`
  const requests: WholeRequest[] = []
  const add = (kind: string, method: string, path: string, headers: string[], body: Buffer) => {
    const fields = ['host: 127.0.0.1', `content-length: ${body.length}`, ...headers]
    const head = `${method} ${path} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`
    const bytes = Buffer.concat([Buffer.from(head), body])
    requests.push({ name: `${kind}, ${method} ${path}`, bytes })
  }
  const text = Buffer.from(JSON.stringify({ text: '# Text\n'.repeat(200) }))
  const form = Buffer.from(`text=${'a%20b+'.repeat(300)}&grant_type=password&username=nobody`)
  const fields = multipart(random, 0)
  const files = multipart(random, 3)
  const withToken = `private-token: ${rootToken}`
  for (const [path, headers] of [
    ['/api/v4/markdown', []],
    [`${api}/issues`, [withToken]],
  ] as const) {
    add('JSON', 'POST', path, [...headers, json], text)
    add('JSON in gzip', 'POST', path, [...headers, json, gzip], gzipSync(text))
    add('form', 'POST', path, [...headers, urlencoded], form)
    add('multipart of texts', 'POST', path, [...headers, formType], fields)
    add('multipart with files', 'POST', path, [...headers, formType], files)
  }
  for (const path of ['/users/sign_in', '/oauth/token', '/oauth/authorize']) {
    add('form', 'POST', path, [urlencoded], form)
    add('multipart with files', 'POST', path, [formType], files)
  }
  add('multipart with files', 'GET', '/api/v4/projects', [formType], files)
  add('upload', 'POST', `${api}/uploads`, [withToken, formType], files)
  add('upload', 'POST', `${api}/wikis/attachments`, [withToken, formType], files)
  const basic = `authorization: Basic ${Buffer.from(`root:${rootToken}`).toString('base64')}`
  const git = '/root/target.git'
  const fetch = fetchBody(push.tip)
  const uploadPack = 'content-type: application/x-git-upload-pack-request'
  add('fetch', 'POST', `${git}/git-upload-pack`, [uploadPack, 'git-protocol: version=2'], fetch)
  const zipped = [uploadPack, 'git-protocol: version=2', gzip]
  add('fetch in gzip', 'POST', `${git}/git-upload-pack`, zipped, gzipSync(fetch))
  const receivePack = 'content-type: application/x-git-receive-pack-request'
  add('push', 'POST', `${git}/git-receive-pack`, [basic, receivePack], push.body)
  add('push in gzip', 'POST', `${git}/git-receive-pack`, [basic, receivePack, gzip], push.zipped)
  addLfs(add, git, basic, random)
  return requests
}

const json = 'content-type: application/json'
const urlencoded = 'content-type: application/x-www-form-urlencoded'
const formType = 'content-type: multipart/form-data; boundary=torture'
const gzip = 'content-encoding: gzip'

type Add = (kind: string, method: string, path: string, headers: string[], body: Buffer) => void

function addLfs(add: Add, git: string, basic: string, random: Random): void {
  const lfsType = 'content-type: application/vnd.git-lfs+json'
  const object = random.bytes(20_000)
  const oid = createHash('sha256').update(object).digest('hex')
  const objects = [{ oid, size: object.length }]
  const batch = Buffer.from(JSON.stringify({ operation: 'upload', objects }))
  add('LFS batch', 'POST', `${git}/info/lfs/objects/batch`, [basic, lfsType], batch)
  const bytes = 'content-type: application/octet-stream'
  add('LFS upload', 'PUT', `${git}/svc-lfs/objects/${oid}/${object.length}`, [basic, bytes], object)
}

/** Two texts, and files behind them. */
function multipart(random: Random, files: number): Buffer {
  const part = (about: string, content: Buffer | string) =>
    Buffer.concat([
      Buffer.from(`--torture\r\ncontent-disposition: form-data; ${about}\r\n\r\n`),
      Buffer.from(content),
      Buffer.from('\r\n'),
    ])
  const parts = [part('name="text"', 'x'.repeat(500)), part('name="title"', 'Title')]
  for (let i = 0; i < files; i += 1) {
    parts.push(part(`name="${i === 0 ? 'file' : `f${i}`}"; filename="a.bin"`, random.bytes(5000)))
  }
  return Buffer.concat([...parts, Buffer.from('--torture--\r\n')])
}

/** A request for the newest commit, in version 2 of the protocol. */
function fetchBody(tip: string): Buffer {
  const lines = ['thin-pack', 'ofs-delta', `want ${tip}`, 'done'].map((line) => packet(`${line}\n`))
  const command = [packet('command=fetch'), packet('object-format=sha1'), Buffer.from('0001')]
  return Buffer.concat([...command, ...lines, flushPacket])
}

interface PushBodies {
  readonly tip: string
  readonly body: Buffer
  readonly zipped: Buffer
}

/** What the git program would send to make a branch with one new commit. */
async function makePush(server: TortureServer, folder: string): Promise<PushBodies> {
  const work = join(folder, 'push')
  mkdirSync(work)
  await gitText(work, ['clone', '-q', `${server.url}/root/target.git`, '.'])
  const tip = await gitText(work, ['rev-parse', 'HEAD'])
  await writeFile(join(work, 'new.txt'), 'new\n'.repeat(5000))
  await gitText(work, ['add', '-A'])
  await gitText(work, ['commit', '-q', '-m', 'New'])
  const id = await gitText(work, ['rev-parse', 'HEAD'])
  const pack = await gitBytes(
    work,
    ['pack-objects', '--revs', '--stdout', '-q'],
    `${id}\n^${tip}\n`,
  )
  const body = (branch: string) => {
    const line = `${'0'.repeat(40)} ${id} refs/heads/${branch}\0report-status agent=git/2`
    return Buffer.concat([packet(line), flushPacket, pack])
  }
  return { tip, body: body('cut'), zipped: gzipSync(body('cut-zipped')) }
}
