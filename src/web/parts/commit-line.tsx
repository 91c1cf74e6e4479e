import { pathOf } from '../address.ts'
import { CopyButton, Time } from './basics.tsx'
import { A } from './link.tsx'

/** A commit as lists give it. */
export interface CommitFacts {
  readonly id: string
  readonly short_id: string
  readonly title: string
  readonly author_name: string
  readonly committed_date: string
}

/** A commit in one line: its title, who made it and when, and its id. */
export function CommitLine({ project, commit }: { project: string; commit: CommitFacts }) {
  const address = pathOf(project, '-', 'commit', commit.id)
  return (
    <div class="commit-line">
      <span class="main">
        <A class="title" href={address}>
          {commit.title === '' ? 'No message' : commit.title}
        </A>{' '}
        <span class="facts">
          {commit.author_name} <Time at={commit.committed_date} />
        </span>
      </span>
      <A class="mono quiet" href={address}>
        {commit.short_id}
      </A>
      <CopyButton text={commit.id} label="Copy the id of this commit" />
    </div>
  )
}
