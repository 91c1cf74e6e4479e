import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ArchiveInput, archiveFormat, openArchive } from '../../../src/git/archive/archive.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { commitFiles, type TestFile } from '../../support/fast-import.ts'
import { type GitWorld, git, gitBytes, openGitWorld } from '../../support/git.ts'

let world: GitWorld
let repo: Repo

beforeAll(async () => {
  world = openGitWorld()
  repo = await world.repository()
})
afterAll(() => world.close())

const formats = ['tar', 'tar.gz', 'tar.bz2', 'zip'] as const

function commit(files: Readonly<Record<string, TestFile>>): string {
  return commitFiles(repo, {
    parents: [],
    files,
    ref: 'refs/heads/scratch',
    seconds: 1_632_121_572,
  })
}

async function bytesOf(input: ArchiveInput): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of await openArchive(repo, input)) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

/** Unpacks with the programs that people have; gives the folder. */
function unpack(format: string, bytes: Buffer): string {
  const folder = mkdtempSync(join(world.folder, 'out-'))
  const file = join(folder, `archive.${format}`)
  writeFileSync(file, bytes)
  const into = join(folder, 'files')
  mkdirSync(into)
  const flag = { tar: '-xf', 'tar.gz': '-xzf', 'tar.bz2': '-xjf' }[format]
  if (flag) execFileSync('tar', ['-p', flag, file, '-C', into])
  else
    execFileSync('unzip', ['-q', file, '-d', into], {
      env: { ...process.env, LC_ALL: 'C.UTF-8' },
    })
  return into
}

/** Everything in a folder: path, kind, and content. Names are bytes, one character each. */
function inventory(folder: string | Buffer, prefix = ''): string[] {
  const names = readdirSync(folder, { encoding: 'buffer' })
  return names
    .flatMap((bytes) => {
      const at = Buffer.concat([Buffer.from(folder), Buffer.from('/'), bytes])
      const name = prefix + bytes.toString('latin1')
      const stats = lstatSync(at)
      if (stats.isSymbolicLink()) return [`${name} -> ${readlinkSync(at)}`]
      if (stats.isDirectory()) return [`${name}/`, ...inventory(at, `${name}/`)]
      const hash = createHash('sha1').update(readFileSync(at)).digest('hex')
      return [`${name} ${stats.mode & 0o111 ? 'x' : '-'} ${hash}`]
    })
    .sort()
}

function ofGit(id: string, format: string, extra: readonly string[] = []): string[] {
  const plain = format === 'zip' ? 'zip' : 'tar'
  const bytes = gitBytes(repo.path, ['archive', `--format=${plain}`, '--prefix=top/', id, ...extra])
  return inventory(unpack(plain, bytes))
}

const many: Record<string, TestFile> = {
  'README.md': '# Demo\n',
  'dir/file.txt': 'x\n',
  'dir/sub/deep.txt': 'deep\n',
  'run.sh': { mode: '100755', data: '#!/bin/sh\n' },
  link: { mode: '120000', data: 'dir/file.txt' },
  'dangling link': { mode: '120000', data: `${'long/'.repeat(40)}target` },
  empty: '',
  module: { submodule: '1'.repeat(40) },
  '-rf': 'dash\n',
  'sp ace/é/e\u0301/💾': 'unicode\n',
  'quo"te\'s & #?%': 'odd\n',
  [`${'n'.repeat(150)}/${'m'.repeat(120)}.txt`]: 'long\n',
  big: Buffer.alloc(1_200_000, 'The quick brown fox jumps over the lazy dog. '),
  random: createHash('sha512').update('seed').digest(),
}

