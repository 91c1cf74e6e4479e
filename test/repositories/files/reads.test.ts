import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { oddFileNames } from '../../../fixtures/repositories/contents.ts'
import { gitBytes } from '../../support/git.ts'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let basic: TestProject
let odd: TestProject
let modes: TestProject

beforeAll(async () => {
  basic = await addProject(world, ana, 'basic')
  odd = await addProject(world, ana, 'odd-names')
  modes = await addProject(world, ana, 'modes')
})

function url(project: TestProject, path: string, tail = '?ref=main'): string {
  return `${project.api}/files/${encodeURIComponent(path)}${tail}`
}

describe('a file', () => {
  test('is shown with every field', async () => {
    const reply = await ana.get(url(basic, 'src/main.ts', '?ref=v1.0.0'))
    const bytes = gitBytes(basic.path, ['show', 'v1.0.0:src/main.ts'])
    expect(reply.body).toEqual({
      file_name: 'main.ts',
      file_path: 'src/main.ts',
      size: bytes.length,
      encoding: 'base64',
      content: bytes.toString('base64'),
      content_sha256: createHash('sha256').update(bytes).digest('hex'),
      ref: 'v1.0.0',
      blob_id: basic.git('rev-parse', 'v1.0.0:src/main.ts'),
      commit_id: basic.git('rev-parse', 'v1.0.0^{commit}'),
      last_commit_id: basic.git('log', '-1', '--format=%H', 'v1.0.0', '--', 'src/main.ts'),
      execute_filemode: false,
    })
  })

  test('is described in headers, too, under both names, by every way to read it', async () => {
    const { body } = await ana.get(url(basic, 'src/main.ts'))
    const replies = [
      await ana.get(url(basic, 'src/main.ts')),
      await ana.head(url(basic, 'src/main.ts')),
      await ana.get(url(basic, 'src/main.ts', '/raw?ref=main')),
      await ana.head(url(basic, 'src/main.ts', '/raw?ref=main')),
    ]
    for (const { headers, status } of replies) {
      expect(status).toBe(200)
      for (const prefix of ['svc', 'gitlab']) {
        for (const [name, value] of Object.entries(body)) {
          const header = `x-${prefix}-${name.replace(/_/g, '-')}`
          expect([header, headers.get(header)]).toEqual([
            header,
            name === 'content' ? null : String(value),
          ])
        }
      }
    }
    expect(replies[1]?.headers.get('content-type')).toBe('application/json')
    expect(replies[1]?.body).toBe('')
  })

  test('is executable when git says so', async () => {
    const before = await ana.get(url(modes, 'run.sh', '?ref=main~1'))
    const after = await ana.get(url(modes, 'run.sh'))
    expect([before.body.execute_filemode, after.body.execute_filemode]).toEqual([true, false])
  })

  test.each(oddFileNames)('with the odd name %j is found', async (name) => {
    const reply = await ana.get(url(odd, name, '?ref=refs%2Fheads%2Fmain'))
    expect(reply.status).toBe(200)
    expect(reply.body.file_path).toBe(name)
    const shown = odd.git('ls-tree', '-r', '-z', 'refs/heads/main').split('\0')
    expect(shown).toContain(`100644 blob ${reply.body.blob_id}\t${name}`)
    expect(reply.body.last_commit_id).toBe(
      odd.git('--literal-pathspecs', 'log', '-1', '--format=%H', 'refs/heads/main', '--', name),
    )
    const raw = await ana.get(url(odd, name, '/raw'))
    expect([raw.status, raw.body]).toEqual([200, name === 'c#.txt' ? 'sharp\n' : `${name}\n`])
  })

  test.each([
    ['unknown.txt', '?ref=main', 404, { message: '404 File Not Found' }],
    ['src', '?ref=main', 404, { message: '404 File Not Found' }],
    ['src//main.ts', '?ref=main', 404, { message: '404 File Not Found' }],
    ['src/main.ts', '?ref=unknown', 404, { message: '404 Commit Not Found' }],
    ['src/main.ts', '?ref=', 400, { error: 'ref is empty' }],
    ['../x', '?ref=main', 400, { error: 'file_path should be a valid file path' }],
    ['a/../../x', '?ref=main', 400, { error: 'file_path should be a valid file path' }],
    ['/src/main.ts', '?ref=main', 400, { error: 'file_path should be a valid file path' }],
  ])('%s%s answers %i', async (path, query, status, body) => {
    const reply = await ana.get(url(basic, path, query))
    expect([reply.status, reply.body]).toEqual([status, body])
    const raw = await ana.get(url(basic, path, `/raw${query}`))
    if (!path.startsWith('/')) expect([raw.status, raw.body]).toEqual([status, body])
  })

  test('without a ref, or with HEAD, is that of the default branch', async () => {
    const [bare, head, raw] = [
      await ana.get(url(basic, 'README.md', '')),
      await ana.get(url(basic, 'README.md', '?ref=HEAD')),
      await ana.get(url(basic, '/README.md', '/raw')),
    ]
    expect(bare.body.commit_id).toBe(basic.git('rev-parse', 'main'))
    expect([bare.body.ref, head.body.ref]).toEqual(['HEAD', 'HEAD'])
    expect(raw.body).toBe('# Basic\n\nA small project.\n')
  })

  test('raw is offered under its own name and can be asked for again', async () => {
    const reply = await ana.get(url(odd, 'a&b=c.txt', '/raw'))
    expect(reply.headers.get('content-disposition')).toBe(
      `inline; filename="a&b=c.txt"; filename*=UTF-8''a%26b%3Dc.txt`,
    )
    const etag = reply.headers.get('etag') ?? ''
    const again = await ana.get(url(odd, 'a&b=c.txt', '/raw'), {
      headers: { 'if-none-match': etag },
    })
    expect([again.status, again.body]).toEqual([304, ''])
    const part = await ana.get(url(odd, 'a&b=c.txt', '/raw'), { headers: { range: 'bytes=0-2' } })
    expect([part.status, part.body]).toEqual([206, 'a&b'])
  })

  test('an unencoded slash finds no route', async () => {
    const reply = await ana.get(`${basic.api}/files/src/main.ts?ref=main`)
    expect([reply.status, reply.body]).toEqual([404, { error: '404 Not Found' }])
  })

  test('is for those who may read the code, by whatever token that can', async () => {
    const guest = await world.user('gus')
    await addMember(world, basic, guest, 10)
    expect((await guest.get(url(basic, 'README.md'))).status).toBe(403)
    expect((await world.nobody.get(url(basic, 'README.md'))).status).toBe(404)
    const reader = world.as(await world.token(ana.id, ['read_repository']))
    expect((await reader.get(url(basic, 'README.md'))).status).toBe(200)
    const other = world.as(await world.token(ana.id, ['read_registry']))
    expect((await other.get(url(basic, 'README.md'))).status).toBe(403)
  })

  test('of many megabytes is streamed as JSON', async () => {
    const bytes = Buffer.alloc(8_600_000, 'xyz')
    const id = gitBytes(basic.path, ['hash-object', '-w', '--stdin'], { input: bytes })
      .toString()
      .trim()
    const tree = basic.git('rev-parse', 'main^{tree}')
    const listing = gitBytes(basic.path, ['ls-tree', tree]).toString()
    const bigger = gitBytes(basic.path, ['mktree'], {
      input: `${listing}100644 blob ${id}\tbig.bin\n`,
    })
      .toString()
      .trim()
    const commit = basic.git('commit-tree', bigger, '-p', 'main', '-m', 'Big')
    const reply = await ana.get(url(basic, 'big.bin', `?ref=${commit}`))
    expect(reply.body).toMatchObject({ size: bytes.length, blob_id: id, file_path: 'big.bin' })
    expect(Buffer.from(reply.body.content, 'base64').equals(bytes)).toBe(true)
    expect(reply.headers.get('x-svc-blob-id')).toBe(id)
  })
})
