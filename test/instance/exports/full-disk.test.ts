import { randomBytes } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { writeArchive } from '../../../src/instance/exports/tar.ts'
import { newFolder } from '../../support/database.ts'

test('an archive for which the disk has no room says so, whatever is being packed meanwhile', async () => {
  const folder = newFolder()
  const path = join(folder, 'part')
  writeFileSync(path, randomBytes(1024 * 1024))
  const parts = Array.from({ length: 20 }, (_, n) => ({ name: `part-${n}`, path }))
  await expect(writeArchive('/dev/full', parts)).rejects.toMatchObject({ code: 'ENOSPC' })
  rmSync(folder, { recursive: true })
})
