import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ArchiveFormat, openArchive } from '../../../src/git/archive/archive.ts'
import { readLog } from '../../../src/git/history/log.ts'
import { readBlob } from '../../../src/git/objects/blob.ts'
import { findTreeEntry, readTree } from '../../../src/git/objects/tree.ts'
import type { Repo } from '../../../src/git/repo.ts'
import type { TreeEntry } from '../../../src/git/types.ts'
import { commitFiles, type TestFile } from '../../support/fast-import.ts'
import { type GitWorld, gitBytes, openGitWorld } from '../../support/git.ts'
import { runs } from '../../support/runs.ts'

let world: GitWorld
let repo: Repo
let folder: string

beforeAll(async () => {
  world = openGitWorld()
  repo = await world.repository()
  folder = mkdtempSync(join(tmpdir(), 'gitstead-any-'))
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await world.close()
})

/** Names that have broken somebody's tool: options, patterns, escapes, forms of one letter, line breaks. */
const oddNames = [
  '-rf',
  '--',
  '%2F',
  '#x',
  '?',
  '*',
  '[a]',
  ':(top)',
  'a b',
  ' ',
  ' a',
  '\\',
  '"',
  'new\nline',
  'tab\t',
  'e\u0301',
  '\u00e9',
  '💾',
  'HEAD',
  'con',
  'x'.repeat(200),
  '...',
  '.hidden',
  '~',
]
const name = fc.oneof(
  fc.constantFrom(...oddNames),
  fc.constantFrom('a', 'b', 'a.b', 'a-b', 'a0', 'A'),
  fc
    .string({ unit: 'binary', minLength: 1, maxLength: 8 })
    .map((text) => text.toWellFormed().replaceAll(/[/\0]/g, '_'))
    .filter((text) => !/^(?:\.{1,2}|\.git.*|git~\d)$/i.test(text)),
)
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((steps) => steps.join('/'))
const file: fc.Arbitrary<TestFile> = fc.oneof(
  { weight: 4, arbitrary: fc.uint8Array({ maxLength: 60 }) },
  { weight: 1, arbitrary: fc.constant<TestFile>({ mode: '100755', data: '#!/bin/sh\n' }) },
  { weight: 1, arbitrary: fc.constant<TestFile>({ mode: '120000', data: 'a/b' }) },
  { weight: 1, arbitrary: fc.constant<TestFile>({ submodule: '1'.repeat(40) }) },
)
/** Paths that can stand side by side: none is a folder of another. */
const trees = fc.dictionary(path, file, { maxKeys: 12 }).map((files) => {
  const paths = Object.keys(files)
  return Object.fromEntries(
    Object.entries(files).filter(([one]) => !paths.some((other) => other.startsWith(`${one}/`))),
  )
})

function listing(args: readonly string[]): string[] {
  const out = gitBytes(repo.path, ['ls-tree', '-z', ...args])
  return out.toString('latin1').split('\0').filter(Boolean).sort()
}

function inGitsWords(entry: TreeEntry): string {
  const bytes = Buffer.from(entry.rawPath ?? Buffer.from(entry.path)).toString('latin1')
  return `${entry.mode} ${entry.type} ${entry.id}\t${bytes}`
}

async function bytesOf(id: string, format: ArchiveFormat): Promise<Buffer> {
  const body = await openArchive(repo, { commitId: id, format, name: 'top' })
  const pieces: Buffer[] = []
  for await (const piece of body) pieces.push(piece)
  return Buffer.concat(pieces)
}

/** What a tar holds, as tar itself lists it: kind, size, path, target. */
function listTar(tar: Buffer): string[] {
  const args = ['-tv', '--numeric-owner', '--full-time', '--quoting-style=escape', '-f', '-']
  const out = execFileSync('tar', args, { input: tar, env: { TZ: 'UTC', PATH: process.env.PATH } })
  return out
    .toString('latin1')
    .split('\n')
    .filter(Boolean)
    .map((line) => line.replace(/^(\S+) \S+ +/, (_, mode: string) => `${mode.slice(0, 4)} `))
    .sort()
}

function bunzip2(bytes: Buffer): Buffer {
  return execFileSync('bunzip2', ['-c'], { input: bytes, maxBuffer: 1 << 26 })
}

function gunzip(bytes: Buffer): Buffer {
  return execFileSync('gunzip', ['-c'], { input: bytes, maxBuffer: 1 << 26 })
}

async function judge(files: Readonly<Record<string, TestFile>>): Promise<void> {
  const id = commitFiles(repo, { files, parents: [], ref: 'refs/heads/scratch' })
  const flat = await readTree(repo, { ref: id })
  expect(flat.entries.map(inGitsWords).sort()).toEqual(listing([id]))
  const deep = await readTree(repo, { ref: id, recursive: true })
  expect(deep.entries.map(inGitsWords).sort()).toEqual(listing(['-r', '-t', id]))
  for (const entry of deep.entries) {
    expect(await findTreeEntry(repo, { ref: id, path: entry.path })).toEqual(entry)
    if (entry.type !== 'blob') continue
    const { content } = await readBlob(repo, entry.id)
    expect(content.equals(gitBytes(repo.path, ['cat-file', 'blob', entry.id]))).toBe(true)
  }
  await judgeArchives(id)
}

async function judgeArchives(id: string): Promise<void> {
  const tar = await bytesOf(id, 'tar')
  expect(listTar(tar)).toEqual(
    listTar(gitBytes(repo.path, ['archive', '--format=tar', '--prefix=top/', id])),
  )
  expect(gunzip(await bytesOf(id, 'tar.gz')).equals(tar)).toBe(true)
  expect(bunzip2(await bytesOf(id, 'tar.bz2')).equals(tar)).toBe(true)
  const zip = join(folder, 'any.zip')
  writeFileSync(zip, await bytesOf(id, 'zip'))
  // An archive of nothing but its folder is one that unzip warns about.
  execFileSync('unzip', ['-tq', zip])
}

test('a folder whose name begins with a space is found, and its history', async () => {
  const files = { ' a/ b/c': 'x', 'd/ /e': 'y' }
  const id = commitFiles(repo, { files, parents: [], ref: 'refs/heads/spaces' })
  for (const path of [' a', ' a/ b', ' a/ b/c', 'd/ ', 'd/ /e']) {
    expect((await findTreeEntry(repo, { ref: id, path }))?.path).toBe(path)
    const { commits } = await readLog(repo, { revision: id, path, limit: 5 })
    expect(commits.map((commit) => commit.id)).toEqual([id])
  }
})

test('trees, blobs and archives of any names are what git says', async () => {
  await fc.assert(
    fc.asyncProperty(trees, async (files) => {
      await judge({ ...files, 'always here': 'x' })
    }),
    runs(8, 21),
  )
}, 300_000)
