import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Config } from '../../base/config.ts'

/** What is kept of what a command says of its progress and of failures. */
const mostSaid = 2000
/** What is kept of its answer. */
const mostAnswered = 16 * 1024 * 1024

export interface CommandResult {
  /** The exit code, or the signal that ended it. */
  readonly end: number | string | null
  readonly answer: string
  /** The end of what it said beside. */
  readonly said: string
}

/** Runs `gitstead` on the data folder of this server, in a process of its own that gives way to it. */
export function runCommand(
  config: Config,
  words: readonly string[],
  signal: AbortSignal,
): Promise<CommandResult> {
  const program = fileURLToPath(new URL('../../../scripts/gitstead.mjs', import.meta.url))
  return new Promise((finish, reject) => {
    const child = spawn(process.execPath, [program, ...words, '--data', config.data], {
      env: { ...process.env, ...settingsOf(config) },
      stdio: ['ignore', 'pipe', 'pipe'],
      signal,
    })
    let answer = ''
    let said = ''
    child.stdout.on('data', (chunk: Buffer) => {
      answer = (answer + chunk.toString('utf8')).slice(-mostAnswered)
    })
    child.stderr.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString('utf8')).slice(-mostSaid)
    })
    child.on('error', reject)
    child.on('close', (code, killed) => finish({ end: killed ?? code, answer, said }))
  })
}

/** The settings that a command needs of those with which the server runs. */
function settingsOf(config: Config): Record<string, string> {
  const given = {
    GITSTEAD_SECRET_KEY: config.secretKey,
    GITSTEAD_BACKUP_FOLDER: config.backupFolder,
    GITSTEAD_BACKUP_PASSPHRASE_FILE: config.backupPassphraseFile,
  }
  const known = Object.entries(given).filter((pair) => pair[1] !== undefined)
  return Object.fromEntries(known) as Record<string, string> // without those that are missing
}
