import { on } from 'node:events'
import { mkdirSync, readdirSync, rmdirSync, rmSync, unlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { ownedName, prefixHere, removeOrphans } from '../../base/process-mark.ts'
import { type RunningGit, startGit } from '../command.ts'
import { GitError } from '../error.ts'
import { isObjectId } from '../names.ts'
import type { ObjectId } from '../types.ts'

export interface MergeAnswer {
  readonly isClean: boolean
  readonly treeId: ObjectId
  /** Those that conflict. */
  readonly paths: readonly string[]
}

/** Merges after which a program ends: it remembers every commit that it has seen. */
const mostMerges = 200
/** Programs that wait for another merge, and how long, in milliseconds. */
const mostIdle = 2
const idleMs = 10_000
const answerLimit = 64 * 1024 * 1024
/** Outside of the repository, where nothing may be left over. */
const folderPrefix = prefixHere('gitstead-merge-')

/**
 * A running `git merge-tree` of one repository, which merges pair after pair: of a merge of its own two thirds are the
 * start of the program. What it writes goes to a folder of its own, which is emptied after each merge.
 */
class MergeProgram {
  readonly folder: string
  readonly #git: RunningGit
  #merges = 0
  /** What the last merge has written is still there, and will be taken away. */
  #emptying: NodeJS.Immediate | undefined

  constructor(path: string) {
    if (!orphansAreGone) removeOrphans(tmpdir(), folderPrefix)
    orphansAreGone = true
    this.folder = join(tmpdir(), ownedName(folderPrefix))
    mkdirSync(this.folder, { mode: 0o700 })
    try {
      this.#git = startGit({
        repo: path,
        args: ['merge-tree', '--stdin', '--name-only', '--no-messages'],
        // Nothing here must outlast a crash.
        config: { 'core.fsync': 'none' },
        env: {
          GIT_OBJECT_DIRECTORY: this.folder,
          GIT_ALTERNATE_OBJECT_DIRECTORIES: join(path, 'objects'),
        },
        unbuffered: true,
        timeout: 0,
      })
    } catch (error) {
      this.removeFolder()
      throw error
    }
    running.add(this)
  }

  get mayMergeMore(): boolean {
    return this.#merges < mostMerges
  }

  /** Merges two commits as `git merge` does. What git says when it can't ends the program, and is the error. */
  async merge(ours: ObjectId, theirs: ObjectId, signal: AbortSignal): Promise<MergeAnswer> {
    if (signal.aborted) throw new GitError('timeout', 'the caller went away')
    this.#merges += 1
    const answered = this.#read(signal)
    const ended = this.#git.done.then(() => {
      throw new GitError('failed', 'git merge-tree ended without an answer')
    })
    this.#git.stdin.write(`${ours} ${theirs}\n`)
    return parseAnswer(await Promise.race([answered, ended]))
  }

  async #read(signal: AbortSignal): Promise<string> {
    const chunks: Buffer[] = []
    let size = 0
    try {
      for await (const [chunk] of on(this.#git.stdout, 'data', { signal })) {
        chunks.push(chunk)
        size += chunk.length
        if (size > answerLimit) throw new GitError('too_large', 'too many files conflict')
        if (endsAnswer(chunks)) break
      }
    } catch (error) {
      throw signal.aborted ? new GitError('timeout', 'the caller went away') : error
    }
    return Buffer.concat(chunks).toString('utf8')
  }

  /** Takes away what the last merge has written, if that is still there. */
  empty(): void {
    if (this.#emptying === undefined) return
    for (const fan of readdirSync(this.folder)) {
      const folder = join(this.folder, fan)
      for (const name of readdirSync(folder)) unlinkSync(join(folder, name))
      rmdirSync(folder)
    }
    // Not sooner: what could not be taken away is still there for the next merge.
    clearImmediate(this.#emptying)
    this.#emptying = undefined
  }

  /** As `empty`, while whoever asked for the merge waits for the disk. */
  emptySoon(): void {
    this.#emptying = setImmediate(() => {
      try {
        this.empty()
      } catch {
        // The next merge tries it again, and takes another program where that fails, too.
      }
    })
  }

  /** Ends it while it waits. */
  end(): void {
    this.#git.stdin.end()
    this.#leave()
  }

  /** Ends it whatever it does. */
  kill(): void {
    this.#git.kill()
    this.#leave()
  }

  #leave(): void {
    running.delete(this)
    const remove = () => this.removeFolder()
    // What cannot be removed now is removed by a later process.
    this.#git.done.then(remove, remove).catch(() => {})
  }

  /** For the end of the process, which waits for nothing: git ends when it finds its input closed. */
  removeFolder(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** All that have not ended. */
const running = new Set<MergeProgram>()
process.on('exit', () => {
  for (const program of running) program.removeFolder()
})

/** Orphans are looked for once in the life of this process. */
let orphansAreGone = false

/** By repository. */
const idle = new LRUCache<string, MergeProgram>({
  max: mostIdle,
  ttl: idleMs,
  ttlAutopurge: true,
  dispose(program, _path, reason) {
    if (reason !== 'delete') program.end()
  },
})

/**
 * Merges two commits of a repository as git does, and reads what git has written for it before that is thrown away.
 *
 * @param prepare stores what is to be merged in the folder of the program, and names the commits
 */
export async function mergeInProgram<T>(
  path: string,
  prepare: (folder: string) => { readonly ours: ObjectId; readonly theirs: ObjectId },
  read: (answer: MergeAnswer, folder: string) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const kept = idle.get(path)
  idle.delete(path)
  const program = kept ?? new MergeProgram(path)
  try {
    program.empty()
    const { ours, theirs } = prepare(program.folder)
    const answer = await program.merge(ours, theirs, signal)
    const value = await read(answer, program.folder)
    program.emptySoon()
    if (program.mayMergeMore) idle.set(path, program)
    else program.end()
    return value
  } catch (error) {
    program.kill()
    // The repository may have changed under one that waited: the next is told by a new one.
    if (kept === undefined || signal.aborted) throw error
    return mergeInProgram(path, prepare, read, signal)
  }
}

/** An answer is records that end with a NUL each, and an empty one at its end. */
function endsAnswer(chunks: readonly Buffer[]): boolean {
  const last = chunks.at(-1)
  const before = last && last.length > 1 ? last.at(-2) : chunks.at(-2)?.at(-1)
  return last?.at(-1) === 0 && before === 0
}

function parseAnswer(text: string): MergeAnswer {
  const [clean, treeId = '', ...paths] = text.split('\0').filter(Boolean)
  if (!isObjectId(treeId)) throw new GitError('failed', 'git merge-tree named no tree')
  return { isClean: clean === '1', treeId, paths }
}
