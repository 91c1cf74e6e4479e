import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { runGit } from '../../src/git/command.ts'
import { gitstead } from '../support/command-line.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let source = ''

const person = Object.fromEntries(
  ['AUTHOR', 'COMMITTER'].flatMap((who) => [
    [`GIT_${who}_NAME`, 'Ana'],
    [`GIT_${who}_EMAIL`, 'ana@example.com'],
    [`GIT_${who}_DATE`, '2026-01-02T03:04:05Z'],
  ]),
)

async function git(...args: string[]): Promise<string> {
  const { stdout } = await runGit({ repo: source, args, stdin: '', env: person })
  return stdout.toString().trim()
}

beforeAll(async () => {
  source = join(world.folder, 'elsewhere/tool.git')
  await runGit({ args: ['init', '--quiet', '--bare', '--initial-branch=trunk', source] })
  let parents: string[] = []
  for (let n = 1; n <= 30; n++) {
    const tree = await git('mktree')
    const id = await git('commit-tree', tree, '-m', `change ${n}`, ...parents)
    parents = ['-p', id]
  }
  const tip = parents[1] ?? ''
  for (const ref of ['heads/trunk', 'heads/side', 'tags/v1', 'notes/secret']) {
    await git('update-ref', `refs/${ref}`, tip)
  }
})

test('a repository becomes a project that the running server shows at once', async () => {
  const { code, out, err } = await gitstead(world.folder, ['project', 'import', source, '--json'])
  expect(err).toBe('')
  expect(code).toBe(0)
  const answer = JSON.parse(out)
  expect(answer).toMatchObject({ full_path: 'root/tool', branches: 2, tags: 1 })

  const project = await world.root.get('/projects/root%2Ftool')
  expect(project.body).toMatchObject({
    id: answer.id,
    default_branch: 'trunk',
    empty_repo: false,
    visibility: 'private',
  })
  const repo = world.ctx.git.open(answer.id).path
  const { stdout } = await runGit({ repo, args: ['for-each-ref', '--format=%(refname)'] })
  expect(stdout.toString().trim().split('\n')).toEqual([
    'refs/heads/side',
    'refs/heads/trunk',
    'refs/tags/v1',
  ])
  await runGit({ repo, args: ['fsck', '--full', '--strict'] })
  expect(readdirSync(join(world.folder, 'tmp'))).toEqual([])
})

test('a path that is taken is refused in one line, and the project there stays', async () => {
  const words = ['project', 'import', source, '--into', 'root/tool']
  const { code, err } = await gitstead(world.folder, words)
  expect(code).toBe(1)
  expect(err).toMatch(/^gitstead: [^\n]*has already been taken[^\n]*\n$/)
  expect((await world.root.get('/projects/root%2Ftool')).status).toBe(200)
})

test('what is no repository leaves no project behind', async () => {
  const words = ['project', 'import', '/nowhere/at.git', '--into', 'root/nothing']
  const { code, err } = await gitstead(world.folder, words)
  expect(code).toBe(1)
  expect(err).toMatch(/^gitstead: '\/nowhere\/at.git' does not appear to be a git repository\n$/)
  expect((await world.root.get('/projects/root%2Fnothing')).status).toBe(404)
  expect(existsSync(join(world.folder, 'tmp'))).toBe(true)
  expect(readdirSync(join(world.folder, 'tmp'))).toEqual([])
})

test('a server that asks for a name and a password is answered by what to do', async () => {
  const words = ['project', 'import', `${world.url}/root/tool.git`, '--into', 'root/again']
  const { code, err } = await gitstead(world.folder, words)
  expect(code).toBe(1)
  expect(err).toMatch(/^gitstead: the other server wants a name and a password: put them [^\n]+\n$/)
})

test.each([
  [['--visibility', 'secret'], '--visibility is one of private, internal, public'],
  [['--into', 'alone'], '--into is a full path such as group/name'],
])('%j is refused before anything is fetched', async (words, text) => {
  const { code, err } = await gitstead(world.folder, ['project', 'import', source, ...words])
  expect(code).toBe(2)
  expect(err).toBe(`gitstead: ${text}\n`)
})
