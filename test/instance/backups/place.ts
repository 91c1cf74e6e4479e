import crypto from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, vi } from 'vitest'
import { openApp } from '../../../src/app.ts'
import { makeConfig } from '../../../src/base/config.ts'
import { silentLog } from '../../../src/base/log.ts'
import { gitstead } from '../../support/command-line.ts'
import { git } from '../../support/git.ts'
import { Caller, sharedEngine } from '../../support/world.ts'

/** Where backups go, and come back from. */
export interface BackupPlace {
  readonly folder: string
  readonly backups: string
  readonly passphrase: readonly string[]
  create(data: string, more?: readonly string[]): ReturnType<typeof gitstead>
  verify(more?: readonly string[]): ReturnType<typeof gitstead>
  /** Restores into a new folder, which must go well, and gives that. */
  restore(more?: readonly string[]): Promise<string>
  remove(): void
}

export function openBackupPlace(): BackupPlace {
  const folder = mkdtempSync(join(tmpdir(), 'gitstead-backups-'))
  const backups = join(folder, 'backups')
  const file = join(folder, 'passphrase')
  writeFileSync(file, 'correct horse battery\n')
  const passphrase = ['--passphrase-file', file]
  let count = 0
  return {
    folder,
    backups,
    passphrase,
    create: (data, more = []) =>
      gitstead(data, ['backup', 'create', '--to', backups, ...passphrase, ...more]),
    verify: (more = []) =>
      gitstead(folder, ['backup', 'verify', '--from', backups, ...passphrase, ...more]),
    async restore(more = []) {
      count += 1
      const data = join(folder, `restored-${count}`)
      const words = ['backup', 'restore', '--from', backups, ...passphrase, ...more]
      const ran = await gitstead(data, words)
      if (ran.code !== 0) throw new Error(`not restored: ${ran.out}${ran.err}`)
      return data
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/**
 * Lets this process make a key of a passphrase with the least work until the file ends: each would take a core some tenths
 * of a second. The keys are good for nobody who makes them with what the backup says.
 */
export function useQuickKeys(): void {
  const { scrypt } = crypto
  beforeAll(() => {
    vi.spyOn(crypto, 'scrypt').mockImplementation((...given) => {
      const [passphrase, salt, bytes, options, done] = given as unknown as FullCall
      scrypt(passphrase, salt, bytes, { ...options, N: 2 }, done)
    })
    syncBuiltinESMExports()
  })
  afterAll(() => {
    vi.mocked(crypto.scrypt).mockRestore()
    syncBuiltinESMExports()
  })
}

type FullCall = [
  string,
  Buffer,
  number,
  crypto.ScryptOptions,
  (error: Error | null, key: Buffer) => void,
]

/** A server on a restored folder, and the same person as before. */
export async function serveRestored(data: string, token: string | null) {
  const config = makeConfig({ data, port: 0, drainTime: 100 })
  const app = await openApp(config, {
    log: silentLog,
    synchronous: 'off',
    background: false,
    engine: sharedEngine,
  })
  const { port } = await app.listen()
  return {
    app,
    as: new Caller(`http://127.0.0.1:${port}`, token, 0, ''),
    close: () => app.close(),
  }
}

/** The folders of all repositories in a data folder. */
export function repositoriesIn(data: string): string[] {
  const root = join(data, 'repositories')
  return readdirSync(root).flatMap((shard) =>
    readdirSync(join(root, shard))
      .filter((name) => name.endsWith('.git'))
      .map((name) => join(root, shard, name)),
  )
}

/** What `git fsck` says of every repository; empty when all is well. */
export function fsckAll(data: string): string[] {
  return repositoriesIn(data).flatMap((path) => {
    try {
      git(path, ['fsck', '--full', '--strict', '--no-dangling', '--no-progress'])
      return []
    } catch (error) {
      return [`${path}: ${String(error)}`]
    }
  })
}

/** The refs of a repository, as git lists them. */
export function refsIn(path: string): Map<string, string> {
  const lines = git(path, ['for-each-ref', '--format=%(objectname) %(refname)']).split('\n')
  return new Map(lines.filter(Boolean).map((line) => [line.slice(41), line.slice(0, 40)]))
}

/**
 * Refs of projects that are not where the journal of the same data folder says; those with an open move are left out, and
 * projects that are being deleted, whose repository goes before the rest.
 */
export function disagreements(data: string): string[] {
  const database = new Database(join(data, 'gitstead.db'), { readonly: true })
  try {
    const rows = database
      .prepare<[], Recorded>(
        `SELECT project_id, ref, new_id, p.pending_delete FROM ref_moves m JOIN projects p ON p.id = m.project_id
         WHERE state = 'moved'
           AND m.id = (SELECT max(id) FROM ref_moves o
             WHERE o.project_id = m.project_id AND o.ref = m.ref AND o.state <> 'refused')`,
      )
      .all()
    const refsOf = new Map<number, Map<string, string> | undefined>()
    for (const { project_id } of rows) {
      const shard = (project_id & 0xff).toString(16).padStart(2, '0')
      const path = join(data, 'repositories', shard, `${project_id}.git`)
      if (refsOf.has(project_id)) continue
      refsOf.set(project_id, existsSync(path) ? refsIn(path) : undefined)
    }
    return rows.flatMap(({ project_id, ref, new_id, pending_delete }) => {
      const refs = refsOf.get(project_id)
      if (!refs) return pending_delete === 1 ? [] : [`${project_id} has no repository`]
      const there = refs.get(ref) ?? '0'.repeat(40)
      return there === new_id ? [] : [`${project_id} ${ref} is at ${there}, recorded is ${new_id}`]
    })
  } finally {
    database.close()
  }
}

interface Recorded {
  readonly project_id: number
  readonly ref: string
  readonly new_id: string
  readonly pending_delete: number
}

/** All bytes below a folder that hold a text. */
export function holds(folder: string, text: string): boolean {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .some((entry) => readFileSync(join(entry.parentPath, entry.name)).includes(text))
}

/** The log of a job that is still running. */
export function writeTrace(data: string, job: number, text: string): void {
  mkdirSync(join(data, 'traces', String(job % 256)), { recursive: true })
  writeFileSync(join(data, 'traces', String(job % 256), `${job}.log`), text)
}
