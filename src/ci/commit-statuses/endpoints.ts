import { z } from 'zod'
import { onProject } from '../../access/subjects.ts'
import { readCommit } from '../../git/objects/commit.ts'
import { endpoint } from '../../http/endpoint.ts'
import { decimal, flag, id, oneOf, text } from '../../http/params.ts'
import { usersById } from '../../identity/users/find-basic.ts'
import { orNotFound } from '../../repositories/repository/missing.ts'
import { commitStatusEntity, presentCommitStatus, presentListedStatus } from './entity.ts'
import { listStatuses } from './queries.ts'
import { reportStatus } from './report-status.ts'
import { REPORTED } from './transition.ts'

export const listCommitStatuses = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/commits/:sha/statuses',
  summary: 'List the statuses of a commit: reported ones and jobs',
  access: onProject('read_commit_status'),
  params: { sha: text() },
  query: {
    ref: text().optional(),
    stage: text().optional(),
    name: text().optional(),
    pipeline_id: id().optional(),
    all: flag().default(false),
    order_by: oneOf(['id', 'pipeline_id']).default('id'),
    sort: oneOf(['asc', 'desc']).default('asc'),
  },
  paginate: 'offset',
  response: z.array(commitStatusEntity),
  async handler({ ctx, project, params, query, page, request }) {
    const repo = ctx.git.open(project.id)
    const commit = await orNotFound('Commit', readCommit(repo, params.sha, request.signal))
    const rows = await listStatuses(ctx.db, project.id, commit.id, query, page)
    const authors = await usersById(
      ctx,
      rows.items.map((row) => row.user_id),
    )
    const url = `${ctx.config.externalUrl}/${project.full_path}`
    return { ...rows, items: rows.items.map((row) => presentListedStatus(row, authors, url)) }
  },
})

export const createCommitStatus = endpoint({
  method: 'POST',
  path: '/projects/:id/statuses/:sha',
  summary: 'Report the status of a commit',
  access: onProject('create_commit_status'),
  params: { sha: text() },
  body: {
    state: oneOf(REPORTED),
    ref: text().optional(),
    name: text().optional(),
    context: text().optional(),
    target_url: text().optional(),
    description: text().optional(),
    coverage: decimal().optional(),
    pipeline_id: id().optional(),
  },
  response: commitStatusEntity,
  status: 201,
  async handler({ ctx, project, params, body }) {
    const name = body.name || body.context || 'default'
    const row = await reportStatus(ctx, project, params.sha, { ...body, name })
    return presentCommitStatus(row, await usersById(ctx, [row.user_id]))
  },
})
