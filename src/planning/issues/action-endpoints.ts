import { z } from 'zod'
import { onEither, type SourceRef } from '../../access/sources.ts'
import { getVisibleProject, type Project, signedIn } from '../../access/subjects.ts'
import { viewerOf } from '../../access/visible-queries.ts'
import type { Ctx } from '../../ctx.ts'
import { awardEndpoints } from '../../discussions/award-emoji/routes.ts'
import { discussionEndpoints } from '../../discussions/notes/discussion-routes.ts'
import type { NoteKind } from '../../discussions/notes/kind.ts'
import { noteEndpoints } from '../../discussions/notes/note-routes.ts'
import { listNoteAuthors } from '../../discussions/notes/queries.ts'
import { scopeOf } from '../../discussions/notes/verbs.ts'
import { followText } from '../../discussions/references/follow-text.ts'
import { listMentioned } from '../../discussions/references/queries.ts'
import { setSubscribed } from '../../discussions/subscriptions/subscribe.ts'
import { markTodo } from '../../discussions/todos/add.ts'
import { presentTodo, todoEntity } from '../../discussions/todos/entity.ts'
import { endpoint } from '../../http/endpoint.ts'
import { flag, integer } from '../../http/params.ts'
import { getUserAgent, userAgentEntity } from '../../identity/user-agents/verbs.ts'
import { userBasicEntity } from '../../identity/users/basic.ts'
import { usersById } from '../../identity/users/find-basic.ts'
import { resourceEventEndpoints } from '../resource-events/routes.ts'
import { timeEndpoints } from '../time-tracking/routes.ts'
import { clonesIssue, movesIssue, onIssue } from './access.ts'
import { issueEntity } from './entity.ts'
import { asNoteable, getIssue } from './find.ts'
import { type IssueListQuery, issueFilters, scopeOfAll } from './list/params.ts'
import { countIssues, type IssueScope } from './list/queries.ts'
import { cloneIssue, moveIssue } from './move-issue.ts'
import { afterIssueNote } from './notes.ts'
import { presentIssue, takesPart } from './present.ts'
import { issueTimed, readIssueCommands } from './quick-actions.ts'
import { reorderIssue } from './reorder.ts'

const path = '/projects/:id/issues/:issue_iid'
const params = { issue_iid: integer() }

async function find(ctx: Ctx, project: Project, given: Readonly<Record<string, unknown>>) {
  return getIssue(ctx, project, Number(given.issue_iid))
}

const kind: NoteKind = {
  path,
  params,
  tag: 'notes',
  ability: 'read_issues',
  resolvable: true,
  find: async (ctx, project, given) => asNoteable(ctx, project, await find(ctx, project, given)),
  afterNote: afterIssueNote,
  afterEdit: (ctx, noteable, row) => followText(ctx, noteable, row.body, row),
  readCommands: readIssueCommands,
}

export const issueNotes = noteEndpoints(kind)
export const issueDiscussions = discussionEndpoints(kind)
export const issueAwards = awardEndpoints(kind, 'Issue')

export const issueTime = timeEndpoints({
  ...issueTimed,
  path,
  params,
  tag: 'issues',
  read: 'read_issues',
  write: 'update_issue',
  async find(ctx, project, given) {
    const row = await find(ctx, project, given)
    return { id: row.id, estimate: row.time_estimate, noteable: asNoteable(ctx, project, row) }
  },
})

export const issueEvents = resourceEventEndpoints({
  path,
  params,
  tag: 'issues',
  ability: 'read_issues',
  events: ['label', 'milestone', 'state', 'weight', 'iteration'],
  find: async (ctx, project, given) => ({
    type: 'issue',
    id: (await find(ctx, project, given)).id,
  }),
})

const following = (verb: 'subscribe' | 'unsubscribe', summary: string) =>
  endpoint({
    method: 'POST',
    path: `${path}/${verb}`,
    summary,
    access: onIssue('read_issues', { signedIn: true }),
    response: issueEntity,
    async handler({ ctx, issue }) {
      const before = await presentIssue(ctx, issue)
      const subscribed = verb === 'subscribe'
      await setSubscribed(ctx, 'issue', issue.id, subscribed, takesPart(ctx, issue, before))
      return { ...before, subscribed }
    },
  })

export const subscribeIssue = following('subscribe', 'Follow an issue')
export const unsubscribeIssue = following('unsubscribe', 'Follow an issue no more')

