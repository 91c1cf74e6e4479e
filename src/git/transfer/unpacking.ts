import { mkdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ownedName } from '../../base/process-mark.ts'
import { startGit } from '../command.ts'
import { GitError } from '../error.ts'
import { quarantineEnvironment } from '../history/ancestry.ts'
import type { Repo } from '../repo.ts'

/** A `git unpack-objects` with a quarantine of its own, which waits for a pack or works on it. */
export type Unpacking = ReturnType<typeof startUnpacking>

/** One zipped object may hold gigabytes; a pack that is unpacked here is small. */
const allocationLimit = '512m'

/** Starts to unpack: git checks every object as it does those of a push, and leaves each in a file of its own. */
export function startUnpacking(repo: Repo) {
  const quarantine = join(repo.path, 'objects', ownedName('tmp_objdir-incoming-'))
  mkdirSync(quarantine, { mode: 0o700 })
  const remove = () => rm(quarantine, { recursive: true, force: true }).catch(() => {})
  try {
    const git = startGit({
      repo: repo.path,
      args: ['unpack-objects', '-q', '--strict'],
      // The objects are brought onto the disk together, before they are accepted.
      config: { 'core.fsync': 'none', 'core.bigFileThreshold': '64m' },
      env: { ...quarantineEnvironment(repo, quarantine), GIT_ALLOC_LIMIT: allocationLimit },
    })
    git.stdout.resume()
    const closed = git.done.then(
      () => {},
      () => {},
    )
    return {
      /** Where the objects are until they are accepted: a folder that git's own clean-up knows when it is left over. */
      quarantine,
      /** Resolves when the program is gone; never rejects. */
      closed,
      /**
       * Unpacks a whole pack; fails when git finds fault with an object, be it only a warning, or one refers to what is
       * not there.
       */
      async take(pack: Buffer): Promise<void> {
        git.stdin.end(pack)
        const { stderr } = await git.done
        if (stderr !== '') throw new GitError('invalid', `git unpack-objects: ${stderr.trim()}`)
      },
      /** Ends the program and removes the quarantine with what is left in it. */
      stop(): void {
        git.kill()
        // What still runs might write once more.
        void closed.then(remove)
      },
    }
  } catch (error) {
    void remove()
    throw error
  }
}