describe('an archive', () => {
  test.each(formats)('%s holds what git archive packs', async (format) => {
    const id = commit(many)
    const bytes = await bytesOf({ commitId: id, format, name: 'top' })
    expect(inventory(unpack(format, bytes))).toEqual(ofGit(id, format))
  })

  test.each(formats)('%s is the same each time, and of the commit’s own date', async (format) => {
    const id = commit(many)
    const first = await bytesOf({ commitId: id, format, name: 'top' })
    const again = await bytesOf({ commitId: id, format, name: 'top' })
    expect(first.equals(again)).toBe(true)
    const stats = lstatSync(join(unpack(format, first), 'top/dir/file.txt'))
    // A zip knows local time only; the test runs wherever it runs.
    if (format !== 'zip') expect(stats.mtimeMs).toBe(1_632_121_572_000)
  })

  test('names its commit', async () => {
    const id = commit({ a: 'a' })
    const tarFile = await bytesOf({ commitId: id, format: 'tar', name: 'top' })
    expect(git(world.folder, ['get-tar-commit-id'], { input: tarFile })).toBe(id)
    const zipFile = await bytesOf({ commitId: id, format: 'zip', name: 'top' })
    expect(zipFile.toString('latin1')).toContain(id)
  })

  test('gzip is one ordinary member whose checks are right', async () => {
    const id = commit(many)
    const plain = await bytesOf({ commitId: id, format: 'tar', name: 'top' })
    const zipped = await bytesOf({ commitId: id, format: 'tar.gz', name: 'top' })
    expect(gunzipSync(zipped).equals(plain)).toBe(true)
    expect(zipped.length).toBeLessThan(plain.length / 20)
  })

  test('of a folder or file keeps its full path', async () => {
    const id = commit(many)
    for (const path of ['dir/sub', 'run.sh', 'sp ace/é']) {
      const bytes = await bytesOf({ commitId: id, format: 'tar', name: 'top', path })
      expect(inventory(unpack('tar', bytes))).toEqual(ofGit(id, 'tar', [path]))
    }
    for (const path of ['zzz', 'dir/fil', '../x', 'dir/../..']) {
      await expect(
        openArchive(repo, { commitId: id, format: 'zip', name: 'x', path }),
      ).rejects.toMatchObject({
        code: expect.stringMatching(/not_found|invalid/),
      })
    }
  })

  test.each([
    [['dir']],
    [['dir/sub/', 'README.md']],
    [['*.txt']],
    [['d[i]r', 'run.sh']],
    [[':(top)link']],
  ])('without %j is what git leaves', async (excludePaths) => {
    const id = commit(many)
    const bytes = await bytesOf({ commitId: id, format: 'tar', name: 'top', excludePaths })
    const excluded = excludePaths.map((path) => `:(exclude)${path}`)
    expect(inventory(unpack('tar', bytes))).toEqual(ofGit(id, 'tar', ['.', ...excluded]))
  })

  test.each(formats)('%s honours .gitattributes', async (format) => {
    const id = commit({
      '.gitattributes': '*.bat eol=crlf\nsecret export-ignore\nversion export-subst\n',
      'run.bat': 'a\nb\n',
      secret: 's',
      version: '$Format:%H$\n',
      'd/keep': 'k',
    })
    const bytes = await bytesOf({ commitId: id, format, name: 'top' })
    const folder = unpack(format, bytes)
    expect(inventory(folder)).toEqual(ofGit(id, format))
    expect(readFileSync(join(folder, 'top/version'), 'utf8')).toBe(`${id}\n`)
    expect(readFileSync(join(folder, 'top/run.bat'), 'utf8')).toBe('a\r\nb\r\n')
  })

  const attributed: Record<string, TestFile> = {
    '.gitattributes': [
      '[attr]private export-ignore',
      '*.key private',
      'docs/public.key !export-ignore',
      'notes/** export-ignore',
      'whole export-ignore',
      '"quo\\"ted" export-ignore',
      '!never export-ignore',
      '/only-top export-ignore',
      'VERSION export-subst',
      '*.ini text eol=crlf',
      '*.utf16 text working-tree-encoding=UTF-16LE',
      '*.c ident',
      '',
    ].join('\n'),
    'a.key': 'k',
    'docs/public.key': 'k',
    'docs/sub/.gitattributes': '*.txt export-ignore\nkeep.txt -export-ignore\n*.key !private\n',
    'docs/sub/drop.txt': 'x',
    'docs/sub/keep.txt': 'x',
    'docs/sub/b.key': 'x',
    'emptied/.gitattributes': '* export-ignore\n',
    'emptied/below/file': 'x',
    'notes/one': 'x',
    'notes/two/three': 'x',
    'whole/x': 'x',
    'quo"ted': 'x',
    never: 'x',
    'only-top': 'x',
    'docs/only-top': 'x',
    VERSION: '$Format:%H %h %an <%ae> %cI%n%s$ and $Format:%D$\n$Format:%d$ $Form:%H$\n',
    'conf/x.ini': 'a\nb\n',
    'text.utf16': 'wide\n',
    'id.c': '/* $Id$ */\n',
    link: { mode: '120000', data: 'VERSION' },
    'link.key': { mode: '120000', data: 'VERSION' },
    'tool.sh': { mode: '100755', data: '#!/bin/sh\n' },
    module: { submodule: '1'.repeat(40) },
    'module.key': { submodule: '2'.repeat(40) },
  }

  test.each(formats)('%s does with attributes what git does', async (format) => {
    const id = commit(attributed)
    const expected = ofGit(id, format)
    expect(inventory(unpack(format, await bytesOf({ commitId: id, format, name: 'top' })))).toEqual(
      expected,
    )
    // Large files somewhere in the project: then it is packed here.
    const lfs = new Map([['0'.repeat(64), join(world.folder, 'none')]])
    const own = await bytesOf({ commitId: id, format, name: 'top', lfs })
    expect(inventory(unpack(format, own))).toEqual(expected)
    expect(expected).toContain('top/emptied/')
    expect(expected.filter((line) => /private|drop|notes.one|whole.x/.test(line))).toEqual([])
  })

  test.each(formats)('%s of which nothing is left is its folder alone', async (format) => {
    const id = commit({ 'd/a': 'a', 'd/b': 'b' })
    for (const excludePaths of [['d'], ['*'], ['d/a', 'd/']]) {
      const bytes = await bytesOf({ commitId: id, format, name: 'top', excludePaths })
      expect(inventory(unpack(format, bytes))).toEqual(['top/'])
    }
    const path = 'd/a'
    const bytes = await bytesOf({ commitId: id, format, name: 'top', path, excludePaths: ['d'] })
    expect(inventory(unpack(format, bytes))).toEqual(['top/'])
  })

  test('keeps names that are not UTF-8, and names with newlines', async () => {
    const id = commit({ 'raw:caf\xe9/\xff': 'x', 'new\nline': 'y' })
    const bytes = await bytesOf({ commitId: id, format: 'tar', name: 'top' })
    expect(inventory(unpack('tar', bytes))).toEqual(ofGit(id, 'tar'))
  })

  test('puts large files in the place of their pointers, as far as the caller has them', async () => {
    const content = Buffer.alloc(2_000_000, 'large')
    const oid = createHash('sha256').update(content).digest('hex')
    const pointer = (id: string) =>
      `version https://git-lfs.github.com/spec/v1\noid sha256:${id}\nsize 5\n`
    const file = join(world.folder, 'lfs-object')
    writeFileSync(file, content)
    const commitId = commit({
      '.gitattributes': '*.bat eol=crlf\n',
      mine: pointer(oid),
      foreign: pointer('f'.repeat(64)),
    })
    for (const format of formats) {
      const lfs = new Map([[oid, file]])
      const folder = unpack(format, await bytesOf({ commitId, format, name: 'top', lfs }))
      expect(readFileSync(join(folder, 'top/mine')).equals(content)).toBe(true)
      expect(readFileSync(join(folder, 'top/foreign'), 'utf8')).toBe(pointer('f'.repeat(64)))
    }
  })

  test('of an empty tree holds its folder alone', async () => {
    const id = commit({})
    for (const format of formats) {
      const bytes = await bytesOf({ commitId: id, format, name: 'top' })
      expect(inventory(unpack(format, bytes))).toEqual(['top/'])
    }
  })
})

