import { beforeEach, describe, expect, test } from 'vitest'
import { addProject, type TestProject } from '../../support/project.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let project: TestProject
let count = 0

beforeEach(async () => {
  count += 1
  project = await addProject(world, ana, 'basic', { path: `basic${count}` })
})

type Action = Record<string, unknown>

function commit(actions: readonly Action[], more: object = {}) {
  const body = { branch: 'main', commit_message: 'Change', actions, ...more }
  return ana.post(`${project.api}/commits`, body)
}

const create = (file_path: string, content: unknown = 'x') => ({
  action: 'create',
  file_path,
  content,
})
const move = (previous_path: string, file_path: string, more: Action = {}) => ({
  action: 'move',
  previous_path,
  file_path,
  ...more,
})
const show = (path: string, ref = 'main') => project.git('show', `${ref}:${path}`)
const mode = (path: string) => project.git('ls-tree', 'main', path).slice(0, 6)
const paths = () => project.git('ls-tree', '-r', '--name-only', 'main').split('\n')

describe('the text of an action', () => {
  test('may be null or empty to make an empty file', async () => {
    expect((await commit([create('null', null), create('empty', '')])).status).toBe(201)
    expect([show('null'), show('empty')]).toEqual(['', ''])
    const cleared = await commit([{ action: 'update', file_path: 'README.md', content: null }])
    expect([cleared.status, show('README.md')]).toEqual([201, ''])
  })

  test('stays with a moved file where it is null or not given', async () => {
    const before = show('README.md')
    expect((await commit([move('README.md', 'a')])).status).toBe(201)
    expect((await commit([move('a', 'b', { content: null })])).status).toBe(201)
    expect(show('b')).toBe(before)
    expect((await commit([move('b', 'c', { content: 'new' })])).status).toBe(201)
    expect([show('c'), paths().includes('b')]).toEqual(['new', false])
  })

  test('is what it is, in any script and with any line ends', async () => {
    const texts = ['a\r\nb', '\ufeffmark', 'ü 二 🙂\n', ' \n\n ', '\t']
    const actions = texts.map((content, n) => create(`text-${n}`, content))
    expect((await commit(actions)).status).toBe(201)
    for (const [n, content] of texts.entries()) {
      const { body } = await ana.get(`${project.api}/files/text-${n}?ref=main`)
      expect(Buffer.from(body.content, 'base64').toString()).toBe(content)
    }
  })
})

describe('the mode of a file', () => {
  test('comes and goes with chmod, and stays through updates and moves', async () => {
    const chmod = (file_path: string, execute_filemode: boolean) => ({
      action: 'chmod',
      file_path,
      execute_filemode,
    })
    await commit([chmod('README.md', true)])
    expect(mode('README.md')).toBe('100755')
    await commit([{ action: 'update', file_path: 'README.md', content: 'new' }])
    expect(mode('README.md')).toBe('100755')
    await commit([move('README.md', 'run')])
    expect(mode('run')).toBe('100755')
    await commit([chmod('run', false)])
    expect([mode('run'), show('run')]).toEqual(['100644', 'new'])
  })
})

describe('actions that build on each other', () => {
  test('may free a name and take it again', async () => {
    const reply = await commit([
      { action: 'delete', file_path: 'README.md' },
      create('README.md', 'again'),
      move('src/main.ts', 'src2'),
      create('src', 'a file where a folder was'),
    ])
    expect(reply.status).toBe(201)
    expect([show('README.md'), show('src')]).toEqual(['again', 'a file where a folder was'])
  })

  test('may turn a file into a folder, and swap two files', async () => {
    const [readme, main] = [show('README.md'), show('src/main.ts')]
    const reply = await commit([
      move('README.md', 'held'),
      move('src/main.ts', 'README.md'),
      move('held', 'src/main.ts'),
      { action: 'delete', file_path: 'CHANGELOG.md' },
      create('CHANGELOG.md/one'),
    ])
    expect(reply.status).toBe(201)
    expect([show('README.md'), show('src/main.ts')]).toEqual([main, readme])
    expect(show('CHANGELOG.md/one')).toBe('x')
  })

  test('may empty the whole tree', async () => {
    const all = paths().map((file_path) => ({ action: 'delete', file_path }))
    expect((await commit(all)).status).toBe(201)
    expect(project.git('ls-tree', 'main')).toBe('')
    expect((await ana.get(`${project.api}/tree`)).body).toEqual([])
    expect((await commit([create('first')])).status).toBe(201)
  })

  test('fail as one, by the first that cannot be', async () => {
    const before = project.git('rev-parse', 'main')
    const reply = await commit([
      create('made'),
      { action: 'delete', file_path: 'made' },
      { action: 'update', file_path: 'made', content: 'x' },
    ])
    expect([reply.status, reply.body.message]).toEqual([400, "A file with this name doesn't exist"])
    expect(project.git('rev-parse', 'main')).toBe(before)
  })
})

describe('where the commit goes', () => {
  test('start_branch that is the branch itself is an ordinary commit', async () => {
    const before = project.git('rev-parse', 'main')
    const reply = await commit([create('a')], { start_branch: 'main' })
    expect([reply.status, reply.body.parent_ids]).toEqual([201, [before]])
  })

  test('force resets the branch to one commit on the start, be it a branch or a commit', async () => {
    const start = project.git('rev-parse', 'main~1')
    await ana.post(`${project.api}/branches`, { branch: 'reset', ref: 'main' })
    const on = { branch: 'reset', force: true }
    const first = await commit([create('a')], { ...on, start_sha: start })
    expect([first.status, first.body.parent_ids]).toEqual([201, [start]])
    const second = await commit([create('b')], { ...on, start_branch: 'main' })
    expect(second.body.parent_ids).toEqual([project.git('rev-parse', 'main')])
    expect(project.git('rev-parse', 'reset')).toBe(second.body.id)
  })

  test('a message keeps its lines, and its first is the title', async () => {
    const commit_message = 'Überschrift\n\nBody line\n\nChangelog: added\nChangelog: fixed'
    const { body } = await commit([create('a')], { commit_message })
    expect(body).toMatchObject({ title: 'Überschrift', message: commit_message })
    const listed = await ana.get(`${project.api}/commits?trailers=true&per_page=1`)
    expect(listed.body[0]).toMatchObject({
      trailers: { Changelog: 'fixed' },
      extended_trailers: { Changelog: ['added', 'fixed'] },
    })
    const plain = await ana.get(`${project.api}/commits?per_page=1`)
    expect(plain.body[0]).toMatchObject({ trailers: {}, extended_trailers: {} })
  })

  test('stats count the lines of all files', async () => {
    const { body } = await commit([create('a', '1\n2\n3\n'), create('b', '1\n')])
    expect(body.stats).toEqual({ additions: 4, deletions: 0, total: 4 })
    const changed = await commit([
      { action: 'update', file_path: 'a', content: '1\nzwei\n3\n' },
      { action: 'delete', file_path: 'b' },
    ])
    expect(changed.body.stats).toEqual({ additions: 1, deletions: 2, total: 3 })
    const listed = await ana.get(`${project.api}/commits?with_stats=true&per_page=2`)
    expect(listed.body.map((one: { stats: object }) => one.stats)).toEqual([
      changed.body.stats,
      body.stats,
    ])
  })
})
