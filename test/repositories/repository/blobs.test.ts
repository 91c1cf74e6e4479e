import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { gitBytes } from '../../support/git.ts'
import { addProject, type TestProject } from '../../support/project.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld({ largeBlob: 9_000_000, limitLargeBlobs: 3 })
const ana = useCaller(world, 'ana')
let project: TestProject

beforeAll(async () => {
  project = await addProject(world, ana, 'binary')
})

function idOf(path: string): string {
  return project.git('rev-parse', `main:${path}`)
}

async function download(path: string, headers: Record<string, string> = {}, method = 'GET') {
  const response = await fetch(`${world.url}/api/v4${project.api}${path}`, {
    method,
    headers: { 'PRIVATE-TOKEN': ana.token ?? '', ...headers },
  })
  return { response, bytes: Buffer.from(await response.arrayBuffer()) }
}

function store(bytes: Buffer): string {
  return gitBytes(project.path, ['hash-object', '-w', '--stdin'], { input: bytes })
    .toString()
    .trim()
}

describe('a blob', () => {
  test('is given with its bytes', async () => {
    const sha = idOf('image.png')
    const reply = await ana.get(`${project.api}/blobs/${sha}`)
    const bytes = gitBytes(project.path, ['cat-file', 'blob', sha])
    expect(reply.body).toEqual({
      size: bytes.length,
      encoding: 'base64',
      content: bytes.toString('base64'),
      sha,
    })
  })

  test.each(['0'.repeat(40), 'main', 'zz', '%2e%2e%2fconfig'])(
    'that is not there (%s) is not found',
    async (sha) => {
      for (const tail of ['', '/raw']) {
        const reply = await ana.get(`${project.api}/blobs/${encodeURIComponent(sha)}${tail}`)
        expect([reply.status, reply.body]).toEqual([404, { message: '404 Blob Not Found' }])
      }
    },
  )

  test('that is a tree is not found', async () => {
    const reply = await ana.get(`${project.api}/blobs/${project.git('rev-parse', 'main^{tree}')}`)
    expect(reply.status).toBe(404)
  })

  test('of many megabytes is streamed as JSON, and counts against the limit', async () => {
    const bytes = Buffer.alloc(9_500_001, 'abcdefg')
    const sha = store(bytes)
    const reply = await ana.get(`${project.api}/blobs/${sha}`)
    expect(reply.headers.get('content-type')).toBe('application/json')
    expect(Object.keys(reply.body).sort()).toEqual(['content', 'encoding', 'sha', 'size'])
    expect(reply.body.size).toBe(bytes.length)
    expect(createHash('sha1').update(Buffer.from(reply.body.content, 'base64')).digest('hex')).toBe(
      createHash('sha1').update(bytes).digest('hex'),
    )
    const raw = await download(`/blobs/${sha}/raw`)
    expect(raw.bytes.equals(bytes)).toBe(true)
    await download(`/blobs/${sha}/raw`)
    const refused = await ana.get(`${project.api}/blobs/${sha}`)
    expect([refused.status, refused.body]).toEqual([
      429,
      {
        message: {
          error: 'This endpoint has been requested too many times. Try again later.',
        },
      },
    ])
    expect(refused.headers.get('retry-after')).toBe('60')
    expect((await ana.get(`${project.api}/blobs/${idOf('crlf.txt')}`)).status).toBe(200)
  })
})

describe('a raw blob', () => {
  test.each([
    ['crlf.txt', 'text/plain; charset=utf-8'],
    ['latin1.txt', 'text/plain'],
    ['empty.txt', 'text/plain; charset=utf-8'],
    ['zero.bin', 'application/octet-stream'],
    ['image.png', 'application/octet-stream'],
  ])('%s goes out as %s, never to be interpreted', async (path, type) => {
    const sha = idOf(path)
    const { response, bytes } = await download(`/blobs/${sha}/raw`)
    expect(response.status).toBe(200)
    expect(bytes.equals(gitBytes(project.path, ['cat-file', 'blob', sha]))).toBe(true)
    const head = await download(`/blobs/${sha}/raw`, {}, 'HEAD')
    for (const { headers } of [response, head.response]) {
      expect(headers.get('content-type')).toBe(type)
      expect(headers.get('content-length')).toBe(String(bytes.length))
      expect(headers.get('content-disposition')).toBe('inline')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('content-security-policy')).toContain('sandbox')
      expect(headers.get('cache-control')).toBe(
        'max-age=0, private, must-revalidate, no-store, no-cache',
      )
      expect(headers.get('pragma')).toBe('no-cache')
      expect(headers.get('expires')).toBe('Fri, 01 Jan 1990 00:00:00 GMT')
      expect(headers.get('etag')).toBe(`"${sha}"`)
    }
  })

  test.each([
    ['bytes=0-3', 206, 'bytes 0-3/10', 'one\r'],
    ['bytes=5-', 206, 'bytes 5-9/10', 'two\r\n'],
    ['bytes=-2', 206, 'bytes 8-9/10', '\r\n'],
    ['bytes=8-99', 206, 'bytes 8-9/10', '\r\n'],
    ['bytes=10-', 416, 'bytes */10', ''],
    ['bytes=-0', 416, 'bytes */10', ''],
    ['bytes=3-1', 200, null, 'one\r\ntwo\r\n'],
    ['bytes=0-1,3-4', 200, null, 'one\r\ntwo\r\n'],
    ['lines=1-2', 200, null, 'one\r\ntwo\r\n'],
  ])('asked for %s answers %i', async (range, status, contentRange, text) => {
    const { response, bytes } = await download(`/blobs/${idOf('crlf.txt')}/raw`, { range })
    expect([response.status, response.headers.get('content-range'), bytes.toString()]).toEqual([
      status,
      contentRange,
      text,
    ])
  })

  test('of many megabytes gives a range from its middle', async () => {
    const bytes = Buffer.from(Array.from({ length: 2_000_000 }, (_, i) => (i * 31) % 251))
    const sha = store(bytes)
    const range = 'bytes=1500000-1500099'
    const part = await download(`/blobs/${sha}/raw`, { range })
    expect(part.response.status).toBe(206)
    expect(part.bytes.equals(bytes.subarray(1_500_000, 1_500_100))).toBe(true)
    const other = await download(`/blobs/${sha}/raw`, { range, 'if-range': '"another"' })
    expect(other.response.status).toBe(200)
  })

  test('that the client has is not sent again', async () => {
    const sha = idOf('crlf.txt')
    const { response } = await download(`/blobs/${sha}/raw`, { 'if-none-match': `W/"${sha}"` })
    expect(response.status).toBe(304)
  })
})
