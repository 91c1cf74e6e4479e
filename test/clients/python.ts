import { execFile, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { isThere } from '../support/needed.ts'

// Debian's packages are for the system's own Python, whichever else comes first on the PATH.
const python = '/usr/bin/python3'

/** Whether python-gitlab is there; set-up installs it for the tests where it may. */
export const hasPythonGitlab = isThere(
  'python-gitlab',
  spawnSync(python, ['-c', 'import gitlab']).status === 0,
)

/** Runs a script of this folder against a server and gives what it printed; throws what went wrong in it. */
export async function runPython(script: string, url: string, token: string): Promise<string> {
  const path = fileURLToPath(new URL(script, import.meta.url))
  const { stdout } = await promisify(execFile)(python, [path, url, token])
  return stdout
}
