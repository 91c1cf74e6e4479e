import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RefMoves } from '../../src/git/ref-moves.ts'
import type { Repo } from '../../src/git/repo.ts'
import { InProcessEngine } from '../../src/git/service/in-process.ts'
import { type GitStore, openGit } from '../../src/git/store.ts'
import { runProgram } from './run-program.ts'

/** The git program as a judge: fixed people and dates, no settings of the machine. */
export const gitTestEnvironment = {
  PATH: process.env.PATH ?? '',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Ana Author',
  GIT_AUTHOR_EMAIL: 'ana@example.com',
  GIT_AUTHOR_DATE: '1632121572 +0200',
  GIT_COMMITTER_NAME: 'Carl Committer',
  GIT_COMMITTER_EMAIL: 'carl@example.com',
  GIT_COMMITTER_DATE: '1632125172 +0200',
  LC_ALL: 'C',
}

/** Runs git in a folder and gives its output as bytes; throws with stderr when it fails. */
export function gitBytes(
  folder: string,
  args: readonly string[],
  options: { readonly input?: string | Uint8Array; readonly env?: Record<string, string> } = {},
): Buffer {
  const done = runProgram({
    program: 'git',
    args: ['-c', 'core.quotePath=false', ...args],
    cwd: folder,
    env: { ...gitTestEnvironment, ...options.env },
    input: options.input,
  })
  if (done.status !== 0) throw new Error(`git ${args.join(' ')}: ${done.stderr}`)
  return done.stdout
}

/** Runs git and gives its output as text without the last line break. */
export function git(
  folder: string,
  args: readonly string[],
  options: { readonly input?: string | Uint8Array; readonly env?: Record<string, string> } = {},
): string {
  return gitBytes(folder, args, options).toString('utf8').replace(/\n$/, '')
}

/** What one test file works with: a store in a temporary folder. */
export interface GitWorld {
  readonly folder: string
  readonly store: GitStore
  /** A new empty bare repository with branch `main`. */
  repository(): Promise<Repo>
  close(): Promise<void>
}

/** Opens a store in a temporary folder; operations run in this process by default. */
export function openGitWorld(engineProcesses = 0): GitWorld {
  const folder = mkdtempSync(join(tmpdir(), 'gitstead-test-'))
  const store = openGit({ dataDir: folder, engineProcesses })
  let last = 0
  return {
    folder,
    store,
    repository: () => {
      last += 1
      return store.init(last, { defaultBranch: 'main' })
    },
    async close() {
      await store.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A repository at a path, read in this process. */
export function repoAt(path: string): Repo {
  return { key: '0', path, engine: new InProcessEngine(), moves: new RefMoves() }
}
