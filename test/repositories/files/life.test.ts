import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
const rep = useCaller(world, 'rep')
let project: TestProject
let files: string

beforeAll(async () => {
  project = await addProject(world, ana, 'basic')
  await addMember(world, project, dev, 30)
  await addMember(world, project, rep, 20)
  files = `${project.api}/files`
})

const url = (path: string) => `${files}/${encodeURIComponent(path)}`
const on = { branch: 'main', commit_message: 'Change' }

describe('the life of a file', () => {
  test('is written, read, changed, moved over and deleted', async () => {
    const at = url('life/file.txt')
    const made = await ana.post(at, { ...on, content: 'one\n' })
    expect([made.status, made.body]).toEqual([201, { file_path: 'life/file.txt', branch: 'main' }])
    const first = (await ana.get(`${at}?ref=main`)).body
    expect(first).toMatchObject({
      file_name: 'file.txt',
      file_path: 'life/file.txt',
      size: 4,
      encoding: 'base64',
      content: Buffer.from('one\n').toString('base64'),
      content_sha256: createHash('sha256').update('one\n').digest('hex'),
      ref: 'main',
      blob_id: project.git('rev-parse', 'main:life/file.txt'),
      commit_id: project.git('rev-parse', 'main'),
      last_commit_id: project.git('rev-parse', 'main'),
      execute_filemode: false,
    })
    const changed = await ana.put(at, { ...on, content: 'two\n' })
    expect([changed.status, changed.body]).toEqual([
      200,
      { file_path: 'life/file.txt', branch: 'main' },
    ])
    await ana.post(url('life/other.txt'), { ...on, content: 'x' })
    const second = (await ana.get(`${at}?ref=main`)).body
    expect(second.last_commit_id).toBe(project.git('rev-parse', 'main~1'))
    expect(second.commit_id).toBe(project.git('rev-parse', 'main'))
    const old = await ana.get(`${at}?ref=${first.commit_id}`)
    expect([old.body.content, old.body.ref]).toEqual([first.content, first.commit_id])
    expect((await ana.delete(at, on)).status).toBe(204)
    expect((await ana.get(`${at}?ref=main`)).body).toEqual({
      message: '404 File Not Found',
    })
    expect((await ana.get(url('life/other.txt'))).status).toBe(200)
    await ana.delete(url('life/other.txt'), on)
    expect(project.git('ls-tree', 'main', 'life')).toBe('')
  })

  test('may be empty, without a last line end, or bytes', async () => {
    const bytes = Buffer.from([0, 255, 10, 13, 0])
    const given: [string, object, Buffer][] = [
      ['empty', { content: '' }, Buffer.alloc(0)],
      ['open', { content: 'no end' }, Buffer.from('no end')],
      ['crlf', { content: 'a\r\nb\r\n' }, Buffer.from('a\r\nb\r\n')],
      ['bytes', { content: bytes.toString('base64'), encoding: 'base64' }, bytes],
    ]
    for (const [path, body, expected] of given) {
      expect([path, (await ana.post(url(path), { ...on, ...body })).status]).toEqual([path, 201])
      const read = (await ana.get(`${url(path)}?ref=main`)).body
      expect([path, read.content, read.size]).toEqual([
        path,
        expected.toString('base64'),
        expected.length,
      ])
    }
  })

  test('keeps the author that is named, part by part, and the caller as committer', async () => {
    await dev.post(url('named'), {
      ...on,
      branch: 'named',
      start_branch: 'main',
      content: 'x',
      author_name: 'Grace Hopper',
    })
    const format = '--format=%an <%ae> %cn <%ce>'
    expect(project.git('log', '-1', format, 'named')).toBe(
      'Grace Hopper <dev@example.com> dev <dev@example.com>',
    )
    await dev.put(url('named'), {
      ...on,
      branch: 'named',
      content: 'y',
      author_email: 'g@x.example',
    })
    expect(project.git('log', '-1', format, 'named')).toBe(
      'dev <g@x.example> dev <dev@example.com>',
    )
  })
})

