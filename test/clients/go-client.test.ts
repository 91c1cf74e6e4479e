import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isThere } from '../support/needed.ts'
import { openWorld, type World } from '../support/world.ts'

const run = promisify(execFile)
const hasGo = isThere('go', spawnSync('go', ['version']).status === 0)

let world: World
let folder = ''
beforeAll(async () => {
  world = await openWorld()
  folder = mkdtempSync(join(tmpdir(), 'gitstead-go-'))
  if (!hasGo) return
  // Fetches the client by the checksums that are kept beside the program.
  const cwd = fileURLToPath(new URL('go', import.meta.url))
  // It runs for seconds: code that is quick to make is better than code that is quick.
  const quick = '-gcflags=all=-N -l'
  await run('go', ['build', quick, '-o', join(folder, 'client'), '.'], { cwd })
}, 300_000)
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await world.close()
})

test.runIf(hasGo)(
  'the Go client, unchanged, manages groups, projects, files, pipelines, issues and feature flags',
  async () => {
    const token = await world.token(world.root.id, ['api'])
    const { stdout } = await run(join(folder, 'client'), [world.url, token])
    expect(stdout).toBe('done from-go\n')
  },
  60_000,
)
