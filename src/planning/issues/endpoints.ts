import { z } from 'zod'
import { userOf } from '../../access/actor.ts'
import { fieldsIgnoredUnless, fieldsNeed } from '../../access/conditions.ts'
import { anyone, onGroup, onInstance, onProject } from '../../access/subjects.ts'
import { runEffects } from '../../base/effects.ts'
import { existing, unauthorized } from '../../base/problem.ts'
import { assertUnmodifiedSince } from '../../base/unmodified-since.ts'
import { endpoint, perMinuteAsSet } from '../../http/endpoint.ts'
import { atLeastOne, csv, day, flag, id, instant, integer, oneOf, text } from '../../http/params.ts'
import { recordUserAgent } from '../../identity/user-agents/verbs.ts'
import { makesIncident, onIssue } from './access.ts'
import { issueEntity } from './entity.ts'
import { listVisibleIssues } from './list/list-issues.ts'
import { issueListQuery, scopeOfAll } from './list/params.ts'
import { editIssue, openIssue } from './open-issue.ts'
import { presentIssue } from './present.ts'
import { deleteIssue, findIssueById } from './queries.ts'

const issueTypes = ['issue', 'incident', 'test_case', 'task'] as const
const fields = {
  description: text().nullish(),
  assignee_id: integer().nullish(),
  assignee_ids: csv(integer(), { max: 200 }).optional(),
  milestone_id: integer().nullish(),
  due_date: day().nullish(),
  start_date: day().nullish(),
  confidential: flag().optional(),
  discussion_locked: flag().optional(),
  weight: integer({ min: 0 }).nullish(),
  issue_type: oneOf(issueTypes).optional(),
  labels: csv(text({ max: 255 }), { max: 100 }).optional(),
  add_labels: csv(text({ max: 255 }), { max: 100 }).optional(),
}

const sortFields = [
  'labels',
  'add_labels',
  'assignee_id',
  'assignee_ids',
  'milestone_id',
  'weight',
] as const

/** `assignee_ids` wins; `assignee_id` 0 or null is nobody. */
function people(body: {
  assignee_id?: number | null | undefined
  assignee_ids?: number[] | undefined
}) {
  if (body.assignee_ids) return body.assignee_ids
  return body.assignee_id === undefined ? undefined : [body.assignee_id ?? 0]
}

export const listIssues = endpoint({
  method: 'GET',
  path: '/issues',
  summary: 'List issues everywhere; those that the caller created unless the query says otherwise',
  access: anyone(),
  query: issueListQuery,
  paginate: 'offset',
  response: z.array(issueEntity),
  handler({ ctx, query, page }) {
    const scope = scopeOfAll(query)
    if (scope !== 'all' && !userOf(ctx.actor)) throw unauthorized()
    return listVisibleIssues(ctx, { kind: 'all' }, { ...query, scope }, page)
  },
})

export const listGroupIssues = endpoint({
  method: 'GET',
  path: '/groups/:id/issues',
  summary: 'List the issues of a group and of its subgroups',
  access: onGroup('read_issues'),
  query: issueListQuery,
  paginate: 'offset',
  response: z.array(issueEntity),
  handler: ({ ctx, group, query, page }) =>
    listVisibleIssues(ctx, { kind: 'group', groupId: group.id }, query, page),
})

export const listProjectIssues = endpoint({
  method: 'GET',
  path: '/projects/:id/issues',
  summary: 'List the issues of a project',
  access: onProject('read_issues'),
  jobToken: true,
  query: issueListQuery,
  paginate: {
    keyset: ['created_at', 'updated_at', 'title', 'id', 'weight', 'due_date', 'relative_position'],
    defaultSort: 'desc',
    offset: true,
  },
  response: z.array(issueEntity),
  handler: ({ ctx, project, query, page }) =>
    listVisibleIssues(
      ctx,
      { kind: 'project', projectId: project.id },
      query,
      page,
      project.full_path,
    ),
})

export const getIssueById = endpoint({
  method: 'GET',
  path: '/issues/:issue_id',
  summary: 'Get an issue by its number in the instance',
  access: onInstance(),
  params: { issue_id: id() },
  response: issueEntity,
  async handler({ ctx, params: { issue_id } }) {
    const row = existing(await findIssueById(ctx.db, issue_id))
    return presentIssue(ctx, row)
  },
})

export const getProjectIssue = endpoint({
  method: 'GET',
  path: '/projects/:id/issues/:issue_iid',
  summary: 'Get an issue',
  access: onIssue(),
  jobToken: true,
  response: issueEntity,
  handler: ({ ctx, issue }) => presentIssue(ctx, issue),
})

export const createProjectIssue = endpoint({
  method: 'POST',
  path: '/projects/:id/issues',
  summary: 'Create an issue',
  access: onProject('create_issue'),
  body: {
    ...fields,
    title: text(),
    iid: integer().optional(),
    created_at: instant().optional(),
    merge_request_to_resolve_discussions_of: integer().optional(),
    discussion_to_resolve: text().optional(),
  },
  conditions: [
    makesIncident,
    fieldsIgnoredUnless('sort_issue', sortFields),
    fieldsIgnoredUnless('set_timestamps', ['iid', 'created_at']),
  ],
  limit: perMinuteAsSet('issues_create_limit', 'caller_and_subject'),
  response: issueEntity,
  async handler({ ctx, project, body, request }) {
    const labels = [...(body.labels ?? []), ...(body.add_labels ?? [])]
    const row = await openIssue(ctx, project, { ...body, labels, assignee_ids: people(body) })
    await recordUserAgent(ctx, 'Issue', row.id, request)
    const { merge_request_to_resolve_discussions_of: iid } = body
    if (iid !== undefined) {
      const only = body.discussion_to_resolve
      const continued = { project, iid, issue: row, only }
      await runEffects(ctx, ctx.effects.discussionContinued, continued)
    }
    return presentIssue(ctx, row)
  },
})

/** What an update may name; at least one of them has to be there. */
const changeBody = {
  ...fields,
  title: text().optional(),
  remove_labels: csv(text({ max: 255 }), { max: 100 }).optional(),
  state_event: oneOf(['close', 'reopen']).optional(),
  updated_at: instant().optional(),
}
const changeNames = Object.keys(changeBody)

/** What authors and assignees below Planner may change of their own issue (docs/contract/D §2.2). */
const own = ['title', 'description', 'state_event', 'confidential']
const plannedFields = changeNames.filter((name) => !own.includes(name))

export const updateProjectIssue = endpoint({
  method: 'PUT',
  path: '/projects/:id/issues/:issue_iid',
  summary: 'Change, close or reopen an issue',
  access: onIssue('edit_issue'),
  body: changeBody,
  check: atLeastOne(changeNames),
  conditions: [
    makesIncident,
    fieldsNeed('update_issue', plannedFields),
    fieldsIgnoredUnless('admin_only', ['updated_at']),
  ],
  response: issueEntity,
  async handler({ ctx, project, issue, body }) {
    const { add_labels: add, remove_labels: remove, assignee_id: _, ...rest } = body
    const changed = await editIssue(ctx, project, issue, {
      ...rest,
      add,
      remove,
      assignee_ids: people(body),
    })
    return presentIssue(ctx, changed)
  },
})

export const deleteProjectIssue = endpoint({
  method: 'DELETE',
  path: '/projects/:id/issues/:issue_iid',
  summary: 'Delete an issue',
  access: onIssue('delete_issue'),
  handler({ ctx, issue, request }) {
    assertUnmodifiedSince(request, issue.updated_at)
    return deleteIssue(ctx.db, issue.id)
  },
})
