import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ownedName, prefixHere, removeOrphans } from '../../src/base/process-mark.ts'

test('folders of processes that are gone are removed, not those of running ones or of other containers', () => {
  const parent = mkdtempSync(join(tmpdir(), 'gitstead-orphans-'))
  const prefix = prefixHere('scratch-')
  const gone = '999999999-1-0123456789ab'
  const kept = [ownedName(prefix), `scratch-1-${gone}`, 'scratch-of-somebody']
  for (const name of [...kept, `${prefix}${gone}`]) mkdirSync(join(parent, name))
  removeOrphans(parent, prefix)
  expect(readdirSync(parent).sort()).toEqual([...kept].sort())
  rmSync(parent, { recursive: true })
})
