import { statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeFolder } from '../../src/base/make-folder.ts'
import { newTestFolder } from '../support/test-folder.ts'

test('a folder is for its owner alone, and those above it let others through', () => {
  const folder = join(newTestFolder(), 'a/b')
  const before = process.umask(0o022)
  try {
    makeFolder(folder)
  } finally {
    process.umask(before)
  }
  const mode = (path: string) => statSync(path).mode & 0o777
  expect([mode(folder), mode(join(folder, '..'))]).toEqual([0o700, 0o755])
})

test('a link to nowhere and a place where nothing can be made are named', () => {
  const folder = newTestFolder()
  symlinkSync(join(folder, 'nowhere'), join(folder, 'link'))
  expect(() => makeFolder(join(folder, 'link/x'))).toThrow(`${folder}/link is a link that leads to`)
  expect(() => makeFolder('/proc/x/y')).toThrow('the folder /proc/x cannot be made (no such file')
})
