import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../support/create.ts'
import { useCaller, useWorld } from '../support/world.ts'
import { fileForm, plainRequest, putGeneric } from './publishing.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')
let projectId: number
let at: string

beforeAll(async () => {
  const group = await createGroup(ana, 'g')
  projectId = (await createProject(ana, 'p', { namespace_id: group.id })).id
  at = `/projects/${projectId}/packages`
})

const put = (path: string, raw?: string) => putGeneric(ana, at, path, raw)
const get = (path: string, headers = {}) => ana.get(`${at}/generic/${path}`, { headers })
const hash = (kind: string, text: string) => createHash(kind).update(text).digest('hex')

async function versionsOf(name: string): Promise<string[]> {
  const { body } = await ana.get(`${at}?package_name=${encodeURIComponent(name)}`)
  return body.map((one: { version: string }) => one.version)
}

describe('the names of a file', () => {
  test.each([
    ['a', '1', 'f'],
    ['A.b_c-d+e', '1.0.0+build.5-x_y', 'F.g_h-i+j'],
    ['0', '0', '0'],
    ['..a'.slice(1), '.1', '.hidden'],
    ['-a', '-1', '-f'],
    ['n'.repeat(255), 'v'.repeat(255), 'f'.repeat(255)],
    ['a', '1', 'a~b@c'],
    ['a', '1', 'dir/sub/f'],
    ['a', 'latest', 'x.y.z/f'],
  ])('may be %s %s %s', async (name, version, file) => {
    const path = `${name}/${version}/${file}`
    const sent = await put(path, path)
    expect([sent.status, sent.body]).toEqual([201, { message: '201 Created' }])
    const got = await get(path)
    expect([got.status, got.body]).toEqual([200, path])
    expect(await versionsOf(name)).toContain(version)
  })

  test.each<[field: string, path: string]>([
    ['package_name', 'a%20b/1/f'],
    ['package_name', 'a%40b/1/f'],
    ['package_name', 'a~b/1/f'],
    ['package_name', 'a..b/1/f'],
    ['package_name', '%2e%2e/1/f'],
    ['package_name', 'a%2fb/1/f'],
    ['package_name', '%D0%B0/1/f'],
    ['package_name', `${'n'.repeat(256)}/1/f`],
    ['package_version', 'a/1..2/f'],
    ['package_version', 'a/1%202/f'],
    ['package_version', 'a/1~2/f'],
    ['package_version', 'a/1%2f2/f'],
    ['package_version', 'a/%2e%2e/f'],
    ['package_version', `a/${'1'.repeat(256)}/f`],
    ['file_name', 'a/1/~f'],
    ['file_name', 'a/1/f~'],
    ['file_name', 'a/1/@f'],
    ['file_name', 'a/1/f@'],
    ['file_name', 'a/1/f..g'],
    ['file_name', 'a/1/..'],
    ['file_name', 'a/1/.'],
    ['file_name', 'a/1/dir/../f'],
    ['file_name', 'a/1/dir/%2e%2e/f'],
    ['file_name', 'a/1/dir%2f..%2ff'],
    ['file_name', 'a/1/%252e%252e'],
    ['file_name', 'a/1/f%0A'],
    ['file_name', 'a/1/f%5cg'],
    ['file_name', 'a/1/CON:'],
    ['file_name', 'a/1/f%F0%9F%98%80'],
    ['file_name', 'a/1/f*'],
    ['file_name', `a/1/${'f'.repeat(256)}`],
    ['file_name', `a/1/${'d/'.repeat(500)}f`],
  ])('are refused where the %s is wrong: %s', async (field, path) => {
    for (const method of ['PUT', 'GET']) {
      const body = method === 'PUT' ? 'x' : undefined
      const sent = await plainRequest(world, ana, method, `${at}/generic/${path}`, body)
      expect([method, sent.status, JSON.parse(sent.text)]).toEqual([
        method,
        400,
        { message: `400 Bad request - ${field} is invalid` },
      ])
    }
  })

  test.each(['a/1/f%00', 'a/1/f%ff', 'a/1', 'a', 'a/1/'])('are no address: %s', async (path) => {
    const sent = await plainRequest(world, ana, 'PUT', `${at}/generic/${path}`, 'x')
    expect([400, 404]).toContain(sent.status)
  })

  test('are those of one file, however the folders in it are written', async () => {
    await put('slashes/1/dir/f', 'one')
    for (const path of ['slashes/1/dir/f', 'slashes/1/dir%2Ff', 'slashes/1//dir//f/']) {
      const got = await plainRequest(world, ana, 'GET', `${at}/generic/${path}`)
      expect([path, got.status, got.text]).toEqual([path, 200, 'one'])
    }
    const [row] = (await ana.get(`${at}?package_name=slashes`)).body
    const files = (await ana.get(`${at}/${row.id}/package_files`)).body
    expect(files.map((one: { file_name: string }) => one.file_name)).toEqual(['dir%2Ff'])
    expect((await get('slashes/1/f')).status).toBe(404)
    expect((await get('slashes/1/dir')).status).toBe(404)
    expect((await get('SLASHES/1/dir/f')).status).toBe(404)
  })
})

