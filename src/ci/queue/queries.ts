import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import { namespacesAbove } from '../../store/hierarchy.ts'
import type { RunnerType } from '../../store/schema/ci-runners.ts'
import type { Db } from '../../store/schema.ts'

/** A runner as far as it decides which jobs it may have. */
export interface Asking {
  readonly id: number
  readonly runner_type: RunnerType
  readonly group_id: number | null
  readonly run_untagged: 0 | 1
  readonly access_level: 'not_protected' | 'ref_protected'
  /** JSON list. */
  readonly tags: string
}

const CANDIDATES = 20

/** Which projects' jobs a runner may have: an SQL condition on `p`, the project. */
function inScope(runner: Asking) {
  if (runner.runner_type === 'instance_type') {
    return sql<boolean>`coalesce(json_extract(p.settings, '$.shared_runners_enabled'), 1) = 1`
  }
  if (runner.runner_type === 'group_type') {
    return sql<boolean>`coalesce(json_extract(p.settings, '$.group_runners_enabled'), 1) = 1
      AND p.namespace_id IN (
        SELECT namespace_id FROM namespace_ancestors WHERE ancestor_id = ${runner.group_id})`
  }
  return sql<boolean>`p.id IN (
    SELECT project_id FROM ci_runner_projects WHERE runner_id = ${runner.id})`
}

/** Which waiting jobs a runner fits: an SQL condition on `k`, a kind of them. */
function fitting(runner: Asking) {
  return sql<boolean>`(${runner.access_level} = 'not_protected' OR k.protected = 1)
    AND (${runner.run_untagged} = 1 OR k.tags <> '[]')
    AND NOT EXISTS (SELECT 1 FROM json_each(k.tags) t
      WHERE t.value NOT IN (SELECT value FROM json_each(${runner.tags})))`
}

/** Projects whose jobs may be waiting for a runner: its own, or each that is found in the queue, one step a project. */
function waitingProjects(runner: Asking) {
  if (runner.runner_type === 'project_type') {
    return sql`SELECT project_id FROM ci_runner_projects WHERE runner_id = ${runner.id}`
  }
  return sql`SELECT min(project_id) FROM ci_pending_jobs
    UNION ALL
    SELECT (SELECT min(n.project_id) FROM ci_pending_jobs n WHERE n.project_id > w.project_id)
    FROM waiting w WHERE w.project_id IS NOT NULL`
}

/**
 * The jobs that a runner may have now, the next one first: the oldest, and for runners of the instance those of the
 * projects that have the fewest jobs on such runners, so that one project holds up no other. Whether a job fits depends
 * on its project, its tags and whether its ref is protected: each such kind is looked at once however many of its jobs
 * wait, and the first jobs are among the first of the kinds that come first.
 */
export async function listCandidates(db: Db, runner: Asking): Promise<number[]> {
  const busy = sql`(SELECT count(*) FROM ci_running_jobs r
    WHERE r.project_id = k.project_id AND r.runner_type = 'instance_type')`
  const { rows } = await sql<{ job_id: number }>`
    WITH RECURSIVE waiting (project_id) AS (${waitingProjects(runner)}),
    kinds (project_id, protected, tags) AS (
      SELECT w.project_id, ref.value, (SELECT min(n.tags) FROM ci_pending_jobs n
        WHERE n.project_id = w.project_id AND n.protected = ref.value)
      FROM waiting w CROSS JOIN json_each('[0, 1]') ref
      UNION ALL
      SELECT k.project_id, k.protected, (SELECT min(n.tags) FROM ci_pending_jobs n
        WHERE n.project_id = k.project_id AND n.protected = k.protected AND n.tags > k.tags)
      FROM kinds k WHERE k.tags IS NOT NULL),
    suiting AS MATERIALIZED (
      SELECT k.*, ${runner.runner_type === 'instance_type' ? busy : sql`0`} AS busy,
        (SELECT min(n.job_id) FROM ci_pending_jobs n WHERE n.project_id = k.project_id
          AND n.protected = k.protected AND n.tags = k.tags) AS first
      FROM kinds k
      CROSS JOIN projects p ON p.id = k.project_id
      WHERE k.tags IS NOT NULL AND p.pending_delete = 0 AND p.archived = 0
        AND NOT EXISTS (SELECT 1 FROM namespace_ancestors a
          JOIN namespaces above ON above.id = a.ancestor_id
          WHERE a.namespace_id = p.namespace_id AND above.archived = 1)
        AND coalesce(json_extract(p.settings, '$.builds_access_level'), 'enabled') <> 'disabled'
        AND ${inScope(runner)} AND ${fitting(runner)}
      ORDER BY busy, first LIMIT ${CANDIDATES})
    SELECT q.job_id FROM suiting k
    CROSS JOIN ci_pending_jobs q ON q.job_id IN (SELECT n.job_id FROM ci_pending_jobs n
      WHERE n.project_id = k.project_id AND n.protected = k.protected AND n.tags = k.tags
      ORDER BY n.job_id LIMIT ${CANDIDATES})
    ORDER BY k.busy, q.job_id LIMIT ${CANDIDATES}`.execute(db)
  return rows.map((row) => row.job_id)
}

