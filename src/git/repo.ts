import { randomBytes } from 'node:crypto'
import { access, mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { InProcessEngine } from './engine/in-process.ts'
import type { Engine } from './engine/operation.ts'
import { EnginePool } from './engine/pool.ts'
import { GitError } from './error.ts'
import { isBranchName } from './names.ts'
import { linkObjects } from './repo-fork.ts'
import { layOut, syncFolder, writeFileSynced } from './repo-layout.ts'

/** A repository, opaque to other rooms: engine functions take it as their first argument. */
export interface Repo {
  /** The project it belongs to. */
  readonly id: number
  /** Its folder; for `git/` and `transport/` only. */
  readonly path: string
  readonly engine: Engine
}

export interface GitConfig {
  /** The server's data folder; repositories live in `repositories/` below it. */
  readonly dataDir: string
  /** Engine processes; 0 runs everything in this process (tests). */
  readonly engineProcesses: number
  /** Bytes of memory after which an engine process is replaced. */
  readonly engineMemory?: number | undefined
  /** Milliseconds that one operation may take, unless it knows better. */
  readonly engineTimeout?: number | undefined
  /** The largest pack a push may bring, in bytes; 0 means no limit. */
  readonly maxPushBytes?: number | undefined
}

export interface InitOptions {
  readonly defaultBranch: string
  readonly objectFormat?: 'sha1' | 'sha256' | undefined
}

/** The repositories of a server. */
export interface GitStore {
  open(projectId: number): Repo
  exists(projectId: number): Promise<boolean>
  /** Makes an empty bare repository; `exists` when there is one. */
  init(projectId: number, options: InitOptions): Promise<Repo>
  /** Removes the repository; no error when there is none. */
  remove(projectId: number): Promise<void>
  /** Copies branches, tags and objects of one repository to a new one. */
  fork(fromId: number, toId: number): Promise<Repo>
  readonly engine: Engine
  close(): Promise<void>
}

/** Opens the repositories below a data folder; engine processes start at the first request. */
export function openGit(config: GitConfig): GitStore {
  const root = join(config.dataDir, 'repositories')
  const engine =
    config.engineProcesses === 0
      ? new InProcessEngine()
      : new EnginePool({
          processes: config.engineProcesses,
          memory: config.engineMemory,
          timeout: config.engineTimeout,
        })

  const open = (id: number): Repo => ({ id, path: repositoryPath(root, id), engine })

  /** Builds a repository beside its final place and moves it there in one step. */
  const place = async (id: number, build: (path: string) => Promise<void>): Promise<Repo> => {
    const path = repositoryPath(root, id)
    if (await present(path)) throw new GitError('exists', `repository ${id} exists`)
    const draft = `${path}.${randomBytes(6).toString('hex')}.new`
    try {
      await mkdir(dirname(path), { recursive: true })
      await build(draft)
      await syncFolder(draft)
      await rename(draft, path)
      await syncFolder(dirname(path))
    } catch (error) {
      await rm(draft, { recursive: true, force: true })
      // Another request was faster: renaming onto a folder with content is refused.
      if (await present(path)) throw new GitError('exists', `repository ${id} exists`)
      throw error
    }
    engine.forget(path)
    return open(id)
  }

  return {
    open,
    engine,
    exists: (id) => present(repositoryPath(root, id)),
    init: (id, options) => {
      if (!isBranchName(options.defaultBranch)) {
        return Promise.reject(new GitError('invalid', 'the default branch is no branch name'))
      }
      return place(id, (path) => layOut(path, options, config.maxPushBytes ?? 0))
    },
    async remove(id) {
      const path = repositoryPath(root, id)
      const gone = `${path}.${randomBytes(6).toString('hex')}.gone`
      try {
        await rename(path, gone)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
        throw error
      }
      engine.forget(path)
      await rm(gone, { recursive: true, force: true, maxRetries: 3 })
    },
    fork: (fromId, toId) => {
      const source = repositoryPath(root, fromId)
      return place(toId, async (path) => {
        await linkObjects(source, path, config.maxPushBytes ?? 0)
      })
    },
    close: () => engine.close(),
  }
}

/** Points HEAD at a branch, which need not exist yet. */
export async function setHead(repo: Repo, branch: string): Promise<void> {
  if (!isBranchName(branch)) throw new GitError('invalid', `not a branch name: ${branch}`)
  const draft = join(repo.path, `HEAD.${randomBytes(6).toString('hex')}.new`)
  await writeFileSynced(draft, `ref: refs/heads/${branch}\n`)
  await rename(draft, join(repo.path, 'HEAD'))
  await syncFolder(repo.path)
}

/** `<root>/<two hex digits>/<id>.git`: names never appear on disk. */
function repositoryPath(root: string, id: number): string {
  if (!Number.isSafeInteger(id) || id < 0) throw new GitError('invalid', 'not a project id')
  const shard = (id & 0xff).toString(16).padStart(2, '0')
  return join(root, shard, `${id}.git`)
}

async function present(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
