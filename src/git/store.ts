import { access, mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Hold } from '../base/hold.ts'
import { ownedName } from '../base/process-mark.ts'
import { ArchiveCache } from './archive/archive-cache.ts'
import type { Engine } from './engine/operation.ts'
import { EnginePool } from './engine/pool.ts'
import { GitError } from './error.ts'
import { listWhole, removeFromAll } from './maintenance/left-over-all.ts'
import { outliveOthers } from './maintenance/outlive.ts'
import { isBranchName } from './names.ts'
import { RefMoves } from './ref-moves.ts'
import type { Repo } from './repo.ts'
import { layOut, syncFolder } from './repo-layout.ts'
import { type RepoName, repositoryKey } from './repo-name.ts'
import { InProcessEngine } from './service/in-process.ts'
import { linkObjects } from './transfer/repo-fork.ts'

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
  /** An engine that others use too, and that stays when this is closed (tests). */
  readonly engine?: Engine | undefined
  /** Bytes of finished archives that are kept; left out where another process keeps them. */
  readonly archiveCache?: number | undefined
  /** While it is held, nothing is deleted for good. */
  readonly deletions?: Hold | undefined
}

export interface InitOptions {
  readonly defaultBranch: string
  readonly objectFormat?: 'sha1' | 'sha256' | undefined
}

/** The repositories of a server. */
export type GitStore = ReturnType<ReturnType<typeof openGit>['of']>

/** Opens the repositories below a data folder; engine processes start at the first request. */
export function openGit(config: GitConfig) {
  const root = join(config.dataDir, 'repositories')
  const engine = config.engine ?? makeEngine(config, root)
  const archives = new ArchiveCache(join(config.dataDir, 'archives'), config.archiveCache)
  const pathOf = (name: RepoName): string => repositoryPath(root, name)
  const moves = new RefMoves()
  const deletions = config.deletions ?? new Hold()
  const open = (name: RepoName): Repo => ({
    key: repositoryKey(name),
    path: pathOf(name),
    engine,
    moves,
  })
  const openOf = (caller: string) => {
    const own = engine.of(caller)
    return (name: RepoName): Repo => ({ ...open(name), engine: own, caller })
  }

  /** Builds a repository beside its final place and moves it there in one step. */
  const place = async (name: RepoName, build: (path: string) => Promise<void>): Promise<Repo> => {
    const path = pathOf(name)
    const taken = () => new GitError('exists', `repository ${repositoryKey(name)} exists`)
    if (await present(path)) throw taken()
    const draft = `${ownedName(`${path}.`)}.new`
    try {
      const folder = dirname(path)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await build(draft)
      await syncFolder(draft)
      // A repository comes and goes as a ref moves: while a backup looks, database and folders agree.
      await moves.run(repositoryKey(name), () => rename(draft, path))
      // The folder may be new, too.
      for (const above of [folder, root, config.dataDir]) await syncFolder(above)
    } catch (error) {
      await rm(draft, { recursive: true, force: true })
      // Another request was faster: renaming onto a folder with content is refused.
      if (await present(path)) throw taken()
      throw error
    }
    engine.forget(path)
    return open(name)
  }

  const store = {
    open,
    engine,
    moves,
    deletions,
    /** Finished archives; for the server alone. */
    archives,
    exists: (name: RepoName): Promise<boolean> => present(pathOf(name)),
    /** The repositories that lie below the data folder, whoever made them, each in the place of its name. */
    async list(): Promise<RepoName[]> {
      const found = await listWhole(root)
      return found.filter(({ name, path }) => path === pathOf(name)).map(({ name }) => name)
    },
    /** Makes an empty bare repository; `exists` when there is one. */
    init(name: RepoName, options: InitOptions): Promise<Repo> {
      if (!isBranchName(options.defaultBranch)) {
        return Promise.reject(new GitError('invalid', 'the default branch is no branch name'))
      }
      return place(name, (path) => layOut(path, options, config.maxPushBytes ?? 0))
    },
    /** Removes the repository; no error when there is none. Its files stay while deletions are held. */
    async remove(name: RepoName): Promise<void> {
      const path = pathOf(name)
      const gone = `${ownedName(`${path}.`)}.gone`
      try {
        await moves.run(repositoryKey(name), () => rename(path, gone))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
        throw error
      }
      engine.forget(path)
      await archives.forget(repositoryKey(name))
      const erase = () => rm(gone, { recursive: true, force: true, maxRetries: 3 })
      if (!deletions.isHeld) return await erase()
      // Nobody waits for that; what a crash leaves is removed after the next start.
      void deletions
        .whenFree()
        .then(erase)
        .catch(() => undefined)
    },
    /** Copies branches, tags and objects of one repository to a new one; of `branch` alone, which must be there, if given. */
    fork(from: RepoName, to: RepoName, branch?: string): Promise<Repo> {
      const source = pathOf(from)
      const options = { branch, maxPushBytes: config.maxPushBytes ?? 0 }
      return place(to, (path) => linkObjects(source, path, options))
    },
    /**
     * Waits for the processes of a server that is gone, and ends those that stay: after it no ref moves but by us. To be
     * called at the start.
     */
    outliveOthers: (): Promise<void> => outliveOthers(root),
    /** Removes what dead processes left in any repository, gives the number, and is in no hurry. */
    removeLeftOvers: (signal?: AbortSignal): Promise<number> => removeFromAll(root, signal),
    async close(): Promise<void> {
      if (!config.engine) await engine.close()
    },
  }
  return {
    ...store,
    /** The same for one caller, who has a share of programs and streams. */
    of: (caller: string) => ({ ...store, open: openOf(caller) }),
  }
}

function makeEngine(config: GitConfig, root: string): Engine {
  if (config.engineProcesses === 0) return new InProcessEngine()
  return new EnginePool({
    processes: config.engineProcesses,
    memory: config.engineMemory,
    timeout: config.engineTimeout,
    folder: root,
  })
}

/** `<root>/<two hex digits of the id>/<key>.git`: what people call things never appears on disk. */
function repositoryPath(root: string, name: RepoName): string {
  const key = repositoryKey(name)
  const shard = (Number.parseInt(key, 10) & 0xff).toString(16).padStart(2, '0')
  return join(root, shard, `${key}.git`)
}

async function present(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