/** Whether anything waits at all: most polls find nothing, and need no more than this. */
export async function isAnythingPending(db: Db): Promise<boolean> {
  const row = await db.selectFrom('ci_pending_jobs').select('job_id').limit(1).executeTakeFirst()
  return row !== undefined
}

/** Jobs that wait, and how many. */
export async function countPending(db: Db): Promise<number> {
  const row = await db
    .selectFrom('ci_pending_jobs')
    .select((is) => is.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return row.count
}

/** How many jobs of a project run on runners of the instance. */
export async function countBusy(db: Db, projectId: number): Promise<number> {
  const row = await db
    .selectFrom('ci_running_jobs')
    .select((is) => is.fn.countAll<number>().as('count'))
    .where('project_id', '=', projectId)
    .where('runner_type', '=', 'instance_type')
    .executeTakeFirstOrThrow()
  return row.count
}

/** Running jobs whose runner is silent, whose time is over, or whose runner never said that it has them. */
export async function listOverdue(
  db: Db,
  before: { readonly silent: Instant; readonly ended: Instant; readonly unaccepted: Instant },
) {
  return await db
    .selectFrom('ci_running_jobs')
    .innerJoin('ci_jobs', 'ci_jobs.id', 'ci_running_jobs.job_id')
    .select(['ci_jobs.id', 'ci_jobs.pipeline_id', 'ci_running_jobs.ends_at'])
    .select(['ci_running_jobs.contacted_at', 'ci_running_jobs.accepted'])
    .where((is) =>
      is.or([
        is('ci_running_jobs.contacted_at', '<', before.silent),
        is('ci_running_jobs.ends_at', '<', before.ended),
        is.and([
          is('ci_running_jobs.accepted', '=', 0),
          is('ci_running_jobs.contacted_at', '<', before.unaccepted),
        ]),
      ]),
    )
    .limit(200)
    .execute()
}

/** Jobs that have waited since before a moment. */
export async function listWaiting(db: Db, before: Instant) {
  return await db
    .selectFrom('ci_pending_jobs')
    .innerJoin('ci_jobs', 'ci_jobs.id', 'ci_pending_jobs.job_id')
    .select(['ci_jobs.id', 'ci_jobs.pipeline_id', 'ci_pending_jobs.queued_at'])
    .where('ci_pending_jobs.queued_at', '<', before)
    .orderBy('ci_pending_jobs.queued_at')
    .limit(200)
    .execute()
}

/** Whether any runner that is not paused, and that asked lately, would fit a waiting job. */
export async function hasFittingRunner(db: Db, jobId: number, online: Instant): Promise<boolean> {
  const { rows } = await sql<{ found: number }>`
    SELECT 1 AS found FROM ci_pending_jobs q
    JOIN projects p ON p.id = q.project_id
    JOIN ci_runners c ON c.paused = 0 AND c.contacted_at > ${online}
    WHERE q.job_id = ${jobId}
      AND (c.access_level = 'not_protected' OR q.protected = 1)
      AND (c.run_untagged = 1 OR q.tags <> '[]')
      AND NOT EXISTS (SELECT 1 FROM json_each(q.tags) t
        WHERE t.value NOT IN (SELECT value FROM json_each(c.tags)))
      AND (c.runner_type = 'instance_type'
          AND coalesce(json_extract(p.settings, '$.shared_runners_enabled'), 1) = 1
        OR c.runner_type = 'group_type'
          AND coalesce(json_extract(p.settings, '$.group_runners_enabled'), 1) = 1
          AND p.namespace_id IN (
            SELECT namespace_id FROM namespace_ancestors WHERE ancestor_id = c.group_id)
        OR c.runner_type = 'project_type' AND EXISTS (
          SELECT 1 FROM ci_runner_projects rp WHERE rp.runner_id = c.id AND rp.project_id = p.id))
    LIMIT 1`.execute(db)
  return rows.length > 0
}

/** The group or personal namespace at the top of a namespace, or itself. */
export async function findRootNamespaceId(db: Db, namespaceId: number): Promise<number> {
  const root = await db
    .selectFrom('namespaces')
    .select('id')
    .where('id', 'in', namespacesAbove(namespaceId))
    .where('parent_id', 'is', null)
    .executeTakeFirst()
  return root?.id ?? namespaceId
}
