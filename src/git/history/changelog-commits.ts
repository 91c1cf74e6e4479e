import { gitRecords } from '../command.ts'
import { operation } from '../engine/operation.ts'
import { GitError } from '../error.ts'
import { assertObjectId } from '../names.ts'
import { titleOf } from '../objects/parse-object.ts'
import type { Repo } from '../repo.ts'
import type { ObjectId } from '../types.ts'
import { lastTrailers, parseTrailers } from './trailers.ts'

/** A commit that a changelog may have to look at. */
export interface ChangelogCommit {
  readonly id: ObjectId
  readonly title: string
  readonly message: string
  readonly authorEmail: string
  readonly parentIds: readonly ObjectId[]
  /** One value for a key, the last one. */
  readonly trailers: Readonly<Record<string, string>>
}

export interface ChangelogRange {
  /** Not included itself. */
  readonly from: ObjectId
  readonly to: ObjectId
  /** The trailer that makes a commit an entry; case matters. */
  readonly trailer: string
  /** Commits of the range after which it is refused; 15,000 by default (docs/contract/B-resolved §1.8 rule 4). */
  readonly limit?: number | undefined
}

const mayRevert = /^This reverts commit [0-9a-f]{40}/im

export const readChangelogCommitsOperation = operation({
  name: 'readChangelogCommits',
  lane: 'heavy',
  async run(
    { repository, signal },
    { from, to, trailer, limit = 15_000 }: ChangelogRange,
  ): Promise<ChangelogCommit[]> {
    const range = [assertObjectId(to), `^${assertObjectId(from)}`]
    const format = '--format=%H%n%P%n%ae%n%B'
    const args = ['log', '-z', '--encoding=UTF-8', `--max-count=${limit + 1}`, format, ...range]
    const commits: ChangelogCommit[] = []
    let count = 0
    for await (const record of gitRecords({ repo: repository.path, args, signal })) {
      count += 1
      if (count > limit) throw new GitError('too_large', `more than ${limit} commits`)
      const commit = readRecord(record.toString('utf8'))
      if (Object.hasOwn(commit.trailers, trailer) || mayRevert.test(commit.message)) {
        commits.push(commit)
      }
    }
    return commits
  },
})

function readRecord(text: string): ChangelogCommit {
  const [id = '', parents = '', authorEmail = '', ...lines] = text.split('\n')
  const message = lines.join('\n')
  return {
    id,
    message,
    authorEmail,
    title: titleOf(message),
    parentIds: parents.split(' ').filter(Boolean),
    trailers: lastTrailers(parseTrailers(message)),
  }
}

/**
 * The commits of a range that have the trailer or take another one back, newest first, merges
 * included (docs/contract/B-resolved §1.8 rule 4). `too_large` when the range has too many commits.
 */
export function readChangelogCommits(
  repo: Repo,
  range: ChangelogRange,
  signal?: AbortSignal,
): Promise<ChangelogCommit[]> {
  return repo.engine.run(readChangelogCommitsOperation, repo.path, range, signal)
}
