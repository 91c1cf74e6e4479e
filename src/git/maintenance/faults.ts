import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findLeftOvers, removeLeftOvers } from '../locks/left-over.ts'
import { RefTable } from '../ref-files/ref-table.ts'
import { type Repo, setHead } from '../repo.ts'
import { findLostObjects } from './lost-objects.ts'
import { findPackFaults, type PackFault } from './pack-faults.ts'

export interface RepoFaults {
  /** What is wrong, one sentence each. */
  readonly faults: readonly string[]
  /**
   * What a killed process left behind, one sentence each. It is no damage: while a server runs, a push may have been cut a
   * moment ago, and the server removes what is left of it.
   */
  readonly leftOver: readonly string[]
  /** What was mended, one sentence each. */
  readonly mended: readonly string[]
  readonly hasHead: boolean
  /** Of the faults: packs that git cannot use, objects that are lost. */
  readonly packs: readonly PackFault[]
  readonly lost: readonly string[]
}

export interface FaultOptions {
  /** Reads every object (`git fsck --full`), which takes as long as the repository is large. */
  readonly deep: boolean
  /** Removes what a crash left behind, locks and temporary files whose process is gone, and writes a lost HEAD. */
  readonly mend: boolean
  /** What HEAD is to name where it names no branch. */
  readonly defaultBranch?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** Looks for what keeps a repository from working: left-over lock files, a bad HEAD, cut packs, lost objects. */
export async function findFaults(repo: Repo, options: FaultOptions): Promise<RepoFaults> {
  const mended: string[] = []
  const leftOver: string[] = []
  if (options.mend) {
    const { removed } = await removeLeftOvers(repo.path)
    mended.push(...removed.map((name) => `removed ${name}, whose process is gone`))
  } else {
    const left = await findLeftOvers(repo.path)
    leftOver.push(...left.map((name) => `${name} is left over by a process that is gone`))
  }
  if (!(await namesBranch(repo))) {
    // Without HEAD git takes the folder for no repository.
    if (!options.mend) {
      const headless = ['HEAD names no branch']
      return { faults: headless, leftOver, mended, hasHead: false, packs: [], lost: [] }
    }
    const branch = options.defaultBranch ?? likelyBranch(repo)
    await setHead(repo, branch)
    mended.push(`HEAD names the branch ${branch} again`)
  }
  const packs = findPackFaults(repo.path)
  const lost = await findLostObjects(repo, options)
  const faults = [...packs.map(({ what }) => what), ...lost]
  return { faults, leftOver, mended, hasHead: true, packs, lost }
}

async function namesBranch(repo: Repo): Promise<boolean> {
  const head = await readFile(join(repo.path, 'HEAD'), 'utf8').catch(() => '')
  return head.startsWith('ref: refs/heads/')
}

/** Of a repository for which nobody has decided one. */
function likelyBranch(repo: Repo): string {
  const heads = 'refs/heads/'
  const names = new RefTable(repo.path).list(heads).map(({ name }) => name.slice(heads.length))
  return names.includes('main') ? 'main' : (names[0] ?? 'main')
}