describe('a branch of its own for a change', () => {
  test('is begun from the branch that is named, which stays as it is', async () => {
    const before = project.git('rev-parse', 'main')
    const body = { ...on, branch: 'aside', start_branch: 'main', content: 'x' }
    expect((await dev.post(url('aside.txt'), body)).body.branch).toBe('aside')
    expect(project.git('rev-parse', 'main')).toBe(before)
    expect(project.git('rev-parse', 'aside~1')).toBe(before)
    const again = await dev.put(url('aside.txt'), { ...body, content: 'y' })
    expect([again.status, again.body]).toEqual([
      400,
      {
        message:
          "A branch called 'aside' already exists. Switch to that branch in order to make changes",
      },
    ])
    const gone = { ...on, branch: 'aside-2', start_branch: 'aside' }
    expect((await dev.delete(url('aside.txt'), gone)).status).toBe(204)
    expect((await dev.get(`${url('aside.txt')}?ref=aside-2`)).status).toBe(404)
    expect((await dev.get(`${url('aside.txt')}?ref=aside`)).status).toBe(200)
  })

  test('is not begun from one that is not there', async () => {
    const body = {
      ...on,
      branch: 'lost',
      start_branch: 'nowhere',
      content: 'x',
    }
    const reply = await ana.post(url('lost.txt'), body)
    expect([reply.status, reply.body]).toEqual([
      400,
      { message: 'You can only create or edit files when you are on a branch' },
    ])
    expect((await ana.get(`${project.api}/branches/lost`)).status).toBe(404)
  })

  test('is needed where the branch does not exist or is a tag', async () => {
    for (const branch of ['nowhere', 'v1.0.0']) {
      const reply = await ana.post(url('lost.txt'), {
        ...on,
        branch,
        content: 'x',
      })
      expect([branch, reply.status]).toEqual([branch, 400])
    }
  })
})

describe('a change is refused', () => {
  test.each([
    ['POST', 'README.md', { content: 'x' }, 'A file with this name already exists'],
    ['PUT', 'none', { content: 'x' }, "A file with this name doesn't exist"],
    ['DELETE', 'none', {}, "A file with this name doesn't exist"],
  ])('%s %s', async (method, path, body, message) => {
    const before = project.git('rev-parse', 'main')
    const reply = await ana.call(method, url(path), { ...on, ...body })
    expect([reply.status, reply.body]).toEqual([400, { message }])
    expect(project.git('rev-parse', 'main')).toBe(before)
  })

  test.each([
    [{ content: 'x', commit_message: 'x' }, 'branch is missing'],
    [{ content: 'x', branch: 'main' }, 'commit_message is missing'],
    [{ content: 'x', branch: 'main', commit_message: ' ' }, 'commit_message is empty'],
    [{ branch: 'main', commit_message: 'x' }, 'content is missing'],
    [{ ...on, content: 'x', encoding: 'utf-16' }, 'encoding does not have a valid value'],
  ])('%j', async (body, error) => {
    const reply = await ana.post(url('incomplete'), body)
    expect([reply.status, reply.body]).toEqual([400, { error }])
  })

  test('to those who may only read, on any branch', async () => {
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const body = { ...on, branch: 'old', content: 'x' }
      expect([method, (await rep.call(method, url('README.md'), body)).status]).toEqual([
        method,
        403,
      ])
    }
    expect((await rep.get(url('README.md'))).status).toBe(200)
  })

  test('to a stale deletion, and to nobody else', async () => {
    await ana.post(url('stale'), { ...on, content: 'one' })
    const { last_commit_id } = (await ana.get(url('stale'))).body
    await ana.put(url('stale'), { ...on, content: 'two' })
    const late = await ana.delete(url('stale'), { ...on, last_commit_id })
    expect(late.status).toBe(400)
    expect((await ana.get(url('stale'))).status).toBe(200)
    const now = (await ana.get(url('stale'))).body.last_commit_id
    expect((await ana.delete(url('stale'), { ...on, last_commit_id: now })).status).toBe(204)
  })
})

test('many who write different files at once lose none', async () => {
  const paths = Array.from({ length: 8 }, (_, n) => `many/${n}`)
  const replies = await Promise.all(
    paths.map((path) => ana.post(url(path), { ...on, content: path })),
  )
  expect(replies.map((reply) => reply.status)).toEqual(paths.map(() => 201))
  expect(project.git('ls-tree', '--name-only', 'main', 'many/').split('\n')).toEqual(paths)
})
