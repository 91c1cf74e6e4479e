import { type ChildProcess, fork } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ownedName, prefixHere, removeOrphans } from '../process-mark.ts'
import { compiledFile } from '../workers/compiled-file.ts'

/** Names the socket of the launcher to processes that the server starts. */
const variable = 'GITSTEAD_LAUNCHER'

const folderPrefix = prefixHere('gitstead-launcher-')
/** The socket's name has to fit into 107 bytes. */
const longestFolder = 36

/**
 * The launcher of this process, which starts it when it is first asked: a small process that starts the programs. To
 * start one, a system copies the tables of all memory of the process that asks, which for a server takes as long as
 * many a program runs, and nothing else goes on meanwhile (docs/decisions/0061).
 */
class Launcher {
  #path = ''
  #ready: Promise<void> | undefined

  /** Where it listens, once it does. Rejects when it cannot be started. */
  async whenReady(): Promise<string> {
    const path = this.path()
    await this.#ready
    return path
  }

  /** Where it will listen. */
  path(): string {
    const given = process.env[variable]
    if (given !== undefined) return given
    if (this.#path === '') {
      const folder = tmpdir().length > longestFolder ? '/tmp' : tmpdir()
      // The launcher removes its own when its server ends, unless it is killed, too.
      removeOrphans(folder, folderPrefix)
      const own = join(folder, ownedName(folderPrefix))
      mkdirSync(own, { mode: 0o700 })
      this.#path = join(own, 'socket')
    }
    this.#ready ??= this.#start()
    return this.#path
  }

  #start(): Promise<void> {
    const started = new Promise<void>((resolve, reject) => {
      const child = forkLauncher(this.#path)
      let isReady = false
      child.on('message', () => {
        isReady = true
        // A process that has nothing else to do may end.
        child.unref()
        child.channel?.unref()
        resolve()
      })
      const gone = (error: Error) => {
        this.#ready = undefined
        reject(error)
        // Whoever holds its path counts on it.
        if (isReady) this.path()
      }
      child.on('error', gone)
      child.on('exit', (code, signal) => gone(new Error(`it ended with ${signal ?? code}`)))
    })
    started.catch(() => {})
    return started
  }
}

export const launcher = new Launcher()

/** The environment that lets a process use the launcher of this one. */
export function launcherEnvironment(): Readonly<Record<string, string>> {
  return { [variable]: launcher.path() }
}

function forkLauncher(path: string): ChildProcess {
  const file = new URL('./launcher-process.ts', import.meta.url)
  return fork(compiledFile(file), [path], {
    execArgv: ['--max-semi-space-size=1', '--max-old-space-size=64'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
}
