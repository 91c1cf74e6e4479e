import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../store/schema.ts'

/** What is counted, in the order of the answer. */
export const STATISTICS = [
  'forks',
  'issues',
  'merge_requests',
  'notes',
  'snippets',
  'ssh_keys',
  'milestones',
  'users',
  'groups',
  'projects',
  'active_users',
] as const

type Statistics = Readonly<Record<(typeof STATISTICS)[number], number>>

/** How much of everything there is. */
export async function readStatistics(db: Db): Promise<Statistics> {
  const { rows } = await sql<Statistics>`select
    (select count(*) from projects where forked_from_id is not null) as forks,
    (select count(*) from issues) as issues,
    (select count(*) from merge_requests) as merge_requests,
    (select count(*) from notes) as notes,
    (select count(*) from snippets where pending_delete = 0) as snippets,
    (select count(*) from ssh_keys) as ssh_keys,
    (select count(*) from milestones) as milestones,
    (select count(*) from users) as users,
    (select count(*) from namespaces where kind = 'group' and pending_delete = 0) as "groups",
    (select count(*) from projects where pending_delete = 0) as projects,
    (select count(*) from users where state = 'active' and kind = 'human') as active_users`.execute(
    db,
  )
  const counts = rows[0]
  if (!counts) throw new Error('a select without a table gives one row')
  return counts
}

export interface TaskCounts {
  readonly ready: number
  readonly running: number
  readonly failing: number
  readonly dead: number
  /** Tasks that were ever added. */
  readonly added: number
  /** When the task that has waited longest was due; null when none waits. */
  readonly oldest: Instant | null
}

/** What the queue of background tasks holds. */
export async function readTaskCounts(db: Db, now: Instant): Promise<TaskCounts> {
  const { rows } = await sql<TaskCounts>`select
    coalesce(sum(state = 'ready'), 0) as ready,
    coalesce(sum(state = 'running'), 0) as running,
    coalesce(sum(state = 'ready' and last_error is not null), 0) as failing,
    coalesce(sum(state = 'dead'), 0) as dead,
    coalesce((select seq from sqlite_sequence where name = 'tasks'), 0) as added,
    min(case when state = 'ready' and run_at <= ${now} then run_at end) as oldest
    from tasks`.execute(db)
  return rows[0] ?? { ready: 0, running: 0, failing: 0, dead: 0, added: 0, oldest: null }
}
