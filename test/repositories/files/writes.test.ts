import { createHash } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
const rep = useCaller(world, 'rep')
let project: TestProject
let count = 0

beforeEach(async () => {
  count += 1
  project = await addProject(world, ana, 'basic', { path: `basic${count}` })
  await addMember(world, project, dev, 30)
  await addMember(world, project, rep, 20)
})

function url(path: string, of = project): string {
  return `${of.api}/files/${encodeURIComponent(path)}`
}

const write = { branch: 'main', commit_message: 'Write', content: 'text\n' }

const on = { branch: 'main', commit_message: 'Change' }

describe('creating a file', () => {
  test('commits it alone', async () => {
    const reply = await dev.post(url('a b/c#.txt'), {
      ...write,
      author_name: 'Else',
      author_email: 'else@example.com',
      execute_filemode: true,
    })
    expect([reply.status, reply.body]).toEqual([201, { file_path: 'a b/c#.txt', branch: 'main' }])
    expect(project.git('show', 'main:a b/c#.txt')).toBe('text')
    expect(project.git('ls-tree', 'main', 'a b/c#.txt')).toContain('100755')
    expect(project.git('log', '-1', '--format=%an <%ae> %cn %s', 'main')).toBe(
      'Else <else@example.com> dev Write',
    )
  })

  test('takes base64, and a new branch', async () => {
    const reply = await dev.post(url('bin'), {
      ...write,
      branch: 'fresh',
      start_branch: 'old',
      content: Buffer.from([0, 1, 255]).toString('base64'),
      encoding: 'base64',
    })
    expect(reply.status).toBe(201)
    expect(project.git('cat-file', '-s', 'fresh:bin')).toBe('3')
    expect(project.git('rev-parse', 'fresh~1')).toBe(project.git('rev-parse', 'old'))
  })

  test('takes the first one into an empty repository', async () => {
    project = await addProject(world, ana, 'empty', { path: `empty${count}` })
    const reply = await ana.post(url('README.md'), write)
    expect(reply.status).toBe(201)
    expect((await ana.get(`${project.api}/branches/main`)).body.default).toBe(true)
  })

  test.each([
    ['src', write, { message: 'A directory with this name already exists' }],
    ['../x', write, { error: 'file_path should be a valid file path' }],
    ['/x', write, { error: 'file_path should be a valid file path' }],
    ['x', { ...write, commit_message: '' }, { error: 'commit_message is empty' }],
    [
      'x',
      { ...write, branch: 'nowhere' },
      { message: 'You can only create or edit files when you are on a branch' },
    ],
  ])('%s with %j is refused', async (path, body, answer) => {
    const reply = await dev.post(url(path), body)
    expect([reply.status, reply.body]).toEqual([400, answer])
  })
})

describe('updating a file', () => {
  test('keeps its mode unless another is sent', async () => {
    await dev.post(url('run.sh'), { ...write, execute_filemode: true })
    const reply = await dev.put(url('run.sh'), { ...write, content: 'other' })
    expect([reply.status, reply.body]).toEqual([200, { file_path: 'run.sh', branch: 'main' }])
    expect(project.git('ls-tree', 'main', 'run.sh')).toContain('100755')
    await dev.put(url('run.sh'), { ...write, content: 'other', execute_filemode: false })
    expect(project.git('ls-tree', 'main', 'run.sh')).toContain('100644')
    project.git('fsck', '--strict')
  })

  test('is refused for an older commit of the file, and without a change', async () => {
    const { body } = await dev.get(`${url('README.md')}?ref=main`)
    const stale = await dev.put(url('README.md'), {
      ...write,
      last_commit_id: project.git('rev-parse', 'old'),
    })
    expect([stale.status, stale.body]).toEqual([
      400,
      {
        message:
          'You are attempting to update a file that has changed since you started editing it.',
      },
    ])
    const fresh = { ...write, last_commit_id: body.last_commit_id }
    expect((await dev.put(url('README.md'), fresh)).status).toBe(200)
    expect((await dev.put(url('README.md'), write)).status).toBe(400)
    const missing = await dev.put(url('none'), write)
    expect([missing.status, missing.body]).toEqual([
      400,
      { message: "A file with this name doesn't exist" },
    ])
  })
})

describe('deleting a file', () => {
  test('takes its parameters from the query or the body', async () => {
    const first = await dev.delete(`${url('README.md')}?branch=main&commit_message=Gone`)
    expect([first.status, first.body]).toEqual([204, ''])
    const second = await dev.delete(url('CHANGELOG.md'), {
      branch: 'main',
      commit_message: 'Gone too',
    })
    expect(second.status).toBe(204)
    expect(project.git('ls-tree', '--name-only', 'main')).toBe('docs\nsrc')
    const again = await dev.delete(`${url('README.md')}?branch=main&commit_message=Gone`)
    expect([again.status, again.body]).toEqual([
      400,
      { message: "A file with this name doesn't exist" },
    ])
  })
})

