import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { buildRepository, type RepositoryName } from '../../../fixtures/repositories/build.ts'
import { bytesOf, oid, typeName } from '../../../src/git/engine/native.ts'
import { OpenRepository } from '../../../src/git/engine/open-repository.ts'
import { readBlob } from '../../../src/git/objects/blob.ts'
import { ObjectFiles } from '../../../src/git/objects/packs/object-files.ts'
import { commitFiles } from '../../support/fast-import.ts'
import { git, openGitWorld, repoAt } from '../../support/git.ts'
import { runs } from '../../support/runs.ts'

const folder = mkdtempSync(join(tmpdir(), 'gitstead-objects-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let built = 0
async function fixture(name: RepositoryName): Promise<string> {
  built += 1
  return buildRepository(name, join(folder, `${built}.git`))
}

/** Compares every object with what git reads. */
function compareAll(path: string): number {
  const files = new ObjectFiles(path)
  const objects = git(path, ['cat-file', '--batch-all-objects', '--batch-check']).split('\n')
  for (const line of objects) {
    const [id = '', type = '', size = ''] = line.split(' ')
    expect([id, files.header(id)]).toMatchObject([id, { type, size: Number(size) }])
    const object = files.read(id, 1 << 20)
    expect(object?.type).toBe(type)
    const hash = createHash('sha1').update(`${type} ${size}\0`)
    expect(hash.update(object?.data ?? '').digest('hex')).toBe(id)
    expect(files.read(id, Number(size) - 1)).toBeUndefined()
  }
  return objects.length
}

test.each(['basic', 'merges', 'binary', 'odd-names', 'renames'] as const)(
  'every object of %s is what git reads, loose and in packs of all kinds',
  async (name) => {
    const path = await fixture(name)
    compareAll(path)
    git(path, ['repack', '-adfq', '--depth=50'])
    compareAll(path)
    git(path, ['-c', 'repack.useDeltaBaseOffset=false', 'repack', '-adfq'])
    compareAll(path)
    git(path, ['-c', 'pack.indexVersion=1', 'repack', '-adfq'])
    // An index of the first version is left to libgit2.
    const id = git(path, [
      'rev-parse',
      `HEAD:${git(path, ['ls-tree', '-r', '--name-only', 'HEAD']).split('\n')[0]}`,
    ])
    expect(new ObjectFiles(path).read(id, 1 << 20)).toBeUndefined()
    expect((await readBlob(repoAt(path), id)).id).toBe(id)
  },
)

test('objects that arrive, move into packs and are borrowed are found at once', async () => {
  const path = await fixture('basic')
  const files = new ObjectFiles(path)
  const add = (text: string) => git(path, ['hash-object', '-w', '--stdin'], { input: text })
  const missing = git(path, ['hash-object', '--stdin'], { input: 'later' })
  expect(files.read(missing, 100)).toBeUndefined()
  const id = add('later')
  expect(files.read(id, 100)?.data.toString()).toBe('later')
  git(path, ['update-ref', 'refs/tags/blob', id])
  git(path, ['repack', '-adq'])
  git(path, ['prune-packed'])
  expect(files.read(id, 100)?.data.toString()).toBe('later')
  const other = join(folder, 'borrower.git')
  git(folder, ['init', '-q', '--bare', other])
  writeFileSync(join(other, 'objects/info/alternates'), `${join(path, 'objects')}\n`)
  expect(new ObjectFiles(other).read(id, 100)?.data.toString()).toBe('later')
})

test('an object whose pack goes away between its index and itself is read from the next one', async () => {
  const path = await fixture('basic')
  git(path, ['repack', '-adfq'])
  const id = git(path, ['rev-parse', 'HEAD'])
  const size = Number(git(path, ['cat-file', '-s', id]))
  const [header, read] = [new ObjectFiles(path), new ObjectFiles(path)]
  // Only the index is read for this.
  expect([header.has(id), read.has(id)]).toEqual([true, true])
  const more = git(path, ['hash-object', '-w', '--stdin'], { input: 'so that the pack is another' })
  git(path, ['update-ref', 'refs/tags/more', more])
  git(path, ['repack', '-adfq'])
  expect(header.header(id)).toEqual({ type: 'commit', size })
  expect(read.read(id, 1 << 20)?.data).toHaveLength(size)
})

test('many lookups in one pack are right, as are those of ids that are almost there', async () => {
  const path = await fixture('many-files')
  git(path, ['repack', '-adq'])
  const files = new ObjectFiles(path)
  const ids = git(path, [
    'cat-file',
    '--batch-all-objects',
    '--batch-check=%(objectname) %(objectsize)',
  ]).split('\n')
  for (const line of ids) {
    const [id = '', size] = line.split(' ')
    expect(files.header(id)?.size).toBe(Number(size))
    const absent = `${id.slice(0, 39)}${id.endsWith('0') ? '1' : '0'}`
    expect(files.header(absent)).toBeUndefined()
  }
})

/** Contents of which some begin alike, so that git stores them as deltas of each other, and some as large as is read here. */
const content = fc
  .tuple(
    fc.constantFrom('', 'a line\n'.repeat(400), 'another line\n'.repeat(3000), 'x'),
    fc.uint8Array({ maxLength: 300 }),
    fc.integer({ min: 0, max: 9000 }),
  )
  .map(([start, own, cut]) =>
    Buffer.concat([Buffer.from(start).subarray(0, cut), own, Buffer.from(start)]),
  )

test('any objects, stored in any way, are what libgit2 reads', async () => {
  const world = openGitWorld()
  afterAll(() => world.close())
  await fc.assert(
    fc.asyncProperty(
      fc.array(content, { minLength: 1, maxLength: 12 }),
      fc.array(content, { maxLength: 2 }),
      fc.integer({ min: 1, max: 50 }),
      fc.boolean(),
      async (packed, loose, depth, byOffset) => {
        const repo = await world.repository()
        const { path } = repo
        const named = packed.map((data, i) => [`f${i}`, data] as const)
        commitFiles(repo, { files: Object.fromEntries(named) })
        const config = ['-c', `repack.useDeltaBaseOffset=${byOffset}`]
        git(path, [...config, 'repack', '-adfq', `--depth=${depth}`])
        for (const data of loose) git(path, ['hash-object', '-w', '--stdin'], { input: data })
        const list = ['cat-file', '--batch-all-objects', '--batch-check=%(objectname)']
        const ids = git(path, list).split('\n')
        const files = new ObjectFiles(path)
        const odb = await new OpenRepository(path).odb()
        for (const id of ids) {
          const object = await odb.read(oid(id))
          const type = typeName(object?.type() ?? 0)
          const data = object === null ? undefined : bytesOf(object)
          expect(files.read(id, 1 << 20)).toEqual({ type, data })
          expect(files.header(id)).toMatchObject({ type, size: data?.length })
          const absent = `${id.slice(0, 39)}${id.endsWith('0') ? '1' : '0'}`
          expect([files.has(id), files.has(absent)]).toEqual([true, ids.includes(absent)])
        }
      },
    ),
    runs(4, 20261126),
  )
})
