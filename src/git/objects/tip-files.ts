import { runGit } from '../command.ts'
import { quarantineEnvironment } from '../history/ancestry.ts'
import { assertObjectId } from '../names.ts'
import type { Repo } from '../repo.ts'
import type { ObjectId } from '../types.ts'

/** A file of a commit. */
export interface TipFile {
  readonly path: string
  /** Bytes. */
  readonly size: number
}

const outputLimit = 16 * 1024 * 1024

/** All files of a commit with their sizes, submodules left out: also out of the quarantine of a push. */
export async function listTipFiles(
  repo: Repo,
  commit: ObjectId,
  quarantine?: string,
): Promise<TipFile[]> {
  const { stdout } = await runGit({
    repo: repo.path,
    args: ['ls-tree', '-r', '-z', '--long', assertObjectId(commit)],
    env: quarantine === undefined ? {} : quarantineEnvironment(repo, quarantine),
    limit: outputLimit,
  })
  // `100644 blob <id> <size>\t<path>`
  return stdout
    .toString('utf8')
    .split('\0')
    .flatMap((line) => {
      const tab = line.indexOf('\t')
      const [, type, , size] = line.slice(0, tab).split(/ +/)
      return tab > 0 && type === 'blob' ? [{ path: line.slice(tab + 1), size: Number(size) }] : []
    })
}
