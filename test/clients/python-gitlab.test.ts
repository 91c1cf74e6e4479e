import { execFile, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openWorld, type World } from '../support/world.ts'

const script = fileURLToPath(new URL('./python_gitlab.py', import.meta.url))
// Debian's packages are for the system's own Python, whichever else comes first on the PATH.
const python = '/usr/bin/python3'
const installed = spawnSync(python, ['-c', 'import gitlab']).status === 0

let world: World
beforeAll(async () => {
  world = await openWorld({ limitArchives: 0 })
})
afterAll(() => world.close())

test.runIf(installed)(
  'python-gitlab, unchanged, manages users, groups, projects, files, commits, issues and tokens',
  async () => {
    const token = await world.token(world.root.id, ['api', 'sudo'])
    const done = await promisify(execFile)(python, [script, world.url, token]).catch(
      (error: unknown) => error,
    )
    expect(done).toMatchObject({
      stdout: 'done users\ndone groups\ndone projects\ndone refusals\n',
    })
  },
  120_000,
)
