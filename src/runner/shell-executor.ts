import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Executor } from './executor.ts'
import { runProcess } from './processes/run-process.ts'

const SHELLS = ['/bin/bash', '/usr/bin/bash', '/bin/sh']

/**
 * Runs scripts by the shell of this machine, as the user of this program: jobs can do whatever that user can. For
 * machines whose projects are all trusted.
 */
export const shellExecutor: Executor = {
  name: 'shell',
  async open({ workspace, limits, processes }) {
    const shell = SHELLS.find((path) => existsSync(path)) ?? 'sh'
    let count = 0
    return {
      async run({ script, env, signal, output, drained }) {
        count += 1
        const path = join(workspace.temporary, `script-${count}.sh`)
        await writeFile(path, script, { mode: 0o600 })
        return await runProcess({
          program: shell,
          args: [path],
          cwd: workspace.project,
          env: { ...machineEnvironment(), ...env },
          processes,
          limits,
          signal,
          output,
          drained,
        })
      },
      close: async () => undefined,
    }
  },
}

/** What jobs see of the environment of this program: never its token. */
export function machineEnvironment(): Record<string, string> {
  const kept = [
    'PATH',
    'HOME',
    'LANG',
    'LC_ALL',
    'TZ',
    'USER',
    'LOGNAME',
    'TMPDIR',
    ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS', 'CURL_CA_BUNDLE'],
    ...['GIT_SSL_CAINFO', 'GIT_SSL_CAPATH'],
  ]
  const found: Record<string, string> = {}
  for (const name of kept) {
    const value = process.env[name]
    if (value !== undefined) found[name] = value
  }
  // git has a name of its own for what other programs trust by this one.
  const { SSL_CERT_FILE: trusted } = found
  return trusted === undefined ? found : { GIT_SSL_CAINFO: trusted, ...found }
}
