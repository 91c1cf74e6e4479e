import { gzipSync } from 'node:zlib'
import type { Random } from '../random.ts'

/** A request whose body goes on for as long as anybody takes it. */
export interface EndlessRequest {
  readonly name: string
  readonly head: string
  /** What the body begins with. */
  readonly first: Buffer
  /** What it goes on with, again and again. */
  readonly more: Buffer
}

const PIECE = 64 * 1024

/** Bodies that strangers send: of every kind, to API, pages, git and LFS. */
export function endlessRequests(bytes: number, random: Random): EndlessRequest[] {
  const requests: EndlessRequest[] = []
  const add = (name: string, target: string, type: string, first: string, unit: string) => {
    const more = Buffer.from(unit.repeat(Math.ceil(PIECE / unit.length)))
    const length = random.percent(50) ? `content-length: ${bytes}` : 'transfer-encoding: chunked'
    const head = `${target} HTTP/1.1\r\nhost: 127.0.0.1\r\n${type}\r\n${length}\r\n\r\n`
    requests.push({ name: `${name}, ${target}`, head, first: Buffer.from(first), more })
  }
  const part = '--torture\r\ncontent-disposition: form-data; name="'
  for (const target of targets) {
    add('JSON text', target, json, '{"text":"', 'x')
    add('JSON list', target, json, '{"text":[', '[],')
    add('nested JSON', target, json, '{"text":', '[')
    add('form', target, urlencoded, 'text=', 'x')
    add('form of many fields', target, urlencoded, '', 'a=b&')
    add('nested form', target, urlencoded, '', 'a[b][]=1&')
    add('multipart text', target, multipart, `${part}text"\r\n\r\n`, 'x')
    add('multipart of many texts', target, multipart, '', `${part}a"\r\n\r\nb\r\n`)
    add('multipart file', target, multipart, `${part}file"; filename="a"\r\n\r\n`, 'x')
    add('many files', target, multipart, '', `${part}f"; filename="a"\r\n\r\nx\r\n`)
    const zipped = gzipSync(Buffer.alloc(8 * PIECE)).toString('latin1')
    add('gzip', target, `${json}\r\ncontent-encoding: gzip`, '', zipped)
  }
  const git = '/root/target.git'
  add('fetch', `POST ${git}/git-upload-pack`, uploadPack, '', '0032want 0\n')
  add('push', `POST ${git}/git-receive-pack`, receivePack, '', 'PACK')
  add('LFS batch', `POST ${git}/info/lfs/objects/batch`, lfs, '{"objects":[', '{"oid":"a"},')
  add('LFS upload', `PUT ${git}/svc-lfs/objects/${'a'.repeat(64)}/${bytes}`, 'x-a: b', '', 'x')
  return requests
}

const targets = [
  'POST /api/v4/markdown',
  'POST /api/v4/projects/1/issues',
  'POST /api/v4/projects/1/uploads',
  'GET /api/v4/projects',
  'POST /users/sign_in',
  'POST /oauth/token',
  'POST /api/graphql',
]

const json = 'content-type: application/json'
const urlencoded = 'content-type: application/x-www-form-urlencoded'
const multipart = 'content-type: multipart/form-data; boundary=torture'
const uploadPack = 'content-type: application/x-git-upload-pack-request'
const receivePack = 'content-type: application/x-git-receive-pack-request'
const lfs = 'content-type: application/vnd.git-lfs+json'