describe('a download', () => {
  test.each([
    ['f.html', 'application/octet-stream'],
    ['f.svg', 'application/octet-stream'],
    ['f.js', 'application/octet-stream'],
    ['f.xml', 'application/octet-stream'],
    ['f.TXT', 'text/plain'],
    ['f.tar.gz', 'application/gzip'],
    ['f.zip', 'application/zip'],
    ['f.json', 'application/json'],
    ['f.png', 'image/png'],
    ['constructor', 'application/octet-stream'],
    ['f.toString', 'application/octet-stream'],
    ['f', 'application/octet-stream'],
  ])('of %s has a type that no browser runs', async (file, type) => {
    await put(`types/1/${file}`, '<script>1</script>')
    const { headers } = await get(`types/1/${file}`)
    expect(headers.get('content-type')).toBe(type)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('content-security-policy')).toBe("sandbox; default-src 'none'")
    expect(headers.get('content-disposition')).toBe(`attachment; filename="${file}"`)
  })

  test('goes on where it was cut, as long as the file is the same', async () => {
    await put('parts/1/f', '0123456789')
    const part = async (headers: Record<string, string>) => {
      const got = await get('parts/1/f', headers)
      return [got.status, got.body, got.headers.get('content-range')]
    }
    expect(await part({ Range: 'bytes=3-5' })).toEqual([206, 345, 'bytes 3-5/10'])
    expect(await part({ Range: 'bytes=7-' })).toEqual([206, 789, 'bytes 7-9/10'])
    expect(await part({ Range: 'bytes=-1' })).toEqual([206, 9, 'bytes 9-9/10'])
    expect(await part({ Range: 'bytes=8-100' })).toEqual([206, 89, 'bytes 8-9/10'])
    expect(await part({ Range: 'bytes=10-' })).toEqual([416, '', 'bytes */10'])
    for (const range of ['bytes=5-3', 'lines=1-2', 'bytes=x', 'bytes=1-2,4-5'])
      expect((await part({ Range: range }))[0]).toBe(200)
    const tag = `"${hash('sha256', '0123456789')}"`
    expect((await part({ Range: 'bytes=3-5', 'If-Range': tag }))[0]).toBe(206)
    await put('parts/1/f', 'abcdefghij')
    expect(await part({ Range: 'bytes=3-5', 'If-Range': tag })).toEqual([200, 'abcdefghij', null])
  })

  test('is of the newest file of a name, and says its hash', async () => {
    for (const text of ['first', 'second', 'third']) {
      await put('newest/1/f', text)
      const got = await get('newest/1/f')
      expect([got.body, got.headers.get('x-checksum-sha256')]).toEqual([text, hash('sha256', text)])
      const head = await ana.head(`${at}/generic/newest/1/f`)
      expect(head.headers.get('x-checksum-sha256')).toBe(hash('sha256', text))
    }
    expect(await versionsOf('newest')).toEqual(['1'])
  })

  test('of what is not there says so in the same words', async () => {
    for (const path of ['newest/2/f', 'newest/1/g', 'nothing/1/f'])
      expect((await get(path)).body).toEqual({ message: '404 Package file Not Found' })
  })
})

