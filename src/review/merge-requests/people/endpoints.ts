import { z } from 'zod'
import { userOf } from '../../../access/actor.ts'
import type { Project } from '../../../access/subjects.ts'
import type { Ctx } from '../../../ctx.ts'
import { awardEndpoints } from '../../../discussions/award-emoji/routes.ts'
import { noteEndpoints } from '../../../discussions/notes/note-routes.ts'
import { setSubscribed } from '../../../discussions/subscriptions/subscribe.ts'
import { markTodo } from '../../../discussions/todos/add.ts'
import { presentTodo, todoEntity } from '../../../discussions/todos/entity.ts'
import { endpoint } from '../../../http/endpoint.ts'
import { presentUserBasic, userBasicEntity } from '../../../identity/users/basic.ts'
import { resourceEventEndpoints } from '../../../planning/resource-events/routes.ts'
import { timeEndpoints } from '../../../planning/time-tracking/routes.ts'
import { onMergeRequest } from '../access.ts'
import { mergeRequestTimed } from '../change/quick-actions.ts'
import { mergeRequestEntity } from '../entity.ts'
import { getMergeRequest, noteableOf } from '../find.ts'
import { noteKind } from '../notes.ts'
import { params, path } from '../path.ts'
import { presentMergeRequest } from '../present-single.ts'
import { todoTarget } from '../record.ts'
import { mergeRequestThreads } from '../threads.ts'
import { isParticipant, listParticipants, listReviewers } from './queries.ts'

export const mergeRequestNotes = noteEndpoints(noteKind)
export const mergeRequestDiscussions = Object.values(mergeRequestThreads)
export const mergeRequestAwards = awardEndpoints(noteKind, 'MergeRequest')

function find(ctx: Ctx, project: Project, given: Readonly<Record<string, unknown>>) {
  return getMergeRequest(ctx, project, Number(given.merge_request_iid))
}

export const mergeRequestTime = timeEndpoints({
  ...mergeRequestTimed,
  path,
  params,
  tag: 'merge_requests',
  read: 'read_merge_requests',
  write: 'update_merge_request',
  async find(ctx, project, given) {
    const row = await find(ctx, project, given)
    return { id: row.id, estimate: row.time_estimate, noteable: noteableOf(ctx, project, row) }
  },
})

export const mergeRequestEvents = resourceEventEndpoints({
  path,
  params,
  tag: 'merge_requests',
  ability: 'read_merge_requests',
  events: ['label', 'milestone', 'state'],
  find: async (ctx, project, given) => ({
    type: 'merge_request',
    id: (await find(ctx, project, given)).id,
  }),
})

export const listMergeRequestParticipants = endpoint({
  method: 'GET',
  path: `${path}/participants`,
  summary: 'List the participants of a merge request',
  access: onMergeRequest(),
  response: z.array(userBasicEntity),
  async handler({ ctx, mergeRequest: row }) {
    return (await listParticipants(ctx.db, row.id)).map((user) => presentUserBasic(ctx, user))
  },
})

export const listMergeRequestReviewers = endpoint({
  method: 'GET',
  path: `${path}/reviewers`,
  summary: 'List the reviewers of a merge request and the state of their reviews',
  access: onMergeRequest(),
  response: z.array(
    z.strictObject({ user: userBasicEntity, state: z.string(), created_at: z.string() }),
  ),
  async handler({ ctx, mergeRequest: row }) {
    return (await listReviewers(ctx.db, [row.id])).map((one) => ({
      user: presentUserBasic(ctx, one),
      state: one.review_state,
      created_at: one.asked_at,
    }))
  },
})

const following = (verb: 'subscribe' | 'unsubscribe', summary: string) =>
  endpoint({
    method: 'POST',
    path: `${path}/${verb}`,
    summary,
    access: onMergeRequest(undefined, { signedIn: true }),
    response: mergeRequestEntity,
    async handler({ ctx, project, mergeRequest: row }) {
      const user = userOf(ctx.actor)
      const byDefault = user ? await isParticipant(ctx.db, row.id, user.id) : false
      await setSubscribed(ctx, 'merge_request', row.id, verb === 'subscribe', byDefault)
      return presentMergeRequest(ctx, project, row)
    },
  })

export const subscribeMergeRequest = following('subscribe', 'Follow a merge request')
export const unsubscribeMergeRequest = following('unsubscribe', 'Follow a merge request no more')

export const createMergeRequestTodo = endpoint({
  method: 'POST',
  path: `${path}/todo`,
  summary: 'Add a merge request to the to-do list of the caller',
  access: onMergeRequest(undefined, { signedIn: true }),
  response: todoEntity,
  async handler({ ctx, mergeRequest: row }) {
    return presentTodo(ctx, await markTodo(ctx, todoTarget(row)))
  },
})
