import { gitRecords } from '../command.ts'
import { GitError } from '../error.ts'
import { assertObjectId } from '../names.ts'
import type { Repo } from '../repo.ts'
import type { ObjectId } from '../types.ts'
import { quarantineEnvironment } from './quarantine.ts'

/** A file of a commit, or a link. */
export interface TipFile {
  readonly path: string
  /** Bytes. */
  readonly size: number
  /** Six octal digits. */
  readonly mode: string
}

/** The files of a commit one after the other, submodules left out: also out of the quarantine of a push. */
export async function* tipFiles(
  repo: Repo,
  commit: ObjectId,
  quarantine?: string,
): AsyncGenerator<TipFile> {
  const records = gitRecords({
    repo: repo.path,
    args: ['ls-tree', '-r', '-z', '--long', assertObjectId(commit)],
    env: quarantineEnvironment(repo, quarantine),
  })
  for await (const record of records) {
    // `100644 blob <id> <size>\t<path>`
    const tab = record.indexOf(0x09)
    const [mode = '', type, , size] = record.toString('latin1', 0, tab).split(/ +/)
    if (type === 'blob') yield { path: record.toString('utf8', tab + 1), size: Number(size), mode }
  }
}

/** More are held in memory for nobody. */
const mostFiles = 200_000

/** All of them; `too_large` where there are very many. */
export async function listTipFiles(
  repo: Repo,
  commit: ObjectId,
  quarantine?: string,
): Promise<TipFile[]> {
  const files: TipFile[] = []
  for await (const file of tipFiles(repo, commit, quarantine)) {
    if (files.length === mostFiles) throw new GitError('too_large', 'the commit has too many files')
    files.push(file)
  }
  return files
}