describe('an upload', () => {
  test('may be empty, and of any type that its sender says', async () => {
    expect((await put('empty/1/f', '')).status).toBe(201)
    const got = await get('empty/1/f')
    expect([got.status, got.body, got.headers.get('content-length')]).toEqual([200, '', '0'])
    for (const type of ['application/json', 'application/x-www-form-urlencoded', 'text/html', 'x'])
      for (const raw of ['{broken', 'private_token=x&a=%']) {
        const headers = { 'Content-Type': type }
        const path = `${at}/generic/types-sent/1/f`
        expect([type, (await ana.put(path, undefined, { raw, headers })).status]).toEqual([
          type,
          201,
        ])
        expect((await ana.get(path)).body).toBe(raw)
      }
  })

  test('of bytes keeps each of them', async () => {
    const bytes = new Uint8Array(256 * 1024).map((_, index) => index * 31 + (index >> 8))
    const sent = await ana.put(`${at}/generic/bytes/1/f?select=package_file`, undefined, {
      raw: bytes,
    })
    expect(sent.body).toMatchObject({
      size: bytes.length,
      file_md5: createHash('md5').update(bytes).digest('hex'),
      file_sha1: createHash('sha1').update(bytes).digest('hex'),
      file_sha256: createHash('sha256').update(bytes).digest('hex'),
    })
    const answer = await fetch(`${world.url}/api/v4${at}/generic/bytes/1/f`, {
      headers: { 'PRIVATE-TOKEN': ana.token ?? '' },
    })
    expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true)
  })

  test('answers the whole record where that is asked for', async () => {
    world.setNow('2026-05-04T10:00:00.000Z')
    const sent = await put('record/1/dir/f.txt?select=package_file&status=hidden', 'abc')
    const { id, package_id } = sent.body
    expect([sent.status, sent.body]).toEqual([
      200,
      {
        id: expect.any(Number),
        package_id: expect.any(Number),
        created_at: '2026-05-04T10:00:00.000Z',
        updated_at: '2026-05-04T10:00:00.000Z',
        size: 3,
        file_store: 1,
        file_md5: hash('md5', 'abc'),
        file_sha1: hash('sha1', 'abc'),
        file_sha256: hash('sha256', 'abc'),
        file_name: 'dir%2Ff.txt',
        file: {
          url: `${world.ctx.config.externalUrl}/api/v4${at}/${package_id}/package_files/${id}/download`,
        },
      },
    ])
    expect((await ana.get(`${at}/${package_id}/package_files/${id}/download`)).body).toBe('abc')
    for (const query of ['select=file', 'status=error', 'status=', 'select='])
      expect([query, (await put(`record/1/f?${query}`, 'x')).status]).toEqual([query, 400])
  })

  test('as a form takes the part called file, whatever it is called itself, and nothing else', async () => {
    const path = `${at}/generic/form/1/f.bin`
    const form = fileForm('file', '../../etc/passwd', 'in a form', { a: 'b', status: 'hidden' })
    form.append('other', new Blob(['other']), 'other.bin')
    expect((await ana.put(path, undefined, { raw: form })).status).toBe(201)
    expect((await ana.get(path)).body).toBe('in a form')
    expect(await versionsOf('form')).toEqual(['1'])
    const none = await ana.put(path, undefined, { raw: fileForm('content', 'x', 'y') })
    expect([none.status, none.body]).toEqual([
      400,
      { message: '400 Bad request - file is missing' },
    ])
    const broken = await ana.put(path, undefined, {
      raw: '--x\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\nhalf',
      headers: { 'Content-Type': 'multipart/form-data; boundary=x' },
    })
    expect(broken.status).toBe(400)
    expect((await ana.get(path)).body).toBe('in a form')
  })

  test('by several at once of one new version is one package with all their files', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `f${index}`)
    const replies = await Promise.all(names.map((name) => put(`together/1/${name}`, name)))
    expect(replies.map((reply) => reply.status)).toEqual(names.map(() => 201))
    expect(await versionsOf('together')).toEqual(['1'])
    for (const name of names) expect((await get(`together/1/${name}`)).body).toBe(name)
  })

  test('of one file by several at once, where one is all that may be, is one of theirs', async () => {
    await ana.put('/groups/g/packages/settings', { generic_duplicates_allowed: false })
    const texts = ['a', 'b', 'c', 'd', 'e']
    const replies = await Promise.all(texts.map((text) => put('one/1/f', text)))
    expect(replies.map((reply) => reply.status).sort()).toEqual([201, 400, 400, 400, 400])
    const won = texts[replies.findIndex((reply) => reply.status === 201)]
    expect((await get('one/1/f')).body).toBe(won)
    // Another file of the version is no duplicate, and neither is the same file elsewhere.
    expect((await put('one/1/dir/f', 'x')).status).toBe(201)
    expect((await put('one/2/f', 'x')).status).toBe(201)
    const hidden = await put('one/1/f?status=hidden', 'x')
    expect(hidden.status).toBe(400)
    expect(await versionsOf('one')).toEqual(['1', '2'])
    await ana.put('/groups/g/packages/settings', { generic_duplicates_allowed: true })
  })

  test('below a group that says nothing, and in a namespace of a person, may be repeated', async () => {
    const own = (await createProject(ana, 'own')).id
    for (let turn = 0; turn < 2; turn += 1)
      expect((await putGeneric(ana, `/projects/${own}/packages`, 'a/1/f')).status).toBe(201)
  })

  test('goes to the project by its path, and to nowhere by its old one', async () => {
    const made = await ana.post('/projects', { name: 'before' })
    expect((await putGeneric(ana, '/projects/ana%2fbefore/packages', 'a/1/f')).status).toBe(201)
    await ana.put(`/projects/${made.body.id}`, { path: 'after' })
    expect((await putGeneric(ana, '/projects/ana%2fafter/packages', 'a/2/f')).status).toBe(201)
    expect((await putGeneric(ana, '/projects/ana%2fbefore/packages', 'a/3/f')).status).toBe(405)
    const moved = await ana.get('/projects/ana%2fbefore/packages/generic/a/1/f')
    expect([moved.status, moved.headers.get('location')]).toEqual([
      301,
      `${world.ctx.config.externalUrl}/api/v4/projects/${made.body.id}/packages/generic/a/1/f`,
    ])
  })
})
