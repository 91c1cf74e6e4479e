import { z } from 'zod'
import { type UserBasic, userBasicEntity } from '../../identity/users/basic.ts'
import type { CommitStatusRow, ListedStatus } from './queries.ts'

export const commitStatusEntity = z.strictObject({
  id: z.int(),
  sha: z.string(),
  ref: z.string(),
  status: z.string(),
  name: z.string(),
  target_url: z.string().nullable(),
  description: z.string().nullable(),
  created_at: z.string(),
  started_at: z.string().nullable(),
  finished_at: z.string().nullable(),
  allow_failure: z.boolean(),
  coverage: z.number().nullable(),
  pipeline_id: z.int(),
  author: userBasicEntity.nullable(),
})

export function presentCommitStatus(
  row: Omit<CommitStatusRow, 'project_id' | 'updated_at' | 'failure_reason'>,
  authors: ReadonlyMap<number, UserBasic>,
): z.input<typeof commitStatusEntity> {
  return {
    id: row.id,
    sha: row.sha,
    ref: row.ref,
    status: row.status,
    name: row.name,
    target_url: row.target_url,
    description: row.description,
    created_at: row.created_at,
    started_at: row.started_at,
    finished_at: row.finished_at,
    allow_failure: row.allow_failure === 1,
    coverage: row.coverage,
    pipeline_id: row.pipeline_id,
    author: (row.user_id === null ? undefined : authors.get(row.user_id)) ?? null,
  }
}

/** A status of a list; jobs lead to their own page. */
export function presentListedStatus(
  row: ListedStatus,
  authors: ReadonlyMap<number, UserBasic>,
  projectUrl: string,
): z.input<typeof commitStatusEntity> {
  const shown = presentCommitStatus(row, authors)
  return row.is_job === 1 ? { ...shown, target_url: `${projectUrl}/-/jobs/${row.id}` } : shown
}