describe('a stream', () => {
  // With attributes git packs, or reads for the packing.
  test.each([
    ['', {}],
    [', with attributes', { '.gitattributes': '*.bat eol=crlf\n', 'x.bat': 'a\n' }],
  ])('that cannot be finished is broken, never short%s', async (_name, more) => {
    const broken = await world.repository()
    const id = commitFiles(broken, {
      files: { ...more, a: Buffer.alloc(2_000_000, 'abc'), b: 'the one that is lost', c: 'c' },
    })
    const blob = git(broken.path, ['rev-parse', `${id}:b`])
    // Loose objects, so that one of them can go.
    const pack = readdirSync(join(broken.path, 'objects/pack')).find((name) =>
      name.endsWith('.pack'),
    )
    if (pack) {
      const bytes = readFileSync(join(broken.path, 'objects/pack', pack))
      rmSync(join(broken.path, 'objects/pack'), { recursive: true })
      git(broken.path, ['unpack-objects', '-q'], { input: bytes })
    }
    rmSync(join(broken.path, 'objects', blob.slice(0, 2), blob.slice(2)))
    for (const format of formats) {
      const read = async () => {
        for await (const chunk of await openArchive(broken, { commitId: id, format, name: 'x' })) {
          expect(chunk).toBeDefined()
        }
      }
      await expect(read()).rejects.toThrow()
    }
  })

  test('whose reader goes away ends the programs behind it', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => [
        `f${i}`,
        createHash('sha512').update(`${i}`).digest('hex').repeat(4000),
      ]),
    )
    const id = commit(many)
    for (const format of formats) {
      const body = await openArchive(repo, { commitId: id, format, name: 'x' })
      body.destroy()
    }
    const controller = new AbortController()
    const body = await openArchive(
      repo,
      { commitId: id, format: 'tar', name: 'x' },
      controller.signal,
    )
    controller.abort()
    await expect(
      (async () => {
        for await (const chunk of body) expect(chunk).toBeDefined()
      })(),
    ).rejects.toThrow()
    await expect.poll(() => running()).toEqual([])
  })

  test('waits while as many as may are on their way, and follows when one of them ends', async () => {
    // Large enough for git.
    const lines = Array.from({ length: 120 }, (_, i) => [`lines/${i}`, `${i}\n`])
    const id = commit({ ...many, ...Object.fromEntries(lines) })
    const ask = () => openArchive(repo, { commitId: id, format: 'tar', name: 'x' })
    const first = await Promise.all(Array.from({ length: 8 }, ask))
    let begun = 0
    const next = [ask(), ask()].map((body) => body.finally(() => begun++))
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(begun).toBe(0)
    // One reader takes everything, another goes away.
    for await (const chunk of first[0] ?? []) expect(chunk).toBeDefined()
    first[1]?.destroy()
    for (const body of await Promise.all(next)) body.destroy()
    for (const body of first) body.destroy()
  })

  test('of an unknown commit or with a bad name is an error at once', async () => {
    const format = 'tar'
    await expect(
      openArchive(repo, { commitId: '7'.repeat(40), format, name: 'x' }),
    ).rejects.toMatchObject({ code: 'not_found' })
    const id = commit({ a: 'a' })
    for (const name of ['', '..', 'a/b']) {
      await expect(openArchive(repo, { commitId: id, format, name })).rejects.toMatchObject({
        code: 'invalid',
      })
    }
  })
})

