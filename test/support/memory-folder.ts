import { accessSync, constants, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const shared = '/dev/shm'
/** More than twice what all tests have there at a time. */
const least = 2 * 1024 ** 3

/** A folder in memory for what tests write, where the system has one that is large enough and lets programs run. */
export function memoryFolder(): string | undefined {
  const probe = join(shared, `gitstead-test-probe-${process.pid}`)
  try {
    const { bavail, bsize } = statfsSync(shared)
    if (bavail * bsize < least) return undefined
    writeFileSync(probe, '', { mode: 0o700 })
    accessSync(probe, constants.X_OK)
    return shared
  } catch {
    return undefined
  } finally {
    rmSync(probe, { force: true })
  }
}
