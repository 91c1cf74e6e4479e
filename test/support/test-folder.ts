import { rmSync } from 'node:fs'
import { onTestFinished } from 'vitest'
import { newFolder } from './database.ts'

/** A folder that is removed when the test that asks for it is over. */
export function newTestFolder(): string {
  const folder = newFolder()
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
