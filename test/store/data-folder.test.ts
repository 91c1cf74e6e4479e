import { mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { StartError } from '../../src/base/start-error.ts'
import { assertUsable, prepareDataFolder } from '../../src/store/data-folder/usable.ts'
import { newTestFolder } from '../support/test-folder.ts'

test('a data folder is made with the folders above it, for its owner alone', () => {
  const data = join(newTestFolder(), 'a/b')
  prepareDataFolder(data)
  prepareDataFolder(data)
  expect(statSync(data).mode & 0o777).toBe(0o700)
})

test('a link on the way that leads to nowhere is named, and does not hang', () => {
  const folder = newTestFolder()
  symlinkSync(join(folder, 'nowhere'), join(folder, 'link'))
  expect(() => prepareDataFolder(join(folder, 'link/data'))).toThrow(
    `the folder ${folder}/link is a link that leads to nowhere: is a disk not mounted?`,
  )
})

test('a link to itself is named', () => {
  const folder = newTestFolder()
  symlinkSync(join(folder, 'circle'), join(folder, 'circle'))
  expect(() => prepareDataFolder(join(folder, 'circle'))).toThrow(
    `the data folder ${folder}/circle cannot be used (too many symbolic links encountered`,
  )
})

test('a folder below a file is refused', () => {
  const folder = newTestFolder()
  writeFileSync(join(folder, 'file'), '')
  expect(() => prepareDataFolder(join(folder, 'file/data'))).toThrow(
    'a part of this path is a file',
  )
})

test.each(['files', 'files/tmp', 'repositories', 'tmp', 'hooks', 'outbox'])(
  'a file in the place of the folder %s is refused',
  (name) => {
    const data = newTestFolder()
    if (name.includes('/')) mkdirSync(join(data, 'files'))
    writeFileSync(join(data, name), '')
    expect(() => assertUsable(data)).toThrow(
      new StartError(`${data}/${name} is no folder, but a file`),
    )
  },
)

test.each([
  'gitstead.db',
  'gitstead.db-wal',
  'gitstead.db-shm',
  'reserve',
  'server.pid',
  'server.lock',
  'secret.key',
])('a folder in the place of the file %s is refused', (name) => {
  const data = newTestFolder()
  mkdirSync(join(data, name))
  expect(() => assertUsable(data)).toThrow(
    new StartError(`${data}/${name} is no file: move it away`),
  )
})

test("what else lies in the folder is nobody's business", () => {
  const data = newTestFolder()
  mkdirSync(join(data, 'lost+found'), { mode: 0o000 })
  writeFileSync(join(data, 'notes.txt'), '', { mode: 0o000 })
  assertUsable(data)
})