export const createIssueTodo = endpoint({
  method: 'POST',
  path: `${path}/todo`,
  summary: 'Put an issue on the own to-do list',
  access: onIssue('read_issues', { signedIn: true }),
  response: todoEntity,
  async handler({ ctx, project, issue }) {
    const todo = await markTodo(ctx, { type: 'Issue', id: issue.id, projectId: project.id })
    return presentTodo(ctx, todo)
  },
})

export const listIssueParticipants = endpoint({
  method: 'GET',
  path: `${path}/participants`,
  summary: 'List the participants of an issue',
  access: onIssue(),
  response: z.array(userBasicEntity),
  async handler({ ctx, project, issue: row, assigneeIds }) {
    const writers = await listNoteAuthors(ctx.db, scopeOf(asNoteable(ctx, project, row)))
    const mentioned = await listMentioned(ctx.db, 'Issue', row.id)
    const ids = [row.author_id ?? 0, ...assigneeIds, ...writers, ...mentioned]
    const users = await usersById(ctx, ids)
    return [...new Set(ids)].flatMap((id) => users.get(id) ?? [])
  },
})

export const moveProjectIssue = endpoint({
  method: 'POST',
  path: `${path}/move`,
  summary: 'Move an issue to another project',
  access: onIssue('admin_issue', { signedIn: true }),
  body: { to_project_id: integer() },
  conditions: [movesIssue],
  response: issueEntity,
  async handler({ ctx, project, issue, body }) {
    const target = await getVisibleProject(ctx, String(body.to_project_id))
    return presentIssue(ctx, await moveIssue(ctx, project, issue, target))
  },
})

export const cloneProjectIssue = endpoint({
  method: 'POST',
  path: `${path}/clone`,
  summary: 'Copy an issue into the same or another project',
  access: onIssue('read_issues', { signedIn: true }),
  body: { to_project_id: integer(), with_notes: flag().optional() },
  conditions: [clonesIssue],
  response: issueEntity,
  async handler({ ctx, project, issue, body }) {
    const target = await getVisibleProject(ctx, String(body.to_project_id))
    const copy = await cloneIssue(ctx, project, issue, target, body.with_notes ?? false)
    return presentIssue(ctx, copy)
  },
})

export const reorderProjectIssue = endpoint({
  method: 'PUT',
  path: `${path}/reorder`,
  summary: 'Put an issue behind or before another, in the order of boards',
  access: onIssue('update_issue', { signedIn: true }),
  body: { move_after_id: integer().nullish(), move_before_id: integer().nullish() },
  response: issueEntity,
  async handler({ ctx, project, issue, body }) {
    const wanted = { afterId: body.move_after_id, beforeId: body.move_before_id }
    return presentIssue(ctx, await reorderIssue(ctx, project, issue, wanted))
  },
})

export const getIssueUserAgent = endpoint({
  method: 'GET',
  path: `${path}/user_agent_detail`,
  summary: 'Get the user agent and address from which an issue was created (administrators)',
  access: onIssue('admin_only'),
  response: userAgentEntity,
  handler: ({ ctx, issue }) => getUserAgent(ctx, 'Issue', issue.id),
})

const statisticsEntity = z.strictObject({
  statistics: z.strictObject({
    counts: z.strictObject({ all: z.int(), closed: z.int(), opened: z.int() }),
  }),
})

function issuesOf({ type, id }: SourceRef): IssueScope {
  return type === 'project' ? { kind: type, projectId: id } : { kind: type, groupId: id }
}

async function statistics(ctx: Ctx, scope: IssueScope, query: IssueListQuery) {
  const counts = await countIssues(ctx.db, viewerOf(ctx), scope, query)
  return { statistics: { counts } }
}

export const getIssueStatistics = endpoint({
  method: 'GET',
  path: '/issues_statistics',
  summary: 'Count issues everywhere; those that the caller created unless the query says otherwise',
  access: signedIn(),
  query: issueFilters,
  response: statisticsEntity,
  handler: ({ ctx, query }) =>
    statistics(ctx, { kind: 'all' }, { ...query, scope: scopeOfAll(query) }),
})

export const getIssueStatisticsOf = endpoint({
  method: 'GET',
  path: '/:source/:id/issues_statistics',
  summary: 'Count the issues of a project or group',
  access: onEither('read_issues'),
  query: issueFilters,
  response: statisticsEntity,
  handler: ({ ctx, source, query }) => statistics(ctx, issuesOf(source), query),
})
