import { beforeEach, describe, expect, test } from 'vitest'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
let project: TestProject
let count = 0

beforeEach(async () => {
  count += 1
  project = await addProject(world, ana, 'basic', { path: `basic${count}` })
  await addMember(world, project, dev, 30)
})

function url(path: string): string {
  return `${project.api}/files/${encodeURIComponent(path)}`
}

const write = { branch: 'main', commit_message: 'Write', content: 'text\n' }

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
    ['README.md', write, { message: 'A file with this name already exists' }],
    ['src', write, { message: 'A directory with this name already exists' }],
    ['../x', write, { error: 'file_path should be a valid file path' }],
    ['/x', write, { error: 'file_path should be a valid file path' }],
    ['x', { ...write, branch: undefined }, { error: 'branch is missing' }],
    ['x', { ...write, commit_message: '' }, { error: 'commit_message is empty' }],
    ['x', { ...write, content: undefined }, { error: 'content is missing' }],
    ['x', { ...write, encoding: 'hex' }, { error: 'encoding does not have a valid value' }],
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
  test('keeps its mode, and changes it when told', async () => {
    await dev.post(url('run.sh'), { ...write, execute_filemode: true })
    const reply = await dev.put(url('run.sh'), { ...write, content: 'other' })
    expect([reply.status, reply.body]).toEqual([200, { file_path: 'run.sh', branch: 'main' }])
    expect(project.git('ls-tree', 'main', 'run.sh')).toContain('100755')
    await dev.put(url('run.sh'), { ...write, content: 'other', execute_filemode: false })
    expect(project.git('ls-tree', 'main', 'run.sh')).toContain('100644')
    project.git('fsck', '--strict')
  })

  test('needs the file as it was seen, and a change', async () => {
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
  test('is asked for the project first (403), then for the branch (400)', async () => {
    await ana.put(`${project.api}/branches/main/protect`)
    const guarded = await dev.post(url('x'), write)
    expect([guarded.status, guarded.body]).toEqual([
      400,
      { message: 'You are not allowed to push into this branch' },
    ])
    const reporter = await world.user(`rep${count}`)
    await addMember(world, project, reporter, 20)
    const mayNot = await reporter.post(url('x'), write)
    expect([mayNot.status, mayNot.body]).toEqual([403, { message: '403 Forbidden' }])
    const reader = world.as(await world.token(ana.id, ['read_api', 'read_repository']))
    expect((await reader.post(url('x'), write)).body.error).toBe('insufficient_scope')
    expect((await world.nobody.post(url('x'), write)).status).toBe(404)
  })
})