describe('the right to write', () => {
  test('is missing for the project (403), then for the branch (400)', async () => {
    await ana.put(`${project.api}/branches/main/protect`)
    const guarded = await dev.post(url('x'), write)
    expect([guarded.status, guarded.body]).toEqual([
      400,
      { message: 'You are not allowed to push into this branch' },
    ])
    const mayNot = await rep.post(url('x'), write)
    const refusal = { message: '403 Forbidden - You are not allowed to push into this branch' }
    expect([mayNot.status, mayNot.body]).toEqual([403, refusal])
    const reader = world.as(await world.token(ana.id, ['read_api', 'read_repository']))
    expect((await reader.post(url('x'), write)).body.error).toBe('insufficient_scope')
    expect((await world.nobody.post(url('x'), write)).status).toBe(404)
  })
})

describe('a file', () => {
  test('is written, read, changed and deleted', async () => {
    const at = url('kept/file.txt')
    const made = await ana.post(at, { ...on, content: 'one\n' })
    expect([made.status, made.body]).toEqual([201, { file_path: 'kept/file.txt', branch: 'main' }])
    const first = (await ana.get(`${at}?ref=main`)).body
    expect(first).toMatchObject({
      file_name: 'file.txt',
      file_path: 'kept/file.txt',
      size: 4,
      encoding: 'base64',
      content: Buffer.from('one\n').toString('base64'),
      content_sha256: createHash('sha256').update('one\n').digest('hex'),
      ref: 'main',
      blob_id: project.git('rev-parse', 'main:kept/file.txt'),
      commit_id: project.git('rev-parse', 'main'),
      last_commit_id: project.git('rev-parse', 'main'),
      execute_filemode: false,
    })
    const changed = await ana.put(at, { ...on, content: 'two\n' })
    expect([changed.status, changed.body]).toEqual([
      200,
      { file_path: 'kept/file.txt', branch: 'main' },
    ])
    await ana.post(url('kept/other.txt'), { ...on, content: 'x' })
    const second = (await ana.get(`${at}?ref=main`)).body
    expect(second.last_commit_id).toBe(project.git('rev-parse', 'main~1'))
    expect(second.commit_id).toBe(project.git('rev-parse', 'main'))
    const old = await ana.get(`${at}?ref=${first.commit_id}`)
    expect([old.body.content, old.body.ref]).toEqual([first.content, first.commit_id])
    expect((await ana.delete(at, on)).status).toBe(204)
    expect((await ana.get(`${at}?ref=main`)).body).toEqual({
      message: '404 File Not Found',
    })
    expect((await ana.get(url('kept/other.txt'))).status).toBe(200)
    await ana.delete(url('kept/other.txt'), on)
    expect(project.git('ls-tree', 'main', 'kept')).toBe('')
  })

  test('may be empty, without a last line end, or binary', async () => {
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

  test('has the author that is sent, name and address apart, and the caller as committer', async () => {
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

describe('a change on a new branch', () => {
  test('starts from the branch that is sent, which stays as it is', async () => {
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

  test('is refused when that branch does not exist', async () => {
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

  test('is refused without a branch to start from, and on a tag', async () => {
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

describe('a change', () => {
  test.each([
    ['POST', 'README.md', { content: 'x' }, 'A file with this name already exists'],
    ['PUT', 'none', { content: 'x' }, "A file with this name doesn't exist"],
    ['DELETE', 'none', {}, "A file with this name doesn't exist"],
  ])('by %s of %s is refused', async (method, path, body, message) => {
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
  ])('with %j is refused', async (body, error) => {
    const reply = await ana.post(url('incomplete'), body)
    expect([reply.status, reply.body]).toEqual([400, { error }])
  })

  test('is refused in an archived project with the words that clients look for', async () => {
    const archived = await addProject(world, ana, 'empty', { path: 'archived' })
    await ana.post(`/projects/${archived.id}/archive`)
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const reply = await ana.call(method, url('x', archived), write)
      expect([method, reply.status, reply.body]).toEqual([
        method,
        403,
        { message: '403 Forbidden - You are not allowed to push into this branch' },
      ])
    }
  })

  test('is refused to those who may only read, on any branch', async () => {
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const body = { ...on, branch: 'old', content: 'x' }
      expect([method, (await rep.call(method, url('README.md'), body)).status]).toEqual([
        method,
        403,
      ])
    }
    expect((await rep.get(url('README.md'))).status).toBe(200)
  })

  test('that deletes a file of an older commit is refused', async () => {
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

test('different files that are written at the same time are all kept', async () => {
  const paths = Array.from({ length: 8 }, (_, n) => `many/${n}`)
  const replies = await Promise.all(
    paths.map((path) => ana.post(url(path), { ...on, content: path })),
  )
  expect(replies.map((reply) => reply.status)).toEqual(paths.map(() => 201))
  expect(project.git('ls-tree', '--name-only', 'main', 'many/').split('\n')).toEqual(paths)
})
