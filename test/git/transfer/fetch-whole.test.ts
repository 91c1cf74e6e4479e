import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runGit } from '../../../src/git/command.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { type GitStore, openGit } from '../../../src/git/store.ts'
import { fetchWhole, readRemoteHead } from '../../../src/git/transfer/fetch-whole.ts'
import { newFolder } from '../../support/database.ts'

let data = ''
let git: GitStore
let source: Repo
const scratch = () => ({ scratch: join(data, 'tmp/one') })

beforeEach(async () => {
  data = newFolder()
  git = openGit({ dataDir: data, engineProcesses: 0 })
  source = await git.init(1, { defaultBranch: 'trunk' })
})
afterEach(async () => {
  await git.close()
  rmSync(data, { recursive: true, force: true })
})

const person = Object.fromEntries(
  ['AUTHOR', 'COMMITTER'].flatMap((who) => [
    [`GIT_${who}_NAME`, 'Ana'],
    [`GIT_${who}_EMAIL`, 'ana@example.com'],
    [`GIT_${who}_DATE`, '2026-01-02T03:04:05Z'],
  ]),
)

async function run(repo: Repo, args: string[], stdin?: string): Promise<string> {
  const { stdout } = await runGit({ repo: repo.path, args, stdin: stdin ?? '', env: person })
  return stdout.toString().trim()
}

async function commit(repo: Repo, ref: string, text: string): Promise<string> {
  const blob = await run(repo, ['hash-object', '-w', '--stdin'], text)
  const tree = await run(repo, ['mktree'], `100644 blob ${blob}\tfile\n`)
  const id = await run(repo, ['commit-tree', tree, '-m', text])
  await run(repo, ['update-ref', ref, id])
  return id
}

test('every branch and tag arrives with its objects, and no ref moves', async () => {
  const trunk = await commit(source, 'refs/heads/trunk', 'one')
  const side = await commit(source, 'refs/heads/side/way', 'two')
  await run(source, ['tag', '-a', 'v1', '-m', 'first', trunk])
  const tag = await run(source, ['rev-parse', 'refs/tags/v1'])
  await commit(source, 'refs/merge-requests/1/head', 'hidden')

  const said: string[] = []
  const head = await readRemoteHead(source.path, scratch())
  expect(head).toEqual({ objectFormat: 'sha1', branch: 'trunk' })
  const target = await git.init(2, { defaultBranch: 'trunk' })
  const options = { ...scratch(), onProgress: (text: string) => void said.push(text) }
  const { refs, moveInto } = await fetchWhole(source.path, head, options)
  await moveInto(target)

  expect(refs).toEqual([
    { name: 'refs/heads/side/way', id: side },
    { name: 'refs/heads/trunk', id: trunk },
    { name: 'refs/tags/v1', id: tag },
  ])
  expect(await run(target, ['for-each-ref'])).toBe('')
  for (const { id } of refs) await run(target, ['cat-file', '-e', id])
  expect(said.join('\n')).toMatch(/objects/)
})

test('an empty repository has a branch to come and nothing else', async () => {
  const head = await readRemoteHead(source.path, scratch())
  const { refs } = await fetchWhole(source.path, head, scratch())
  expect(refs).toEqual([])
})

test('a repository with a broken object is refused', async () => {
  const blob = await run(source, ['hash-object', '-w', '--stdin'], 'x')
  const raw = Buffer.concat([Buffer.from('100644 .git\0'), Buffer.from(blob, 'hex')])
  const { stdout } = await runGit({
    repo: source.path,
    args: ['hash-object', '-w', '-t', 'tree', '--literally', '--stdin'],
    stdin: raw,
  })
  const id = await run(source, ['commit-tree', stdout.toString().trim(), '-m', 'bad'])
  await run(source, ['update-ref', 'refs/heads/trunk', id])
  const head = await readRemoteHead(source.path, scratch())
  await expect(fetchWhole(source.path, head, scratch())).rejects.toThrow(/hasDotgit/)
})

test.each([
  ['/nowhere/at/all', "'/nowhere/at/all' does not appear to be a git repository"],
  ['ext::sh -c "touch /tmp/gitstead-owned"', "transport 'ext' not allowed"],
  ['--upload-pack=touch /tmp/gitstead-owned', 'strange pathname'],
])('%s is no repository', async (address, words) => {
  await expect(readRemoteHead(address, scratch())).rejects.toThrow(words)
})