/** Names of the programs of git and for archives that this process or its engine processes started and that still run. */
function running(): string[] {
  const all = execFileSync('ps', ['-eo', 'pid=,ppid=,comm=,args=']).toString().split('\n')
  const rows = all.map((line) => line.trim().split(/\s+/))
  const ours = String(process.pid)
  const parents = [ours, ...rows.filter((row) => row[1] === ours).map((row) => row[0])]
  const names = rows.filter((row) => parents.includes(row[1])).map((row) => row[2] ?? '')
  return names.filter((name) => /^(git|bzip2)/.test(name))
}

test.each([
  [undefined, 'tar.gz'],
  ['tar.gz', 'tar.gz'],
  ['tar', 'tar'],
  ['zip', 'zip'],
  ['bz2', 'tar.bz2'],
  ['tar.bz2', 'tar.bz2'],
  ['tb2', 'tar.bz2'],
  ['tbz', 'tar.bz2'],
  ['tbz2', 'tar.bz2'],
  ['rar', undefined],
  ['constructor', undefined],
])('the suffix %s means %s', (suffix, format) => {
  expect(archiveFormat(suffix)).toBe(format)
})

test('an archive comes through an engine process', async () => {
  const other = openGitWorld(1)
  try {
    const there = await other.repository()
    const id = commitFiles(there, { files: many })
    const name = relative('/', '/top')
    const chunks: Buffer[] = []
    for await (const chunk of await openArchive(there, { commitId: id, format: 'tar.gz', name })) {
      chunks.push(chunk as Buffer)
    }
    const judge = gitBytes(there.path, ['archive', '--format=tar', '--prefix=top/', id])
    expect(inventory(unpack('tar.gz', Buffer.concat(chunks)))).toEqual(
      inventory(unpack('tar', judge)),
    )
  } finally {
    await other.close()
  }
})
