import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FileSearch, searchFiles, searchMessages } from '../../../src/git/objects/search.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { commitFiles } from '../../support/fast-import.ts'
import { type GitWorld, git, openGitWorld } from '../../support/git.ts'

let world: GitWorld
let repo: Repo
let tip: string
const lines = (text: string) => text.split('\n').filter(Boolean)

beforeAll(async () => {
  world = openGitWorld()
  repo = await world.repository()
  const numbered = Array.from({ length: 40 }, (_, i) => `line ${i + 1}\n`)
  numbered[4] = 'a Needle here\n'
  numbered[6] = 'another needle\n'
  numbered[30] = 'NEEDLE\n'
  const files = {
    'src/many.txt': numbered.join(''),
    'src/With Space.md': 'needle: in a name with a space\n',
    'a:b': 'needle behind a colon\n',
    'ü.txt': 'Ünïcödé needle\n',
    'src/special': 'a.c [x] ^start$ \\d *\nabc\n',
    'no-end': 'needle without an end',
    latin1: Buffer.from('\xdcn needle\n', 'latin1'),
    bytes: Buffer.from('needle\0needle\n'),
    link: { mode: '120000' as const, data: 'needle' },
    windows: 'needle\r\nnext\r\n',
  }
  commitFiles(repo, { files, message: 'Add the Needle\n\nbody: one\n' })
  commitFiles(repo, { files: { other: 'x' }, message: 'other.thing\n\nändern\n' })
  tip = commitFiles(repo, { files: { other: 'y' }, message: 'NEEDLE again\n\n-e odd --all\n' })
})
afterAll(() => world.close())

const search = (some: Partial<FileSearch>) =>
  searchFiles(repo, { commitId: tip, text: 'needle', paths: [], context: 0, limit: 100, ...some })

describe('a search of files', () => {
  test('finds the lines that git grep finds, in its order', async () => {
    for (const text of ['needle', 'NEEDLE', 'a.c', '[x]', '^start$', '\\d', '*', 'e']) {
      const found = await search({ text })
      const shown = found.flatMap(({ path, startline, data }) =>
        lines(data).map((line, i) => `${path}\0${startline + i}\0${line}`),
      )
      const args = ['grep', '-I', '-i', '-F', '-n', '-z', '-e', text, tip]
      const expected = lines(git(repo.path, args)).map((line) => line.slice(tip.length + 1))
      expect([text, shown]).toEqual([text, expected])
    }
  })

  test('joins lines that stand together, with those around them', async () => {
    const found = await search({ context: 1, paths: ['src/many.txt'] })
    expect(found).toEqual([
      {
        ...{ path: 'src/many.txt', startline: 4 },
        data: 'line 4\na Needle here\nline 6\nanother needle\nline 8\n',
      },
      { path: 'src/many.txt', startline: 30, data: 'line 30\nNEEDLE\nline 32\n' },
    ])
  })

  test('is narrowed by patterns of paths, whose letters count in any case', async () => {
    const paths = async (...patterns: string[]) =>
      (await search({ paths: patterns })).map(({ path }) => path)
    expect(await paths('src/**')).toEqual([
      'src/With Space.md',
      'src/many.txt',
      'src/many.txt',
      'src/many.txt',
    ])
    expect(await paths('**/*.MD')).toEqual(['src/With Space.md'])
    expect(await paths('a:b', 'ü.txt')).toEqual(['a:b', 'ü.txt'])
    expect(await paths('nowhere/**')).toEqual([])
    // Magic of git's own is a name here.
    expect(await paths(':(exclude)src')).toEqual([])
  })

  test('ends after so many hits, and finds nothing in what is no text', async () => {
    expect(await search({ limit: 2 })).toHaveLength(2)
    const all = await search({})
    expect(all.map(({ path }) => path)).not.toContain('bytes')
    expect(all.map(({ path }) => path)).not.toContain('link')
    expect(all.find(({ path }) => path === 'windows')?.data).toBe('needle\r\n')
    expect(all.find(({ path }) => path === 'no-end')?.data).toBe('needle without an end\n')
    expect(await search({ text: 'nothing like it' })).toEqual([])
  })

  test('knows both cases of letters of any language', async () => {
    for (const text of ['ünïcödé', 'ÜNÏCÖDÉ', 'Ünïcödé needle']) {
      const found = await search({ text })
      expect(found).toEqual([{ path: 'ü.txt', startline: 1, data: 'Ünïcödé needle\n' }])
    }
    expect(
      await searchMessages(repo, { commitId: tip, text: 'ÄNDERN', skip: 0, limit: 9 }),
    ).toEqual([git(repo.path, ['rev-parse', `${tip}~1`])])
  })

  test('takes no option from its text, and needs a commit', async () => {
    expect(await search({ text: '--help' })).toEqual([])
    expect(await search({ text: '-e' })).toEqual([])
    await expect(search({ commitId: 'main' })).rejects.toMatchObject({ code: 'invalid' })
    await expect(search({ commitId: '1'.repeat(40) })).rejects.toMatchObject({ code: 'failed' })
    const late = searchFiles(
      repo,
      { commitId: tip, text: 'x', paths: [], context: 0, limit: 1 },
      AbortSignal.abort(),
    )
    await expect(late).rejects.toMatchObject({ code: 'timeout' })
  })
})

describe('a search of messages', () => {
  const find = (text: string, some: { skip?: number; limit?: number } = {}) =>
    searchMessages(repo, { commitId: tip, text, skip: 0, limit: 100, ...some })

  test('finds what git log finds, letter for letter and any case', async () => {
    for (const text of [
      'needle',
      'body: one',
      'other.thing',
      'otherxthing',
      '-e odd',
      '--all',
      '',
    ]) {
      const args = ['log', '--format=%H', '-i', '-F', `--grep=${text}`, tip]
      expect([text, await find(text)]).toEqual([text, lines(git(repo.path, args))])
    }
    expect(await find('otherxthing')).toEqual([])
  })

  test('comes in pages, the newest first', async () => {
    const all = await find('needle')
    expect(all).toHaveLength(2)
    expect(await find('needle', { limit: 1 })).toEqual(all.slice(0, 1))
    expect(await find('needle', { skip: 1, limit: 5 })).toEqual(all.slice(1))
    expect(await find('needle', { skip: 2 })).toEqual([])
  })
})
