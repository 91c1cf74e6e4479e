import { z } from 'zod'
import { onProject } from '../../access/subjects.ts'
import { badRequest, notFound } from '../../base/problem.ts'
import { readCommit } from '../../git/objects/commit.ts'
import { resolveRevision } from '../../git/objects/revision.ts'
import { endpoint } from '../../http/endpoint.ts'
import { flag, instant, oneOf, text } from '../../http/params.ts'
import { userBasicEntity } from '../../identity/users/basic.ts'
import { usersById } from '../../identity/users/find-basic.ts'
import { ifFound } from '../../repositories/repository/missing.ts'
import { listedMergeRequestEntity } from '../../review/merge-requests/entity.ts'
import { presentMergeRequests } from '../../review/merge-requests/present.ts'
import { listDeployments } from '../environments/queries.ts'
import {
  changeDeployment,
  createDeployment,
  removeDeployment,
} from '../environments/save-environment.ts'
import {
  approvesDeployment,
  deploysToNamed,
  onApprovableDeployment,
  onDeployment,
  onEnvironments,
  onOwnDeployment,
} from './access.ts'
import { decideDeployment } from './approve.ts'
import { readBroughtIn } from './brought-in.ts'
import {
  approvalEntity,
  deploymentDetailsEntity,
  deploymentEntity,
  presentDeployment,
  presentDeployments,
} from './entity.ts'

const common = { jobToken: true } as const
const path = '/projects/:id/deployments'
const STATUSES = ['running', 'success', 'failed', 'canceled'] as const

export const listProjectDeployments = endpoint({
  ...common,
  method: 'GET',
  path,
  summary: 'List what was deployed to the environments of a project',
  access: onEnvironments(),
  query: {
    order_by: oneOf(['id', 'iid', 'created_at', 'updated_at', 'finished_at', 'ref']).default('id'),
    sort: oneOf(['asc', 'desc']).default('asc'),
    updated_after: instant().optional(),
    updated_before: instant().optional(),
    finished_after: instant().optional(),
    finished_before: instant().optional(),
    environment: text({ max: 255 }).optional(),
    status: oneOf(['created', ...STATUSES, 'skipped', 'blocked']).optional(),
  },
  paginate: 'offset',
  response: z.array(deploymentEntity),
  async handler({ ctx, project, query, page }) {
    const rows = await listDeployments(ctx.db, project.id, query, page)
    return { ...rows, items: await presentDeployments(ctx, project, rows.items) }
  },
})

export const getDeployment = endpoint({
  ...common,
  method: 'GET',
  path: `${path}/:deployment_id`,
  summary: 'Read a deployment with its approvals',
  access: onDeployment(),
  response: deploymentDetailsEntity,
  handler: ({ ctx, project, deployment }) => presentDeployment(ctx, project, deployment),
})

export const addDeployment = endpoint({
  ...common,
  method: 'POST',
  path,
  summary: 'Note what was deployed by other means than a job',
  access: onProject('admin_environments'),
  conditions: [deploysToNamed],
  body: {
    environment: text({ max: 255 }),
    sha: text({ max: 64 }),
    ref: text({ max: 1024 }),
    tag: flag(),
    status: oneOf(STATUSES),
  },
  response: deploymentDetailsEntity,
  status: 201,
  async handler({ ctx, project, body }) {
    const repo = ctx.git.open(project.id)
    const commit = await ifFound(readCommit(repo, body.sha))
    if (!commit) throw badRequest('The sha does not exist')
    const ref = /^refs\//.test(body.ref)
      ? body.ref
      : `refs/${body.tag ? 'tags' : 'heads'}/${body.ref}`
    if (!(await ifFound(resolveRevision(repo, ref)))) {
      throw badRequest('The branch or tag does not exist')
    }
    const row = await createDeployment(ctx, project, { ...body, sha: commit.id })
    return await presentDeployment(ctx, project, row)
  },
})

export const editDeployment = endpoint({
  ...common,
  method: 'PUT',
  path: `${path}/:deployment_id`,
  summary: 'Change the status of a deployment that no job makes',
  access: onOwnDeployment(),
  body: { status: oneOf(STATUSES) },
  response: deploymentDetailsEntity,
  handler: async ({ ctx, project, deployment, body }) =>
    presentDeployment(ctx, project, await changeDeployment(ctx, deployment, body.status)),
})

export const dropDeployment = endpoint({
  ...common,
  method: 'DELETE',
  path: `${path}/:deployment_id`,
  summary: 'Delete a deployment that is over',
  access: onOwnDeployment(),
  handler: ({ ctx, deployment }) => removeDeployment(ctx, deployment),
})

export const listDeploymentMergeRequests = endpoint({
  ...common,
  method: 'GET',
  path: `${path}/:deployment_id/merge_requests`,
  summary: 'List the merge requests that a deployment brought in',
  access: onDeployment(),
  paginate: 'offset',
  response: z.array(listedMergeRequestEntity),
  async handler({ ctx, project, deployment, page }) {
    const found = await readBroughtIn(ctx, { ...deployment, project_id: project.id })
    const shown = found.slice(page.offset, page.offset + page.perPage)
    return { items: await presentMergeRequests(ctx, shown), total: found.length }
  },
})

export const approveDeployment = endpoint({
  ...common,
  method: 'POST',
  path: `${path}/:deployment_id/approval`,
  summary: 'Approve of a deployment that waits, or reject it',
  access: onApprovableDeployment(),
  conditions: [approvesDeployment],
  body: { status: oneOf(['approved', 'rejected']), comment: text({ max: 255 }).optional() },
  status: 200,
  response: z.strictObject({ ...approvalEntity.shape, user: userBasicEntity }),
  async handler({ ctx, project, deployment, environment, body }) {
    const own = await decideDeployment(ctx, project, { deployment, environment }, body)
    const user = (await usersById(ctx, [own.user_id])).get(own.user_id)
    if (!user) throw notFound('User')
    return { user, status: own.status, created_at: own.created_at, comment: own.comment }
  },
})
